//! The queries that are methods of a snapshot. All other queries are values that run against a
//! snapshot.

use super::diff::Diff;
use super::observations::Observations;
use super::page_range::PageRange;
use super::replay::Replay;
use super::scan::Scan;
use crate::engine::search;
use crate::engine::search::query::{Matches, Query};
use crate::engine::snapshot::Snapshot;
#[cfg(doc)]
use crate::error::Error;
use crate::error::Result;
use crate::page::Prefix;

impl Snapshot {
    /// Finds the pages whose current version is within distance `k`, at most 16 pages, in the
    /// [epoch of near-duplicates](Snapshot::near_epoch). Equivalent to a simple
    /// [`search`](Snapshot::search), at the same cost.
    ///
    /// ```
    /// # use simkeep::{Observation, Options, Store, Time};
    /// # fn main() -> simkeep::Result<()> {
    /// # let dir = tempfile::tempdir().unwrap();
    /// # let store = Store::create(dir.path().join("store"), Options::default())?;
    /// let url = "https://example.com/";
    /// store.observe(Observation::content(url, Time::now(), 0b0111, store.change_epoch()))?;
    /// let found = store.snapshot().near(0b0110, 3)?;
    /// assert_eq!((found.near[0].url.as_str(), found.near[0].distance), (url, 1));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::Corrupt`](crate::Error::Corrupt) if the search reads damaged data.
    pub fn near(&self, fingerprint: u64, k: u32) -> Result<Matches> {
        self.search(&Query::new(fingerprint, k))
    }

    /// Finds the pages near a fingerprint: the nearest pages first, pages with equal distances in
    /// SURT order. Exact for every `k`.
    ///
    /// Usually takes some microseconds; [`Explanation`](crate::query::Explanation) shows the cost.
    /// Looking up the first near page adds up to a microsecond, and each further page adds 0.3
    /// microseconds. Takes no lock that a writer holds while it waits for the disk.
    ///
    /// ```
    /// # use simkeep::{Observation, Options, Prefix, Query, Store, Time};
    /// # fn main() -> simkeep::Result<()> {
    /// # let dir = tempfile::tempdir().unwrap();
    /// # let store = Store::create(dir.path().join("store"), Options::default())?;
    /// let epoch = store.change_epoch();
    /// for url in ["https://example.com/a", "https://example.org/b"] {
    ///     store.observe(Observation::content(url, Time::now(), 7, epoch))?;
    /// }
    /// let query = Query::new(7, 3).under(Prefix::parse("example.org")?);
    /// let found = store.snapshot().search(&query)?;
    /// assert_eq!((found.near.len(), found.near[0].url.as_str()), (1, "https://example.org/b"));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::Corrupt`](crate::Error::Corrupt) if the search reads damaged data.
    pub fn search(&self, query: &Query) -> Result<Matches> {
        let matches = self.poison_on_bug(|| search::search(self, query))?;
        self.view().metrics.searched(matches.complete);
        Ok(matches)
    }

    /// Iterates over the pages of a [range](crate::query::PageRange), or over all pages with
    /// `None`, in SURT order. All pages of a host are neighbours.
    ///
    /// Reads lazily and mostly sequentially, some microseconds per page. Takes memory for one block
    /// of each segment.
    ///
    /// ```
    /// # use simkeep::{Observation, Options, Prefix, Store, Time};
    /// # fn main() -> simkeep::Result<()> {
    /// # let dir = tempfile::tempdir().unwrap();
    /// # let store = Store::create(dir.path().join("store"), Options::default())?;
    /// for url in ["https://example.com/b", "https://example.com/a", "https://example.org/"] {
    ///     store.observe(Observation::gone(url, Time::now()))?;
    /// }
    /// let prefix = Prefix::parse("example.com")?;
    /// let urls = store.snapshot().scan(Some(&prefix)).map(|page| Ok(page?.url));
    /// let urls: Vec<String> = urls.collect::<simkeep::Result<_>>()?;
    /// assert_eq!(urls, ["https://example.com/a", "https://example.com/b"]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// An item is [`Error::Corrupt`] if the data of its page is damaged. The iterator ends after
    /// this item.
    pub fn scan<'a>(&self, range: impl Into<PageRange<'a>>) -> Scan {
        Scan::new(self, range)
    }

    /// Iterates over all entries of the pages of a [range](crate::query::PageRange). The pages are
    /// in SURT order, and the entries of a page are in order of time.
    /// [`Store::load`](crate::Store::load) accepts these entries.
    ///
    /// Reads lazily and mostly sequentially. Takes the memory of a [`scan`](Snapshot::scan) and of
    /// the entries of one page.
    ///
    /// ```
    /// # fn main() -> simkeep::Result<()> {
    /// # use simkeep::{Observation, Options, Store, Time};
    /// # let dir = tempfile::tempdir().unwrap();
    /// # let store = Store::create(dir.path().join("store"), Options::default())?;
    /// store.observe(Observation::failed("https://example.com/", Time::now()))?;
    /// for observation in store.snapshot().observations(None) {
    ///     let (url, entry) = observation?;
    ///     println!("{} {url} {:?}", entry.time(), entry.content());
    /// }
    /// # Ok(())
    /// # }
    /// ```
    pub fn observations<'a>(&self, range: impl Into<PageRange<'a>>) -> Observations {
        Observations::of(self.scan(range))
    }

    /// Compares this store with an earlier state of it, or with any other store. Iterates over the
    /// pages whose current version differs: pages under a prefix, or all pages. Epochs are equal
    /// if their names are equal.
    ///
    /// The verdict on a page is the verdict that the store of `before` would return for an
    /// observation of the current version in this store. So a page that changed and then returned
    /// does not differ. A page that only this store has is new; a page that only the store of
    /// `before` has is gone. Reads both stores once, with one page of each store in memory.
    ///
    /// ```
    /// use simkeep::{Observation, Options, Store, Time, Verdict};
    ///
    /// # fn main() -> simkeep::Result<()> {
    /// # let dir = tempfile::tempdir().unwrap();
    /// let store = Store::create(dir.path().join("crawl.simkeep"), Options::default())?;
    /// let epoch = store.change_epoch();
    /// store.observe(Observation::content("https://example.com/", Time::from_ms(1_000)?, 0x0f, epoch))?;
    /// let before = store.snapshot();
    /// store.observe(Observation::content("https://example.com/", Time::from_ms(2_000)?, 0xff, epoch))?;
    /// store.observe(Observation::content("https://example.org/", Time::from_ms(2_000)?, 7, epoch))?;
    /// let diff = store.snapshot().diff(&before, None)?;
    /// let found = diff.collect::<simkeep::Result<Vec<_>>>()?;
    /// assert_eq!((found[0].url.as_str(), found[0].priority), ("https://example.com/", 4.0 / 32.0));
    /// assert_eq!(found[1].verdict, Verdict::New);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// The errors of the items are the errors of [`scan`](Snapshot::scan).
    pub fn diff(&self, before: &Snapshot, under: Option<&Prefix>) -> Result<Diff> {
        Diff::new(before, self, under)
    }

    /// Selects pages that have had content, with their histories, for a simulated
    /// [`crawl`](crate::recrawl::simulate::crawl). With a prefix, selects only pages under the
    /// prefix. If there are more than `pages_max` such pages, selects the pages whose URLs have the
    /// smallest hashes.
    ///
    /// A return to an earlier version counts for `return_share` of a change. A store uses
    /// [`Changes::RETURN_SHARE`](crate::Changes::RETURN_SHARE).
    ///
    /// Takes the time of a [`scan`](Snapshot::scan) with all visits, and about 100 bytes of memory
    /// for each visit of a selected page.
    ///
    /// ```
    /// use simkeep::recrawl::Policy;
    /// use simkeep::recrawl::simulate::{Budget, Decider, Span, crawl};
    /// use simkeep::{Changes, Observation, Options, Store, Time};
    /// use std::time::Duration;
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let dir = tempfile::tempdir()?;
    /// let store = Store::create(dir.path().join("store"), Options::default())?;
    /// let (start, epoch) = (Time::from_ms(1_700_000_000_000)?, store.change_epoch());
    /// for day in 0..100 {
    ///     let time = start + day * Duration::from_secs(86_400);
    ///     store.observe(Observation::content("https://example.com/", time, 7, epoch))?;
    ///     let often = 0xff << (day / 10);
    ///     store.observe(Observation::content("https://example.com/news", time, often, epoch))?;
    /// }
    /// let replay = store.snapshot().replay(None, 1_000, Changes::RETURN_SHARE)?;
    /// let (budget, span) = (Budget::every(10.0)?, Span::new(1.0, 30.0, 99.0)?);
    /// let figures = crawl(&replay.pages, budget, span, Decider::policy(Policy::VALUE), &mut || {})?;
    /// assert!(figures.freshness > 0.5);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::Corrupt`] if the scan reads damaged data, and [`Error::InvalidOption`] if the share
    /// is not from 0 to 1.
    pub fn replay(
        &self,
        prefix: Option<&Prefix>,
        pages_max: usize,
        return_share: f64,
    ) -> Result<Replay> {
        Replay::new(self, prefix, pages_max, return_share)
    }
}
