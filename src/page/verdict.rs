//! The verdict on an observation.

use std::fmt;

use super::Epoch;
use crate::time::Time;

/// The evidence that a page is unchanged.
///
/// ```
/// # use simkeep::{Observation, Options, SameBy, Store, Time, Verdict};
/// # fn main() -> simkeep::Result<()> {
/// # let dir = tempfile::tempdir().unwrap();
/// # let store = Store::create(dir.path().join("store"), Options::default())?;
/// let (url, epoch) = ("https://example.com/", store.change_epoch());
/// store.observe(Observation::content(url, Time::from_ms(1_000)?, 7, epoch))?;
/// let outcome = store.observe(Observation::not_modified(url, Time::from_ms(2_000)?))?;
/// assert_eq!(outcome.verdict, Verdict::Same(SameBy::NotModified));
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum SameBy {
    /// The digests are equal.
    Digest,
    /// The fingerprints are equal in every epoch in which both contents have a fingerprint, and the
    /// digests differ or are unknown.
    Fingerprint,
    /// The server or the archive reported that the content is unchanged.
    NotModified,
}

/// The Hamming distance of two versions of a page.
///
/// ```
/// # use simkeep::{Observation, Options, Store, Time};
/// # fn main() -> simkeep::Result<()> {
/// # let dir = tempfile::tempdir().unwrap();
/// # let store = Store::create(dir.path().join("store"), Options::default())?;
/// let (url, epoch) = ("https://example.com/", store.change_epoch());
/// store.observe(Observation::content(url, Time::from_ms(1_000)?, 0x00, epoch))?;
/// let outcome = store.observe(Observation::content(url, Time::from_ms(2_000)?, 0xff, epoch))?;
/// let distance = outcome.verdict.distance().unwrap();
/// assert_eq!((distance.bits, distance.to_string()), (8, "8 bits".to_owned()));
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Distance {
    /// The number of differing bits, without the bits that the epoch reserves.
    pub bits: u32,
    /// The epoch of the two fingerprints. Distances of different epochs have different meanings.
    pub epoch: Epoch,
}

/// The result of an observation for its page.
///
/// ```
/// # use simkeep::{Observation, Options, Store, Time, Verdict};
/// # fn main() -> simkeep::Result<()> {
/// # let dir = tempfile::tempdir().unwrap();
/// # let store = Store::create(dir.path().join("store"), Options::default())?;
/// let (url, epoch) = ("https://example.com/", store.change_epoch());
/// let mut verdicts = Vec::new();
/// for (ms, fingerprint) in [(1_000, 0x00), (2_000, 0xff), (3_000, 0x00)] {
///     let seen = Observation::content(url, Time::from_ms(ms)?, fingerprint, epoch);
///     verdicts.push(store.observe(seen)?.verdict);
/// }
/// assert!(matches!(verdicts[..], [Verdict::New, Verdict::Changed { .. }, Verdict::Reverted { .. }]));
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Verdict {
    /// The first content of the page.
    New,
    /// Unchanged: the current version is confirmed.
    Same(SameBy),
    /// Reported as not modified, but the store never saw any content of the page.
    Unseen,
    /// Content that is not among the last known versions of the page.
    Changed {
        /// The distance to the previous version, in the newest epoch that
        /// [detects changes](crate::Role) and has fingerprints of both versions; `None` without
        /// such an epoch.
        distance: Option<Distance>,
    },
    /// A return to an earlier version.
    Reverted {
        /// The time when the earlier version was last seen.
        to: Time,
        /// The distance to the previous version, as in [`Changed`](Self::Changed).
        distance: Option<Distance>,
    },
    /// The page is gone.
    Gone,
    /// The visit failed. The current version does not change.
    Failed,
    /// The visit is not later than the last visit. The store inserts the visit in order into the
    /// history.
    OutOfOrder,
    /// The store already had exactly this visit; nothing changed.
    Known,
}

impl Verdict {
    /// The distance to the previous version, for a page that changed or reverted.
    ///
    /// ```
    /// # use simkeep::{Observation, Options, Store, Time, Verdict};
    /// # fn main() -> simkeep::Result<()> {
    /// # let dir = tempfile::tempdir().unwrap();
    /// # let store = Store::create(dir.path().join("store"), Options::default())?;
    /// let (url, epoch) = ("https://example.com/", store.change_epoch());
    /// store.observe(Observation::content(url, Time::from_ms(1_000)?, 0b0011, epoch))?;
    /// let outcome = store.observe(Observation::content(url, Time::from_ms(2_000)?, 0b0111, epoch))?;
    /// assert_eq!(outcome.verdict.distance().map(|distance| distance.bits), Some(1));
    /// assert_eq!(Verdict::New.distance(), None);
    /// # Ok(())
    /// # }
    /// ```
    pub fn distance(&self) -> Option<Distance> {
        match *self {
            Verdict::Changed { distance } | Verdict::Reverted { distance, .. } => distance,
            _ => None,
        }
    }
}

/// Formats the distance, for example "4 bits".
impl fmt::Display for Distance {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.bits, if self.bits == 1 { "bit" } else { "bits" })
    }
}

/// Formats the verdict for people, for example "new", "same (digest)", "changed by 4 bits". Times
/// are in UTC.
impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Verdict::New => f.write_str("new"),
            Verdict::Same(SameBy::Digest) => f.write_str("same (digest)"),
            Verdict::Same(SameBy::Fingerprint) => f.write_str("same (fingerprint)"),
            Verdict::Same(SameBy::NotModified) => f.write_str("same (not modified)"),
            Verdict::Unseen => f.write_str("not modified, and never seen"),
            Verdict::Changed { distance: Some(distance) } => write!(f, "changed by {distance}"),
            Verdict::Changed { distance: None } => f.write_str("changed (by an unknown distance)"),
            Verdict::Reverted { to, distance } => {
                write!(f, "reverted to the version of {}", to)?;
                distance
                    .map_or(Ok(()), |distance| write!(f, ", {distance} from the previous version"))
            }
            Verdict::Gone => f.write_str("gone"),
            Verdict::Failed => f.write_str("failed"),
            Verdict::OutOfOrder => f.write_str("out of order"),
            Verdict::Known => f.write_str("known already"),
        }
    }
}

/// The result of storing a [restatement](crate::Restatement).
///
/// ```
/// # use simkeep::{Options, RestateOutcome, Restatement, Role, Store, Time};
/// # fn main() -> simkeep::Result<()> {
/// # let dir = tempfile::tempdir().unwrap();
/// # let store = Store::create(dir.path().join("store"), Options::default())?;
/// let epoch = store.register_epoch("my own hashes", Role::Both)?;
/// let restated = store.restate(Restatement::new("https://example.com/", Time::now(), 7, epoch))?;
/// assert_eq!(restated, RestateOutcome::Missing); // the page was never visited
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum RestateOutcome {
    /// The fingerprint was stored.
    Stored,
    /// The fingerprint was stored already; nothing changed.
    Known,
    /// The page had no content at the time, or no content with the digest; nothing was stored.
    Missing,
}

/// The result of setting a [weight](crate::PropertyUpdate::weight) or a
/// [class](crate::PropertyUpdate::class) without a visit.
///
/// ```
/// # use simkeep::{Options, PropertyOutcome, PropertyUpdate, Store, Time};
/// # fn main() -> simkeep::Result<()> {
/// # let dir = tempfile::tempdir().unwrap();
/// # let store = Store::create(dir.path().join("store"), Options::default())?;
/// let update = PropertyUpdate::class("https://example.com/", Time::now(), 7);
/// assert_eq!(store.set_property(update)?, PropertyOutcome::Missing);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum PropertyOutcome {
    /// The property was stored.
    Stored,
    /// The property was stored already, or is an entity tag and the store [keeps
    /// none](crate::Options::validators); nothing changed.
    Known,
    /// The page is unknown; nothing was stored.
    Missing,
}
