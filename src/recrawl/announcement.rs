//! Announcements of changes, by sitemaps, feeds and similar sources, and how far each is reliable.

use super::check;
use super::real::{exp_m1, ln_1p};
use crate::recrawl::error::Result;

/// The largest recall. A source with a recall of 1 would be believed whenever it is silent.
const RECALL_MAX: f64 = 0.99;

/// The least rate of false announcements, in announcements a day. With a rate of 0, one announcement
/// would prove a change.
const FALSE_PER_DAY_MIN: f64 = 1e-6;

/// The weight of the false announcements on all hosts, in days without a change.
const PRIOR_DAYS: f64 = 30.0;

const DAY_SECONDS: f64 = 86_400.0;

/// The reliability of a source of announcements, for the pages of one host. From
/// [`SourceCounts::reliability`].
///
/// ```
/// use simkeep::recrawl::SourceReliability;
/// # fn main() -> simkeep::Result<()> {
/// let sitemap = SourceReliability::new(0.9, 0.01)?;
/// assert!(SourceReliability::new(1.5, 0.01).is_err());
/// assert_eq!(SourceReliability::new(1.0, 0.0)?.recall(), 0.99); // no source is always right
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SourceReliability {
    recall: f64,
    false_per_day: f64,
}

impl SourceReliability {
    /// Creates the reliability of a source. `recall` is the probability that the source announces a
    /// change, beyond the announcements that it makes by chance. `false_per_day` is the number of
    /// announcements a day for a page that does not change.
    ///
    /// The recall is reduced to at most 0.99, and the rate is raised to at least 10<sup>-6</sup>.
    ///
    /// # Errors
    ///
    /// [`RecrawlError::Value`](crate::recrawl::RecrawlError::Value) if the recall is not from 0 to 1,
    /// or the rate is negative or not finite.
    pub fn new(recall: f64, false_per_day: f64) -> Result<SourceReliability> {
        let recall = check::share("recall", recall)?.min(RECALL_MAX);
        let false_per_day = check::worth("false_per_day", false_per_day)?.max(FALSE_PER_DAY_MIN);
        Ok(SourceReliability { recall, false_per_day })
    }

    /// Returns the probability that the source announces a change, beyond chance.
    pub fn recall(self) -> f64 {
        self.recall
    }

    /// Returns the false announcements a day for one page.
    pub fn false_per_day(self) -> f64 {
        self.false_per_day
    }
}

/// The announcements of a page by one source since the last visit of the page.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Announcements {
    /// The reliability of the source for pages of the host.
    pub source: SourceReliability,
    /// The number of announcements, 0 if the source was silent.
    pub count: u32,
}

/// Returns -ln of the probability that a page of a rate λ is unchanged, τ days after its last visit:
/// x = λτ Π(1 - r) + Σ n ln(1 + rλ/ν).
///
/// The r of a source is its recall, ν its false announcements a day, and n the number of its
/// announcements. A source announces changes at the rate rλ, so a silent source leaves the rate
/// λ(1 - r) of changes that were not announced. The odds that an announcement is true are rλ/ν, so
/// each announcement divides the probability of "no change" by 1 + rλ/ν. Two announcements are
/// taken as independent; the exact form of R. Busa-Fekete et al., *A scalable crawling algorithm
/// utilizing noisy change-indicating signals*, WWW 2025, differs by a few thousandths.
pub(super) fn minus_log_unchanged(rate: f64, days: f64, announcements: &[Announcements]) -> f64 {
    let (mut silent, mut announced) = (rate * days, 0.0);
    for Announcements { source: SourceReliability { recall, false_per_day }, count } in
        announcements
    {
        silent *= 1.0 - recall;
        if *count > 0 {
            announced += f64::from(*count) * ln_1p(recall * rate / false_per_day);
        }
    }
    silent + announced
}

/// The announcements of a source that visits confirmed or refuted, for the pages of one host: five
/// sums.
///
/// The sums of two sets of visits add up, so the order of visits does not matter. Add only visits after
/// the first announcement of the source for the host. Before, the source was not known, and missed
/// nothing.
///
/// ```
/// use simkeep::recrawl::SourceCounts;
/// # fn main() -> simkeep::Result<()> {
/// let mut sitemap = SourceCounts::default();
/// for page in 0..50 {
///     // 46 of 50 changes were announced before the visit.
///     sitemap.add_visit(8 * 86_400, true, u32::from(page < 46));
/// }
/// sitemap.add_visit(900 * 86_400, false, 3); // three false announcements in 900 days
/// let reliability = sitemap.reliability(0.02)?;
/// assert!((reliability.recall() - 0.832956).abs() < 1e-6);
/// assert!((reliability.false_per_day() - 0.003871).abs() < 1e-6);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SourceCounts {
    /// The number of changes that the source had announced when a visit found them.
    pub hits: u64,
    /// The number of changes that the source had not announced.
    pub misses: u64,
    /// The sum of the intervals between visits in which the page changed, in seconds.
    pub changed_seconds: u64,
    /// The number of announcements in intervals in which the page did not change.
    pub false_alarms: u64,
    /// The sum of the intervals in which the page did not change, in seconds.
    pub unchanged_seconds: u64,
}

impl SourceCounts {
    /// Adds a visit, `seconds` after the visit before. In this time the source announced
    /// `announcements` changes. All sums saturate.
    pub fn add_visit(&mut self, seconds: u64, changed: bool, announcements: u32) {
        let (hits, misses) = match (changed, announcements) {
            (true, 0) => (0, 1),
            (true, _) => (1, 0),
            (false, _) => (0, 0),
        };
        self.add(&SourceCounts {
            hits,
            misses,
            changed_seconds: if changed { seconds } else { 0 },
            false_alarms: if changed { 0 } else { announcements.into() },
            unchanged_seconds: if changed { 0 } else { seconds },
        });
    }

    /// Adds the sums of other visits. All sums saturate.
    pub fn add(&mut self, other: &SourceCounts) {
        let add = |sum: &mut u64, other: u64| *sum = sum.saturating_add(other);
        add(&mut self.hits, other.hits);
        add(&mut self.misses, other.misses);
        add(&mut self.changed_seconds, other.changed_seconds);
        add(&mut self.false_alarms, other.false_alarms);
        add(&mut self.unchanged_seconds, other.unchanged_seconds);
    }

    /// Returns the false announcements a day of a page: (F + 0.02)/(T + 1), for F announcements in T
    /// days without a change. Called with the sums of all hosts, it is the prior of
    /// [`reliability`](SourceCounts::reliability).
    ///
    /// ```
    /// use simkeep::recrawl::SourceCounts;
    /// assert_eq!(SourceCounts::default().false_per_day(), 0.02);
    /// ```
    pub fn false_per_day(&self) -> f64 {
        (self.false_alarms as f64 + 0.02) / (self.unchanged_seconds as f64 / DAY_SECONDS + 1.0)
    }

    /// Estimates the reliability of the source. `false_per_day_of_all` is the rate of false
    /// announcements on all hosts, which counts as much as 30 days.
    ///
    /// The recall is a lower bound: the fraction of changes that were announced, beyond the
    /// announcements that are made by chance, less two standard errors. So a source with little
    /// evidence hardly counts. The fraction of true announcements would be biased: on pages that
    /// change often, announcements by chance look true.
    ///
    /// # Errors
    ///
    /// [`RecrawlError::Value`](crate::recrawl::RecrawlError::Value) if the rate is not from 1e-100 to
    /// 1e100.
    pub fn reliability(&self, false_per_day_of_all: f64) -> Result<SourceReliability> {
        let of_all = check::moderate("false_per_day_of_all", false_per_day_of_all)?;
        let days = |seconds: u64| seconds as f64 / DAY_SECONDS;
        let false_per_day = (self.false_alarms as f64 + PRIOR_DAYS * of_all)
            / (days(self.unchanged_seconds) + PRIOR_DAYS);
        let changes = self.hits as f64 + self.misses as f64;
        if changes == 0.0 {
            return SourceReliability::new(0.0, false_per_day);
        }
        // The probability of an announcement by chance in the mean interval with a change.
        let by_chance = -exp_m1(-false_per_day * days(self.changed_seconds) / changes);
        let rest = (1.0 - by_chance) * changes + 2.0;
        let error = (by_chance * (1.0 - by_chance) * changes).sqrt() / rest;
        let recall = (self.hits as f64 - by_chance * changes) / rest - 2.0 * error;
        SourceReliability::new(recall.clamp(0.0, 1.0), false_per_day)
    }
}
