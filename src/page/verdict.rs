//! What a page is found to be.

/// How a page is known to be the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SameBy {
    /// The digests are equal.
    Digest,
    /// The fingerprints are equal, in every epoch in which there are two to compare (and the digests
    /// differ, or are not known).
    Fingerprint,
    /// The server, or the archive, said so.
    Word,
}

/// What a page is now, after an observation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Verdict {
    /// The first content of this page.
    New,
    /// The version in force is confirmed.
    Same(SameBy),
    /// Said to be what it was, and no content of this page was ever seen: there is nothing to compare.
    Unseen,
    /// A version not among the last ones known of this page.
    Changed {
        /// Hamming distance to the version before, in the newest epoch in which both have a
        /// fingerprint; `None` if there is none.
        distance: Option<u32>,
    },
    /// A return to an earlier version.
    Reverted {
        /// When that version was last seen.
        to: i64,
        /// Hamming distance to the version just before, as of [`Changed`](Self::Changed).
        distance: Option<u32>,
    },
    /// The page is gone.
    Gone,
    /// The visit failed; what was in force still is.
    Failed,
    /// Older than the last visit: the history has it, the page's state may not change.
    OutOfOrder,
    /// This very visit was known already.
    Known,
}

/// What a store makes of what is restated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RestateOutcome {
    /// It was stored: a fingerprint more of what a visit saw.
    Stored,
    /// It was known already; nothing changed.
    Known,
    /// The page had no content at that time, or none with that digest; nothing was stored.
    Missing,
}
