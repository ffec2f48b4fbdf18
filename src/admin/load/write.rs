//! Runs become segments: one thread merges them and asks what the store knows of each page, another
//! one writes.

use std::sync::Arc;

use super::batch::{Batch, Ready};
use super::epochs::Settled;
use super::runs::Runs;
use crate::bug::OrBug;
use crate::disk::{Disk, Name};
use crate::engine::delta::page_delta;
use crate::engine::new_segment::SegmentIds;
use crate::engine::view::View;
use crate::error::Result;
use crate::layout::Delta;
use crate::segment::{Layout, Record, SealPage, Sealer, Span, Tombstones, count_visits};
use crate::sync::mpsc::{Receiver, SyncSender, sync_channel};

/// Batches on their way from one thread to the other.
const BATCHES: usize = 4;

/// What the merging thread sends to the writing one. Without the end, nothing may be finished.
enum Message {
    Batch(Batch),
    End,
}

/// The merging half.
pub(super) struct Merger {
    batches: SyncSender<Message>,
    done: Receiver<Batch>,
}

/// The writing half's ends.
pub(super) struct Batches {
    batches: Receiver<Message>,
    done: SyncSender<Batch>,
}

/// What the two halves talk through.
pub(super) fn pair() -> (Merger, Batches) {
    let (batches, to_write) = sync_channel(BATCHES);
    let (written, done) = sync_channel(BATCHES + 2);
    (Merger { batches, done }, Batches { batches: to_write, done: written })
}

impl Merger {
    /// Passes on, ready to be written, the pages of which the segments of `view` lack entries, with
    /// their epochs numbered as in the store. `watch` is told of visits as they are merged. An error of
    /// the writing half is told there: here nothing more is done.
    pub(super) fn run(
        self,
        runs: &Runs,
        view: &View,
        epochs: &Settled,
        mut watch: impl FnMut(u64) -> Result<()>,
    ) -> Result<()> {
        let mut merge = runs.merge()?;
        loop {
            // Those that were written are filled again.
            let mut batch = self.done.try_recv().unwrap_or_default();
            batch.clear();
            let mut more = true;
            while more && !batch.is_full() {
                more = batch.take(&mut merge, view.seed, epochs)?;
            }
            batch.settle(view, &epochs.all)?;
            let taken = batch.taken();
            if self.batches.send(Message::Batch(batch)).is_err() {
                return Ok(());
            }
            watch(taken)?;
            if !more {
                // If nobody hears it, the writing half has failed.
                let _ = self.batches.send(Message::End);
                return Ok(());
            }
        }
    }
}

/// What was written.
#[derive(Debug)]
pub(super) struct Written {
    pub(super) segments: Vec<u64>,
    pub(super) files: Unlisted,
    /// The last operation of the last of them.
    pub(super) sequence: u64,
    /// Pages with visits that the store did not have, and those visits.
    pub(super) pages: u64,
    pub(super) visits: u64,
    /// What was restated beside, and given.
    pub(super) restated: u64,
    pub(super) weights: u64,
    pub(super) classes: u64,
    /// The pages that it did not know.
    pub(super) new_pages: u64,
    /// Bytes of the segments.
    pub(super) bytes: u64,
}

/// How segments are written.
pub(super) struct Writing<'d> {
    pub(super) disk: &'d Arc<dyn Disk>,
    pub(super) segment_ids: &'d SegmentIds,
    /// The last operation before the load.
    pub(super) sequence: u64,
    /// Pages of a segment, at most.
    pub(super) segment_pages: u64,
    pub(super) memory_bytes: usize,
    /// How the tables are made, in memory that is free again by then.
    pub(super) layout: Layout,
    /// The tier of a segment with this many entries.
    pub(super) tier: &'d (dyn Fn(u64) -> u64 + Sync),
}

/// A segment that is being written.
struct Open {
    id: u64,
    sealer: Sealer,
    pages: u64,
    /// What they add to what the store knows, but for visits.
    delta: Delta,
    /// All entries, and of them visits, weights and classes.
    operations: u64,
    visits: u64,
    weights: u64,
    classes: u64,
}

impl Written {
    /// Nothing, after the last operation before the load.
    pub(super) fn nothing(disk: &Arc<dyn Disk>, sequence: u64) -> Written {
        Written {
            segments: Vec::new(),
            files: Unlisted::new(disk),
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

impl Writing<'_> {
    /// Writes all that comes. `None` if the end of it did not come.
    pub(super) fn run(&self, batches: Batches) -> Result<Option<Written>> {
        let mut open: Option<Open> = None;
        let mut written = Written::nothing(self.disk, self.sequence);
        for message in batches.batches {
            let Message::Batch(batch) = message else {
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
            // Nobody is there to take it once all has been merged.
            let _ = batches.done.try_send(batch);
        }
        Ok(None)
    }

    fn begin(&self) -> Result<Open> {
        let stamp = self.segment_ids.stamp(&**self.disk);
        let sealer = Sealer::new(self.disk, stamp, self.memory_bytes / 16 * 15)?;
        let (pages, delta, operations, visits) = (0, Delta::default(), 0, 0);
        let (id, weights, classes) = (stamp.id, 0, 0);
        Ok(Open { id, sealer, pages, delta, operations, visits, weights, classes })
    }

    fn finish(&self, open: Open, written: &mut Written) -> Result<()> {
        let Open { id, sealer, pages, delta, operations, visits, weights, classes } = open;
        let delta = Delta { visits: visits.cast_signed(), ..delta };
        let new_pages = u64::try_from(delta.pages).ok().filter(|new| *new <= pages);
        let new_pages = new_pages.filter(|_| pages <= operations);
        let new_pages = new_pages.or_bug("a page of a load has a visit")?;
        let sequences = (written.sequence + 1, written.sequence + operations);
        let span = Span { sequences, delta, tier: (self.tier)(operations) };
        written.bytes += sealer.finish(span, &Tombstones::default(), &self.layout)?;
        written.segments.push(id);
        written.files.push(Name::Segment(id));
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

impl Open {
    fn push(&mut self, batch: &Batch, page: &Ready) -> Result<()> {
        let (entries, before) = (batch.entries(page)?, batch.before(page)?);
        let (earlier, changes) = (page.earlier, page.changes);
        let record = Record { reset: false, earlier, before, entries, changes };
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

/// Files that are whole and in no list yet. Dropped, they are removed.
#[derive(Debug)]
pub(super) struct Unlisted {
    disk: Arc<dyn Disk>,
    names: Vec<Name>,
}

impl Unlisted {
    pub(super) fn new(disk: &Arc<dyn Disk>) -> Unlisted {
        Unlisted { disk: Arc::clone(disk), names: Vec::new() }
    }

    pub(super) fn push(&mut self, name: Name) {
        self.names.push(name);
    }

    /// A list may name them now.
    pub(super) fn listed(mut self) {
        self.names.clear();
    }
}

impl Drop for Unlisted {
    fn drop(&mut self) {
        for name in self.names.drain(..) {
            // If this fails, the next open finds the file and removes it.
            let _ = self.disk.remove(name);
        }
    }
}
