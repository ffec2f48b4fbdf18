//! Replay of the recovered part of a damaged catalog's journals.
//!
//! When a store opens, it replays its journals as a whole. A repair replays journals in which
//! frames may be missing between others, and replays both journals into one memtable. An operation
//! that refers to a page by an uncertain number is lost and counted; see [`PageNumbers`].

use super::numbers::PageNumbers;
use crate::bug::{Bug, OrBug};
use crate::catalog::{Journal, JournalFrame, Salvage, SalvagedFrame};
use crate::engine::journal::{JournalOperation, JournalPage};
use crate::engine::memtable::{Effect, Memtable, MemtableContents};
use crate::layout::{Cursor, Delta};
use crate::segment::url_hash;
use crate::url::check_url;

/// A gap of lost operations.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Gap {
    pub(super) first: u64,
    /// The last lost operation; `None` if nothing after the gap shows its end.
    pub(super) last: Option<u64>,
    /// Why the operations are missing.
    pub(super) why: &'static str,
}

/// The recovered part of the journals.
pub(super) struct RecoveredJournal {
    pub(super) memtable: Memtable,
    /// The first and the last recovered operation; `None` if no operation was recovered.
    pub(super) operations: Option<(u64, u64)>,
    pub(super) gaps: Vec<Gap>,
    /// The number of frames with a wrong checksum.
    pub(super) damaged_frames: u64,
    pub(super) orphans: OrphanOperations,
}

/// Sound operations whose pages are unknown.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct OrphanOperations {
    pub(super) operations: u64,
    /// The number of visits among the operations.
    pub(super) visits: u64,
    /// The number of operations that forget a page.
    pub(super) forgotten: u64,
    /// The first and the last of the operations.
    pub(super) range: Option<(u64, u64)>,
}

const DAMAGED: &str = "the journal frames with these operations have wrong checksums";
const MISSING: &str = "no readable journal frame contains these operations";
const AMBIGUOUS: &str = "two journal frames begin with the first of these operations, and it is unknown which frame \
     was committed";
const UNREADABLE: &str = "the journal cannot be read at these operations";

/// A frame to keep, and the index of its table of page numbers.
struct KeptFrame {
    sequence: u64,
    table: usize,
}

/// The first pass over the frames: finds losses, and resolves page numbers.
struct JournalSurvey<'s> {
    salvage: &'s Salvage<'s>,
    kept: Vec<KeptFrame>,
    tables: Vec<PageNumbers>,
    gaps: Vec<Gap>,
    damaged_frames: u64,
    /// The operation with which the next frame is expected to start.
    next: u64,
    /// The reason why the operations from `next` on are missing.
    why: Option<&'static str>,
}

impl JournalSurvey<'_> {
    fn run(&mut self, next: u64) -> Result<(), Bug> {
        let salvage = self.salvage;
        for sequence in salvage.begins(next) {
            // Frames inside a valid frame belong to a commit that a crash cut short.
            if sequence < self.next {
                continue;
            }
            match salvage.frame(sequence) {
                SalvagedFrame::Frame(blob) => self.keep(&blob)?,
                SalvagedFrame::Damaged => {
                    self.damaged_frames += 1;
                    self.why = Some(DAMAGED);
                }
                SalvagedFrame::Ambiguous => self.why = Some(AMBIGUOUS),
            }
        }
        if let Some(why) = self.why {
            self.gaps.push(Gap { first: self.next, last: None, why });
        }
        self.tables.iter_mut().for_each(PageNumbers::finish);
        Ok(())
    }

    /// Keeps a frame, and assigns it to the table of the previous frame or to a new table.
    fn keep(&mut self, blob: &JournalFrame) -> Result<(), Bug> {
        let first = blob.first_sequence;
        let lost = first - self.next;
        if lost > 0 {
            let why = self.why.unwrap_or(MISSING);
            self.gaps.push(Gap { first: self.next, last: Some(first - 1), why });
        }
        self.why = None;
        let runs = &self.salvage.runs;
        let before = self.kept.last().map(|kept| kept.sequence);
        match before {
            _ if runs.starts_with(first) => self.tables.push(PageNumbers::with_bound(Some(0))),
            // The numbers of a table start at the end of the segments, or later.
            None => self.tables.push(PageNumbers::with_bound(Some(lost))),
            Some(before) if runs.share_table(before, first) => {
                self.tables.last_mut().or_bug("each kept frame has a table")?.add_lost(lost);
            }
            Some(_) => self.tables.push(PageNumbers::with_bound(None)),
        }
        let table = self.tables.len() - 1;
        self.kept.push(KeptFrame { sequence: first, table });
        let numbers = self.tables.last_mut().or_bug("each kept frame has a table")?;
        let mut unread = None;
        each(blob, &mut |sequence, operation| match operation {
            Some(JournalOperation::Entry(page, _) | JournalOperation::ForgetUrl(page, _)) => {
                match page {
                    JournalPage::Known(number) => numbers.add_reference(number.into()),
                    JournalPage::New { .. } => numbers.add(),
                }
            }
            Some(JournalOperation::ForgetPrefix(..)) => {}
            None => unread = Some(sequence),
        });
        if let Some(unread) = unread {
            let last = blob.last_sequence();
            numbers.add_lost(last - unread + 1);
            self.gaps.push(Gap { first: unread, last: Some(last), why: UNREADABLE });
        }
        self.next = blob.last_sequence() + 1;
        Ok(())
    }
}

/// Passes each operation of a frame to `see`. If the rest of the frame is unreadable, passes `None`
/// once for the whole rest.
fn each(blob: &JournalFrame, see: &mut dyn FnMut(u64, Option<JournalOperation<'_>>)) {
    let mut cursor = Cursor::new(&blob.bytes);
    for sequence in blob.first_sequence..=blob.last_sequence() {
        let operation = JournalOperation::take(&mut cursor);
        let is_there = operation.is_some();
        see(sequence, operation);
        if !is_there {
            return;
        }
    }
}

/// Replays the frames from operation `next` on. Takes the memory of one memtable with the
/// operations of all these frames, and reads each frame twice.
pub(super) fn replay(salvage: &Salvage<'_>, next: u64) -> Result<RecoveredJournal, Bug> {
    let mut survey = JournalSurvey {
        salvage,
        kept: Vec::new(),
        tables: Vec::new(),
        gaps: Vec::new(),
        damaged_frames: 0,
        next,
        why: None,
    };
    survey.run(next)?;
    let JournalSurvey { kept, tables, mut gaps, damaged_frames, next: mut end, .. } = survey;
    let memtable = Memtable::new(Journal::A);
    let mut nameless = OrphanOperations::default();
    {
        let mut inner = memtable.write();
        let mut replay = MemtableReplay { inner: &mut inner, at: 0, pages: Vec::new() };
        let mut table = 0;
        for frame in &kept {
            let sequence = frame.sequence;
            let numbers = tables.get(frame.table).or_bug("each kept frame has a table")?;
            let SalvagedFrame::Frame(blob) = salvage.frame(sequence) else {
                // The first pass could still read this frame. Page numbers after the frame are no
                // longer certain.
                gaps.retain(|gap| gap.first < sequence);
                gaps.push(Gap { first: sequence, last: None, why: UNREADABLE });
                end = sequence;
                break;
            };
            // The page numbers of another table start at 0 again.
            if std::mem::replace(&mut table, frame.table) != frame.table {
                replay.pages.clear();
            }
            let mut failed = Ok(());
            each(&blob, &mut |sequence, operation| {
                if let (Some(operation), Ok(())) = (operation, &failed) {
                    failed = replay.apply(operation, numbers, sequence, &mut nameless);
                }
            });
            failed?;
        }
    }
    let first = kept.first().map(|kept| kept.sequence).filter(|first| *first < end);
    let operations = first.map(|first| (first, end - 1));
    Ok(RecoveredJournal { memtable, operations, gaps, damaged_frames, orphans: nameless })
}

/// Adds operations to a memtable, which numbers them without gaps.
struct MemtableReplay<'i> {
    inner: &'i mut MemtableContents,
    at: u64,
    /// The pages introduced by the current table, as their numbers in the memtable.
    pages: Vec<Option<u32>>,
}

impl MemtableReplay<'_> {
    fn apply(
        &mut self,
        operation: JournalOperation<'_>,
        numbers: &PageNumbers,
        sequence: u64,
        nameless: &mut OrphanOperations,
    ) -> Result<(), Bug> {
        let (page, entry) = match operation {
            JournalOperation::ForgetPrefix(prefix, _) => {
                self.at += 1;
                return self.inner.forget_prefix(self.at, prefix, Delta::default());
            }
            JournalOperation::Entry(page, entry) => (page, Some(entry)),
            JournalOperation::ForgetUrl(page, _) => (page, None),
        };
        let Some(number) = self.number(&page, numbers)? else {
            let is_visit = entry.as_ref().is_some_and(|entry| entry.is_visit());
            nameless.add(sequence, is_visit, entry.is_none());
            return Ok(());
        };
        self.at += 1;
        match entry {
            Some(entry) => {
                let effect = Effect::of(&mut self.inner.page(number).head(), &entry, &[], &[]);
                self.inner.apply_entry(self.at, number, entry, &effect, &[])
            }
            None => self.inner.forget_page(self.at, number, Delta::default()),
        }
    }

    /// Returns the number in the memtable of the page of an operation; `None` if the page is
    /// unknown.
    fn number(
        &mut self,
        page: &JournalPage<'_>,
        numbers: &PageNumbers,
    ) -> Result<Option<u32>, Bug> {
        match *page {
            JournalPage::Known(number) => {
                let at = numbers.resolve(number.into()).and_then(|at| usize::try_from(at).ok());
                Ok(at.and_then(|at| self.pages.get(at).copied().flatten()))
            }
            JournalPage::New { url, earlier, head } => {
                let number = self.bring(url, earlier, head)?;
                self.pages.push(number);
                Ok(number)
            }
        }
    }

    /// Adds the page that an operation introduces. The other journal may have introduced the page
    /// before.
    fn bring(&mut self, url: &str, earlier: bool, head: &[u8]) -> Result<Option<u32>, Bug> {
        if check_url(url).is_err() {
            return Ok(None);
        }
        let hash = url_hash(url, 0);
        let Some(known) = self.inner.find(hash, url, u64::MAX) else {
            return self.inner.add_page(self.at + 1, url, hash, earlier, head).map(Some);
        };
        if !earlier {
            // The page was forgotten between the two operations, perhaps by a lost operation.
            self.at += 1;
            self.inner.forget_page(self.at, known, Delta::default())?;
        }
        Ok(Some(known))
    }
}

impl OrphanOperations {
    fn add(&mut self, sequence: u64, is_visit: bool, forgets: bool) {
        self.operations += 1;
        self.visits += u64::from(is_visit);
        self.forgotten += u64::from(forgets);
        let (first, _) = self.range.unwrap_or((sequence, sequence));
        self.range = Some((first, sequence));
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::catalog::{Catalog, CatalogContents, StoreLocks};
    use crate::disk::{Access, Dir, Disk, FileName, LockMode, SimDisk};
    use crate::engine::journal::put_entry;
    use crate::fingerprint::Bands;
    use crate::page::{Entry, Epoch, EpochInfo, Role, Seen, Visit};
    use crate::time::Time;

    /// Makes a frame of visits. Each visit introduces its page, or refers to the page by its
    /// number.
    fn blob(first_sequence: u64, pages: &[JournalPage<'_>]) -> JournalFrame {
        let mut bytes = Vec::new();
        for (time, page) in (1..).zip(pages) {
            let visit = Visit::new(Time::from_ms_unchecked(time), Seen::Gone);
            put_entry(&mut bytes, page, &Entry::Visit(visit));
        }
        JournalFrame { first_sequence, count: u32::try_from(pages.len()).unwrap(), bytes }
    }

    #[test]
    fn page_numbers_restart_in_each_table() {
        let sim = SimDisk::new();
        let disk: Arc<dyn Disk> = Arc::new(sim.clone());
        disk.create_dirs(Dir::STORE).unwrap();
        let epoch = EpochInfo {
            epoch: Epoch(0),
            name: "e".to_owned(),
            begun: 0,
            role: Role::Both,
            bands: Bands::EXTERNAL,
            ended: false,
        };
        let mut locks = StoreLocks::take(&*disk, LockMode::Exclusive).unwrap();
        locks.follow(
            Catalog::create(&disk, &CatalogContents::new(&*disk, vec![epoch], false)).unwrap(),
        );
        let (catalog, _) = Catalog::open(&disk, locks).unwrap();
        let new = |url| JournalPage::New { url, earlier: false, head: &[] };
        let older = blob(1, &[new("http://a/"), new("http://b/"), JournalPage::Known(1)]);
        let newer = blob(4, &[new("http://c/"), JournalPage::Known(0)]);
        catalog.append(&[(Journal::A, older), (Journal::B, newer)]).unwrap();
        let mut file =
            sim.contents().into_iter().find(|(name, _)| *name == FileName::Catalog).unwrap().1;
        file[..4096].fill(0);
        let damaged = SimDisk::of([(FileName::Catalog, file)]);
        let file = damaged.open(FileName::Catalog, Access::Read).unwrap();
        let saved = replay(&Salvage::read(&*file).unwrap(), 1).unwrap();
        assert_eq!((saved.operations, &saved.gaps[..]), (Some((1, 5)), &[][..]));
        assert_eq!(saved.orphans, OrphanOperations::default());
        let inner = saved.memtable.read();
        let visits = inner.pages().map(|page| (page.url(), page.entries_at(u64::MAX).count()));
        let visits: Vec<_> = visits.collect();
        assert_eq!(visits, [("http://a/", 1), ("http://b/", 2), ("http://c/", 2)]);
    }
}
