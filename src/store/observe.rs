//! Observing: what a visit means is found first, then it is applied in memory and journalled.
//!
//! What the segments know is looked up before the write lock is taken, by each calling thread for
//! itself; under the lock only memtables are asked, and an operation is applied. So concurrent
//! calls equal some order of them, and most of the work goes on beside the lock.

use std::sync::Arc;
use std::thread::ScopedJoinHandle;

use parking_lot::MutexGuard;

use super::answer::{ExactCopy, Outcome};
use super::journal::{self, Place};
use super::memtable::Memtable;
use super::options::Durability;
use super::search::{SegmentHit, Wanted, segment_hits, segment_hits_of_many};
use super::shared::{Shared, Writer};
use super::snapshot::judge;
use super::view::{Known, Lookup, Part, View};
use crate::error::{Error, Result};
use crate::page::{
    Content, Digest, Head, Observation, Seen, TIME_MAX, TIME_MIN, Verdict, Visit, check_url,
};
use crate::segment::put_carried;

/// Observations that are looked up before they are applied.
const CHUNK: usize = 2500;

/// Fewer observations than this are not worth a second thread.
const SPLIT_MIN: usize = 256;

/// What the segments of a view say of observations.
struct Prepared<'a> {
    view: Arc<View>,
    each: Vec<Looked<'a>>,
}

/// What they say of one.
struct Looked<'a> {
    lookup: Lookup<'a>,
    known: Known,
    hits: Vec<SegmentHit>,
}

impl Shared {
    pub(super) fn check(&self, observation: &Observation<'_>) -> Result<()> {
        check_url(observation.url)?;
        let time = observation.visit.time;
        if !(TIME_MIN..=TIME_MAX).contains(&time) {
            return Err(Error::Time(time));
        }
        if let Seen::Content(Content { epoch, .. }) = observation.visit.seen
            && epoch > self.newest_epoch()
        {
            return Err(Error::UnknownEpoch(epoch.0));
        }
        Ok(())
    }

    pub(super) fn observe(&self, observations: &[Observation<'_>]) -> Result<Vec<Outcome>> {
        self.sound()?;
        observations.iter().try_for_each(|o| self.check(o))?;
        let mut outcomes = Vec::with_capacity(observations.len());
        let mut last = 0;
        std::thread::scope(|scope| {
            let mut chunks = observations.chunks(CHUNK);
            let mut next = chunks.next().map(|chunk| (chunk, self.prepare(chunk)));
            while let Some((chunk, prepared)) = next {
                // While one chunk is applied, the next is looked up.
                let coming = chunks.next().map(|chunk| {
                    (chunk, scope.spawn(move || self.prepare_here(self.view(), chunk)))
                });
                let prepared = match prepared {
                    Ok(prepared) => prepared,
                    Err(e) => {
                        self.commit(last, None)?;
                        return Err(e);
                    }
                };
                last = self.apply_all(chunk, prepared, &mut outcomes)?;
                next = coming.map(|(chunk, prepared)| (chunk, join(prepared)));
            }
            Ok::<_, Error>(())
        })?;
        match self.options.durability {
            Durability::Each => self.commit(last, None)?,
            Durability::Grouped(delay) => self.commit(last, Some(delay))?,
            Durability::OnFlush => {}
        }
        Ok(outcomes)
    }

    /// Applies observations that were looked up. Returns the number of the last operation.
    fn apply_all(
        &self,
        observations: &[Observation<'_>],
        prepared: Prepared<'_>,
        outcomes: &mut Vec<Outcome>,
    ) -> Result<u64> {
        let Prepared { mut view, mut each } = prepared;
        let mut writer = self.room()?;
        for at in 0..each.len() {
            if self.is_full()? {
                drop(writer);
                writer = self.room()?;
            }
            if let Some(newer) = self.overtaken(&view)? {
                let left = observations.get(at..).unwrap_or(&[]);
                if !Arc::ptr_eq(&newer.segments, &view.segments) {
                    let again = self.prepare_here(Arc::clone(&newer), left)?.each;
                    each.truncate(at);
                    each.extend(again);
                }
                view = newer;
            }
            let active = Self::active(&view)?;
            prefetch(active, each.get(at..).unwrap_or(&[]), observations.get(at..).unwrap_or(&[]));
            let (Some(observation), Some(looked)) = (observations.get(at), each.get_mut(at)) else {
                break;
            };
            match self.apply(&mut writer, &view, active, observation, looked) {
                Ok(outcome) => outcomes.push(outcome),
                Err(e) => {
                    // Those before it are applied, and are not left half acknowledged.
                    let last = writer.next_sequence - 1;
                    drop(writer);
                    self.commit(last, None)?;
                    return Err(e);
                }
            }
        }
        let last = writer.next_sequence - 1;
        if self.options.durability == Durability::OnFlush {
            self.publish(last);
            if writer.pending.bytes() > super::commit::PENDING_BYTES_MAX {
                drop(writer);
                self.commit(last, None)?;
            }
        }
        Ok(last)
    }

    /// The live view, if another memtable is written by now than in `view`. If not, `view` still
    /// says everything, in other components perhaps: what was sealed or merged since is the same.
    fn overtaken(&self, view: &View) -> Result<Option<Arc<View>>> {
        let live = self.view.read();
        let same = Arc::ptr_eq(Self::active(&live)?, Self::active(view)?);
        Ok((!same).then(|| Arc::clone(&live)))
    }

    /// Looks up what the segments know, on two threads if there is enough to do.
    fn prepare<'a>(&self, observations: &[Observation<'a>]) -> Result<Prepared<'a>> {
        let view = self.view();
        if observations.len() < SPLIT_MIN || view.segments.is_empty() {
            return self.prepare_here(view, observations);
        }
        let (here, there) = observations.split_at(observations.len() / 2);
        std::thread::scope(|scope| {
            let same = Arc::clone(&view);
            let there = scope.spawn(|| self.prepare_here(same, there));
            let mut prepared = self.prepare_here(view, here)?;
            prepared.each.extend(join(there)?.each);
            Ok(prepared)
        })
    }

    fn prepare_here<'a>(
        &self,
        view: Arc<View>,
        observations: &[Observation<'a>],
    ) -> Result<Prepared<'a>> {
        if let [observation] = observations {
            let hits = self.wanted(observation).map(|w| segment_hits(&view.segments, &w));
            let hits = hits.transpose()?.unwrap_or_default();
            let lookup = Lookup::new(observation.url, view.seed);
            let known = view.head_in_segments(&lookup)?;
            return Ok(Prepared { view, each: vec![Looked { lookup, known, hits }] });
        }
        let wanted: Vec<_> = observations.iter().map(|o| self.wanted(o)).collect();
        let hits = segment_hits_of_many(&view.segments, &wanted)?;
        let lookups: Vec<_> = observations.iter().map(|o| Lookup::new(o.url, view.seed)).collect();
        let known = view.heads_in_segments(&lookups)?;
        let parts = lookups.into_iter().zip(known).zip(hits);
        let each = parts.map(|((lookup, known), hits)| Looked { lookup, known, hits }).collect();
        Ok(Prepared { view, each })
    }

    /// What is searched for beside an observation: other pages near its content.
    fn wanted<'a>(&self, observation: &Observation<'a>) -> Option<Wanted<'a>> {
        let content = observation.visit.seen.content()?;
        (self.options.near_limit > 0).then_some(Wanted {
            fingerprint: content.fingerprint,
            k: self.options.near_distance,
            epoch: content.epoch.0,
            limit: self.options.near_limit,
            ever: false,
            except: Some(observation.url),
            digest: content.digest,
        })
    }

    /// Applies an observation under the write lock.
    fn apply(
        &self,
        writer: &mut MutexGuard<'_, Writer>,
        view: &View,
        active: &Memtable,
        observation: &Observation<'_>,
        looked: &mut Looked<'_>,
    ) -> Result<Outcome> {
        let Looked { lookup, known, hits } = looked;
        let visit = observation.visit;
        let (number, head) = {
            let inner = active.read();
            let number = inner.find(lookup.hash, lookup.url, u64::MAX);
            (number, number.and_then(|n| inner.page(n)).map(|page| page.head()))
        };
        let (earlier, head) = match head {
            Some(head) => (true, head),
            None => {
                // A tombstone there may hide what older components know.
                let nearer = view.head_in_memory(lookup, u64::MAX, view.memtables.len());
                let known = nearer.unwrap_or_else(|| std::mem::take(known));
                (known.earlier, known.head)
            }
        };
        let verdict = self.verdict(view, lookup, head.as_ref(), &visit)?;
        let outcome = self.outcome(view, observation, verdict, std::mem::take(hits))?;
        if verdict == Verdict::Known {
            return Ok(outcome);
        }
        let sequence = writer.next_sequence;
        let Writer { next_sequence, pending, packed } = &mut **writer;
        packed.clear();
        let place = match (number, &head) {
            (Some(number), _) => Place::Known(number),
            (None, head) => {
                if let Some(head) = head {
                    put_carried(packed, head, &[]);
                }
                Place::New { url: lookup.url, earlier, head: packed }
            }
        };
        pending.push(active.journal, sequence, |out| journal::put_visit(out, &place, &visit));
        *next_sequence += 1;
        let mut inner = active.write();
        let number = match number {
            Some(number) => number,
            None => inner.add_page(sequence, lookup.url, lookup.hash, earlier, packed),
        };
        inner.visit(sequence, number, visit, head);
        Ok(outcome)
    }

    fn verdict(
        &self,
        view: &View,
        lookup: &Lookup<'_>,
        head: Option<&Head>,
        visit: &Visit,
    ) -> Result<Verdict> {
        let Some(head) = head.filter(|head| *visit <= head.last) else {
            return Ok(judge(head, visit));
        };
        let mut known = *visit == head.last;
        if !known && visit.time >= head.first {
            view.visits(lookup, u64::MAX, |part| {
                known = match part {
                    Part::Memory(visits) => visits.binary_search(visit).is_ok(),
                    Part::Segment(record) => record.contains(visit)?,
                };
                Some(!known)
            })?;
        }
        Ok(if known { Verdict::Known } else { Verdict::OutOfOrder })
    }

    fn outcome(
        &self,
        view: &View,
        observation: &Observation<'_>,
        verdict: Verdict,
        hits: Vec<SegmentHit>,
    ) -> Result<Outcome> {
        let mut outcome = Outcome { verdict, copies: Vec::new(), near: Vec::new(), complete: true };
        let Some(wanted) = self.wanted(observation) else { return Ok(outcome) };
        let findings = view.near(&wanted, u64::MAX, hits)?;
        outcome.complete = findings.complete;
        let mut copies = Vec::new();
        for found in findings.found {
            if !found.copy {
                outcome.near.push(found.near);
            } else if let Some(digest) = wanted.digest {
                let first = first_seen(view, &found.near.url, digest)?;
                copies.push(ExactCopy { url: found.near.url, first });
            }
        }
        // Found in SURT order, so copies first seen at the same time stay in it.
        copies.sort_by_key(|copy| copy.first);
        outcome.complete &= copies.len() <= self.options.near_limit;
        copies.truncate(self.options.near_limit);
        outcome.copies = copies;
        Ok(outcome)
    }
}

/// Tells the processor what the memtable will be asked for by the observations after the first.
fn prefetch(active: &Memtable, looked: &[Looked<'_>], observations: &[Observation<'_>]) {
    /// How many observations ahead.
    const AHEAD: usize = 4;
    let inner = active.read();
    if let Some(Looked { lookup, .. }) = looked.get(AHEAD) {
        inner.prefetch_page(lookup.hash);
    }
    if let Some(content) = observations.get(AHEAD).and_then(|o| o.visit.seen.content()) {
        inner.prefetch(content.epoch.0, content.fingerprint);
    }
}

fn join<T>(thread: ScopedJoinHandle<'_, T>) -> T {
    thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
}

/// When a page was first seen with a digest.
fn first_seen(view: &View, url: &str, digest: Digest) -> Result<i64> {
    let lookup = Lookup::new(url, view.seed);
    let mut first = i64::MAX;
    view.visits(&lookup, u64::MAX, |part| {
        let visits = match part {
            Part::Memory(visits) => visits,
            Part::Segment(record) => record.visits()?,
        };
        let seen =
            visits.iter().filter(|v| v.seen.content().is_some_and(|c| c.digest == Some(digest)));
        first = first.min(seen.map(|v| v.time).min().unwrap_or(i64::MAX));
        Some(true)
    })?;
    Ok(first)
}
