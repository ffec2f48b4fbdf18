//! The value of a visit to a page with a known rate.

use super::announcement::{Announcements, minus_log_unchanged};
use super::check;
use super::check::DAYS_MAX;
use super::real::two_or_more;
use super::solve::crossing;
#[cfg(doc)]
use crate::recrawl::error::RecrawlError;
use crate::recrawl::error::Result;

/// The value of a visit as a function of the time since the last visit: the page with the highest
/// value is visited first. The weight w of the page is a factor of both indexes.
///
/// ```
/// use simkeep::recrawl::{PriorityIndex, interval};
/// # fn main() -> simkeep::Result<()> {
/// // A page that changes ten times a day, and a threshold of half a day.
/// let days = |index| interval(index, 1.0, 10.0, 0.5);
/// assert_eq!(days(PriorityIndex::CrawlValue)?, None); // cannot be kept fresh
/// assert!(days(PriorityIndex::Harmonic)?.is_some());
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub enum PriorityIndex {
    /// The crawl value plus a tenth of the harmonic index.
    ///
    /// The crawl value alone abandons pages. If the first visits to a page find changes, its rate
    /// seems high, and its crawl value stays below the values of other pages for ever. Some pages are
    /// lively when they are young, and then settle. The harmonic index grows without a limit, so each
    /// page is visited again in the end, and its rate is corrected. If rates are constant, the
    /// harmonic part costs some freshness.
    Value,
    /// The crawl value, w (1 - (1 + λτ) e^{-λτ})/λ, for a rate of λ changes a day, τ days after the
    /// last visit.
    ///
    /// The crawl value maximizes the number of fresh pages for a number of visits a day. The
    /// optimum of J. Cho and H. Garcia-Molina, *Effective page refresh policies for web crawlers*,
    /// ACM TODS 2003, is to visit each page when its crawl value reaches a common threshold. As an
    /// index the crawl value is equation 4 of C. Olston and S. Pandey, *Recrawl scheduling based on
    /// information longevity*, WWW 2008, for a page that is either fresh or not. The crawl value is
    /// at most w/λ. So a page that changes too fast for any crawler is worth little, and gets no
    /// visits.
    CrawlValue,
    /// The harmonic index, w λτ²/(1 + λτ).
    ///
    /// The harmonic index minimizes a penalty that grows with each missed change, 1 + ½ + ⅓ + …,
    /// and visits every page. The index is LambdaCrawl's condition solved for the threshold, with
    /// the time between visits instead of its mean (A. Kolobov et al., *Staying up to date with
    /// online content changes using reinforcement learning for scheduling*, NeurIPS 2019).
    Harmonic,
}

/// The part of the harmonic index that [`PriorityIndex::Value`] adds to the crawl value.
pub(super) const HARMONIC_SHARE: f64 = 0.1;

impl PriorityIndex {
    /// Returns the value of a visit in days, to a page with this weight and rate, `days` after its last
    /// visit. The value is 0 if the last visit is in the future.
    ///
    /// ```
    /// use simkeep::recrawl::PriorityIndex;
    /// # fn main() -> simkeep::Result<()> {
    /// // Ten days after the last visit to a page that changes every ten days.
    /// let worth = |index: PriorityIndex| index.worth(1.0, 0.1, 10.0);
    /// assert!((worth(PriorityIndex::CrawlValue)? - 2.642411).abs() < 1e-6);
    /// assert_eq!(worth(PriorityIndex::Harmonic)?, 5.0);
    /// assert!((worth(PriorityIndex::Value)? - (2.642411 + 0.1 * 5.0)).abs() < 1e-6);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// [`RecrawlError::Value`] if the weight or the rate is not positive and finite, or `days` is not
    /// a number.
    pub fn worth(self, weight: f64, per_day: f64, days: f64) -> Result<f64> {
        self.announced(weight, per_day, days, &[])
    }

    /// Returns the value of a visit in days, as [`worth`](PriorityIndex::worth), with the announcements
    /// of the page since its last visit. Sources that announce changes of the page's host, but did not
    /// announce one of this page, are included with a count of 0.
    ///
    /// In the formulas of the indexes, (1 - (1 + x)e<sup>-x</sup>)/λ and τ/(1 + 1/x), the product
    /// x = λτ is replaced by x = λτ Π(1 - r) + Σ n ln(1 + rλ/ν), for each source with the recall r, ν
    /// false announcements a day, and n announcements. The page is unchanged with the probability
    /// e<sup>-x</sup>. The value stays finite, whatever the number of announcements.
    ///
    /// ```
    /// use simkeep::recrawl::{Announcements, PriorityIndex, SourceReliability};
    /// # fn main() -> simkeep::Result<()> {
    /// let source = SourceReliability::new(0.9, 0.01)?;
    /// let worth = |count| {
    ///     PriorityIndex::CrawlValue.announced(1.0, 0.1, 10.0, &[Announcements { source, count }])
    /// };
    /// // Without sources, the visit is worth 2.64 days.
    /// assert!(worth(0)? < 0.05 && worth(1)? > 6.9);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// The errors of [`worth`](PriorityIndex::worth).
    pub fn announced(
        self,
        weight: f64,
        per_day: f64,
        days: f64,
        announcements: &[Announcements],
    ) -> Result<f64> {
        let rate = check::positive("per_day", per_day)?;
        let weight = check::positive("weight", weight)?;
        let days = check::since("days", days)?;
        let unchanged = minus_log_unchanged(rate, days, announcements);
        Ok(weight * self.at_evidence(rate, days, unchanged))
    }

    /// Returns the value of a visit to a page of weight 1, for validated numbers.
    pub(super) fn at(self, rate: f64, days: f64) -> f64 {
        self.at_evidence(rate, days, rate * days)
    }

    /// Returns the value of a visit to a page of weight 1 that is unchanged with the probability e^-x,
    /// for validated numbers.
    pub(super) fn at_evidence(self, rate: f64, days: f64, x: f64) -> f64 {
        match self {
            PriorityIndex::Value => {
                let harmonic = PriorityIndex::Harmonic.at_evidence(rate, days, x);
                PriorityIndex::CrawlValue.at_evidence(rate, days, x) + HARMONIC_SHARE * harmonic
            }
            PriorityIndex::CrawlValue => two_or_more(x) / rate,
            // Equal to λτ²/(1 + λτ) without announcements, without a square that overflows and
            // without a loss of digits for small λτ.
            PriorityIndex::Harmonic => days / (1.0 + 1.0 / x),
        }
    }
}

/// Returns the number of days after a visit at which the value of the next visit reaches a
/// threshold; `None` if the value stays below the threshold for 4,000,000 days.
///
/// ```
/// use simkeep::recrawl::{PriorityIndex, interval};
/// # fn main() -> simkeep::Result<()> {
/// let days = interval(PriorityIndex::CrawlValue, 1.0, 0.1, 1.0)?;
/// assert!((days.unwrap() - 5.318116).abs() < 1e-6);
/// // A visit to this page is never worth more than 10.
/// assert_eq!(interval(PriorityIndex::CrawlValue, 1.0, 0.1, 11.0)?, None);
/// # Ok(())
/// # }
/// ```
///
/// # Errors
///
/// [`RecrawlError::Value`] if the weight, the rate or the threshold is not positive and finite.
pub fn interval(
    index: PriorityIndex,
    weight: f64,
    per_day: f64,
    threshold: f64,
) -> Result<Option<f64>> {
    let rate = check::positive("per_day", per_day)?;
    let weight = check::positive("weight", weight)?;
    let threshold = check::positive("threshold", threshold)?;
    Ok(reached(threshold / weight, |days| index.at(rate, days)))
}

/// Returns the number of days after which a value that never falls reaches a threshold; `None` if
/// the value stays below the threshold for [`DAYS_MAX`] days.
///
/// Calls `worth` 65 times.
pub(super) fn reached(threshold: f64, worth: impl Fn(f64) -> f64) -> Option<f64> {
    // Not `>=`: a value that approaches the threshold may be rounded to the threshold, and never
    // exceeds it.
    (worth(DAYS_MAX) > threshold).then(|| crossing(|days| worth(days) < threshold))
}

/// Returns the value of a visit to a page with a reported change, from a sitemap or a feed:
/// p w d + (1 - p) · `otherwise`.
///
/// `trust` is the probability p that the report is true, `weight` the weight w of the page, and
/// `after_days` the time d from the last visit to the change. `otherwise` is the value without the
/// report. If the change was before the last visit, the report does not count, and the result is
/// `otherwise`.
///
/// ```
/// use simkeep::recrawl::{PriorityIndex, hinted};
/// # fn main() -> simkeep::Result<()> {
/// let worth = hinted(0.8, 1.0, 3.0, PriorityIndex::CrawlValue.worth(1.0, 0.1, 10.0)?)?;
/// assert!((worth - 2.928482).abs() < 1e-6);
/// # Ok(())
/// # }
/// ```
///
/// # Errors
///
/// [`RecrawlError::Value`] if `trust` is not from 0 to 1, `weight` is not positive and finite,
/// `after_days` is not a number, or `otherwise` is negative or infinite.
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
