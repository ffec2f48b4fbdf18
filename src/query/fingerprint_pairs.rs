//! Pairs of near fingerprints, across the components.
//!
//! All pairs come from a join. The pairs of given fingerprints come from one search for each given
//! fingerprint.

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::bug::OrBug;
use crate::engine::search::columns::FingerprintColumns;
use crate::engine::search::query::Query;
use crate::engine::search::visible_fingerprints::VisibleFingerprints;
use crate::engine::search::widen::build_request;
use crate::engine::snapshot::Snapshot;
use crate::error::{Error, Result};
use crate::page::Epoch;
use crate::progress::{Progress, Stage};
use crate::search::{Join, Pair};
use crate::sync::Mutex;
use crate::threads::{run_jobs, up_to};

/// The number of fingerprints that one thread searches for at a time. The number is small, because
/// each fingerprint may have thousands of near fingerprints.
const TOGETHER: usize = 256;

/// The number of fingerprints for which pages are looked up together.
const SHOWN: usize = 1 << 12;

/// Finds all pairs of different fingerprints of pages that are near each other. [With](Self::with)
/// given fingerprints, finds the pairs of a given fingerprint and a fingerprint of a page.
///
/// The [`Query`] selects the fingerprints: it sets the distance [`k`](Query::k), the epoch,
/// versions, prefix, classes (of both pages), the [excluded](Query::exclude) page, and the number
/// of threads. The fingerprint, limit and budget of the query are ignored. A pair is not found if
/// only the excluded page has one of the two fingerprints. Use
/// [`PairQuery`](crate::query::PairQuery) for pairs of pages, including pages with equal
/// fingerprints.
///
/// ```
/// use std::ops::ControlFlow;
/// use std::sync::atomic::{AtomicU64, Ordering};
///
/// use simkeep::query::FingerprintPairs;
/// use simkeep::{Progress, Query, Snapshot};
///
/// fn near_pairs(snapshot: &Snapshot) -> simkeep::Result<u64> {
///     let count = AtomicU64::new(0);
///     FingerprintPairs::selected_by(&Query::new(0, 3)).run(snapshot, &Progress::default(), |pairs| {
///         count.fetch_add(pairs.len() as u64, Ordering::Relaxed);
///         ControlFlow::Continue(())
///     })?;
///     Ok(count.into_inner())
/// }
/// ```
#[derive(Clone, Copy, Debug)]
pub struct FingerprintPairs<'a> {
    query: &'a Query,
    with: Option<&'a [u64]>,
}

impl<'a> FingerprintPairs<'a> {
    /// Creates a query that pairs the fingerprints selected by `query` with each other.
    ///
    /// ```
    /// use simkeep::query::FingerprintPairs;
    /// use simkeep::{Prefix, Query};
    /// // Pairs within 3 bits among the pages of one host.
    /// let query = Query::new(0, 3).under(Prefix::parse("example.com/")?);
    /// let pairs = FingerprintPairs::selected_by(&query);
    /// # Ok::<(), simkeep::PrefixError>(())
    /// ```
    pub fn selected_by(query: &'a Query) -> FingerprintPairs<'a> {
        FingerprintPairs { query, with: None }
    }

    /// Pairs `fingerprints` with the fingerprints of pages instead. The given fingerprints need not
    /// belong to pages. The query lets you compare new fingerprints with all stored fingerprints. A
    /// pair of two given fingerprints is found twice, once for each of them.
    ///
    /// ```
    /// use std::ops::ControlFlow;
    /// use std::sync::Mutex;
    ///
    /// use simkeep::query::FingerprintPairs;
    /// use simkeep::{Observation, Options, Progress, Query, Store, Time};
    ///
    /// # fn main() -> simkeep::Result<()> {
    /// # let dir = tempfile::tempdir().unwrap();
    /// # let store = Store::create(dir.path().join("store"), Options::default())?;
    /// store.observe(Observation::content("https://example.com/", Time::now(), 0b1110, store.change_epoch()))?;
    /// let found = Mutex::new(Vec::new());
    /// let (near, snapshot) = (Query::new(0, 3), store.snapshot());
    /// FingerprintPairs::selected_by(&near).with(&[0b1000]).run(&snapshot, &Progress::default(),
    ///     |pairs| { found.lock().unwrap().extend_from_slice(pairs);
    ///     ControlFlow::Continue(())
    /// })?;
    /// let [pair] = found.into_inner().unwrap()[..] else { panic!() };
    /// assert_eq!((pair.left, pair.right, pair.distance), (0b1000, 0b1110, 2));
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn with(self, fingerprints: &'a [u64]) -> FingerprintPairs<'a> {
        FingerprintPairs { with: Some(fingerprints), ..self }
    }

    /// Runs the query and passes each pair once, in no particular order.
    ///
    /// Without given fingerprints the run is a join, not a search for each fingerprint. The join
    /// sorts all fingerprints by parts of their bits, in 256 MiB of memory and on all cores, at
    /// about 0.1 microseconds per fingerprint. With several segments, the run also reads pages for
    /// the fingerprints of each pair, until one page still has the fingerprint. The run reads pages
    /// once for each fingerprint of a batch of pairs.
    ///
    /// With given fingerprints the run searches for each of them, on all cores, and takes some
    /// nanoseconds for each fingerprint found. With several segments, the run also looks up each
    /// found fingerprint in the other segments, and looks up one of its pages. So use given
    /// fingerprints if there are few, and a join if there are many. The run takes memory for the
    /// fingerprints near 256 given fingerprints on each core.
    ///
    /// Several threads call `sink` as pairs are found, with up to 1,024 pairs of the join at a
    /// time. If `sink` breaks, the run ends.
    ///
    /// ```
    /// # use simkeep::{Observation, Options, Progress, Query, Store, Time};
    /// use std::ops::ControlFlow;
    /// use std::sync::Mutex;
    ///
    /// use simkeep::query::FingerprintPairs;
    /// # fn main() -> simkeep::Result<()> {
    /// # let dir = tempfile::tempdir().unwrap();
    /// # let store = Store::create(dir.path().join("store"), Options::default())?;
    /// for (path, fingerprint) in [("a", 0b0000), ("b", 0b0011), ("c", !0)] {
    ///     let url = format!("https://example.com/{path}");
    ///     store.observe(Observation::content(&url, Time::now(), fingerprint, store.change_epoch()))?;
    /// }
    /// let (query, found) = (Query::new(0, 3), Mutex::new(Vec::new()));
    /// let pairs = FingerprintPairs::selected_by(&query);
    /// pairs.run(&store.snapshot(), &Progress::default(), |some| {
    ///     found.lock().unwrap().extend_from_slice(some);
    ///     ControlFlow::Continue(())
    /// })?;
    /// let found = found.into_inner().unwrap();
    /// assert_eq!((found.len(), found[0].distance), (1, 2));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::Corrupt`] if the run reads damaged data, [`Error::Cancelled`] if `progress` is
    /// cancelled, [`Error::Limit`] for 2^32 fingerprints or more. The pairs passed before an error
    /// are correct, but incomplete.
    pub fn run(
        &self,
        snapshot: &Snapshot,
        progress: &Progress,
        sink: impl Fn(&[NearPair]) -> ControlFlow<()> + Sync,
    ) -> Result<()> {
        snapshot.poison_on_bug(|| match self.with {
            Some(fingerprints) => pairs_with(snapshot, fingerprints, self.query, progress, sink),
            None => all_pairs(snapshot, self.query, progress, sink),
        })
    }
}

/// Two different fingerprints of pages that are near each other, found by
/// [`FingerprintPairs`].
///
/// ```
/// # use simkeep::{Observation, Options, Progress, Query, Store, Time};
/// use std::ops::ControlFlow;
///
/// use simkeep::query::FingerprintPairs;
/// # fn main() -> simkeep::Result<()> {
/// # let dir = tempfile::tempdir().unwrap();
/// # let store = Store::create(dir.path().join("store"), Options::default())?;
/// for (path, fingerprint) in [("a", 0b0011), ("b", 0b0000)] {
///     let url = format!("https://example.com/{path}");
///     store.observe(Observation::content(&url, Time::now(), fingerprint, store.change_epoch()))?;
/// }
/// let query = Query::new(0, 3);
/// let pairs = FingerprintPairs::selected_by(&query);
/// pairs.run(&store.snapshot(), &Progress::default(), |some| {
///     for pair in some {
///         assert_eq!((pair.left, pair.right, pair.distance), (0b0000, 0b0011, 2));
///     }
///     ControlFlow::Continue(())
/// })?;
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NearPair {
    /// The smaller fingerprint.
    pub left: u64,
    /// The larger fingerprint.
    pub right: u64,
    /// The number of bits in which the two fingerprints differ: 1 to 64.
    pub distance: u32,
}

/// All pairs of near fingerprints.
fn all_pairs(
    snapshot: &Snapshot,
    query: &Query,
    progress: &Progress,
    sink: impl Fn(&[NearPair]) -> ControlFlow<()> + Sync,
) -> Result<()> {
    progress.start(Stage::Joining, None)?;
    let shown = VisibleFingerprints::new(snapshot, build_request(snapshot, query)?)?;
    let join_of = Join::within(shown.wanted.k).threads(up_to(query.threads));
    join(&shown.columns, join_of, progress, |pairs| {
        let near = shown.pairs(pairs)?;
        progress.add_found(near.len() as u64);
        Ok(if near.is_empty() { ControlFlow::Continue(()) } else { sink(&near) })
    })
}

impl VisibleFingerprints<'_> {
    /// Selects the pairs whose fingerprints are both in force on a page. Returns each pair once.
    fn pairs(&self, pairs: &[Pair]) -> Result<Vec<NearPair>> {
        let fingerprints = PairFingerprints::of(pairs);
        let shown = self.are_visible(&fingerprints.0)?;
        let is_shown = |ordinal| shown.get(fingerprints.place(ordinal)).copied() == Some(true);
        let both = pairs.iter().filter(|pair| is_shown(pair.left) && is_shown(pair.right));
        Ok(both.filter_map(near_pair).collect())
    }
}

/// Joins all fingerprints with each other. If `sink` fails, the join ends.
pub(crate) fn join(
    columns: &FingerprintColumns<'_>,
    join: Join,
    progress: &Progress,
    work: impl Fn(&[Pair]) -> Result<ControlFlow<()>> + Sync,
) -> Result<()> {
    let failed: Mutex<Option<Error>> = Mutex::new(None);
    let flow = join.run(columns, progress, |pairs: &[Pair]| {
        work(pairs).unwrap_or_else(|error| {
            *failed.lock() = Some(error);
            ControlFlow::Break(())
        })
    })?;
    match failed.into_inner() {
        Some(error) => Err(error),
        // The caller may have cancelled in `sink`.
        None if flow.is_break() => progress.check(),
        None => Ok(()),
    }
}

/// The pair to report; `None` for equal fingerprints of two components.
fn near_pair(pair: &Pair) -> Option<NearPair> {
    let [one, other] = pair.fingerprints;
    let (left, right) = (one.min(other), one.max(other));
    (pair.distance > 0).then_some(NearPair { left, right, distance: pair.distance })
}

/// The distinct fingerprints of some pairs, with their ordinals. In a dense bucket, each
/// fingerprint is in many pairs.
pub(crate) struct PairFingerprints(pub(crate) Vec<(u32, u64)>);

impl PairFingerprints {
    pub(crate) fn of(pairs: &[Pair]) -> PairFingerprints {
        let mut all = Vec::with_capacity(2 * pairs.len());
        for pair in pairs.iter().filter(|pair| pair.distance > 0) {
            let [left, right] = pair.fingerprints;
            all.extend([(pair.left, left), (pair.right, right)]);
        }
        PairFingerprints::new(all)
    }

    pub(crate) fn new(mut all: Vec<(u32, u64)>) -> PairFingerprints {
        all.sort_unstable();
        all.dedup();
        PairFingerprints(all)
    }

    /// The index of the fingerprint with an ordinal.
    pub(crate) fn place(&self, ordinal: u32) -> usize {
        self.0.partition_point(|(other, _)| *other < ordinal)
    }
}

/// Finds all pairs of a given fingerprint and a different fingerprint that is in force on a page.
fn pairs_with(
    snapshot: &Snapshot,
    fingerprints: &[u64],
    query: &Query,
    progress: &Progress,
    sink: impl Fn(&[NearPair]) -> ControlFlow<()> + Sync,
) -> Result<()> {
    progress.start(Stage::Joining, Some(fingerprints.len() as u64))?;
    let shown = VisibleFingerprints::new(snapshot, build_request(snapshot, query)?)?;
    let ended = AtomicBool::new(false);
    let run = |(): &mut (), some: &[u64]| -> Result<()> {
        if ended.load(Ordering::Relaxed) {
            return Ok(());
        }
        let pairs = progress.check().and_then(|()| shown.pairs_with(some));
        let flow = match &pairs {
            Ok(pairs) if pairs.is_empty() => ControlFlow::Continue(()),
            Ok(pairs) => sink(pairs),
            Err(_) => ControlFlow::Break(()),
        };
        if flow.is_break() {
            ended.store(true, Ordering::Relaxed);
        }
        progress.add_found(pairs?.len() as u64);
        progress.pass(some.len() as u64);
        Ok(())
    };
    run_jobs(fingerprints.chunks(TOGETHER), up_to(query.threads), || (), run)
        .into_iter()
        .collect::<Result<()>>()?;
    if !ended.into_inner() {
        progress.finish();
    }
    // The caller may have cancelled in `sink`.
    progress.check()
}

impl VisibleFingerprints<'_> {
    /// The pairs of a fingerprint in `fingerprints` and a different fingerprint that is in force on
    /// a page.
    fn pairs_with(&self, fingerprints: &[u64]) -> Result<Vec<NearPair>> {
        let mask = Epoch(self.wanted.epoch).mask();
        let given: Vec<u64> = fingerprints.iter().map(|given| given & mask).collect();
        let mut near = self.columns.near(&given, self.wanted.epoch, self.wanted.k)?;
        near.retain(|(_, _, candidate)| candidate.distance > 0);
        let found = PairFingerprints::new(
            near.iter().map(|&(_, ordinal, c)| (ordinal, c.fingerprint)).collect(),
        );
        let mut is_shown = Vec::with_capacity(found.0.len());
        for some in found.0.chunks(SHOWN) {
            is_shown.append(&mut self.are_visible(some)?);
        }
        let mut pairs = Vec::with_capacity(near.len());
        for (place, ordinal, candidate) in near {
            let is_shown = is_shown.get(found.place(ordinal)).copied();
            if is_shown.or_bug("each found fingerprint was checked for visible pages")? {
                let given = given
                    .get(place)
                    .copied()
                    .or_bug("each found fingerprint is near a given fingerprint")?;
                let (other, distance) = (candidate.fingerprint, candidate.distance.into());
                let (left, right) = (given.min(other), given.max(other));
                pairs.push(NearPair { left, right, distance });
            }
        }
        Ok(pairs)
    }
}
