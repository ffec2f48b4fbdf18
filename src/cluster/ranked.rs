//! The selected pages with ranks that are comparable across stores.

use std::fmt;

use super::clustering::Clustering;
use crate::engine::snapshot::Snapshot;
#[cfg(doc)]
use crate::error::Error;
use crate::error::Result;
use crate::query::in_force::InForceScan;

/// The separator between the key of a page and its URL: less than any byte of a key.
const BEFORE_URL: u8 = 0;

/// A selected page, with its rank.
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

/// An iterator over the selected pages, in SURT order, from [`RankedPages::of`]. The iterator ends
/// after an error.
pub struct RankedPages {
    snapshot: Snapshot,
    asked: Clustering,
    pages: InForceScan,
}

impl RankedPages {
    /// Iterates over the pages that [`Clustering::run`] would select, each with its rank. Use it to
    /// cluster the pages of several stores together. The distance in `asked` is ignored.
    ///
    /// Costs as much as a [`scan`](Snapshot::scan).
    ///
    /// ```
    /// use simkeep::cluster::RankedPages;
    /// use simkeep::cluster::Clustering;
    /// use simkeep::{Observation, Options, Store, Time};
    ///
    /// # fn main() -> simkeep::Result<()> {
    /// # let dir = tempfile::tempdir().unwrap();
    /// # let store = Store::create(dir.path().join("store"), Options::default())?;
    /// for (url, time) in [("https://example.com/a", 2), ("https://example.com/b", 1)] {
    ///     store.observe(Observation::content(url, Time::from_ms(time)?, 0xff, store.change_epoch()))?;
    /// }
    /// let pages = RankedPages::of(&store.snapshot(), &Clustering::within(3))?;
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
    /// [`Error::EndedEpoch`] or [`Error::UnknownEpoch`] for an ended or unknown epoch; an item is
    /// [`Error::Corrupt`] if its data is damaged.
    pub fn of(snapshot: &Snapshot, asked: &Clustering) -> Result<RankedPages> {
        let pages = snapshot.poison_on_bug(|| Ok(asked.filter(snapshot)?.pages(snapshot)))?;
        Ok(RankedPages { snapshot: snapshot.clone(), asked: asked.clone(), pages })
    }
}

impl Iterator for RankedPages {
    type Item = Result<RankedPage>;

    fn next(&mut self) -> Option<Self::Item> {
        let RankedPages { snapshot, asked, pages } = self;
        let taken = pages.next_of(|| Ok(()))?;
        Some(snapshot.poison_on_bug(|| {
            let taken = taken?;
            let rank = asked.rank(&taken);
            // The rank is big-endian and of fixed length, so bytes compare as ranks do.
            let mut bytes = rank.to_bytes().to_vec();
            bytes.extend_from_slice(pages.key());
            // Ends the key, so that a key that is a prefix of another key sorts first, whatever its
            // URL.
            bytes.push(BEFORE_URL);
            bytes.extend_from_slice(taken.url.as_bytes());
            let (fingerprint, class) = (taken.fingerprint, taken.class);
            Ok(RankedPage { url: taken.url, fingerprint, class, rank: bytes })
        }))
    }
}

impl fmt::Debug for RankedPages {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RankedPages").field("asked", &self.asked).finish_non_exhaustive()
    }
}
