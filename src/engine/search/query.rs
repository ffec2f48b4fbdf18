//! Search queries, and their results.

use std::time::Duration;

use crate::page::{Classes, Epoch, Prefix};
use crate::search::DISTANCE_MAX;
use crate::time::Time;

/// The default number of fingerprints to compare in a dense bucket.
pub(crate) const FINGERPRINTS: u32 = 1 << 12;

/// A page near a fingerprint.
///
/// ```
/// # use simkeep::{Observation, Options, Store, Time};
/// # fn main() -> simkeep::Result<()> {
/// # let dir = tempfile::tempdir().unwrap();
/// # let store = Store::create(dir.path().join("store"), Options::default())?;
/// let url = "https://example.com/";
/// store.observe(Observation::content(url, Time::now(), 0b0111, store.change_epoch()))?;
/// let near = store.snapshot().near(0b0000, 3)?.near;
/// assert_eq!((near[0].url.as_str(), near[0].distance), (url, 3));
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct NearMatch {
    /// The URL of the page.
    pub url: String,
    /// The Hamming distance between the page's fingerprint and the searched fingerprint.
    pub distance: u32,
    /// The page's fingerprint, with reserved bits set to 0.
    pub fingerprint: u64,
}

/// The versions of pages to search. Times are in milliseconds since 1970.
///
/// ```
/// # use simkeep::{Observation, Options, Query, Store, Time, Versions};
/// # fn main() -> simkeep::Result<()> {
/// # let dir = tempfile::tempdir().unwrap();
/// # let store = Store::create(dir.path().join("store"), Options::default())?;
/// let (url, epoch) = ("https://example.com/", store.change_epoch());
/// for (ms, fingerprint) in [(1_000, 0x00), (2_000, 0xff)] {
///     store.observe(Observation::content(url, Time::from_ms(ms)?, fingerprint, epoch))?;
/// }
/// let found = |versions| store.snapshot().search(&Query::new(0x00, 3).versions(versions));
/// assert!(found(Versions::InForce)?.near.is_empty());
/// assert_eq!(found(Versions::At(Time::from_ms(1_500)?))?.near.len(), 1);
/// assert_eq!(found(Versions::Ever)?.near.len(), 1);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Versions {
    /// The current versions.
    #[default]
    InForce,
    /// The versions that were current at a time, as in
    /// [`Snapshot::as_of`](crate::Snapshot::as_of).
    At(Time),
    /// The versions that a visit saw between two times, both included.
    Seen(Time, Time),
    /// All versions ever seen.
    Ever,
}

impl Versions {
    /// Whether a page's fingerprint by itself shows that its version is included.
    pub(crate) fn need_no_visits(self) -> bool {
        // The other two variants depend on the times at which a page had a fingerprint, which are
        // only in the page's history.
        matches!(self, Self::InForce | Self::Ever)
    }
}

/// A search for pages near a fingerprint.
///
/// ```
/// use std::time::Duration;
///
/// use simkeep::{Prefix, Query, Versions};
///
/// let query = Query::new(0x0123_4567_89ab_cdef, 7)
///     .limit(100)
///     .under(Prefix::parse("example.org/news/")?)
///     .versions(Versions::Ever)
///     .budget(Duration::from_millis(5));
/// assert_eq!(query.limit, 100);
/// # Ok::<(), simkeep::PrefixError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Query {
    /// The fingerprint to search for.
    pub fingerprint: u64,
    /// The largest Hamming distance, 0 to 64.
    pub k: u32,
    /// The epoch of the fingerprints; `None` for the
    /// [epoch of near-duplicates](crate::Snapshot::near_epoch). Bits that the epoch reserves for
    /// metadata are neither compared nor returned.
    pub epoch: Option<Epoch>,
    /// The maximum number of pages to return. `usize::MAX` returns all, whatever the cost.
    pub limit: usize,
    /// The maximum number of fingerprints to compare in a dense bucket; see
    /// [`Query::fingerprints`].
    pub fingerprints: u32,
    /// The versions of pages to search.
    pub versions: Versions,
    /// Only pages under this prefix are searched.
    pub under: Option<Prefix>,
    /// A page to exclude from the results.
    pub exclude: Option<String>,
    /// Only pages of these classes are searched; see [`Query::classes`].
    pub classes: Option<Classes>,
    /// The time limit of the search; see [`Query::budget`].
    pub budget: Option<Duration>,
    /// The maximum number of threads for many searches, or for work on all fingerprints; see
    /// [`Query::threads`].
    pub threads: usize,
}

impl Query {
    /// Creates a search among the current versions, in the
    /// [epoch of near-duplicates](crate::Snapshot::near_epoch), for at most 16 pages.
    ///
    /// ```
    /// use simkeep::{Query, Versions};
    /// let query = Query::new(0x0123_4567_89ab_cdef, 3);
    /// assert_eq!((query.limit, query.versions), (16, Versions::InForce));
    /// ```
    pub fn new(fingerprint: u64, k: u32) -> Query {
        Query {
            fingerprint,
            k,
            epoch: None,
            limit: 16,
            fingerprints: FINGERPRINTS,
            versions: Versions::InForce,
            under: None,
            exclude: None,
            classes: None,
            budget: None,
            // `up_to` lowers this number to the number of cores.
            threads: usize::MAX,
        }
    }

    /// Creates a search for the `count` nearest pages, however far away they are.
    ///
    /// The search uses growing radii. So it costs as much as a search within the distance of the
    /// farthest page, plus some of the smaller radii: up to three times as much in all. Takes
    /// memory for a few times `count` pages.
    ///
    /// ```
    /// # use simkeep::{Observation, Options, Query, Store, Time};
    /// # fn main() -> simkeep::Result<()> {
    /// # let dir = tempfile::tempdir().unwrap();
    /// # let store = Store::create(dir.path().join("store"), Options::default())?;
    /// let epoch = store.change_epoch();
    /// for (url, fingerprint) in [("https://example.com/", 0xff), ("https://example.org/", 0xffff)] {
    ///     store.observe(Observation::content(url, Time::now(), fingerprint, epoch))?;
    /// }
    /// let found = store.snapshot().search(&Query::nearest(0x00, 1))?;
    /// assert_eq!((found.near[0].url.as_str(), found.near[0].distance), ("https://example.com/", 8));
    /// # Ok(())
    /// # }
    /// ```
    pub fn nearest(fingerprint: u64, count: usize) -> Query {
        // A limit below `usize::MAX` sets bounds, which let the search widen step by step.
        Query::new(fingerprint, DISTANCE_MAX).limit(count)
    }

    /// Sets the fingerprint to search for.
    ///
    /// ```
    /// # use simkeep::{Observation, Options, Query, Store, Time};
    /// # fn main() -> simkeep::Result<()> {
    /// # let dir = tempfile::tempdir().unwrap();
    /// # let store = Store::create(dir.path().join("store"), Options::default())?;
    /// let (url, epoch) = ("https://example.com/", store.change_epoch());
    /// store.observe(Observation::content(url, Time::now(), 0xff, epoch))?;
    /// // One query for several fingerprints.
    /// let query = Query::new(0, 3).limit(100);
    /// for (fingerprint, pages) in [(0xf0, 0), (0xfe, 1)] {
    ///     let found = store.snapshot().search(&query.clone().fingerprint(fingerprint))?;
    ///     assert_eq!(found.near.len(), pages);
    /// }
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn fingerprint(mut self, fingerprint: u64) -> Query {
        self.fingerprint = fingerprint;
        self
    }

    /// Sets the largest Hamming distance.
    ///
    /// ```
    /// # use simkeep::{Observation, Options, Query, Store, Time};
    /// # fn main() -> simkeep::Result<()> {
    /// # let dir = tempfile::tempdir().unwrap();
    /// # let store = Store::create(dir.path().join("store"), Options::default())?;
    /// let (url, epoch) = ("https://example.com/", store.change_epoch());
    /// store.observe(Observation::content(url, Time::now(), 0b1111, epoch))?;
    /// let query = Query::new(0b0000, 3);
    /// assert!(store.snapshot().search(&query)?.near.is_empty());
    /// assert_eq!(store.snapshot().search(&query.k(4))?.near[0].distance, 4);
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn k(mut self, k: u32) -> Query {
        self.k = k;
        self
    }

    /// Sets the epoch whose fingerprints are searched. Default: the [epoch of
    /// near-duplicates](crate::Snapshot::near_epoch).
    ///
    /// ```
    /// # use simkeep::{Observation, Options, Query, Role, Store, Time};
    /// # fn main() -> simkeep::Result<()> {
    /// # let dir = tempfile::tempdir().unwrap();
    /// # let store = Store::create(dir.path().join("store"), Options::default())?;
    /// let texts = store.change_epoch();
    /// store.observe(Observation::content("https://example.com/", Time::now(), 0x1234, texts))?;
    /// store.register_epoch("perceptual hash 1.2", Role::Near)?; // searched from now on
    /// let query = Query::new(0x1234, 3);
    /// assert!(store.snapshot().search(&query)?.near.is_empty());
    /// assert_eq!(store.snapshot().search(&query.epoch(texts))?.near.len(), 1);
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn epoch(mut self, epoch: Epoch) -> Query {
        self.epoch = Some(epoch);
        self
    }

    /// Sets the maximum number of pages to return.
    ///
    /// ```
    /// # use simkeep::{Observation, Options, Query, Store, Time};
    /// # fn main() -> simkeep::Result<()> {
    /// # let dir = tempfile::tempdir().unwrap();
    /// # let store = Store::create(dir.path().join("store"), Options::default())?;
    /// for page in 0..3 {
    ///     let url = format!("https://example.com/{page}");
    ///     store.observe(Observation::content(&url, Time::now(), 7, store.change_epoch()))?;
    /// }
    /// let found = store.snapshot().search(&Query::new(7, 3).limit(2))?;
    /// assert_eq!((found.near.len(), found.complete), (2, false)); // there are more
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn limit(mut self, limit: usize) -> Query {
        self.limit = limit;
        self
    }

    /// Limits the number of fingerprints to compare in a dense bucket. Default: 4,096.
    ///
    /// A template, or an attacker, can produce many thousand different fingerprints so close
    /// together that no table separates the near fingerprints from the others. A search within up
    /// to 12 bits may meet such a dense bucket in a segment or in memory. If comparing the whole
    /// bucket would cost several times as much as evenly spread fingerprints, the search cuts it
    /// short. The search then finds all fingerprints that differ in at most one bit, compares
    /// `fingerprints` of the others (and 16 for each page that it may return), and is not
    /// [complete](Matches::complete). A search for all pages (a [`limit`](Query::limit) of
    /// `usize::MAX`) and a search under a prefix compare the whole bucket.
    ///
    /// ```
    /// use simkeep::Query;
    /// // Finds more pages of a large template, in more time.
    /// let query = Query::new(0x0123_4567_89ab_cdef, 3).fingerprints(1 << 16);
    /// assert_eq!(query.fingerprints, 65_536);
    /// ```
    #[must_use]
    pub fn fingerprints(mut self, fingerprints: u32) -> Query {
        self.fingerprints = fingerprints;
        self
    }

    /// Sets which versions of a page are searched. Past versions cost reading a page's history for
    /// each hit.
    ///
    /// ```
    /// # use simkeep::{Observation, Options, Query, Store, Time, Versions};
    /// # fn main() -> simkeep::Result<()> {
    /// # let dir = tempfile::tempdir().unwrap();
    /// # let store = Store::create(dir.path().join("store"), Options::default())?;
    /// let (url, epoch) = ("https://example.com/", store.change_epoch());
    /// for (ms, fingerprint) in [(1_000, 0x00), (2_000, 0xff)] {
    ///     store.observe(Observation::content(url, Time::from_ms(ms)?, fingerprint, epoch))?;
    /// }
    /// let query = Query::new(0x00, 3);
    /// assert!(store.snapshot().search(&query)?.near.is_empty()); // the page has changed
    /// assert_eq!(store.snapshot().search(&query.versions(Versions::Ever))?.near.len(), 1);
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn versions(mut self, versions: Versions) -> Query {
        self.versions = versions;
        self
    }

    /// Searches only pages under a prefix, such as the pages of a host.
    ///
    /// ```
    /// use simkeep::{Prefix, Query};
    /// # fn main() -> simkeep::Result<()> {
    /// let query = Query::new(7, 3).under(Prefix::parse("example.com/docs")?);
    /// assert!(query.under.is_some());
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn under(mut self, prefix: impl Into<Option<Prefix>>) -> Query {
        self.under = prefix.into();
        self
    }

    /// Excludes a page, such as the page whose own fingerprint is searched for.
    ///
    /// ```
    /// # use simkeep::{Observation, Options, Query, Store, Time};
    /// # fn main() -> simkeep::Result<()> {
    /// # let dir = tempfile::tempdir().unwrap();
    /// # let store = Store::create(dir.path().join("store"), Options::default())?;
    /// let epoch = store.change_epoch();
    /// for url in ["https://example.com/", "https://example.org/copy"] {
    ///     store.observe(Observation::content(url, Time::now(), 7, epoch))?;
    /// }
    /// // Pages near a page, without the page itself.
    /// let found = store.snapshot().search(&Query::new(7, 3).exclude("https://example.com/"))?;
    /// assert_eq!((found.near.len(), found.near[0].url.as_str()), (1, "https://example.org/copy"));
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn exclude(mut self, url: impl Into<String>) -> Query {
        self.exclude = Some(url.into());
        self
    }

    /// Searches only pages that are in the given classes now, whichever versions are searched.
    /// Other pages are neither returned nor counted: the result equals the result in a store
    /// without them.
    ///
    /// Each near page is examined, and skipped if it has another class. Two side channels may hint
    /// at such pages: the time of a search, and whether the search ended early, so that its result
    /// is not [complete](Matches::complete). A search ends early if it had to skip too many pages,
    /// and it does not look up the classes of pages beyond its limit. The fingerprints and costs in
    /// [`Explanation::of`](crate::query::Explanation::of) include all pages, which the operator of
    /// the store may see; its hits are only pages of the given classes.
    ///
    /// ```
    /// # fn main() -> simkeep::Result<()> {
    /// # use simkeep::{Classes, Observation, Options, Query, Store, Time};
    /// # let dir = tempfile::tempdir().unwrap();
    /// # let store = Store::create(dir.path().join("store"), Options::default())?;
    /// let epoch = store.change_epoch();
    /// store.observe(Observation::content("https://a.example/", Time::from_ms(0)?, 0x1234, epoch).class(7))?;
    /// store.observe(Observation::content("https://b.example/", Time::from_ms(0)?, 0x1234, epoch))?;
    /// let named = |classes: Classes| -> simkeep::Result<Vec<String>> {
    ///     let found = store.snapshot().search(&Query::new(0x1234, 0).classes(classes))?;
    ///     Ok(found.near.into_iter().map(|near| near.url).collect())
    /// };
    /// assert_eq!(named(Classes::of([7]))?, ["https://a.example/"]);
    /// assert_eq!(named(Classes::of([]).and_unclassed())?, ["https://b.example/"]);
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn classes(mut self, classes: impl Into<Option<Classes>>) -> Query {
        self.classes = classes.into();
        self
    }

    /// Limits the time of the search. The search looks for equal fingerprints first, and then
    /// increases the radius as long as the next radius is expected to fit in the remaining time.
    /// Then it scans outward until the time is up. [`Matches::within`] is the distance up to which
    /// all pages were searched.
    ///
    /// ```
    /// # use simkeep::{Options, Query, Store};
    /// use std::time::Duration;
    /// # fn main() -> simkeep::Result<()> {
    /// # let dir = tempfile::tempdir().unwrap();
    /// # let store = Store::create(dir.path().join("store"), Options::default())?;
    /// let query = Query::nearest(0x0123_4567_89ab_cdef, 10).budget(Duration::from_millis(5));
    /// let found = store.snapshot().search(&query)?;
    /// if !found.complete {
    ///     println!("all pages up to {:?} bits away were searched", found.within);
    /// }
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn budget(mut self, time: Duration) -> Query {
        self.budget = Some(time);
        self
    }

    /// Limits the number of threads for many searches, or for work on all fingerprints. Default:
    /// the number of cores. A single search runs on the calling thread. A server that already runs
    /// one request per core sets 1.
    ///
    /// ```
    /// use simkeep::Query;
    /// use simkeep::query::FingerprintPairs;
    /// // A join that leaves the other cores to the crawler.
    /// let query = Query::new(0, 3).threads(1);
    /// let pairs = FingerprintPairs::selected_by(&query);
    /// # assert_eq!(query.threads, 1);
    /// ```
    #[must_use]
    pub fn threads(mut self, threads: usize) -> Query {
        self.threads = threads;
        self
    }
}

/// The result of a search.
///
/// ```
/// # use simkeep::{Observation, Options, Query, Store, Time};
/// # fn main() -> simkeep::Result<()> {
/// # let dir = tempfile::tempdir().unwrap();
/// # let store = Store::create(dir.path().join("store"), Options::default())?;
/// let epoch = store.change_epoch();
/// for url in ["https://example.com/", "https://example.org/"] {
///     store.observe(Observation::content(url, Time::now(), 7, epoch))?;
/// }
/// let found = store.snapshot().search(&Query::new(7, 3).limit(1))?;
/// assert_eq!((found.near.len(), found.complete), (1, false));
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Matches {
    /// The pages, the nearest first, then in SURT order. If past versions are searched, a page is
    /// listed once for each of its fingerprints.
    pub near: Vec<NearMatch>,
    /// Whether `near` has all pages. If not, the result was cut short by the budget, the limit, the
    /// number of pages that a search examines (256 and twice the limit), or a dense bucket whose
    /// fingerprints were not all compared ([`Query::fingerprints`]). If the number of examined
    /// pages was reached, it is undetermined which pages at the last distance are returned. If in
    /// addition hundreds of pages once had a fingerprint, a page that still has it may be missing.
    /// After a dense bucket, any page that differs in two bits or more may be missing. A higher
    /// limit examines more pages.
    pub complete: bool,
    /// The distance up to which `near` has every page: the distance of the query if the result is
    /// complete. The distance is less if the budget ran out, the limit was reached, not all pages
    /// of a fingerprint were examined, or a dense bucket was cut short. Beyond this distance, the
    /// result has only some pages. `None` if pages with an equal fingerprint may be missing, too.
    pub within: Option<u32>,
}
