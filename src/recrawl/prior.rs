//! The prior: a belief about the rate of a page before any of its visits are compared.

use super::check;
use super::grid::{Grid, both, logarithms, rates};
use super::likelihood::relative;
use super::real::{exp, ln};
use crate::recrawl::error::{RecrawlError, Result};

/// The probability of each of 64 rates before any visits to a page are known.
///
/// Most stores [learn](super::Fit) a prior from all of their pages.
///
/// ```
/// use simkeep::recrawl::{Belief, Likelihood, Prior};
/// # fn main() -> simkeep::Result<()> {
/// // Pages of a news site change about once a day.
/// let (news, usual) = (Prior::log_normal(1.0, 1.0)?, Prior::default());
/// let rate = |prior| Belief::new(prior, &Likelihood::flat()).rate().per_day;
/// assert!(rate(&news) > rate(&usual));
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Prior {
    /// The logarithms of the probabilities. The probabilities add up to one.
    log: Grid,
}

/// Returns the log-normal with a median of 1/60 a day and width 2. Half of the pages change more
/// often than every two months, one in six pages more often than every eight days, and one in six
/// less often than every 15 months.
///
/// The default prior is deliberately wide: four or five comparisons outweigh it.
impl Default for Prior {
    fn default() -> Prior {
        Prior::of_log_normal(-ln(60.0), 2.0)
    }
}

impl Prior {
    /// Creates a log-normal prior: half of the rates are above the median, and two thirds are
    /// within a factor of e^width from the median.
    ///
    /// The width measures how much pages differ. Rates on the web span several powers of ten, which
    /// is a width of about 2 (J. Cho and H. Garcia-Molina, *The evolution of the web and
    /// implications for an incremental crawler*, VLDB 2000).
    ///
    /// ```
    /// use simkeep::recrawl::{Belief, Likelihood, Prior};
    /// # fn main() -> simkeep::Result<()> {
    /// let rate = Belief::new(&Prior::log_normal(0.1, 1.0)?, &Likelihood::flat()).rate();
    /// assert!((rate.low..rate.high).contains(&0.1));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// [`RecrawlError::Value`] if the median is not positive and finite, or the width is not from
    /// 0.1 to 100.
    pub fn log_normal(median_per_day: f64, width: f64) -> Result<Prior> {
        let median = check::positive("median_per_day", median_per_day)?;
        if !(0.1..=100.0).contains(&width) {
            return Err(RecrawlError::Value { name: "width", takes: "from 0.1 to 100" });
        }
        Ok(Prior::of_log_normal(ln(median), width))
    }

    pub(super) fn of_log_normal(centre: f64, width: f64) -> Prior {
        Prior::normal(logarithms().map(|log| {
            let off = (log - centre) / width;
            -off * off / 2.0
        }))
    }

    /// Creates a Gamma prior with a shape and the mean shape/days. This prior equals the posterior
    /// after `shape` changes in `days` days with an uninformative prior.
    ///
    /// ```
    /// use simkeep::recrawl::{Belief, Likelihood, Prior};
    /// # fn main() -> simkeep::Result<()> {
    /// // As after 3 changes in 60 days.
    /// let rate = Belief::new(&Prior::gamma(3.0, 60.0)?, &Likelihood::flat()).rate();
    /// assert!((rate.per_day - 0.05).abs() < 0.005);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// [`RecrawlError::Value`] if the shape is not from 0.01 to a million, or `days` is not from a
    /// millisecond to 4,000,000 days.
    pub fn gamma(shape: f64, days: f64) -> Result<Prior> {
        if !(0.01..=1e6).contains(&shape) {
            return Err(RecrawlError::Value { name: "shape", takes: "from 0.01 to 1,000,000" });
        }
        let days = check::interval("days", days)?;
        Ok(Prior::normal(both(&logarithms(), &rates(), |log, rate| shape * log - days * rate)))
    }

    /// Returns a mixture of this prior with another prior, whose share is `doubt`.
    pub(super) fn unless(&self, doubt: f64, other: &Prior) -> Prior {
        let of = |log, other| (1.0 - doubt) * exp(log) + doubt * exp(other);
        Prior::of_probabilities(&both(&self.log, &other.log, of))
    }

    /// Normalizes log-densities over ln λ to a prior.
    fn normal(log: Grid) -> Prior {
        // Log-sum-exp: the largest value is subtracted first, because otherwise the sum could be 0
        // or infinite.
        let largest = log.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let sum = ln(relative(&log).iter().sum::<f64>());
        Prior { log: log.map(|log| log - largest - sum) }
    }

    /// Creates the prior with given probabilities. A probability may be zero only because of
    /// rounding.
    pub(super) fn of_probabilities(probability: &Grid) -> Prior {
        // A probability that underflows to 0 would have a logarithm of minus infinity.
        Prior::normal(probability.map(|one| ln(one.max(f64::MIN_POSITIVE))))
    }

    pub(super) fn logarithms(&self) -> &Grid {
        &self.log
    }
}
