//! The parts of a damaged store: its segments and journals, as far as these can be read.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::journal::{self as saved_journal, OrphanOperations, RecoveredJournal};
use super::options::Loss;
use crate::bug::OrBug;
use crate::catalog::{
    Catalog, CatalogContents, EPOCHS_MAX, Journal, JournalFrame, NewerFiles, PublishedState,
    Salvage, SegmentRow,
};
use crate::disk::{Access, Disk, FileName};
use crate::engine::epochs::{new_epoch, next_epoch};
use crate::engine::manifest_check::{check_listed, check_store, check_unlisted, row as row_of};
use crate::engine::memtable::Memtable;
use crate::engine::{journal, open};
use crate::error::{Corruption, Error, Result};
use crate::order::sort_few_by_key;
use crate::page::{Epoch, EpochInfo, Role, in_use};
use crate::segment::SegmentFrame;

/// The maximum number of gaps of the journal that are reported one by one.
const GAPS_MAX: usize = 1000;

/// A recovered component: the operations of one range of numbers.
pub(super) struct RecoveredComponent {
    pub(super) operations: (u64, u64),
    pub(super) part: RecoveredPart,
}

pub(super) enum RecoveredPart {
    Segment(SegmentFrame),
    Memory(Memtable),
}

/// The recovered parts.
#[derive(Default)]
pub(super) struct RecoveredStore {
    /// The recovered components, oldest first; there may be gaps.
    pub(super) components: Vec<RecoveredComponent>,
    /// All epochs, by number.
    pub(super) epochs: Vec<EpochInfo>,
    /// The epochs with invented names.
    pub(super) unnamed: Vec<String>,
    /// Files and operations that are lost as a whole.
    pub(super) lost: Vec<Loss>,
    /// The number of lost visits in the journal, whose pages are unknown.
    pub(super) lost_visits: u64,
    /// The number of frames of the journal with a wrong checksum.
    pub(super) damaged_frames: u64,
    /// Operations in the journal that forgot unknown pages.
    pub(super) ambiguities: Vec<String>,
    pub(super) flaws: Vec<Corruption>,
}

/// Examines the directory and all lists of the store's files.
pub(super) fn find(disk: &Arc<dyn Disk>) -> Result<RecoveredStore> {
    let mut found = RecoveredStore::default();
    let contents = match open::open_catalog(disk).and_then(|file| Catalog::read(&*file)) {
        Ok(contents) => Some(contents),
        Err(e) => found.noted(e).map(|_| None)?,
    };
    contents.iter().try_for_each(|contents| open::require_finished(disk, contents))?;
    let after = NewerFiles::read(&**disk)?;
    let ahead = contents.as_ref().and_then(|contents| after.missing_commits(contents));
    match contents {
        Some(contents) if ahead.is_none() => found.recover_with_catalog(disk, contents, &after)?,
        stale => {
            ahead.map_or(Ok(()), |ahead| found.noted(ahead).map(drop))?;
            found.recover_without_catalog(disk, stale, &after)?;
        }
    }
    found.compare_with_mark(after.mark.sequence);
    Ok(found)
}

/// The flaw described by an error; `None` if the error is not about damage.
pub(super) fn flaw_of(error: &Error) -> Option<Corruption> {
    error.clone().flaw().ok()
}

impl RecoveredStore {
    /// Records the flaw that an error describes, and returns the flaw's description. Returns any
    /// other error.
    fn noted(&mut self, error: Error) -> Result<String> {
        let flaw = error.flaw()?;
        let what = flaw.what.clone();
        self.flaws.push(flaw);
        Ok(what)
    }

    fn push(&mut self, operations: (u64, u64), part: RecoveredPart) {
        self.components.push(RecoveredComponent { operations, part });
    }

    /// Collects the parts that a sound and current catalog lists.
    fn recover_with_catalog(
        &mut self,
        disk: &Arc<dyn Disk>,
        contents: CatalogContents,
        after: &NewerFiles,
    ) -> Result<()> {
        after.other_store(&contents).map_or(Ok(()), |foreign| self.noted(foreign).map(drop))?;
        let store = contents.settings.store;
        for row in &contents.segments {
            self.listed(disk, store, row)?;
        }
        for id in open::unlisted_ids(disk, &contents)? {
            check_unlisted(disk, store, id).or_else(|e| self.noted(e).map(drop))?;
        }
        let last = contents.segments.last().map_or(0, |row| row.last_sequence);
        let mut journals = Vec::from(contents.journals.map(|frames| frames.frames));
        journals.retain(|blobs| !blobs.is_empty());
        // Each journal has a blob.
        sort_few_by_key(&mut journals, |blobs| blobs.first().map(|blob| blob.first_sequence));
        self.replay(journals, last)?;
        self.epochs = contents.epochs;
        Ok(())
    }

    /// Collects the parts that can be recovered if the catalog is outdated or cannot be read.
    fn recover_without_catalog(
        &mut self,
        disk: &Arc<dyn Disk>,
        stale: Option<CatalogContents>,
        after: &NewerFiles,
    ) -> Result<()> {
        let file = open::open_catalog(disk);
        let salvage = file.as_ref().ok().and_then(|file| Salvage::read(&**file).ok());
        let store = self.unlisted(disk, salvage.as_ref().and_then(|found| found.store), after)?;
        let published = store.and_then(|store| after.published_of(store));
        let changes = stale.as_ref().map(|contents| contents.settings.changes);
        let is_newer = |published: &&PublishedState| changes.is_none_or(|c| c < published.changes);
        let last = self.components.last().map_or(0, |newest| newest.operations.1);
        let next = last.saturating_add(1);
        let is_of_another = |of: u64| store.is_some_and(|store| store != of);
        let is_old = published.filter(is_newer).is_some_and(|m| after.mark.changes < m.changes);
        let mut salvage = salvage.filter(|found| {
            let is_other = found.store.is_some_and(is_of_another);
            if is_other {
                self.lose_from(
                    next,
                    None,
                    "the catalog belongs to another store than the segments",
                );
            }
            !is_other
        });
        if let Some(salvage) = &salvage {
            let apart = if is_old && changes.is_some() {
                // The journal may belong to a diverged copy.
                Some("the catalog is older than SNAPSHOT, and so is its journal")
            } else if self.is_listed(&salvage.segments) {
                None
            } else {
                Some(
                    "the catalog does not list the newest segment, so it is an older catalog, or \
                     from a diverged copy of the store",
                )
            };
            match apart {
                Some(why) => self.lose_from(next, None, why),
                None => self.add_journal(saved_journal::replay(salvage, next)?),
            }
        }
        self.epochs = match (published.filter(is_newer), stale) {
            (Some(published), _) => published.epochs.clone(),
            (None, stale) => stale.map(|contents| contents.epochs).unwrap_or_default(),
        };
        if let Some(found) = salvage.as_mut().filter(|s| s.epochs.len() > self.epochs.len()) {
            self.epochs = std::mem::take(&mut found.epochs);
        }
        self.name_epochs()
    }

    /// Whether the newest segment, if any, is in the rows of a catalog. If so, the journal of that
    /// catalog continues after the segment.
    fn is_listed(&self, rows: &[SegmentRow]) -> bool {
        match self.components.last().map(|newest| &newest.part) {
            Some(RecoveredPart::Segment(frame)) => rows.contains(&row_of(frame)),
            _ => true,
        }
    }

    /// Adds the recovered part of the journals, and records their losses.
    fn add_journal(&mut self, saved: RecoveredJournal) {
        let RecoveredJournal { memtable, operations, gaps, damaged_frames, orphans: nameless } =
            saved;
        if let Some(operations) = operations {
            self.push(operations, RecoveredPart::Memory(memtable));
        }
        self.damaged_frames = damaged_frames;
        let more = gaps.len().saturating_sub(GAPS_MAX);
        for gap in gaps.iter().take(GAPS_MAX) {
            self.lose_from(gap.first, gap.last, gap.why);
        }
        if let Some(gap) = gaps.get(GAPS_MAX) {
            let last = gaps.last().and_then(|last| last.last);
            self.lose_from(gap.first, last, &format!("{more} more gaps in the journal"));
        }
        let Some((first, last)) = nameless.range else { return };
        self.lost_visits = nameless.visits;
        let OrphanOperations { operations, visits, forgotten, .. } = nameless;
        self.lost.push(Loss {
            pages: Some(0),
            ..lost_operations(
                (first, Some(last)),
                &format!(
                    "{operations} of these operations refer to pages that cannot be named, because \
                     earlier operations are lost; {visits} of them are visits"
                ),
            )
        });
        if forgotten > 0 {
            let what = "forgot pages that cannot be named, because earlier operations are lost";
            self.ambiguities
                .push(format!("{forgotten} of the operations {first} to {last} {what}"));
        }
    }

    /// Adds a segment that the last catalog lists.
    fn listed(&mut self, disk: &Arc<dyn Disk>, store: u64, row: &SegmentRow) -> Result<()> {
        let frame = self.read_frame(disk, row.id, Some(store));
        let frame = frame.and_then(|frame| check_listed(&frame, store, row).map(|()| frame));
        match frame {
            Ok(frame) => {
                self.push((row.first_sequence, row.last_sequence), RecoveredPart::Segment(frame))
            }
            Err(e) => {
                let why = self.noted(e)?;
                self.lost.push(Loss {
                    file: FileName::Segment(row.id).to_string(),
                    bytes: Some(0..row.bytes),
                    operations: Some((row.first_sequence, Some(row.last_sequence))),
                    pages: None,
                    after_url: None,
                    before_url: None,
                    why,
                });
            }
        }
        Ok(())
    }

    /// Reads the frame of a segment, and corrects it if possible.
    fn read_frame(
        &mut self,
        disk: &Arc<dyn Disk>,
        id: u64,
        store: Option<u64>,
    ) -> Result<SegmentFrame> {
        let (file, name) = (open_file(disk, id)?, FileName::Segment(id));
        SegmentFrame::read(&*file, name, id).or_else(|e| {
            let frame = flaw_of(&e).and_then(|_| SegmentFrame::recover(&*file, name, id, store));
            let frame = frame.ok_or_else(|| e.clone())?;
            self.noted(e)?;
            Ok(frame)
        })
    }

    /// Collects the segment files, if no list says which of them are live. Returns the store to
    /// which the segments belong; `of` is the store of the catalog, if known.
    ///
    /// A merged segment has a higher number than the segments it replaced, and covers their
    /// operations. So segments are examined from the highest number down, and a segment is kept if
    /// its operations overlap no kept segment.
    fn unlisted(
        &mut self,
        disk: &Arc<dyn Disk>,
        of: Option<u64>,
        after: &NewerFiles,
    ) -> Result<Option<u64>> {
        let (mut frames, mut unreadable) = (Vec::new(), Vec::new());
        for id in open::segment_ids(disk)?.into_iter().rev() {
            // Without a list, nothing else says whose segment it is.
            match self.read_frame(disk, id, None) {
                Ok(frame) => frames.push(frame),
                Err(e) => {
                    self.noted(e)?;
                    unreadable.push(FileName::Segment(id).to_string());
                }
            }
        }
        let named = after.published.as_ref().map(|published| published.store);
        let store = owning_store(&frames, of, named);
        let published = store.and_then(|store| after.published_of(store));
        for frame in frames {
            let row = published.and_then(|m| m.segments.iter().find(|row| row.id == frame.id()));
            let checked = store.map_or(Ok(()), |store| match row {
                Some(row) => check_listed(&frame, store, row),
                None => check_store(frame.name(), frame.stamp(), store),
            });
            let numbers = frame.numbers();
            let (first, last) = (numbers.first_sequence, numbers.last_sequence);
            let apart = |other: &RecoveredComponent| {
                other.operations.1 < first || last < other.operations.0
            };
            match checked {
                Ok(()) if self.components.iter().all(apart) => {
                    self.push((first, last), RecoveredPart::Segment(frame));
                }
                Ok(()) => {}
                // Without a catalog it is unknown whether the damaged segment was live.
                Err(e) => {
                    let why = self.noted(e)?;
                    self.lost.push(Loss {
                        file: FileName::Segment(frame.id()).to_string(),
                        bytes: Some(0..frame.bytes()),
                        operations: None,
                        pages: None,
                        after_url: None,
                        before_url: None,
                        why,
                    });
                }
            }
        }
        sort_few_by_key(&mut self.components, |component| component.operations);
        self.lose_gaps(&unreadable);
        Ok(store)
    }

    /// Records the missing operations between and after the existing segments.
    fn lose_gaps(&mut self, unreadable: &[String]) {
        let file = match unreadable {
            [only] => only.clone(),
            _ => FileName::Catalog.to_string(),
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
                    after_url: None,
                    before_url: None,
                    why: "no readable segment contains these operations".to_owned(),
                });
            }
            next = last.saturating_add(1);
        }
        // A damaged segment that fills no gap may have been the newest.
        if !self.loses_to_the_end(next.saturating_sub(1)) && !unreadable.is_empty() {
            self.lost.push(Loss {
                file,
                bytes: None,
                operations: Some((next, None)),
                pages: None,
                after_url: None,
                before_url: None,
                why: "a segment that cannot be read may have been the newest segment".to_owned(),
            });
        }
    }

    /// Replays journals, the older journal first, as long as each operation follows the previous
    /// operation.
    fn replay(&mut self, journals: Vec<Vec<JournalFrame>>, mut last: u64) -> Result<()> {
        for blobs in journals {
            // A failed operation spoils its memtable, so the frames are first replayed into a
            // scratch memtable.
            let mut sound = 0;
            let mut end = last;
            let scratch = Memtable::new(Journal::A);
            for blob in &blobs {
                let next = blob.first_sequence == end.saturating_add(1);
                let replayed = next.then(|| journal::replay(blob, (0, &[]), &mut scratch.write()));
                match replayed {
                    Some(Ok(())) => {}
                    None | Some(Err(Error::Corrupt(_))) => break,
                    Some(other) => other?,
                }
                end = end.saturating_add(blob.count.into());
                sound += 1;
            }
            let whole = sound == blobs.len();
            let memtable = if whole {
                scratch
            } else {
                let again = Memtable::new(Journal::A);
                for blob in blobs.iter().take(sound) {
                    let replayed = journal::replay(blob, (0, &[]), &mut again.write()).ok();
                    replayed.or_bug("frames that were replayed once can be replayed again")?;
                }
                again
            };
            if end > last {
                self.push((last.saturating_add(1), end), RecoveredPart::Memory(memtable));
            }
            last = end;
            if !whole {
                self.lose_from(last.saturating_add(1), None, "the journal is damaged");
                return Ok(());
            }
        }
        Ok(())
    }

    fn lose_from(&mut self, first: u64, last: Option<u64>, why: &str) {
        self.lost.push(lost_operations((first, last), why));
    }

    /// Records the loss of operations that were acknowledged, as `marked` shows, and no longer
    /// exist.
    fn compare_with_mark(&mut self, marked: u64) {
        let last = self.components.last().map_or(0, |newest| newest.operations.1);
        // Such losses may be recorded already, perhaps without an end.
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
            self.lose_from(
                last.saturating_add(1),
                Some(marked),
                "the journal ends before these operations",
            );
        } else if marked < last.max(1) && self.has_flaw_of_catalog() && !self.loses_to_the_end(last)
        {
            // There is no mark, or the mark is older than the segments.
            let why = "the journal cannot be read, and its end is unknown";
            self.lose_from(last.saturating_add(1), None, why);
        }
    }

    /// Whether a loss of the operations after the last operation is recorded already.
    fn loses_to_the_end(&self, last: u64) -> bool {
        let mut lost = self.lost.iter().filter_map(|loss| loss.operations);
        lost.any(|(first, end)| end.is_none() || first > last)
    }

    fn has_flaw_of_catalog(&self) -> bool {
        self.flaws.iter().any(|flaw| flaw.file == FileName::Catalog.to_string())
    }

    /// Invents names for all epochs whose names are unknown. Ensures that each use of epochs has an
    /// epoch that has not ended.
    fn name_epochs(&mut self) -> Result<()> {
        let mut seen: Vec<Epoch> = Vec::new();
        for component in &self.components {
            match &component.part {
                RecoveredPart::Segment(frame) => seen.extend(frame.epochs().map(Epoch)),
                RecoveredPart::Memory(memtable) => {
                    let inner = memtable.read();
                    let visits = inner.pages().flat_map(|page| page.entries_at(u64::MAX));
                    seen.extend(visits.filter_map(|visit| Some(visit.content()?.epoch)));
                }
            }
            seen.sort_unstable();
            seen.dedup();
        }
        let of = |count: usize| move |e: &&Epoch| e.count() as usize == count;
        let newest =
            seen.iter().map(|e| e.count()).filter(|count| (*count as usize) < EPOCHS_MAX).max();
        let mut count = newest.map_or(0, |newest| newest as usize + 1);
        if Role::USES.iter().any(|is_for| in_use(&self.epochs, *is_for).is_none()) {
            // The only active epoch of a use is lost, and no data refers to it.
            next_epoch(self.epochs.len(), 0)?;
            count = count.max(self.epochs.len() + 1);
        }
        for number in self.epochs.len()..count {
            let name = format!("unknown-{number}");
            let plain = Epoch::new(number, 0).or_bug("each epoch has a valid number")?;
            let epoch = seen.iter().find(of(number)).copied().unwrap_or(plain);
            self.unnamed.push(name.clone());
            self.epochs.push(new_epoch(epoch, &name, 0, Role::Both.into())?);
        }
        Ok(())
    }
}

/// A loss of operations in the journal.
fn lost_operations(operations: (u64, Option<u64>), why: &str) -> Loss {
    Loss {
        file: FileName::Catalog.to_string(),
        bytes: None,
        operations: Some(operations),
        pages: None,
        after_url: None,
        before_url: None,
        why: why.to_owned(),
    }
}

/// Determines the store of the segments: the catalog's store, or else the store of `SNAPSHOT`, if
/// any segment belongs to it; otherwise the store with the most visits.
fn owning_store(
    frames: &[SegmentFrame],
    of_catalog: Option<u64>,
    of_published: Option<u64>,
) -> Option<u64> {
    let mut visits: BTreeMap<u64, u64> = BTreeMap::new();
    for frame in frames {
        let sum = visits.entry(frame.stamp().store).or_default();
        *sum = sum.saturating_add(frame.numbers().visits);
    }
    let known = [of_catalog, of_published].into_iter().flatten();
    let most = || visits.iter().max_by_key(|(_, visits)| **visits).map(|(store, _)| *store);
    known
        .clone()
        .find(|store| visits.contains_key(store))
        .or_else(most)
        .or_else(|| known.clone().next())
}

/// Opens a segment's file.
pub(super) fn open_file(disk: &Arc<dyn Disk>, id: u64) -> Result<Box<dyn crate::disk::DiskFile>> {
    let name = FileName::Segment(id);
    disk.open(name, Access::Read).map_err(|e| Error::io("open", name, e))
}
