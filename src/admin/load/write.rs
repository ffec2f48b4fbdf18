//! Writing of segments from runs: one thread merges the runs and looks up each page in the store,
//! another writes.

use std::sync::Arc;

use super::batch::{LoadBatch, LoadPage};
use super::epochs::ResolvedEpochs;
use super::runs::SortedRuns;
use crate::bug::OrBug;
use crate::disk::{Disk, FileName};
use crate::engine::delta::page_delta;
use crate::engine::new_segment::SegmentIds;
use crate::engine::view::View;
use crate::error::Result;
use crate::layout::Delta;
use crate::segment::{
    SealPage, SegmentRecord, SegmentSpan, SegmentWriter, TableLayout, Tombstones, count_visits,
};
use crate::sync::mpsc::{Receiver, SyncSender, sync_channel};

/// The maximum number of batches between the two threads.
const BATCHES: usize = 4;

/// A message from the merging to the writing thread. Without [`BatchMessage::End`], the
/// writing thread must not finish anything.
enum BatchMessage {
    Batch(LoadBatch),
    End,
}

/// The merging half of writing.
pub(super) struct Merger {
    batches: SyncSender<BatchMessage>,
    done: Receiver<LoadBatch>,
}

/// The writing half's ends of the channels.
pub(super) struct BatchReceiver {
    batches: Receiver<BatchMessage>,
    done: SyncSender<LoadBatch>,
}

/// Creates the channels between the two halves.
pub(super) fn pair() -> (Merger, BatchReceiver) {
    let (batches, to_write) = sync_channel(BATCHES);
    let (written, done) = sync_channel(BATCHES + 2);
    (Merger { batches, done }, BatchReceiver { batches: to_write, done: written })
}

impl Merger {
    /// Passes on batches of the pages that lack entries in the segments of `view`, with the store's
    /// epoch numbers. `watch` is called with the number of merged visits. If the writing half
    /// fails, the writing half returns the error, and this call returns without an error.
    pub(super) fn run(
        self,
        runs: &SortedRuns,
        view: &View,
        epochs: &ResolvedEpochs,
        mut watch: impl FnMut(u64) -> Result<()>,
    ) -> Result<()> {
        let mut merge = runs.merge()?;
        loop {
            // Written batches are reused.
            let mut batch = self.done.try_recv().unwrap_or_default();
            batch.clear();
            let mut more = true;
            while more && !batch.is_full() {
                more = batch.take(&mut merge, view.seed, epochs)?;
            }
            batch.reconcile(view, &epochs.all)?;
            let taken = batch.entries_read();
            if self.batches.send(BatchMessage::Batch(batch)).is_err() {
                return Ok(());
            }
            watch(taken)?;
            if !more {
                // If nobody receives the message, the writing half has failed.
                let _ = self.batches.send(BatchMessage::End);
                return Ok(());
            }
        }
    }
}

/// The written segments.
#[derive(Debug)]
pub(super) struct WrittenSegments {
    pub(super) segments: Vec<u64>,
    pub(super) files: UnlistedFiles,
    /// The last operation of the last segment.
    pub(super) sequence: u64,
    /// The pages with visits that were new to the store, and the number of these visits.
    pub(super) pages: u64,
    pub(super) visits: u64,
    /// The numbers of new restatements, weights and classes.
    pub(super) restated: u64,
    pub(super) weights: u64,
    pub(super) classes: u64,
    /// The number of pages that were new to the store.
    pub(super) new_pages: u64,
    /// The total size of the segments in bytes.
    pub(super) bytes: u64,
}

/// How to write segments.
pub(super) struct LoadWriter<'d> {
    pub(super) disk: &'d Arc<dyn Disk>,
    pub(super) segment_ids: &'d SegmentIds,
    /// The last operation before the load.
    pub(super) sequence: u64,
    /// The maximum number of pages in a segment.
    pub(super) segment_pages: u64,
    pub(super) memory_bytes: usize,
    /// How to build the tables. They reuse the memory of the gathered observations, which is free
    /// when the tables are built.
    pub(super) layout: TableLayout,
    /// Returns the tier of a segment with the given number of entries.
    pub(super) tier: &'d (dyn Fn(u64) -> u64 + Sync),
}

/// A segment being written.
struct OpenLoadSegment {
    id: u64,
    sealer: SegmentWriter,
    pages: u64,
    /// The change of the store's totals, without visits.
    delta: Delta,
    /// The number of entries, and of visits, weights and classes among them.
    operations: u64,
    visits: u64,
    weights: u64,
    classes: u64,
}

impl WrittenSegments {
    /// Returns the result of a load without pages. `sequence` is the last operation before the load.
    pub(super) fn nothing(disk: &Arc<dyn Disk>, sequence: u64) -> WrittenSegments {
        WrittenSegments {
            segments: Vec::new(),
            files: UnlistedFiles::new(disk),
            sequence,
            pages: 0,
            visits: 0,
            restated: 0,
            weights: 0,
            classes: 0,
            new_pages: 0,
            bytes: 0,
        }
    }
}

impl LoadWriter<'_> {
    /// Writes all batches. Returns `None` if [`BatchMessage::End`] did not arrive.
    pub(super) fn run(&self, batches: BatchReceiver) -> Result<Option<WrittenSegments>> {
        let mut open: Option<OpenLoadSegment> = None;
        let mut written = WrittenSegments::nothing(self.disk, self.sequence);
        for message in batches.batches {
            let BatchMessage::Batch(batch) = message else {
                if let Some(open) = open {
                    self.finish(open, &mut written)?;
                }
                return Ok(Some(written));
            };
            for page in batch.pages() {
                let full = open.take_if(|open| open.pages >= self.segment_pages);
                full.map_or(Ok(()), |full| self.finish(full, &mut written))?;
                let open = match &mut open {
                    Some(open) => open,
                    none => none.insert(self.begin()?),
                };
                open.push(&batch, page)?;
            }
            // The merging half may have ended already.
            let _ = batches.done.try_send(batch);
        }
        Ok(None)
    }

    fn begin(&self) -> Result<OpenLoadSegment> {
        let stamp = self.segment_ids.stamp(&**self.disk);
        let sealer = SegmentWriter::new(self.disk, stamp, self.memory_bytes / 16 * 15)?;
        let (pages, delta, operations, visits) = (0, Delta::default(), 0, 0);
        let (id, weights, classes) = (stamp.id, 0, 0);
        Ok(OpenLoadSegment { id, sealer, pages, delta, operations, visits, weights, classes })
    }

    fn finish(&self, open: OpenLoadSegment, written: &mut WrittenSegments) -> Result<()> {
        let OpenLoadSegment { id, sealer, pages, delta, operations, visits, weights, classes } =
            open;
        let delta = Delta { visits: visits.cast_signed(), ..delta };
        let new_pages = u64::try_from(delta.pages).ok().filter(|new| *new <= pages);
        let new_pages = new_pages.filter(|_| pages <= operations);
        let new_pages = new_pages.or_bug("a page of a load has a visit")?;
        let sequences = (written.sequence + 1, written.sequence + operations);
        let span = SegmentSpan { sequences, delta, tier: (self.tier)(operations) };
        written.bytes += sealer.finish(span, &Tombstones::default(), &self.layout)?;
        written.segments.push(id);
        written.files.push(FileName::Segment(id));
        written.sequence = sequences.1;
        written.pages += pages;
        written.visits += visits;
        written.restated += operations - visits - weights - classes;
        written.weights += weights;
        written.classes += classes;
        written.new_pages += new_pages;
        Ok(())
    }
}

impl OpenLoadSegment {
    fn push(&mut self, batch: &LoadBatch, page: &LoadPage) -> Result<()> {
        let (entries, before) = (batch.entries(page)?, batch.before(page)?);
        let (earlier, changes) = (page.earlier, page.changes);
        let record = SegmentRecord { reset: false, earlier, before, entries, changes };
        let (url, hash, row) = (batch.url(page)?, page.hash, page.row);
        self.sealer.push(SealPage { url, hash, record, row, in_force: page.in_force.clone() })?;
        self.pages += 1;
        let (before, after) = page.states;
        let without = self.delta.minus(page_delta(before, 0));
        let sum = without.and_then(|without| without.plus(page_delta(after, 0)));
        self.delta = sum.or_bug("a segment has fewer than 2^30 pages")?;
        self.operations += entries.len() as u64;
        self.visits += count_visits(entries) as u64;
        self.weights += entries.iter().filter(|entry| entry.weight().is_some()).count() as u64;
        self.classes += entries.iter().filter(|entry| entry.class().is_some()).count() as u64;
        Ok(())
    }
}

/// Complete files that no list names yet. They are removed on drop.
#[derive(Debug)]
pub(super) struct UnlistedFiles {
    disk: Arc<dyn Disk>,
    names: Vec<FileName>,
}

impl UnlistedFiles {
    pub(super) fn new(disk: &Arc<dyn Disk>) -> UnlistedFiles {
        UnlistedFiles { disk: Arc::clone(disk), names: Vec::new() }
    }

    pub(super) fn push(&mut self, name: FileName) {
        self.names.push(name);
    }

    /// Keeps the files, because a list may now name them.
    pub(super) fn keep(mut self) {
        self.names.clear();
    }
}

impl Drop for UnlistedFiles {
    fn drop(&mut self) {
        for name in self.names.drain(..) {
            // If the removal fails, the next open finds the file and removes it.
            let _ = self.disk.remove(name);
        }
    }
}
