//! The best pages by their rows.

use std::cmp::Reverse;
use std::sync::Arc;

use super::calm::Calm;
use super::candidates::{Candidate, Candidates};
use super::decide::Asked;
use super::held::Held;
use super::in_order::Most;
use super::rows::{EachPage, Found, part_of, source_of};
use super::rules::RuleNumber;
use super::score::{Facts, Score};
use super::sources::{Source, sources};
use super::worked::Worked;
use crate::bug::OrBug;
use crate::error::Result;
use crate::page::surt;
use crate::recrawl::Recent;
use crate::threads;

/// Pages from which on a thread is worth its start.
const PAGES_EACH: u64 = 1 << 16;

/// Pages in their order, the best first: as many as memory holds, and then more.
pub(super) struct ByRows {
    sources: Arc<[Source]>,
    /// The rules of each component's pages.
    held: Arc<[Held]>,
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
struct After {
    score: Score,
    /// Of each component, the first page that comes after.
    starts: Vec<u32>,
}

impl After {
    fn is_before(&self, component: usize, score: Score, page: u32) -> bool {
        let start = self.starts.get(component);
        score < self.score || score == self.score && start.is_some_and(|start| *start <= page)
    }
}

impl ByRows {
    pub(super) fn new(asked: &Asked) -> Result<ByRows> {
        let sources = sources(&asked.snapshot, asked.due.under.as_ref())?;
        let held = sources.iter().map(|source| source.held(&asked.due.rules));
        let held = held.collect::<Result<Arc<[Held]>>>()?;
        Ok(ByRows::after_place(&Arc::from(sources), &held, None))
    }

    /// The pages that come after one, or all.
    pub(super) fn again_after(&self, place: Option<RowPlace>) -> ByRows {
        ByRows::after_place(&self.sources, &self.held, place)
    }

    fn after_place(sources: &Arc<[Source]>, held: &Arc<[Held]>, last: Option<RowPlace>) -> ByRows {
        let places = sources.iter().map(|_| None).collect();
        let (sources, held) = (Arc::clone(sources), Arc::clone(held));
        ByRows { sources, held, best: Vec::new(), places, valid: 0, more: true, last }
    }

    /// The last page that was returned.
    pub(super) fn place(&self) -> Option<RowPlace> {
        self.last
    }

    /// The next page, with its score.
    pub(super) fn next(&mut self, asked: &Asked, most: Most) -> Result<Option<(Score, String)>> {
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
        let url = source_of(&self.sources, component)?.url(candidate.page.0)?;
        Ok(Some((candidate.score, url)))
    }

    /// Reads all rows, and keeps the best of those that come after the last page.
    fn fill(&mut self, asked: &Asked, Most { pages: wanted, bytes }: Most) -> Result<()> {
        let after = self.last.map(|last| self.after(last)).transpose()?;
        let (sources, held) = (&*self.sources, &*self.held);
        let pages: u64 = sources.iter().map(Source::pages).sum();
        let threads = std::thread::available_parallelism().map_or(1, usize::from);
        let parts = usize::try_from(pages / PAGES_EACH).unwrap_or(usize::MAX).clamp(1, threads);
        // What each part found is put together in the end.
        let of_one = size_of::<Candidate>() * sources.len().max(1) + size_of::<Score>();
        let each = of_one * (parts + 1);
        let most = (bytes / each).clamp(1, wanted.max(1));
        let run = |(): &mut (), part: usize| -> Result<Candidates> {
            let mut candidates = Candidates::new(sources.len(), most);
            let (mut worked, mut calm) = (Worked::of(pages), Calm::of(pages));
            let recent = Recent::default();
            let (first, last) = part_of(u64::MAX, part, parts);
            let mut hints = asked.due.hints.as_ref().map(|hints| hints.from(first));
            for found in EachPage::new(sources, first, last)? {
                let Found { hash, component, page, row } = found?;
                let rule = asked.due.rules.get(rule_of(held, component, page)?);
                let between = asked.scorer.hinted_between(&row, rule);
                let may_be_hinted = hints
                    .as_mut()
                    .zip(between)
                    .is_some_and(|(hints, (last, now))| hints.may_have(hash, last, now));
                let changed = if may_be_hinted {
                    let url = source_of(sources, component)?.url(page)?;
                    asked.scorer.changed(&row, rule, &url)
                } else {
                    None
                };
                let facts = Facts { hash, row: &row, recent: &recent, rule, changed, led: false };
                let (floor, by_worth) = (candidates.floor(), asked.scorer.by_worth(&facts));
                if by_worth.is_some_and(|by| calm.knows(&by, floor.figure())) {
                    candidates.pass_over();
                    continue;
                }
                let Some(score) = asked.scorer.score(facts, &mut worked)? else { continue };
                if let Some(by) = by_worth.filter(|_| score < floor) {
                    calm.note(&by, score.figure());
                }
                if after.as_ref().is_none_or(|after| after.is_before(component, score, page)) {
                    candidates.push(component, Candidate { score, page: Reverse(page) });
                }
            }
            Ok(candidates)
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
pub(super) fn rule_of(held: &[Held], component: usize, page: u32) -> Result<RuleNumber> {
    Ok(held.get(component).or_bug("what is found is of one of the components")?.at(page))
}
