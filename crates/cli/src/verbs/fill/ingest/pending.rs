//! A request that waits for its batch.

use simkeep::{Entry, Operation, Property, PropertyEntry, Restated};

use crate::input::epochs::EpochFingerprint;
use crate::input::feed::{self, PageProperties};

/// A request that waits for its batch.
pub(super) struct PendingRequest {
    pub(super) url: String,
    pub(super) entry: Entry,
    pub(super) also: Option<EpochFingerprint>,
    pub(super) given: PageProperties,
}

impl PendingRequest {
    pub(super) fn operation(&self) -> Operation<'_> {
        feed::request(&self.url, self.entry.clone(), self.also, &self.given)
    }

    /// The entries that it adds to the history of its page: the entry itself, the restatement of its
    /// content, and the URL to which the content points.
    pub(super) fn entries(&self) -> impl Iterator<Item = Entry> + use<> {
        let seen = self.entry.visit().and_then(|visit| visit.seen.content());
        let restated = seen.zip(self.also).map(|(content, (fingerprint, epoch))| {
            let (time, digest) = (self.entry.time(), content.digest);
            Entry::Restated(Restated { time, fingerprint, digest, epoch })
        });
        let is_target = |property: &Property| matches!(property, Property::Target(_));
        let target = seen.and_then(|_| self.given.of_page(&self.url).find(is_target));
        let target = target
            .map(|property| Entry::Property(PropertyEntry { time: self.entry.time(), property }));
        [self.entry.clone()].into_iter().chain(restated).chain(target)
    }
}
