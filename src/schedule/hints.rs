//! Hints: times when pages changed, from sources that may be wrong.

use std::sync::Arc;

use xxhash_rust::xxh3::xxh3_64_with_seed;

use crate::engine::snapshot::Snapshot;
use crate::error::{Error, Result};
use crate::recrawl::hinted;
use crate::segment::url_hash;
use crate::time::{Time, TimeError};
use crate::url::check_url;

/// The maximum number of changes.
const CHANGES_MAX: usize = 100_000_000;
/// The number of bits of a mark that contain the time.
const TIME_BITS: u32 = 40;

/// Times when pages of a store changed, from sitemaps or feeds. Created by [`Hints::of`].
///
/// A page with a hint after its last visit is stale with the probability [`trust`](Hints::trust),
/// since sitemaps are not always right. [`hinted`](crate::recrawl::hinted) computes the value of a
/// visit to a stale page.
///
/// Takes 16 bytes for each change, and up to three times as much during construction. Duplicate
/// changes count once. At most 100,000,000 changes. URLs are not stored: 88 bits of hashes identify
/// a page. A clone shares the data.
///
/// ```
/// # use simkeep::{Observation, Options, Store, Time};
/// use std::time::Duration;
///
/// use simkeep::due::Hints;
/// # fn main() -> simkeep::Result<()> {
/// # let dir = tempfile::tempdir().unwrap();
/// # let store = Store::create(dir.path().join("store"), Options::default())?;
/// let (url, day) = ("https://example.com/news", Duration::from_secs(86_400));
/// let start = Time::from_ms(1_700_000_000_000)?;
/// // From `<lastmod>` of a sitemap.
/// let hints = Hints::of(&store.snapshot(), [(url, start + 3 * day)])?;
/// assert_eq!(hints.changed_after(url, start, start + 9 * day), Some(start + 3 * day));
/// assert_eq!(hints.changed_after(url, start + 5 * day, start + 9 * day), None); // seen since
/// # Ok(())
/// # }
/// ```
///
/// [`Hints::of`]: crate::due::Hints::of
#[derive(Clone, Debug)]
pub struct Hints {
    seed: u64,
    trust: f64,
    /// The changes, sorted.
    changes: Arc<Vec<HintedChange>>,
}

/// A change of a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct HintedChange {
    /// The hash of the URL with the seed of the store.
    hash: u64,
    /// High bits: more bits of the URL's hash. Low bits: seconds since the earliest time of a
    /// visit.
    mark: u64,
}

impl HintedChange {
    /// A change of the page `seconds` after the earliest time of a visit.
    fn new(url: &str, seed: u64, seconds: u64) -> HintedChange {
        // The mark contains 24 bits of a second hash, because URLs are not stored, and 64 bits
        // might collide.
        let other = xxh3_64_with_seed(url.as_bytes(), !seed);
        HintedChange { hash: url_hash(url, seed), mark: other >> TIME_BITS << TIME_BITS | seconds }
    }

    fn seconds(self) -> u64 {
        self.mark & ((1 << TIME_BITS) - 1)
    }

    fn is_of_page(self, other: HintedChange) -> bool {
        self.hash == other.hash && self.mark >> TIME_BITS == other.mark >> TIME_BITS
    }
}

/// Converts milliseconds since 1970 to whole seconds since the earliest time of a visit.
fn seconds(time: Time) -> u64 {
    // One second is spare, since `first_change` searches from the second after a visit.
    const { assert!((Time::MAX.as_ms().abs_diff(Time::MIN.as_ms()) / 1000 + 1) >> TIME_BITS == 0) };
    Time::MIN.as_ms().abs_diff(time.clamp(Time::MIN, Time::MAX).as_ms()) / 1000
}

impl Hints {
    /// Collects hints from pairs of a URL and a time in milliseconds since 1970, in any order. The
    /// hints are valid for snapshots of this store only, since URL hashes differ from store to
    /// store. Reads nothing from the store.
    ///
    /// ```
    /// use simkeep::due::Hints;
    /// # use std::time::Duration;
    /// # fn main() -> simkeep::Result<()> {
    /// # use simkeep::{Observation, Options, Store, Time};
    /// # let dir = tempfile::tempdir().unwrap();
    /// # let store = Store::create(dir.path().join("store"), Options::default())?;
    /// let url = "https://example.com/";
    /// let start = Time::from_ms(1_700_000_000_000)?;
    /// let day = |n: u32| start + n * Duration::from_secs(86_400);
    /// let said = [(url, day(12)), (url, day(13)), (url, day(99))];
    /// let hints = Hints::of(&store.snapshot(), said)?.trust(0.5)?;
    /// // Last visited on day 10, and now it is day 20.
    /// assert_eq!(hints.changed_after(url, day(10), day(20)), Some(day(12)));
    /// // Worth 3 by its rate; but it is likely to be stale, and was fresh for two days only.
    /// assert_eq!(hints.worth(url, 1.0, day(10), day(20), 3.0)?, 0.5 * 2.0 + 0.5 * 3.0);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::Url`] or [`Error::Time`] if no visit can have the URL or time of a pair;
    /// [`Error::Limit`] above 100,000,000 changes.
    pub fn of<U: AsRef<str>, T: Into<Time>>(
        snapshot: &Snapshot,
        changes: impl IntoIterator<Item = (U, T)>,
    ) -> Result<Hints> {
        Hints::new(snapshot.view.seed, changes.into_iter().map(|(url, time)| (url, time.into())))
    }

    /// Collects the hints for pages of a store with seed `seed`.
    pub(crate) fn new<U: AsRef<str>>(
        seed: u64,
        changes: impl Iterator<Item = (U, Time)>,
    ) -> Result<Hints> {
        let mut set = HintCollector { changes: Vec::new(), most: CHANGES_MAX };
        for (url, time) in changes {
            let url = url.as_ref();
            check_url(url)?;
            if !time.is_storable() {
                return Err(TimeError::OutOfRange(time.as_ms()).into());
            }
            set.add(HintedChange::new(url, seed, seconds(time)))?;
        }
        set.settle()?;
        Ok(Hints { seed, trust: 0.8, changes: Arc::new(set.changes) })
    }

    /// Sets the probability that a hint is true. Default: 0.8.
    ///
    /// ```
    /// # use simkeep::{Options, Store, Time};
    /// use simkeep::due::Hints;
    /// # fn main() -> simkeep::Result<()> {
    /// # let dir = tempfile::tempdir().unwrap();
    /// # let store = Store::create(dir.path().join("store"), Options::default())?;
    /// // The dates of this sitemap are right in one of ten cases.
    /// let changes = [("https://example.com/", Time::from_ms(1_700_000_000_000)?)];
    /// let hints = Hints::of(&store.snapshot(), changes)?.trust(0.1)?;
    /// assert!(hints.trust(1.1).is_err());
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::InvalidOption`] if `trust` is not from 0 to 1.
    pub fn trust(self, trust: f64) -> Result<Hints> {
        if !(0.0..=1.0).contains(&trust) {
            return Err(Error::InvalidOption { name: "trust", takes: "from 0 to 1" });
        }
        Ok(Hints { trust, ..self })
    }

    /// Returns the first change of the page after its last visit and not after `now`, in whole
    /// seconds.
    ///
    /// Changes up to the last visit and changes in the future do not count. Takes logarithmic time
    /// in the number of changes.
    ///
    /// ```
    /// # use simkeep::{Options, Store, Time};
    /// use std::time::Duration;
    ///
    /// use simkeep::due::Hints;
    /// # fn main() -> simkeep::Result<()> {
    /// # let dir = tempfile::tempdir().unwrap();
    /// # let store = Store::create(dir.path().join("store"), Options::default())?;
    /// let (url, now) = ("https://example.com/", Time::from_ms(1_700_000_000_000)?);
    /// let hour = Duration::from_secs(3_600);
    /// let hints = Hints::of(&store.snapshot(), [(url, now - hour), (url, now + hour)])?;
    /// assert_eq!(hints.changed_after(url, now - 2 * hour, now), Some(now - hour));
    /// assert_eq!(hints.changed_after(url, now, now), None); // the other change is to come
    /// # Ok(())
    /// # }
    /// ```
    pub fn changed_after(
        &self,
        url: &str,
        last: impl Into<Time>,
        now: impl Into<Time>,
    ) -> Option<Time> {
        let changed = self.first_change(url, seconds(last.into()), seconds(now.into()))?;
        Some(Time::from_ms_unchecked(Time::MIN.as_ms() + changed.cast_signed() * 1000))
    }

    /// Returns the value of a visit to a page in days, given its value `otherwise` without a hint.
    /// The value is the result of [`hinted`](crate::recrawl::hinted) for the change that
    /// [`changed_after`](Hints::changed_after) returns. All times are in whole seconds.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidOption`] if the weight is not positive and finite, or if `otherwise` is
    /// negative or infinite.
    pub fn worth(
        &self,
        url: &str,
        weight: f64,
        last: impl Into<Time>,
        now: impl Into<Time>,
        otherwise: f64,
    ) -> Result<f64> {
        let last = seconds(last.into());
        let changed = self.first_change(url, last, seconds(now.into()));
        let after = changed.map_or(0, |changed| changed - last);
        self.worth_after(weight, after, otherwise)
    }

    /// Returns the value of a visit to a page that changed `after` seconds after its last visit.
    pub(super) fn worth_after(&self, weight: f64, after: u64, otherwise: f64) -> Result<f64> {
        Ok(hinted(self.trust, weight, after as f64 / 86_400.0, otherwise)?)
    }

    /// Returns the smallest value without the hint for which the hinted value is `worth`; `None` if
    /// there is no such value.
    pub(super) fn otherwise_for(&self, weight: f64, after: u64, worth: f64) -> Option<f64> {
        // Computes the inverse of `worth_after`: solves trust w after + (1 - trust) x = worth for
        // x.
        let hinted = self.trust * weight * (after as f64 / 86_400.0);
        let left = (worth - hinted).max(0.0);
        if left == 0.0 { Some(0.0) } else { (self.trust < 1.0).then(|| left / (1.0 - self.trust)) }
    }

    /// Returns the first change of a page after `last` and not after `now`, in seconds.
    pub(super) fn first_change(&self, url: &str, last: u64, now: u64) -> Option<u64> {
        // A change in the second of the last visit may have been before the visit.
        let from = HintedChange::new(url, self.seed, last + 1);
        let change = first_of_page(&self.changes, from)?;
        // Sitemaps also contain dates in the future, for changes that cannot be known yet.
        (change.seconds() <= now).then_some(change.seconds())
    }

    /// Whether the hints are for pages of a store with seed `seed`.
    pub(super) fn are_for(&self, seed: u64) -> bool {
        self.seed == seed
    }

    /// Returns a cursor over the hints in order of hash, starting at `hash`.
    pub(super) fn from(&self, hash: u64) -> HintCursor<'_> {
        let before = self.changes.partition_point(|change| change.hash < hash);
        HintCursor { left: self.changes.split_at(before).1 }
    }
}

/// Returns the first change of a page that is not before `from`, a change of this page.
fn first_of_page(changes: &[HintedChange], from: HintedChange) -> Option<HintedChange> {
    let before = changes.partition_point(|change| *change < from);
    changes.get(before).copied().filter(|change| change.is_of_page(from))
}

/// A cursor over changes in order of hash.
pub(super) struct HintCursor<'h> {
    left: &'h [HintedChange],
}

impl HintCursor<'_> {
    /// Whether a page with this hash may have changed after `last` and not after `now`, in seconds.
    /// Must be called with ascending hashes.
    pub(super) fn may_have(&mut self, hash: u64, last: u64, now: u64) -> bool {
        self.skip_to(hash);
        let mut left = self.left;
        // Visits the pages with this hash one after another. Nearly always there is only one.
        while let Some(next) = left.first().filter(|change| change.hash == hash) {
            let mark = next.mark >> TIME_BITS << TIME_BITS;
            let from = HintedChange { hash, mark: mark | (last + 1) };
            if first_of_page(left, from).is_some_and(|change| change.seconds() <= now) {
                return true;
            }
            let of_page = left.partition_point(|change| change.is_of_page(*next));
            left = left.split_at(of_page).1;
        }
        false
    }

    /// Skips smaller hashes by galloping search.
    fn skip_to(&mut self, hash: u64) {
        // A galloping search: hashes of rows ascend, so the next hint is near, and finding it takes
        // the logarithm of its distance.
        let mut upto = 1;
        while self.left.get(upto - 1).is_some_and(|change| change.hash < hash) {
            upto *= 2;
        }
        let near = self.left.split_at(upto.min(self.left.len())).0;
        let before = near.partition_point(|change| change.hash < hash);
        self.left = self.left.split_at(before).1;
    }
}

/// The changes collected so far.
struct HintCollector {
    changes: Vec<HintedChange>,
    /// The maximum number of distinct changes.
    most: usize,
}

impl HintCollector {
    /// Adds a change. Memory grows only with the number of distinct changes.
    fn add(&mut self, change: HintedChange) -> Result<()> {
        // Sorts and removes duplicates before the list grows, so that duplicates take no memory.
        if self.changes.len() == self.changes.capacity() {
            self.settle()?;
            // Doubles the capacity, so that the list is sorted again only after as many new
            // changes.
            self.changes.reserve(self.changes.len().max(1024));
        }
        self.changes.push(change);
        Ok(())
    }

    /// Sorts the changes and drops duplicates.
    fn settle(&mut self) -> Result<()> {
        self.changes.sort_unstable();
        self.changes.dedup();
        if self.changes.len() > self.most {
            let instead = "pass the hints for fewer pages at once";
            return Err(Error::Limit { what: "hints", max: self.most as u64, instead });
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn change(n: u64) -> HintedChange {
        HintedChange { hash: n, mark: 0 }
    }

    #[test]
    fn number_of_changes_is_limited() {
        let mut set = HintCollector { changes: Vec::new(), most: 5000 };
        for n in (0..5000).chain(0..5000).rev() {
            set.add(change(n)).unwrap();
        }
        set.settle().unwrap();
        assert!(set.changes.iter().copied().eq((0..5000).map(change)));
        set.add(change(5000)).unwrap();
        let error = set.settle().unwrap_err();
        assert_eq!(
            error.to_string(),
            "the limit of 5000 hints is exceeded; pass the hints for fewer pages at once"
        );
        let mut set = HintCollector { changes: Vec::new(), most: 5000 };
        let taken = (0..).take_while(|n| set.add(change(*n)).is_ok()).count();
        assert!(taken <= 20_000, "{taken}");
    }

    #[test]
    fn repeated_changes_take_memory_once() {
        let mut set = HintCollector { changes: Vec::new(), most: CHANGES_MAX };
        for n in 0..1_000_000 {
            set.add(change(n % 1000)).unwrap();
        }
        assert!(set.changes.capacity() < 5000, "{}", set.changes.capacity());
    }
}
