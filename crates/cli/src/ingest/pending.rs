//! An observation that waits for its batch.

use simkeep::{Content, Observation, Seen, Visit};

use crate::incoming::Made;

/// An observation that waits for its batch.
pub(super) struct Pending {
    pub(super) url: String,
    pub(super) visit: Visit,
    pub(super) also: Option<Made>,
}

impl Pending {
    pub(super) fn observation(&self) -> Observation<'_> {
        Observation { url: &self.url, visit: self.visit, also: self.also }
    }

    /// What the history of its page has of it: the visit, and what is restated of it.
    pub(super) fn visits(&self) -> impl Iterator<Item = Visit> {
        let restated = match (self.visit.seen, self.also) {
            (Seen::Content(content), Some((fingerprint, epoch))) => {
                let seen = Seen::Restated(Content { fingerprint, epoch, ..content });
                Some(Visit { seen, status: None, ..self.visit })
            }
            _ => None,
        };
        [self.visit].into_iter().chain(restated)
    }
}
