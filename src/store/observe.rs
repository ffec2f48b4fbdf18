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
use super::options::Durability;
use super::search::{SegmentHit, Wanted, segment_hits, segment_hits_of_many};
use super::shared::{Shared, Writer};
use super::snapshot::judge;
use super::view::{Known, LiveSegment, Lookup, Part, View};
use crate::error::{Error, Result};
use crate::page::{
    Content, Digest, Head, Observation, Seen, TIME_MAX, TIME_MIN, Verdict, Visit, check_url,
};

/// Observations that are looked up before they are applied.
const CHUNK: usize = 2500;

/// Fewer observations than this are not worth a second thread.
const SPLIT_MIN: usize = 256;

/// What the segments say of an observation.
struct Prepared<'a> {
    lookup: Lookup<'a>,
    segments: Arc<[Arc<LiveSegment>]>,
    /// The page's head, where a seal or a merge has not overtaken it.
    known: Option<Known>,
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
            let mut next = chunks.next().map(|chunk| (chunk, self.prepare(&self.view(), chunk)));
            while let Some((chunk, prepared)) = next {
                // While one chunk is applied, the next is looked up.
                let coming = chunks.next().map(|chunk| {
                    (chunk, scope.spawn(move || self.prepare_here(&self.view(), chunk)))
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
        prepared: Vec<Prepared<'_>>,
        outcomes: &mut Vec<Outcome>,
    ) -> Result<u64> {
        /// How many observations ahead the memtable's memory lines are asked for.
        const AHEAD: usize = 3;
        let mut writer = self.room()?;
        for (at, prepared) in prepared.into_iter().enumerate() {
            let Some(observation) = observations.get(at) else { break };
            if self.is_full()? {
                drop(writer);
                writer = self.room()?;
            }
            if let Some(ahead) = observations.get(at + AHEAD).and_then(|o| o.visit.seen.content()) {
                let view = self.view();
                view.memtables
                    .iter()
                    .for_each(|m| m.read().prefetch(ahead.epoch.0, ahead.fingerprint));
            }
            match self.apply(&mut writer, observation, prepared) {
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

    /// Looks up what the segments know, on two threads if there is enough to do.
    fn prepare<'a>(
        &self,
        view: &View,
        observations: &[Observation<'a>],
    ) -> Result<Vec<Prepared<'a>>> {
        if observations.len() < SPLIT_MIN || view.segments.is_empty() {
            return self.prepare_here(view, observations);
        }
        let (here, there) = observations.split_at(observations.len() / 2);
        std::thread::scope(|scope| {
            let there = scope.spawn(|| self.prepare_here(view, there));
            let mut prepared = self.prepare_here(view, here)?;
            prepared.extend(join(there)?);
            Ok(prepared)
        })
    }

    fn prepare_here<'a>(
        &self,
        view: &View,
        observations: &[Observation<'a>],
    ) -> Result<Vec<Prepared<'a>>> {
        if let [observation] = observations {
            let hits = self.wanted(observation).map(|w| segment_hits(&view.segments, &w));
            let lookup = Lookup::new(observation.url, view.seed);
            let known = Some(view.head_in_segments(&lookup)?);
            let hits = hits.transpose()?.unwrap_or_default();
            return Ok(vec![Prepared { lookup, segments: view.segments.clone(), known, hits }]);
        }
        let wanted: Vec<_> = observations.iter().map(|o| self.wanted(o)).collect();
        let hits = segment_hits_of_many(&view.segments, &wanted)?;
        let lookups: Vec<_> = observations.iter().map(|o| Lookup::new(o.url, view.seed)).collect();
        let known = view.heads_in_segments(&lookups)?;
        let parts = lookups.into_iter().zip(known).zip(hits);
        Ok(parts
            .map(|((lookup, known), hits)| {
                let segments = Arc::clone(&view.segments);
                Prepared { lookup, segments, known: Some(known), hits }
            })
            .collect())
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
        observation: &Observation<'_>,
        mut prepared: Prepared<'_>,
    ) -> Result<Outcome> {
        let view = self.view();
        if !Arc::ptr_eq(&view.segments, &prepared.segments) {
            // A seal or a merge came between: what the segments know moved.
            prepared.known = None;
            if let Some(wanted) = self.wanted(observation) {
                prepared.hits = segment_hits(&view.segments, &wanted)?;
            }
        }
        let active = Self::active(&view)?;
        let lookup = &prepared.lookup;
        let visit = observation.visit;
        let number = active.read().find(lookup.hash, lookup.url, u64::MAX);
        let older = match number {
            Some(_) => None,
            None => Some(self.look_up(&view, lookup, prepared.known)?),
        };
        let verdict = match (&older, number) {
            (Some(known), _) => self.verdict(&view, lookup, known.head.as_ref(), &visit)?,
            (None, number) => {
                let inner = active.read();
                let page = number.and_then(|n| inner.page(n));
                let head = page.and_then(|p| p.head());
                match head {
                    Some(head) if visit <= head.last => {
                        let head = head.clone();
                        drop(inner);
                        self.verdict(&view, lookup, Some(&head), &visit)?
                    }
                    head => judge(head, &visit),
                }
            }
        };
        let outcome = self.outcome(&view, observation, verdict, prepared.hits)?;
        if verdict == Verdict::Known {
            return Ok(outcome);
        }
        let sequence = writer.next_sequence;
        let place = match (&older, number) {
            (None, Some(number)) => Place::Known(number),
            (known, _) => Place::New {
                url: observation.url,
                earlier: known.as_ref().is_some_and(|k| k.earlier),
                head: known.as_ref().and_then(|k| k.head.as_ref()),
            },
        };
        writer.pending.push(active.journal, sequence, |out| {
            journal::put_visit(out, &place, &visit);
        });
        writer.next_sequence += 1;
        let mut inner = active.write();
        let number = match (older, number) {
            (Some(known), _) => {
                inner.add_page(sequence, lookup.url, lookup.hash, known.earlier, known.head)
            }
            (None, number) => number.unwrap_or(0),
        };
        inner.visit(sequence, number, visit);
        Ok(outcome)
    }

    /// What components older than the memtable that is written know of a page.
    pub(super) fn look_up(
        &self,
        view: &View,
        lookup: &Lookup<'_>,
        in_segments: Option<Known>,
    ) -> Result<Known> {
        // The active memtable does not have the page, but a tombstone there may hide it.
        if let Some(known) = view.head_in_memory(lookup, u64::MAX, view.memtables.len())? {
            return Ok(known);
        }
        match in_segments {
            Some(known) => Ok(known),
            None => view.head_in_segments(lookup),
        }
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
