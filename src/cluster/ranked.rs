//! The selected pages with ranks that are comparable across stores.

use std::fmt;

use super::clustering::Clustering;
use super::declared::DeclaredPages;
use crate::bug::OrBug;
use crate::engine::snapshot::Snapshot;
#[cfg(doc)]
use crate::error::Error;
use crate::error::Result;
use crate::progress::Progress;
use crate::query::in_force::InForceScan;

/// The separator between the key of a page and its URL: less than any byte of a key.
const BEFORE_URL: u8 = 0;

/// A selected page with a fingerprint, with its rank.
///
/// ```
/// # use simkeep::{Observation, Options, Progress, Store, Time};
/// use simkeep::cluster::{Clustering, RankedPages};
/// # fn main() -> simkeep::Result<()> {
/// # let dir = tempfile::tempdir().unwrap();
/// # let store = Store::create(dir.path().join("store"), Options::default())?;
/// # let epoch = store.change_epoch();
/// # let pages = [(1, "terms", 0b0), (2, "terms?print=1", 0b1), (3, "about", !0)];
/// # for (ms, path, fingerprint) in pages {
/// #     let url = format!("https://example.com/{path}");
/// #     store.observe(Observation::content(&url, Time::from_ms(ms)?, fingerprint, epoch))?;
/// # }
/// // `/terms`, `/terms?print=1` and `/about` were seen in this order.
/// let pages = RankedPages::of(&store.snapshot(), &Clustering::within(3), &Progress::default())?;
/// let pages = pages.collect::<simkeep::Result<Vec<_>>>()?;
/// let first = pages.iter().min_by_key(|page| &page.rank).unwrap();
/// assert_eq!((first.url.as_str(), first.fingerprint), ("https://example.com/terms", 0));
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct RankedPage {
    /// The page.
    pub url: String,
    /// The fingerprint of the page, with reserved bits set to 0.
    pub fingerprint: u64,
    /// The current class of the page; `None` if it has no class.
    pub class: Option<u32>,
    /// The rank as bytes: lesser bytes rank first, across stores. The bytes contain the input of
    /// the rules, then the SURT key, then the URL.
    pub rank: Vec<u8>,
}

/// An iterator over the selected pages with a fingerprint, in SURT order, from [`RankedPages::of`].
/// The iterator ends after an error.
///
/// ```
/// # use simkeep::{Observation, Options, Progress, Store, Time};
/// use simkeep::cluster::{Clustering, RankedPages};
/// # fn main() -> simkeep::Result<()> {
/// # let dir = tempfile::tempdir().unwrap();
/// # let store = Store::create(dir.path().join("store"), Options::default())?;
/// # let epoch = store.change_epoch();
/// # let pages = [(1, "terms", 0b0), (2, "terms?print=1", 0b1), (3, "about", !0)];
/// # for (ms, path, fingerprint) in pages {
/// #     let url = format!("https://example.com/{path}");
/// #     store.observe(Observation::content(&url, Time::from_ms(ms)?, fingerprint, epoch))?;
/// # }
/// // In SURT order. Sort the pages of all stores by rank, and then cluster them.
/// for page in RankedPages::of(&store.snapshot(), &Clustering::within(3), &Progress::default())? {
///     let page = page?;
///     println!("{} {:016x} {:02x?}", page.url, page.fingerprint, page.rank);
/// }
/// # let pages = RankedPages::of(&store.snapshot(), &Clustering::within(3), &Progress::default())?;
/// # assert_eq!(pages.count(), 3);
/// # Ok(())
/// # }
/// ```
pub struct RankedPages {
    snapshot: Snapshot,
    asked: Clustering,
    pages: InForceScan,
    declared: DeclaredPages,
    progress: Progress,
}

impl RankedPages {
    /// Iterates over the pages with a fingerprint that [`Clustering::run`] would select, each with its
    /// rank. Use it to cluster the pages of several stores together. Equal contents without a
    /// fingerprint are found by their digests. The distance in `asked` is ignored.
    ///
    /// Costs as much as a [`scan`](Snapshot::scan), and twice as much for the rule
    /// [`Canonical`](super::RankingRule::Canonical), with a lookup for each page that declares
    /// another page: this call then reads all pages itself. Declarations of pages in other stores are
    /// unknown. Cancelling `progress` ends the call and the iterator.
    ///
    /// ```
    /// use simkeep::cluster::RankedPages;
    /// use simkeep::cluster::Clustering;
    /// use simkeep::{Observation, Options, Progress, Store, Time};
    ///
    /// # fn main() -> simkeep::Result<()> {
    /// # let dir = tempfile::tempdir().unwrap();
    /// # let store = Store::create(dir.path().join("store"), Options::default())?;
    /// for (url, time) in [("https://example.com/a", 2), ("https://example.com/b", 1)] {
    ///     store.observe(Observation::content(url, Time::from_ms(time)?, 0xff, store.change_epoch()))?;
    /// }
    /// let pages = RankedPages::of(&store.snapshot(), &Clustering::within(3), &Progress::default())?;
    /// let mut pages = pages.collect::<simkeep::Result<Vec<_>>>()?;
    /// // The page that was seen first ranks first.
    /// pages.sort_by(|one, other| one.rank.cmp(&other.rank));
    /// assert_eq!(pages[0].url, "https://example.com/b");
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::EndedEpoch`] or [`Error::UnknownEpoch`] for an ended or unknown epoch;
    /// [`Error::Cancelled`] if `progress` was cancelled; an item is [`Error::Cancelled`], or
    /// [`Error::Corrupt`] if its data is damaged.
    pub fn of(snapshot: &Snapshot, asked: &Clustering, progress: &Progress) -> Result<RankedPages> {
        let (pages, declared) = snapshot.poison_on_bug(|| {
            let (filter, work) = (asked.filter(snapshot)?, asked.workspace());
            let of = (snapshot, asked, &filter);
            let declared = DeclaredPages::of(of, &work, progress);
            Ok((filter.pages(snapshot), declared.map_err(|e| work.named(e))?))
        })?;
        let (snapshot, asked, progress) = (snapshot.clone(), asked.clone(), progress.clone());
        Ok(RankedPages { snapshot, asked, pages, declared, progress })
    }
}

impl Iterator for RankedPages {
    type Item = Result<RankedPage>;

    fn next(&mut self) -> Option<Self::Item> {
        let RankedPages { snapshot, asked, pages, declared, progress } = self;
        let taken = pages.next_of(|| progress.check())?;
        Some(snapshot.poison_on_bug(|| {
            let taken = taken?;
            let rank = asked.rank(&taken, declared.has(taken.location.to_bits())?);
            // The rank is big-endian and of fixed length, so bytes compare as ranks do.
            let mut bytes = rank.to_bytes().to_vec();
            bytes.extend_from_slice(pages.key());
            // Ends the key, so that a key that is a prefix of another key sorts first, whatever its
            // URL.
            bytes.push(BEFORE_URL);
            bytes.extend_from_slice(taken.url.as_bytes());
            let fingerprint = taken.fingerprint.or_bug("a selected page has a fingerprint")?;
            let class = taken.class;
            Ok(RankedPage { url: taken.url, fingerprint, class, rank: bytes })
        }))
    }
}

impl fmt::Debug for RankedPages {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RankedPages").field("asked", &self.asked).finish_non_exhaustive()
    }
}
