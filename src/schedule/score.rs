//! The score that orders pages by the value of a visit, and a cache for pages with equal beliefs.

use super::due::Due;
use super::hints::Hints;
use super::learned::LearnedPriors;
use super::rules::Rule;
use crate::error::Result;
use crate::recrawl::{
    Belief, ComparisonCode, Interval, Odds, Policy, PolicyInput, PriorClass, PriorityIndex,
    RecentComparisons, VisitValueTable,
};
use crate::segment::{ScheduleRow, seconds};

/// The minimum wait of a failing page in seconds.
const RETRY_SECONDS: u64 = 3600;

/// The weight factor of a page that is gone.
const GONE_WEIGHT: f64 = 0.125;

/// The weight factor of a page that another page leads. A power of two, so that multiplying is
/// exact.
const LED_WEIGHT: f64 = 0.25;

pub(super) const DAY_SECONDS: f64 = 86_400.0;

/// The sort key of a page. The page with the greatest score comes first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Score(u64);

/// The bit set if a page was unvisited for longer than the largest interval.
const OVERDUE: u64 = 1 << 63;

impl Score {
    /// The smallest score.
    pub(super) const LEAST: Score = Score(0);

    /// Creates a score from a non-negative number. Non-negative floats sort in the order of their
    /// bits.
    fn by(figure: f64) -> Score {
        // The sign bit means overdue, so it must be cleared even for -0.0.
        Score(figure.to_bits() & !OVERDUE)
    }

    #[cfg(test)]
    pub(super) fn of_test(figure: u8) -> Score {
        Score::by(figure.into())
    }

    fn overdue(intervals: f64) -> Score {
        // Scores are not negative, so the sign bit is free. This bit sorts overdue pages before all
        // other pages.
        Score(Score::by(intervals).0 | OVERDUE)
    }

    /// Returns the least number whose score reaches this score; infinite if there is no such
    /// number.
    #[inline]
    pub(super) fn figure(self) -> f64 {
        // If the floor is the score of an overdue page, only overdue pages reach it, whatever the
        // value of other pages.
        if self.0 & OVERDUE == 0 { f64::from_bits(self.0) } else { f64::INFINITY }
    }
}

/// Computes the scores of pages.
#[derive(Debug)]
pub(super) struct Scorer {
    policy: Policy,
    index: Option<PriorityIndex>,
    worths: Option<&'static VisitValueTable>,
    learned: LearnedPriors,
    hints: Option<Hints>,
    now: u64,
    largest: Interval,
}

/// The inputs of a page's score.
#[derive(Clone, Copy, Debug)]
pub(super) struct ScoreInput<'a> {
    pub(super) hash: u64,
    pub(super) row: &'a ScheduleRow,
    /// The last comparisons, for policies that depend on the order of comparisons.
    pub(super) recent: &'a RecentComparisons,
    pub(super) rule: &'a Rule,
    /// The hinted change after the last visit, in seconds.
    pub(super) changed: Option<u64>,
    /// Whether another page leads the page.
    pub(super) led: bool,
}

/// The inputs of a score that depends only on the value of a visit.
#[derive(Clone, Copy, Debug)]
pub(super) struct ValueInput {
    pub(super) of: BeliefKey,
    pub(super) weight: f64,
    /// The seconds since the last visit.
    pub(super) seconds: u64,
}

/// The state of a page for scoring.
#[derive(Clone, Copy, Debug)]
pub(super) enum VisitStatus {
    /// The rule of the page forbids a visit before this interval has passed since the last visit.
    NotYet(Interval),
    /// The page fails, and waits for this number of seconds after its last visit.
    BackingOff(u64),
    /// The page was unvisited for `intervals` times the maximum time `after`.
    Overdue { intervals: f64, after: Interval },
    /// The seconds since the last visit, or since the last successful visit if the page fails.
    Since(u64),
}

impl Scorer {
    pub(super) fn new(due: &Due, learned: LearnedPriors) -> Scorer {
        let index = due.policy.index();
        let worths = index.map(VisitValueTable::of);
        let (now, largest) = (seconds(due.now), due.largest());
        let hints = due.hints.clone();
        Scorer { policy: due.policy, index, worths, learned, hints, now, largest }
    }

    /// Returns the number of seconds for which a failing page waits after its last visit; 0 if the
    /// page does not fail.
    #[inline]
    pub(super) fn backoff_seconds(&self, row: &ScheduleRow) -> u64 {
        let failing = row.failing_seconds();
        // Exponential back-off: the wait is half of the time for which the page has failed.
        failing.map_or(0, |failing| (failing / 2).max(RETRY_SECONDS).min(self.largest.seconds()))
    }

    /// Returns the state of a page.
    #[inline]
    pub(super) fn visit_status(&self, of: ScoreInput<'_>) -> VisitStatus {
        let since = of.row.seconds_since(self.now);
        // The order of the checks matters: a rule's minimum comes before back-off, and both come
        // before overdue.
        if let Some(min) = of.rule.min.filter(|min| since < min.seconds()) {
            return VisitStatus::NotYet(min);
        }
        let left_alone = self.backoff_seconds(of.row);
        if since < left_alone {
            return VisitStatus::BackingOff(left_alone);
        }
        let seconds = self.since(of.row);
        let after = self.longest(of);
        if seconds >= after.seconds() {
            let intervals = seconds as f64 / after.seconds() as f64;
            return VisitStatus::Overdue { intervals, after };
        }
        VisitStatus::Since(seconds)
    }

    /// Returns the seconds since the last visit, or since the last successful visit if the page
    /// fails.
    #[inline]
    pub(super) fn since(&self, row: &ScheduleRow) -> u64 {
        // A failed visit shows no content, so the time is measured from the last visit that did not
        // fail.
        row.seconds_since(self.now).saturating_add(row.failing_seconds().unwrap_or(0))
    }

    /// Returns the score of a known page; `None` if its rule forbids a visit now, or excludes the
    /// page.
    pub(super) fn score(
        &self,
        of: ScoreInput<'_>,
        scores: &mut ScoreCache,
    ) -> Result<Option<Score>> {
        if of.rule.excludes() {
            return Ok(None);
        }
        Ok(match self.visit_status(of) {
            VisitStatus::NotYet(_) => None,
            VisitStatus::BackingOff(_) => Some(Score::by(0.0)),
            VisitStatus::Overdue { intervals, .. } => Some(Score::overdue(intervals)),
            VisitStatus::Since(seconds) => {
                let belief = &self.belief(of, scores);
                Some(Score::by(self.value_since(of, seconds, belief)?))
            }
        })
    }

    /// Returns the inputs of the score if it depends only on the value of a visit.
    #[inline]
    pub(super) fn by_worth(&self, of: &ScoreInput<'_>) -> Option<ValueInput> {
        // Rules with other options make the score depend on more than `ValueInput`. Pages of such
        // rules are always scored.
        let Rule { min: None, max: None, policy: None, .. } = of.rule else { return None };
        if of.rule.excludes() {
            return None;
        }
        let (index, seconds) = (self.index?, of.row.seconds_since(self.now));
        // Hints and failures change the score as well.
        let is_plain = of.changed.is_none() && of.row.failing_seconds().is_none();
        (is_plain && seconds < self.largest.seconds()).then(|| {
            let class = self.learned.class(of.hash, of.row.host, of.row.code);
            let believed = BeliefKey { class, code: of.row.code, index: Some(index) };
            ValueInput { of: believed, weight: self.weight(of), seconds }
        })
    }

    /// Returns the policy of a page, and the policy's table of values if it uses the value of a
    /// visit.
    #[inline]
    pub(super) fn policy(&self, rule: &Rule) -> (Policy, Option<&'static VisitValueTable>) {
        match rule.policy {
            Some(policy) => (policy, policy.index().map(VisitValueTable::of)),
            None => (self.policy, self.worths),
        }
    }

    /// Returns the range of seconds in which a hinted change counts: after the last successful
    /// visit, up to now. `None` if no hint counts.
    #[inline]
    pub(super) fn hinted_between(&self, row: &ScheduleRow, rule: &Rule) -> Option<(u64, u64)> {
        self.hints.as_ref()?;
        // Hints count only for policies that use the value of a visit.
        self.policy(rule).1?;
        // In this case the score is 0, whatever the hints.
        let is_left_alone = row.seconds_since(self.now) < self.backoff_seconds(row);
        (!is_left_alone).then(|| (self.now.saturating_sub(self.since(row)), self.now))
    }

    /// Returns the hinted change of a page, in seconds.
    pub(super) fn changed(&self, row: &ScheduleRow, rule: &Rule, url: &str) -> Option<u64> {
        let (last, now) = self.hinted_between(row, rule)?;
        self.hints.as_ref()?.first_change(url, last, now)
    }

    /// Returns the maximum time between visits: the shortest of the largest interval, the rule's
    /// maximum, and the interval of the rule's policy.
    #[inline]
    pub(super) fn longest(&self, of: ScoreInput<'_>) -> Interval {
        let largest = of.rule.max.map_or(self.largest, |max| max.min(self.largest));
        let schedule = of.rule.policy.and_then(|policy| policy.schedule(of.recent));
        schedule.map_or(largest, |schedule| largest.min(interval(schedule.next_days)))
    }

    /// Returns the value that the policy computes for a page.
    pub(super) fn value(&self, of: ScoreInput<'_>, belief: &Belief) -> Result<f64> {
        match self.visit_status(of) {
            VisitStatus::BackingOff(_) => Ok(0.0),
            _ => self.value_since(of, self.since(of.row), belief),
        }
    }

    /// Returns the value that the policy computes `since` seconds after the last visit.
    pub(super) fn value_since(
        &self,
        of: ScoreInput<'_>,
        since: u64,
        belief: &Belief,
    ) -> Result<f64> {
        let weight = self.weight(&of);
        let (policy, worths) = self.policy(of.rule);
        let Some(worths) = worths else {
            let days = since as f64 / DAY_SECONDS;
            return Ok(policy.score(&PolicyInput { belief, recent: of.recent, weight, days })?);
        };
        let otherwise = weight * worths.at(belief, since);
        match self.hints.as_ref().zip(of.changed) {
            Some((hints, changed)) => {
                // `now - since` is the last visit that did not fail. The page was fresh from this
                // visit until the change.
                let after = changed.saturating_sub(self.now.saturating_sub(since));
                hints.worth_after(weight, after, otherwise)
            }
            None => Ok(otherwise),
        }
    }

    /// Returns the weight of a page for the policy, reduced if the page is gone or led.
    #[inline]
    pub(super) fn weight(&self, of: &ScoreInput<'_>) -> f64 {
        let of_gone = if of.row.gone { GONE_WEIGHT } else { 1.0 };
        // Both factors are powers of two, so the products are exact.
        weight(of) * of_gone * if of.led { LED_WEIGHT } else { 1.0 }
    }

    /// Whether the policy of a rule uses the value of a visit, so that leaders matter.
    pub(super) fn uses_leaders(&self, rule: &Rule) -> bool {
        self.policy(rule).1.is_some()
    }

    /// Returns the interval between successful visits for a threshold of the policy's value.
    pub(super) fn every(&self, of: ScoreInput<'_>, threshold: f64, belief: &Belief) -> Interval {
        let (policy, worths) = self.policy(of.rule);
        let own = match worths {
            Some(worths) => {
                let weight = self.weight(&of);
                let by_rate = worths.reach(belief, threshold / weight);
                let by_hint = self.hints.as_ref().zip(of.changed).and_then(|(hints, changed)| {
                    let last = self.now.saturating_sub(self.since(of.row));
                    let after = changed.saturating_sub(last);
                    let otherwise = hints.otherwise_for(weight, after, threshold)?;
                    // A hint makes a page due earlier, but not before the change itself.
                    Some(worths.reach(belief, otherwise / weight)?.max(after))
                });
                [by_rate, by_hint].into_iter().flatten().min()
            }
            None => {
                let schedule = policy.schedule(of.recent);
                let days = schedule.map_or(1.0, |schedule| schedule.next_days);
                Some(interval(threshold * days).seconds())
            }
        };
        Interval::saturating(bounded(own, of.rule.min, self.longest(of).seconds()))
    }

    /// Returns the key of a page's belief.
    #[inline]
    pub(super) fn of(&self, of: ScoreInput<'_>) -> BeliefKey {
        let class = self.learned.class(of.hash, of.row.host, of.row.code);
        BeliefKey { class, code: of.row.code, index: self.policy(of.rule).0.index() }
    }

    /// Returns the belief about the change rate of a page.
    pub(super) fn belief(&self, of: ScoreInput<'_>, scores: &mut ScoreCache) -> Belief {
        scores.belief(self.of(of))
    }
}

/// Clamps the policy's interval, in seconds, between the rule's minimum (1 without a minimum) and
/// the longest interval. The minimum wins. If the policy has no interval, the longest interval is
/// clamped.
pub(super) fn bounded(own: Option<u64>, min: Option<Interval>, longest: u64) -> u64 {
    // A minimum wins over the longest interval.
    own.unwrap_or(u64::MAX).min(longest).max(min.map_or(1, Interval::seconds))
}

/// Converts days to an interval of whole seconds, rounded up, at least one second.
pub(super) fn interval(days: f64) -> Interval {
    // A threshold may be infinite: the cast saturates, and so does the interval.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "saturates")]
    let seconds = (days * DAY_SECONDS).ceil() as u64;
    Interval::saturating(seconds)
}

/// Returns the weight of a page times the weight of its rule.
pub(super) fn weight(of: &ScoreInput<'_>) -> f64 {
    of.row.weight() * of.rule.weight
}

/// The maximum number of cached likelihoods, as a power of two: 2 MiB.
const CODES_LOG2: u32 = 12;

/// The minimum number of slots, as a power of two.
const LEAST_LOG2: u32 = 4;

/// The key of a belief: the prior of the host, the comparisons of the page, and the value index of
/// the policy, if any.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct BeliefKey {
    pub(super) class: PriorClass,
    pub(super) code: ComparisonCode,
    pub(super) index: Option<PriorityIndex>,
}

impl BeliefKey {
    /// Returns a number whose lower 52 bits are the key.
    pub(super) fn bits(self) -> u64 {
        let index = match self.index {
            None => 0,
            Some(PriorityIndex::Value) => 1,
            Some(PriorityIndex::CrawlValue) => 2,
            Some(PriorityIndex::Harmonic) => 3,
        };
        // 32 bits of the code, 12 bits of the class beginning at bit 32, and 2 bits of the index
        // beginning at bit 48.
        u64::from(self.code.bits()) | u64::from(self.class.number()) << 32 | index << 48
    }
}

/// A thread's cache of computed odds. Each slot stores the last entry of its hash.
#[derive(Debug)]
pub(super) struct ScoreCache {
    priors: DirectMappedCache<PriorClass, Box<Odds>>,
    likelihoods: DirectMappedCache<ComparisonCode, Box<Odds>>,
}

/// A direct-mapped cache.
#[derive(Debug)]
pub(super) struct DirectMappedCache<K, V> {
    places: Vec<Option<(K, V)>>,
}

/// A key of [`DirectMappedCache`].
pub(super) trait CacheKey: Copy + PartialEq {
    fn bits(self) -> u64;
}

impl CacheKey for PriorClass {
    fn bits(self) -> u64 {
        self.number().into()
    }
}

impl CacheKey for ComparisonCode {
    fn bits(self) -> u64 {
        ComparisonCode::bits(self).into()
    }
}

impl<K: CacheKey, V> DirectMappedCache<K, V> {
    /// Creates a cache with 2^`log2` slots.
    pub(super) fn new(log2: u32) -> Self {
        DirectMappedCache { places: std::iter::repeat_with(|| None).take(1 << log2).collect() }
    }

    /// Returns the cached value, or computes it.
    #[inline]
    #[expect(clippy::indexing_slicing, reason = "each index is below the length")]
    pub(super) fn get(&mut self, of: K, make: impl FnOnce() -> V) -> &mut V {
        let hash = of.bits().wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32;
        let place = hash as usize & (self.places.len() - 1);
        let place = &mut self.places[place];
        // A direct-mapped cache. Values are functions of their keys, so a collision only costs
        // time.
        if place.as_ref().is_some_and(|(kept, _)| *kept != of) {
            *place = None;
        }
        &mut place.get_or_insert_with(|| (of, make())).1
    }
}

impl ScoreCache {
    /// Sizes the caches for about `pages` pages.
    pub(super) fn of(pages: u64) -> ScoreCache {
        let log2 = pages.checked_ilog2().unwrap_or(0).clamp(LEAST_LOG2, CODES_LOG2);
        ScoreCache {
            priors: DirectMappedCache::new(log2),
            likelihoods: DirectMappedCache::new(log2),
        }
    }

    /// Returns the belief about the change rate.
    pub(super) fn belief(&mut self, of: BeliefKey) -> Belief {
        // Priors and likelihoods are cached separately, because there are far more combinations
        // than priors and likelihoods together.
        let prior = self.priors.get(of.class, || Box::new(of.class.prior().odds()));
        let likelihood = || Box::new(of.code.likelihood().odds());
        Belief::of(prior, self.likelihoods.get(of.code, likelihood))
    }
}
