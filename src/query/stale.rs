//! Stale pages, which have no fingerprint of an epoch.

use super::page_range::PageRange;
use super::scan::Scan;
use crate::engine::epochs::check_live;
use crate::engine::snapshot::Snapshot;
#[cfg(doc)]
use crate::error::Error;
use crate::error::Result;
use crate::page::{Content, Epoch};
use crate::time::Time;

/// A page whose current version has a fingerprint, but no fingerprint of the requested epoch.
///
/// ```
/// # use simkeep::{Observation, Options, Role, Store, Time};
/// use simkeep::query::StalePages;
/// # fn main() -> simkeep::Result<()> {
/// # let dir = tempfile::tempdir().unwrap();
/// # let store = Store::create(dir.path().join("store"), Options::default())?;
/// store.observe(Observation::content("https://example.com/", Time::now(), 7, store.change_epoch()))?;
/// let epoch = store.register_epoch("my own hashes", Role::Both)?;
/// for page in StalePages::of(&store.snapshot(), epoch, None) {
///     assert_eq!(page?.url, "https://example.com/");
/// }
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct StalePage {
    /// The URL of the page.
    pub url: String,
    /// The time when the current version was last seen, in milliseconds since 1970. A restatement
    /// needs this time.
    pub time: Time,
    /// The current version, with its fingerprint in the newest epoch that has one.
    pub content: Content,
}

/// An iterator over stale pages. The iterator ends after an error.
///
/// ```
/// # use simkeep::{Observation, Options, Role, Store, Time};
/// use simkeep::query::StalePages;
/// # fn main() -> simkeep::Result<()> {
/// # let dir = tempfile::tempdir().unwrap();
/// # let store = Store::create(dir.path().join("store"), Options::default())?;
/// let (url, old) = ("https://example.com/", store.change_epoch());
/// store.observe(Observation::content(url, Time::now(), 7, old))?;
/// let new = store.register_epoch("another extractor", Role::Both)?;
/// // Counts the texts that are still to be extracted again.
/// assert_eq!(StalePages::of(&store.snapshot(), new, None).count(), 1);
/// assert_eq!(StalePages::of(&store.snapshot(), old, None).count(), 0);
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct StalePages {
    scan: Scan,
    epoch: Epoch,
}

impl StalePages {
    /// Iterates over stale pages in SURT order. The current version of a stale page has a
    /// fingerprint, but no fingerprint of this epoch. If `after` is given, starts with the first
    /// page after this URL.
    ///
    /// If you still have the content of a stale page, add a fingerprint of the epoch by
    /// [`Store::restate`](crate::Store::restate). To continue an interrupted pass, set `after` to
    /// the last URL of the pass. Costs a scan, some microseconds per page. Costs nothing if there
    /// are no fingerprints of other epochs.
    ///
    /// ```
    /// # use simkeep::{Observation, Options, Restatement, Role, Store, Time};
    /// use simkeep::query::StalePages;
    /// # fn main() -> simkeep::Result<()> {
    /// # let dir = tempfile::tempdir().unwrap();
    /// # let store = Store::create(dir.path().join("store"), Options::default())?;
    /// store.observe(Observation::content("https://example.com/", Time::now(), 7, store.change_epoch()))?;
    /// let epoch = store.register_epoch("my own hashes", Role::Both)?;
    /// for page in StalePages::of(&store.snapshot(), epoch, None) {
    ///     let page = page?;
    ///     let fingerprint = 0xff; // of the content of the page, made in the new epoch
    ///     store.restate(Restatement::new(&page.url, page.time, fingerprint, epoch))?;
    /// }
    /// assert_eq!(StalePages::of(&store.snapshot(), epoch, None).count(), 0);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// Items fail with the errors of [`scan`](Snapshot::scan), [`Error::UnknownEpoch`] or
    /// [`Error::EndedEpoch`].
    pub fn of(snapshot: &Snapshot, epoch: Epoch, after: Option<&str>) -> StalePages {
        let scan = match check_live(snapshot.epochs(), epoch) {
            Err(e) => Scan::none(snapshot, Some(e)),
            Ok(()) if may_be_stale(snapshot, epoch) => {
                Scan::new(snapshot, PageRange::all().start_after(after))
            }
            Ok(()) => Scan::none(snapshot, None),
        };
        StalePages { scan, epoch }
    }
}

/// Whether any component has fingerprints of another epoch. Fingerprints of an ended epoch may have
/// no tables.
fn may_be_stale(snapshot: &Snapshot, epoch: Epoch) -> bool {
    // If the view is damaged, the scan reports it.
    snapshot.view.check().is_err()
        || snapshot.epochs().iter().any(|info| info.ended)
        || snapshot.view.components().any(|component| component.has_others(epoch.0))
}

impl Iterator for StalePages {
    type Item = Result<StalePage>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            let page = match self.scan.next()? {
                Err(e) => return Some(Err(e)),
                Ok(page) => page,
            };
            // A content known to have no fingerprint in the epoch is not stale.
            let is_current = page.contents.iter().any(|content| content.epoch == self.epoch);
            let newest = page.contents.iter().find(|content| content.fingerprint.is_some());
            if let (false, Some(content), Some(time)) = (is_current, newest, page.content_seen) {
                return Some(Ok(StalePage { url: page.url, time, content: *content }));
            }
        }
    }
}
