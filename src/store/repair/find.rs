//! What a damaged store is made of: its segments and journals, as far as they can be read.

use std::sync::Arc;

use super::options::Loss;
use crate::catalog::{Blob, Catalog, Journal, Manifest, Salvage, SegmentRow, mark};
use crate::disk::{Access, Disk, Name};
use crate::error::{Corruption, Error, Result};
use crate::page::{Epoch, EpochInfo};
use crate::segment::Frame;
use crate::store::epochs::EPOCHS_MAX;
use crate::store::memtable::Memtable;
use crate::store::{journal, open};

/// A component: the operations of one range of numbers.
pub(super) struct Component {
    pub(super) operations: (u64, u64),
    pub(super) part: Part,
}

pub(super) enum Part {
    Segment(Frame),
    Memory(Memtable),
}

/// What was found.
#[derive(Default)]
pub(super) struct Found {
    /// Oldest first; there may be gaps.
    pub(super) components: Vec<Component>,
    /// All epochs, by number.
    pub(super) epochs: Vec<EpochInfo>,
    /// Those of them that are made up.
    pub(super) unnamed: Vec<String>,
    /// Whole files and operations that are lost.
    pub(super) lost: Vec<Loss>,
    pub(super) flaws: Vec<Corruption>,
}

/// Looks at the directory and all that says what belongs to the store.
pub(super) fn find(disk: &Arc<dyn Disk>) -> Result<Found> {
    let mut found = Found::default();
    let contents = match open::open_catalog(disk).and_then(|file| Catalog::read(&*file)) {
        Err(e) if found.is_flaw(&e) => None,
        read => Some(read?),
    };
    let marked = mark::read(&**disk);
    match contents {
        Some(contents) if contents.is_behind(marked).is_none() => {
            for row in &contents.segments {
                found.listed(disk, row)?;
            }
            let last = contents.segments.last().map_or(0, |row| row.last_sequence);
            let mut journals = Vec::from(contents.journals.map(|(_, blobs)| blobs));
            journals.retain(|blobs| !blobs.is_empty());
            journals.sort_by_key(|blobs| blobs.first().map_or(0, |blob| blob.first_sequence));
            found.replay(journals, last);
            found.epochs = contents.epochs;
        }
        stale => {
            if let Some(contents) = stale {
                let what = contents.is_behind(marked).unwrap_or_default();
                found.flaws.push(Corruption { file: Name::Catalog.to_string(), offset: 0, what });
                found.epochs = contents.epochs;
            } else if let Ok(Some(manifest)) = Manifest::read(&**disk) {
                found.epochs = manifest.epochs;
            }
            found.unlisted(disk)?;
            let salvage = open::open_catalog(disk).and_then(|file| Salvage::read(&*file));
            let salvage = salvage.unwrap_or_default();
            let last = found.components.last().map_or(0, |newest| newest.operations.1);
            found.replay(salvage.journals(last.saturating_add(1)), last);
            if salvage.epochs.len() > found.epochs.len() {
                found.epochs = salvage.epochs;
            }
            found.name_epochs();
        }
    }
    found.compare_with_mark(marked.sequence);
    Ok(found)
}

/// The flaw that an error tells of, if it is no other error.
pub(super) fn flaw_of(error: &Error) -> Option<Corruption> {
    error.clone().flaw().ok()
}

impl Found {
    /// Whether an error says that something is damaged; it is noted then.
    fn is_flaw(&mut self, error: &Error) -> bool {
        let flaw = flaw_of(error);
        self.flaws.extend(flaw.clone());
        flaw.is_some()
    }

    fn push(&mut self, operations: (u64, u64), part: Part) {
        self.components.push(Component { operations, part });
    }

    /// A segment that a sound catalog lists.
    fn listed(&mut self, disk: &Arc<dyn Disk>, row: &SegmentRow) -> Result<()> {
        let frame = read_frame(disk, row.id).and_then(|frame| {
            let numbers = frame.numbers();
            let says = (numbers.first_sequence, numbers.last_sequence, frame.bytes());
            if says == (row.first_sequence, row.last_sequence, row.bytes) {
                return Ok(frame);
            }
            let what = "the catalog describes another file of this name";
            Err(Error::corrupt(Name::Segment(row.id), 0, what))
        });
        match frame {
            Ok(frame) => self.push((row.first_sequence, row.last_sequence), Part::Segment(frame)),
            Err(e) if self.is_flaw(&e) => self.lost.push(Loss {
                file: Name::Segment(row.id).to_string(),
                bytes: Some(0..row.bytes),
                operations: Some((row.first_sequence, Some(row.last_sequence))),
                pages: None,
                after: None,
                before: None,
                why: "what the segment says of itself is damaged, or it is not there".to_owned(),
            }),
            Err(e) => return Err(e),
        }
        Ok(())
    }

    /// The segments that are there, where no list says which of them count.
    ///
    /// Whatever took the place of a segment has a higher number and covers its operations. So, from
    /// the highest number down, those count that overlap none that counts.
    fn unlisted(&mut self, disk: &Arc<dyn Disk>) -> Result<()> {
        let mut unreadable = Vec::new();
        for id in open::segment_ids(disk)?.into_iter().rev() {
            match read_frame(disk, id) {
                Ok(frame) => {
                    let numbers = frame.numbers();
                    let (first, last) = (numbers.first_sequence, numbers.last_sequence);
                    let apart =
                        |other: &Component| other.operations.1 < first || last < other.operations.0;
                    if self.components.iter().all(apart) {
                        self.push((first, last), Part::Segment(frame));
                    }
                }
                Err(e) if self.is_flaw(&e) => unreadable.push(Name::Segment(id).to_string()),
                Err(e) => return Err(e),
            }
        }
        self.components.sort_by_key(|component| component.operations);
        let file = match unreadable.as_slice() {
            [only] => only.clone(),
            _ => Name::Catalog.to_string(),
        };
        let mut next = 1;
        for component in &self.components {
            let (first, last) = component.operations;
            if first > next {
                self.lost.push(Loss {
                    file: file.clone(),
                    bytes: None,
                    operations: Some((next, Some(first - 1))),
                    pages: None,
                    after: None,
                    before: None,
                    why: "no readable segment has these operations".to_owned(),
                });
            }
            next = last.saturating_add(1);
        }
        // One that is not needed in between may have been the newest.
        if !self.loses_to_the_end(next.saturating_sub(1)) && !unreadable.is_empty() {
            self.lost.push(Loss {
                file,
                bytes: None,
                operations: Some((next, None)),
                pages: None,
                after: None,
                before: None,
                why: "a segment that cannot be read may have been the newest".to_owned(),
            });
        }
        Ok(())
    }

    /// Replays journals, the older first, as far as each operation follows the one before.
    fn replay(&mut self, journals: Vec<Vec<Blob>>, mut last: u64) {
        for blobs in journals {
            // A memtable is only as good as its last operation: what fails is tried on a copy.
            let mut sound = 0;
            let mut end = last;
            let scratch = Memtable::new(Journal::A);
            for blob in &blobs {
                let next = blob.first_sequence == end.saturating_add(1);
                let replayed =
                    next.then(|| journal::replay(blob, 0, &mut scratch.write()).ok()).flatten();
                let Some(()) = replayed else { break };
                end = end.saturating_add(blob.count.into());
                sound += 1;
            }
            let whole = sound == blobs.len();
            let memtable = if whole {
                scratch
            } else {
                let again = Memtable::new(Journal::A);
                for blob in blobs.iter().take(sound) {
                    // It was replayed just now.
                    let _ = journal::replay(blob, 0, &mut again.write());
                }
                again
            };
            if end > last {
                self.push((last.saturating_add(1), end), Part::Memory(memtable));
            }
            last = end;
            if !whole {
                self.lose_from(last.saturating_add(1), None, "the journal is damaged");
                return;
            }
        }
    }

    fn lose_from(&mut self, first: u64, last: Option<u64>, why: &str) {
        self.lost.push(Loss {
            file: Name::Catalog.to_string(),
            bytes: None,
            operations: Some((first, last)),
            pages: None,
            after: None,
            before: None,
            why: why.to_owned(),
        });
    }

    /// The operations that were acknowledged and that nothing has any more.
    fn compare_with_mark(&mut self, marked: u64) {
        let last = self.components.last().map_or(0, |newest| newest.operations.1);
        // What is said already, perhaps without an end.
        for loss in &mut self.lost {
            if let Some((first, end @ None)) = &mut loss.operations
                && *first <= marked
            {
                *end = Some(marked);
            }
        }
        let said = self.lost.iter().any(|loss| {
            loss.operations.is_some_and(|(_, end)| end.is_none_or(|end| end >= marked))
        });
        if marked > last && !said {
            self.lose_from(last.saturating_add(1), Some(marked), "the journal ends before them");
        } else if marked == 0 && self.has_flaw_of_catalog() && !self.loses_to_the_end(last) {
            let why = "the journal cannot be read, and nothing says how far it went";
            self.lose_from(last.saturating_add(1), None, why);
        }
    }

    /// Whether it is said already that operations after the last are lost.
    fn loses_to_the_end(&self, last: u64) -> bool {
        let mut lost = self.lost.iter().filter_map(|loss| loss.operations);
        lost.any(|(first, end)| end.is_none() || first > last)
    }

    fn has_flaw_of_catalog(&self) -> bool {
        self.flaws.iter().any(|flaw| flaw.file == Name::Catalog.to_string())
    }

    /// Makes up the names of epochs that are not known: as many as there are.
    fn name_epochs(&mut self) {
        let mut seen: Vec<Epoch> = Vec::new();
        for component in &self.components {
            match &component.part {
                Part::Segment(frame) => seen.extend(frame.epochs().map(Epoch)),
                Part::Memory(memtable) => {
                    let inner = memtable.read();
                    let visits = inner.pages().flat_map(|page| page.visits_at(u64::MAX));
                    seen.extend(visits.filter_map(|visit| Some(visit.seen.content()?.epoch)));
                }
            }
            seen.sort_unstable();
            seen.dedup();
        }
        let of = |count: usize| move |e: &&Epoch| e.count() as usize == count;
        let newest =
            seen.iter().map(|e| e.count()).filter(|count| (*count as usize) < EPOCHS_MAX).max();
        let count = newest.map_or(1, |newest| newest as usize + 1);
        for number in self.epochs.len()..count {
            let name = format!("unknown-{number}");
            let plain = Epoch(u32::try_from(number).unwrap_or(u32::MAX));
            let epoch = seen.iter().find(of(number)).copied().unwrap_or(plain);
            self.unnamed.push(name.clone());
            self.epochs.push(EpochInfo { epoch, name, begun: 0, retired: false });
        }
    }
}

/// Opens a segment's file.
pub(super) fn open_file(disk: &Arc<dyn Disk>, id: u64) -> Result<Box<dyn crate::disk::DiskFile>> {
    let name = Name::Segment(id);
    disk.open(name, Access::Read).map_err(|e| Error::io("open", name, e))
}

fn read_frame(disk: &Arc<dyn Disk>, id: u64) -> Result<Frame> {
    Frame::read(&*open_file(disk, id)?, id)
}
