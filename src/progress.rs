//! Progress and cancellation of long calls.

use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU64, Ordering};

use crate::error::{Error, Result};
use crate::search::Monitor;

/// The progress of a long call. Other threads can read the progress and cancel the call.
///
/// All clones share one state: keep one clone, and pass another to the call. Pass
/// `Progress::default()` if no thread needs the progress. Reading the progress does not slow the
/// call down.
///
/// A cancelled call ends with [`Error::Cancelled`], usually within milliseconds. Two steps are
/// finished first: the tables of a load's new segment, and the last pass of a check. Each call
/// documents which work a cancellation leaves undone. A cancelled progress stays cancelled, and no
/// call starts with it. A progress serves one call at a time: the next call resets its numbers.
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
///         println!("{:?}: {} of {:?}", progress.stage(), progress.done(), progress.total());
///         std::thread::sleep(Duration::from_millis(100));
///     }
///     merge.join().unwrap()
/// })?;
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, Default)]
pub struct Progress {
    state: Arc<ProgressState>,
}

/// All loads and stores are relaxed: a reader sees each number separately, and perhaps a moment
/// late.
#[derive(Debug, Default)]
struct ProgressState {
    stage: AtomicU8,
    done: AtomicU64,
    /// The expected work; 0 if unknown.
    total: AtomicU64,
    found: AtomicU64,
    cancelled: AtomicBool,
    /// The progress of the whole call, if this is a hidden part of it. Cancelling the whole call
    /// cancels the part.
    whole: Option<Progress>,
}

/// The stage of a long call.
///
/// ```
/// use simkeep::{Progress, Stage};
/// let progress = Progress::default();
/// assert_eq!(progress.stage(), Stage::Waiting);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
#[repr(u8)]
pub enum Stage {
    /// The call has not started.
    Waiting,
    /// A load reads observations, sorts them and writes them to a scratch file. Writes to the store
    /// continue.
    Gathering,
    /// A load merges many sorted runs into fewer runs, or segments are merged. Writes to the store
    /// continue.
    Merging,
    /// A load writes its segments. Calls that observe or forget wait; readers do not.
    Writing,
    /// Files are read and checked.
    Checking,
    /// Fingerprints are read or joined with each other, or samples of sites are joined.
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
    /// Asks the call to stop soon.
    ///
    /// ```
    /// # use simkeep::{Error, Options, Progress, Store};
    /// # fn main() -> simkeep::Result<()> {
    /// # let dir = tempfile::tempdir().unwrap();
    /// # let store = Store::create(dir.path().join("store"), Options::default())?;
    /// let progress = Progress::default();
    /// progress.cancel(); // from any thread
    /// assert!(matches!(store.merge(&progress), Err(Error::Cancelled)));
    /// # Ok(())
    /// # }
    /// ```
    pub fn cancel(&self) {
        self.state.cancelled.store(true, Ordering::Relaxed);
    }

    /// Whether the call was asked to stop.
    ///
    /// ```
    /// use simkeep::Progress;
    /// let progress = Progress::default();
    /// progress.clone().cancel(); // by another thread
    /// assert!(progress.is_cancelled());
    /// ```
    #[must_use]
    pub fn is_cancelled(&self) -> bool {
        let whole = self.state.whole.as_ref();
        self.state.cancelled.load(Ordering::Relaxed) || whole.is_some_and(Progress::is_cancelled)
    }

    /// Returns a progress for a part of the call that no other thread reads, and that is cancelled
    /// with `self`.
    pub(crate) fn hidden(&self) -> Progress {
        let state = ProgressState { whole: Some(self.clone()), ..ProgressState::default() };
        Progress { state: Arc::new(state) }
    }

    /// The stage of the call.
    ///
    /// ```
    /// # use simkeep::{Options, Progress, Stage, Store};
    /// # fn main() -> simkeep::Result<()> {
    /// # let dir = tempfile::tempdir().unwrap();
    /// # let store = Store::create(dir.path().join("store"), Options::default())?;
    /// let progress = Progress::default();
    /// assert_eq!(progress.stage(), Stage::Waiting);
    /// store.snapshot().warm_up(&progress)?;
    /// assert_eq!(progress.stage(), Stage::Checking);
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    #[expect(clippy::indexing_slicing, reason = "only numbers of stages are stored")]
    pub fn stage(&self) -> Stage {
        STAGES[usize::from(self.state.stage.load(Ordering::Relaxed))]
    }

    /// The finished work of this stage, in units of the stage.
    ///
    /// The units are observations of a load, pages and fingerprints of a merge, bytes checked or
    /// copied, fingerprints put into clusters, fingerprints of a join (each counts twice in every
    /// pass), or pairs of sites.
    ///
    /// ```
    /// # use simkeep::{Observation, Options, Progress, Store, Time};
    /// use simkeep::verify::VerifyOptions;
    /// # fn main() -> simkeep::Result<()> {
    /// # let dir = tempfile::tempdir().unwrap();
    /// # let store = Store::create(dir.path().join("store"), Options::default())?;
    /// store.observe(Observation::gone("https://example.com/", Time::now()))?;
    /// store.seal()?;
    /// let progress = Progress::default();
    /// store.verify(VerifyOptions::default().progress(progress.clone()))?;
    /// assert!(progress.done() > 0); // bytes
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn done(&self) -> u64 {
        self.state.done.load(Ordering::Relaxed)
    }

    /// The approximate expected work of this stage, in the units of [`done`](Self::done); `None` if
    /// unknown.
    ///
    /// ```
    /// # use simkeep::{Options, Progress, Store};
    /// # fn main() -> simkeep::Result<()> {
    /// # let dir = tempfile::tempdir().unwrap();
    /// # let store = Store::create(dir.path().join("store"), Options::default())?;
    /// // For example in a thread that draws a bar, while another thread verifies the store.
    /// let progress = Progress::default();
    /// match progress.total() {
    ///     Some(total) => println!("{} of {total}", progress.done()),
    ///     None => println!("{} so far", progress.done()),
    /// }
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn total(&self) -> Option<u64> {
        Some(self.state.total.load(Ordering::Relaxed)).filter(|of| *of > 0)
    }

    /// The finished share of this stage, from 0 to 1; `None` if unknown.
    ///
    /// ```
    /// use simkeep::Progress;
    /// let progress = Progress::default();
    /// if let Some(fraction) = progress.fraction() {
    ///     println!("{:.0} %", 100.0 * fraction);
    /// }
    /// ```
    #[must_use]
    pub fn fraction(&self) -> Option<f64> {
        self.total().map(|of| self.done().min(of) as f64 / of as f64)
    }

    /// The number of results so far: flaws of a check, pairs of a join, mirrors.
    ///
    /// ```
    /// # use simkeep::{Observation, Options, Progress, Store, Time};
    /// use simkeep::mirror::MirrorQuery;
    /// # fn main() -> simkeep::Result<()> {
    /// # let dir = tempfile::tempdir().unwrap();
    /// # let store = Store::create(dir.path().join("store"), Options::default())?;
    /// let progress = Progress::default();
    /// MirrorQuery::new().run(&store.snapshot(), &progress)?;
    /// assert_eq!(progress.found(), 0); // an empty store has no mirrors
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn found(&self) -> u64 {
        self.state.found.load(Ordering::Relaxed)
    }

    /// Starts a call.
    ///
    /// # Errors
    ///
    /// [`Error::Cancelled`] if the call was cancelled before it started.
    pub(crate) fn start(&self, stage: Stage, of: Option<u64>) -> Result<()> {
        self.state.found.store(0, Ordering::Relaxed);
        self.begin(stage, of);
        self.check()
    }

    /// Starts a stage.
    pub(crate) fn begin(&self, stage: Stage, of: Option<u64>) {
        self.state.done.store(0, Ordering::Relaxed);
        self.state.total.store(of.unwrap_or(0), Ordering::Relaxed);
        self.state.stage.store(stage as u8, Ordering::Relaxed);
    }

    /// Adds to the expected work of this stage.
    pub(crate) fn add_total(&self, more: u64) {
        self.state.total.fetch_add(more, Ordering::Relaxed);
    }

    /// Adds to the finished work of this stage.
    #[inline]
    pub(crate) fn pass(&self, more: u64) {
        self.state.done.fetch_add(more, Ordering::Relaxed);
    }

    /// Adds to the finished work of this stage; breaks if the call was cancelled.
    pub(crate) fn step(&self, more: u64) -> ControlFlow<()> {
        self.pass(more);
        if self.is_cancelled() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }

    /// Adds to the number of results.
    pub(crate) fn add_found(&self, more: u64) {
        self.state.found.fetch_add(more, Ordering::Relaxed);
    }

    /// Marks all work of this stage as finished.
    pub(crate) fn finish(&self) {
        let of = self.state.total.fetch_max(1, Ordering::Relaxed).max(1);
        self.state.done.store(of, Ordering::Relaxed);
    }

    /// Fails if the call was cancelled.
    ///
    /// # Errors
    ///
    /// [`Error::Cancelled`] if the call was cancelled.
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
    fn every_stage_is_reported() {
        let progress = Progress::default();
        assert_eq!((progress.stage(), progress.fraction()), (Stage::Waiting, None));
        for stage in STAGES {
            progress.begin(stage, None);
            assert_eq!(progress.stage(), stage);
        }
    }
}
