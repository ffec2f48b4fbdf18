//! Pairs of pages with equal or near fingerprints, across the components.
//!
//! The join finds pairs of fingerprints. The pages of a fingerprint come from the postings of the
//! component in which the join found the fingerprint. Pages with equal fingerprints are in posting
//! lists, or in several components. All pairs are passed to the sink as they are found, so memory
//! does not grow with their number.

use std::ops::ControlFlow;
use std::sync::Arc;

use super::fingerprint_pairs::{PairFingerprints, join};
use crate::bug::OrBug;
use crate::engine::component::Component;
use crate::engine::search::columns::FingerprintColumns;
use crate::engine::search::many::HitPrefetcher;
use crate::engine::search::pages_of_fingerprint::PagesOfFingerprint;
use crate::engine::search::query::Query;
use crate::engine::search::resolve::HitResolver;
use crate::engine::search::widen::build_request;
use crate::engine::search::{Hit, SearchRequest};
use crate::engine::snapshot::Snapshot;
use crate::error::Result;
use crate::page::{Classes, Epoch, Prefix};
use crate::progress::{Progress, Stage};
use crate::search::{Join, Pair};

/// The maximum number of pairs passed to the sink at a time.
const CHUNK_PAIRS: usize = 1024;
/// The approximate maximum number of bytes of URLs passed to the sink at a time.
const CHUNK_BYTES: usize = 1 << 20;

/// Finds pairs of pages whose current versions have near or equal fingerprints.
///
/// A fingerprint of a million pages, for example of an error page, makes half a trillion pairs. So
/// by default, only the first page of each fingerprint in SURT order is paired with pages of other
/// fingerprints. Each further page of a fingerprint is paired with the first page of the same
/// fingerprint. The list is as long as the number of pages plus the number of pairs of
/// fingerprints. Nothing is lost: the distance of two pages is the distance of their fingerprints.
/// [`pages_per_fingerprint`](PairQuery::pages_per_fingerprint) returns more pairs.
///
/// ```
/// use simkeep::query::PairQuery;
/// use simkeep::Prefix;
///
/// let copies = PairQuery::within(0).equal(true).under(Prefix::parse("example.org")?);
/// let all = PairQuery::within(3).equal(true).pages_per_fingerprint(usize::MAX);
/// assert_eq!((copies.pages_per_fingerprint, all.k), (1, 3));
/// # Ok::<(), simkeep::PrefixError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct PairQuery {
    /// The maximum Hamming distance, 0 to 64.
    pub k: u32,
    /// The epoch of the fingerprints; `None` for the
    /// [epoch of near-duplicates](crate::Snapshot::near_epoch).
    pub epoch: Option<Epoch>,
    /// Limits the query to pages under this prefix.
    pub under: Option<Prefix>,
    /// Limits the query to pages of these classes; see [`PairQuery::classes`].
    pub classes: Option<Classes>,
    /// Whether to pair pages with equal fingerprints, too.
    pub equal: bool,
    /// The number of pages of each fingerprint to pair with other pages; see
    /// [`PairQuery::pages_per_fingerprint`].
    pub pages_per_fingerprint: usize,
}

impl PairQuery {
    /// Creates a query for pages with different fingerprints within a distance of each other, in
    /// the [epoch of near-duplicates](crate::Snapshot::near_epoch). The query pairs only the first
    /// page of each fingerprint.
    ///
    /// ```
    /// use simkeep::query::PairQuery;
    /// let query = PairQuery::within(3);
    /// assert_eq!((query.k, query.equal, query.pages_per_fingerprint), (3, false, 1));
    /// ```
    #[must_use]
    pub fn within(k: u32) -> PairQuery {
        PairQuery {
            k,
            epoch: None,
            under: None,
            classes: None,
            equal: false,
            pages_per_fingerprint: 1,
        }
    }

    /// Pairs fingerprints of an epoch.
    #[must_use]
    pub fn epoch(mut self, epoch: Epoch) -> PairQuery {
        self.epoch = Some(epoch);
        self
    }

    /// Pairs only pages under a prefix, for example the pages of a host.
    ///
    /// ```
    /// use simkeep::Prefix;
    /// use simkeep::query::PairQuery;
    /// // Both pages of a pair are pages of this host.
    /// let query = PairQuery::within(3).under(Prefix::parse("example.com/")?);
    /// assert_eq!(query.under.unwrap().to_string(), "example.com/");
    /// # Ok::<(), simkeep::PrefixError>(())
    /// ```
    #[must_use]
    pub fn under(mut self, prefix: impl Into<Option<Prefix>>) -> PairQuery {
        self.under = prefix.into();
        self
    }

    /// Pairs only pages that are in these classes now, as if the store had no other pages; see
    /// [`Query::classes`].
    ///
    /// ```
    /// use simkeep::Classes;
    /// use simkeep::query::PairQuery;
    /// // Pairs of pages that a user of the classes 0 and 7 may see.
    /// let query = PairQuery::within(3).classes(Classes::of([0, 7]));
    /// assert!(query.classes.unwrap().contains(Some(7)));
    /// ```
    #[must_use]
    pub fn classes(mut self, classes: impl Into<Option<Classes>>) -> PairQuery {
        self.classes = classes.into();
        self
    }

    /// Sets whether to pair pages with equal fingerprints, too. Default: `false`.
    ///
    /// ```
    /// # use simkeep::{Observation, Options, Progress, Store, Time};
    /// use std::ops::ControlFlow;
    /// use std::sync::Mutex;
    ///
    /// use simkeep::query::PairQuery;
    /// # fn main() -> simkeep::Result<()> {
    /// # let dir = tempfile::tempdir().unwrap();
    /// # let store = Store::create(dir.path().join("store"), Options::default())?;
    /// let epoch = store.change_epoch();
    /// for url in ["https://example.com/", "https://example.org/copy"] {
    ///     store.observe(Observation::content(url, Time::now(), 7, epoch))?;
    /// }
    /// let count = |query: PairQuery| -> simkeep::Result<usize> {
    ///     let count = Mutex::new(0);
    ///     query.run(&store.snapshot(), &Progress::default(), |pairs| {
    ///         *count.lock().unwrap() += pairs.len();
    ///         ControlFlow::Continue(())
    ///     })?;
    ///     Ok(count.into_inner().unwrap())
    /// };
    /// assert_eq!(count(PairQuery::within(3))?, 0); // different fingerprints only
    /// assert_eq!(count(PairQuery::within(3).equal(true))?, 1);
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn equal(mut self, equal: bool) -> PairQuery {
        self.equal = equal;
        self
    }

    /// Sets how many pages of each fingerprint are paired with other pages: the first in SURT
    /// order; at least one. Default: 1.
    ///
    /// Two pages with equal fingerprints are paired if at least one of them is among the first
    /// pages of the fingerprint. Two pages with different fingerprints are paired if each is among
    /// the first pages of its fingerprint. `usize::MAX` finds all pairs, whose number grows with
    /// the square of the number of pages of a fingerprint.
    ///
    /// ```
    /// use simkeep::query::PairQuery;
    /// // All pairs, for a store whose fingerprints have few pages each.
    /// let query = PairQuery::within(3).equal(true).pages_per_fingerprint(usize::MAX);
    /// assert_eq!(query.pages_per_fingerprint, usize::MAX);
    /// ```
    #[must_use]
    pub fn pages_per_fingerprint(mut self, pages: usize) -> PairQuery {
        self.pages_per_fingerprint = pages.max(1);
        self
    }

    /// Runs the query and passes each pair once, in no particular order.
    /// [`pages_per_fingerprint`](PairQuery::pages_per_fingerprint) sets how many pages of one
    /// fingerprint are paired. By default one page is paired, so the list is no longer than the
    /// number of pages plus the number of [pairs of fingerprints](crate::query::FingerprintPairs).
    ///
    /// The run costs the time and memory of a join of the fingerprints, and up to a microsecond for
    /// each reported page. For pages with equal fingerprints the run reads all fingerprints once
    /// more; with several segments, it looks up each fingerprint in the other segments. Memory does
    /// not grow with the number of pages or pairs. Several threads call `sink` as pairs are found,
    /// with up to 1,024 pairs at a time. If `sink` breaks, the run ends.
    ///
    /// ```
    /// use std::ops::ControlFlow;
    ///
    /// use simkeep::query::PairQuery;
    /// use simkeep::{Observation, Options, Progress, Store, Time};
    ///
    /// # fn main() -> simkeep::Result<()> {
    /// # let dir = tempfile::tempdir().unwrap();
    /// # let store = Store::create(dir.path().join("store"), Options::default())?;
    /// let epoch = store.change_epoch();
    /// store.observe(Observation::content("https://example.com/a", Time::from_ms(1)?, 0b1111, epoch))?;
    /// store.observe(Observation::content("https://example.com/b", Time::from_ms(1)?, 0b1111, epoch))?;
    /// let found = std::sync::Mutex::new(Vec::new());
    /// let (asked, snapshot) = (PairQuery::within(0).equal(true), store.snapshot());
    /// asked.run(&snapshot, &Progress::default(), |pairs| {
    ///     found.lock().unwrap().extend_from_slice(pairs);
    ///     ControlFlow::Continue(())
    /// })?;
    /// let found = found.into_inner().unwrap();
    /// assert_eq!(&*found[0].left.url, "https://example.com/a");
    /// assert_eq!(&*found[0].right.url, "https://example.com/b");
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// The errors of [`FingerprintPairs::run`](crate::query::FingerprintPairs::run).
    pub fn run(
        &self,
        snapshot: &Snapshot,
        progress: &Progress,
        sink: impl Fn(&[PagePair]) -> ControlFlow<()> + Sync,
    ) -> Result<()> {
        snapshot.poison_on_bug(|| page_pairs(snapshot, self, progress, sink))
    }
}

/// Two pages with fingerprints that are equal or near each other, found by [`PairQuery`].
///
/// ```
/// # use simkeep::{Observation, Options, Progress, Store, Time};
/// use std::ops::ControlFlow;
///
/// use simkeep::query::PairQuery;
/// # fn main() -> simkeep::Result<()> {
/// # let dir = tempfile::tempdir().unwrap();
/// # let store = Store::create(dir.path().join("store"), Options::default())?;
/// # let epoch = store.change_epoch();
/// # let pages = [(1, "terms", 0b0), (2, "terms?print=1", 0b1), (3, "about", !0)];
/// # for (ms, path, fingerprint) in pages {
/// #     let url = format!("https://example.com/{path}");
/// #     store.observe(Observation::content(&url, Time::from_ms(ms)?, fingerprint, epoch))?;
/// # }
/// // `/terms` and `/terms?print=1` differ in one bit, `/about` in all bits.
/// PairQuery::within(3).run(&store.snapshot(), &Progress::default(), |pairs| {
///     for pair in pairs {
///         assert_eq!((&*pair.left.url, pair.distance), ("https://example.com/terms", 1));
///     }
///     ControlFlow::Continue(())
/// })?;
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub struct PagePair {
    /// The page with the smaller fingerprint; if the fingerprints are equal, the first page in SURT
    /// order.
    pub left: PairedPage,
    /// The page with the larger fingerprint; if the fingerprints are equal, the second page in SURT
    /// order.
    pub right: PairedPage,
    /// The number of bits in which the two fingerprints differ.
    pub distance: u32,
}

/// One page of a pair.
///
/// ```
/// # use simkeep::{Observation, Options, Progress, Store, Time};
/// use std::ops::ControlFlow;
///
/// use simkeep::query::PairQuery;
/// # fn main() -> simkeep::Result<()> {
/// # let dir = tempfile::tempdir().unwrap();
/// # let store = Store::create(dir.path().join("store"), Options::default())?;
/// # let epoch = store.change_epoch();
/// # let pages = [(1, "terms", 0b0), (2, "terms?print=1", 0b1), (3, "about", !0)];
/// # for (ms, path, fingerprint) in pages {
/// #     let url = format!("https://example.com/{path}");
/// #     store.observe(Observation::content(&url, Time::from_ms(ms)?, fingerprint, epoch))?;
/// # }
/// // `/terms` has the fingerprint 0b0, and `/terms?print=1` has 0b1.
/// PairQuery::within(3).run(&store.snapshot(), &Progress::default(), |pairs| {
///     for pair in pairs {
///         assert_eq!((&*pair.left.url, pair.left.fingerprint), ("https://example.com/terms", 0b0));
///         assert_eq!(pair.right.fingerprint, 0b1);
///     }
///     ControlFlow::Continue(())
/// })?;
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub struct PairedPage {
    /// The URL of the page.
    pub url: Arc<str>,
    /// The fingerprint of the page, with reserved bits set to 0.
    pub fingerprint: u64,
}

/// Finds all requested pairs of pages.
fn page_pairs(
    snapshot: &Snapshot,
    asked: &PairQuery,
    progress: &Progress,
    sink: impl Fn(&[PagePair]) -> ControlFlow<()> + Sync,
) -> Result<()> {
    progress.start(Stage::Joining, None)?;
    let like = Query::new(0, asked.k).under(asked.under.clone()).classes(asked.classes.clone());
    let like = Query { epoch: asked.epoch, ..like };
    let wanted = SearchRequest { bounds: None, ..build_request(snapshot, &like)? };
    let columns = FingerprintColumns::new(&snapshot.view, wanted.epoch)?;
    let finder = PairFinder {
        snapshot,
        columns,
        wanted,
        pages_per_fingerprint: asked.pages_per_fingerprint.max(1),
        progress,
        sink,
    };
    if asked.equal
        && finder.columns.each(usize::MAX, progress, |some| finder.equal(some))?.is_break()
    {
        return progress.check();
    }
    if asked.k == 0 {
        progress.finish();
        return Ok(());
    }
    join(&finder.columns, Join::within(finder.wanted.k), progress, |pairs| finder.near(pairs))
}

/// Finds pairs of pages, on several threads.
struct PairFinder<'f, F> {
    snapshot: &'f Snapshot,
    columns: FingerprintColumns<'f>,
    wanted: SearchRequest<'f>,
    pages_per_fingerprint: usize,
    progress: &'f Progress,
    sink: F,
}

impl<F: Fn(&[PagePair]) -> ControlFlow<()> + Sync> PairFinder<'_, F> {
    fn search(&self) -> HitResolver<'_, '_> {
        HitResolver::of_all(&self.snapshot.view, &self.wanted, self.snapshot.sequence)
    }

    /// The pages of some fingerprints, in the order of `fingerprints`, which are pairs of an
    /// ordinal and a fingerprint. Leaves out fingerprints that an older component also has, pages
    /// outside of the requested range, and pages on which the fingerprint is not in force.
    fn pages_of_fingerprints(
        &self,
        fingerprints: &[(u32, u64)],
        search: &mut HitResolver<'_, '_>,
        wants: impl Fn(&[(usize, Hit)]) -> Result<bool>,
    ) -> Result<Vec<Option<PagesOfFingerprint>>> {
        let mut hits = Vec::new();
        for hits_of_one in self
            .columns
            .components_with(fingerprints, self.wanted.epoch)?
            .chunk_by(|a, b| a.0 == b.0)
        {
            if wants(hits_of_one)? {
                hits.extend_from_slice(hits_of_one);
            }
        }
        let in_order: Vec<Hit> = hits.iter().map(|(_, hit)| *hit).collect();
        let (mut ahead, mut taken) = (HitPrefetcher::new(&self.snapshot.view, &in_order), 0);
        let mut bearers = vec![None; fingerprints.len()];
        for hits in hits.chunk_by(|a, b| a.0 == b.0) {
            taken += hits.len();
            ahead.until(taken, &self.wanted)?;
            let (place, _) = hits.first().or_bug("a piece of a list is not empty")?;
            let place =
                bearers.get_mut(*place).or_bug("each index is the index of a fingerprint")?;
            *place =
                PagesOfFingerprint::of(hits.iter().map(|(_, hit)| hit), search, self.progress)?;
        }
        Ok(bearers)
    }

    /// Reports the pages with near fingerprints for some pairs of the join.
    fn near(&self, pairs: &[Pair]) -> Result<ControlFlow<()>> {
        let mut search = self.search();
        let fingerprints = PairFingerprints::of(pairs);
        let bearers = self.pages_of_fingerprints(&fingerprints.0, &mut search, |_| Ok(true))?;
        let mut chunk = PairBatch::new(self);
        for pair in pairs.iter().filter(|pair| pair.distance > 0) {
            let of = |ordinal| bearers.get(fingerprints.place(ordinal)).and_then(Option::as_ref);
            let (Some(one), Some(other)) = (of(pair.left), of(pair.right)) else { continue };
            let [first, second] = pair.fingerprints;
            let (pages, both) = match first < second {
                true => ([one, other], [first, second]),
                false => ([other, one], [second, first]),
            };
            if self.near_pages(pages, both, &mut search, &mut chunk)?.is_break() {
                return Ok(ControlFlow::Break(()));
            }
        }
        Ok(chunk.pass_on())
    }

    /// Pairs the pages of two near fingerprints with each other, up to the requested number of
    /// pages.
    fn near_pages(
        &self,
        [lefts, rights]: [&PagesOfFingerprint; 2],
        fingerprints: [u64; 2],
        search: &mut HitResolver<'_, '_>,
        chunk: &mut PairBatch<'_, F>,
    ) -> Result<ControlFlow<()>> {
        if self.pages_per_fingerprint == 1 {
            // The first pages were already looked up.
            return Ok(chunk.add([lefts.first()?, rights.first()?], fingerprints));
        }
        let mut lefts = lefts.clone();
        for _ in 0..self.pages_per_fingerprint {
            let Some(left) = lefts.next(search, self.progress)? else { break };
            let mut rights = rights.clone();
            for _ in 0..self.pages_per_fingerprint {
                let Some(right) = rights.next(search, self.progress)? else { break };
                if chunk.add([&left, &right], fingerprints).is_break() {
                    return Ok(ControlFlow::Break(()));
                }
            }
        }
        Ok(ControlFlow::Continue(()))
    }

    /// Pairs the first pages of each fingerprint with all later pages of the same fingerprint. The
    /// query sets the number of first pages.
    fn equal(&self, fingerprints: &[(u32, u64)]) -> Result<ControlFlow<()>> {
        let mut search = self.search();
        let bearers = self
            .pages_of_fingerprints(fingerprints, &mut search, |hits| self.may_be_several(hits))?;
        let mut chunk = PairBatch::new(self);
        for (&(_, fingerprint), bearers) in fingerprints.iter().zip(bearers) {
            let Some(mut firsts) = bearers else { continue };
            for _ in 0..self.pages_per_fingerprint {
                let Some(left) = firsts.next(&mut search, self.progress)? else { break };
                let mut others = firsts.clone();
                while let Some(right) = others.next(&mut search, self.progress)? {
                    if chunk.add([&left, &right], [fingerprint; 2]).is_break() {
                        return Ok(ControlFlow::Break(()));
                    }
                }
            }
        }
        Ok(chunk.pass_on())
    }

    /// Whether several pages may have or have had a fingerprint, according to the fingerprint's
    /// hits.
    fn may_be_several(&self, hits: &[(usize, Hit)]) -> Result<bool> {
        let [(_, Hit { candidate, component })] = hits else { return Ok(true) };
        let epoch = self.wanted.epoch;
        match self.snapshot.view.component(*component)? {
            Component::Segment(_, live) => {
                let tables =
                    live.tables(epoch).or_bug("each hit comes from tables of its epoch")?;
                Ok(tables.single(candidate.ordinal)?.is_none())
            }
            Component::Memtable(_, memtable) => {
                Ok(memtable.read().postings(epoch, candidate.ordinal).len() > 1)
            }
        }
    }
}

/// Pairs that are passed to the sink together.
struct PairBatch<'f, F> {
    sink: &'f F,
    progress: &'f Progress,
    pairs: Vec<PagePair>,
    bytes: usize,
}

impl<'f, F: Fn(&[PagePair]) -> ControlFlow<()> + Sync> PairBatch<'f, F> {
    fn new(finder: &'f PairFinder<'_, F>) -> Self {
        let PairFinder { sink, progress, .. } = finder;
        PairBatch { sink, progress, pairs: Vec::new(), bytes: 0 }
    }

    fn add(&mut self, urls: [&Arc<str>; 2], fingerprints: [u64; 2]) -> ControlFlow<()> {
        let ([left, right], [one, other]) = (urls, fingerprints);
        self.bytes += left.len() + right.len();
        self.pairs.push(PagePair {
            left: PairedPage { url: Arc::clone(left), fingerprint: one },
            right: PairedPage { url: Arc::clone(right), fingerprint: other },
            distance: (one ^ other).count_ones(),
        });
        if self.pairs.len() < CHUNK_PAIRS && self.bytes < CHUNK_BYTES {
            return ControlFlow::Continue(());
        }
        self.pass_on()
    }

    /// Passes the collected pairs to the sink.
    fn pass_on(&mut self) -> ControlFlow<()> {
        self.progress.add_found(self.pairs.len() as u64);
        let flow = match &self.pairs[..] {
            [] => ControlFlow::Continue(()),
            pairs => (self.sink)(pairs),
        };
        self.pairs.clear();
        self.bytes = 0;
        // A break ends the join; the caller checks whether the progress was cancelled.
        if self.progress.is_cancelled() { ControlFlow::Break(()) } else { flow }
    }
}
