//! From fingerprints that are near to the pages that have them.
//!
//! Bounded: a search looks at some hundreds of pages more than it may name. Fingerprints that
//! thousands of pages share, balls of thousands of fingerprints, and lists of pages that have long
//! changed cost no more than that, and the answer says that it was cut.

use std::ops::Range;

use super::{Findings, Found, SegmentHit, Wanted};
use crate::error::Result;
use crate::page::{Content, surt};
use crate::search::Candidate;
use crate::store::query::{Near, Versions};
use crate::store::view::{LiveSegment, Lookup, Part, View, unreadable};

/// Pages that a search may look at beside those that it may name...
const PAGES: usize = 256;

/// ...and so many for each of these.
const PAGES_EACH: usize = 2;

/// Postings that are no longer in force that count as much as a page that is looked at.
const POSTINGS: usize = 64;

/// How much more a search may look at.
struct Effort {
    left: usize,
    postings: usize,
}

impl Effort {
    fn of(limit: usize) -> Effort {
        Effort { left: PAGES.saturating_add(limit.saturating_mul(PAGES_EACH)), postings: 0 }
    }

    /// Counts a page; whether it may be looked at.
    fn page(&mut self) -> bool {
        let may = self.left > 0;
        self.left = self.left.saturating_sub(1);
        may
    }

    /// Counts a posting that is passed over; whether to go on.
    fn posting(&mut self) -> bool {
        self.postings += 1;
        !self.postings.is_multiple_of(POSTINGS) || self.page()
    }
}

/// Where a near fingerprint is: in the segment, or the memtable, of that number.
#[derive(Clone, Copy)]
enum Place {
    Segment(usize),
    Memory(usize),
}

/// One search on its way.
struct Search<'v, 'w> {
    view: &'v View,
    wanted: &'w Wanted<'w>,
    sequence: u64,
    effort: Effort,
    /// The pages under the prefix, in each segment that was asked for.
    under: Vec<Option<Range<u32>>>,
    /// Pages at the distance at hand.
    found: Vec<Found>,
    url: Vec<u8>,
}

impl View {
    /// The pages near a fingerprint as of `sequence`, from what
    /// [`segment_hits`](super::segment_hits) found.
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
        places.sort_unstable_by_key(|(candidate, _)| (candidate.distance, candidate.fingerprint));
        let effort = Effort::of(wanted.limit);
        let (under, found, url) = (Vec::new(), Vec::new(), Vec::new());
        let mut search = Search { view: self, wanted, sequence, effort, under, found, url };
        let mut others = 0;
        for equal in places.chunk_by(|a, b| a.0.distance == b.0.distance) {
            if others >= wanted.limit {
                // There may be more; whether any of it is in force is not looked up.
                findings.complete = false;
                break;
            }
            let mut all = true;
            for (candidate, place) in equal {
                all = match *place {
                    Place::Segment(number) => search.segment(number, candidate)?,
                    Place::Memory(number) => search.memory(number, candidate)?,
                };
                if !all {
                    break;
                }
            }
            for found in search.in_order() {
                others += usize::from(!found.copy);
                if found.copy || others <= wanted.limit {
                    findings.found.push(found);
                }
            }
            if !all {
                // Nothing farther is named while something nearer may be missing.
                findings.complete = false;
                break;
            }
        }
        findings.complete &= others <= wanted.limit;
        Ok(findings)
    }
}

impl Search<'_, '_> {
    /// What was found at one distance, in SURT order, each page once for each fingerprint.
    fn in_order(&mut self) -> Vec<Found> {
        let mut found = std::mem::take(&mut self.found);
        if found.len() > 1 {
            found.sort_by_cached_key(|found| {
                let mut key = Vec::new();
                surt::key(&found.near.url, &mut key);
                (key, found.near.url.clone(), found.near.fingerprint)
            });
            found.dedup_by(|a, b| {
                (&a.near.url, a.near.fingerprint) == (&b.near.url, b.near.fingerprint)
            });
        }
        found
    }

    /// Pages of a segment that are under the prefix.
    fn under(&mut self, number: usize, live: &LiveSegment) -> Result<Range<u32>> {
        let Some(prefix) = self.wanted.under else { return Ok(0..u32::MAX) };
        if self.under.len() <= number {
            self.under.resize(number + 1, None);
        }
        if let Some(Some(known)) = self.under.get(number) {
            return Ok(known.clone());
        }
        let (start, end) = prefix.range();
        let ordinal = |key| {
            let place = live.segment.lower_bound(key)?;
            Ok::<_, crate::Error>(u32::try_from(place).unwrap_or(u32::MAX))
        };
        let range = ordinal(start)?..ordinal(end)?;
        if let Some(slot) = self.under.get_mut(number) {
            *slot = Some(range.clone());
        }
        Ok(range)
    }

    /// Looks at the pages that have a fingerprint of a segment. Returns whether those are all.
    fn segment(&mut self, number: usize, candidate: &Candidate) -> Result<bool> {
        let view = self.view;
        let Some(live) = view.segments.get(number) else { return Ok(true) };
        let Some(tables) = live.tables(self.wanted.epoch) else { return Ok(true) };
        let under = self.under(number, live)?;
        let ordinal = candidate.ordinal;
        let mut copies = None;
        if let Some(digest) = self.wanted.digest.filter(|_| candidate.distance == 0) {
            copies = tables.copies(ordinal, digest)?.zip(tables.copies(ordinal, digest)?);
        }
        let mut copies = match copies {
            None => None,
            Some((all, again)) => {
                let before = self.found.len();
                for page in all {
                    if self.found.len() - before > self.wanted.limit {
                        // One more than may be named, to know that there are more.
                        break;
                    }
                    if !self.page(number, live, page?, candidate)? {
                        return Ok(false);
                    }
                }
                Some(again.peekable())
            }
        };
        let before = self.others();
        for posting in tables.postings(ordinal, under.start)? {
            let posting = posting?;
            if posting.page >= under.end {
                break;
            }
            if !posting.in_force && self.wanted.versions == Versions::InForce {
                if !self.effort.posting() {
                    return Ok(false);
                }
                continue;
            }
            if let Some(copies) = &mut copies {
                // Both ascend.
                while copies.next_if(|c| c.as_ref().is_ok_and(|c| *c < posting.page)).is_some() {}
                match copies.peek() {
                    Some(Ok(copy)) if *copy == posting.page => continue,
                    Some(Err(_)) => {
                        copies.next().transpose()?;
                    }
                    _ => {}
                }
            }
            if !self.page(number, live, posting.page, candidate)? {
                return Ok(false);
            }
            if self.others() - before > self.wanted.limit {
                // The first in SURT order are wanted, and these are.
                break;
            }
        }
        Ok(true)
    }

    fn others(&self) -> usize {
        self.found.iter().filter(|found| !found.copy).count()
    }

    /// Looks at one page of a segment. Returns whether it might.
    fn page(
        &mut self,
        number: usize,
        live: &LiveSegment,
        page: u32,
        candidate: &Candidate,
    ) -> Result<bool> {
        if !self.effort.page() {
            return Ok(false);
        }
        let page = live.segment.page(page, &mut self.url)?;
        let url = live.segment.text(&self.url)?;
        let (wanted, view, sequence) = (self.wanted, self.view, self.sequence);
        if wanted.except == Some(url) {
            return Ok(true);
        }
        let lookup = Lookup::new(url, view.seed);
        let hidden = match wanted.versions {
            Versions::InForce => view.superseded(&lookup, sequence, number)?,
            _ => view.forgotten(&lookup, sequence, number)?,
        };
        if hidden || !self.was_seen(&lookup, candidate)? {
            return Ok(true);
        }
        let mut copy = false;
        if wanted.digest.is_some() && candidate.distance == 0 {
            let head = page.record.head().ok_or_else(|| unreadable(&live.segment))?;
            let in_force = head.as_ref().and_then(|h| h.in_force());
            copy = in_force.is_some_and(|v| v.content.digest == wanted.digest);
        }
        let near = near(url, candidate);
        self.found.push(Found { near, copy });
        Ok(true)
    }

    /// Whether a page showed the fingerprint when it is wanted; for versions of the past.
    fn was_seen(&self, lookup: &Lookup<'_>, candidate: &Candidate) -> Result<bool> {
        let is_wanted = |content: &Content| {
            content.fingerprint == candidate.fingerprint && content.epoch.0 == self.wanted.epoch
        };
        match self.wanted.versions {
            Versions::InForce | Versions::Ever => Ok(true),
            Versions::At(time) => {
                let visit = self.view.as_of(lookup, self.sequence, time)?;
                Ok(visit.is_some_and(|visit| visit.seen.content().is_some_and(is_wanted)))
            }
            Versions::Seen(from, until) => {
                let mut seen = false;
                self.view.visits(lookup, self.sequence, |part| {
                    let visits = match part {
                        Part::Memory(visits) => visits,
                        Part::Segment(record) => record.visits()?,
                    };
                    let mut within = visits.iter().filter(|v| (from..=until).contains(&v.time));
                    seen = within.any(|visit| visit.seen.content().is_some_and(is_wanted));
                    Some(!seen)
                })?;
                Ok(seen)
            }
        }
    }

    /// Looks at the pages that have a fingerprint of a memtable. Returns whether those are all.
    fn memory(&mut self, number: usize, candidate: &Candidate) -> Result<bool> {
        /// Pages copied from a list at a time; it may grow meanwhile, which only repeats some.
        const AT_ONCE: usize = 64;
        let (view, wanted, sequence) = (self.view, self.wanted, self.sequence);
        let Some(memtable) = view.memtables.get(number) else { return Ok(true) };
        let mut at = 0;
        loop {
            let inner = memtable.read();
            let pages = inner.postings(wanted.epoch, candidate.ordinal).get(at..).unwrap_or(&[]);
            let pages = pages.get(..AT_ONCE.min(pages.len())).unwrap_or(pages).to_vec();
            drop(inner);
            if pages.is_empty() {
                return Ok(true);
            }
            at += pages.len();
            for page in pages {
                if !self.effort.page() {
                    return Ok(false);
                }
                // Held no longer than this page takes: a page may have to be looked up again.
                let inner = memtable.read();
                let Some(page) = inner.page(page).filter(|p| p.is_here(sequence)) else {
                    continue;
                };
                if wanted.except == Some(page.url()) {
                    continue;
                }
                let url = page.url().to_owned();
                let lookup = Lookup::new(&url, view.seed);
                if wanted.under.is_some_and(|prefix| !prefix.contains(lookup.key())) {
                    continue;
                }
                let is_wanted = |c: &Content| {
                    c.fingerprint == candidate.fingerprint && c.epoch.0 == wanted.epoch
                };
                let mut copy = false;
                let visible = if wanted.versions == Versions::InForce {
                    let head = page.head_at(sequence);
                    drop(inner);
                    let in_force = head.as_ref().and_then(|h| h.in_force()).map(|v| v.content);
                    copy = candidate.distance == 0
                        && in_force
                            .is_some_and(|c| c.digest.is_some() && c.digest == wanted.digest);
                    in_force.as_ref().is_some_and(is_wanted)
                        && !view.superseded_in_memory(&lookup, sequence, number + 1)
                } else {
                    // What came here from older components is found there.
                    let here =
                        page.visits_at(sequence).any(|v| v.seen.content().is_some_and(is_wanted));
                    drop(inner);
                    here && !view.forgotten_in_memory(&lookup, sequence, number + 1)
                };
                if visible && self.was_seen(&lookup, candidate)? {
                    self.found.push(Found { near: near(&url, candidate), copy });
                }
            }
        }
    }
}

fn near(url: &str, candidate: &Candidate) -> Near {
    Near {
        url: url.to_owned(),
        distance: candidate.distance.into(),
        fingerprint: candidate.fingerprint,
    }
}
