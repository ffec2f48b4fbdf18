//! A page that a simulated crawler knows.

use super::decider::Decider;
use super::learned::Learned;
use super::measure::Sums;
use super::page::{Notes as _, Page};
use super::span::Span;
use crate::recrawl::error::{RecrawlError, Result};
use crate::recrawl::{Belief, Evidence, Index, Policy, Prior, Recent};
use crate::recrawl::{harmonic, value};

/// A page that a simulated crawler knows.
pub(super) struct Visited<'p, P: Page> {
    pub(super) number: usize,
    page: &'p P,
    notes: P::Notes,
    last_day: f64,
    /// The version that was seen last.
    held: usize,
    /// Up to which day its freshness is measured, and the version in force then.
    measured: (f64, usize),
    /// What decides, as far as it does not depend on the time: made anew after each visit.
    decides: Decides,
    /// The evidence of its comparisons, while that is what the notes say.
    evidence: Option<Evidence>,
    /// What is expected of it, as of when that was learned last.
    prior: Prior,
    /// No score is above this. See [`rises`].
    pub(super) ceiling: f64,
}

enum Decides {
    Belief(Index, Box<Belief>),
    Rate(Index, f64),
    Rule(Policy, Recent),
}

/// By how much the score of a page rises in a day at most, if it takes long to work out.
///
/// The derivative of the crawl value, λτe^{-λτ}, is at most 1/e, and that of the harmonic index, 1 -
/// 1/(1 + λτ)², is below 1. So are their expectations. A bit more makes up for rounding.
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
    /// The page is found.
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

    /// Visits it. Returns how many comparisons that made.
    pub(super) fn visit(&mut self, day: f64, by: Decider) -> Result<u64> {
        let version = in_force(self.page, self.measured.1, day);
        let before = self.notes.comparisons();
        self.page.visited(&mut self.notes, day, version)?;
        (self.held, self.last_day, self.measured) = (version, day, (day, version));
        self.evidence = None;
        self.decide(by)?;
        Ok(self.notes.comparisons() - before)
    }

    /// Works out what it tells of rates, if it was compared.
    pub(super) fn tell(&mut self, learned: &Learned) {
        if self.evidence.is_none() && self.notes.comparisons() > 0 {
            self.evidence = Some(learned.evidence(&self.notes.likelihood()));
        }
    }

    /// Its host, and what it tells of rates.
    pub(super) fn told(&self) -> Option<(u32, &Evidence)> {
        Some((self.page.host(), self.evidence.as_ref()?))
    }

    /// Takes in what was learned from all pages.
    pub(super) fn expect(&mut self, learned: &Learned, by: Decider) -> Result<()> {
        self.prior = learned.prior(self.page.host(), self.evidence.as_ref());
        self.decide(by)
    }

    /// Works out what decides on it from what is known.
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
                // Nothing is known: the median of the default prior.
                0 => Decides::Rate(index, 1.0 / 60.0),
                _ => Decides::Rate(index, self.notes.estimate()?),
            },
            Decider::Known(index) => Decides::Rate(index, self.page.per_day().ok_or(RATES)?),
        };
        Ok(())
    }

    /// What puts it in order on a day; none just after a visit.
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
                // A policy without an index goes by no belief.
                match policy.schedule(recent) {
                    Some(schedule) => days / schedule.next_days,
                    None => days,
                }
            }
        };
        Ok((score > 0.0).then_some(score))
    }

    /// Measures how fresh it was up to a day.
    pub(super) fn measure(&mut self, day: f64, span: Span, sums: &mut Sums) {
        if let Some(time) = span.measured(self.measured.0, day) {
            let now = sums.add(self.page, self.held, self.measured.1, time);
            self.measured = (day, now);
        }
    }
}

/// The version in force on a day, which is not before that of this number.
fn in_force<P: Page>(page: &P, from: usize, day: f64) -> usize {
    let later = page.starts().iter().skip(from + 1);
    from + later.take_while(|start| **start <= day).count()
}
