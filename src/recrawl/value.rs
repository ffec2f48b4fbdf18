//! What a visit is worth, of a page whose rate is known.

use super::check;
use super::check::DAYS_MAX;
use super::real::two_or_more;
use super::solve::crossing;
#[cfg(doc)]
use crate::recrawl::error::RecrawlError;
use crate::recrawl::error::Result;

/// What a visit to a page is worth for the time since the last one: the page that is worth most is
/// visited first. A weight w says how much the page matters; it is a factor of both.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub enum Index {
    /// The crawl value, w (1 - (1 + λτ) e^{-λτ})/λ, for a rate of λ changes a day, τ days after the last
    /// visit.
    ///
    /// It keeps the most pages fresh that a number of visits a day can: to visit a page when this is
    /// above a threshold that is one for all is the optimum of J. Cho and H. Garcia-Molina, *Effective
    /// page refresh policies for web crawlers*, ACM TODS 2003. As an index it is equation 4 of C.
    /// Olston and S. Pandey, *Recrawl scheduling based on information longevity*, WWW 2008, for a page
    /// that is fresh or not. It rises up to w/λ and no further: a page that changes faster than visits
    /// can follow is left alone.
    Value,
    /// The harmonic index, w λτ²/(1 + λτ).
    ///
    /// It serves a penalty that grows with each change that is missed, as 1 + ½ + ⅓ + …, and leaves no
    /// page alone: it is LambdaCrawl's condition solved for the threshold, with the time between visits
    /// in place of its mean (A. Kolobov et al., *Staying up to date with online content changes using
    /// reinforcement learning for scheduling*, NeurIPS 2019).
    Harmonic,
}

impl Index {
    /// What a visit to a page of weight 1 is worth, by numbers that are checked already.
    pub(super) fn at(self, rate: f64, days: f64) -> f64 {
        let changes = rate * days;
        match self {
            Index::Value => two_or_more(changes) / rate,
            // The same as λτ²/(1 + λτ), without a square that overflows and
            // without a loss of digits for small λτ.
            Index::Harmonic => days / (1.0 + 1.0 / changes),
        }
    }
}

/// The crawl value of a visit, in days: [`Index::Value`] of a page of this weight and rate, so many days
/// after its last visit. If that is in the future, a visit is worth nothing.
///
/// ```
/// # fn main() -> simkeep::Result<()> {
/// // Ten days after the last visit to a page that changes every ten days.
/// assert!((simkeep::recrawl::value(1.0, 0.1, 10.0)? - 2.642411).abs() < 1e-6);
/// # Ok(())
/// # }
/// ```
///
/// # Errors
///
/// [`RecrawlError::Value`] if the weight or the rate is not positive and finite, or the
/// days are not a number.
pub fn value(weight: f64, per_day: f64, days: f64) -> Result<f64> {
    worth(Index::Value, weight, per_day, days)
}

/// The harmonic index of a visit, in days: [`Index::Harmonic`], otherwise as [`value`].
///
/// ```
/// # fn main() -> simkeep::Result<()> {
/// assert_eq!(simkeep::recrawl::harmonic(1.0, 0.1, 10.0)?, 5.0);
/// # Ok(())
/// # }
/// ```
///
/// # Errors
///
/// [`RecrawlError::Value`] if the weight or the rate is not positive and finite, or the
/// days are not a number.
pub fn harmonic(weight: f64, per_day: f64, days: f64) -> Result<f64> {
    worth(Index::Harmonic, weight, per_day, days)
}

fn worth(index: Index, weight: f64, per_day: f64, days: f64) -> Result<f64> {
    let rate = check::positive("per_day", per_day)?;
    let weight = check::positive("weight", weight)?;
    Ok(weight * index.at(rate, check::since("days", days)?))
}

/// The days after a visit from which the next one is worth a threshold; none if it never is, or not
/// within 4,000,000 days.
///
/// ```
/// use simkeep::recrawl::{Index, interval};
/// # fn main() -> simkeep::Result<()> {
/// let days = interval(Index::Value, 1.0, 0.1, 1.0)?;
/// assert!((days.unwrap() - 5.318116).abs() < 1e-6);
/// // A visit to this page is never worth more than 10.
/// assert_eq!(interval(Index::Value, 1.0, 0.1, 11.0)?, None);
/// # Ok(())
/// # }
/// ```
///
/// # Errors
///
/// [`RecrawlError::Value`] if the weight, the rate or the threshold is not positive and
/// finite.
pub fn interval(index: Index, weight: f64, per_day: f64, threshold: f64) -> Result<Option<f64>> {
    let rate = check::positive("per_day", per_day)?;
    let weight = check::positive("weight", weight)?;
    let threshold = check::positive("threshold", threshold)?;
    Ok(reached(threshold / weight, |days| index.at(rate, days)))
}

/// The days after which a worth that never falls reaches a threshold, if it does within [`DAYS_MAX`].
///
/// `worth` is called 65 times.
pub(super) fn reached(threshold: f64, worth: impl Fn(f64) -> f64) -> Option<f64> {
    // Not `>=`: a value that approaches the threshold may be rounded to it, and never exceeds it.
    (worth(DAYS_MAX) > threshold).then(|| crossing(|days| worth(days) < threshold))
}

/// What a visit is worth to a page that somebody says has changed, as a sitemap or a feed does:
/// p w (s - last) + (1 - p) · what it is worth otherwise.
///
/// `trust` is the probability p that this is true, and `after_days` how long after the last visit the
/// change was. A change before the last visit says nothing, and `otherwise` is the answer.
///
/// ```
/// use simkeep::recrawl::{hinted, value};
/// # fn main() -> simkeep::Result<()> {
/// let worth = hinted(0.8, 1.0, 3.0, value(1.0, 0.1, 10.0)?)?;
/// assert!((worth - 2.928482).abs() < 1e-6);
/// # Ok(())
/// # }
/// ```
///
/// # Errors
///
/// [`RecrawlError::Value`] if the trust is not from 0 to 1, the weight is not positive
/// and finite, the days are not a number, or what it is worth otherwise is negative or infinite.
pub fn hinted(trust: f64, weight: f64, after_days: f64, otherwise: f64) -> Result<f64> {
    let trust = check::share("trust", trust)?;
    let weight = check::positive("weight", weight)?;
    let after = check::since("after_days", after_days)?;
    let otherwise = check::worth("otherwise", otherwise)?;
    if after == 0.0 {
        return Ok(otherwise);
    }
    Ok(trust * weight * after + (1.0 - trust) * otherwise)
}
