//! Bulk loading: many observations become segments without the journal, all of them or none.
//!
//! One thread gathers observations in memory; another sorts them in SURT order and writes them as
//! *runs* to a scratch file ([`gather`]). Then the store's writers wait, everything unsealed is
//! sealed, and the runs are merged into new segments. One thread joins the visits of each page and
//! looks the page up in the segments ([`batch`]); another writes the new segments
//! ([`write`](mod@write)). No list names the new segments until one transaction of the catalog names
//! them all, and registers the epochs of the load ([`epochs`]). So after a crash at any moment, the
//! store is unchanged, or has everything.
//!
//! A very large number of runs is first merged into fewer and longer runs. Memory stays within the
//! options. There are at most two scratch files of runs at a time, and in addition the new segment
//! and its own few scratch files.

mod batch;
mod epochs;
mod gather;
mod options;
mod runs;
mod write;

use std::panic::resume_unwind;
use std::sync::Arc;

use self::epochs::ResolvedEpochs;
use self::runs::SortedRuns;
use self::write::{LoadWriter, WrittenSegments};
use crate::bug::{OrBug, ensure};
use crate::catalog::SegmentRow;
use crate::disk::{FileName, Location};
use crate::engine::clock::FutureVisitCheck;
use crate::engine::compaction::policy::tier;
use crate::engine::core::Core;
use crate::engine::db::Db;
use crate::engine::epochs::{Epochs, first};
use crate::engine::lifecycle::{Lifecycle, PoisonOnPanic};
use crate::engine::manifest_check::row;
use crate::engine::memtables::Memtables;
use crate::engine::options::Options;
use crate::engine::snapshot::Snapshot;
use crate::engine::store::Store;
use crate::engine::view::View;
use crate::engine::write::validate::{check, of_epochs};
use crate::engine::{new_segment, open};
use crate::error::{Error, Result};
use crate::page::{EpochInfo, find_epoch};
use crate::progress::{Progress, Stage};
use crate::search::Resources;
use crate::sync::thread;

pub use epochs::LoadEpochs;
pub use options::AsOperation;
pub use options::{LoadOptions, Loaded};

impl Store {
    /// Creates a store from a [load](Store::load), and opens it. The store exists with everything
    /// loaded, or not at all. On failure, at most an empty directory remains; after a crash, the
    /// leftovers are [unfinished](Error::Unfinished). Nothing is created before the first
    /// observation arrives.
    ///
    /// ```
    /// use simkeep::load::LoadOptions;
    /// use simkeep::{Observation, Options, Store, Time};
    ///
    /// # fn main() -> simkeep::Result<()> {
    /// # let dir = tempfile::tempdir().unwrap();
    /// # let path = dir.path().join("crawl.simkeep");
    /// let seen = [Ok(Observation::gone("https://example.com/", Time::from_ms(1_700_000_000_000)?))];
    /// let (store, loaded) =
    ///     Store::create_from(&path, Options::default(), seen, LoadOptions::default())?;
    /// assert_eq!((loaded.pages, store.stats()?.pages), (1, 1));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// The errors of [`create`](Store::create) and [`load`](Store::load).
    pub fn create_from<O: AsOperation>(
        at: impl Into<Location>,
        options: Options,
        observations: impl IntoIterator<Item = Result<O>>,
        load: LoadOptions,
    ) -> Result<(Store, Loaded)> {
        let disk = at.into().disk(Some(options.file_mode));
        open::require_empty(&disk)?;
        let mut observations = observations.into_iter().peekable();
        if let Some(Err(e)) = observations.next_if(Result::is_err) {
            return Err(Error::LoadRejected { nth: 1, cause: Arc::new(e) });
        }
        let first = first(&options)?;
        let store = Self::begin(&disk, options, vec![first])?;
        let loaded = store.load(observations, load).inspect_err(|_| store.abandon())?;
        Ok((store, loaded))
    }

    /// Loads an existing corpus: any number of observations in any order, without searches and
    /// without the journal. When this call returns, all of the observations are stored, or none.
    /// The store is in the same state as if each had been observed.
    ///
    /// A load is about four times as fast as [`observe_batch`](Store::observe_batch) with 1,000
    /// observations each, if fingerprints are ready: 1,000,000 new pages took 2.7 s instead of 11
    /// s. Each observation is written twice: to a scratch file, with about 70 bytes for a URL of 50
    /// bytes, and to a segment, with about 110 bytes including the tables. The load costs a sync
    /// for every 64 MiB of the segment, and one commit. Memory is bounded by the options.
    ///
    /// Readers are not affected, and see nothing of the load until it is complete. Calls that
    /// observe and forget continue while observations are gathered
    /// ([`Stage::Gathering`](crate::Stage::Gathering)), and then wait until the load is done. Only
    /// one load runs at a time, and [`close`](Store::close) waits for it to stop.
    ///
    /// ```
    /// use simkeep::load::LoadOptions;
    /// use simkeep::{Observation, Options, Store, Time};
    ///
    /// # fn main() -> simkeep::Result<()> {
    /// # let dir = tempfile::tempdir().unwrap();
    /// # let path = dir.path().join("crawl.simkeep");
    /// let store = Store::create(&path, Options::default())?;
    /// let epoch = store.change_epoch();
    /// let corpus = [("https://example.com/", 17), ("https://example.org/", 4)];
    /// let observations = corpus.iter().map(|(url, print)| {
    ///     Ok(Observation::content(url, Time::from_ms(1_700_000_000_000)?, *print, epoch))
    /// });
    /// let loaded = store.load(observations, LoadOptions::default())?;
    /// assert_eq!((loaded.pages, loaded.segments), (2, 1));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::LoadRejected`] reports the first observation that is an error or invalid (its URL,
    /// time or epoch). [`Error::Cancelled`] if the load's progress was cancelled, [`Error::Io`] if
    /// a file could not be written, [`Error::Corrupt`] if a page of the store could not be read. In
    /// all these cases nothing is stored, and the store remains usable. If the commit itself fails,
    /// the store is poisoned, as for [`observe`](Store::observe).
    pub fn load<O: AsOperation>(
        &self,
        observations: impl IntoIterator<Item = Result<O>>,
        options: LoadOptions,
    ) -> Result<Loaded> {
        self.call(|db| load(db, observations.into_iter(), options))
    }

    /// [Loads](Store::load) everything in a snapshot of another store. Epochs with equal names are
    /// equal. New epochs are copied with their tables of document frequencies, and begin when the
    /// load completes ([`LoadEpochs::of`](crate::admin::load::LoadEpochs::of)).
    ///
    /// ```
    /// use simkeep::load::LoadOptions;
    /// use simkeep::{Options, Reader, Store};
    ///
    /// # fn main() -> simkeep::Result<()> {
    /// # let dir = tempfile::tempdir().unwrap();
    /// # let (old, new) = (dir.path().join("old.simkeep"), dir.path().join("new.simkeep"));
    /// # drop(Store::create(&old, Options::default())?);
    /// let old = Reader::open(old)?;
    /// let new = Store::open_or_create(new, Options::default())?;
    /// new.copy_from(&old.snapshot(), LoadOptions::default())?;
    /// assert_eq!(new.stats()?.visits, old.stats()?.visits);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// The errors of [`load`](Store::load) and [`register_epoch`](Store::register_epoch).
    pub fn copy_from(&self, other: &Snapshot, options: LoadOptions) -> Result<Loaded> {
        let observations = other.observations(None).renumbered(options.epochs.of(other)?);
        self.load(observations, options)
    }
}

/// Approximate memory of a run during a merge: the part of the scratch file that the system reads
/// ahead.
const RUN_BYTES: usize = 64 << 10;

/// The number of runs to merge at once.
const FAN_IN: std::ops::RangeInclusive<usize> = 4..=256;

/// Loads all observations, or none.
pub(crate) fn load<O: AsOperation>(
    db: &Db,
    observations: impl Iterator<Item = Result<O>>,
    options: LoadOptions,
) -> Result<Loaded> {
    let LoadOptions { memory_bytes, segment_pages, epochs, progress } = options;
    options::check(memory_bytes, segment_pages)?;
    let _one = db.loading.lock();
    let load = BulkLoad { db, memory_bytes, segment_pages, epochs: &epochs };
    progress.start(Stage::Gathering, None)?;
    let mut watch = LoadProgress::new(&db.core.lifecycle, progress.clone());
    watch.report()?;
    let runs = load.gather(observations, &mut watch)?;
    let loaded = load.write(runs, &mut watch)?;
    progress.finish();
    Ok(loaded)
}

/// The result of a thread.
fn joined<T>(thread: thread::Result<Result<T>>) -> Result<T> {
    thread.unwrap_or_else(|panic| resume_unwind(panic))
}

/// A load in progress.
struct BulkLoad<'s> {
    db: &'s Db,
    memory_bytes: usize,
    segment_pages: u64,
    epochs: &'s LoadEpochs,
}

impl BulkLoad<'_> {
    /// Merges the runs into segments, and makes the segments live.
    fn write(&self, runs: Option<SortedRuns>, watch: &mut LoadProgress<'_>) -> Result<Loaded> {
        let Db { core, publisher, registry, admission, sealer, .. } = self.db;
        let Core { disk, options, live, .. } = &**core;
        let _on_panic = PoisonOnPanic::new(&core.lifecycle);
        let runs = runs.map(|runs| self.reduce_runs(runs, watch)).transpose()?;

        watch.begin(Stage::Writing)?;
        // Epochs neither begin nor end until the load is live.
        let _registering = registry.hold();
        // Seals everything unsealed, while writers wait.
        let _paused = admission.pause()?;
        sealer.seal_all()?;
        core.catalog.check_locks().map_err(|e| core.poison(e))?;
        let (now, sequence) = (live.snapshot(), admission.last_sequence());
        let settled = ResolvedEpochs::new(disk, &now, self.epochs)?;
        let epochs = Epochs::new(settled.all.clone());
        let threads = std::thread::available_parallelism().map_or(1, usize::from);
        let resources = Resources { memory_bytes: self.memory_bytes / 4, threads };
        let writing = LoadWriter {
            disk,
            segment_ids: &core.segment_ids,
            sequence,
            segment_pages: self.segment_pages,
            memory_bytes: self.memory_bytes,
            layout: new_segment::layout(&epochs, options, resources),
            tier: &|visits| tier(visits, options.memtable_observations, options.merge_fanout),
        };
        let written = match runs {
            None => WrittenSegments::nothing(disk, sequence),
            Some(runs) => {
                let (merger, batches) = write::pair();
                let written = thread::scope(|scope| {
                    let writer = self.spawn("simkeep-write", scope, || writing.run(batches))?;
                    let advance = |visits| watch.advance(visits);
                    let merged = merger.run(&runs, &now.view, &settled, advance);
                    let written = joined(writer.join())?;
                    merged.map(|()| written)
                })?;
                written.or_bug("the merging thread sends the end or an error")?
            }
        };
        watch.report()?;
        if written.segments.is_empty() && settled.is_empty() && !publisher.is_unfinished() {
            // The store had all observations already.
            return Ok(Loaded { observations: watch.observations, ..Loaded::default() });
        }
        self.commit(written, settled, watch)
    }

    /// Gathers, sorts and writes runs. Returns `None` if there were no observations.
    fn gather<O: AsOperation>(
        &self,
        observations: impl Iterator<Item = Result<O>>,
        watch: &mut LoadProgress<'_>,
    ) -> Result<Option<SortedRuns>> {
        let Core { disk, live, options, .. } = &*self.db.core;
        let (name, clock) = (self.scratch_name(0), FutureVisitCheck::of(&self.db.core));
        let (mut gatherer, writer) = gather::pair(self.memory_bytes);
        let written = thread::scope(|scope| {
            let writer = self.spawn("simkeep-sort", scope, || writer.run(disk, name))?;
            let mut epochs = Arc::clone(&live.view().epochs);
            let gathered = (|| {
                for observation in observations {
                    let nth = watch.observations + 1;
                    let observed = observation.and_then(|observed| {
                        let operation = observed.operation();
                        check(&operation)?;
                        clock.check(&operation)?;
                        for epoch in of_epochs(&operation) {
                            let comes = self.epochs.has(epoch);
                            if !comes && find_epoch(&epochs, epoch).is_none() {
                                // The epoch may have been registered since.
                                epochs = Arc::clone(&live.view().epochs);
                                let unknown = Error::UnknownEpoch(epoch.0);
                                find_epoch(&epochs, epoch).ok_or(unknown)?;
                            }
                        }
                        if options.validators {
                            return Ok(gatherer.push(&operation));
                        }
                        let kept = operation.without_etag();
                        Ok(kept.map_or(Ok(()), |operation| gatherer.push(&operation)))
                    });
                    match observed {
                        Ok(Ok(())) => watch.advance(1)?,
                        // The writer returns the reason.
                        Ok(Err(gather::WriterEnded)) => return Ok(()),
                        Err(e) => return Err(Error::LoadRejected { nth, cause: Arc::new(e) }),
                    }
                }
                // On failure, the writer returns the reason.
                let _ = gatherer.finish();
                Ok(())
            })();
            let written = joined(writer.join());
            gathered.and(written)
        });
        let (runs, visits) = written?;
        watch.visits = visits;
        Ok((visits > 0).then_some(runs))
    }

    /// Starts a thread of a load.
    fn spawn<'scope, T: Send + 'scope>(
        &'scope self,
        name: &str,
        scope: &'scope thread::Scope<'scope, '_>,
        run: impl FnOnce() -> T + Send + 'scope,
    ) -> Result<thread::ScopedJoinHandle<'scope, T>> {
        let thread = thread::Builder::new().name(name.to_owned());
        let run = move || {
            let _on_panic = PoisonOnPanic::new(&self.db.core.lifecycle);
            run()
        };
        thread.spawn_scoped(scope, run).map_err(|e| Error::io("start a thread for", name, e))
    }

    /// Merges runs until they are few enough for a single merge.
    fn reduce_runs(
        &self,
        mut runs: SortedRuns,
        watch: &mut LoadProgress<'_>,
    ) -> Result<SortedRuns> {
        let disk = &self.db.core.disk;
        let fan_in = (self.memory_bytes / RUN_BYTES).clamp(*FAN_IN.start(), *FAN_IN.end());
        let mut level = 0;
        while runs.len() > fan_in {
            level += 1;
            watch.begin(Stage::Merging)?;
            let name = self.scratch_name(level % 2);
            runs = runs.merged(disk, name, fan_in, |visits| watch.advance(visits))?;
        }
        Ok(runs)
    }

    fn scratch_name(&self, part: u32) -> FileName {
        FileName::Scratch(self.db.core.segment_ids.number(), part)
    }

    /// Makes the written segments live, with their epochs, in one transaction.
    fn commit(
        &self,
        written: WrittenSegments,
        settled: ResolvedEpochs,
        watch: &LoadProgress<'_>,
    ) -> Result<Loaded> {
        let Db { core, publisher, registry, admission, .. } = self.db;
        let Core { catalog, segment_ids, live, lifecycle, .. } = &**core;
        let ids = &written.segments;
        let opened =
            ids.iter().map(|id| new_segment::open(core, *id)).collect::<Result<Vec<_>>>()?;
        let rows: Vec<SegmentRow> = opened.iter().map(|live| row(live.segment.frame())).collect();
        let ResolvedEpochs { all, begun, ended, tables, .. } = settled;
        let last = written.sequence;
        let follow = rows.is_sorted_by(|a, b| a.last_sequence + 1 == b.first_sequence);
        let ends = rows.last().is_none_or(|row| row.last_sequence == last);
        ensure(follow && ends, "the segments of a load follow one another")?;
        let mut writer = admission.lock();
        lifecycle.check()?;
        let view = live.view();
        ensure(
            view.memtables.sealing.is_none() && writer.next_sequence <= last + 1,
            "everything written before a load is sealed when the load ends",
        )?;
        let journal = view.memtables.active.journal;
        let loaded = Loaded {
            observations: watch.observations,
            pages: written.pages,
            new_pages: written.new_pages,
            visits: written.visits,
            restated: written.restated,
            weights: written.weights,
            classes: written.classes,
            segments: ids.len(),
            bytes: written.bytes,
            begun,
        };
        // After this line a list may name the files, even if the commit fails.
        written.files.keep();
        tables.keep();
        let changed: Vec<&EpochInfo> = loaded.begun.iter().chain(&ended).collect();
        catalog.add(&rows, &changed, segment_ids.next()).map_err(|e| core.poison(e))?;
        live.change(|view| {
            // The results of lookups in the previous view lack the new segments. A new memtable
            // shows waiting writers that they must look up again.
            let fresh = Memtables::empty(journal);
            // No snapshot can be taken between this line and the change of the view. Otherwise a
            // sequence number would not determine the contents of a snapshot.
            live.show(last);
            View {
                segments: view.segments.iter().cloned().chain(opened).collect(),
                memtables: fresh,
                epochs: Arc::new(Epochs::new(all)),
                ..view.clone()
            }
        });
        writer.next_sequence = last + 1;
        drop(writer);
        publisher.finish();
        publisher.publish(Vec::new())?;
        for info in ended {
            registry.remove_table(&EpochInfo { ended: false, ..info });
        }
        Ok(loaded)
    }
}

/// The number of observations between two reports of progress.
const REPORT_EVERY: u64 = 1 << 12;

/// Reports the progress of a load, and checks for cancellation.
struct LoadProgress<'s> {
    lifecycle: &'s Lifecycle,
    progress: Progress,
    stage: Stage,
    /// The number of observations so far.
    observations: u64,
    /// The number of visits in the runs.
    visits: u64,
    /// Finished work of this stage that was not reported yet.
    unreported: u64,
}

impl<'s> LoadProgress<'s> {
    fn new(lifecycle: &'s Lifecycle, progress: Progress) -> Self {
        let stage = Stage::Gathering;
        LoadProgress { lifecycle, progress, stage, observations: 0, visits: 0, unreported: 0 }
    }

    fn begin(&mut self, stage: Stage) -> Result<()> {
        (self.stage, self.unreported) = (stage, 0);
        self.progress.begin(stage, Some(self.visits));
        self.report()
    }

    /// Adds finished work, and reports it from time to time.
    #[inline]
    fn advance(&mut self, more: u64) -> Result<()> {
        self.unreported += more;
        if self.stage == Stage::Gathering {
            self.observations += more;
        }
        if self.unreported < REPORT_EVERY { Ok(()) } else { self.report() }
    }

    /// Reports the finished work.
    ///
    /// # Errors
    ///
    /// [`Error::Cancelled`] if the load was cancelled.
    fn report(&mut self) -> Result<()> {
        self.progress.pass(std::mem::take(&mut self.unreported));
        self.lifecycle.check()?;
        self.progress.check()
    }
}
