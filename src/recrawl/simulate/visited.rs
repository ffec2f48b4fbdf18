//! A page that a simulated crawler has discovered.

use super::decider::Decider;
use super::learned::Learned;
use super::measure::Sums;
use super::page::{Notes as _, Page};
use super::span::Span;
use crate::recrawl::error::{RecrawlError, Result};
use crate::recrawl::{Belief, Evidence, Index, Policy, Prior, Recent};
use crate::recrawl::{harmonic, value};

/// A page that a simulated crawler has discovered.
pub(super) struct Visited<'p, P: Page> {
    pub(super) number: usize,
    page: &'p P,
    notes: P::Notes,
    last_day: f64,
    /// The last seen version.
    held: usize,
    /// The day up to which the freshness of the page is measured, and the current version on this
    /// day.
    measured: (f64, usize),
    /// The time-independent inputs of the page's score, computed after each visit.
    decides: Decides,
    /// The evidence of the page's comparisons, until the next visit.
    evidence: Option<Evidence>,
    /// The prior of the page, as of the last learning.
    prior: Prior,
    /// An upper bound of the page's score. See [`rises`].
    pub(super) ceiling: f64,
}

enum Decides {
    Belief(Index, Box<Belief>),
    Rate(Index, f64),
    Rule(Policy, Recent),
}

/// Returns the maximum amount by which the score of a page rises in a day; infinity if the score is
/// cheap to compute.
///
/// The derivative of the crawl value, λτe^{-λτ}, is at most 1/e. The derivative of the harmonic
/// index, 1 - 1/(1 + λτ)², is below 1. The same bounds apply to the derivatives of the
/// expectations. A small margin covers rounding.
pub(super) fn rises(by: Decider) -> f64 {
    match by {
        Decider::Policy(policy, _) => match policy.index() {
            Some(Index::Value) => 0.367_88,
            Some(Index::Harmonic) => 1.000_001,
            None => f64::INFINITY,
        },
        Decider::Estimated(_) | Decider::Known(_) => f64::INFINITY,
    }
}

impl<'p, P: Page> Visited<'p, P> {
    /// Discovers the page.
    pub(super) fn new(
        number: usize,
        page: &'p P,
        day: f64,
        by: Decider,
        learned: &Learned,
    ) -> Result<Self> {
        let version = in_force(page, 0, day);
        let notes = page.found(day, version);
        let decides = Decides::Rule(Policy::UNIFORM, Recent::default());
        let (measured, evidence) = ((day, version), None);
        let prior = learned.prior(page.host(), None);
        let mut found = Visited {
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
        let version = in_force(self.page, self.measured.1, day);
        let before = self.notes.comparisons();
        self.page.visited(&mut self.notes, day, version)?;
        (self.held, self.last_day, self.measured) = (version, day, (day, version));
        self.evidence = None;
        self.decide(by)?;
        Ok(self.notes.comparisons() - before)
    }

    /// Computes the page's evidence about rates, if its visits were compared.
    pub(super) fn tell(&mut self, learned: &Learned) {
        if self.evidence.is_none() && self.notes.comparisons() > 0 {
            self.evidence = Some(learned.evidence(&self.notes.likelihood()));
        }
    }

    /// Returns the page's host and its evidence about rates.
    pub(super) fn evidence(&self) -> Option<(u32, &Evidence)> {
        Some((self.page.host(), self.evidence.as_ref()?))
    }

    /// Replaces the page's prior by the learned prior.
    pub(super) fn expect(&mut self, learned: &Learned, by: Decider) -> Result<()> {
        self.prior = learned.prior(self.page.host(), self.evidence.as_ref());
        self.decide(by)
    }

    /// Computes the inputs of the page's score.
    fn decide(&mut self, by: Decider) -> Result<()> {
        const RATES: RecrawlError =
            RecrawlError::Value { name: "by", takes: "no true rates of these pages" };
        self.ceiling = f64::INFINITY;
        self.decides = match by {
            Decider::Policy(policy, _) => match policy.index() {
                None => Decides::Rule(policy, self.notes.recent()),
                Some(index) => {
                    let belief = Belief::new(&self.prior, &self.notes.likelihood());
                    Decides::Belief(index, Box::new(belief))
                }
            },
            Decider::Estimated(index) => match self.notes.comparisons() {
                // Without evidence, the rate is the median of the default prior.
                0 => Decides::Rate(index, 1.0 / 60.0),
                _ => Decides::Rate(index, self.notes.estimate()?),
            },
            Decider::Known(index) => Decides::Rate(index, self.page.per_day().ok_or(RATES)?),
        };
        Ok(())
    }

    /// Returns the page's score on a day; `None` just after a visit.
    pub(super) fn score(&self, day: f64) -> Result<Option<f64>> {
        let days = day - self.last_day;
        if days <= 0.0 {
            return Ok(None);
        }
        let score = match &self.decides {
            Decides::Belief(index, belief) => belief.worth(*index, 1.0, days)?,
            Decides::Rate(Index::Value, rate) => value(1.0, *rate, days)?,
            Decides::Rate(Index::Harmonic, rate) => harmonic(1.0, *rate, days)?,
            Decides::Rule(policy, recent) => {
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
    pub(super) fn measure(&mut self, day: f64, span: Span, sums: &mut Sums) {
        if let Some(time) = span.measured(self.measured.0, day) {
            let now = sums.add(self.page, self.held, self.measured.1, time);
            self.measured = (day, now);
        }
    }
}

/// Returns the current version on a day. The current version is `from` or a later version.
fn in_force<P: Page>(page: &P, from: usize, day: f64) -> usize {
    let later = page.starts().iter().skip(from + 1);
    from + later.take_while(|start| **start <= day).count()
}
