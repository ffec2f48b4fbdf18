//! The write path: requests are looked up, decided, applied in memory and journalled.
//!
//! Segments are searched before the write lock is taken, by two threads if there is enough work.
//! Under the lock, the memtables are read and the operations are applied. So concurrent calls take
//! effect in some order, and most of the work happens outside the lock.

pub(crate) mod admission;
pub(crate) mod commit;
pub(crate) mod decide;
pub(crate) mod lookup_batch;
pub(crate) mod nearby;
pub(crate) mod searches;
pub(crate) mod validate;
pub(crate) mod write_batch;

use std::sync::Arc;

use self::admission::WriteLock;
use self::lookup_batch::LookupBatch;
use self::validate::{check_in, of_epochs};
use self::write_batch::apply;
use super::clock::FutureVisitCheck;
use super::core::Core;
use super::db::Db;
use super::epochs::check_live;
use super::memtable::Memtable;
use super::pipeline::ChunkPipeline;
use super::results::OperationResult;
use crate::bug::{Bug, OrBug, ensure};
use crate::engine::results::Outcome;
use crate::engine::store::Store;
use crate::error::{Error, Result};
use crate::metrics::{ObservedVisit, SavedBody};
use crate::page::{
    ETag, Observation, Operation, PropertyOutcome, PropertyUpdate, RestateOutcome, Restatement,
    SameBy, Seen, Verdict, Visit,
};
use crate::sync::thread;

impl Store {
    /// Stores requests, and passes the results to `read`. A result of the wrong kind is a bug.
    fn run_operations<T>(
        &self,
        operations: &[Operation<'_>],
        read: impl FnOnce(Vec<OperationResult>) -> Result<T, Bug>,
    ) -> Result<T> {
        self.change(|db| {
            let answers = if operations.is_empty() { Vec::new() } else { observe(db, operations)? };
            read(answers).map_err(Error::from)
        })
    }

    /// Reports one visit to the store. The outcome has the verdict on the page, its copies and
    /// near-duplicates. The visit is durable when this call returns, unless
    /// [`Options::durability`](crate::Options::durability) says otherwise.
    ///
    /// Costs a lookup of the page and a search in every segment, some microseconds together, and a
    /// share of a commit: two or three syncs for all calls that wait at the same time. Waits while
    /// the memtable is full and the previous memtable is still being sealed.
    ///
    /// ```
    /// # use simkeep::{Observation, Options, Store, Time, Verdict, fingerprint};
    /// # fn main() -> simkeep::Result<()> {
    /// # let dir = tempfile::tempdir().unwrap();
    /// # let store = Store::create(dir.path().join("store"), Options::default())?;
    /// let seen = fingerprint::of_text("You may use this site if you behave well and pay a fee.");
    /// let observation =
    ///     Observation::content("https://example.com/terms", Time::now(), seen, store.change_epoch());
    /// let outcome = store.observe(observation.status(200))?;
    /// assert_eq!((outcome.verdict, outcome.near.len()), (Verdict::New, 0));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::Url`], [`Error::Time`], [`Error::UnknownEpoch`], [`Error::EndedEpoch`],
    /// [`Error::InvalidOption`] for a weight that is not finite or not positive,
    /// [`Error::InTheFuture`] with [`Options::clock_tolerance`](crate::Options::clock_tolerance),
    /// or [`Error::Corrupt`] if a page needed for the outcome is damaged: nothing was stored.
    /// [`Error::Io`] if the commit failed: the observation may or may not be stored, and the store
    /// accepts no more writes ([`Error::Poisoned`]) until it is opened again.
    pub fn observe(&self, observation: Observation<'_>) -> Result<Outcome> {
        self.run_operations(&[Operation::Observe(observation)], |mut answers| {
            answers.pop().or_bug("each observation has an outcome")?.observed()
        })
    }

    /// Reports many visits. Each visit is decided after the visits before it.
    ///
    /// The visits become durable together, in one commit or a few. If one of the visits is invalid
    /// (its URL, time or epoch), none is stored. This call is much faster than single calls: the
    /// lookups are interleaved, and share the commit.
    ///
    /// ```
    /// # use simkeep::{Observation, Options, Store, Time};
    /// # fn main() -> simkeep::Result<()> {
    /// # let dir = tempfile::tempdir().unwrap();
    /// # let store = Store::create(dir.path().join("store"), Options::default())?;
    /// let (now, epoch) = (Time::now(), store.change_epoch());
    /// let outcomes = store.observe_batch(&[
    ///     Observation::content("https://example.com/", now, 0b01, epoch),
    ///     Observation::content("https://example.org/", now, 0b11, epoch),
    /// ])?;
    /// assert_eq!(outcomes[1].near[0].url, "https://example.com/");
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// The errors of [`observe`](Store::observe). After [`Error::Corrupt`], the visits before the
    /// visit that could not be decided are stored, and the rest is not. Observing all visits again
    /// is harmless.
    pub fn observe_batch(&self, observations: &[Observation<'_>]) -> Result<Vec<Outcome>> {
        let operations: Vec<_> = observations.iter().copied().map(Operation::Observe).collect();
        self.run_operations(&operations, |answers| {
            answers.into_iter().map(OperationResult::observed).collect()
        })
    }

    /// Stores observations, restatements and properties in one call.
    ///
    /// Each operation is decided after the operations before it. The operations become durable
    /// together, in one commit or a few. If one of the operations is invalid (its URL, time or
    /// epoch), none is stored.
    ///
    /// ```
    /// # use simkeep::{Observation, Operation, Options, PropertyUpdate, Store, Time};
    /// # fn main() -> simkeep::Result<()> {
    /// # let dir = tempfile::tempdir().unwrap();
    /// # let store = Store::create(dir.path().join("store"), Options::default())?;
    /// let (url, now) = ("https://example.com/", Time::now());
    /// store.write_batch(&[
    ///     Operation::Observe(Observation::failed(url, now)),
    ///     Operation::SetProperty(PropertyUpdate::weight(url, now, 2.0)),
    /// ])?;
    /// assert_eq!(store.snapshot().latest(url)?.unwrap().visits, 1);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// The errors of [`observe_batch`](Store::observe_batch).
    pub fn write_batch(&self, operations: &[Operation<'_>]) -> Result<Vec<OperationResult>> {
        self.run_operations(operations, Ok)
    }

    /// Adds a fingerprint in another epoch, usually the newest, to content that a page had at a
    /// time.
    ///
    /// Fingerprints of other epochs stay: queries use the newest epoch of the [role](crate::Role)
    /// that they need. A restatement is neither a visit nor a change of the page, and the history
    /// keeps both fingerprints. This call is as durable and as fast as [`observe`](Store::observe);
    /// [`restate_batch`](Store::restate_batch) takes many restatements at a time.
    ///
    /// ```
    /// use simkeep::query::StalePages;
    /// # fn main() -> simkeep::Result<()> {
    /// # use simkeep::{Observation, Options, RestateOutcome, Restatement, Role, Store, Time};
    /// # let dir = tempfile::tempdir().unwrap();
    /// # let store = Store::create(dir.path().join("store"), Options::default())?;
    /// # let url = "https://example.com/";
    /// store.observe(Observation::content(url, Time::from_ms(1_000)?, 0x1234, store.change_epoch()))?;
    /// let new = store.register_epoch("another extractor", Role::Both)?;
    /// for page in StalePages::of(&store.snapshot(), new, None) {
    ///     let page = page?;
    ///     // The text of the page, kept elsewhere and extracted by the new extractor.
    ///     let fingerprint = 0x4321;
    ///     let restated = Restatement::new(&page.url, page.time, fingerprint, new);
    ///     assert_eq!(store.restate(restated)?, RestateOutcome::Stored);
    /// }
    /// assert_eq!(store.snapshot().near(0x4321, 0)?.near.len(), 1);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// The errors of [`observe`](Store::observe).
    pub fn restate(&self, restatement: Restatement<'_>) -> Result<RestateOutcome> {
        self.run_operations(&[Operation::Restate(restatement)], |mut answers| {
            answers.pop().or_bug("each restatement has an outcome")?.restated()
        })
    }

    /// Restates many contents, one after another. The restatements become durable together, in one
    /// commit or a few. If one of them is invalid (its URL, time or epoch), none is stored.
    ///
    /// ```
    /// # use simkeep::{Observation, Options, RestateOutcome, Restatement, Role, Store, Time};
    /// # fn main() -> simkeep::Result<()> {
    /// # let dir = tempfile::tempdir().unwrap();
    /// # let store = Store::create(dir.path().join("store"), Options::default())?;
    /// let (time, old) = (Time::now(), store.change_epoch());
    /// let urls = ["https://example.com/a", "https://example.com/b"];
    /// store.observe(Observation::content(urls[0], time, 0x1234, old))?;
    /// let new = store.register_epoch("another extractor", Role::Both)?;
    /// let restated = urls.map(|url| Restatement::new(url, time, 0x4321, new));
    /// let outcomes = store.restate_batch(&restated)?;
    /// assert_eq!(outcomes, [RestateOutcome::Stored, RestateOutcome::Missing]); // b was never seen
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// The errors of [`observe_batch`](Store::observe_batch).
    pub fn restate_batch(&self, restatements: &[Restatement<'_>]) -> Result<Vec<RestateOutcome>> {
        let operations: Vec<_> = restatements.iter().copied().map(Operation::Restate).collect();
        self.run_operations(&operations, |answers| {
            answers.into_iter().map(OperationResult::restated).collect()
        })
    }

    /// Sets a property of a page from a time on, without a visit: a
    /// [weight](PropertyUpdate::weight) or a [class](PropertyUpdate::class).
    ///
    /// A property is not a change of the page. [`Page::weight`](crate::Page::weight) and
    /// [`Page::class`](crate::Page::class) are the current properties. This call is as
    /// durable and as fast as [`observe`](Store::observe); [`write_batch`](Store::write_batch)
    /// takes many properties at a time, and [`load`](Store::load) sets properties of all pages.
    ///
    /// ```
    /// # fn main() -> simkeep::Result<()> {
    /// # use simkeep::{Observation, Options, PropertyOutcome, PropertyUpdate, Store, Time, Weight};
    /// # let dir = tempfile::tempdir().unwrap();
    /// # let store = Store::create(dir.path().join("store"), Options::default())?;
    /// # let (url, epoch) = ("https://example.com/", store.change_epoch());
    /// store.observe(Observation::content(url, Time::from_ms(1_000)?, 0x1234, epoch))?;
    /// let outcome = store.set_property(PropertyUpdate::weight(url, Time::from_ms(2_000)?, 2.5))?;
    /// assert_eq!(outcome, PropertyOutcome::Stored);
    /// store.set_property(PropertyUpdate::class(url, Time::from_ms(2_000)?, 7))?;
    /// let page = store.snapshot().latest(url)?.unwrap();
    /// assert_eq!((page.visits, page.weight, page.class), (1, Weight::from(2.5), Some(7)));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// The errors of [`observe`](Store::observe).
    pub fn set_property(&self, update: PropertyUpdate<'_>) -> Result<PropertyOutcome> {
        self.run_operations(&[Operation::SetProperty(update)], |mut answers| {
            answers.pop().or_bug("each property update has an outcome")?.property_set()
        })
    }

    /// Makes everything observed so far durable. Costs one commit at most.
    ///
    /// ```
    /// # use simkeep::{Durability, Observation, Options, Store, Time};
    /// # fn main() -> simkeep::Result<()> {
    /// # let dir = tempfile::tempdir().unwrap();
    /// let options = Options::default().durability(Durability::OnFlush);
    /// let store = Store::create(dir.path().join("store"), options)?;
    /// store.observe(Observation::gone("https://example.com/", Time::now()))?; // in memory only
    /// store.flush()?; // durable
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::Io`] or [`Error::Poisoned`] if not everything is durable.
    pub fn flush(&self) -> Result<()> {
        self.change(|db| db.committer.commit_all())
    }
}

/// The maximum number of requests that are looked up together. The more requests there are, the
/// closer together are their reads in the index of URLs.
const CHUNK_MAX: usize = 5000;

/// The minimum number of requests that is worth a second thread.
const CHUNK_MIN: usize = 250;

/// Applies requests one after another, and acknowledges them together, according to the options.
pub(crate) fn observe(db: &Db, operations: &[Operation<'_>]) -> Result<Vec<OperationResult>> {
    let Db { core, admission, committer, leases, .. } = db;
    core.lifecycle.check()?;
    let epochs = Arc::clone(&core.live.view().epochs);
    let clock = FutureVisitCheck::of(core);
    // All requests are checked before any is applied: if one request is invalid, none is stored.
    operations.iter().try_for_each(|operation| {
        check_in(&epochs, operation)?;
        clock.check(operation)
    })?;
    let mut answers = Vec::with_capacity(operations.len());
    let look_up = |chunk| LookupBatch::new(core.live.view(), &core.options, chunk);
    let pipeline = ChunkPipeline::new(chunks(operations));
    let applied = thread::scope(|scope| {
        // New work stops even after an error, so that the helper does not look up chunks that are
        // never applied.
        let _until = pipeline.until_dropped();
        if !is_sealing_late(core) {
            pipeline.help(scope, look_up);
        }
        while let Some((chunk, looked_up)) = pipeline.next(look_up) {
            apply_all(db, chunk, looked_up?, &mut answers)?;
        }
        Ok::<_, Error>(())
    });
    let counted = applied.and_then(|()| {
        ensure(answers.len() == operations.len(), "each operation has an answer")
            .map_err(Error::from)
    });
    // The last operation may belong to another call. Committing that operation as well does no
    // harm.
    let last = admission.last_sequence();
    if let Err(e) = core.lifecycle.poison_on_bug(counted) {
        // All applied operations are acknowledged; after a bug no operation is acknowledged.
        if !matches!(e, Error::Bug(_)) {
            committer.commit(last, None)?;
            report_applied(core, operations, &answers);
        }
        return Err(e);
    }
    committer.acknowledge(last)?;
    for url in operations.iter().filter_map(visited) {
        leases.end(url);
    }
    report_applied(core, operations, &answers);
    Ok(answers)
}

/// Reports operations that have an answer to the metrics.
fn report_applied(core: &Core, operations: &[Operation<'_>], answers: &[OperationResult]) {
    // One pass: the operations and answers of a large batch do not fit the caches.
    let visits = operations.iter().zip(answers);
    core.metrics.observed(visits.filter_map(|(operation, answer)| {
        let (Operation::Observe(seen), OperationResult::Observed(outcome)) = (operation, answer)
        else {
            return None;
        };
        let is_long = |etag: &[u8]| etag.len() > ETag::BYTES_MAX;
        Some(ObservedVisit {
            verdict: outcome.verdict,
            complete: outcome.complete,
            saved: saved_body(&seen.visit, outcome),
            long_etag: core.options.validators && seen.etag.is_some_and(is_long),
        })
    }));
}

/// The body of a visit that was not transferred or is not worth storing, with its length.
fn saved_body(visit: &Visit, outcome: &Outcome) -> Option<(SavedBody, Option<u64>)> {
    let body = match (visit.seen, outcome.verdict) {
        (_, Verdict::Known) => return None,
        (Seen::NotModified { .. }, _) => SavedBody::NotModified,
        (Seen::Content(content), _) if content.is_redirect() => return None,
        (Seen::Content(_), Verdict::Same(SameBy::Digest)) => SavedBody::Unchanged,
        (Seen::Content(_), _) if !outcome.copies.is_empty() || outcome.refers_to.is_some() => {
            SavedBody::Copy
        }
        _ => return None,
    };
    Some((body, visit.bytes))
}

/// The URL of the page that was visited.
fn visited<'a>(operation: &Operation<'a>) -> Option<&'a str> {
    match operation {
        Operation::Observe(observation) => Some(observation.url),
        Operation::Restate(_) | Operation::SetProperty(_) => None,
    }
}

/// Whether a memtable still waits to be sealed while the next memtable is half full. If so, the
/// sealing thread needs a processor more than a batch does: a third memtable would have to wait for
/// the seal.
fn is_sealing_late(core: &Core) -> bool {
    let view = core.live.view();
    let half_full =
        |active: &Memtable| active.read().operations >= core.options.memtable_observations / 2;
    view.memtables.sealing.is_some() && half_full(&view.memtables.active)
}

/// Applies operations that were looked up.
fn apply_all<'a>(
    db: &Db,
    operations: &[Operation<'a>],
    looked_up: LookupBatch<'a>,
    answers: &mut Vec<OperationResult>,
) -> Result<()> {
    let Db { core, committer, .. } = db;
    let checked = Arc::clone(&looked_up.view.epochs);
    let (mut writer, mut looked_up) = begin(db, looked_up, operations, 0)?;
    let epochs = Arc::clone(&core.live.view().epochs);
    if !Arc::ptr_eq(&epochs, &checked) {
        // An epoch may have ended since the requests were checked.
        let mut all = operations.iter().flat_map(of_epochs);
        all.try_for_each(|epoch| check_live(&epochs, epoch))?;
    }
    let mut full = false;
    for (at, operation) in operations.iter().enumerate() {
        // The next operation is applied to another memtable. `begin` decides whether the lookups
        // are still valid.
        if full {
            drop(writer);
            (writer, looked_up) = begin(db, looked_up, operations, at)?;
        }
        looked_up.prefetch(operations, at);
        // The call is under the lock, so that no thread commits half an operation.
        let applied = apply(&core.options, &mut writer, &mut looked_up, at, operation);
        let applied = core.lifecycle.poison_on_bug(applied)?;
        full = applied.1;
        answers.push(applied.0);
    }
    committer.applied(writer)
}

/// Takes the write lock, and updates the lookups to the current view: the requests from `from` on
/// are looked up again if necessary.
///
/// As long as the active memtable stays the same, an older view still has all data, if perhaps in
/// other components: sealing and merging change no data.
fn begin<'s, 'a>(
    db: &'s Db,
    mut looked_up: LookupBatch<'a>,
    operations: &[Operation<'a>],
    from: usize,
) -> Result<(WriteLock<'s>, LookupBatch<'a>)> {
    let Db { core, admission, sealer, .. } = db;
    /// The maximum number of times that the lock is released to look up again.
    const TRIES: usize = 3;
    let mut tries = 0;
    loop {
        let writer = admission.admit(|| sealer.seal_waiting().map(drop))?;
        let live = core.live.view();
        if Arc::ptr_eq(&live.memtables.active, &looked_up.view.memtables.active) {
            return Ok((writer, looked_up));
        }
        // The active memtable is new, but the segments are the same. Lookups were made in segments
        // only, so they are still valid.
        if Arc::ptr_eq(&live.segments, &looked_up.view.segments) {
            return Ok((writer, looked_up.seen_in(live)));
        }
        tries += 1;
        // Up to the limit this line drops the lock, so that other threads write during the lookup.
        // Beyond the limit the lock is kept: otherwise quick rotations could make a call look up
        // forever.
        let held = (tries > TRIES).then_some(writer);
        let left = operations
            .get(from..)
            .or_bug("the remaining operations are a range of the operations")?;
        looked_up = LookupBatch::new(live, &core.options, left)?.after(from);
        if let Some(writer) = held {
            return Ok((writer, looked_up));
        }
    }
}

/// Returns two smaller chunks first, one for each of two threads. After these, one chunk is applied
/// while the next is looked up.
fn chunks<'s, 'a>(operations: &'s [Operation<'a>]) -> impl Iterator<Item = &'s [Operation<'a>]> {
    let tenth = operations.len().div_ceil(10);
    let size = |tenths: usize| match operations.len() {
        few if few < 2 * CHUNK_MIN => few.max(1),
        _ => (tenths * tenth).clamp(CHUNK_MIN, CHUNK_MAX),
    };
    let (first, rest) = operations.split_at((2 * size(2)).min(operations.len()));
    first.chunks(size(2)).chain(rest.chunks(size(3)))
}
