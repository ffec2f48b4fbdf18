//! A probability distribution over the change rate of a page.

use std::f64::consts::LN_2;

use super::announcement::{Announcements, minus_log_unchanged};
use super::check;
use super::grid::{Grid, both, dot, rates, sum};
use super::likelihood::{Likelihood, relative};
use super::prior::Prior;
use super::real::exp;
use super::value::{PriorityIndex, reached};
#[cfg(doc)]
use crate::recrawl::error::RecrawlError;
use crate::recrawl::error::Result;

/// The probability of each of 64 rates to be the change rate of a page: the prior times the
/// likelihood, by Bayes' rule.
///
/// Few visits determine a rate only roughly, and each observed change means "one or more changes".
/// A page that changed at three monthly visits may change monthly or hourly. A point estimate would
/// select the rate with the highest value. The expectation over a belief weights each rate by its
/// probability, so a page with an uncertain rate is still explored. C. Grimes and D. Ford,
/// *Estimation of web page change rates*, JSM 2008, found that the prior matters most for new
/// pages.
///
/// ```
/// use simkeep::recrawl::{Belief, Change, Comparison, PriorityIndex, Likelihood, Prior};
/// # fn main() -> simkeep::Result<()> {
/// let visits = [Comparison::new(30.0, Change::Undated)?; 3];
/// let belief = Belief::new(&Prior::default(), &Likelihood::of(&visits));
/// let rate = belief.rate();
/// assert!(rate.low < 0.05 && rate.high > 0.5);
/// // From when on is a visit worth as much as ten days of a page that is surely stale?
/// let days = belief.interval(PriorityIndex::Value, 1.0, 10.0)?;
/// assert!(days.is_some());
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Belief {
    /// The probability of each rate. The probabilities add up to one.
    probability: Grid,
}

/// A change rate with its uncertainty.
///
/// ```
/// use simkeep::recrawl::{Belief, Change, Comparison, Likelihood, Prior};
/// # fn main() -> simkeep::Result<()> {
/// // Three of ten weekly comparisons found a change.
/// let mut visits = vec![Comparison::new(7.0, Change::None)?; 7];
/// visits.extend([Comparison::new(7.0, Change::Undated)?; 3]);
/// let rate = Belief::new(&Prior::default(), &Likelihood::of(&visits)).rate();
/// assert!(rate.low < 3.0 / 70.0 && 3.0 / 70.0 < rate.high);
/// println!("{:.3} changes a day ({:.3} to {:.3})", rate.per_day, rate.low, rate.high);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rate {
    /// The mean of the belief, in changes a day.
    pub per_day: f64,
    /// The lower bound: the rate is lower with a probability of 5 %.
    pub low: f64,
    /// The upper bound: the rate is higher with a probability of 5 %.
    pub high: f64,
}

/// Relative likelihoods of the rates.
#[derive(Clone, Debug)]
pub(crate) struct Odds {
    log: Grid,
    /// The odds, scaled so that the largest is 1.
    relative: Grid,
}

impl Prior {
    /// Returns the odds of the rates under the prior.
    pub(crate) fn odds(&self) -> Odds {
        Odds { log: *self.logarithms(), relative: relative(self.logarithms()) }
    }
}

impl Likelihood {
    /// Returns the odds of the rates under the likelihood.
    pub(crate) fn odds(&self) -> Odds {
        Odds { log: *self.logarithms(), relative: relative(self.logarithms()) }
    }
}

/// The minimum sum of odds. Below this sum, some odds may have underflowed to zero.
const SUM_MIN: f64 = 1e-200;

impl Belief {
    /// Computes the belief from a prior and the likelihood of comparisons.
    ///
    /// ```
    /// use simkeep::recrawl::{Belief, Change, Comparison, Likelihood, Prior};
    /// # fn main() -> simkeep::Result<()> {
    /// let unchanged = Likelihood::of(&[Comparison::new(30.0, Change::None)?; 6]);
    /// let before = Belief::new(&Prior::default(), &Likelihood::flat());
    /// let after = Belief::new(&Prior::default(), &unchanged);
    /// assert!(after.rate().per_day < before.rate().per_day);
    /// # Ok(())
    /// # }
    /// ```
    pub fn new(prior: &Prior, likelihood: &Likelihood) -> Belief {
        Belief::of(&prior.odds(), &likelihood.odds())
    }

    /// Computes the belief from the odds of the prior and of the likelihood.
    pub(crate) fn of(prior: &Odds, likelihood: &Odds) -> Belief {
        // Products of odds need no exponential. The products are exact enough unless prior and
        // likelihood hardly overlap.
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

    /// Returns the mean rate and the central 90 % interval of the belief.
    ///
    /// Each of the 64 rates represents a range of half an octave around the rate.
    pub fn rate(&self) -> Rate {
        Rate {
            per_day: self.expected(|rate| rate),
            low: self.quantile(0.05),
            high: self.quantile(0.95),
        }
    }

    /// Returns the value of a visit `days` after the last visit, in days: the expectation of the
    /// index for a page with this weight. Takes about a microsecond.
    ///
    /// After a long time [`PriorityIndex::CrawlValue`] approaches w E\[1/λ\]. For a page that almost
    /// surely changes faster than visits can follow, this limit is below the threshold of other
    /// pages, so the page would never be visited. The other indexes have no limit.
    ///
    /// ```
    /// use simkeep::recrawl::{Belief, Likelihood, Prior, PriorityIndex};
    /// # fn main() -> simkeep::Result<()> {
    /// let belief = Belief::new(&Prior::default(), &Likelihood::flat());
    /// let worth = |weight, days| belief.worth(PriorityIndex::Value, weight, days);
    /// assert_eq!(worth(1.0, 0.0)?, 0.0); // visited just now
    /// assert!(worth(1.0, 7.0)? < worth(1.0, 30.0)? && worth(1.0, 7.0)? < worth(2.0, 7.0)?);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// [`RecrawlError::Value`] if `weight` is not positive and finite, or `days` is not a number.
    /// Negative days count as zero.
    pub fn worth(&self, index: PriorityIndex, weight: f64, days: f64) -> Result<f64> {
        let weight = check::positive("weight", weight)?;
        let days = check::since("days", days)?;
        Ok(weight * self.worth_of_one(index, days))
    }

    /// Returns the value of a visit, as [`worth`](Self::worth), with the announcements of the page since
    /// its last visit: the expectation of [`PriorityIndex::announced`]. Takes one or two microseconds.
    ///
    /// ```
    /// use simkeep::recrawl::{
    ///     Announcements, Belief, Likelihood, Prior, PriorityIndex, SourceReliability,
    /// };
    /// # fn main() -> simkeep::Result<()> {
    /// let belief = Belief::new(&Prior::default(), &Likelihood::flat());
    /// let source = SourceReliability::new(0.9, 0.01)?;
    /// let worth = |count| {
    ///     belief.announced(PriorityIndex::Value, 1.0, 10.0, &[Announcements { source, count }])
    /// };
    /// assert!(worth(0)? < worth(1)? && worth(1)? < worth(2)?);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// The errors of [`worth`](Self::worth).
    pub fn announced(
        &self,
        index: PriorityIndex,
        weight: f64,
        days: f64,
        announcements: &[Announcements],
    ) -> Result<f64> {
        let weight = check::positive("weight", weight)?;
        let days = check::since("days", days)?;
        let of =
            |rate| index.at_evidence(rate, days, minus_log_unchanged(rate, days, announcements));
        Ok(weight * self.expected(of))
    }

    /// Returns the number of days after a visit at which the next visit reaches a threshold; `None`
    /// if the value stays below the threshold for 4,000,000 days. Takes 65 times as long as
    /// [`worth`](Self::worth).
    ///
    /// ```
    /// use simkeep::recrawl::{Belief, Likelihood, Prior, PriorityIndex};
    /// # fn main() -> simkeep::Result<()> {
    /// let belief = Belief::new(&Prior::default(), &Likelihood::flat());
    /// let days = |threshold| belief.interval(PriorityIndex::Value, 1.0, threshold);
    /// assert!(days(1.0)? < days(5.0)?); // a higher threshold is reached later
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// [`RecrawlError::Value`] if the weight or the threshold is not positive and finite.
    pub fn interval(
        &self,
        index: PriorityIndex,
        weight: f64,
        threshold: f64,
    ) -> Result<Option<f64>> {
        let weight = check::positive("weight", weight)?;
        let threshold = check::positive("threshold", threshold)?;
        Ok(reached(threshold / weight, |days| self.worth_of_one(index, days)))
    }

    /// Returns the probability of each rate.
    pub(super) fn probabilities(&self) -> &Grid {
        &self.probability
    }

    /// Returns the value of a visit to a page of weight 1, for validated days.
    fn worth_of_one(&self, index: PriorityIndex, days: f64) -> f64 {
        self.expected(|rate| index.at(rate, days))
    }

    /// Returns the mean of a function of the rate.
    fn expected(&self, of: impl Fn(f64) -> f64) -> f64 {
        dot(&self.probability, &rates().map(of))
    }

    /// Returns the rate below which a fraction `share` of the probability lies.
    fn quantile(&self, share: f64) -> f64 {
        let (mut below, mut at) = (0.0, f64::INFINITY);
        for (probability, rate) in self.probability.iter().zip(rates()) {
            if below + probability >= share {
                let part = (share - below) / probability;
                // Interpolates within the half octave around the rate: from a quarter octave below
                // to a quarter octave above.
                return rate * exp((part - 0.5) * LN_2 / 2.0);
            }
            below += probability;
            // Rounding may leave the sum of all probabilities just below `share`. In this case the
            // last rate is the answer.
            at = rate;
        }
        at
    }
}
