//! What is known of the rate of a page: not a number, but how likely each is.

use std::f64::consts::LN_2;

use super::check;
use super::grid::{Grid, both, dot, rates, sum};
use super::likelihood::{Likelihood, relative};
use super::prior::Prior;
use super::real::exp;
use super::value::{Index, reached};
#[cfg(doc)]
use crate::recrawl::error::RecrawlError;
use crate::recrawl::error::Result;

/// How likely each of 64 rates is to be that of a page: by Bayes, the prior times the likelihood.
///
/// With few visits a rate is hardly known, and each change that was seen means only "one or more". A
/// page that changed at three monthly visits may change monthly or hourly. An estimate would take it
/// for the kind that is worth most; the expectation over a belief does not, and it explores while a
/// rate is unsure. C. Grimes and D. Ford, *Estimation of web page change rates*, JSM 2008, found a
/// prior to matter most for new pages.
///
/// ```
/// use simkeep::recrawl::{Belief, Change, Comparison, Index, Likelihood, Prior};
/// # fn main() -> simkeep::Result<()> {
/// let visits = [Comparison::new(30.0, Change::Undated)?; 3];
/// let belief = Belief::new(&Prior::default(), &Likelihood::of(&visits));
/// let rate = belief.rate();
/// assert!(rate.low < 0.05 && rate.high > 0.5);
/// // From when on is a visit worth as much as ten days of a page that is surely stale?
/// let days = belief.interval(Index::Value, 1.0, 10.0)?;
/// assert!(days.is_some());
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Belief {
    /// The probability of each rate. They add up to one.
    probability: Grid,
}

/// A rate of changes, and how sure it is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rate {
    /// Changes a day: the mean of the belief.
    pub per_day: f64,
    /// The rate is below this with a probability of 5 %.
    pub low: f64,
    /// The rate is above this with a probability of 5 %.
    pub high: f64,
}

/// How likely rates are, in proportion to each other.
#[derive(Clone, Debug)]
pub(crate) struct Odds {
    log: Grid,
    /// The largest is 1.
    relative: Grid,
}

impl Prior {
    /// The odds of the rates.
    pub(crate) fn odds(&self) -> Odds {
        Odds { log: *self.logarithms(), relative: relative(self.logarithms()) }
    }
}

impl Likelihood {
    /// The odds of the rates.
    pub(crate) fn odds(&self) -> Odds {
        Odds { log: *self.logarithms(), relative: relative(self.logarithms()) }
    }
}

/// The least sum of odds: with a smaller one some may have been too small to be told from none.
const SUM_MIN: f64 = 1e-200;

impl Belief {
    /// What is believed after comparisons of this likelihood.
    pub fn new(prior: &Prior, likelihood: &Likelihood) -> Belief {
        Belief::of(&prior.odds(), &likelihood.odds())
    }

    /// What is believed by the odds of the rates before, and by those that were seen.
    pub(crate) fn of(prior: &Odds, likelihood: &Odds) -> Belief {
        // Products of odds need no exponential. They are exact enough unless both hardly overlap.
        let mut share = both(&prior.relative, &likelihood.relative, |prior, seen| prior * seen);
        let mut all = sum(&share);
        if all < SUM_MIN {
            // Prior and likelihood hardly overlap, so products underflow.
            // Sums of logarithms keep the digits.
            share = relative(&both(&prior.log, &likelihood.log, |prior, seen| prior + seen));
            all = sum(&share);
        }
        let part = 1.0 / all;
        Belief { probability: share.map(|share| share * part) }
    }

    /// The mean rate, and the central 90 %.
    ///
    /// Each of the 64 rates stands for those around it, half an octave in all.
    pub fn rate(&self) -> Rate {
        Rate {
            per_day: self.expected(|rate| rate),
            low: self.quantile(0.05),
            high: self.quantile(0.95),
        }
    }

    /// What a visit is worth, so many days after the last one: the expectation of the index of a page of
    /// this weight, in days. It takes about a microsecond.
    ///
    /// After a long absence the crawl value is w E\[1/λ\]. If a page surely changes faster than visits
    /// can follow, that is below any threshold that other pages reach. So give intervals a
    /// maximum.
    ///
    /// # Errors
    ///
    /// [`RecrawlError::Value`] if the weight is not positive and finite, or the days are
    /// not a number. Negative days count as none.
    pub fn worth(&self, index: Index, weight: f64, days: f64) -> Result<f64> {
        let weight = check::positive("weight", weight)?;
        let days = check::since("days", days)?;
        Ok(weight * self.worth_of_one(index, days))
    }

    /// The days after a visit from which the next one is worth a threshold; none if it never is, or not
    /// within 4,000,000 days. It takes 65 times as long as [`worth`](Self::worth).
    ///
    /// # Errors
    ///
    /// [`RecrawlError::Value`] if the weight or the threshold is not positive and
    /// finite.
    pub fn interval(&self, index: Index, weight: f64, threshold: f64) -> Result<Option<f64>> {
        let weight = check::positive("weight", weight)?;
        let threshold = check::positive("threshold", threshold)?;
        Ok(reached(threshold / weight, |days| self.worth_of_one(index, days)))
    }

    /// The probability of each rate.
    pub(super) fn probabilities(&self) -> &Grid {
        &self.probability
    }

    /// What a visit to a page of weight 1 is worth, by days that are checked already.
    fn worth_of_one(&self, index: Index, days: f64) -> f64 {
        self.expected(|rate| index.at(rate, days))
    }

    /// The mean of a function of the rate.
    fn expected(&self, of: impl Fn(f64) -> f64) -> f64 {
        dot(&self.probability, &rates().map(of))
    }

    /// The rate that has this share of the probability below it.
    fn quantile(&self, share: f64) -> f64 {
        let (mut below, mut at) = (0.0, f64::INFINITY);
        for (probability, rate) in self.probability.iter().zip(rates()) {
            if below + probability >= share {
                let part = (share - below) / probability;
                // Interpolates within the half octave of this rate: from a
                // quarter octave below to a quarter above.
                return rate * exp((part - 0.5) * LN_2 / 2.0);
            }
            below += probability;
            // Rounding may leave the sum of all just below `share`. Then the last rate is the answer.
            at = rate;
        }
        at
    }
}
