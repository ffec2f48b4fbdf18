//! The verdict of a visit, as codes.

use simkeep::fingerprint::{Band, Meaning};
use simkeep::{SameBy, Verdict};

use crate::structure::code;

code! {
    /// The verdict about a page after an observation.
    pub enum VerdictCode from Option<&Verdict> {
        /// There is no verdict.
        Nothing = 0 of None,
        New = 1 of Some(Verdict::New),
        Same = 2 of Some(Verdict::Same(_)),
        Changed = 3 of Some(Verdict::Changed { .. }),
        Reverted = 4 of Some(Verdict::Reverted { .. }),
        Gone = 5 of Some(Verdict::Gone),
        Failed = 6 of Some(Verdict::Failed),
        Unseen = 7 of Some(Verdict::Unseen),
        OutOfOrder = 8 of Some(Verdict::OutOfOrder),
        Known = 9 of Some(Verdict::Known),
        /// A value that this version of the header does not name.
        Other = 10 of Some(_),
    }
}

code! {
    /// The reason why a page is known to be the same.
    pub enum SameByCode from Option<SameBy> {
        /// The page is not the same.
        Nothing = 0 of None,
        Digest = 1 of Some(SameBy::Digest),
        Fingerprint = 2 of Some(SameBy::Fingerprint),
        NotModified = 3 of Some(SameBy::NotModified),
        /// A value that this version of the header does not name.
        Other = 4 of Some(_),
    }
}

code! {
    /// The meaning of a distance, by the recipe of its epoch.
    pub enum BandCode from Option<Band> {
        /// There is no distance.
        Nothing = 0 of None,
        None = 1 of Some(Band::None),
        Minor = 2 of Some(Band::Minor),
        Moderate = 3 of Some(Band::Moderate),
        Major = 4 of Some(Band::Major),
    }
}

/// Returns the time when the version that a page reverted to was last seen; 0 if the page did not
/// revert.
pub(crate) fn to(verdict: &Verdict) -> i64 {
    match verdict {
        Verdict::Reverted { to, .. } => (*to).as_ms(),
        _ => 0,
    }
}

/// Returns the reason why a page is known to be the same, from its verdict.
pub(crate) fn same(verdict: &Verdict) -> SameByCode {
    SameByCode::of(match verdict {
        Verdict::Same(by) => Some(*by),
        _ => None,
    })
}

/// Returns the meaning of a distance, if there is a distance.
pub(crate) fn band(meaning: Option<&Meaning>) -> BandCode {
    BandCode::of(meaning.map(|meaning| meaning.band))
}
