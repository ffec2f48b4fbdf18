//! How far something that takes long has come, and a way to stop it.

use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU64, Ordering};

use crate::error::{Error, Result};
use crate::search::Monitor;

/// How far a call that takes long has come, for other threads to look at, and their way to stop it.
///
/// All clones are of one: keep one, and give the other to the call. Where nobody is to look, a
/// `Progress::default()` will do. Looking costs nothing that the call would notice.
///
/// What is stopped ends with [`Error::Cancelled`], as a rule within some milliseconds: the tables of a
/// load's new segment, and the last pass of a check, are finished first. What it leaves undone, each
/// call says. A progress that was cancelled stays so, and nothing that it is given to begins. It is of
/// one call at a time: the next begins its numbers anew.
///
/// ```
/// use std::time::Duration;
///
/// use simkeep::{Options, Progress, Store};
///
/// # fn main() -> simkeep::Result<()> {
/// # let dir = tempfile::tempdir().unwrap();
/// # let store = Store::create(dir.path().join("store"), Options::default())?;
/// let progress = Progress::default();
/// std::thread::scope(|scope| {
///     let merge = scope.spawn(|| store.merge(&progress));
///     while !merge.is_finished() {
///         println!("{:?}: {} of {:?}", progress.stage(), progress.done(), progress.of());
///         std::thread::sleep(Duration::from_millis(100));
///     }
///     merge.join().unwrap()
/// })?;
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, Default)]
pub struct Progress {
    state: Arc<State>,
}

/// Loads and stores are relaxed: whoever looks sees each number by itself, and perhaps a moment late.
#[derive(Debug, Default)]
struct State {
    stage: AtomicU8,
    done: AtomicU64,
    /// 0 where that is not known.
    of: AtomicU64,
    found: AtomicU64,
    cancelled: AtomicBool,
    /// The one whose part this is: whoever cancels that, cancels this.
    whole: Option<Progress>,
}

/// What a call that takes long is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
#[repr(u8)]
pub enum Stage {
    /// Nothing yet.
    Waiting,
    /// A load takes observations, sorts them and writes them to a scratch file. The store goes on.
    Gathering,
    /// A load merges very many sorted runs into fewer; or segments are merged. The store goes on.
    Merging,
    /// A load writes its segments. Whoever observes or forgets waits; readers do not.
    Writing,
    /// Files are read and checked.
    Checking,
    /// Fingerprints are read, or joined with each other, or samples of sites are.
    Joining,
    /// Pages are counted.
    Counting,
    /// Files are linked or copied.
    Copying,
    /// Fingerprints are put into clusters.
    Clustering,
    /// Sites are compared with each other.
    Comparing,
}

const STAGES: [Stage; 10] = [
    Stage::Waiting,
    Stage::Gathering,
    Stage::Merging,
    Stage::Writing,
    Stage::Checking,
    Stage::Joining,
    Stage::Counting,
    Stage::Copying,
    Stage::Clustering,
    Stage::Comparing,
];

impl Progress {
    /// Has the call stop soon.
    pub fn cancel(&self) {
        self.state.cancelled.store(true, Ordering::Relaxed);
    }

    /// Whether it was told to stop.
    #[must_use]
    pub fn is_cancelled(&self) -> bool {
        let whole = self.state.whole.as_ref();
        self.state.cancelled.load(Ordering::Relaxed) || whole.is_some_and(Progress::is_cancelled)
    }

    /// One for a part of what this is of, that nobody looks at, and that is cancelled with this.
    pub(crate) fn hidden(&self) -> Progress {
        let state = State { whole: Some(self.clone()), ..State::default() };
        Progress { state: Arc::new(state) }
    }

    /// What the call is doing.
    #[must_use]
    #[expect(clippy::indexing_slicing, reason = "only numbers of stages are stored")]
    pub fn stage(&self) -> Stage {
        STAGES[usize::from(self.state.stage.load(Ordering::Relaxed))]
    }

    /// How much of this stage is done: observations of a load, pages and fingerprints of a merge, bytes
    /// that are checked or copied, fingerprints that are in clusters, those of a join (each counts twice
    /// in every pass), pairs of sites.
    #[must_use]
    pub fn done(&self) -> u64 {
        self.state.done.load(Ordering::Relaxed)
    }

    /// Of how much, about; `None` where nobody knows.
    #[must_use]
    pub fn of(&self) -> Option<u64> {
        Some(self.state.of.load(Ordering::Relaxed)).filter(|of| *of > 0)
    }

    /// The share of this stage that is done, from 0 to 1; `None` where nobody knows.
    #[must_use]
    pub fn fraction(&self) -> Option<f64> {
        self.of().map(|of| self.done().min(of) as f64 / of as f64)
    }

    /// What was found on the way: flaws of a check, pairs of a join, mirrors.
    #[must_use]
    pub fn found(&self) -> u64 {
        self.state.found.load(Ordering::Relaxed)
    }

    /// Begins a call.
    ///
    /// # Errors
    ///
    /// [`Error::Cancelled`] if it is not to begin.
    pub(crate) fn start(&self, stage: Stage, of: Option<u64>) -> Result<()> {
        self.state.found.store(0, Ordering::Relaxed);
        self.begin(stage, of);
        self.check()
    }

    /// Begins a stage.
    pub(crate) fn begin(&self, stage: Stage, of: Option<u64>) {
        self.state.done.store(0, Ordering::Relaxed);
        self.state.of.store(of.unwrap_or(0), Ordering::Relaxed);
        self.state.stage.store(stage as u8, Ordering::Relaxed);
    }

    /// More is to be done in this stage.
    pub(crate) fn expect(&self, more: u64) {
        self.state.of.fetch_add(more, Ordering::Relaxed);
    }

    /// More is done of this stage.
    #[inline]
    pub(crate) fn pass(&self, more: u64) {
        self.state.done.fetch_add(more, Ordering::Relaxed);
    }

    /// More is done of this stage; breaks if no more is to be.
    pub(crate) fn step(&self, more: u64) -> ControlFlow<()> {
        self.pass(more);
        if self.is_cancelled() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }

    /// More was found.
    pub(crate) fn find(&self, more: u64) {
        self.state.found.fetch_add(more, Ordering::Relaxed);
    }

    /// All of this stage is done.
    pub(crate) fn finish(&self) {
        let of = self.state.of.fetch_max(1, Ordering::Relaxed).max(1);
        self.state.done.store(of, Ordering::Relaxed);
    }

    /// # Errors
    ///
    /// [`Error::Cancelled`] if the call is to stop.
    #[inline]
    pub(crate) fn check(&self) -> Result<()> {
        if self.is_cancelled() { Err(Error::Cancelled) } else { Ok(()) }
    }
}

impl Monitor for Progress {
    fn begin(&self, units: u64) {
        Progress::begin(self, Stage::Joining, Some(units));
    }

    fn advance(&self, units: u64) {
        self.pass(units);
    }

    fn finish(&self) {
        Progress::finish(self);
    }

    fn is_cancelled(&self) -> bool {
        Progress::is_cancelled(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_stage_is_told_as_what_it_is() {
        let progress = Progress::default();
        assert_eq!((progress.stage(), progress.fraction()), (Stage::Waiting, None));
        for stage in STAGES {
            progress.begin(stage, None);
            assert_eq!(progress.stage(), stage);
        }
    }
}
