//! Resolves records that repeat the content of an earlier record.

use simkeep::{Content, Digest, Entry, Epoch, Seen, Snapshot, Time};

use super::histories::{CachedHistory, HistoryCache};
use super::originals::ContentCache;
use super::pending::PendingRequest;
use crate::input::epochs::EpochFingerprint;
use simkeep_formats::DeclaredDigest;

/// A record that repeats the content of an earlier record.
pub(super) struct RevisitRecord<'a> {
    pub(super) url: &'a str,
    pub(super) time: i64,
    /// The declared digest of the repeated content.
    pub(super) declared: Option<&'a DeclaredDigest>,
    /// The page and the time of the repeated record.
    pub(super) refers_to: Option<&'a str>,
    pub(super) refers_time: Option<i64>,
}

/// The content that a revisit repeats.
pub(super) enum RevisitTarget {
    /// The revisit was observed before.
    Known,
    Content {
        /// The content with its newest fingerprint of a live epoch.
        content: Content,
        /// The fingerprint of the epoch before.
        also: Option<EpochFingerprint>,
        /// The URL to which the content of the same page pointed.
        points_to: Option<Box<str>>,
    },
    /// The original is unknown.
    Nothing,
}

/// Everything that is known about pages.
pub(super) struct RevisitContext<'k> {
    pub(super) store: Snapshot,
    pub(super) pending: &'k [PendingRequest],
    pub(super) histories: &'k mut HistoryCache,
    pub(super) originals: &'k ContentCache,
}

impl RevisitContext<'_> {
    fn history(&mut self, url: &str) -> simkeep::Result<&CachedHistory> {
        self.histories.of(&self.store, self.pending, url)
    }

    /// Whether an epoch has ended, so that its fingerprints are not used.
    fn has_ended(&self, epoch: Epoch) -> bool {
        self.store.epochs().iter().any(|info| info.epoch == epoch && info.ended)
    }

    /// The content of a page in force and the URL to which it points, if no history is needed: there
    /// is only one live epoch, and no operation on the page waits for its batch.
    fn in_force(
        &self,
        url: &str,
        before: i64,
    ) -> simkeep::Result<Option<(Content, Option<String>)>> {
        let live = self.store.epochs().iter().filter(|info| !info.ended).count();
        if live > 1
            || self.histories.contains(url)
            || self.pending.iter().any(|pending| pending.url == url)
        {
            return Ok(None);
        }
        let page =
            self.store.latest(url)?.filter(|page| page.last.time < Time::from_ms_unchecked(before));
        let found = page.and_then(|page| Some((page.content?, page.target)));
        Ok(found.filter(|(content, _)| !self.has_ended(content.epoch)))
    }
}

impl RevisitRecord<'_> {
    /// The digest of the repeated content, if it is in the form that stores keep.
    pub(super) fn digest(&self) -> Option<Digest> {
        self.declared.and_then(DeclaredDigest::kept)
    }

    /// Finds the original: in the page's own history, or else in that of the page it refers to, or
    /// else among the recent contents of the input.
    ///
    /// Whether the revisit is known must not depend on later records, or on other input of this
    /// run. Otherwise, an interrupted ingest could not be repeated.
    pub(super) fn resolve(&self, known: &mut RevisitContext<'_>) -> simkeep::Result<RevisitTarget> {
        let kept = self.digest();
        if let Some((content, target)) = known.in_force(self.url, self.time)?
            && content.digest.is_some()
            && content.digest == kept
        {
            // The usual case: nothing has changed since, so no history needs to be read.
            let points_to = target.map(String::into_boxed_str);
            return Ok(RevisitTarget::Content { content, also: None, points_to });
        }
        let contents = self.find(known)?;
        let own = known.history(self.url)?;
        let is_known = own.at(self.time).filter_map(Entry::visit).any(|visit| match &visit.seen {
            // Without a digest, the original may have been found when this was observed, and may be
            // different content now.
            Seen::Content(content) => {
                kept.is_none() || contents.iter().any(|c| c.digest == content.digest)
            }
            Seen::NotModified { digest } => *digest == kept,
            Seen::Gone | Seen::Failed => false,
        });
        if is_known {
            return Ok(RevisitTarget::Known);
        }
        let target = contents.last().and_then(|last| own.target(last.digest?, self.time));
        let points_to = target.and_then(|target| target.resolve(self.url)).map(Box::from);
        // Of several contents, the last one counts.
        let last = contents.last().and_then(|last| last.digest);
        let mut contents = contents;
        contents.retain(|content| content.digest == last && !known.has_ended(content.epoch));
        // Restatements sort after the fingerprints that they correct.
        contents.sort_by_key(|content| content.epoch.count());
        let Some(newest) = contents.pop() else { return Ok(RevisitTarget::Nothing) };
        let before = contents.into_iter().rfind(|content| content.epoch != newest.epoch);
        let also = before.map(|c| (c.fingerprint, c.epoch));
        Ok(RevisitTarget::Content { content: newest, also, points_to })
    }

    /// Finds the content that it repeats, with its fingerprints. Empty if it is not found; several
    /// contents if the record names only a time at which several were seen.
    fn find(&self, known: &mut RevisitContext<'_>) -> simkeep::Result<Vec<Content>> {
        let originals = known.originals;
        let elsewhere = self.declared.and_then(|declared| originals.content(declared));
        let named = self.digest().or_else(|| elsewhere.and_then(|o| o.content.digest));
        let pages = [Some(self.url), self.refers_to.filter(|url| *url != self.url)];
        for url in pages.into_iter().flatten() {
            let corrected = self.declared.and_then(|d| originals.actual_digest(url, d));
            for digest in named.into_iter().chain(corrected) {
                let found = known.history(url)?.with(digest, self.time);
                if !found.is_empty() {
                    return Ok(found);
                }
            }
        }
        // If the digest is known, the time is not used to find the content.
        if named.is_none()
            && let Some(time) = self.refers_time
        {
            let found = known.history(self.refers_to.unwrap_or(self.url))?.seen_at(time);
            if !found.is_empty() {
                return Ok(found);
            }
        }
        let contents = elsewhere.into_iter().flat_map(|original| {
            let also = original.also.map(|(fingerprint, epoch)| Content {
                fingerprint,
                epoch,
                ..original.content
            });
            [original.content].into_iter().chain(also)
        });
        Ok(contents.collect())
    }
}
