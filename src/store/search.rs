//! `near` over the live components: candidates from every component's tables, then, nearest first,
//! the pages behind them that are in force and not hidden.

use std::sync::Arc;

use super::answer::{Matches, Near};
use super::view::{LiveSegment, Lookup, View, unreadable};
use crate::error::Result;
use crate::page::{Digest, Seen, surt};
use crate::search::Candidate;

/// What is searched for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Wanted<'a> {
    pub(crate) fingerprint: u64,
    pub(crate) k: u32,
    pub(crate) epoch: u32,
    pub(crate) limit: usize,
    /// Every version ever, not only those in force.
    pub(crate) ever: bool,
    /// A page that is left out.
    pub(crate) except: Option<&'a str>,
    /// Pages with this digest are told apart.
    pub(crate) digest: Option<Digest>,
}

/// A fingerprint that is near, in a segment: the segment's number and the candidate.
pub(crate) type SegmentHit = (usize, Candidate);

/// A page that is near.
#[derive(Debug)]
pub(crate) struct Found {
    key: Vec<u8>,
    pub(crate) near: Near,
    /// Whether its digest in force is the wanted one.
    pub(crate) copy: bool,
}

/// What was found: nearest first, then in SURT order, and whether that is all.
#[derive(Debug)]
pub(crate) struct Findings {
    pub(crate) found: Vec<Found>,
    pub(crate) complete: bool,
}

impl Findings {
    pub(crate) fn into_matches(self) -> Matches {
        let near = self.found.into_iter().map(|f| f.near).collect();
        Matches { near, complete: self.complete }
    }
}

/// Fingerprints within distance in the segments. The costly part of a search, and one that needs
/// nothing but the segments.
pub(crate) fn segment_hits(
    segments: &[Arc<LiveSegment>],
    wanted: &Wanted<'_>,
) -> Result<Vec<SegmentHit>> {
    let (mut hits, mut candidates) = (Vec::new(), Vec::new());
    for (number, live) in segments.iter().enumerate() {
        if let Some(tables) = live.tables(wanted.epoch) {
            tables.tables.find(wanted.fingerprint, wanted.k, &mut candidates)?;
            hits.extend(candidates.drain(..).map(|candidate| (number, candidate)));
        }
    }
    Ok(hits)
}

/// Where a near fingerprint is.
enum Place {
    Segment(usize),
    /// A memtable's number, and the page in it.
    Memory(usize, u32),
}

impl View {
    /// The pages near a fingerprint as of `sequence`, from what [`segment_hits`] found.
    pub(crate) fn near(
        &self,
        wanted: &Wanted<'_>,
        sequence: u64,
        hits: Vec<SegmentHit>,
    ) -> Result<Findings> {
        let mut places: Vec<(Candidate, Place)> =
            hits.into_iter().map(|(number, c)| (c, Place::Segment(number))).collect();
        let mut in_memory = Vec::new();
        for (number, memtable) in self.memtables.iter().enumerate() {
            memtable.read().near(wanted.epoch, wanted.fingerprint, wanted.k, &mut in_memory);
            let of = |(page, candidate)| (candidate, Place::Memory(number, page));
            places.extend(in_memory.drain(..).map(of));
        }
        places.sort_by_key(|(candidate, _)| candidate.distance);
        let mut findings = Findings { found: Vec::new(), complete: true };
        for equal in places.chunk_by(|a, b| a.0.distance == b.0.distance) {
            if findings.found.len() >= wanted.limit {
                // There may be more; whether one of them is in force is not looked up.
                findings.complete = false;
                break;
            }
            let mut found = Vec::new();
            for (candidate, place) in equal {
                match *place {
                    Place::Segment(number) => {
                        self.resolve_segment(wanted, sequence, number, candidate, &mut found)?;
                    }
                    Place::Memory(number, page) => {
                        self.resolve_memory(wanted, sequence, number, page, candidate, &mut found)?;
                    }
                }
            }
            found.sort_unstable_by(|a, b| {
                (&a.key, &a.near.url, a.near.fingerprint)
                    .cmp(&(&b.key, &b.near.url, b.near.fingerprint))
            });
            found.dedup_by(|a, b| (&a.near.url, a.near.fingerprint) == (&b.near.url, b.near.fingerprint));
            findings.found.extend(found);
        }
        if findings.found.len() > wanted.limit {
            findings.found.truncate(wanted.limit);
            findings.complete = false;
        }
        Ok(findings)
    }

    /// The pages that have a fingerprint of a segment, one more than the limit at most.
    fn resolve_segment(
        &self,
        wanted: &Wanted<'_>,
        sequence: u64,
        number: usize,
        candidate: &Candidate,
        found: &mut Vec<Found>,
    ) -> Result<()> {
        let Some(live) = self.segments.get(number) else { return Ok(()) };
        let Some(tables) = live.tables(wanted.epoch) else { return Ok(()) };
        let mut left = wanted.limit.saturating_add(1);
        let mut url = Vec::new();
        for posting in tables.postings(candidate.ordinal)? {
            let posting = posting?;
            if !posting.in_force && !wanted.ever {
                continue;
            }
            let page = live.segment.page(posting.page, &mut url)?;
            let url = live.segment.text(&url)?;
            if wanted.except == Some(url) {
                continue;
            }
            let lookup = Lookup::new(url, self.seed);
            let hidden = if wanted.ever {
                self.forgotten(&lookup, sequence, number)?
            } else {
                self.superseded(&lookup, sequence, number)?
            };
            if hidden {
                continue;
            }
            let mut copy = false;
            if wanted.digest.is_some() && candidate.distance == 0 {
                let head = page.record.head().ok_or_else(|| unreadable(&live.segment))?;
                let in_force = head.as_ref().and_then(|h| h.in_force());
                copy = in_force.is_some_and(|v| v.content.digest == wanted.digest);
            }
            found.push(Found::new(url, candidate, copy));
            left -= 1;
            if left == 0 {
                break;
            }
        }
        Ok(())
    }

    fn resolve_memory(
        &self,
        wanted: &Wanted<'_>,
        sequence: u64,
        number: usize,
        page: u32,
        candidate: &Candidate,
        found: &mut Vec<Found>,
    ) -> Result<()> {
        let Some(memtable) = self.memtables.get(number) else { return Ok(()) };
        let inner = memtable.read();
        let Some(page) = inner.page(page).filter(|p| p.first_sequence <= sequence) else {
            return Ok(());
        };
        if wanted.except == Some(&*page.url) {
            return Ok(());
        }
        if wanted.ever {
            let seen = |seen: &Seen| {
                seen.content().is_some_and(|c| {
                    c.fingerprint == candidate.fingerprint && c.epoch.0 == wanted.epoch
                })
            };
            // Those that came from older components are found there.
            let here = page.visits_at(sequence).any(|v| seen(&v.seen));
            let url = page.url.clone();
            drop(inner);
            let lookup = Lookup::new(&url, self.seed);
            if here && !self.forgotten_in_memory(&lookup, sequence, number + 1) {
                found.push(Found::new(&url, candidate, false));
            }
            return Ok(());
        }
        let head = page.head_at(sequence).cloned();
        let url = page.url.clone();
        drop(inner);
        let lookup = Lookup::new(&url, self.seed);
        let head = match head {
            Some(head) => head,
            None => self.head_in_memory(&lookup, sequence, number + 1)?.and_then(|k| k.head),
        };
        let in_force = head.as_ref().and_then(|h| h.in_force()).map(|v| v.content);
        if let Some(content) = in_force
            && content.fingerprint == candidate.fingerprint
            && content.epoch.0 == wanted.epoch
            && !self.superseded_in_memory(&lookup, sequence, number + 1)
        {
            let copy = content.digest.is_some() && content.digest == wanted.digest;
            found.push(Found::new(&url, candidate, copy));
        }
        Ok(())
    }
}

impl Found {
    fn new(url: &str, candidate: &Candidate, copy: bool) -> Found {
        let mut key = Vec::new();
        surt::key(url, &mut key);
        let near = Near {
            url: url.to_owned(),
            distance: candidate.distance.into(),
            fingerprint: candidate.fingerprint,
        };
        Found { key, near, copy }
    }
}
