//! Observing and restating: requests are looked up, judged, applied in memory and journalled.
//!
//! What the segments know is looked up before the write lock is taken, by two threads if there is
//! enough to do. Under the lock, the memtables are asked and the operations are applied. So
//! concurrent calls have the effect of some order of them, and most of the work happens outside the
//! lock.

pub(crate) mod admission;
pub(crate) mod commit;
pub(crate) mod decide;
pub(crate) mod lookup_batch;
pub(crate) mod nearby;
pub(crate) mod pending;
pub(crate) mod pipeline;
pub(crate) mod ranked_hit;
pub(crate) mod ranking;
pub(crate) mod validate;
pub(crate) mod write_batch;

use std::sync::Arc;

use self::admission::WriteLock;
use self::lookup_batch::Prepared;
use self::pipeline::Ahead;
use self::validate::{check_in, of_epochs};
use self::write_batch::apply;
use super::answer::Answer;
use super::clock::Clock;
use super::core::Base;
use super::db::Shared;
use super::epochs::check_live;
use super::memtable::Memtable;
use crate::bug::{OrBug, ensure};
use crate::error::{Error, Result};
use crate::page::{Request, Verdict};
use crate::sync::thread;

/// The most requests that are looked up together. The more there are, the closer together they read
/// in the index of URLs.
const CHUNK_MAX: usize = 5000;

/// Fewer than this are not worth a second thread.
const CHUNK_MIN: usize = 250;

/// Applies requests one after another. Acknowledged together, as the options say.
pub(crate) fn observe(shared: &Shared, requests: &[Request<'_>]) -> Result<Vec<Answer>> {
    let Shared { base, admission, committer, leases, .. } = shared;
    base.lifecycle.check()?;
    let epochs = Arc::clone(&base.live.view().epochs);
    let clock = Clock::of(base);
    requests.iter().try_for_each(|request| {
        check_in(&epochs, request)?;
        clock.check(request)
    })?;
    let mut answers = Vec::with_capacity(requests.len());
    let look_up = |chunk| Prepared::new(base.live.view(), &base.options, chunk);
    let ahead = Ahead::new(chunks(requests));
    let applied = thread::scope(|scope| {
        let _until = ahead.until_dropped();
        if !is_sealing_late(base) {
            ahead.help(scope, look_up);
        }
        while let Some((chunk, prepared)) = ahead.next(look_up) {
            apply_all(shared, chunk, prepared?, &mut answers)?;
        }
        Ok::<_, Error>(())
    });
    let counted = applied.and_then(|()| {
        ensure(answers.len() == requests.len(), "each request has an answer").map_err(Error::from)
    });
    let last = admission.last_sequence();
    if let Err(e) = base.lifecycle.heed(counted) {
        // What was applied is acknowledged as a whole; after a bug nothing is acknowledged.
        if !matches!(e, Error::Bug(_)) {
            committer.commit(last, None)?;
            base.metrics.observed(answers.iter().filter_map(found));
        }
        return Err(e);
    }
    committer.acknowledge(last)?;
    for url in requests.iter().filter_map(visited) {
        leases.end(url);
    }
    base.metrics.observed(answers.iter().filter_map(found));
    Ok(answers)
}

/// The page that was visited.
fn visited<'a>(request: &Request<'a>) -> Option<&'a str> {
    match request {
        Request::Observe(observation) => Some(observation.url),
        Request::Restate(_) | Request::Give(_) => None,
    }
}

/// What a visit was found to be, and whether everything near it is named.
fn found(answer: &Answer) -> Option<(&Verdict, bool)> {
    match answer {
        Answer::Observed(outcome) => Some((&outcome.verdict, outcome.complete)),
        Answer::Restated(_) | Answer::Given(_) => None,
    }
}

/// Whether a memtable still waits to be sealed while the next is half full. Then the sealing
/// thread needs a processor more than a batch does: a third memtable would have to wait for it.
fn is_sealing_late(base: &Base) -> bool {
    let view = base.live.view();
    let half_full =
        |active: &Memtable| active.read().operations >= base.options.memtable_observations / 2;
    view.memtables.sealing.is_some() && half_full(&view.memtables.active)
}

/// Applies requests that were looked up.
fn apply_all<'a>(
    shared: &Shared,
    requests: &[Request<'a>],
    prepared: Prepared<'a>,
    answers: &mut Vec<Answer>,
) -> Result<()> {
    let Shared { base, committer, .. } = shared;
    let checked = Arc::clone(&prepared.view.epochs);
    let (mut writer, mut prepared) = begin(shared, prepared, requests, 0)?;
    let epochs = Arc::clone(&base.live.view().epochs);
    if !Arc::ptr_eq(&epochs, &checked) {
        // An epoch may have ended meanwhile.
        let mut all = requests.iter().flat_map(of_epochs);
        all.try_for_each(|epoch| check_live(&epochs, epoch))?;
    }
    let mut full = false;
    for (at, request) in requests.iter().enumerate() {
        if full {
            drop(writer);
            (writer, prepared) = begin(shared, prepared, requests, at)?;
        }
        prepared.prefetch(requests, at);
        // Under the lock, so that nobody commits half an operation.
        let applied = apply(&base.options, &mut writer, &mut prepared, at, request);
        let applied = base.lifecycle.heed(applied)?;
        full = applied.1;
        answers.push(applied.0);
    }
    committer.applied(writer)
}

/// Takes the write lock, and brings what was looked up to the current view: the requests from
/// `from` on are looked up again if they must be.
///
/// As long as the same memtable is written, an older view still says everything, if perhaps in
/// other components: what was sealed or merged since is the same.
fn begin<'s, 'a>(
    shared: &'s Shared,
    mut prepared: Prepared<'a>,
    requests: &[Request<'a>],
    from: usize,
) -> Result<(WriteLock<'s>, Prepared<'a>)> {
    let Shared { base, sealer, .. } = shared;
    /// How often this releases the lock to look up again.
    const TRIES: usize = 3;
    let mut tries = 0;
    loop {
        let writer = sealer.admit()?;
        let live = base.live.view();
        if Arc::ptr_eq(&live.memtables.active, &prepared.view.memtables.active) {
            return Ok((writer, prepared));
        }
        if Arc::ptr_eq(&live.segments, &prepared.view.segments) {
            return Ok((writer, prepared.seen_in(live)));
        }
        tries += 1;
        let held = (tries > TRIES).then_some(writer);
        let left = requests.get(from..).or_bug("what is left is of the observations")?;
        prepared = Prepared::new(live, &base.options, left)?.after(from);
        if let Some(writer) = held {
            return Ok((writer, prepared));
        }
    }
}

/// Two smaller chunks, for two threads to begin with; then one is applied while the next is looked
/// up.
fn chunks<'s, 'a>(requests: &'s [Request<'a>]) -> impl Iterator<Item = &'s [Request<'a>]> {
    let tenth = requests.len().div_ceil(10);
    let size = |tenths: usize| match requests.len() {
        few if few < 2 * CHUNK_MIN => few.max(1),
        _ => (tenths * tenth).clamp(CHUNK_MIN, CHUNK_MAX),
    };
    let (first, rest) = requests.split_at((2 * size(2)).min(requests.len()));
    first.chunks(size(2)).chain(rest.chunks(size(3)))
}
