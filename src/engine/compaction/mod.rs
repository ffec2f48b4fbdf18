//! Compaction: merging of segments.
//!
//! The merged file is first written durably, and then replaces its inputs in one transaction of the
//! catalog. The policy ([`policy`]) decides which segments are merged.

pub(crate) mod policy;

use std::io::ErrorKind;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::{Duration, Instant};

use self::policy::CompactionInput;
use super::core::Core;
use super::live_segment::LiveSegment;
use super::manifest_check::row;
use super::memtables::Memtables;
use super::new_segment;
use super::publisher::Publisher;
use super::results::Merged;
use super::view::View;
use crate::engine::store::Store;
use crate::error::{Error, Result};
use crate::metrics::Work;
use crate::progress::{Progress, Stage};
use crate::segment::{MergeInputs, MergeProgressFn, Segment, merge};
use crate::sync::{LockRank, RankedGuard, RankedMutex};

impl Store {
    /// Merges all segments into one. Costs reading and writing all segments once, or twice if there
    /// are more than 128. A single segment is left unchanged, unless it has fingerprint tables of
    /// an ended epoch.
    ///
    /// ```
    /// # use simkeep::{Observation, Options, Progress, Store, Time};
    /// # fn main() -> simkeep::Result<()> {
    /// # let dir = tempfile::tempdir().unwrap();
    /// # let store = Store::create(dir.path().join("store"), Options::default())?;
    /// for url in ["https://example.com/", "https://example.org/"] {
    ///     store.observe(Observation::gone(url, Time::now()))?;
    ///     store.seal()?;
    /// }
    /// store.merge(&Progress::default())?;
    /// assert_eq!(store.stats()?.segments.len(), 1);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::Io`], [`Error::Corrupt`] or [`Error::Poisoned`]. [`Error::Cancelled`] if the
    /// progress was cancelled: segments merged before stay merged, which changes no query's result.
    pub fn merge(&self, progress: &Progress) -> Result<Merged> {
        self.change(|db| db.compactor.merge_all(progress, &|| false))
    }
}

/// The maximum number of segments to merge at once: each may take a scratch file.
const MERGED_MAX: usize = 128;

/// The time until the merging thread retries a failed merge.
const RETRY: Duration = Duration::from_secs(10);

/// Merges neighbouring segments.
#[derive(Debug)]
pub(crate) struct Compactor {
    core: Arc<Core>,
    publisher: Arc<Publisher>,
    /// The lock that one merge takes at a time, and that a purge takes from beginning to end.
    merging: RankedMutex<()>,
    /// The error of the last background merge, if it failed.
    error: RankedMutex<Option<Error>>,
}

/// The data that a merge drops in addition to the data that its inputs hide.
pub(crate) struct Purge<'a> {
    /// Tombstones that no longer hide anything, by their sequence numbers.
    pub(crate) done: &'a [u64],
    /// Whether to drop a page, by its URL and SURT key.
    pub(crate) hidden: &'a dyn Fn(&str, &[u8]) -> Result<bool>,
}

impl Purge<'_> {
    const NOTHING: Purge<'static> = Purge { done: &[], hidden: &|_, _| Ok(false) };
}

/// The right to merge, which one thread holds at a time.
pub(crate) struct MergePermit<'c> {
    compactor: &'c Compactor,
    _one: RankedGuard<'c, ()>,
}

impl Compactor {
    pub(crate) fn new(core: &Arc<Core>, publisher: &Arc<Publisher>) -> Compactor {
        let merging = RankedMutex::new(LockRank::Merge, ());
        let error = RankedMutex::new(LockRank::MergeError, None);
        Compactor { core: Arc::clone(core), publisher: Arc::clone(publisher), merging, error }
    }

    /// Waits until no other thread merges.
    pub(crate) fn begin(&self) -> Result<MergePermit<'_>> {
        let merging = self.wait_idle();
        self.core.lifecycle.check()?;
        Ok(merging)
    }

    /// Waits until no thread merges. The result excludes other merges while it exists.
    pub(crate) fn wait_idle(&self) -> MergePermit<'_> {
        MergePermit { compactor: self, _one: self.merging.lock() }
    }

    /// The error of the last background merge, if it failed.
    pub(crate) fn error(&self) -> Option<Error> {
        self.error.lock().clone()
    }

    /// The neighbouring segments that are due for a merge.
    fn due(&self) -> Option<Vec<Arc<LiveSegment>>> {
        let view = self.core.live.view();
        let due = policy::due(&statistics(&view), self.core.options.merge_fanout)?;
        view.segments.get(due).map(<[_]>::to_vec)
    }

    /// Whether a merge is due.
    pub(crate) fn is_due(&self) -> bool {
        self.due().is_some()
    }

    /// Whether merges are so far behind that sealing more would only make searches slower. Merges
    /// that fail, because the disk is full or an input is damaged, do not count.
    pub(crate) fn is_behind(&self) -> bool {
        let fanout = self.core.options.merge_fanout;
        self.error.lock().is_none()
            && policy::is_behind(&statistics(&self.core.live.view()), fanout)
    }

    /// Whether a merge of all segments would save much space, and the disk has space for the
    /// merge's output.
    fn is_wasteful(&self) -> bool {
        let view = self.core.live.view();
        // If the free space is unknown, no merge is tried.
        policy::is_wasteful(&statistics(&view)) && self.has_space(&view.segments).unwrap_or(false)
    }

    /// Whether everything is sealed.
    fn is_sealed(&self) -> bool {
        let Memtables { sealing, active } = &self.core.live.view().memtables;
        sealing.is_none() && active.is_untouched()
    }

    /// Merges the segments that are due. Returns whether any segments were due.
    pub(crate) fn merge_due(&self) -> Result<bool> {
        let merging = self.begin()?;
        let Some(mut inputs) = self.due() else { return Ok(false) };
        // The oldest segments of the run are merged, so the inputs stay neighbours. The other
        // segments become due again.
        inputs.truncate(MERGED_MAX);
        merging.merge(&inputs, &Purge::NOTHING, &|_| ControlFlow::Continue(()))?;
        Ok(true)
    }

    /// Merges all segments into one. Ends early with [`Error::Cancelled`] if `progress` is
    /// cancelled or `stop` returns true.
    pub(crate) fn merge_all(&self, progress: &Progress, stop: &dyn Fn() -> bool) -> Result<Merged> {
        progress.start(Stage::Merging, None)?;
        let merging = self.wait_idle();
        let live = &self.core.live;
        let mut all = Merged::default();
        loop {
            self.core.lifecycle.check()?;
            let inputs = live.view().segments.to_vec();
            let whole = inputs.len() <= MERGED_MAX;
            progress.begin(Stage::Merging, Some(inputs.iter().map(|live| live.steps()).sum()));
            let step = |steps| if stop() { ControlFlow::Break(()) } else { progress.step(steps) };
            for inputs in inputs.chunks(MERGED_MAX).filter(|inputs| self.gains(inputs)) {
                let merged = merging.merge(inputs, &Purge::NOTHING, &step)?;
                all.inputs += merged.inputs;
                all.bytes += merged.bytes;
            }
            // With more than 128 segments, the first round merges them into some large segments,
            // and the next round merges these into one.
            if whole {
                progress.finish();
                return Ok(all);
            }
        }
    }

    /// Whether a merge of the segments `inputs` has any effect.
    fn gains(&self, inputs: &[Arc<LiveSegment>]) -> bool {
        match inputs {
            [only] => self.core.live.view().ended_fingerprints(only) > 0,
            several => !several.is_empty(),
        }
    }

    /// The space needed to merge all segments, including unsealed data.
    pub(crate) fn needs(&self) -> u64 {
        let segments = Vec::from_iter(self.core.live.view().segments.iter().cloned());
        if self.is_sealed() && !self.gains(&segments) {
            return 0;
        }
        segments.iter().map(|live| live.segment.file_bytes()).sum()
    }

    /// Whether the disk has space for a merge's output in addition to its inputs.
    fn has_space(&self, inputs: &[Arc<LiveSegment>]) -> Result<bool> {
        let needed: u64 = inputs.iter().map(|live| live.segment.file_bytes()).sum();
        let disk = &self.core.disk;
        let has_space = || {
            let free = disk.free_bytes().map_err(|e| Error::io("measure", disk.location(), e))?;
            Ok(free.is_none_or(|free| free > needed))
        };
        if has_space()? {
            return Ok(true);
        }
        // The inputs of earlier merges may still exist for readers.
        self.publisher.release_all();
        has_space()
    }

    /// Runs the merging thread, which merges segments that are due. After an idle period the thread
    /// merges all segments, if this merge saves much space. It stops when another merge becomes due
    /// that would have to wait.
    pub(crate) fn run(&self) {
        let Core { options, live, lifecycle, .. } = &*self.core;
        let newest = || live.view().segments.last().map(|live| live.segment.id());
        let mut busy = Instant::now();
        // The newest segment of the last failed merge of everything, which is not retried.
        let mut given_up = None;
        while lifecycle.check().is_ok() {
            let rested = loop {
                if !self.is_sealed() {
                    busy = Instant::now();
                } else if busy.elapsed() >= options.seal_after
                    && !self.is_due()
                    && newest() != given_up
                    && self.is_wasteful()
                {
                    break true;
                }
                if !lifecycle.wait(|| (!self.is_due()).then_some(options.seal_after / 4)) {
                    break false;
                }
            };
            let merged = if rested {
                match self.merge_all(&Progress::default(), &|| self.is_due()) {
                    Err(Error::Cancelled) => continue,
                    merged => merged.map(drop).inspect_err(|_| given_up = newest()),
                }
            } else {
                self.merge_due().map(drop)
            };
            *self.error.lock() = merged.as_ref().err().cloned();
            if merged.is_err() {
                // The disk is full, or an input cannot be read. Writers must not wait for this
                // merge, so they check `is_behind` again, which now finds the error.
                lifecycle.notify();
                lifecycle.wait(|| Some(RETRY));
            }
        }
    }
}

fn statistics(view: &View) -> Vec<CompactionInput> {
    let of = |live: &Arc<LiveSegment>| {
        CompactionInput::new(live.segment.numbers(), view.ended_fingerprints(live))
    };
    view.segments.iter().map(of).collect()
}

impl MergePermit<'_> {
    /// Replaces neighbouring segments by one segment.
    pub(crate) fn merge(
        &self,
        inputs: &[Arc<LiveSegment>],
        purge: &Purge<'_>,
        step: &MergeProgressFn<'_>,
    ) -> Result<Merged> {
        let Compactor { core, .. } = self.compactor;
        if !self.compactor.has_space(inputs)? {
            let full = std::io::Error::from(ErrorKind::StorageFull);
            return Err(Error::io("merge the segments of", core.disk.location(), full));
        }
        let timing = core.metrics.begin(Work::Merge);
        let merged = self.try_merge(inputs, purge, step).map_err(|e| match e {
            // Nothing was lost and nothing is uncertain, because the inputs are unchanged. Nothing
            // was lost either if the output would be too large for one segment.
            Error::Corrupt(_) | Error::Limit { .. } | Error::Cancelled => e,
            e if e.is_full() => e,
            e => core.poison(e),
        })?;
        timing.end();
        core.lifecycle.notify();
        Ok(merged)
    }

    fn try_merge(
        &self,
        inputs: &[Arc<LiveSegment>],
        purge: &Purge<'_>,
        step: &MergeProgressFn<'_>,
    ) -> Result<Merged> {
        let Compactor { core, publisher, .. } = self.compactor;
        let segments: Vec<Arc<Segment>> = inputs.iter().map(|l| Arc::clone(&l.segment)).collect();
        let old: Vec<u64> = segments.iter().map(|s| s.id()).collect();
        let (from, ended) = {
            // The view must be dropped soon, because it keeps the memory of its memtables.
            let view = core.live.view();
            let ended = view.epochs.iter().filter(|info| info.ended);
            let ended: Vec<u32> = ended.map(|info| info.epoch.0).collect();
            (view.place_of(&old)?, ended)
        };
        // If `LOCK` or the catalog was replaced, another process may be writing this store.
        core.catalog.check_locks()?;
        let stamp = core.segment_ids.stamp(&*core.disk);
        let closing = || core.lifecycle.is_closed();
        let mergeable = MergeInputs {
            inputs: &segments,
            ended: &ended,
            oldest: from == 0,
            done: purge.done,
            hidden: purge.hidden,
            step: &|steps| if closing() { ControlFlow::Break(()) } else { step(steps) },
            layout: new_segment::background_layout(core),
        };
        let Some(bytes) = merge(&core.disk, stamp, &mergeable)? else {
            return Err(if closing() { Error::Closed } else { Error::Cancelled });
        };
        // The segment is opened before the commit, so the inputs stay live if the file cannot be
        // read back.
        let merged = new_segment::open(core, stamp.id)?;
        let listed = row(merged.segment.frame());
        let replaced = core.catalog.replace(&old, &listed, core.segment_ids.next());
        replaced.map_err(|e| core.poison(e))?;
        // `from` is still valid: seals and loads only append segments, only merges remove segments,
        // and one merge runs at a time.
        core.live.change(|view| {
            let mut kept = view.segments.to_vec();
            kept.splice(from..from + old.len(), [merged]);
            View { segments: kept.into(), ..view.clone() }
        });
        let merged = Merged { inputs: segments.len(), bytes };
        // Publishing must come after the commit. A crash between the two leaves files that no list
        // names, and the next open removes these files.
        publisher.publish(segments)?;
        Ok(merged)
    }
}
