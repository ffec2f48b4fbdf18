//! The best pages by their rows.

use std::cmp::Reverse;
use std::sync::Arc;

use super::best::{Among, Best};
use super::candidates::{Candidate, Candidates};
use super::decide::Asked;
use super::in_order::{Coming, Most};
use super::rows::{part_of, source_of};
use super::rules::RuleNumber;
use super::rules_by_page::RulesByPage;
use super::score::Score;
use super::sources::{Source, sources};
use crate::bug::OrBug;
use crate::error::Result;
use crate::page::surt;
use crate::threads;

/// Pages from which on a thread is worth its start.
const PAGES_EACH: u64 = 1 << 16;

/// Pages in their order, the best first: as many as memory holds, and then more.
pub(super) struct ByRows {
    sources: Arc<[Source]>,
    /// The rules of each component's pages.
    held: Arc<[RulesByPage]>,
    /// Of each component, the best one last.
    best: Vec<Vec<Candidate>>,
    /// Keys and URLs of the best one of each component, once they were needed.
    places: Vec<Option<(Vec<u8>, String)>>,
    /// How many of them are the best of all.
    valid: usize,
    /// Whether there may be more pages.
    more: bool,
    /// The last page that was returned.
    last: Option<RowPlace>,
}

/// A page: its component, and what it is there.
pub(super) type RowPlace = (usize, Candidate);

/// The pages that were returned: others come after them.
pub(super) struct After {
    score: Score,
    /// Of each component, the first page that comes after.
    starts: Vec<u32>,
}

impl After {
    /// Whether a page of a component comes after them.
    pub(super) fn is_before(&self, component: usize, score: Score, page: u32) -> bool {
        let start = self.starts.get(component);
        score < self.score || score == self.score && start.is_some_and(|start| *start <= page)
    }
}

impl ByRows {
    pub(super) fn new(asked: &Asked) -> Result<ByRows> {
        let sources = sources(&asked.snapshot, asked.due.under.as_ref())?;
        let held = sources.iter().map(|source| source.held(&asked.due.rules));
        let held = held.collect::<Result<Arc<[RulesByPage]>>>()?;
        Ok(ByRows::after_place(&Arc::from(sources), &held, None))
    }

    /// The pages that come after one, or all.
    pub(super) fn again_after(&self, place: Option<RowPlace>) -> ByRows {
        ByRows::after_place(&self.sources, &self.held, place)
    }

    fn after_place(
        sources: &Arc<[Source]>,
        held: &Arc<[RulesByPage]>,
        last: Option<RowPlace>,
    ) -> ByRows {
        let places = sources.iter().map(|_| None).collect();
        let (sources, held) = (Arc::clone(sources), Arc::clone(held));
        ByRows { sources, held, best: Vec::new(), places, valid: 0, more: true, last }
    }

    /// The last page that was returned.
    pub(super) fn place(&self) -> Option<RowPlace> {
        self.last
    }

    /// The next page.
    pub(super) fn next(&mut self, asked: &Asked, most: Most) -> Result<Option<Coming>> {
        if self.valid == 0 {
            if !self.more {
                return Ok(None);
            }
            self.fill(asked, most)?;
        }
        let Some((component, candidate)) = self.best()? else { return Ok(None) };
        self.valid -= 1;
        self.last = Some((component, candidate));
        self.best.get_mut(component).or_bug("a candidate is of a component")?.pop();
        *self.places.get_mut(component).or_bug("each component has a place")? = None;
        let source = source_of(&self.sources, component)?;
        let Candidate { score, page: Reverse(page) } = candidate;
        let (url, location) = (source.url(page)?, Some(source.location(page)?));
        Ok(Some(Coming { score, url, location }))
    }

    /// Reads all rows, and keeps the best of those that come after the last page.
    fn fill(&mut self, asked: &Asked, Most { pages: wanted, bytes }: Most) -> Result<()> {
        let after = self.last.map(|last| self.after(last)).transpose()?;
        let sources = &*self.sources;
        let pages: u64 = sources.iter().map(Source::pages).sum();
        let threads = std::thread::available_parallelism().map_or(1, usize::from);
        let parts = usize::try_from(pages / PAGES_EACH).unwrap_or(usize::MAX).clamp(1, threads);
        // What each part found is put together in the end, and each holds up to twice as many.
        let of_one = size_of::<Candidate>() * sources.len().max(1) + size_of::<Score>();
        let each = 2 * of_one * (parts + 1);
        let most = (bytes / each).clamp(1, wanted.max(1));
        let among = Among { asked, sources, held: &self.held, after: after.as_ref() };
        let run = |(): &mut (), part: usize| -> Result<Candidates> {
            let mut best = Best::new(among, most);
            let (first, last) = part_of(u64::MAX, part, parts);
            best.look_at(first, last)?;
            Ok(best.into_candidates())
        };
        let mut all = Candidates::new(sources.len(), most);
        for part in threads::share(0..parts, threads, || (), run) {
            all.merge(part?);
        }
        (self.best, self.more) = all.finish();
        self.places.iter_mut().for_each(|place| *place = None);
        self.valid = if self.more { most } else { usize::MAX };
        Ok(())
    }

    /// What comes after a page.
    fn after(&self, (component, candidate): RowPlace) -> Result<After> {
        let url = source_of(&self.sources, component)?.url(candidate.page.0)?;
        let key = surt::key_of(&url);
        let starts = self.sources.iter().map(|source| source.after(&key, &url));
        Ok(After { score: candidate.score, starts: starts.collect::<Result<_>>()? })
    }

    /// The best page, with its component.
    fn best(&mut self) -> Result<Option<RowPlace>> {
        let firsts = self.best.iter().enumerate();
        let firsts = firsts.filter_map(|(of, best)| Some((of, *best.last()?)));
        let Some(score) = firsts.clone().map(|(_, first)| first.score).max() else {
            return Ok(None);
        };
        let tied: Vec<_> = firsts.filter(|(_, first)| first.score == score).collect();
        if let [only] = tied[..] {
            return Ok(Some(only));
        }
        for (component, candidate) in &tied {
            self.read_place(*component, *candidate)?;
        }
        Ok(tied.into_iter().min_by_key(|(component, _)| self.places.get(*component)))
    }

    fn read_place(&mut self, component: usize, candidate: Candidate) -> Result<()> {
        let source = source_of(&self.sources, component)?;
        let place = self.places.get_mut(component).or_bug("each component has a place")?;
        if place.is_none() {
            let url = source.url(candidate.page.0)?;
            *place = Some((surt::key_of(&url), url));
        }
        Ok(())
    }
}

/// The rule of a page.
pub(super) fn rule_of(held: &[RulesByPage], component: usize, page: u32) -> Result<RuleNumber> {
    Ok(held.get(component).or_bug("what is found is of one of the components")?.at(page))
}
