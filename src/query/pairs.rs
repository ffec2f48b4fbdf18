//! Pairs of fingerprints and of pages: which are asked for, and what is told of one.

use std::ops::ControlFlow;
use std::sync::Arc;

use crate::engine::search::query::Query;
use crate::engine::snapshot::Snapshot;
#[cfg(doc)]
use crate::error::Error;
use crate::error::Result;
use crate::page::{Classes, Epoch, Prefix};
use crate::progress::Progress;

impl Snapshot {
    /// Finds all pairs of different fingerprints of pages within distance [`k`](Query::k) of each
    /// other. It takes the epoch, versions, prefix, classes (for both pages), the page that is [left
    /// out](Query::except) and the number of threads from `like`, and ignores its fingerprint, limit and
    /// budget. A pair with a fingerprint that only the page left out has is not found. Each pair comes
    /// once, in no particular order. [`page_pairs`](Snapshot::page_pairs) names their pages, and finds
    /// pages with equal ones.
    ///
    /// This is a join, not a search for each fingerprint: it sorts all fingerprints by parts of
    /// their bits, in 256 MiB of memory and on all cores. `sink` is called from several threads
    /// with up to 1,024 pairs at a time, as they are found; if it breaks, the join ends there.
    /// Costs some 0.1 microseconds per fingerprint. Unless everything is in one
    /// segment, it also looks at pages for each pair, until it finds one that still has the
    /// fingerprint; once for each fingerprint of the pairs that it passes on together.
    ///
    /// ```
    /// use std::ops::ControlFlow;
    /// use std::sync::atomic::{AtomicU64, Ordering};
    ///
    /// use simkeep::{Progress, Query, Snapshot};
    ///
    /// fn near_pairs(snapshot: &Snapshot) -> simkeep::Result<u64> {
    ///     let count = AtomicU64::new(0);
    ///     snapshot.all_pairs(&Query::new(0, 3), &Progress::default(), |pairs| {
    ///         count.fetch_add(pairs.len() as u64, Ordering::Relaxed);
    ///         ControlFlow::Continue(())
    ///     })?;
    ///     Ok(count.into_inner())
    /// }
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::Corrupt`] if what it touches is damaged, [`Error::Cancelled`] if `progress` was,
    /// [`Error::Limit`] for 2^32 fingerprints or more. Pairs passed on before the error are right, but
    /// not all.
    pub fn all_pairs(
        &self,
        like: &Query,
        progress: &Progress,
        sink: impl Fn(&[NearPair]) -> ControlFlow<()> + Sync,
    ) -> Result<()> {
        self.poison_on_bug(|| super::fingerprint_pairs::all_pairs(self, like, progress, sink))
    }

    /// Finds all pairs of one of some fingerprints and a different one of a page within distance
    /// [`k`](Query::k) of it, whether a page has the given one or not: what is new among all that is
    /// there. It takes the epoch, versions, prefix, classes, the page that is [left out](Query::except)
    /// and the number of threads from `like`, and ignores its fingerprint, limit and budget. A pair with
    /// a fingerprint that only the page left out has is not found. Each pair comes once for each of the
    /// given that is in it, in no particular order.
    ///
    /// Costs a search for each, on all cores, and some nanoseconds for each fingerprint that is found;
    /// in several segments, looking each up in the others, and a page of each. So few are better
    /// sought, and what is as many as there are is better joined by
    /// [`all_pairs`](Snapshot::all_pairs). Takes memory for what is found near 256 of them for each
    /// core. `sink` is called from several threads; if
    /// it breaks, that is the end.
    ///
    /// ```
    /// use std::ops::ControlFlow;
    /// use std::sync::Mutex;
    ///
    /// use simkeep::{Observation, Options, Progress, Query, Store, Time};
    ///
    /// # fn main() -> simkeep::Result<()> {
    /// # let dir = tempfile::tempdir().unwrap();
    /// # let store = Store::create(dir.path().join("store"), Options::default())?;
    /// store.observe(Observation::content("https://example.com/", Time::now(), 0b1110, store.change_epoch()))?;
    /// let found = Mutex::new(Vec::new());
    /// store.snapshot().pairs_with(&[0b1000], &Query::new(0, 3), &Progress::default(), |pairs| {
    ///     found.lock().unwrap().extend_from_slice(pairs);
    ///     ControlFlow::Continue(())
    /// })?;
    /// let [pair] = found.into_inner().unwrap()[..] else { panic!() };
    /// assert_eq!((pair.left, pair.right, pair.distance), (0b1000, 0b1110, 2));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::Corrupt`] if what it touches is damaged, [`Error::Cancelled`] if `progress` was,
    /// [`Error::Limit`] if there are 2^32 fingerprints or more. Pairs passed on before the error are
    /// right, but not all.
    pub fn pairs_with(
        &self,
        fingerprints: &[u64],
        like: &Query,
        progress: &Progress,
        sink: impl Fn(&[NearPair]) -> ControlFlow<()> + Sync,
    ) -> Result<()> {
        self.poison_on_bug(|| {
            super::pairs_with::pairs_with(self, fingerprints, like, progress, sink)
        })
    }

    /// Finds pairs of pages with fingerprints that are near each other, or equal, of the versions in
    /// force. Each pair comes once, in no particular order. How many pages of one fingerprint are
    /// paired, [`PairQuery`] says: by default the first one, so that the list is no longer than the
    /// pages and the [pairs of fingerprints](Snapshot::all_pairs).
    ///
    /// Costs the join of [`all_pairs`](Snapshot::all_pairs), at its memory, and up to a microsecond for
    /// each page that it names. Pages with equal fingerprints cost reading all fingerprints once more;
    /// in several segments, looking each up in the others. Memory does not grow with the number of
    /// pages or pairs. `sink` is called from several threads with up to 1,024 pairs at a time, as they
    /// are found; if it breaks, that is the end.
    ///
    /// ```
    /// use std::ops::ControlFlow;
    ///
    /// use simkeep::{Observation, Options, PairQuery, Progress, Store, Time};
    ///
    /// # fn main() -> simkeep::Result<()> {
    /// # let dir = tempfile::tempdir().unwrap();
    /// # let store = Store::create(dir.path().join("store"), Options::default())?;
    /// let epoch = store.change_epoch();
    /// store.observe(Observation::content("https://example.com/a", Time::from_ms(1)?, 0b1111, epoch))?;
    /// store.observe(Observation::content("https://example.com/b", Time::from_ms(1)?, 0b1111, epoch))?;
    /// let found = std::sync::Mutex::new(Vec::new());
    /// store.snapshot().page_pairs(&PairQuery::within(0).equal(true), &Progress::default(), |pairs| {
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
    /// As [`all_pairs`](Snapshot::all_pairs).
    pub fn page_pairs(
        &self,
        asked: &PairQuery,
        progress: &Progress,
        sink: impl Fn(&[PagePair]) -> ControlFlow<()> + Sync,
    ) -> Result<()> {
        self.poison_on_bug(|| super::page_pairs::page_pairs(self, asked, progress, sink))
    }
}

/// Two different fingerprints of pages that are near each other; from
/// [`Snapshot::all_pairs`](crate::Snapshot::all_pairs).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NearPair {
    /// The smaller one.
    pub left: u64,
    /// The larger one.
    pub right: u64,
    /// In how many bits they differ: 1 to 64.
    pub distance: u32,
}

/// Which pairs of pages to find; for [`Snapshot::page_pairs`](crate::Snapshot::page_pairs).
///
/// A fingerprint that a million pages have, such as that of an error page, makes half a trillion pairs.
/// So by default each fingerprint stands for its pages by the first in SURT
/// order: two different fingerprints are one pair, and each further page is paired with the first one.
/// That is a list as long as the pages and the pairs of fingerprints, and nothing is lost in it: the
/// distance of any two pages is that of their fingerprints. [`each`](PairQuery::each) asks for more.
///
/// ```
/// use simkeep::{PairQuery, Prefix};
///
/// let copies = PairQuery::within(0).equal(true).under(Prefix::parse("example.org")?);
/// let all = PairQuery::within(3).equal(true).each(usize::MAX);
/// assert_eq!((copies.each, all.k), (1, 3));
/// # Ok::<(), simkeep::PrefixError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct PairQuery {
    /// Largest Hamming distance, 0 to 64.
    pub k: u32,
    /// The epoch of the fingerprints; `None` for the one that near-duplicates are
    /// [sought by](crate::Snapshot::near_epoch).
    pub epoch: Option<Epoch>,
    /// Only pages under this prefix.
    pub under: Option<Prefix>,
    /// Only pages of these classes; see [`PairQuery::classes`].
    pub classes: Option<Classes>,
    /// Whether pages with equal fingerprints are paired, too.
    pub equal: bool,
    /// How many pages of each fingerprint are paired with others; see [`PairQuery::each`].
    pub each: usize,
}

impl PairQuery {
    /// Pairs of pages with different fingerprints within a distance of each other, in the epoch that
    /// near-duplicates are [sought by](crate::Snapshot::near_epoch), and of each fingerprint the first
    /// page only.
    #[must_use]
    pub fn within(k: u32) -> PairQuery {
        PairQuery { k, epoch: None, under: None, classes: None, equal: false, each: 1 }
    }

    /// Pairs fingerprints of this epoch.
    #[must_use]
    pub fn epoch(mut self, epoch: Epoch) -> PairQuery {
        self.epoch = Some(epoch);
        self
    }

    /// Pairs only pages under a prefix, such as those of a host.
    #[must_use]
    pub fn under(mut self, prefix: impl Into<Option<Prefix>>) -> PairQuery {
        self.under = prefix.into();
        self
    }

    /// Pairs only pages that are of these classes now: the pairs are those of a store without the
    /// others, as of a [`Query`](Query::classes).
    #[must_use]
    pub fn classes(mut self, classes: impl Into<Option<Classes>>) -> PairQuery {
        self.classes = classes.into();
        self
    }

    /// Whether pages with equal fingerprints are paired with each other, too. Default: they are not.
    #[must_use]
    pub fn equal(mut self, equal: bool) -> PairQuery {
        self.equal = equal;
        self
    }

    /// Sets how many pages of each fingerprint are paired with others, the first in SURT order; one at
    /// least. Default: 1. Of those with equal fingerprints, each pair of which one page is among so many
    /// is found; of those with different ones, each pair of which both are. `usize::MAX` is for all
    /// pairs, however many those are: they grow with the square of the pages that a fingerprint has.
    #[must_use]
    pub fn each(mut self, pages: usize) -> PairQuery {
        self.each = pages.max(1);
        self
    }
}

/// Two pages with fingerprints that are equal or near each other; from
/// [`Snapshot::page_pairs`](crate::Snapshot::page_pairs).
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub struct PagePair {
    /// The page with the smaller fingerprint; of two with the same, the first in SURT order.
    pub left: PairedPage,
    /// The other one.
    pub right: PairedPage,
    /// In how many bits their fingerprints differ.
    pub distance: u32,
}

/// One page of a pair.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub struct PairedPage {
    /// The page.
    pub url: Arc<str>,
    /// Its fingerprint, with reserved bits set to 0.
    pub fingerprint: u64,
}
