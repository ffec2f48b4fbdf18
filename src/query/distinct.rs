//! All different fingerprints that some page has, across the components.

use std::ops::ControlFlow;

use crate::engine::search::query::Query;
use crate::engine::search::shown::Shown;
use crate::engine::search::widen::wanted;
use crate::engine::snapshot::Snapshot;
#[cfg(doc)]
use crate::error::Error;
use crate::error::Result;
use crate::progress::{Progress, Stage};
use crate::search::{Chunk, Histogram, JoinPlan, Partitioner};
use crate::sync::Mutex;

/// Finds the different fingerprints that pages have, each once.
///
/// The [`Query`] gives the epoch, versions, prefix, classes, the page that is [left out](Query::except)
/// and the number of threads. The rest of it does not matter. A fingerprint that only the page left out
/// has is not found.
///
/// Work with all fingerprints that is done elsewhere begins with these, such as a
/// [`Join`](crate::join::Join) of several stores.
///
/// ```
/// use std::ops::ControlFlow;
/// use std::sync::Mutex;
///
/// use simkeep::query::DistinctFingerprints;
/// use simkeep::{Observation, Options, Progress, Query, Store, Time};
///
/// # fn main() -> simkeep::Result<()> {
/// # let dir = tempfile::tempdir().unwrap();
/// # let store = Store::create(dir.path().join("store"), Options::default())?;
/// let epoch = store.change_epoch();
/// for (page, fingerprint) in [("a", 0b1111), ("b", 0b1111), ("c", 0b1000)] {
///     let url = format!("https://example.com/{page}");
///     store.observe(Observation::content(&url, Time::now(), fingerprint, epoch))?;
/// }
/// let found = Mutex::new(Vec::new());
/// let (all, snapshot) = (Query::new(0, 0), store.snapshot());
/// DistinctFingerprints::like(&all).run(&snapshot, &Progress::default(), |some| {
///     found.lock().unwrap().extend_from_slice(some);
///     ControlFlow::Continue(())
/// })?;
/// let mut found = found.into_inner().unwrap();
/// found.sort();
/// assert_eq!(found, [0b1000, 0b1111]);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy, Debug)]
pub struct DistinctFingerprints<'a> {
    like: &'a Query,
}

impl<'a> DistinctFingerprints<'a> {
    /// Finds the fingerprints that a query is about.
    pub fn like(query: &'a Query) -> DistinctFingerprints<'a> {
        DistinctFingerprints { like: query }
    }

    /// Runs the query, and passes on the fingerprints in no particular order. `sink` is called from
    /// several threads with up to 4,096 at a time. If it breaks, the run ends.
    ///
    /// Costs a read of all fingerprints, and some nanoseconds for each to check that it is in force; in
    /// several segments, a lookup of each in the others, and of one of its pages. Memory does not grow
    /// with their number.
    ///
    /// # Errors
    ///
    /// [`Error::Corrupt`] if what it reads is damaged, [`Error::Cancelled`] if `progress` was,
    /// [`Error::Limit`] for 2^32 fingerprints or more. What was passed on before the error is right, but
    /// not all.
    pub fn run(
        &self,
        snapshot: &Snapshot,
        progress: &Progress,
        sink: impl Fn(&[u64]) -> ControlFlow<()> + Sync,
    ) -> Result<()> {
        snapshot.poison_on_bug(|| self.each(snapshot, progress, sink))
    }

    fn each(
        &self,
        snapshot: &Snapshot,
        progress: &Progress,
        sink: impl Fn(&[u64]) -> ControlFlow<()> + Sync,
    ) -> Result<()> {
        progress.start(Stage::Joining, None)?;
        let shown = Shown::new(snapshot, wanted(snapshot, self.like)?)?;
        let flow = shown.columns.each(self.like.threads, progress, |some| {
            let is_shown = shown.of(some)?.into_iter();
            let found = some.iter().zip(is_shown).filter(|(_, shown)| *shown);
            let found: Vec<u64> = found.map(|((_, fingerprint), _)| *fingerprint).collect();
            progress.find(found.len() as u64);
            Ok(if found.is_empty() { ControlFlow::Continue(()) } else { sink(&found) })
        })?;
        if flow.is_continue() {
            progress.finish();
        }
        // The caller may have cancelled in `sink`.
        progress.check()
    }

    /// Counts the fingerprints in `buckets` buckets, for a [join](crate::join) within `k` bits that is
    /// split into parts; [`Histogram::within`] explains the buckets. 4,096 suffice for some 10^9
    /// fingerprints in all stores together. Costs a [run](Self::run).
    ///
    /// # Errors
    ///
    /// As [`run`](Self::run).
    pub fn histogram(
        &self,
        snapshot: &Snapshot,
        k: u32,
        buckets: u32,
        progress: &Progress,
    ) -> Result<Histogram> {
        let histogram = Mutex::new(Histogram::within(k, buckets));
        self.run(snapshot, progress, |some| {
            histogram.lock().add(some);
            ControlFlow::Continue(())
        })?;
        Ok(histogram.into_inner())
    }

    /// Partitions the fingerprints among the tasks of a [join](crate::join) of several stores. Each
    /// task gets `most` at a time, or what is left at the end;
    /// [`Partitioner`](crate::join::Partitioner) says more. `sink` is called by one thread at a time.
    /// If it breaks, the run ends.
    ///
    /// The query must have the epoch, versions, prefix and classes of the
    /// [`histogram`](Self::histogram). Costs a [run](Self::run), and 8 bytes of memory for each task
    /// and each of `most`.
    ///
    /// ```
    /// use std::ops::ControlFlow;
    /// use std::sync::Mutex;
    ///
    /// use simkeep::join::JoinPlan;
    /// use simkeep::query::DistinctFingerprints;
    /// use simkeep::{Observation, Options, Progress, Query, Store, Time};
    ///
    /// # fn main() -> simkeep::Result<()> {
    /// # let dir = tempfile::tempdir().unwrap();
    /// # let store = Store::create(dir.path().join("store"), Options::default())?;
    /// store.observe(Observation::content("https://example.com/", Time::now(), 0xff, store.change_epoch()))?;
    /// let (snapshot, like, progress) = (store.snapshot(), Query::new(0, 0), Progress::default());
    /// let fingerprints = DistinctFingerprints::like(&like);
    /// let plan = JoinPlan::new(&fingerprints.histogram(&snapshot, 3, 4096, &progress)?, 4, 1 << 20);
    /// let received = Mutex::new(Vec::new());
    /// fingerprints.partition(&snapshot, &plan, 1 << 16, &progress, |chunk| {
    ///     received.lock().unwrap().extend(chunk.fingerprints);
    ///     ControlFlow::Continue(())
    /// })?;
    /// // Once for each part.
    /// assert_eq!(received.into_inner().unwrap(), [0xff; 4]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// As [`run`](Self::run).
    pub fn partition(
        &self,
        snapshot: &Snapshot,
        plan: &JoinPlan,
        most: usize,
        progress: &Progress,
        mut sink: impl FnMut(Chunk) -> ControlFlow<()> + Send,
    ) -> Result<()> {
        let partitioner =
            Mutex::new((Partitioner::new(plan, most), &mut sink, ControlFlow::Continue(())));
        self.run(snapshot, progress, |some| {
            let (partitioner, sink, flow) = &mut *partitioner.lock();
            // Other threads may call once more after one that broke.
            if flow.is_continue() {
                *flow = partitioner.add(some, sink);
            }
            *flow
        })?;
        let (partitioner, sink, flow) = partitioner.into_inner();
        if flow.is_continue() {
            // Whether it had enough makes no difference any more.
            let _ = partitioner.end(sink);
        }
        Ok(())
    }
}
