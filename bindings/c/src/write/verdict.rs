//! What a visit meant for its page, in numbers.

use simkeep::fingerprint::{Band, Meaning};
use simkeep::{SameBy, Verdict};

/// What a page is now, after an observation.
#[derive(Clone, Copy, Debug)]
#[repr(i32)]
pub enum VerdictCode {
    /// There is no verdict.
    Nothing = 0,
    /// The first content of this page.
    New = 1,
    /// Unchanged: the version in force is confirmed.
    Same = 2,
    /// Content that is not among the last versions known of this page.
    Changed = 3,
    /// A return to an earlier version.
    Reverted = 4,
    /// The page is gone.
    Gone = 5,
    /// The visit failed; the version in force stays in force.
    Failed = 6,
    /// Reported as not modified, but the store never saw any content of this page.
    Unseen = 7,
    /// Not later than the last visit. It is stored at its place in the history.
    OutOfOrder = 8,
    /// The store had exactly this visit already; nothing changed.
    Known = 9,
    /// Something that this version of the header does not name.
    Other = 10,
}

/// How a page is known to be the same.
#[derive(Clone, Copy, Debug)]
#[repr(i32)]
pub enum SameCode {
    /// It is not the same.
    Nothing = 0,
    /// The digests are equal.
    Digest = 1,
    /// The fingerprints are equal.
    Fingerprint = 2,
    /// The server, or the archive, said so.
    Word = 3,
    /// Something that this version of the header does not name.
    Other = 4,
}

/// What a distance means, by the recipe of its epoch.
#[derive(Clone, Copy, Debug)]
#[repr(i32)]
pub enum BandCode {
    /// There is no distance.
    Nothing = 0,
    /// The fingerprint tells of no change.
    None = 1,
    /// Under 1 % of the words.
    Minor = 2,
    /// From 1 to 10 % of the words.
    Moderate = 3,
    /// More than 10 % of the words.
    Major = 4,
}

/// The number of a verdict.
pub(crate) fn code(verdict: &Verdict) -> VerdictCode {
    match verdict {
        Verdict::New => VerdictCode::New,
        Verdict::Same(_) => VerdictCode::Same,
        Verdict::Unseen => VerdictCode::Unseen,
        Verdict::Changed { .. } => VerdictCode::Changed,
        Verdict::Reverted { .. } => VerdictCode::Reverted,
        Verdict::Gone => VerdictCode::Gone,
        Verdict::Failed => VerdictCode::Failed,
        Verdict::OutOfOrder => VerdictCode::OutOfOrder,
        Verdict::Known => VerdictCode::Known,
        _ => VerdictCode::Other,
    }
}

/// How a page is known to be the same, by its verdict.
pub(crate) fn same(verdict: &Verdict) -> SameCode {
    match verdict {
        Verdict::Same(SameBy::Digest) => SameCode::Digest,
        Verdict::Same(SameBy::Fingerprint) => SameCode::Fingerprint,
        Verdict::Same(SameBy::Word) => SameCode::Word,
        Verdict::Same(_) => SameCode::Other,
        _ => SameCode::Nothing,
    }
}

/// When the version was last seen that a page has reverted to; 0 if it has not.
pub(crate) fn to(verdict: &Verdict) -> i64 {
    match verdict {
        Verdict::Reverted { to, .. } => (*to).as_ms(),
        _ => 0,
    }
}

/// What a distance means, if there is one.
pub(crate) fn band(meaning: Option<&Meaning>) -> BandCode {
    meaning.map_or(BandCode::Nothing, |meaning| match meaning.band {
        Band::None => BandCode::None,
        Band::Minor => BandCode::Minor,
        Band::Moderate => BandCode::Moderate,
        Band::Major => BandCode::Major,
    })
}
