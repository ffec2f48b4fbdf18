//! The kinds of pages in a plan: pages of a kind have the same interval at each threshold.

use super::decide::DueContext;
use super::rules::RuleNumber;
use super::score::{BeliefKey, DAY_SECONDS, ScoreCache, ScoreInput, Scorer, bounded, interval};
use crate::recrawl::{Belief, VisitValueTable};
use crate::threads;

/// The number of kinds in a work item of a thread.
const TOGETHER: usize = 4096;

/// The minimum interval of a rarely visited page.
const RARE_SECONDS: u64 = 360 * 86_400;

/// The properties of a page that determine its interval.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct PageKind {
    of: BeliefKey,
    // Kinds are compared and sorted, but floats have no total order. The bits of positive floats
    // have the order of the floats.
    /// The bits of the weight. The weight is positive.
    weight: u64,
    pub(super) rule: RuleNumber,
    /// The bits of the policy's interval in days, if the policy has an interval.
    days: Option<u64>,
}

/// All kinds with their numbers of pages, sorted.
#[derive(Debug)]
pub(super) struct PageKinds(Vec<(PageKind, u64)>);

impl Scorer {
    /// Returns the kind of a page.
    pub(super) fn kind(&self, of: ScoreInput<'_>, rule: RuleNumber) -> PageKind {
        let schedule = self.policy(of.rule).0.schedule(of.recent);
        let days = schedule.map(|schedule| schedule.next_days.to_bits());
        PageKind { of: self.of(of), weight: self.weight(&of).to_bits(), rule, days }
    }
}

/// Returns the seconds after which a visit to a page of weight 1 has a value; `None` if it never has.
type ReachValue<'a> = &'a dyn Fn(f64) -> Option<u64>;

/// The kinds that share a belief.
struct KindsOfBelief<'a> {
    belief: &'a Belief,
    /// `None` without an index of values.
    reach: Option<ReachValue<'a>>,
    /// The kinds with their numbers of pages.
    kinds: &'a [(PageKind, u64)],
}

impl PageKind {
    /// Returns the seconds between visits for a threshold.
    fn seconds(&self, asked: &DueContext, reach: Option<ReachValue<'_>>, threshold: f64) -> u64 {
        let rule = asked.due.rules.get(self.rule);
        let days = self.days.map(f64::from_bits);
        let own = match reach {
            Some(reach) => reach(threshold / f64::from_bits(self.weight)),
            // Without an index the score is the time since the last visit, in intervals of the
            // policy or in days. So the threshold is a factor of the interval.
            None => Some(interval(threshold * days.unwrap_or(1.0)).seconds()),
        };
        let of_rule = days.filter(|_| rule.policy.is_some()).map(|days| interval(days).seconds());
        // The maximum of the rule and the interval of the rule's policy can only shorten the
        // largest interval.
        let longest = rule.max.map_or(asked.due.largest(), |max| max.min(asked.due.largest()));
        let longest = longest.seconds().min(of_rule.unwrap_or(u64::MAX));
        bounded(own, rule.min, longest)
    }
}

impl PageKinds {
    /// Counts kinds in sorted pages.
    pub(super) fn of(pages: &[PageKind]) -> PageKinds {
        let kinds = pages.chunk_by(|a, b| a == b);
        PageKinds(kinds.filter_map(|kind| Some((*kind.first()?, kind.len() as u64))).collect())
    }

    /// Sums `add` over all kinds. `add` is called once for each belief. The result does not depend
    /// on the number of threads.
    fn sum<const N: usize>(
        &self,
        threads: usize,
        add: impl Fn(&mut [f64; N], &KindsOfBelief<'_>) + Sync,
    ) -> [f64; N] {
        let own = || ScoreCache::of(TOGETHER as u64);
        let of_part = |scores: &mut _, kinds: &[_]| sum_of(kinds, scores, &add);
        let parts = threads::run_jobs(self.0.chunks(TOGETHER), threads, own, of_part);
        // The parts have fixed sizes and are added in order, because float sums depend on the order
        // of additions.
        parts.iter().fold([0.0; N], |mut all, part| {
            all.iter_mut().zip(part).for_each(|(sum, of_part)| *sum += of_part);
            all
        })
    }

    /// Returns the visits a day for each threshold.
    pub(super) fn visits<const N: usize>(
        &self,
        asked: &DueContext,
        thresholds: &[f64; N],
        threads: usize,
    ) -> [f64; N] {
        self.sum(threads, add_visits(asked, thresholds))
    }

    /// Returns the [`visits`](PageKinds::visits) of a few pages. Starts no thread.
    pub(super) fn few_visits<const N: usize>(
        &self,
        asked: &DueContext,
        thresholds: &[f64; N],
        scores: &mut ScoreCache,
    ) -> [f64; N] {
        sum_of(&self.0, scores, &add_visits(asked, thresholds))
    }

    /// Returns four numbers for a threshold: pages, visits a day, fresh pages at a time, and rarely
    /// visited pages.
    pub(super) fn outlook(&self, asked: &DueContext, threshold: f64) -> [f64; 4] {
        self.sum(1, add_outlook(asked, threshold, 1.0))
    }

    /// Returns the [`outlook`](PageKinds::outlook) of a few pages whose intervals are `longer` times as
    /// long.
    pub(super) fn few_outlook(
        &self,
        asked: &DueContext,
        threshold: f64,
        longer: f64,
        scores: &mut ScoreCache,
    ) -> [f64; 4] {
        sum_of(&self.0, scores, &add_outlook(asked, threshold, longer))
    }
}

/// The number of values above which all values of a belief are computed at once.
const REACHED_FEW: usize = 24;

/// Sums `add` over some kinds, sorted. `add` is called once for each belief.
fn sum_of<const N: usize>(
    kinds: &[(PageKind, u64)],
    scores: &mut ScoreCache,
    add: &impl Fn(&mut [f64; N], &KindsOfBelief<'_>),
) -> [f64; N] {
    let mut sums = [0.0; N];
    for alike in kinds.chunk_by(|(a, _), (b, _)| a.of == b.of) {
        // `of` is the first field of a kind, so kinds with the same belief are contiguous.
        let Some((PageKind { of, .. }, _)) = alike.first() else { continue };
        let belief = &scores.belief(*of);
        let table = of.index.map(VisitValueTable::of);
        // The curve is computed once for each belief. After that, each pair of a threshold and a weight
        // costs a bisection. For a few pairs, the bisection alone costs less.
        let curve =
            table.filter(|_| N * alike.len() > REACHED_FEW).map(|table| table.curve(belief));
        let by_curve = curve.as_ref().map(|curve| |worth| curve.reach(worth));
        let by_table = table.map(|table| |worth| table.reach(belief, worth));
        let reach = by_curve.as_ref().map(|reach| reach as ReachValue<'_>);
        let reach = reach.or(by_table.as_ref().map(|reach| reach as ReachValue<'_>));
        add(&mut sums, &KindsOfBelief { belief, reach, kinds: alike });
    }
    sums
}

/// Adds the visits a day for each threshold.
fn add_visits<const N: usize>(
    asked: &DueContext,
    thresholds: &[f64; N],
) -> impl Fn(&mut [f64; N], &KindsOfBelief<'_>) {
    move |sums, of_belief| {
        for (kind, pages) in of_belief.kinds {
            for (sum, threshold) in sums.iter_mut().zip(thresholds) {
                let seconds = kind.seconds(asked, of_belief.reach, *threshold);
                *sum += *pages as f64 * DAY_SECONDS / seconds as f64;
            }
        }
    }
}

/// Adds pages, visits a day, fresh pages at a time, and rarely visited pages for a threshold, if all
/// intervals are `longer` times as long.
fn add_outlook(
    asked: &DueContext,
    threshold: f64,
    longer: f64,
) -> impl Fn(&mut [f64; 4], &KindsOfBelief<'_>) {
    let freshness = VisitValueTable::freshness();
    move |[pages, visits, fresh, rare], of_belief| {
        let KindsOfBelief { belief, reach, kinds } = *of_belief;
        for (kind, count) in kinds {
            let (seconds, count) = (kind.seconds(asked, reach, threshold), *count as f64);
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "saturates"
            )]
            let seconds = (seconds as f64 * longer) as u64;
            *pages += count;
            *visits += count * DAY_SECONDS / seconds as f64;
            *fresh += count * freshness.at(belief, seconds);
            *rare += if seconds >= RARE_SECONDS { count } else { 0.0 };
        }
    }
}
