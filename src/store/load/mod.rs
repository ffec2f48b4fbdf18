//! The bulk path: many observations become segments without the journal, all or nothing.
//!
//! What comes is gathered in memory, sorted in SURT order and written as *runs* to a scratch file,
//! by one thread while another gathers ([`gather`]). Then the store's writers wait, what they left
//! unsealed is sealed, and the runs are merged into new segments: one thread joins the visits of
//! each page and asks the segments what they know of it, another writes ([`write`]). No list names
//! these files until one transaction of the catalog names them all, and registers the epochs that
//! come with them ([`epochs`]). So a crash at any moment leaves the store as it was, or with
//! everything.
//!
//! Runs of very many pages are first merged into fewer and longer ones. Memory is what the options
//! allow, whatever comes; of files there are two scratch files at most, and the segment and its own
//! few.

mod epochs;
mod gather;
mod observed;
mod options;
mod runs;
mod unlisted;
mod write;

use std::any::Any;
use std::ops::ControlFlow;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;
use std::time::Instant;

pub use epochs::LoadEpochs;
pub use observed::Observed;
pub use options::{LoadOptions, Loaded, Loading, Stage};

use self::epochs::Settled;
use self::runs::Runs;
use self::write::{Writing, Written};
use super::epochs::known;
use super::memtables::Memtables;
use super::observe::{check, of_epochs};
use super::poison::OnPanic;
use super::shared::Shared;
use super::view::View;
use crate::bug::{OrBug, ensure};
use crate::catalog::SegmentRow;
use crate::disk::Name;
use crate::error::{Error, Result};
use crate::page::EpochInfo;
use crate::search::Resources;
use crate::sync::atomic::Ordering;
use crate::sync::thread;

/// Observations after which the callback is asked.
const WATCHED: u64 = 1 << 12;

/// Memory that a run takes while it is merged with others, about: its place in the scratch file as
/// the system reads it ahead.
const RUN_BYTES: usize = 64 << 10;

/// Runs that are merged at once.
const FAN_IN: std::ops::RangeInclusive<usize> = 4..=256;

/// The writers of a store wait while this is held.
struct Held<'s>(&'s Shared);

impl Drop for Held<'_> {
    fn drop(&mut self) {
        self.0.held.store(false, Ordering::Release);
        self.0.wake();
    }
}

impl Shared {
    /// Loads observations: all of them, or none.
    pub(super) fn load<O: Observed>(
        &self,
        observations: impl Iterator<Item = Result<O>>,
        options: LoadOptions<'_>,
    ) -> Result<Loaded> {
        let LoadOptions { memory_bytes, segment_pages, epochs, watch } = options;
        options::check(memory_bytes, segment_pages)?;
        let _one = self.loading.lock();
        let mut watch = Watch::new(self, watch);
        let loaded = watch
            .ask()
            .and_then(|()| self.gather(observations, memory_bytes, epochs, &mut watch))
            .and_then(|runs| self.write(runs, (memory_bytes, segment_pages), epochs, &mut watch));
        // The callback's own panic goes on when the load has come to nothing, and harms no store.
        watch.panic.map_or(loaded, |panic| resume_unwind(panic))
    }

    /// Makes segments of what was gathered, and makes them live.
    fn write(
        &self,
        runs: Option<Runs>,
        (memory_bytes, segment_pages): (usize, u64),
        epochs: Option<&LoadEpochs>,
        watch: &mut Watch<'_, '_>,
    ) -> Result<Loaded> {
        let _on_panic = OnPanic::new(self);
        let runs = runs.map(|runs| self.lengthen(runs, memory_bytes, watch)).transpose()?;

        watch.begin(Stage::Writing)?;
        // Epochs neither begin nor end until the load is live.
        let _registering = self.registering.lock();
        let _held = self.hold_writers()?;
        self.catalog.check_locks().map_err(|e| self.poison(e))?;
        let (now, sequence) = (self.snapshot(), self.writer.lock().next_sequence - 1);
        let settled = Settled::new(&self.disk, &now, epochs)?;
        let threads = std::thread::available_parallelism().map_or(1, usize::from);
        let writing = Writing {
            disk: &self.disk,
            stamps: &self.stamps,
            sequence,
            segment_pages,
            memory_bytes,
            layout: self.layout(Resources { memory_bytes: memory_bytes / 4, threads }),
            tier: &|visits| self.tier(visits),
        };
        let written = match runs {
            None => Written::nothing(&self.disk, sequence),
            Some(runs) => {
                let (merger, batches) = write::pair();
                let written = thread::scope(|scope| {
                    let writer = self.beside("simkeep-write", scope, || writing.run(batches))?;
                    let told = |visits| watch.tell(visits);
                    let merged = merger.run(&runs, &now.view, &settled, told);
                    let written = joined(writer.join())?;
                    merged.map(|()| written)
                })?;
                written.or_bug("whoever merges passes the end on, or fails")?
            }
        };
        watch.ask()?;
        let unfinished = self.unfinished.load(Ordering::Acquire);
        if written.segments.is_empty() && settled.is_empty() && !unfinished {
            // All of it was known already.
            return Ok(Loaded { observations: watch.observations, ..Loaded::default() });
        }
        self.list(written, settled, watch)
    }

    /// Gathers, sorts and writes runs. None if nothing came.
    fn gather<O: Observed>(
        &self,
        observations: impl Iterator<Item = Result<O>>,
        memory_bytes: usize,
        coming: Option<&LoadEpochs>,
        watch: &mut Watch<'_, '_>,
    ) -> Result<Option<Runs>> {
        let name = self.scratch_name(0);
        let (mut gatherer, writer) = gather::pair(memory_bytes);
        let written = thread::scope(|scope| {
            let writer = self.beside("simkeep-sort", scope, || writer.run(&self.disk, name))?;
            let mut epochs = Arc::clone(&self.view().epochs);
            let gathered = (|| {
                for observation in observations {
                    let nth = watch.observations + 1;
                    let observed = observation.and_then(|observed| {
                        let observation = observed.observation();
                        check(&observation)?;
                        for epoch in of_epochs(&observation) {
                            let comes = coming.is_some_and(|coming| coming.has(epoch));
                            if !comes && known(&epochs, epoch).is_none() {
                                // It may have come meanwhile.
                                epochs = Arc::clone(&self.view().epochs);
                                let unknown = Error::UnknownEpoch(epoch.0);
                                known(&epochs, epoch).ok_or(unknown)?;
                            }
                        }
                        Ok(gatherer.push(&observation))
                    });
                    match observed {
                        Ok(Ok(())) => watch.tell(1)?,
                        // The writer says why.
                        Ok(Err(gather::Ended)) => return Ok(()),
                        Err(e) => return Err(Error::Load { nth, cause: Arc::new(e) }),
                    }
                }
                // If that fails, the writer says why.
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
    fn beside<'scope, T: Send + 'scope>(
        &'scope self,
        name: &str,
        scope: &'scope thread::Scope<'scope, '_>,
        run: impl FnOnce() -> T + Send + 'scope,
    ) -> Result<thread::ScopedJoinHandle<'scope, T>> {
        let thread = thread::Builder::new().name(name.to_owned());
        let run = move || {
            let _on_panic = OnPanic::new(self);
            run()
        };
        thread.spawn_scoped(scope, run).map_err(|e| Error::io("start a thread for", name, e))
    }

    /// Merges runs until there are few enough to be merged at once.
    fn lengthen(
        &self,
        mut runs: Runs,
        memory_bytes: usize,
        watch: &mut Watch<'_, '_>,
    ) -> Result<Runs> {
        let fan_in = (memory_bytes / RUN_BYTES).clamp(*FAN_IN.start(), *FAN_IN.end());
        let mut level = 0;
        while runs.len() > fan_in {
            level += 1;
            watch.begin(Stage::Merging)?;
            let name = self.scratch_name(level % 2);
            runs = runs.merged(&self.disk, name, fan_in, |visits| watch.tell(visits))?;
        }
        Ok(runs)
    }

    fn scratch_name(&self, part: u32) -> Name {
        Name::Scratch(self.stamps.number(), part)
    }

    /// Lets the writers wait, and seals what they wrote.
    fn hold_writers(&self) -> Result<Held<'_>> {
        let held = {
            // Whoever has the lock has a place in the memtable, and is waited for.
            let _writer = self.write_lock();
            self.sound()?;
            self.held.store(true, Ordering::Release);
            Held(self)
        };
        self.seal_all()?;
        Ok(held)
    }

    /// How often sealed memtables would have been merged to become a segment of so many visits.
    fn tier(&self, visits: u64) -> u64 {
        let memtables = visits / self.options.memtable_observations as u64;
        // Less than one is of the lowest tier, as one is.
        memtables.max(1).ilog(self.options.merge_fanout as u64).into()
    }

    /// The change: makes what was written live, and its epochs, in one transaction.
    fn list(&self, written: Written, settled: Settled, watch: &Watch<'_, '_>) -> Result<Loaded> {
        let ids = &written.segments;
        let opened = ids.iter().map(|id| self.open_segment(*id)).collect::<Result<Vec<_>>>()?;
        let rows: Vec<SegmentRow> =
            opened.iter().map(|live| super::listed::row(live.segment.frame())).collect();
        let Settled { all, begun, ended, tables, .. } = settled;
        let last = written.sequence;
        let follow = rows.is_sorted_by(|a, b| a.last_sequence + 1 == b.first_sequence);
        let ends = rows.last().is_none_or(|row| row.last_sequence == last);
        ensure(follow && ends, "the segments of a load follow one another")?;
        let mut writer = self.write_lock();
        self.sound()?;
        let view = self.view();
        ensure(
            view.memtables.sealing.is_none() && writer.next_sequence <= last + 1,
            "a load finds what was written before it sealed",
        )?;
        let journal = view.memtables.active.journal;
        let loaded = Loaded {
            observations: watch.observations,
            pages: written.pages,
            new_pages: written.new_pages,
            visits: written.visits,
            segments: ids.len(),
            bytes: written.bytes,
            begun,
        };
        // From here on a list may name them, whatever becomes of the commit.
        written.files.listed();
        tables.listed();
        let changed: Vec<&EpochInfo> = loaded.begun.iter().chain(&ended).collect();
        self.catalog.add(&rows, &changed, self.stamps.next()).map_err(|e| self.poison(e))?;
        self.change_view(|view| {
            // What was looked up in the view before says nothing of these segments: another memtable
            // tells whoever waits with it.
            let fresh = Memtables::empty(journal);
            // No snapshot is between the two: what it shows, its sequence number says.
            self.publish(last);
            View {
                segments: view.segments.iter().cloned().chain(opened).collect(),
                memtables: fresh,
                epochs: all.into(),
                ..view.clone()
            }
        });
        writer.next_sequence = last + 1;
        drop(writer);
        self.unfinished.store(false, Ordering::Release);
        self.tell_readers(Vec::new())?;
        for info in ended {
            self.remove_table(&EpochInfo { ended: false, ..info });
        }
        Ok(loaded)
    }
}

/// What a thread came to.
fn joined<T>(thread: thread::Result<Result<T>>) -> Result<T> {
    thread.unwrap_or_else(|panic| resume_unwind(panic))
}

/// Tells how far a load has come, and hears whether it is to go on.
struct Watch<'s, 'w> {
    shared: &'s Shared,
    callback: Option<options::Callback<'w>>,
    /// What the callback panicked with, if it did.
    panic: Option<Box<dyn Any + Send>>,
    stage: Stage,
    /// What came in, so far.
    observations: u64,
    /// Visits in the runs.
    visits: u64,
    /// How far this stage has come, and when the callback is asked again.
    done: u64,
    next: u64,
    started: Instant,
}

impl<'s, 'w> Watch<'s, 'w> {
    fn new(shared: &'s Shared, callback: Option<options::Callback<'w>>) -> Self {
        Watch {
            shared,
            callback,
            panic: None,
            stage: Stage::Gathering,
            observations: 0,
            visits: 0,
            done: 0,
            next: WATCHED,
            started: Instant::now(),
        }
    }

    fn begin(&mut self, stage: Stage) -> Result<()> {
        (self.stage, self.done, self.next) = (stage, 0, WATCHED);
        self.ask()
    }

    /// So much more is done.
    #[inline]
    fn tell(&mut self, more: u64) -> Result<()> {
        self.done += more;
        if self.stage == Stage::Gathering {
            self.observations += more;
        }
        if self.done < self.next {
            return Ok(());
        }
        self.next = self.done + WATCHED;
        self.ask()
    }

    /// Whether to go on.
    fn ask(&mut self) -> Result<()> {
        self.shared.sound()?;
        let of = (self.stage != Stage::Gathering).then_some(self.visits);
        let loading =
            Loading { stage: self.stage, done: self.done, of, elapsed: self.started.elapsed() };
        let Some(callback) = &mut self.callback else { return Ok(()) };
        match catch_unwind(AssertUnwindSafe(|| callback(&loading))) {
            Ok(ControlFlow::Continue(())) => Ok(()),
            Ok(ControlFlow::Break(())) => Err(Error::Cancelled),
            Err(panic) => {
                self.panic = Some(panic);
                Err(Error::Cancelled)
            }
        }
    }
}
