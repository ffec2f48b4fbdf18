//! What a thread is given to join.

use std::ops::Range;

use super::crowd::Share;

/// Entries of a bucket of the load, to be joined by one thread.
pub(super) struct Item {
    /// The bucket, counted from the load's first.
    pub(super) bucket: usize,
    pub(super) what: What,
}

/// Which of the entries of a bucket are joined with which.
pub(super) enum What {
    /// Some, in order of their ordinals, with each other; or if there are second ones, with these only.
    Ranges([Range<usize>; 2]),
    /// A share of a crowd, by the crowd's place.
    Share(usize, Share),
}

impl Item {
    pub(super) fn entries(&self) -> usize {
        match &self.what {
            What::Ranges([first, second]) => first.len() + second.len(),
            What::Share(_, share) => share.entries,
        }
    }
}
