//! Pages that are alike to a plan, and how often each kind is visited.

use super::decide::Asked;
use super::rules::RuleNumber;
use super::score::{DAY_SECONDS, Facts, Scorer, bounded, interval};
use super::score_cache::{Of, ScoreCache};
use crate::recrawl::{Belief, Curve, Worths};
use crate::threads;

/// PageKinds that one thread takes at once.
const TOGETHER: usize = 4096;

/// From this interval on, a page is visited rarely.
const RARE_SECONDS: u64 = 360 * 86_400;

/// What decides how often a page is visited.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Kind {
    of: Of,
    /// The bits of the weight, which is positive.
    weight: u64,
    rule: RuleNumber,
    /// The bits of the days of the interval that its policy has, if it has one.
    days: Option<u64>,
}

/// All kinds, each with the number of its pages; in order.
pub(super) struct PageKinds(Vec<(Kind, u64)>);

impl Scorer {
    /// The kind of a page.
    pub(super) fn kind(&self, of: Facts<'_>, rule: RuleNumber) -> Kind {
        let schedule = self.policy(of.rule).0.schedule(of.recent);
        let days = schedule.map(|schedule| schedule.next_days.to_bits());
        Kind { of: self.of(of), weight: self.weight(&of).to_bits(), rule, days }
    }
}

impl Kind {
    /// The seconds from visit to visit by a threshold.
    fn seconds(&self, asked: &Asked, curve: Option<&Curve>, threshold: f64) -> u64 {
        let rule = asked.due.rules.get(self.rule);
        let days = self.days.map(f64::from_bits);
        let own = match curve {
            Some(curve) => curve.reach(threshold / f64::from_bits(self.weight)),
            None => Some(interval(threshold * days.unwrap_or(1.0)).seconds()),
        };
        let of_rule = days.filter(|_| rule.policy.is_some()).map(|days| interval(days).seconds());
        let longest = rule.max.map_or(asked.due.largest(), |max| max.min(asked.due.largest()));
        let longest = longest.seconds().min(of_rule.unwrap_or(u64::MAX));
        bounded(own, rule.min, longest)
    }
}

impl PageKinds {
    /// The kinds of pages that are in order.
    pub(super) fn of(pages: &[Kind]) -> PageKinds {
        let kinds = pages.chunk_by(|a, b| a == b);
        PageKinds(kinds.filter_map(|kind| Some((*kind.first()?, kind.len() as u64))).collect())
    }

    /// The sums that `add` makes of some kinds with one belief, over all of them. They do not depend on
    /// the number of threads.
    fn sum<const N: usize>(
        &self,
        threads: usize,
        add: impl Fn(&mut [f64; N], &Belief, Option<&Curve>, &[(Kind, u64)]) + Sync,
    ) -> [f64; N] {
        let of_part = |scores: &mut ScoreCache, kinds: &[(Kind, u64)]| {
            let mut sums = [0.0; N];
            for alike in kinds.chunk_by(|(a, _), (b, _)| a.of == b.of) {
                let Some((Kind { of, .. }, _)) = alike.first() else { continue };
                let belief = &scores.belief(*of);
                let curve = of.index.map(|index| Worths::of(index).curve(belief));
                add(&mut sums, belief, curve.as_ref(), alike);
            }
            sums
        };
        let own = || ScoreCache::of(TOGETHER as u64);
        let parts = threads::share(self.0.chunks(TOGETHER), threads, own, of_part);
        parts.iter().fold([0.0; N], |mut all, part| {
            all.iter_mut().zip(part).for_each(|(sum, of_part)| *sum += of_part);
            all
        })
    }

    /// The visits a day by each of some thresholds.
    pub(super) fn visits<const N: usize>(
        &self,
        asked: &Asked,
        thresholds: &[f64; N],
        threads: usize,
    ) -> [f64; N] {
        self.sum(threads, |sums, _, curve, alike| {
            for (kind, pages) in alike {
                for (sum, threshold) in sums.iter_mut().zip(thresholds) {
                    let seconds = kind.seconds(asked, curve, *threshold);
                    *sum += *pages as f64 * DAY_SECONDS / seconds as f64;
                }
            }
        })
    }

    /// By a threshold: how many pages, visits a day, pages that are fresh at a time, and pages that are
    /// visited rarely.
    pub(super) fn outlook(&self, asked: &Asked, threshold: f64) -> [f64; 4] {
        let freshness = Worths::freshness();
        self.sum(1, |[pages, visits, fresh, rare], belief, curve, alike| {
            for (kind, count) in alike {
                let (seconds, count) = (kind.seconds(asked, curve, threshold), *count as f64);
                *pages += count;
                *visits += count * DAY_SECONDS / seconds as f64;
                *fresh += count * freshness.at(belief, seconds);
                *rare += if seconds >= RARE_SECONDS { count } else { 0.0 };
            }
        })
    }
}
