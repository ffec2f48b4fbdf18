//! What an observation means for its page.

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
        /// Hamming distance to the version before, in the newest epoch in which both have a
        /// fingerprint; `None` if there is none.
        distance: Option<u32>,
    },
    /// A return to an earlier version.
    Reverted {
        /// When that version was last seen.
        to: i64,
        /// Hamming distance to the version before, as in [`Changed`](Self::Changed).
        distance: Option<u32>,
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
