//! A record that says: the same content as before.

use simkeep::{Content, Digest, Entry, Epoch, Seen, Snapshot, Time};

use super::histories::{Histories, History};
use super::originals::Originals;
use super::pending::Pending;
use crate::input::epochs::Made;
use simkeep_formats::Declared;

/// A record that says: the same content as before.
pub(super) struct Revisit<'a> {
    pub(super) url: &'a str,
    pub(super) time: i64,
    /// The digest of what it repeats.
    pub(super) declared: Option<&'a Declared>,
    /// The page and the time of what it repeats.
    pub(super) refers_to: Option<&'a str>,
    pub(super) refers_time: Option<i64>,
}

/// What a revisit repeats.
pub(super) enum Resolved {
    /// It was observed before.
    Known,
    /// Content, by its newest fingerprint of an epoch that lives, and the one before.
    Content(Content, Option<Made>),
    /// Its original is not known.
    Nothing,
}

/// All that is known of pages.
pub(super) struct Known<'k> {
    pub(super) store: Snapshot,
    pub(super) pending: &'k [Pending],
    pub(super) histories: &'k mut Histories,
    pub(super) originals: &'k Originals,
}

impl Known<'_> {
    fn history(&mut self, url: &str) -> simkeep::Result<&History> {
        self.histories.of(&self.store, self.pending, url)
    }

    /// Whether an epoch has ended: its fingerprints are of no use.
    fn has_ended(&self, epoch: Epoch) -> bool {
        self.store.epochs().iter().any(|info| info.epoch == epoch && info.ended)
    }

    /// The content of a page as it stands, where a look at that tells all: no other fingerprint of it
    /// can be of use, and nothing of the page waits for its batch.
    fn in_force(&self, url: &str, before: i64) -> simkeep::Result<Option<Content>> {
        let live = self.store.epochs().iter().filter(|info| !info.ended).count();
        if live > 1
            || self.histories.have(url)
            || self.pending.iter().any(|pending| pending.url == url)
        {
            return Ok(None);
        }
        let page =
            self.store.latest(url)?.filter(|page| page.last.time < Time::from_ms_unchecked(before));
        let content = page.and_then(|page| page.content);
        Ok(content.filter(|content| !self.has_ended(content.epoch)))
    }
}

impl Revisit<'_> {
    /// The digest of what it repeats, if it is one that is kept.
    pub(super) fn digest(&self) -> Option<Digest> {
        self.declared.and_then(Declared::kept)
    }

    /// Finds the original: in the page's own history, else in that of the page it refers to, else
    /// among what the input held so far.
    ///
    /// Whether it is known must not depend on what came after it, nor on what else is ingested with it
    /// now, so that an ingest that was interrupted can be begun again.
    pub(super) fn resolve(&self, known: &mut Known<'_>) -> simkeep::Result<Resolved> {
        let kept = self.digest();
        if let Some(content) = known.in_force(self.url, self.time)?
            && content.digest.is_some()
            && content.digest == kept
        {
            // The usual case: nothing has changed since, so no history needs to be read.
            return Ok(Resolved::Content(content, None));
        }
        let contents = self.find(known)?;
        let own = known.history(self.url)?;
        let is_known = own.at(self.time).filter_map(Entry::visit).any(|visit| match &visit.seen {
            // What is not named by its digest may have been found when this was observed, and
            // something else now.
            Seen::Content(content) => {
                kept.is_none() || contents.iter().any(|c| c.digest == content.digest)
            }
            Seen::NotModified { digest } => *digest == kept,
            Seen::Gone | Seen::Failed => false,
        });
        if is_known {
            return Ok(Resolved::Known);
        }
        // Of several the last.
        let last = contents.last().and_then(|last| last.digest);
        let mut contents = contents;
        contents.retain(|content| content.digest == last && !known.has_ended(content.epoch));
        // What was restated comes behind what it corrects.
        contents.sort_by_key(|content| content.epoch.count());
        let Some(newest) = contents.pop() else { return Ok(Resolved::Nothing) };
        let before = contents.into_iter().rfind(|content| content.epoch != newest.epoch);
        Ok(Resolved::Content(newest, before.map(|c| (c.fingerprint, c.epoch))))
    }

    /// The content that it repeats, by its fingerprints; none if it is not found, and several if it
    /// only says when it was seen, and several were.
    fn find(&self, known: &mut Known<'_>) -> simkeep::Result<Vec<Content>> {
        let originals = known.originals;
        let elsewhere = self.declared.and_then(|declared| originals.content(declared));
        let named = self.digest().or_else(|| elsewhere.and_then(|o| o.content.digest));
        let pages = [Some(self.url), self.refers_to.filter(|url| *url != self.url)];
        for url in pages.into_iter().flatten() {
            let corrected = self.declared.and_then(|d| originals.corrected(url, d));
            for digest in named.into_iter().chain(corrected) {
                let found = known.history(url)?.with(digest, self.time);
                if !found.is_empty() {
                    return Ok(found);
                }
            }
        }
        // A digest that is known is found where it is, and nowhere else.
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
