//! What is believed of the rate of a page before any of its visits are compared.

use super::check;
use super::grid::{Grid, both, logarithms, rates};
use super::likelihood::relative;
use super::real::{exp, ln};
use crate::recrawl::error::{RecrawlError, Result};

/// How likely each of 64 rates is before a page's own visits tell more.
///
/// Most stores [learn](super::Fit) one from all of their pages.
#[derive(Clone, Debug, PartialEq)]
pub struct Prior {
    /// The logarithms of the probabilities, which add up to one.
    log: Grid,
}

/// The log-normal of median 1/60 a day and width 2: half of the pages change more often than every two
/// months, one of six more often than every eight days, and one of six less often than every 15 months.
///
/// It is meant to be wide: four or five comparisons outweigh it.
impl Default for Prior {
    fn default() -> Prior {
        Prior::of_log_normal(-ln(60.0), 2.0)
    }
}

impl Prior {
    /// Rates whose logarithms are normal: half of them are above the median, two of three are within a
    /// factor of e^width from it.
    ///
    /// The width tells how far pages differ from each other. Rates on the web spread over several
    /// powers of ten: a width of about 2 (J. Cho and H. Garcia-Molina, *The evolution of the web and
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
    /// [`RecrawlError::Value`] if the median is not positive and finite, or the width is not from 0.1 to
    /// 100.
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

    /// The Gamma distribution of this shape whose mean is shape/days: what is known after `shape`
    /// changes in so many days, if nothing was known before.
    ///
    /// # Errors
    ///
    /// [`RecrawlError::Value`] if the shape is not from 0.01 to a million, or the days are not from a
    /// millisecond to 4,000,000.
    pub fn gamma(shape: f64, days: f64) -> Result<Prior> {
        if !(0.01..=1e6).contains(&shape) {
            return Err(RecrawlError::Value { name: "shape", takes: "from 0.01 to 1,000,000" });
        }
        let days = check::interval("days", days)?;
        Ok(Prior::normal(both(&logarithms(), &rates(), |log, rate| shape * log - days * rate)))
    }

    /// This prior, unless it is another one, as likely as `doubt`.
    pub(super) fn unless(&self, doubt: f64, other: &Prior) -> Prior {
        let of = |log, other| (1.0 - doubt) * exp(log) + doubt * exp(other);
        Prior::of_probabilities(&both(&self.log, &other.log, of))
    }

    /// The prior in proportion to numbers with these logarithms, per step of ln λ.
    fn normal(log: Grid) -> Prior {
        // Log-sum-exp: without the largest value taken out, the sum could be 0 or infinite.
        let largest = log.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let sum = ln(relative(&log).iter().sum::<f64>());
        Prior { log: log.map(|log| log - largest - sum) }
    }

    /// The prior of these probabilities, none of which is zero unless it is lost in rounding.
    pub(super) fn of_probabilities(probability: &Grid) -> Prior {
        // A probability that underflows to 0 would have a logarithm of minus infinity.
        Prior::normal(probability.map(|one| ln(one.max(f64::MIN_POSITIVE))))
    }

    pub(super) fn logarithms(&self) -> &Grid {
        &self.log
    }
}
