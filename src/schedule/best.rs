//! The best pages among rows.

use std::cmp::Reverse;
use std::ops::Range;

use super::by_rows::{After, rule_of};
use super::candidates::{Candidate, Candidates};
use super::decide::Asked;
use super::hints::HintCursor;
use super::rows::{Found, Part, parts, source_of};
use super::rules_by_page::RulesByPage;
use super::score::{ByWorth, Facts};
use super::score_cache::ScoreCache;
use super::skip_cache::SkipCache;
use super::sources::Source;
use crate::error::Result;
use crate::recrawl::Recent;
use crate::segment::Rows;

/// Rows that are sifted together: so many that what is read of memory for one of them does not wait for
/// what is read for another.
const TOGETHER: usize = 256;

/// Where pages are looked for.
#[derive(Clone, Copy)]
pub(super) struct Among<'a> {
    pub(super) asked: &'a Asked,
    pub(super) sources: &'a [Source],
    pub(super) held: &'a [RulesByPage],
    /// The pages that were returned already.
    pub(super) after: Option<&'a After>,
}

/// The best pages of those whose rows were read.
///
/// Nearly all rows are sifted out at a glance, by what was found of others, whether they are the newest
/// of their pages or not.
pub(super) struct Best<'a> {
    among: Among<'a>,
    candidates: Candidates,
    scores: ScoreCache,
    skip_cache: SkipCache,
    sifted: Vec<Sifted>,
    /// Which rows are left.
    left: Vec<usize>,
}

/// What is known of a row at a glance.
#[derive(Clone, Copy)]
struct Sifted {
    at: usize,
    by_worth: Option<ByWorth>,
    /// Whether a hint may be of its page.
    may_be_hinted: bool,
}

impl<'a> Best<'a> {
    /// At most so many pages of each component.
    pub(super) fn new(among: Among<'a>, most: usize) -> Best<'a> {
        let pages = among.sources.iter().map(Source::pages).sum();
        Best {
            among,
            candidates: Candidates::new(among.sources.len(), most),
            scores: ScoreCache::of(pages),
            skip_cache: SkipCache::of(pages),
            sifted: Vec::with_capacity(TOGETHER),
            left: Vec::with_capacity(TOGETHER),
        }
    }

    pub(super) fn into_candidates(self) -> Candidates {
        self.candidates
    }

    /// Looks at all pages with hashes from `first` to `last`.
    pub(super) fn look_at(&mut self, first: u64, last: u64) -> Result<()> {
        let hints = self.among.asked.due.hints.as_ref();
        for part in parts(self.among.sources, first, last) {
            let part = part?;
            for (component, rows) in part.rows().filter(|(_, rows)| rows.len() > 0) {
                let mut hints = hints.map(|hints| hints.from(rows.hash(0)));
                for from in (0..rows.len()).step_by(TOGETHER) {
                    let some = from..rows.len().min(from + TOGETHER);
                    self.sift(&part, component, rows, some, hints.as_mut())?;
                    for nth in 0..self.left.len() {
                        self.weigh(&part, component, rows, nth)?;
                    }
                }
            }
        }
        Ok(())
    }

    /// Finds which of some rows may be among the best.
    fn sift(
        &mut self,
        part: &Part<'_>,
        component: usize,
        rows: &Rows<'_>,
        some: Range<usize>,
        mut hints: Option<&mut HintCursor<'_>>,
    ) -> Result<()> {
        let Among { asked: Asked { due, scorer, .. }, held, .. } = self.among;
        let recent = Recent::default();
        self.sifted.clear();
        for at in some {
            let (hash, row) = (rows.hash(at), rows.row(at)?);
            if part.is_superseded(component, hash) {
                continue;
            }
            let rule = due.rules.get(rule_of(held, component, rows.page(at))?);
            let facts = Facts { hash, row: &row, recent: &recent, rule, changed: None, led: false };
            let may_be_hinted = hints
                .as_mut()
                .zip(scorer.hinted_between(&row, rule))
                .is_some_and(|(hints, (last, now))| hints.may_have(hash, last, now));
            let by_worth = scorer.by_worth(&facts).filter(|_| !may_be_hinted);
            self.sifted.push(Sifted { at, by_worth, may_be_hinted });
        }
        let floor = self.candidates.floor().figure();
        self.left.clear();
        for (nth, Sifted { by_worth, .. }) in self.sifted.iter().enumerate() {
            if !by_worth.is_some_and(|page| self.skip_cache.knows(&page, floor)) {
                self.left.push(nth);
            }
        }
        if self.left.len() < self.sifted.len() {
            self.candidates.pass_over();
        }
        Ok(())
    }

    /// Takes the page of one of the rows that are left, if it is among the best so far.
    fn weigh(
        &mut self,
        part: &Part<'_>,
        component: usize,
        rows: &Rows<'_>,
        nth: usize,
    ) -> Result<()> {
        let Among { asked: Asked { due, scorer, .. }, sources, held, after } = self.among;
        #[expect(clippy::indexing_slicing, reason = "one of those that are left, and so sifted")]
        let Sifted { at, by_worth, may_be_hinted } = self.sifted[self.left[nth]];
        let (hash, page, row) = (rows.hash(at), rows.page(at), rows.row(at)?);
        let source = source_of(sources, component)?;
        let found = Found { hash, component, page, row };
        if !row.known || !source.sees(page) || !part.is_newest(&found)? {
            return Ok(());
        }
        let rule = due.rules.get(rule_of(held, component, page)?);
        let changed =
            if may_be_hinted { scorer.changed(&row, rule, &source.url(page)?) } else { None };
        let recent = &Recent::default();
        let facts = Facts { hash, row: &row, recent, rule, changed, led: false };
        let Some(score) = scorer.score(facts, &mut self.scores)? else { return Ok(()) };
        if score < self.candidates.floor() {
            if let Some(page) = by_worth {
                self.skip_cache.note(&page, score.figure());
            }
            self.candidates.pass_over();
        } else if after.is_none_or(|after| after.is_before(component, score, page)) {
            self.candidates.push(component, Candidate { score, page: Reverse(page) });
        }
        Ok(())
    }
}
