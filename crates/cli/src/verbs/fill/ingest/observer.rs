//! Turns entries into observations, batch by batch.

use std::num::NonZeroUsize;
use std::path::Path;
use std::time::Duration;

use simkeep::{
    Content, Digest, Entry, EpochOptions, OperationResult, PropertyEntry, PropertyOutcome,
    Restated, Seen, Store, Time, Visit,
};
use simkeep_formats::{BrokenRecord, InputQuery, digest_of_file, escape, file_of};

use super::histories::HistoryCache;
use super::originals::{CachedContent, ContentCache};
use super::outcomes::OutcomePrinter;
use super::pending::PendingRequest;
use super::revisit::{RevisitContext, RevisitRecord, RevisitTarget};
use super::summary::IngestSummary;
use super::unvisited::UnvisitedProperties;
use super::{VerbError, present};
use crate::input::epochs::{
    EpochFingerprint, EpochTarget, InputEpochs, KnownContent, is_of_record,
};
use crate::input::feed::{self, EntryPayload, FingerprintedText, PageProperties};
use crate::input::origin::TextOrigins;

/// The kind of a redirect that is skipped because its page had content at the same time.
const SUPERSEDED: &str = "redirect before content";

/// The time without a new record after which waiting records are observed.
const IDLE: Duration = Duration::from_secs(1);

/// The result for a record.
enum RecordKind {
    /// It added entries to a page.
    Record,
    /// It is a visit that the store already had.
    Known,
    /// It is of this kind, which is not ingested.
    Passed(&'static str),
}

/// The treatment of a record.
enum RecordStep {
    /// Add an entry, with the fingerprint of its content in another epoch.
    Add(Entry, Option<EpochFingerprint>),
    /// Add an entry that repeats content, with the URL to which the content points.
    Repeat(Entry, Option<EpochFingerprint>, Option<Box<str>>),
    /// Nothing remains to be done.
    End(RecordKind),
}

/// Observes entries in their order.
pub(super) struct BatchObserver<'a> {
    store: &'a Store,
    /// The epoch of ready-made fingerprints that name no epoch.
    ready_made: String,
    /// Whether to restate earlier visits instead of recording new ones.
    restate: bool,
    epochs: InputEpochs<'a>,
    batch: NonZeroUsize,
    pending: Vec<PendingRequest>,
    histories: HistoryCache,
    originals: ContentCache,
    /// The current time, if the user set it.
    pub(super) now: Option<simkeep::Time>,
    /// The number of requests that the current record has made so far.
    requests: usize,
    /// Weights and classes of pages that have no visit yet, which are kept until the end of the
    /// input. `None` with `--outcomes`, since each line must say at once whether its record was
    /// stored.
    unvisited: Option<UnvisitedProperties>,
    /// The writer of outcomes, if the user asked for them.
    pub(super) outcomes: Option<OutcomePrinter<'a>>,
    pub(super) summary: IngestSummary,
}

impl<'a> BatchObserver<'a> {
    pub(super) fn new(
        store: &'a Store,
        makers: TextOrigins,
        ready_made: String,
        restate: bool,
        batch: NonZeroUsize,
        outcomes: Option<OutcomePrinter<'a>>,
    ) -> BatchObserver<'a> {
        BatchObserver {
            store,
            ready_made,
            restate,
            epochs: InputEpochs::new(EpochTarget::Store(store), makers),
            batch,
            pending: Vec::new(),
            histories: HistoryCache::default(),
            originals: ContentCache::default(),
            now: None,
            requests: 0,
            unvisited: outcomes.is_none().then(UnvisitedProperties::default),
            outcomes,
            summary: IngestSummary::default(),
        }
    }

    /// Takes an entry, which is observed with its batch. Returns the reason if the entry proves to
    /// be broken.
    pub(super) fn take(
        &mut self,
        mut entry: feed::InputEntry,
    ) -> Result<Option<BrokenRecord>, VerbError> {
        match entry.found {
            EntryPayload::Text(FingerprintedText { is_file: true, .. }) => {
                entry.time = self.seen(&entry)?
            }
            EntryPayload::BinaryFile => match self.digested(&mut entry)? {
                None => {}
                Some(Ok(kind)) => return self.take_passed(kind).map(|()| None),
                Some(Err(broken)) => return Ok(Some(broken)),
            },
            _ => {}
        }
        let named = self.outcomes.as_ref().map(|_| (entry.url.clone(), entry.time));
        self.requests = 0;
        let at = entry.url.clone();
        let taken = match self.request(entry) {
            Ok(taken) => taken,
            Err(VerbError::Store(e)) if is_of_record(&e) => {
                self.summary.records -= 1;
                let at = escape::escape_untruncated(&at);
                return Ok(Some(BrokenRecord { at, why: e.to_string() }));
            }
            Err(e) => return Err(e),
        };
        if let (Some(outcomes), Some((url, time))) = (&mut self.outcomes, named) {
            match taken {
                RecordKind::Record => outcomes.record(url, time, (self.requests, false)),
                RecordKind::Known => outcomes.record(url, time, (self.requests, true)),
                RecordKind::Passed(kind) => outcomes.passed(kind),
            }
        }
        self.flush_if_full().map(|()| None)
    }

    /// Reads the digest of a file that is not text, and turns the file into binary content, if the
    /// store has content of its page. Otherwise returns why the file is skipped.
    fn digested(
        &mut self,
        entry: &mut feed::InputEntry,
    ) -> Result<Option<Result<&'static str, BrokenRecord>>, VerbError> {
        let known = self.store.snapshot().latest(&entry.url)?;
        if known.is_none_or(|page| page.gone || page.content.is_none()) {
            return Ok(Some(Ok("binary")));
        }
        let path = entry.url.strip_prefix("file:///").and_then(file_of);
        let Some(path) = path.map(|path| Path::new("/").join(path)) else {
            return Ok(Some(Ok("binary")));
        };
        match digest_of_file(&path) {
            Ok(digest) => entry.digest = Some(digest),
            Err(e) => {
                let at = escape::escape_untruncated(&entry.url);
                return Ok(Some(Err(BrokenRecord { at, why: e.to_string() })));
            }
        }
        entry.found = EntryPayload::Binary;
        entry.time = self.seen(entry)?;
        Ok(None)
    }

    /// Whether a visit is a redirect of a page that had content at the same time. A server that
    /// sets a cookie, or insists on another protocol, redirects once and then sends the content,
    /// all within one second of an archive's clock. The content counts, whichever comes first.
    fn is_superseded(&mut self, url: &str, entry: &Entry) -> Result<bool, VerbError> {
        let Some(content) = entry.visit().and_then(|visit| visit.seen.content()) else {
            return Ok(false);
        };
        let is_redirect = content.is_redirect();
        let same = |pending: &PendingRequest| {
            let seen = pending.entry.visit().and_then(|visit| visit.seen.content());
            pending.url == url
                && pending.entry.time() == entry.time()
                && seen.is_some_and(|seen| seen.is_redirect() != is_redirect)
        };
        let at = self.pending.iter().rposition(same);
        if !is_redirect {
            if let Some(at) = at {
                self.pending.remove(at);
                self.outcomes.iter_mut().for_each(|outcomes| outcomes.withdraw(at));
                self.summary.passed(SUPERSEDED);
            }
            return Ok(false);
        }
        let is_known = || {
            let page = self.store.snapshot().latest(url)?;
            let at_once = page.filter(|page| page.content_seen == Some(entry.time()));
            Ok::<_, VerbError>(
                at_once.and_then(|page| page.content).is_some_and(|c| !c.is_redirect()),
            )
        };
        Ok(at.is_some() || is_known()?)
    }

    /// The time at which the content of a file was seen, in milliseconds since 1970.
    fn seen(&mut self, entry: &feed::InputEntry) -> Result<i64, VerbError> {
        let known = self.store.snapshot().latest(&entry.url)?;
        if self.restate
            || known
                .as_ref()
                .is_none_or(|page| page.last.time < Time::from_ms_unchecked(entry.time))
        {
            return Ok(entry.time);
        }
        if self.pending.iter().any(|pending| pending.url == entry.url) {
            self.flush()?;
        }
        let known = self.store.snapshot().latest(&entry.url)?;
        let now = self.now.unwrap_or_else(Time::now).as_ms();
        Ok(present::seen(entry.time, entry.digest, known.as_ref(), now))
    }

    /// Makes the requests of an entry.
    fn request(&mut self, mut from: feed::InputEntry) -> Result<RecordKind, VerbError> {
        self.summary.records += 1;
        self.summary.wrong_digests += u64::from(from.wrong().is_some());
        self.summary.long_etags += u64::from(from.given.has_long_etag());
        let (entry, also) = match self.step(&from)? {
            RecordStep::Add(entry, also) => (entry, also),
            RecordStep::Repeat(entry, also, target) => {
                from.given.target = target;
                (entry, also)
            }
            RecordStep::End(taken) => return Ok(taken),
        };
        let (entry, also) = match entry {
            Entry::Visit(Visit { seen: Seen::Content(content), .. })
                if self.restate && !content.is_redirect() =>
            {
                (from.restated(content.fingerprint, content.epoch), None)
            }
            Entry::Visit(_) if self.restate => return Ok(self.pass("visit")),
            entry => (entry, also),
        };
        if self.is_superseded(&from.url, &entry)? {
            return Ok(self.pass(SUPERSEDED));
        }
        let feed::InputEntry { url, given, .. } = from;
        self.add(PendingRequest { url, entry, also, given });
        Ok(RecordKind::Record)
    }

    /// Counts a record of this kind as skipped.
    fn pass(&mut self, kind: &'static str) -> RecordKind {
        self.summary.passed(kind);
        RecordKind::Passed(kind)
    }

    /// Determines the treatment of an entry.
    fn step(&mut self, from: &feed::InputEntry) -> Result<RecordStep, VerbError> {
        let entry = match &from.found {
            EntryPayload::Text(_) | EntryPayload::Binary => return self.content(from),
            EntryPayload::Revisit(refers_to, refers_time) if !self.restate => {
                return self.revisit(from, refers_to.as_deref(), *refers_time);
            }
            EntryPayload::NotModified | EntryPayload::Revisit(..) => {
                from.visit(Seen::NotModified { digest: from.digest })
            }
            EntryPayload::Ready(fingerprint, name) => {
                let name = name.as_ref().unwrap_or(&self.ready_made);
                from.content((
                    *fingerprint,
                    self.epochs.find_or_begin(name, EpochOptions::default())?,
                ))
            }
            EntryPayload::Restated(fingerprint, name) => from
                .restated(*fingerprint, self.epochs.find_or_begin(name, EpochOptions::default())?),
            EntryPayload::Properties => {
                self.set_properties(&from.url, from.time, &from.given);
                return Ok(RecordStep::End(RecordKind::Record));
            }
            EntryPayload::Gone => from.visit(Seen::Gone),
            EntryPayload::Redirect(digest) => {
                self.summary.redirects += 1;
                from.visit(Seen::Content(Content::redirect(*digest)))
            }
            EntryPayload::Failed(failure) => {
                self.summary.failed_by(*failure);
                from.visit(Seen::Failed)
            }
            EntryPayload::BinaryFile => {
                return Err(VerbError::Other("a file has no digest; this is a bug".to_owned()));
            }
        };
        Ok(RecordStep::Add(entry, None))
    }

    /// Determines the treatment of a record with content: a text or binary content.
    fn content(&mut self, from: &feed::InputEntry) -> Result<RecordStep, VerbError> {
        let feed::InputEntry { url, time, status, given, digest, claim, found, .. } = from;
        let (made, also) = match found {
            EntryPayload::Text(FingerprintedText { fingerprints, .. }) => {
                if let Some(why) = self.epochs.why_no_texts() {
                    return Err(VerbError::Usage(why.to_owned()));
                }
                let made = self.epochs.of_texts(fingerprints)?;
                self.summary.too_short += u64::from(made.0.0.is_none());
                made
            }
            _ => {
                self.summary.not_text += 1;
                self.epochs.of_binary()?
            }
        };
        let (fingerprint, epoch) = made;
        let content = Content { fingerprint, digest: *digest, epoch };
        self.originals.insert(url, claim.as_deref(), CachedContent { content, also });
        let mut known = KnownContent::read(&self.store.snapshot(), url, *time, *digest)?;
        // A repeated visit may differ in facts of the response. The result must not depend on
        // whether a batch ended between the two.
        let at = Time::from_ms_unchecked(*time);
        let waiting = self.pending.iter().filter(|p| p.entry.time() == at && p.url == *url);
        for entry in waiting.flat_map(PendingRequest::entries) {
            known.add(&entry, *time, *digest);
        }
        if self.restate || known.visit(*status).is_some() {
            // The visit is known, perhaps from before one of the epochs began.
            self.restate(url, (*time, *digest), &known, [Some(made), also].into_iter().flatten());
            self.set_properties(url, *time, given);
            return Ok(RecordStep::End(RecordKind::Known));
        }
        Ok(RecordStep::Add(from.content(made), also))
    }

    /// Determines the treatment of a record that repeats the content of another record.
    fn revisit(
        &mut self,
        from: &feed::InputEntry,
        refers_to: Option<&str>,
        refers_time: Option<i64>,
    ) -> Result<RecordStep, VerbError> {
        let declared = from.claim.as_ref().map(|claim| &claim.declared);
        let revisit =
            RevisitRecord { url: &from.url, time: from.time, declared, refers_to, refers_time };
        Ok(match self.resolve(&revisit)? {
            RevisitTarget::Known => {
                self.summary.known += 1;
                RecordStep::End(RecordKind::Known)
            }
            RevisitTarget::Content { content, also, points_to } => {
                let target = from.given.target.clone().or(points_to);
                RecordStep::Repeat(from.visit(Seen::Content(content)), also, target)
            }
            RevisitTarget::Nothing => {
                self.summary.revisits_alone += 1;
                let visit = from.visit(Seen::NotModified { digest: from.digest });
                RecordStep::Repeat(visit, None, None)
            }
        })
    }

    fn add(&mut self, pending: PendingRequest) {
        self.histories.add(&pending);
        self.pending.push(pending);
        self.requests += 1;
    }

    /// Adds properties that came without a visit.
    fn set_properties(&mut self, url: &str, time: i64, given: &PageProperties) {
        let time = Time::from_ms_unchecked(time);
        for property in given.of_page(url) {
            self.add_alone(url, Entry::Property(PropertyEntry { time, property }));
        }
    }

    /// Adds an entry that is not a visit.
    fn add_alone(&mut self, url: &str, entry: Entry) {
        let (url, given) = (url.to_owned(), PageProperties::default());
        self.add(PendingRequest { url, entry, also: None, given });
    }

    /// Restates content in each of these epochs in which its fingerprint is unknown.
    fn restate(
        &mut self,
        url: &str,
        (time, digest): (i64, Option<Digest>),
        known: &KnownContent,
        made: impl Iterator<Item = EpochFingerprint>,
    ) {
        // Content that was never seen is counted as missing only once.
        let most = if known.is_known() { usize::MAX } else { 1 };
        let mut is_known = true;
        for (fingerprint, epoch) in known.missing(made).take(most) {
            let restated =
                Restated { time: Time::from_ms_unchecked(time), fingerprint, digest, epoch };
            self.add_alone(url, Entry::Restated(restated));
            is_known = false;
        }
        self.summary.known += u64::from(is_known);
    }

    /// Takes a record of this kind, which is not about a page.
    pub(super) fn take_passed(&mut self, kind: &'static str) -> Result<(), VerbError> {
        self.summary.passed(kind);
        self.outcomes.iter_mut().for_each(|outcomes| outcomes.passed(kind));
        self.flush_if_full()
    }

    /// Takes a record that is refused.
    pub(super) fn take_broken(&mut self, broken: &BrokenRecord) -> Result<(), VerbError> {
        self.summary.broken += 1;
        self.outcomes.iter_mut().for_each(|outcomes| outcomes.broken(broken.clone()));
        self.flush_if_full()
    }

    /// Answers a question about the state after all records before it.
    pub(super) fn answer(&mut self, question: &InputQuery) -> Result<(), VerbError> {
        self.flush()?;
        let outcomes = self.outcomes.as_mut().ok_or_else(|| {
            VerbError::Other("a question came where none is answered; this is a bug".to_owned())
        })?;
        outcomes.answer(&self.store.snapshot(), question)
    }

    /// Resolves a revisit with the contents of the store and of the waiting batch.
    fn resolve(&mut self, revisit: &RevisitRecord<'_>) -> Result<RevisitTarget, VerbError> {
        let concerned = |url: &str| url == revisit.url || revisit.refers_to == Some(url);
        // Only the store can determine which content a waiting restatement restates.
        let restated = |pending: &PendingRequest| pending.entry.is_restated();
        if self.pending.iter().any(|pending| restated(pending) && concerned(&pending.url)) {
            self.flush()?;
        }
        let mut known = RevisitContext {
            store: self.store.snapshot(),
            pending: &self.pending,
            histories: &mut self.histories,
            originals: &self.originals,
        };
        Ok(revisit.resolve(&mut known)?)
    }

    /// Registers an epoch that the input names.
    pub(super) fn epoch(&mut self, name: &str, options: EpochOptions) -> Result<(), VerbError> {
        self.epochs.find_or_begin(name, options)?;
        Ok(())
    }

    /// The number of records that wait to be observed, or for their outcomes.
    fn waiting(&self) -> usize {
        let owed = self.outcomes.as_ref().map_or(0, OutcomePrinter::pending_count);
        self.pending.len().max(owed)
    }

    fn flush_if_full(&mut self) -> Result<(), VerbError> {
        if self.waiting() >= self.batch.get() { self.flush() } else { Ok(()) }
    }

    /// Observes the waiting records. They are durable when this returns.
    pub(super) fn flush(&mut self) -> Result<(), VerbError> {
        let batch: Vec<_> = self.pending.iter().map(PendingRequest::operation).collect();
        let answers = self.store.write_batch(&batch)?;
        for (answer, pending) in answers.iter().zip(&self.pending) {
            match answer {
                OperationResult::Observed(outcome) => self.summary.outcome(outcome),
                OperationResult::Restated(outcome) => self.summary.restated(*outcome),
                OperationResult::PropertySet(outcome) => {
                    match (&mut self.unvisited, pending.entry.clone(), outcome) {
                        (Some(unvisited), Entry::Property(given), PropertyOutcome::Missing) => {
                            unvisited.add(&pending.url, &given)?;
                        }
                        (_, entry, outcome) => self.summary.count_property(&entry, *outcome),
                    }
                }
            }
        }
        if let Some(outcomes) = &mut self.outcomes {
            outcomes.write_lines(&self.pending, &answers)?;
        }
        self.pending.clear();
        Ok(())
    }

    /// Sets the properties that came before the first visits of their pages, once the input has
    /// ended.
    pub(super) fn set_late_properties(&mut self) -> Result<(), VerbError> {
        self.flush()?;
        let Some(unvisited) = self.unvisited.take() else { return Ok(()) };
        let mut kept = unvisited.read()?;
        while let Some((url, entry)) = kept.next()? {
            self.add_alone(&url, entry);
            self.flush_if_full()?;
        }
        self.flush()
    }

    /// Flushes the store before and after it writes the pending outcomes. Called on a signal.
    pub(super) fn stop(&mut self) -> Result<(), VerbError> {
        self.store.flush()?;
        self.flush_pending()?;
        Ok(self.store.flush()?)
    }

    /// The time to wait for input before [`flush_pending`](Self::flush_pending): none while another
    /// program may wait for an outcome.
    pub(super) fn input_timeout(&self) -> Duration {
        let is_due = self.outcomes.as_ref().is_some_and(OutcomePrinter::is_due);
        if is_due { Duration::ZERO } else { IDLE }
    }

    /// Observes the waiting records and writes their outcomes, while the input is idle.
    pub(super) fn flush_pending(&mut self) -> Result<(), VerbError> {
        self.flush()?;
        self.outcomes.as_mut().map_or(Ok(()), OutcomePrinter::show)
    }
}
