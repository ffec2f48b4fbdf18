//! Sealing and merging: how the memtable becomes a segment, and segments become fewer.
//!
//! Both write a whole file first, durably, and then make it count in one transaction of the
//! catalog. Nobody waits for them but a third full memtable.

use std::io::ErrorKind;
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::answer::Merged;
use super::listed::row;
use super::memtable::{Inner, Memtable};
use super::memtables::Memtables;
use super::options::Options;
use super::shared::{Shared, WriteLock};
use super::view::{LiveSegment, View};
use crate::bug::{OrBug, ensure};
use crate::disk::Name;
use crate::error::{Error, Result};
use crate::layout::{Numbers, PAGES_MAX};
use crate::search::Resources;
use crate::segment::{Layout, Mergeable, SealPage, Sealer, Segment, Span, merge};
use crate::sync::atomic::Ordering;
use crate::sync::thread;

/// Segments that are due to be merged, in fan-outs, beyond which a full memtable waits for merges.
const BACKLOG: usize = 4;

/// Segments that are merged at once, at most: each may take a scratch file.
const MERGED_MAX: usize = 128;

/// How long the background work waits before it tries again what did not go.
const RETRY: Duration = Duration::from_secs(10);

/// Larger segments are not read once more after they were written: memory may not hold them.
const WARM_BYTES_MAX: u64 = 4 << 30;

/// Milliseconds that the sealing thread waits for readers of a memtable that it sealed.
const PATIENCE: u32 = 50;

impl Shared {
    /// Whether the memtable that is written must be sealed before it takes more.
    pub(super) fn is_full(&self, inner: &Inner) -> bool {
        inner.operations >= self.options.memtable_observations
            || inner.operations > 0 && inner.bytes() >= self.options.memtable_bytes
    }

    /// Takes the write lock once there is room for an operation, and no load holds the writers.
    pub(super) fn room(&self) -> Result<WriteLock<'_>> {
        loop {
            self.sound()?;
            let writer = self.write_lock();
            if self.held.load(Ordering::Acquire) {
                drop(writer);
                self.wait_until(|| !self.held.load(Ordering::Acquire))?;
                continue;
            }
            if !self.is_full(&self.view().memtables.active.read()) {
                return Ok(writer);
            }
            if self.rotate(&writer) {
                if self.options.background {
                    return Ok(writer);
                }
                drop(writer);
                self.seal_waiting()?;
                continue;
            }
            drop(writer);
            if self.options.background {
                self.wait_until(|| !self.is_sealing() && !self.is_behind())?;
            } else {
                self.seal_waiting()?;
            }
        }
    }

    /// Whether merges are so far behind that sealing more would only make searches slower. Merges that
    /// do not go, for want of room or because an input is damaged, are not waited for.
    fn is_behind(&self) -> bool {
        if self.merge_error.lock().is_some() {
            return false;
        }
        let most = self.options.merge_fanout.saturating_mul(BACKLOG);
        self.due().is_some_and(|due| due.len() >= most)
    }

    /// Begins another memtable, unless one is waiting to be sealed, or merges are far behind.
    fn rotate(&self, _writer: &WriteLock<'_>) -> bool {
        if self.is_sealing() {
            return false;
        }
        if self.options.background && self.is_behind() {
            self.wake();
            return false;
        }
        self.begin_memtable();
        self.wake();
        true
    }

    /// Whether a memtable waits to be sealed, or is being sealed.
    fn is_sealing(&self) -> bool {
        self.view().memtables.sealing.is_some()
    }

    fn begin_memtable(&self) {
        let journal = self.view().memtables.active.journal.other();
        let next = match self.spare.lock().take() {
            Some(spare) => spare.with_journal(journal),
            None => Memtable::new(journal),
        };
        let next = Arc::new(next);
        self.change_view(|view| {
            let sealing = Some(Arc::clone(&view.memtables.active));
            View { memtables: Memtables { sealing, active: next }, ..view.clone() }
        });
    }

    /// Seals what is unsealed, however little.
    pub(super) fn seal_all(&self) -> Result<()> {
        loop {
            self.sound()?;
            let writer = self.write_lock();
            let view = self.view();
            if view.memtables.sealing.is_none() {
                if view.memtables.active.read().sequences.is_none() {
                    return Ok(());
                }
                // Asked for by hand, so a backlog of merges is no reason to wait.
                self.begin_memtable();
            }
            drop(writer);
            self.seal_waiting()?;
        }
    }

    /// Seals the memtable that waits for it, if there is one, and returns it.
    pub(super) fn seal_waiting(&self) -> Result<Option<Arc<Memtable>>> {
        let _one = self.sealing.lock();
        self.sound()?;
        let Some(waiting) = self.view().memtables.sealing.clone() else { return Ok(None) };
        self.seal_memtable(&waiting).map_err(|e| self.poison(e))?;
        self.wake();
        Ok(Some(waiting))
    }

    /// Lets the memory of a sealed memtable serve the next one, if it leaves room, and if whoever
    /// still reads it lets go soon.
    fn recycle(&self, mut sealed: Arc<Memtable>) {
        for _ in 0..PATIENCE {
            if self.is_sealing() {
                return;
            }
            match Arc::try_unwrap(sealed) {
                Ok(sealed) => {
                    let spare = sealed.emptied();
                    if spare.read().bytes() < self.options.memtable_bytes / 2 {
                        *self.spare.lock() = Some(spare);
                    }
                    return;
                }
                Err(held) => sealed = held,
            }
            thread::sleep(Duration::from_millis(1));
        }
    }

    fn seal_memtable(&self, memtable: &Memtable) -> Result<()> {
        let inner = memtable.read();
        let sequences = inner.sequences.or_bug("a memtable that waits to be sealed was written")?;
        self.commit(sequences.1, None)?;
        self.catalog.check_locks()?;
        let stamp = self.stamps.stamp(&*self.disk);
        // In memory, unless a memtable holds very many.
        let memory_bytes = self.options.background_memory_bytes / 8;
        let mut sealer = Sealer::new(&self.disk, stamp, memory_bytes)?;
        let mut visits = Vec::new();
        for page in inner.in_order() {
            let record = page.record(&mut visits);
            if record.reset || !record.visits.is_empty() {
                let (url, hash, in_force) = (page.url(), page.hash(), page.in_force());
                sealer.push(&SealPage { url, hash, record, in_force })?;
            }
        }
        let deltas = (inner.page_delta, inner.visit_delta);
        let span = Span { sequences, deltas, tier: 0 };
        sealer.finish(span, inner.buried.tombstones(), &self.background_layout())?;
        let live = self.open_segment(stamp.id)?;
        let listed = row(live.segment.frame());
        let has_all = (listed.first_sequence, listed.last_sequence) == sequences;
        ensure(has_all, "a segment has the operations of its memtable")?;
        self.catalog.seal(&listed, memtable.journal, self.stamps.next())?;
        self.change_view(|view| View {
            segments: view.segments.iter().cloned().chain([live]).collect(),
            memtables: Memtables { sealing: None, ..view.memtables.clone() },
            ..view.clone()
        });
        self.tell_readers(Vec::new())
    }

    /// How tables of new segments are made.
    pub(super) fn layout(&self, resources: Resources) -> Layout {
        let Options { near_distance, fingerprint_bytes, .. } = self.options;
        Layout { distance: near_distance, bytes_each: fingerprint_bytes, resources }
    }

    /// How tables are made beside other work: by one thread, in a part of the memory.
    fn background_layout(&self) -> Layout {
        let memory_bytes = self.options.background_memory_bytes / 4;
        self.layout(Resources { memory_bytes, threads: 1 })
    }

    /// Opens a segment that was just written, ready to be searched at full speed. One that turns out
    /// not to be sound is removed.
    pub(super) fn open_segment(&self, id: u64) -> Result<Arc<LiveSegment>> {
        let open = || {
            let segment = Segment::open(&self.disk, id)?;
            if self.options.background && segment.file_bytes() <= WARM_BYTES_MAX {
                segment.warm_up()?;
            }
            LiveSegment::open(segment).map(Arc::new)
        };
        open().inspect_err(|_| {
            // If this fails, the next open finds the file and removes it.
            let _ = self.disk.remove(Name::Segment(id));
        })
    }

    /// The neighbours that are due to be merged: a run of one tier, as long as the fan-out.
    fn due(&self) -> Option<Vec<Arc<LiveSegment>>> {
        let view = self.view();
        let tier = |live: &Arc<LiveSegment>| live.segment.numbers().tier;
        let runs = view.segments.chunk_by(|a, b| tier(a) == tier(b));
        let fit = |run: &&[Arc<LiveSegment>]| {
            run.iter().map(|live| live.segment.numbers().pages).sum::<u64>() < PAGES_MAX
        };
        let long = |run: &&[_]| run.len() >= self.options.merge_fanout;
        runs.filter(long).filter(fit).last().map(<[_]>::to_vec)
    }

    /// Whether a seal or a merge is due.
    pub(super) fn is_idle_now(&self) -> bool {
        !self.is_sealing() && self.due().is_none()
    }

    /// Returns when no seal and no merge is due: waits for those in the background, or does them.
    pub(super) fn wait_idle(&self) -> Result<()> {
        if self.options.background {
            let hindered = || self.merge_error.lock().clone();
            self.wait_until(|| self.is_idle_now() || hindered().is_some())?;
            // One that is not due does not count.
            return if self.is_idle_now() { Ok(()) } else { hindered().map_or(Ok(()), Err) };
        }
        self.seal_waiting()?;
        while self.merge_due()? {}
        Ok(())
    }

    /// Whether the segments would take much less room as one, and may become one: what goes then are
    /// records of pages that newer segments have, too, what was forgotten, and the fingerprint tables
    /// of epochs that have ended.
    fn is_wasteful(&self) -> bool {
        let view = self.view();
        let sum = |of: fn(&Numbers) -> u64| -> u64 {
            view.segments.iter().map(|live| of(live.segment.numbers())).sum()
        };
        let left = |of: fn(&Numbers) -> i64| -> u64 {
            let sum: i64 = view.segments.iter().map(|live| of(live.segment.numbers())).sum();
            // Segments that take away more than they have are worth a merge.
            u64::try_from(sum).unwrap_or(0)
        };
        let is_much = |all: u64, left: u64| all.saturating_mul(10) > left.saturating_mul(13);
        let records = sum(|n| n.pages);
        let fingerprints = sum(|n| n.fingerprints);
        let ended: u64 = view.segments.iter().map(|live| view.ended_fingerprints(live)).sum();
        let is_spread = view.segments.len() > 1
            && (is_much(records, left(|n| n.page_delta))
                || is_much(sum(|n| n.visits), left(|n| n.visit_delta)));
        (is_spread || is_much(fingerprints, fingerprints.saturating_sub(ended)))
            && records < PAGES_MAX
            // Where nobody can say, it is not tried.
            && self.has_space(&view.segments).unwrap_or(false)
    }

    /// Whether nothing has come since the last seal.
    fn is_idle(&self) -> bool {
        let Memtables { sealing, active } = &self.view().memtables;
        sealing.is_none() && active.is_untouched()
    }

    /// Merges what is due. Returns whether there was anything.
    pub(super) fn merge_due(&self) -> Result<bool> {
        let _one = self.merging.lock();
        self.sound()?;
        let Some(mut inputs) = self.due() else { return Ok(false) };
        inputs.truncate(MERGED_MAX);
        self.merge_segments(&inputs, &[], &|_, _| Ok(false), &|| false)?;
        Ok(true)
    }

    /// Merges all segments into one. Ends early with [`Error::Cancelled`] when `stop` says so.
    pub(super) fn merge_all(&self, stop: &dyn Fn() -> bool) -> Result<Merged> {
        let _one = self.merging.lock();
        let mut all = Merged::default();
        loop {
            self.sound()?;
            let inputs = self.view().segments.to_vec();
            let whole = inputs.len() <= MERGED_MAX;
            let gains = |inputs: &&[Arc<LiveSegment>]| match inputs {
                [only] => self.view().ended_fingerprints(only) > 0,
                several => !several.is_empty(),
            };
            for inputs in inputs.chunks(MERGED_MAX).filter(gains) {
                let merged = self.merge_segments(inputs, &[], &|_, _| Ok(false), stop)?;
                all.inputs += merged.inputs;
                all.bytes += merged.bytes;
            }
            if whole {
                return Ok(all);
            }
        }
    }

    /// Whether the disk has room for a merge's output beside its inputs.
    fn has_space(&self, inputs: &[Arc<LiveSegment>]) -> Result<bool> {
        let needed: u64 = inputs.iter().map(|live| live.segment.file_bytes()).sum();
        let has_space = || {
            let free = self.disk.free_bytes();
            let free = free.map_err(|e| Error::io("measure", self.disk.location(), e))?;
            Ok(free.is_none_or(|free| free > needed))
        };
        if has_space()? {
            return Ok(true);
        }
        // The inputs of earlier merges may still be kept for readers.
        self.let_go_of_all();
        has_space()
    }

    /// Puts one segment in the place of some neighbours. Call with `merging` held.
    pub(super) fn merge_segments(
        &self,
        inputs: &[Arc<LiveSegment>],
        done: &[u64],
        hidden: &dyn Fn(&str, &[u8]) -> Result<bool>,
        stop: &dyn Fn() -> bool,
    ) -> Result<Merged> {
        if !self.has_space(inputs)? {
            let full = std::io::Error::from(ErrorKind::StorageFull);
            return Err(Error::io("merge the segments of", self.disk.location(), full));
        }
        let merged = self.try_merge(inputs, done, hidden, stop).map_err(|e| match e {
            // Nothing was lost and nothing is in doubt: the inputs stand as they are.
            // So it is if what comes of it would be too large for one segment.
            Error::Corrupt(_) | Error::Option(_) | Error::Cancelled => e,
            e if e.is_full() => e,
            e => self.poison(e),
        })?;
        self.wake();
        Ok(merged)
    }

    fn try_merge(
        &self,
        inputs: &[Arc<LiveSegment>],
        done: &[u64],
        hidden: &dyn Fn(&str, &[u8]) -> Result<bool>,
        stop: &dyn Fn() -> bool,
    ) -> Result<Merged> {
        let segments: Vec<Arc<Segment>> = inputs.iter().map(|l| Arc::clone(&l.segment)).collect();
        let old: Vec<u64> = segments.iter().map(|s| s.id()).collect();
        let (from, ended) = {
            // Not for longer: a view keeps the memory of its memtables.
            let view = self.view();
            let ended = view.epochs.iter().filter(|info| info.ended);
            let ended: Vec<u32> = ended.map(|info| info.epoch.0).collect();
            (view.place_of(&old)?, ended)
        };
        self.catalog.check_locks()?;
        let stamp = self.stamps.stamp(&*self.disk);
        let closing = || self.cancel.load(Ordering::Relaxed);
        let mergeable = Mergeable {
            inputs: &segments,
            ended: &ended,
            oldest: from == 0,
            done,
            hidden,
            stop: &|| closing() || stop(),
            layout: self.background_layout(),
        };
        let Some(bytes) = merge(&self.disk, stamp, &mergeable)? else {
            return Err(if closing() { Error::Closed } else { Error::Cancelled });
        };
        let live = self.open_segment(stamp.id)?;
        let listed = row(live.segment.frame());
        let replaced = self.catalog.replace(&old, &listed, self.stamps.next());
        replaced.map_err(|e| self.poison(e))?;
        // Segments only come behind those that are there, and only a merge takes any away.
        self.change_view(|view| {
            let mut kept = view.segments.to_vec();
            kept.splice(from..from + old.len(), [live]);
            View { segments: kept.into(), ..view.clone() }
        });
        let merged = Merged { inputs: segments.len(), bytes };
        self.tell_readers(segments)?;
        Ok(merged)
    }

    /// The sealing thread: seals what waits, and what has waited long enough; lets files go that were
    /// kept for readers.
    pub(super) fn run_sealer(&self) {
        loop {
            {
                let mut guard = self.work.0.lock();
                while self.sound().is_ok() && !self.is_sealing() && !self.is_aged() {
                    let readers = self.readers_wait();
                    if readers.is_some_and(|wait| wait.is_zero()) {
                        break;
                    }
                    let wait = self.options.seal_after / 4;
                    self.work.1.wait_for(&mut guard, readers.unwrap_or(wait).min(wait));
                }
            }
            // A failure has poisoned the store.
            if self.sound().is_err() || self.attend_to_readers().is_err() {
                return;
            }
            if !self.is_sealing() && self.is_aged() {
                let rotated = self.rotate(&self.write_lock());
                if !rotated {
                    // Merges are behind; they wake whoever waits when they have caught up.
                    let mut guard = self.work.0.lock();
                    self.work.1.wait_for(&mut guard, RETRY);
                }
            }
            // A failure has poisoned the store, and the next round ends.
            if let Ok(Some(sealed)) = self.seal_waiting() {
                self.recycle(sealed);
            }
        }
    }

    fn is_aged(&self) -> bool {
        let since = self.view().memtables.active.read().since;
        since.is_some_and(|since| since.elapsed() >= self.options.seal_after)
    }

    /// The merging thread: merges what is due; and all, if that saves much room, when nothing has come
    /// for a while. That one is given up when another merge is due, which would have to wait for it.
    pub(super) fn run_merger(&self) {
        let newest = || self.view().segments.last().map(|live| live.segment.id());
        let mut busy = Instant::now();
        // The newest of those that could not be merged at rest: they are not tried again.
        let mut given_up = None;
        loop {
            let rested = loop {
                if !self.is_idle() {
                    busy = Instant::now();
                } else if busy.elapsed() >= self.options.seal_after
                    && self.due().is_none()
                    && newest() != given_up
                    && self.is_wasteful()
                {
                    break true;
                }
                let mut guard = self.work.0.lock();
                if self.sound().is_err() || self.due().is_some() {
                    break false;
                }
                self.work.1.wait_for(&mut guard, self.options.seal_after / 4);
            };
            let merged = if rested {
                match self.merge_all(&|| self.due().is_some()) {
                    Err(Error::Cancelled) => continue,
                    merged => merged.map(drop).inspect_err(|_| given_up = newest()),
                }
            } else {
                self.merge_due().map(drop)
            };
            *self.merge_error.lock() = merged.as_ref().err().cloned();
            match merged {
                Ok(()) => {}
                // No room on the disk, or an input that cannot be read: look again later.
                Err(_) => {
                    self.wake();
                    let mut guard = self.work.0.lock();
                    if self.sound().is_ok() {
                        self.work.1.wait_for(&mut guard, RETRY);
                    }
                }
            }
            if self.sound().is_err() {
                return;
            }
        }
    }
}
