//! Entries become observations, batch by batch.

use std::collections::HashMap;
use std::num::NonZeroUsize;

use simkeep::{Content, Digest, Epoch, Observation, Seen, Store, Visit, fingerprint};

use super::Failure;
use super::summary::Summary;
use crate::cli::feed::{Entry, Found};

/// Observes entries in their order.
pub(super) struct Observer<'a> {
    store: &'a Store,
    /// The epoch of ready-made fingerprints that name none.
    ready_made: String,
    /// The numbers of the epochs that came up.
    epochs: HashMap<String, Epoch>,
    batch: NonZeroUsize,
    pending: Vec<(String, Visit)>,
    pub(super) summary: Summary,
}

impl<'a> Observer<'a> {
    pub(super) fn new(store: &'a Store, ready_made: String, batch: NonZeroUsize) -> Observer<'a> {
        let (epochs, pending, summary) = (HashMap::new(), Vec::new(), Summary::default());
        Observer { store, ready_made, epochs, batch, pending, summary }
    }

    /// Takes an entry; it is observed with its batch.
    pub(super) fn take(&mut self, entry: Entry) -> Result<(), Failure> {
        let Entry { url, time, status, digest, found } = entry;
        self.summary.records += 1;
        let seen = match found {
            Found::Text(fingerprint) => {
                let epoch = self.epoch(fingerprint::RECIPE)?;
                Seen::Content(Content { fingerprint, digest, epoch })
            }
            Found::Ready(fingerprint, name) => {
                let name = name.unwrap_or_else(|| self.ready_made.clone());
                let epoch = self.epoch(&name)?;
                Seen::Content(Content { fingerprint, digest, epoch })
            }
            Found::NotModified => Seen::NotModified { digest },
            Found::Gone => Seen::Gone,
            Found::Failed => Seen::Failed,
            Found::Revisit(refers_to, refers_time) => {
                let revisit = Revisit {
                    url: &url,
                    time,
                    digest,
                    refers_to: refers_to.as_deref(),
                    refers_time,
                };
                // What it is found to repeat must not depend on what the batch still holds.
                if self.pending.iter().any(|(pending, _)| revisit.concerns(pending)) {
                    self.flush()?;
                }
                match revisit.resolve(self.store)? {
                    Resolved::Known => {
                        self.summary.known += 1;
                        return Ok(());
                    }
                    Resolved::Content(content) => Seen::Content(content),
                    Resolved::Nothing => {
                        self.summary.revisits_alone += 1;
                        Seen::NotModified { digest }
                    }
                }
            }
        };
        self.pending.push((url, Visit { time, seen, status }));
        if self.pending.len() >= self.batch.get() { self.flush() } else { Ok(()) }
    }

    fn epoch(&mut self, name: &str) -> Result<Epoch, Failure> {
        if let Some(&epoch) = self.epochs.get(name) {
            return Ok(epoch);
        }
        let epoch = self.store.epoch(name)?;
        self.epochs.insert(name.to_owned(), epoch);
        Ok(epoch)
    }

    /// Observes what is pending: durable when this returns.
    pub(super) fn flush(&mut self) -> Result<(), Failure> {
        let batch: Vec<Observation<'_>> =
            self.pending.iter().map(|(url, visit)| Observation { url, visit: *visit }).collect();
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
    Content(Content),
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
        if let Some(digest) = self.digest
            && let Some(page) = store.latest(self.url)?
            && page.last.time < self.time
            && let Some(content) = page.content
            && content.digest == Some(digest)
        {
            // The usual case: nothing has changed since, so no history needs to be read.
            return Ok(Resolved::Content(content));
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
            Seen::Gone | Seen::Failed => false,
        };
        if own.iter().any(|visit| visit.time == self.time && is_this(visit)) {
            return Ok(Resolved::Known);
        }
        // The last until then, or else the first.
        let until = repeated.iter().rev().find(|visit| visit.time <= self.time);
        let original = until.or(repeated.first()).and_then(|visit| visit.seen.content());
        Ok(original.map_or(Resolved::Nothing, |content| Resolved::Content(*content)))
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
    Ok(store.history(url)?.iter().map(|version| version.visit).collect())
}
