//! The likelihood of each rate, given the comparisons of a page.

use super::check;
use super::comparison::{Change, Comparison};
use super::grid::{Grid, RATES, both, logarithms, rates};
use super::real::{exp, exp_m1, ln};
#[cfg(doc)]
use crate::recrawl::error::RecrawlError;
use crate::recrawl::error::Result;

/// The likelihood of each of 64 rates, given comparisons of a page.
///
/// At a rate of λ, an interval I without a change has the probability e^{-λI}. An interval with a
/// change has the probability 1 - e^{-λI}. A last change at a time t before the visit has the
/// density λe^{-λt}. The likelihoods of comparisons multiply.
///
/// The likelihood is stored as logarithms, in 512 bytes.
///
/// ```
/// use simkeep::recrawl::{Belief, Change, Comparison, Likelihood, Prior};
/// # fn main() -> simkeep::Result<()> {
/// let changed = Likelihood::of(&[Comparison::new(7.0, Change::Undated)?; 4]);
/// let unchanged = Likelihood::of(&[Comparison::new(7.0, Change::None)?; 4]);
/// let flat = Likelihood::flat(); // without comparisons
/// let rate = |likelihood| Belief::new(&Prior::default(), likelihood).rate().per_day;
/// assert!(rate(&unchanged) < rate(&flat) && rate(&flat) < rate(&changed));
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Likelihood {
    log: Grid,
}

impl Likelihood {
    /// Returns the likelihood without comparisons: all rates are equal.
    pub const fn flat() -> Likelihood {
        Likelihood { log: [0.0; RATES] }
    }

    /// Computes the likelihood of comparisons, in linear time.
    pub fn of(comparisons: &[Comparison]) -> Likelihood {
        let mut all = Likelihood::flat();
        for one in comparisons {
            all.multiply(*one, 1.0);
        }
        all
    }

    /// Adds a comparison that counts `times` times, for example for several equal comparisons, or
    /// half for an uncertain one.
    ///
    /// ```
    /// use simkeep::recrawl::{Change, Comparison, Likelihood};
    /// # fn main() -> simkeep::Result<()> {
    /// let mut monthly = Likelihood::flat();
    /// monthly.add(Comparison::new(30.0, Change::None)?, 12.0)?;
    /// monthly.add(Comparison::new(30.0, Change::Undated)?, 0.5)?; // it may have been a mistake
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// [`RecrawlError::Value`] if `times` is not from 0 to a thousand million.
    pub fn add(&mut self, comparison: Comparison, times: f64) -> Result<()> {
        self.multiply(comparison, check::times("times", times)?);
        Ok(())
    }

    /// Adds a comparison that counts `times` times, without checking `times`.
    pub(crate) fn multiply(&mut self, comparison: Comparison, times: f64) {
        let rates = rates();
        let by_rate: Grid = match comparison.change() {
            Change::None => rates.map(|rate| -rate * comparison.days()),
            // ln(1 - e^-x): `exp_m1` keeps the digits for small x.
            Change::Undated => rates.map(|rate| ln(-exp_m1(-rate * comparison.days()))),
            Change::DaysAgo(ago) => both(&logarithms(), &rates, |log, rate| log - rate * ago),
        };
        self.log = both(&self.log, &by_rate, |sum, log| sum + times * log);
    }

    /// Counts each comparison half as often.
    pub(super) fn halve(&mut self) {
        self.log = self.log.map(|log| log / 2.0);
    }

    pub(super) fn logarithms(&self) -> &Grid {
        &self.log
    }
}

/// Returns the exponentials of logarithms, scaled so that the largest is 1.
pub(super) fn relative<const N: usize>(log: &[f64; N]) -> [f64; N] {
    // The largest number becomes e^0 = 1, so nothing overflows. Numbers far below the largest
    // become 0.
    let largest = log.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    log.map(|log| exp(log - largest))
}
