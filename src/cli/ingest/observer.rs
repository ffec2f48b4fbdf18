//! Entries become observations, batch by batch.

use std::num::NonZeroUsize;

use simkeep::{Content, Digest, Epoch, Observation, Origin, Seen, Store, Visit};

use super::Failure;
use super::summary::Summary;
use crate::cli::feed::{Entry, Found};
use crate::cli::incoming::{Epochs, Made};

/// Observes entries in their order.
pub(super) struct Observer<'a> {
    store: &'a Store,
    /// The epoch of ready-made fingerprints that name none.
    ready_made: String,
    /// Whether nothing is a visit: fingerprints are of what was seen before.
    restate: bool,
    epochs: Epochs<'a>,
    batch: NonZeroUsize,
    pending: Vec<Pending>,
    pub(super) summary: Summary,
}

/// An observation that waits for its batch.
struct Pending {
    url: String,
    visit: Visit,
    also: Option<Made>,
}

impl Pending {
    fn observation(&self) -> Observation<'_> {
        Observation { url: &self.url, visit: self.visit, also: self.also }
    }
}

impl<'a> Observer<'a> {
    pub(super) fn new(
        store: &'a Store,
        origins: Vec<Origin>,
        ready_made: String,
        restate: bool,
        batch: NonZeroUsize,
    ) -> Observer<'a> {
        Observer {
            store,
            ready_made,
            restate,
            epochs: Epochs::new(store, origins),
            batch,
            pending: Vec::new(),
            summary: Summary::default(),
        }
    }

    /// Takes an entry; it is observed with its batch.
    pub(super) fn take(&mut self, entry: Entry) -> Result<(), Failure> {
        let Entry { url, time, status, digest, found } = entry;
        self.summary.records += 1;
        let mut also = None;
        let content = |fingerprint, epoch| Content { fingerprint, digest, epoch };
        let seen = match found {
            Found::Texts(fingerprints) => {
                let made = self.epochs.of_texts(&fingerprints)?;
                let Some(((fingerprint, epoch), other)) = made else { return Ok(()) };
                also = other;
                let seen = content(fingerprint, epoch);
                if also.is_some() && self.is_known(&url, time, status, digest)? {
                    // Told before, when there was another epoch: that it was seen is known.
                    also = None;
                    Seen::Restated(seen)
                } else {
                    Seen::Content(seen)
                }
            }
            Found::Ready(fingerprint, name) => {
                let name = name.unwrap_or_else(|| self.ready_made.clone());
                Seen::Content(content(fingerprint, self.epochs.named(&name)?))
            }
            Found::Restated(fingerprint, name) => {
                Seen::Restated(content(fingerprint, self.epochs.named(&name)?))
            }
            Found::NotModified => Seen::NotModified { digest },
            Found::Gone => Seen::Gone,
            Found::Failed => Seen::Failed,
            Found::Revisit(..) if self.restate => Seen::NotModified { digest },
            Found::Revisit(refers_to, refers_time) => {
                let revisit = Revisit {
                    url: &url,
                    time,
                    digest,
                    refers_to: refers_to.as_deref(),
                    refers_time,
                };
                // What it is found to repeat must not depend on what the batch still holds.
                if self.pending.iter().any(|pending| revisit.concerns(&pending.url)) {
                    self.flush()?;
                }
                match revisit.resolve(self.store)? {
                    Resolved::Known => {
                        self.summary.known += 1;
                        return Ok(());
                    }
                    Resolved::Content(content, other) => {
                        also = other;
                        Seen::Content(content)
                    }
                    Resolved::Nothing => {
                        self.summary.revisits_alone += 1;
                        Seen::NotModified { digest }
                    }
                }
            }
        };
        let seen = match seen {
            Seen::Content(content) if self.restate => {
                also = None;
                Seen::Restated(content)
            }
            seen if self.restate && !seen.is_restated() => {
                self.summary.passed("visit");
                return Ok(());
            }
            seen => seen,
        };
        self.pending.push(Pending { url, visit: Visit { time, seen, status }, also });
        if self.pending.len() >= self.batch.get() { self.flush() } else { Ok(()) }
    }

    /// Whether a visit at this time is known, with the content of this digest in whatever epoch.
    fn is_known(
        &self,
        url: &str,
        time: i64,
        status: Option<u16>,
        digest: Option<Digest>,
    ) -> Result<bool, Failure> {
        // Nearly always the visit is later than all others.
        if digest.is_none() || self.store.latest(url)?.is_none_or(|page| page.last.time < time) {
            return Ok(false);
        }
        let is_it = |visit: &Visit| (visit.time, visit.status) == (time, status);
        let saw = |visit: &Visit| matches!(visit.seen, Seen::Content(c) if c.digest == digest);
        Ok(visits(self.store, url)?.iter().any(|visit| is_it(visit) && saw(visit)))
    }

    /// Registers an epoch of what comes.
    pub(super) fn epoch(&mut self, name: &str) -> Result<(), Failure> {
        self.epochs.named(name)?;
        Ok(())
    }

    /// Observes what is pending: durable when this returns.
    pub(super) fn flush(&mut self) -> Result<(), Failure> {
        let pending = self.pending.iter();
        let batch: Vec<_> = pending.map(Pending::observation).collect();
        for outcome in self.store.observe_batch(&batch)? {
            self.summary.outcome(&outcome);
        }
        self.pending.clear();
        Ok(())
    }
}

/// A record that says: the same content as before.
struct Revisit<'a> {
    url: &'a str,
    time: i64,
    digest: Option<Digest>,
    refers_to: Option<&'a str>,
    refers_time: Option<i64>,
}

/// What a revisit repeats.
enum Resolved {
    /// It was observed before.
    Known,
    /// Content, by its newest fingerprint of an epoch that lives, and the one before.
    Content(Content, Option<(u64, Epoch)>),
    /// Its original is not in the store.
    Nothing,
}

impl Revisit<'_> {
    /// Whether what is known of a page matters to this.
    fn concerns(&self, url: &str) -> bool {
        self.url == url || self.refers_to == Some(url)
    }

    /// Finds the original: in the page's own history, else in that of the page it refers to; for a
    /// record without a digest, only there. Whether it is known must not depend on what came after
    /// it, so that an ingest that was interrupted can be begun again.
    fn resolve(&self, store: &Store) -> Result<Resolved, Failure> {
        let epochs = store.epochs();
        let ended = |content: &Content| {
            epochs.iter().any(|info| info.epoch == content.epoch && info.retired)
        };
        if let Some(digest) = self.digest
            && let Some(page) = store.latest(self.url)?
            && page.last.time < self.time
            && let Some(content) = page.content
            && content.digest == Some(digest)
            && !ended(&content)
        {
            // The usual case: nothing has changed since, so no history needs to be read.
            return Ok(Resolved::Content(content, None));
        }
        let own = visits(store, self.url)?;
        let mut repeated = match self.digest {
            Some(_) => self.repeated(&own),
            None => Vec::new(),
        };
        if let (true, Some(url)) = (repeated.is_empty(), self.refers_to) {
            repeated = self.repeated(&visits(store, url)?);
        }
        let is_this = |visit: &Visit| match &visit.seen {
            Seen::Content(content) => repeated.iter().any(|v| v.seen.content() == Some(content)),
            Seen::NotModified { digest } => *digest == self.digest,
            Seen::Gone | Seen::Failed | Seen::Restated(_) => false,
        };
        if own.iter().any(|visit| visit.time == self.time && is_this(visit)) {
            return Ok(Resolved::Known);
        }
        // The last until then, or else the first.
        let until = repeated.iter().rev().find(|visit| visit.time <= self.time);
        let Some(original) = until.or(repeated.first()) else { return Ok(Resolved::Nothing) };
        let url =
            if own.contains(original) { self.url } else { self.refers_to.unwrap_or(self.url) };
        // Its fingerprints, of which those of epochs that have ended are no use.
        let of = |visit: &Visit| (visit.time, visit.seen.digest());
        let history = store.history(url)?;
        let same = history.iter().map(|v| v.visit).filter(|visit| of(visit) == of(original));
        let mut contents: Vec<Content> =
            same.filter_map(|visit| visit.seen.content().copied()).filter(|c| !ended(c)).collect();
        contents.sort_by_key(|content| content.epoch.count());
        let newest = contents.pop();
        let before =
            newest.and_then(|newest| contents.into_iter().rfind(|c| c.epoch != newest.epoch));
        Ok(newest.map_or(Resolved::Nothing, |newest| {
            Resolved::Content(newest, before.map(|c| (c.fingerprint, c.epoch)))
        }))
    }

    /// The visits that this may repeat: those with its digest; for a record without one, those at
    /// the time that it names.
    fn repeated(&self, visits: &[Visit]) -> Vec<Visit> {
        let repeated = |visit: &&Visit| match (visit.seen.content(), self.digest) {
            (Some(content), Some(digest)) => content.digest == Some(digest),
            (Some(_), None) => Some(visit.time) == self.refers_time,
            (None, _) => false,
        };
        visits.iter().filter(repeated).copied().collect()
    }
}

fn visits(store: &Store, url: &str) -> Result<Vec<Visit>, Failure> {
    let history = store.history(url)?;
    let visits = history.iter().map(|version| version.visit);
    Ok(visits.filter(|visit| !visit.seen.is_restated()).collect())
}
