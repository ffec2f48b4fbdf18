//! Orders all pages by the value of a visit: skips or scores rows, and keeps the best pages that
//! fit into memory.

use std::cmp::Reverse;
use std::ops::Range;
use std::sync::Arc;

use super::decide::DueContext;
use super::hints::HintCursor;
use super::rows::{ComponentRow, RowRange, part_of, parts, source_of};
use super::rules::{RuleNumber, RulesByPage};
use super::score::{Score, ScoreCache, ScoreInput, ValueInput};
use super::sources::{RowSource, sources};
use crate::bug::OrBug;
use crate::engine::component::PageAddress;
use crate::error::Result;
use crate::page::surt;
use crate::recrawl::RecentComparisons;
use crate::segment::ScheduleRows;
use crate::threads;

/// The number of pages per thread that makes a thread worthwhile.
const PAGES_EACH: u64 = 1 << 16;

/// Limits for one pass over the rows.
#[derive(Clone, Copy, Debug)]
pub(super) struct PassLimits {
    /// The number of pages still wanted, including the next page.
    pub(super) pages: usize,
    pub(super) bytes: usize,
}

/// The next page in order.
#[derive(Debug)]
pub(super) struct ScoredPage {
    pub(super) score: Score,
    pub(super) url: String,
    /// The location of the page's newest record.
    pub(super) location: PageAddress,
}

impl ScoredPage {
    /// Whether this page comes before another page.
    pub(super) fn is_before(&self, other: &ScoredPage) -> bool {
        if self.score != other.score {
            return self.score > other.score;
        }
        // Keys are computed only for equal scores.
        let place = |coming: &ScoredPage| surt::key_of(&coming.url);
        place(self).cmp(&place(other)).then_with(|| self.url.cmp(&other.url)).is_lt()
    }
}

/// All pages, the best page first; pages with equal scores are in SURT order. Each pass over the
/// rows selects as many pages as fit into memory. Leaders are not considered.
pub(super) struct PagesByScore {
    sources: Arc<[RowSource]>,
    /// The rules of each component's pages.
    rules: Arc<[RulesByPage]>,
    /// The best candidates of each component, the best candidate last.
    best: Vec<Vec<DueCandidate>>,
    /// Keys and URLs of the best candidate of each component, read on demand.
    places: Vec<Option<(Vec<u8>, String)>>,
    /// The number of candidates that are certain to be the best of all remaining pages.
    valid: usize,
    /// Whether there may be more pages than the candidates.
    more: bool,
    /// The last page returned.
    last: Option<ComponentCandidate>,
}

/// The place of a row: its component, and its candidate in the component.
pub(super) type ComponentCandidate = (usize, DueCandidate);

/// The position after the pages already returned.
pub(super) struct ResumePosition {
    score: Score,
    /// For each component, the first page in SURT order after the last returned page. Pages with
    /// the same score and a lower number were returned.
    starts: Vec<u32>,
}

impl ResumePosition {
    /// Whether this position is before a page of a component.
    pub(super) fn is_before(&self, component: usize, score: Score, page: u32) -> bool {
        // Pages with equal scores are in SURT order. Each component stores its border as a page
        // number, so no URL is read.
        let start = self.starts.get(component);
        score < self.score || score == self.score && start.is_some_and(|start| *start <= page)
    }
}

impl PagesByScore {
    pub(super) fn new(asked: &DueContext) -> Result<PagesByScore> {
        let sources = sources(&asked.snapshot, asked.due.under.as_ref())?;
        let held = sources.iter().map(|source| source.rules_by_page(&asked.due.rules));
        let held = held.collect::<Result<Arc<[RulesByPage]>>>()?;
        Ok(PagesByScore::after_place(&Arc::from(sources), &held, None))
    }

    /// Returns an iterator over the pages after `place`, or over all pages.
    pub(super) fn again_after(&self, place: Option<ComponentCandidate>) -> PagesByScore {
        PagesByScore::after_place(&self.sources, &self.rules, place)
    }

    fn after_place(
        sources: &Arc<[RowSource]>,
        held: &Arc<[RulesByPage]>,
        last: Option<ComponentCandidate>,
    ) -> PagesByScore {
        let places = sources.iter().map(|_| None).collect();
        let (sources, held) = (Arc::clone(sources), Arc::clone(held));
        PagesByScore { sources, rules: held, best: Vec::new(), places, valid: 0, more: true, last }
    }

    /// Returns the place of the last returned page.
    pub(super) fn last_returned(&self) -> Option<ComponentCandidate> {
        self.last
    }

    /// Returns the next page.
    pub(super) fn next(
        &mut self,
        asked: &DueContext,
        most: PassLimits,
    ) -> Result<Option<ScoredPage>> {
        if self.valid == 0 {
            if !self.more {
                return Ok(None);
            }
            self.fill(asked, most)?;
        }
        let Some((component, candidate)) = self.best()? else { return Ok(None) };
        self.valid -= 1;
        // Stored for `after`: when the candidates are used up, the rows after this page are read
        // again.
        self.last = Some((component, candidate));
        self.best.get_mut(component).or_bug("each candidate belongs to a component")?.pop();
        *self.places.get_mut(component).or_bug("each component has an index")? = None;
        let source = source_of(&self.sources, component)?;
        let DueCandidate { score, page: Reverse(page) } = candidate;
        let (url, location) = (source.url(page)?, source.location(page)?);
        Ok(Some(ScoredPage { score, url, location }))
    }

    /// Reads all rows, and selects the best pages after the last returned page.
    fn fill(
        &mut self,
        asked: &DueContext,
        PassLimits { pages: wanted, bytes }: PassLimits,
    ) -> Result<()> {
        // The last returned page is converted to a border in each component once, before all rows
        // are read.
        let after = self.last.map(|last| self.after(last)).transpose()?;
        let sources = &*self.sources;
        let pages: u64 = sources.iter().map(RowSource::pages).sum();
        let threads = std::thread::available_parallelism().map_or(1, usize::from);
        let parts = usize::try_from(pages / PAGES_EACH).unwrap_or(usize::MAX).clamp(1, threads);
        // All threads' candidates exist at once before they are merged, hence `parts + 1`. Each
        // thread holds, for each component, up to twice as many candidates as it returns.
        let of_one = size_of::<DueCandidate>() * sources.len().max(1) + size_of::<Score>();
        let each = 2 * of_one * (parts + 1);
        let most = (bytes / each).clamp(1, wanted.max(1));
        let among = SelectionScope { asked, sources, rules: &self.rules, after: after.as_ref() };
        let run = |(): &mut (), part: usize| -> Result<TopCandidates> {
            let mut best = PageSelector::new(among, most);
            // A part is a range of hashes, so one thread sees all rows of a page.
            let (first, last) = part_of(u64::MAX, part, parts);
            best.look_at(first, last)?;
            Ok(best.into_candidates())
        };
        let mut all = TopCandidates::new(sources.len(), most);
        for part in threads::run_jobs(0..parts, threads, || (), run) {
            all.merge(part?);
        }
        (self.best, self.more) = all.finish();
        self.places.iter_mut().for_each(|place| *place = None);
        // Only the first `most` candidates are certain to be the best of all. Pages that were cut
        // off may come before later candidates.
        self.valid = if self.more { most } else { usize::MAX };
        Ok(())
    }

    /// Returns the position after a page.
    fn after(&self, (component, candidate): ComponentCandidate) -> Result<ResumePosition> {
        let url = source_of(&self.sources, component)?.url(candidate.page.0)?;
        let key = surt::key_of(&url);
        let starts = self.sources.iter().map(|source| source.after(&key, &url));
        Ok(ResumePosition { score: candidate.score, starts: starts.collect::<Result<_>>()? })
    }

    /// Returns the best candidate and its component.
    fn best(&mut self) -> Result<Option<ComponentCandidate>> {
        // The candidates of a component are in ascending order, so the last candidate is the best.
        let firsts = self.best.iter().enumerate();
        let firsts = firsts.filter_map(|(of, best)| Some((of, *best.last()?)));
        let Some(score) = firsts.clone().map(|(_, first)| first.score).max() else {
            return Ok(None);
        };
        let tied: Vec<_> = firsts.filter(|(_, first)| first.score == score).collect();
        if let [only] = tied[..] {
            return Ok(Some(only));
        }
        // URLs are read only for components with equal scores, whose order is the SURT order.
        for (component, candidate) in &tied {
            self.read_place(*component, *candidate)?;
        }
        Ok(tied.into_iter().min_by_key(|(component, _)| self.places.get(*component)))
    }

    fn read_place(&mut self, component: usize, candidate: DueCandidate) -> Result<()> {
        let source = source_of(&self.sources, component)?;
        let place = self.places.get_mut(component).or_bug("each component has an index")?;
        if place.is_none() {
            let url = source.url(candidate.page.0)?;
            *place = Some((surt::key_of(&url), url));
        }
        Ok(())
    }
}

/// Returns the rule of a page.
pub(super) fn rule_of(held: &[RulesByPage], component: usize, page: u32) -> Result<RuleNumber> {
    Ok(held.get(component).or_bug("each hit belongs to one of the components")?.at(page))
}

/// The number of rows sifted together. The number is large enough that memory latencies of
/// different rows overlap.
const TOGETHER: usize = 256;

/// The pages to select from.
#[derive(Clone, Copy)]
pub(super) struct SelectionScope<'a> {
    pub(super) asked: &'a DueContext,
    pub(super) sources: &'a [RowSource],
    pub(super) rules: &'a [RulesByPage],
    /// The position after the pages already returned.
    pub(super) after: Option<&'a ResumePosition>,
}

/// Collects the best pages among the rows read so far.
///
/// The skip cache removes nearly all rows, whether or not they are the newest rows of their pages.
pub(super) struct PageSelector<'a> {
    among: SelectionScope<'a>,
    candidates: TopCandidates,
    scores: ScoreCache,
    skip_cache: SkipCache,
    sifted: Vec<SiftedRow>,
    /// The rows that were not skipped.
    left: Vec<usize>,
}

/// The facts about a row that do not require reading its page.
#[derive(Clone, Copy)]
struct SiftedRow {
    at: usize,
    by_worth: Option<ValueInput>,
    /// Whether the page may have a hint.
    may_be_hinted: bool,
}

impl<'a> PageSelector<'a> {
    /// Keeps at most `most` pages of each component.
    pub(super) fn new(among: SelectionScope<'a>, most: usize) -> PageSelector<'a> {
        let pages = among.sources.iter().map(RowSource::pages).sum();
        PageSelector {
            among,
            candidates: TopCandidates::new(among.sources.len(), most),
            scores: ScoreCache::of(pages),
            skip_cache: SkipCache::of(pages),
            sifted: Vec::with_capacity(TOGETHER),
            left: Vec::with_capacity(TOGETHER),
        }
    }

    pub(super) fn into_candidates(self) -> TopCandidates {
        self.candidates
    }

    /// Examines all pages with hashes from `first` to `last`.
    pub(super) fn look_at(&mut self, first: u64, last: u64) -> Result<()> {
        let hints = self.among.asked.due.hints.as_ref();
        for part in parts(self.among.sources, first, last) {
            let part = part?;
            for (component, rows) in part.rows().filter(|(_, rows)| rows.len() > 0) {
                // Rows and hints are both in order of hash, so a cursor advances with the rows of
                // each component.
                let mut hints = hints.map(|hints| hints.from(rows.hash(0)));
                for from in (0..rows.len()).step_by(TOGETHER) {
                    // Two short loops over a few rows let their memory accesses overlap. These
                    // loops, and vectors instead of heaps, found the best 10,000 of ten million
                    // pages in 0.16 s instead of 0.25 s.
                    let some = from..rows.len().min(from + TOGETHER);
                    self.sift(&part, component, rows, some, hints.as_mut())?;
                    for nth in 0..self.left.len() {
                        self.score_row(&part, component, rows, nth)?;
                    }
                }
            }
        }
        Ok(())
    }

    /// Selects the rows whose pages may be among the best.
    fn sift(
        &mut self,
        part: &RowRange<'_>,
        component: usize,
        rows: &ScheduleRows<'_>,
        some: Range<usize>,
        mut hints: Option<&mut HintCursor<'_>>,
    ) -> Result<()> {
        let SelectionScope { asked: DueContext { due, scorer, .. }, rules: held, .. } = self.among;
        let recent = RecentComparisons::default();
        self.sifted.clear();
        for at in some {
            let (hash, row) = (rows.hash(at), rows.row(at)?);
            // This check comes first, since it drops older rows before anything is computed: one
            // probe of a table in the CPU cache.
            if part.is_superseded(component, hash) {
                continue;
            }
            let rule = due.rules.get(rule_of(held, component, rows.page(at))?);
            let facts =
                ScoreInput { hash, row: &row, recent: &recent, rule, changed: None, led: false };
            // A hint changes the value of a page, so the skip cache does not apply to a page with a
            // hint.
            let may_be_hinted = hints
                .as_mut()
                .zip(scorer.hinted_between(&row, rule))
                .is_some_and(|(hints, (last, now))| hints.may_have(hash, last, now));
            let by_worth = scorer.by_worth(&facts).filter(|_| !may_be_hinted);
            self.sifted.push(SiftedRow { at, by_worth, may_be_hinted });
        }
        // The floor is read once for all these rows. The floor only rises, so an old floor skips
        // too few rows, never too many.
        let floor = self.candidates.floor().figure();
        self.left.clear();
        for (nth, SiftedRow { by_worth, .. }) in self.sifted.iter().enumerate() {
            if !by_worth.is_some_and(|page| self.skip_cache.knows(&page, floor)) {
                self.left.push(nth);
            }
        }
        if self.left.len() < self.sifted.len() {
            self.candidates.pass_over();
        }
        Ok(())
    }

    /// Scores the page of one remaining row, and keeps the page if it is among the best so far.
    fn score_row(
        &mut self,
        part: &RowRange<'_>,
        component: usize,
        rows: &ScheduleRows<'_>,
        nth: usize,
    ) -> Result<()> {
        let SelectionScope { asked: DueContext { due, scorer, .. }, sources, rules: held, after } =
            self.among;
        #[expect(clippy::indexing_slicing, reason = "an index below the number of remaining pages")]
        let SiftedRow { at, by_worth, may_be_hinted } = self.sifted[self.left[nth]];
        let (hash, page, row) = (rows.hash(at), rows.page(at), rows.row(at)?);
        let source = source_of(sources, component)?;
        let found = ComponentRow { hash, component, page, row };
        // `is_newest` comes last, because it reads URLs if two pages have the same hash.
        if !row.known || !source.sees(page) || !part.is_newest(&found)? {
            return Ok(());
        }
        let rule = due.rules.get(rule_of(held, component, page)?);
        let changed =
            // The cursor compared only hashes. The URL decides whether the hint belongs to this
            // page.
            if may_be_hinted { scorer.changed(&row, rule, &source.url(page)?) } else { None };
        let recent = self.among.asked.recent(source, &found, rule)?;
        let facts = ScoreInput { hash, row: &row, recent: &recent, rule, changed, led: false };
        let Some(score) = scorer.score(facts, &mut self.scores)? else { return Ok(()) };
        if score < self.candidates.floor() {
            // Only scores below the floor are noted, because the cache only records that a page has
            // too low a value.
            if let Some(page) = by_worth {
                self.skip_cache.note(&page, score.figure());
            }
            self.candidates.pass_over();
        } else if after.is_none_or(|after| after.is_before(component, score, page)) {
            self.candidates.push(component, DueCandidate { score, page: Reverse(page) });
        }
        Ok(())
    }
}

/// A page of a component that may be among the best. The greater candidate is the better page.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct DueCandidate {
    pub(super) score: Score,
    /// The number of the page in SURT order. Of pages with equal scores, the first page is better.
    pub(super) page: Reverse<u32>,
}

/// The best candidates of each component.
///
/// In a component, SURT order is the order of page numbers, so the selection reads no URL. The best
/// pages of all components are among the best pages of each component.
#[derive(Debug)]
pub(super) struct TopCandidates {
    most: usize,
    best: Vec<Vec<DueCandidate>>,
    /// The scores of all candidates.
    scores: Vec<Score>,
    /// A lower bound of the score that a page needs to be among the best.
    floor: Score,
    /// Whether any page was left out.
    more: bool,
}

impl TopCandidates {
    /// Keeps at most `most` pages of each component. Up to twice as many are held between two
    /// selections.
    pub(super) fn new(components: usize, most: usize) -> TopCandidates {
        let best = vec![Vec::new(); components];
        TopCandidates { most, best, scores: Vec::new(), floor: Score::LEAST, more: false }
    }

    /// Returns a lower bound of the score that a page needs to be among the best.
    #[inline]
    pub(super) fn floor(&self) -> Score {
        self.floor
    }

    /// Records that a page with a lower score was left out.
    #[inline]
    pub(super) fn pass_over(&mut self) {
        self.more = true;
    }

    /// Adds a page of a component if it may be among the best so far.
    #[inline]
    #[expect(clippy::indexing_slicing, reason = "there is an element for each component")]
    pub(super) fn push(&mut self, component: usize, candidate: DueCandidate) {
        if candidate.score < self.floor {
            return self.pass_over();
        }
        self.scores.push(candidate.score);
        self.best[component].push(candidate);
        // The selection runs at twice the size, so that the pushes since the last selection pay for
        // its linear time.
        if self.scores.len() / 2 >= self.most {
            self.trim();
        }
    }

    /// Drops candidates that are not among the best so far.
    fn trim(&mut self) {
        if let Some(last) = self.most.checked_sub(1).filter(|last| *last < self.scores.len()) {
            // `scores` contains the scores of all components, so the floor is the least score among
            // the best pages of all components.
            let (_, floor, _) = self.scores.select_nth_unstable_by(last, |a, b| b.cmp(a));
            self.floor = *floor;
            self.scores.truncate(self.most);
        }
        for best in &mut self.best {
            // Pages whose score equals the floor stay, since URLs decide between components. Within
            // a component the page number decides, so more than `most` pages of a component are
            // never needed.
            let all = best.len();
            best.retain(|candidate| candidate.score >= self.floor);
            if best.len() > self.most {
                best.select_nth_unstable_by(self.most, |a, b| b.cmp(a));
                best.truncate(self.most);
            }
            self.more |= best.len() < all;
        }
    }

    /// Adds all candidates of another selection over the same components.
    pub(super) fn merge(&mut self, other: TopCandidates) {
        self.more |= other.more;
        for (component, best) in other.best.into_iter().enumerate() {
            best.into_iter().for_each(|candidate| self.push(component, candidate));
        }
    }

    /// Returns the best candidates of each component, the best candidate last, and whether pages
    /// were left out.
    pub(super) fn finish(mut self) -> (Vec<Vec<DueCandidate>>, bool) {
        self.trim();
        self.best.iter_mut().for_each(|best| best.sort_unstable());
        (self.best, self.more)
    }
}

/// The maximum number of slots, as a power of two: 2 MiB.
const PLACES_LOG2: u32 = 17;

/// The minimum number of slots, as a power of two.
const LEAST_LOG2: u32 = 4;

/// The factor by which rounding may lower a value that should not fall with time.
const ROUNDING: f64 = 1.0 + 1e-9;

/// A cache that skips rows. For pages with the same belief, the cache records the longest time
/// since the last visit for which the value was too low. After a shorter time the value is not
/// higher.
///
/// Each slot stores the last entry of its hash. The key includes the octave of the weight:
/// otherwise an entry of a heavy page would replace the more useful entry of a light page.
#[derive(Debug)]
pub(super) struct SkipCache {
    places: Vec<SkipEntry>,
}

#[derive(Clone, Copy, Debug, Default)]
struct SkipEntry {
    of: u64,
    seconds: u32,
    /// An upper bound of the value of a page of weight 1 after `seconds`. Initially 0 after 0
    /// seconds.
    worth: f32,
}

impl SkipCache {
    /// Sizes the cache for about `pages` pages.
    pub(super) fn of(pages: u64) -> SkipCache {
        let log2 = pages.checked_ilog2().unwrap_or(0).clamp(LEAST_LOG2, PLACES_LOG2);
        SkipCache { places: vec![SkipEntry::default(); 1 << log2] }
    }

    #[inline]
    fn place(&self, of: u64) -> usize {
        // Fibonacci hashing: the upper half of the product depends on all bits. The number of slots
        // is a power of two. A probe reads one entry of 16 bytes.
        let hash = of.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32;
        hash as usize & (self.places.len() - 1)
    }

    /// Whether the page's value is known to be below `floor`; `false` if nothing is known.
    #[inline]
    #[expect(clippy::indexing_slicing, reason = "each index is below the length")]
    pub(super) fn knows(&self, page: &ValueInput, floor: f64) -> bool {
        let of = key(page);
        let place = &self.places[self.place(of)];
        // The value never falls with time, so a shorter time has at most the noted value. Within an
        // octave of weights, the value for weight 1 is multiplied by the weight of this page.
        place.of == of
            && page.seconds <= place.seconds.into()
            && f64::from(place.worth) * ROUNDING * page.weight < floor
    }

    /// Records the value of a page whose value was too low.
    #[expect(clippy::indexing_slicing, reason = "each index is below the length")]
    pub(super) fn note(&mut self, page: &ValueInput, worth: f64) {
        let of = key(page);
        let place = self.place(of);
        let place = &mut self.places[place];
        // Times above 136 years do not fit and are stored as 0. An entry with time 0 skips hardly
        // any page, which is safe.
        let seconds = u32::try_from(page.seconds).unwrap_or(0);
        if place.of != of || seconds > place.seconds {
            // Rounded up, because a stored value below the real value would drop some of the best
            // pages.
            #[expect(clippy::cast_possible_truncation, reason = "rounded, and then not less")]
            let worth = ((worth / page.weight) as f32).next_up();
            *place = SkipEntry { of, seconds, worth };
        }
    }
}

/// Returns the cache key: the belief and the octave of the weight.
#[inline]
fn key(page: &ValueInput) -> u64 {
    // `Of::bits` takes the lower 52 bits. The sign and the exponent of the weight take the upper 12
    // bits.
    page.of.bits() | page.weight.to_bits() >> 52 << 52
}

#[cfg(test)]
mod candidates_tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn best_pages_match_sorting_all(
            all in prop::collection::vec((0usize..3, 0u8..20), 0..300),
            most in 1usize..40,
            parts in 1usize..4,
        ) {
            let mut some: Vec<_> = (0..parts).map(|_| TopCandidates::new(3, most)).collect();
            let mut sorted = Vec::new();
            for (page, (component, score)) in (0..).zip(&all) {
                let score = Score::of_test(*score);
                let candidate = DueCandidate { score, page: Reverse(page) };
                some[page as usize % parts].push(*component, candidate);
                sorted.push((candidate, *component));
            }
            let found = some.into_iter().reduce(|mut all, one| { all.merge(one); all });
            let (best, more) = found.unwrap().finish();
            // URLs decide between components with equal scores, so each component keeps up to
            // `most` pages with the same score.
            sorted.sort_unstable();
            sorted.reverse();
            let least = sorted.get(most - 1).map(|(least, _)| least.score);
            for (component, best) in best.iter().enumerate() {
                let mut expected: Vec<_> =
                    sorted.iter().filter(|(_, of)| *of == component).map(|(one, _)| *one).collect();
                expected.retain(|one| least.is_none_or(|least| one.score >= least));
                expected.truncate(most);
                expected.reverse();
                prop_assert_eq!(best, &expected);
            }
            prop_assert_eq!(more, best.iter().map(Vec::len).sum::<usize>() < all.len());
        }
    }
}

#[cfg(test)]
mod skip_cache_tests {
    use super::super::score::BeliefKey;
    use super::*;
    use crate::recrawl::PriorityIndex;

    fn page(weight: f64, seconds: u64) -> ValueInput {
        let of = BeliefKey { index: Some(PriorityIndex::Value), ..BeliefKey::default() };
        ValueInput { of, weight, seconds }
    }

    #[test]
    fn skip_cache_covers_shorter_times() {
        let mut skip_cache = SkipCache::of(1);
        let knows = |skip_cache: &SkipCache, weight, seconds, floor| {
            skip_cache.knows(&page(weight, seconds), floor)
        };
        assert!(!knows(&skip_cache, 1.0, 0, 1.0));
        skip_cache.note(&page(1.0, 100), 2.0);
        assert!(knows(&skip_cache, 1.0, 100, 2.001) && knows(&skip_cache, 1.0, 0, 2.001));
        assert!(!knows(&skip_cache, 1.0, 101, 3.0) && !knows(&skip_cache, 1.0, 100, 2.0));
        // Within an octave of weights.
        assert!(knows(&skip_cache, 1.5, 100, 3.001) && !knows(&skip_cache, 1.5, 100, 3.0));
        assert!(!knows(&skip_cache, 2.0, 100, 9.0));
    }

    #[test]
    fn skip_cache_keeps_the_longer_time() {
        let mut skip_cache = SkipCache::of(1);
        skip_cache.note(&page(1.0, 100), 2.0);
        skip_cache.note(&page(1.0, 50), 1.0);
        assert!(skip_cache.knows(&page(1.0, 100), 2.1));
        // A time that does not fit into 32 bits is not stored.
        skip_cache.note(&page(1.0, u64::MAX), 1.0);
        assert!(!skip_cache.knows(&page(1.0, 101), 2.1));
    }
}
