//! What an observation means for its page.

use std::fmt;

use super::Epoch;
use crate::time::Time;

/// How a page is known to be the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum SameBy {
    /// The digests are equal.
    Digest,
    /// The fingerprints are equal, in every epoch in which there are two to compare (and the digests
    /// differ, or are not known).
    Fingerprint,
    /// The server, or the archive, said so.
    Word,
}

/// The Hamming distance of two versions of a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Distance {
    /// How many bits differ, of those that the epoch does not reserve.
    pub bits: u32,
    /// The epoch of the two fingerprints: how much a distance is depends on what made them.
    pub epoch: Epoch,
}

/// What a page is now, after an observation.
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
        /// The distance to the version before, in the newest epoch that tells of
        /// [changes](crate::Role) in which both have a fingerprint; `None` if there is none.
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
    /// Not later than the last visit. It is stored at its place in the history.
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

/// As in "4 bits".
impl fmt::Display for Distance {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.bits, if self.bits == 1 { "bit" } else { "bits" })
    }
}

/// For people: "new", "same (digest)", "changed by 4 bits". Times are in UTC.
impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Verdict::New => f.write_str("new"),
            Verdict::Same(SameBy::Digest) => f.write_str("same (digest)"),
            Verdict::Same(SameBy::Fingerprint) => f.write_str("same (fingerprint)"),
            Verdict::Same(SameBy::Word) => f.write_str("same (server's word)"),
            Verdict::Unseen => f.write_str("not modified, and never seen"),
            Verdict::Changed { distance: Some(distance) } => write!(f, "changed by {distance}"),
            Verdict::Changed { distance: None } => {
                f.write_str("changed (by how much is not known)")
            }
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

/// The answer to a [restatement](crate::Restatement).
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
    /// The page is not known; nothing was stored.
    Missing,
}
