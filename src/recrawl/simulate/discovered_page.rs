//! A page that a simulated crawler has discovered.

use super::decider::Decider;
use super::learned::SimulatedPriors;
use super::measure::FreshnessSums;
use super::page::{Notes as _, SimulatedPage};
use super::span::Span;
use crate::recrawl::error::{RecrawlError, Result};
use crate::recrawl::value::HARMONIC_SHARE;
use crate::recrawl::{Belief, Evidence, Policy, Prior, PriorityIndex, RecentComparisons};

/// A page that a simulated crawler has discovered.
pub(super) struct DiscoveredPage<'p, P: SimulatedPage> {
    pub(super) number: usize,
    page: &'p P,
    notes: P::VisitNotes,
    last_day: f64,
    /// The last seen version.
    held: usize,
    /// The day up to which the freshness of the page is measured, and the current version on this
    /// day.
    measured: (f64, usize),
    /// The time-independent inputs of the page's score, computed after each visit.
    decides: ScoreBasis,
    /// The evidence of the page's comparisons, until the next visit.
    evidence: Option<Evidence>,
    /// The prior of the page, as of the last learning.
    prior: Prior,
    /// An upper bound of the page's score. See [`max_daily_rise`].
    pub(super) ceiling: f64,
}

enum ScoreBasis {
    Belief(PriorityIndex, Box<Belief>),
    Rate(PriorityIndex, f64),
    Rule(Policy, RecentComparisons),
}

/// The score of a page that just became overdue. The scores of other pages are below 1e12.
const OVERDUE: f64 = 1e100;

/// Returns the maximum amount by which the score of a page rises in a day; infinity if the score is
/// cheap to compute.
///
/// The derivative of the crawl value, λτe^{-λτ}, is at most 1/e. The derivative of the harmonic
/// index, 1 - 1/(1 + λτ)², is below 1. The same bounds apply to the derivatives of the
/// expectations. A small margin covers rounding.
pub(super) fn max_daily_rise(by: Decider) -> f64 {
    const CRAWL_VALUE: f64 = 0.367_88;
    const HARMONIC: f64 = 1.000_001;
    match by {
        Decider::Policy(policy, _) => match policy.index() {
            Some(PriorityIndex::Value) => CRAWL_VALUE + HARMONIC_SHARE * HARMONIC,
            Some(PriorityIndex::CrawlValue) => CRAWL_VALUE,
            Some(PriorityIndex::Harmonic) => HARMONIC,
            None => f64::INFINITY,
        },
        Decider::Estimated(_) | Decider::Known(_) => f64::INFINITY,
    }
}

impl<'p, P: SimulatedPage> DiscoveredPage<'p, P> {
    /// Discovers the page.
    pub(super) fn new(
        number: usize,
        page: &'p P,
        day: f64,
        by: Decider,
        learned: &SimulatedPriors,
    ) -> Result<Self> {
        let version = current_version(page, 0, day);
        let notes = page.found(day, version);
        let decides = ScoreBasis::Rule(Policy::UNIFORM, RecentComparisons::default());
        let (measured, evidence) = ((day, version), None);
        let prior = learned.prior(page.host(), None);
        let mut found = DiscoveredPage {
            number,
            page,
            notes,
            last_day: day,
            held: version,
            measured,
            decides,
            evidence,
            prior,
            ceiling: f64::INFINITY,
        };
        found.decide(by)?;
        Ok(found)
    }

    /// Visits the page. Returns the number of new comparisons.
    pub(super) fn visit(&mut self, day: f64, by: Decider) -> Result<u64> {
        let version = current_version(self.page, self.measured.1, day);
        let before = self.notes.comparisons();
        self.page.visited(&mut self.notes, day, version)?;
        (self.held, self.last_day, self.measured) = (version, day, (day, version));
        self.evidence = None;
        self.decide(by)?;
        Ok(self.notes.comparisons() - before)
    }

    /// Computes the page's evidence about rates, if its visits were compared.
    pub(super) fn compute_evidence(&mut self, learned: &SimulatedPriors) {
        if self.evidence.is_none() && self.notes.comparisons() > 0 {
            self.evidence = Some(learned.evidence(&self.notes.likelihood()));
        }
    }

    /// Returns the page's host and its evidence about rates.
    pub(super) fn evidence(&self) -> Option<(u32, &Evidence)> {
        Some((self.page.host(), self.evidence.as_ref()?))
    }

    /// Replaces the page's prior by the learned prior.
    pub(super) fn update_prior(&mut self, learned: &SimulatedPriors, by: Decider) -> Result<()> {
        self.prior = learned.prior(self.page.host(), self.evidence.as_ref());
        self.decide(by)
    }

    /// Computes the inputs of the page's score.
    fn decide(&mut self, by: Decider) -> Result<()> {
        const RATES: RecrawlError = RecrawlError::Value {
            name: "by",
            takes: "a policy that does not need true rates, which these pages do not have",
        };
        self.ceiling = f64::INFINITY;
        self.decides = match by {
            Decider::Policy(policy, _) => match policy.index() {
                None => ScoreBasis::Rule(policy, self.notes.recent()),
                Some(index) => {
                    let belief = Belief::new(&self.prior, &self.notes.likelihood());
                    ScoreBasis::Belief(index, Box::new(belief))
                }
            },
            Decider::Estimated(index) => match self.notes.comparisons() {
                // Without evidence, the rate is the median of the default prior.
                0 => ScoreBasis::Rate(index, 1.0 / 60.0),
                _ => ScoreBasis::Rate(index, self.notes.estimate()?),
            },
            Decider::Known(index) => ScoreBasis::Rate(index, self.page.per_day().ok_or(RATES)?),
        };
        Ok(())
    }

    /// Whether the page was not visited for `largest_days`.
    pub(super) fn is_overdue(&self, day: f64, largest_days: f64) -> bool {
        day - self.last_day >= largest_days
    }

    /// Returns the page's score on a day; `None` just after a visit. The score of an overdue page
    /// exceeds the scores of all other pages.
    pub(super) fn score(&self, day: f64, largest_days: f64) -> Result<Option<f64>> {
        let days = day - self.last_day;
        if days <= 0.0 {
            return Ok(None);
        }
        if self.is_overdue(day, largest_days) {
            return Ok(Some(OVERDUE * (days / largest_days)));
        }
        let score = match &self.decides {
            ScoreBasis::Belief(index, belief) => belief.worth(*index, 1.0, days)?,
            ScoreBasis::Rate(index, rate) => index.worth(1.0, *rate, days)?,
            ScoreBasis::Rule(policy, recent) => {
                // A policy without an index does not use the belief.
                match policy.schedule(recent) {
                    Some(schedule) => days / schedule.next_days,
                    None => days,
                }
            }
        };
        Ok((score > 0.0).then_some(score))
    }

    /// Measures the page's freshness up to a day.
    pub(super) fn measure(&mut self, day: f64, span: Span, sums: &mut FreshnessSums) {
        if let Some(time) = span.measured(self.measured.0, day) {
            let now = sums.add(self.page, self.held, self.measured.1, time);
            self.measured = (day, now);
        }
    }
}

/// Returns the current version on a day. The current version is `from` or a later version.
fn current_version<P: SimulatedPage>(page: &P, from: usize, day: f64) -> usize {
    let later = page.starts().iter().skip(from + 1);
    from + later.take_while(|start| **start <= day).count()
}
