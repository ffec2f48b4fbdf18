//! `near` over the live components: candidates from every component's tables, then, nearest first,
//! the pages behind them that are in force and not hidden.

use std::sync::Arc;

use super::answer::{Matches, Near};
use super::view::{LiveSegment, Lookup, Standing, View, unreadable};
use crate::error::Result;
use crate::page::{Content, Digest, surt};
use crate::search::{Batch, Candidate};

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

/// Counts the pages of one fingerprint that were found, and says when it is enough.
struct Tally {
    limit: usize,
    /// Whether copies are told apart.
    apart: bool,
    copies: usize,
    others: usize,
    examined: usize,
}

impl Tally {
    /// Pages looked at of one fingerprint once there are enough of one kind and not of the other.
    const EXAMINED_MAX: usize = 256;

    fn new(wanted: &Wanted<'_>) -> Tally {
        let apart = wanted.digest.is_some();
        Tally { limit: wanted.limit, apart, copies: 0, others: 0, examined: 0 }
    }

    fn count(&mut self, copy: bool) {
        self.examined += 1;
        if copy {
            self.copies += 1;
        } else {
            self.others += 1;
        }
    }

    /// Whether what comes after in the list is left out. One more than the limit is wanted, to know
    /// that there are more; of copies all that can be had, since the first capture may come last.
    fn is_enough(&self) -> bool {
        let others = self.others > self.limit;
        if !self.apart {
            return others;
        }
        let full = others || self.copies > self.limit;
        full && self.examined >= Self::EXAMINED_MAX.max(2 * self.limit)
    }
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

/// The same for many searches of one distance, at a fraction of the cost.
pub(crate) fn segment_hits_of_many(
    segments: &[Arc<LiveSegment>],
    wanted: &[Option<Wanted<'_>>],
) -> Result<Vec<Vec<SegmentHit>>> {
    let mut hits: Vec<Vec<SegmentHit>> = wanted.iter().map(|_| Vec::new()).collect();
    let mut epochs: Vec<(u32, u32)> = wanted.iter().flatten().map(|w| (w.epoch, w.k)).collect();
    epochs.sort_unstable();
    epochs.dedup();
    for (epoch, k) in epochs {
        let of_epoch = |w: &&Wanted<'_>| (w.epoch, w.k) == (epoch, k);
        let places = wanted.iter().enumerate();
        let places: Vec<(usize, u64)> = places
            .filter_map(|(place, w)| Some((place, w.as_ref().filter(of_epoch)?.fingerprint)))
            .collect();
        let batch = Batch::new(places.iter().map(|(_, fingerprint)| *fingerprint).collect(), k);
        for (number, live) in segments.iter().enumerate() {
            let Some(tables) = live.tables(epoch) else { continue };
            tables.borrowed().find_batch(&batch, |query, candidate| {
                let place = places.get(query).map(|(place, _)| *place);
                if let Some(hits) = place.and_then(|place| hits.get_mut(place)) {
                    hits.push((number, candidate));
                }
            })?;
        }
    }
    Ok(hits)
}

impl View {
    /// Whether a hit may name a page: not if only the page itself has that fingerprint, or a page
    /// that had it and changed. `own` is where the page itself is known to stand. Costs a page's
    /// group, if it stands in another segment.
    pub(crate) fn may_show(
        &self,
        wanted: &Wanted<'_>,
        hit: &SegmentHit,
        own: Option<Standing>,
    ) -> Result<bool> {
        let (number, candidate) = hit;
        let Some(live) = self.segments.get(*number) else { return Ok(false) };
        let Some(tables) = live.tables(wanted.epoch) else { return Ok(false) };
        let Some(posting) = tables.single(candidate.ordinal)? else { return Ok(true) };
        if !posting.in_force && !wanted.ever {
            return Ok(false);
        }
        match (wanted.except, own) {
            (None, _) => Ok(true),
            (_, Some(own)) if own.segment == *number => Ok(own.page != posting.page),
            (Some(url), _) => Ok(live.segment.page_if(posting.page, url)?.is_none()),
        }
    }
}

/// Where a near fingerprint is: in the segment, or the memtable, of that number.
enum Place {
    Segment(usize),
    Memory(usize),
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
            places.extend(in_memory.drain(..).map(|candidate| (candidate, Place::Memory(number))));
        }
        let mut findings = Findings { found: Vec::new(), complete: true };
        if places.is_empty() {
            return Ok(findings);
        }
        places.sort_by_key(|(candidate, _)| candidate.distance);
        for equal in places.chunk_by(|a, b| a.0.distance == b.0.distance) {
            if findings.found.iter().filter(|f| !f.copy).count() >= wanted.limit {
                // There may be more; whether any of it is in force is not looked up.
                findings.complete = false;
                break;
            }
            let (mut found, mut cut) = (Vec::new(), false);
            for (candidate, place) in equal {
                let all = match *place {
                    Place::Segment(number) => {
                        self.resolve_segment(wanted, sequence, number, candidate, &mut found)?
                    }
                    Place::Memory(number) => {
                        self.resolve_memory(wanted, sequence, number, candidate, &mut found)?
                    }
                };
                cut |= !all;
            }
            let order = |f: &Found| (f.key.clone(), f.near.url.clone(), f.near.fingerprint);
            found.sort_by_cached_key(order);
            found.dedup_by(|a, b| {
                (&a.near.url, a.near.fingerprint) == (&b.near.url, b.near.fingerprint)
            });
            findings.found.extend(found);
            if cut {
                // Nothing farther is named while something nearer may be missing.
                findings.complete = false;
                break;
            }
        }
        let mut others = 0;
        findings.found.retain(|f| {
            others += usize::from(!f.copy);
            f.copy || others <= wanted.limit
        });
        findings.complete &= others <= wanted.limit;
        Ok(findings)
    }

    /// The pages that have a fingerprint of a segment, a few more than the limit at most. Returns
    /// whether that is all.
    fn resolve_segment(
        &self,
        wanted: &Wanted<'_>,
        sequence: u64,
        number: usize,
        candidate: &Candidate,
        found: &mut Vec<Found>,
    ) -> Result<bool> {
        let Some(live) = self.segments.get(number) else { return Ok(true) };
        let Some(tables) = live.tables(wanted.epoch) else { return Ok(true) };
        let mut tally = Tally::new(wanted);
        let mut url = Vec::new();
        for posting in tables.postings(candidate.ordinal, 0)? {
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
            tally.count(copy);
            if tally.is_enough() {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// The same for a fingerprint of a memtable.
    fn resolve_memory(
        &self,
        wanted: &Wanted<'_>,
        sequence: u64,
        number: usize,
        candidate: &Candidate,
        found: &mut Vec<Found>,
    ) -> Result<bool> {
        let Some(memtable) = self.memtables.get(number) else { return Ok(true) };
        let pages = memtable.read().postings(wanted.epoch, candidate.ordinal).to_vec();
        let mut tally = Tally::new(wanted);
        for page in pages {
            // Held no longer than this page takes: a page may have to be looked up again.
            let inner = memtable.read();
            let Some(page) = inner.page(page).filter(|p| p.is_here(sequence)) else {
                continue;
            };
            if wanted.except == Some(page.url()) {
                continue;
            }
            let url = page.url().to_owned();
            let lookup = Lookup::new(&url, self.seed);
            let is_wanted =
                |c: &Content| c.fingerprint == candidate.fingerprint && c.epoch.0 == wanted.epoch;
            let mut copy = false;
            let visible = if wanted.ever {
                // What came here from older components is found there.
                let here =
                    page.visits_at(sequence).any(|v| v.seen.content().is_some_and(is_wanted));
                drop(inner);
                here && !self.forgotten_in_memory(&lookup, sequence, number + 1)
            } else {
                let head = page.head_at(sequence);
                drop(inner);
                let in_force = head.as_ref().and_then(|h| h.in_force()).map(|v| v.content);
                copy = candidate.distance == 0
                    && in_force.is_some_and(|c| c.digest.is_some() && c.digest == wanted.digest);
                in_force.as_ref().is_some_and(is_wanted)
                    && !self.superseded_in_memory(&lookup, sequence, number + 1)
            };
            if visible {
                found.push(Found::new(&url, candidate, copy));
                tally.count(copy);
            }
            if tally.is_enough() {
                return Ok(false);
            }
        }
        Ok(true)
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
