//! Sealing: turning a memtable into a segment.
//!
//! The segment's file is first written durably, and then made live by one transaction of the
//! catalog. Only a writer that would need a third memtable waits for the seal.

use std::sync::Arc;
use std::time::Duration;

use super::core::Core;
use super::lookup::Lookup;
use super::manifest_check::row;
use super::memtable::{Memtable, MemtablePage};
use super::memtables::Memtables;
use super::new_segment;
use super::publisher::Publisher;
use super::view::View;
use super::write::admission::Admission;
use super::write::commit::Committer;
use crate::bug::{OrBug, ensure};
use crate::engine::store::Store;
#[cfg(doc)]
use crate::error::Error;
use crate::error::Result;
use crate::metrics::Work;
use crate::page::{Changes, Entry, in_force_on};
use crate::segment::{self, ScheduleRow, SealPage, SegmentSpan, host_slot};
use crate::sync::{LockRank, RankedGuard, RankedMutex};

impl Store {
    /// Seals all unsealed operations into segments, however few, and returns when they are sealed.
    /// Costs writing the segments, and one commit for each; there are at most two.
    ///
    /// ```
    /// # use simkeep::{Observation, Options, Store, Time};
    /// # fn main() -> simkeep::Result<()> {
    /// # let dir = tempfile::tempdir().unwrap();
    /// # let store = Store::create(dir.path().join("store"), Options::default())?;
    /// store.observe(Observation::gone("https://example.com/", Time::now()))?;
    /// store.seal()?;
    /// assert_eq!(store.stats()?.unsealed_visits, 0);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::Io`] or [`Error::Poisoned`].
    pub fn seal(&self) -> Result<()> {
        self.change(|db| db.sealer.seal_all())
    }
}

/// The time for which the sealing thread waits if merges are behind.
const RETRY: Duration = Duration::from_secs(10);

/// Seals memtables.
#[derive(Debug)]
pub(crate) struct MemtableSealer {
    core: Arc<Core>,
    admission: Arc<Admission>,
    committer: Arc<Committer>,
    publisher: Arc<Publisher>,
    /// The lock that one seal takes at a time.
    sealing: RankedMutex<()>,
}

impl MemtableSealer {
    pub(crate) fn new(
        core: &Arc<Core>,
        admission: &Arc<Admission>,
        committer: &Arc<Committer>,
        publisher: &Arc<Publisher>,
    ) -> MemtableSealer {
        MemtableSealer {
            core: Arc::clone(core),
            admission: Arc::clone(admission),
            committer: Arc::clone(committer),
            publisher: Arc::clone(publisher),
            sealing: RankedMutex::new(LockRank::Seal, ()),
        }
    }

    /// Seals all unsealed operations, however few.
    pub(crate) fn seal_all(&self) -> Result<()> {
        while self.admission.rotate_all()? {
            self.seal_waiting()?;
        }
        Ok(())
    }

    /// Seals the waiting memtable, if there is one, and returns that memtable.
    pub(crate) fn seal_waiting(&self) -> Result<Option<Arc<Memtable>>> {
        let _one = self.wait_idle();
        let Core { live, lifecycle, .. } = &*self.core;
        lifecycle.check()?;
        let Some(waiting) = live.view().memtables.sealing.clone() else { return Ok(None) };
        let timing = self.core.metrics.begin(Work::Seal);
        self.seal(&waiting).map_err(|e| self.core.poison(e))?;
        timing.end();
        lifecycle.notify();
        Ok(Some(waiting))
    }

    /// Waits until no thread seals. The result excludes other seals while it exists.
    pub(crate) fn wait_idle(&self) -> RankedGuard<'_, ()> {
        self.sealing.lock()
    }

    fn seal(&self, memtable: &Memtable) -> Result<()> {
        let Core { catalog, segment_ids, live, .. } = &*self.core;
        let sequences = memtable.read().sequences;
        let sequences = sequences.or_bug("a memtable that is sealed has operations")?;
        // With `OnFlush`, operations may still wait in memory. All operations must be durable and
        // visible before the memtable leaves the view, because snapshots rely on this order.
        self.committer.commit(sequences.1, None)?;
        catalog.check_locks()?;
        let id = self.write(memtable, sequences)?;
        let sealed = new_segment::open(&self.core, id)?;
        let listed = row(sealed.segment.frame());
        let has_all = (listed.first_sequence, listed.last_sequence) == sequences;
        ensure(has_all, "a sealed segment has the operations of its memtable")?;
        // One transaction adds the segment and drops its journal, so after a crash there is exactly
        // one of the two.
        catalog.seal(&listed, memtable.journal, segment_ids.next())?;
        live.change(|view| View {
            segments: view.segments.iter().cloned().chain([sealed]).collect(),
            memtables: Memtables { sealing: None, ..view.memtables.clone() },
            ..view.clone()
        });
        self.publisher.publish(Vec::new())
    }

    /// Writes the operations `sequences` of a memtable as a segment, and returns the segment's
    /// number.
    fn write(&self, memtable: &Memtable, sequences: (u64, u64)) -> Result<u64> {
        let Core { disk, options, segment_ids, live, .. } = &*self.core;
        let seed = live.view().seed;
        let stamp = segment_ids.stamp(&**disk);
        // The sort is in memory, unless a memtable has very many pages.
        let memory_bytes = options.background_memory_bytes / 8;
        let mut file = segment::SegmentWriter::new(disk, stamp, memory_bytes)?;
        // The layout locks the live view, which ranks before a memtable. So it comes before
        // `memtable.read`.
        let layout = new_segment::background_layout(&self.core);
        let view = self.core.live.view();
        let inner = memtable.read();
        let mut entries = Vec::new();
        for page in inner.in_order() {
            let course = page.history_at(u64::MAX, &view.epochs);
            page.take_entries(&mut entries);
            let changes = match course.changes {
                Some(changes) => changes,
                // A visit came late. All visits of the page are folded again, once for this
                // memtable.
                None => changes_anew(&view, &page, &entries)?,
            };
            let record = page.record(&entries, changes);
            if record.reset || !record.entries.is_empty() {
                let (url, head, own) = (page.url(), course.head.as_ref(), record.visit_count());
                let row = ScheduleRow::new(head, &changes, own, host_slot(url, seed)).pack();
                let (hash, in_force) = (page.hash(), in_force_on(head));
                file.push(SealPage { url, hash, record, row, in_force })?;
            }
        }
        let span = SegmentSpan { sequences, delta: inner.delta, tier: 0 };
        file.finish(span, inner.hidden_keys.tombstones(), &layout)?;
        Ok(stamp.id)
    }

    /// Runs the sealing thread. The thread seals full and old memtables, and releases files that
    /// were kept for readers.
    pub(crate) fn run(&self) {
        let Core { options, live, lifecycle, .. } = &*self.core;
        while lifecycle.check().is_ok() {
            let idle = || {
                let pause = options.seal_after / 4;
                let time = self.publisher.due_in().unwrap_or(pause).min(pause);
                let is_due = live.is_sealing() || self.admission.is_aged() || time.is_zero();
                (!is_due).then_some(time)
            };
            while lifecycle.wait(idle) {}
            // A failure has poisoned the store.
            if lifecycle.check().is_err() || self.publisher.catch_up().is_err() {
                return;
            }
            if self.admission.rotate_aged() {
                // Merges are behind; they notify waiting threads when they have caught up.
                lifecycle.wait(|| Some(RETRY));
            }
            // An error has poisoned the store, and the next round ends.
            if let Ok(Some(sealed)) = self.seal_waiting() {
                self.admission.recycle(sealed);
            }
        }
    }
}

/// Computes the change statistics of a page from all its visits, including `entries` in the
/// memtable being sealed.
fn changes_anew(view: &View, page: &MemtablePage<'_>, entries: &[Entry]) -> Result<Changes> {
    let mut all = entries.to_vec();
    if !page.ends_at(u64::MAX) {
        all.append(&mut view.sealed_entries(&Lookup::of(page.url(), page.hash()))?);
        all.sort_unstable();
    }
    Ok(Changes::of(&all, &view.epochs))
}
