//! All distinct fingerprints of pages, across the components.

use std::ops::ControlFlow;

use crate::engine::search::query::Query;
use crate::engine::search::visible_fingerprints::VisibleFingerprints;
use crate::engine::search::widen::build_request;
use crate::engine::snapshot::Snapshot;
#[cfg(doc)]
use crate::error::Error;
use crate::error::Result;
use crate::progress::{Progress, Stage};
use crate::search::{Chunk, Histogram, JoinPlan, Partitioner};
use crate::sync::Mutex;

/// Finds the distinct fingerprints of pages.
///
/// The [`Query`] selects the epoch, versions, prefix, classes, the [excluded](Query::exclude) page
/// and the number of threads. The other settings of the query are ignored. A fingerprint that only
/// the excluded page has is not found.
///
/// The query lets you process all fingerprints outside of the store, for example in a
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
/// DistinctFingerprints::selected_by(&all).run(&snapshot, &Progress::default(), |some| {
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
    query: &'a Query,
}

impl<'a> DistinctFingerprints<'a> {
    /// Creates a query for the fingerprints of the pages that `query` selects.
    ///
    /// ```
    /// use simkeep::query::DistinctFingerprints;
    /// use simkeep::{Prefix, Query};
    /// // The fingerprints of one host. The fingerprint and the distance of the query are ignored.
    /// let query = Query::new(0, 0).under(Prefix::parse("example.com/")?);
    /// let fingerprints = DistinctFingerprints::selected_by(&query);
    /// # Ok::<(), simkeep::PrefixError>(())
    /// ```
    pub fn selected_by(query: &'a Query) -> DistinctFingerprints<'a> {
        DistinctFingerprints { query }
    }

    /// Runs the query and passes the fingerprints to `sink`, in no particular order. `sink` is
    /// called from several threads with up to 4,096 fingerprints at a time. If `sink` breaks, the
    /// run ends.
    ///
    /// The run reads all fingerprints, and takes some nanoseconds per fingerprint to check that it
    /// is in force. With several segments, the run also looks up each fingerprint in the other
    /// segments, and looks up one of its pages. Memory does not grow with the number of
    /// fingerprints.
    ///
    /// ```
    /// # use simkeep::{Observation, Options, Progress, Query, Store, Time};
    /// use std::ops::ControlFlow;
    /// use std::sync::atomic::{AtomicUsize, Ordering};
    ///
    /// use simkeep::query::DistinctFingerprints;
    /// # fn main() -> simkeep::Result<()> {
    /// # let dir = tempfile::tempdir().unwrap();
    /// # let store = Store::create(dir.path().join("store"), Options::default())?;
    /// for (path, fingerprint) in [("a", 7), ("b", 7), ("c", 8)] {
    ///     let url = format!("https://example.com/{path}");
    ///     store.observe(Observation::content(&url, Time::now(), fingerprint, store.change_epoch()))?;
    /// }
    /// let (query, count) = (Query::new(0, 0), AtomicUsize::new(0));
    /// let fingerprints = DistinctFingerprints::selected_by(&query);
    /// fingerprints.run(&store.snapshot(), &Progress::default(), |some| {
    ///     count.fetch_add(some.len(), Ordering::Relaxed);
    ///     ControlFlow::Continue(())
    /// })?;
    /// assert_eq!(count.into_inner(), 2);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::Corrupt`] if the run reads damaged data, [`Error::Cancelled`] if `progress` is
    /// cancelled, [`Error::Limit`] for 2^32 fingerprints or more. The fingerprints passed before an
    /// error are correct, but incomplete.
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
        let shown = VisibleFingerprints::new(snapshot, build_request(snapshot, self.query)?)?;
        let flow = shown.columns.each(self.query.threads, progress, |some| {
            let is_shown = shown.are_visible(some)?.into_iter();
            let found = some.iter().zip(is_shown).filter(|(_, shown)| *shown);
            let found: Vec<u64> = found.map(|((_, fingerprint), _)| *fingerprint).collect();
            progress.add_found(found.len() as u64);
            Ok(if found.is_empty() { ControlFlow::Continue(()) } else { sink(&found) })
        })?;
        if flow.is_continue() {
            progress.finish();
        }
        // The caller may have cancelled in `sink`.
        progress.check()
    }

    /// Counts the fingerprints in `buckets` buckets, for a split [join](crate::join) within `k`
    /// bits. [`Histogram::within`] explains the buckets. 4,096 buckets suffice for about 10^9
    /// fingerprints in all stores together. Costs as much as a [run](Self::run).
    ///
    /// ```
    /// # use simkeep::{Observation, Options, Progress, Query, Store, Time};
    /// use simkeep::query::DistinctFingerprints;
    /// # fn main() -> simkeep::Result<()> {
    /// # let dir = tempfile::tempdir().unwrap();
    /// # let store = Store::create(dir.path().join("store"), Options::default())?;
    /// let (url, epoch) = ("https://example.com/", store.change_epoch());
    /// store.observe(Observation::content(url, Time::now(), 7, epoch))?;
    /// let query = Query::new(0, 0);
    /// let fingerprints = DistinctFingerprints::selected_by(&query);
    /// let histogram = fingerprints.histogram(&store.snapshot(), 3, 4096, &Progress::default())?;
    /// assert_eq!((histogram.k(), histogram.fingerprints()), (3, 1));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// The errors of [`run`](Self::run).
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

    /// Partitions the fingerprints among the tasks of a [join](crate::join) of several stores.
    ///
    /// Each task receives `most` fingerprints at a time, and the remaining fingerprints at the end.
    /// [`Partitioner`](crate::join::Partitioner) explains the partition. One thread at a time calls
    /// `sink`. If `sink` breaks, the run ends.
    ///
    /// The query must have the epoch, versions, prefix and classes of the
    /// [`histogram`](Self::histogram). Costs as much as a [run](Self::run), and memory of 8 bytes x
    /// `most` for each task.
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
    /// let (snapshot, query, progress) = (store.snapshot(), Query::new(0, 0), Progress::default());
    /// let fingerprints = DistinctFingerprints::selected_by(&query);
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
    /// The errors of [`run`](Self::run).
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
            // After a call of one thread breaks, other threads may call once more.
            if flow.is_continue() {
                *flow = partitioner.add(some, sink);
            }
            *flow
        })?;
        let (partitioner, sink, flow) = partitioner.into_inner();
        if flow.is_continue() {
            // A break no longer matters at the end.
            let _ = partitioner.end(sink);
        }
        Ok(())
    }
}
