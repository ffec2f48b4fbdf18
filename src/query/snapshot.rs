//! The queries that a snapshot answers itself. All others are values that run against one.

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
    /// Pages whose version in force is within distance `k`, in the epoch that near-duplicates are
    /// [sought by](Snapshot::near_epoch), at most 16: the simplest [`search`](Snapshot::search), at the
    /// same cost.
    ///
    /// # Errors
    ///
    /// [`Error::Corrupt`](crate::Error::Corrupt) if what it touches is damaged.
    pub fn near(&self, fingerprint: u64, k: u32) -> Result<Matches> {
        self.search(&Query::new(fingerprint, k))
    }

    /// Pages near a fingerprint: nearest first, then in SURT order; exact for every `k`.
    ///
    /// Usually takes some microseconds; [`Explanation`](crate::query::Explanation) shows the cost.
    /// Looking up the first near page adds up to a microsecond, each further page 0.3. Takes no lock
    /// that a writer holds while it waits for the disk.
    ///
    /// # Errors
    ///
    /// [`Error::Corrupt`](crate::Error::Corrupt) if what it touches is damaged.
    pub fn search(&self, query: &Query) -> Result<Matches> {
        let matches = self.poison_on_bug(|| search::search(self, query))?;
        self.view().metrics.searched(matches.complete);
        Ok(matches)
    }

    /// The pages of a [range](crate::query::PageRange), or all with `None`, in SURT order, in which all
    /// pages of a host are neighbours.
    ///
    /// Reads lazily and mostly sequentially, some microseconds per page. Takes memory for one block
    /// of each segment.
    ///
    /// # Errors
    ///
    /// An item is [`Error::Corrupt`] if what it touches is damaged; then the iterator ends.
    pub fn scan<'a>(&self, range: impl Into<PageRange<'a>>) -> Scan {
        Scan::new(self, range)
    }

    /// Every entry of the pages of a [range](crate::query::PageRange): pages in SURT order, their
    /// entries in order of time. [`Store::load`](crate::Store::load) accepts these.
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

    /// How this store differs from what it was before, or from any other: the pages under a prefix, or
    /// all, whose version in force is not the same. Epochs are the same if their names are.
    ///
    /// A page is compared as if what is in force here were observed there next. So a page that changed
    /// and went back does not differ; one that only this has is new, and one that only the other has is
    /// gone. Reads both stores once, with one page of each in memory.
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
    /// Of the items: those of [`scan`](Snapshot::scan).
    pub fn diff(&self, before: &Snapshot, under: Option<&Prefix>) -> Result<Diff> {
        Diff::new(before, self, under)
    }

    /// The pages that have had content, with their histories, to be crawled again by
    /// [`crawl`](crate::recrawl::simulate::crawl); under a prefix, if one is given. Of more than
    /// `pages_max` those are chosen whose URLs have the least hashes.
    ///
    /// A return to an earlier version counts for `return_share` of a change: in a store that is
    /// [`Changes::RETURN_SHARE`](crate::Changes::RETURN_SHARE).
    ///
    /// Takes the time of a [`scan`](Snapshot::scan) with all visits, and some 100 bytes of memory for
    /// each visit of a page that is chosen.
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
    /// [`Error::Corrupt`] if what it touches is damaged, and [`Error::InvalidOption`] if the share is
    /// not from 0 to 1.
    pub fn replay(
        &self,
        prefix: Option<&Prefix>,
        pages_max: usize,
        return_share: f64,
    ) -> Result<Replay> {
        Replay::new(self, prefix, pages_max, return_share)
    }
}
