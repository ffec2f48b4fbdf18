//! Entries become observations, batch by batch.

use std::num::NonZeroUsize;

use simkeep::{Answer, Content, Digest, Entry, Given, Origin, Restated, Seen, Store, Terms, Visit};

use super::Failure;
use super::histories::Histories;
use super::originals::{Original, Originals};
use super::pending::Pending;
use super::revisit::{Known, Resolved, Revisit};
use super::summary::Summary;
use crate::feed::{self, Found, Properties, Text};
use crate::incoming::{Epochs, Made, Register, Told};
use simkeep_archive::Captured;

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
    histories: Histories,
    originals: Originals,
    pub(super) summary: Summary,
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
            epochs: Epochs::new(Register::Store(store), origins),
            batch,
            pending: Vec::new(),
            histories: Histories::default(),
            originals: Originals::default(),
            summary: Summary::default(),
        }
    }

    /// Takes an entry; it is observed with its batch.
    pub(super) fn take(&mut self, entry: feed::Entry) -> Result<(), Failure> {
        self.summary.records += 1;
        self.summary.wrong_digests += u64::from(entry.wrong().is_some());
        let feed::Entry { url, time, status, modified, given, digest, claim, found } = entry;
        let (mut also, mut is_brief) = (None, false);
        let content = |fingerprint, epoch| Content { fingerprint, digest, epoch };
        let restated =
            |fingerprint, epoch| Entry::Restated(Restated { time, fingerprint, digest, epoch });
        let visit = |seen| Entry::Visit(Visit { time, seen, status, modified });
        let entry = match found {
            Found::Text(Text { fingerprints, is_brief: brief }) => {
                is_brief = brief;
                let ((fingerprint, epoch), other) = self.epochs.of_texts(&fingerprints)?;
                self.summary.too_short += u64::from(fingerprint.is_none());
                also = other;
                let seen = content(fingerprint, epoch);
                let original = Original { content: seen, also };
                self.originals.saw(&url, claim.as_deref(), original);
                let told = Told::of(&self.store.snapshot(), &url, time, digest)?;
                if self.restate || told.visit(status).is_some() {
                    // That it was seen is known, perhaps from before there was one of the epochs.
                    let made = [Some((fingerprint, epoch)), also].into_iter().flatten();
                    self.restate(&url, (time, digest), &told, made)?;
                    return self.give(&url, time, &given);
                }
                visit(Seen::Content(seen))
            }
            Found::Ready(fingerprint, name) => {
                let name = name.unwrap_or_else(|| self.ready_made.clone());
                let epoch = self.epochs.named(&name, Terms::default())?;
                visit(Seen::Content(content(fingerprint, epoch)))
            }
            Found::Restated(fingerprint, name) => {
                restated(fingerprint, self.epochs.named(&name, Terms::default())?)
            }
            Found::Given => return self.give(&url, time, &given),
            Found::NotModified => visit(Seen::NotModified { digest }),
            Found::Gone => visit(Seen::Gone),
            Found::Failed => visit(Seen::Failed),
            Found::Revisit(..) if self.restate => visit(Seen::NotModified { digest }),
            Found::Revisit(refers_to, refers_time) => {
                let revisit = Revisit {
                    url: &url,
                    time,
                    declared: claim.as_ref().map(|claim| &claim.declared),
                    refers_to: refers_to.as_deref(),
                    refers_time,
                };
                match self.resolve(&revisit)? {
                    Resolved::Known => {
                        self.summary.known += 1;
                        return Ok(());
                    }
                    Resolved::Content(content, other) => {
                        also = other;
                        visit(Seen::Content(content))
                    }
                    Resolved::Binary => {
                        // It has nothing to say of a page after all.
                        self.summary.records -= 1;
                        let declared = claim.map(|claim| claim.declared);
                        self.binary(&Captured { url, time, declared });
                        return Ok(());
                    }
                    Resolved::Nothing => {
                        self.summary.revisits_alone += 1;
                        visit(Seen::NotModified { digest })
                    }
                }
            }
        };
        let entry = match entry {
            Entry::Visit(Visit { seen: Seen::Content(content), .. }) if self.restate => {
                also = None;
                restated(content.fingerprint, content.epoch)
            }
            Entry::Visit(_) if self.restate => {
                self.summary.passed("visit");
                return Ok(());
            }
            entry => entry,
        };
        self.add(Pending { url, entry, also, given, is_brief })
    }

    fn add(&mut self, pending: Pending) -> Result<(), Failure> {
        self.histories.told(&pending);
        self.pending.push(pending);
        if self.pending.len() >= self.batch.get() { self.flush() } else { Ok(()) }
    }

    /// Gives a page what comes without a visit.
    fn give(&mut self, url: &str, time: i64, given: &Properties) -> Result<(), Failure> {
        given.iter().try_for_each(|property| {
            let entry = Entry::Given(Given { time, property: *property });
            self.add_alone(url, entry)
        })
    }

    /// Adds an entry that is no visit.
    fn add_alone(&mut self, url: &str, entry: Entry) -> Result<(), Failure> {
        let (url, given) = (url.to_owned(), Properties::new());
        self.add(Pending { url, entry, also: None, given, is_brief: false })
    }

    /// Restates what a page held in each of these epochs in which that is not known.
    fn restate(
        &mut self,
        url: &str,
        (time, digest): (i64, Option<Digest>),
        told: &Told,
        made: impl Iterator<Item = Made>,
    ) -> Result<(), Failure> {
        // What was never seen is missing once.
        let most = if told.is_known() { usize::MAX } else { 1 };
        let mut is_known = true;
        for (fingerprint, epoch) in told.missing(made).take(most) {
            let restated = Restated { time, fingerprint, digest, epoch };
            self.add_alone(url, Entry::Restated(restated))?;
            is_known = false;
        }
        self.summary.known += u64::from(is_known);
        Ok(())
    }

    /// Takes content that is no text: what repeats it is none either.
    pub(super) fn binary(&mut self, captured: &Captured) {
        self.summary.passed("binary");
        self.originals.passed(captured);
    }

    /// Finds what a record repeats: in the store and in what waits, as if that were stored.
    fn resolve(&mut self, revisit: &Revisit<'_>) -> Result<Resolved, Failure> {
        let concerned = |url: &str| url == revisit.url || revisit.refers_to == Some(url);
        // Of which content it is, when it waits, the store alone knows.
        let restated = |pending: &Pending| pending.entry.is_restated();
        if self.pending.iter().any(|pending| restated(pending) && concerned(&pending.url)) {
            self.flush()?;
        }
        let mut known = Known {
            store: self.store.snapshot(),
            pending: &self.pending,
            histories: &mut self.histories,
            originals: &self.originals,
        };
        Ok(revisit.resolve(&mut known)?)
    }

    /// Registers an epoch of what comes.
    pub(super) fn epoch(&mut self, name: &str, terms: Terms) -> Result<(), Failure> {
        self.epochs.named(name, terms)?;
        Ok(())
    }

    /// Observes what is pending: durable when this returns.
    pub(super) fn flush(&mut self) -> Result<(), Failure> {
        let batch: Vec<_> = self.pending.iter().map(Pending::request).collect();
        for (answer, pending) in self.store.request_batch(&batch)?.into_iter().zip(&self.pending) {
            match answer {
                Answer::Observed(outcome) => self.summary.outcome(&outcome, pending.is_brief),
                Answer::Restated(outcome) => self.summary.restated(outcome),
                Answer::Given(outcome) => self.summary.given(&pending.entry, outcome),
            }
        }
        self.pending.clear();
        Ok(())
    }
}
