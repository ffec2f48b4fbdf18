//! The verdict on an observation.

use std::fmt;

use super::Epoch;
use crate::time::Time;

/// The evidence that a page is unchanged.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum SameBy {
    /// The digests are equal.
    Digest,
    /// The fingerprints are equal, in every epoch in which both contents have one (and the digests
    /// differ, or are unknown).
    Fingerprint,
    /// The server, or the archive, said so.
    Word,
}

/// The Hamming distance of two versions of a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Distance {
    /// The number of differing bits, among those that the epoch does not reserve.
    pub bits: u32,
    /// The epoch of the two fingerprints. Distances of different epochs have different meanings.
    pub epoch: Epoch,
}

/// What an observation found out about its page.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Verdict {
    /// The first content of this page.
    New,
    /// Unchanged: the version in force is confirmed.
    Same(SameBy),
    /// Reported as not modified, but the store never saw any content of this page.
    Unseen,
    /// Content that is not among the last versions known of this page.
    Changed {
        /// The distance to the previous version, in the newest epoch that
        /// [detects changes](crate::Role) in which both have a fingerprint; `None` if there is
        /// none.
        distance: Option<Distance>,
    },
    /// A return to an earlier version.
    Reverted {
        /// When that version was last seen.
        to: Time,
        /// The distance to the version before, as in [`Changed`](Self::Changed).
        distance: Option<Distance>,
    },
    /// The page is gone.
    Gone,
    /// The visit failed; the version in force stays in force.
    Failed,
    /// The visit is not later than the last one. It is stored in order in the history.
    OutOfOrder,
    /// The store had exactly this visit already; nothing changed.
    Known,
}

impl Verdict {
    /// The distance to the version before, of a page that changed or reverted.
    pub fn distance(&self) -> Option<Distance> {
        match *self {
            Verdict::Changed { distance } | Verdict::Reverted { distance, .. } => distance,
            _ => None,
        }
    }
}

/// Formats as "4 bits".
impl fmt::Display for Distance {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.bits, if self.bits == 1 { "bit" } else { "bits" })
    }
}

/// Formats for people: "new", "same (digest)", "changed by 4 bits". Times are in UTC.
impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Verdict::New => f.write_str("new"),
            Verdict::Same(SameBy::Digest) => f.write_str("same (digest)"),
            Verdict::Same(SameBy::Fingerprint) => f.write_str("same (fingerprint)"),
            Verdict::Same(SameBy::Word) => f.write_str("same (server's word)"),
            Verdict::Unseen => f.write_str("not modified, and never seen"),
            Verdict::Changed { distance: Some(distance) } => write!(f, "changed by {distance}"),
            Verdict::Changed { distance: None } => f.write_str("changed (by an unknown distance)"),
            Verdict::Reverted { to, distance } => {
                write!(f, "reverted to the version of {}", to)?;
                distance.map_or(Ok(()), |distance| write!(f, ", {distance} from the one before"))
            }
            Verdict::Gone => f.write_str("gone"),
            Verdict::Failed => f.write_str("failed"),
            Verdict::OutOfOrder => f.write_str("out of order"),
            Verdict::Known => f.write_str("known already"),
        }
    }
}

/// The result of storing a [restatement](crate::Restatement).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum RestateOutcome {
    /// The fingerprint was stored.
    Stored,
    /// It was known already; nothing changed.
    Known,
    /// The page had no content at that time, or none with that digest; nothing was stored.
    Missing,
}

/// The answer to a [weight](crate::PropertyUpdate::weight) or a
/// [class](crate::PropertyUpdate::class) that comes without a visit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum PropertyOutcome {
    /// It was stored.
    Stored,
    /// It was known already; nothing changed.
    Known,
    /// The page is unknown; nothing was stored.
    Missing,
}
