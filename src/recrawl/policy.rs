//! Policies, which order pages and have names.

use std::fmt;
use std::str::FromStr;

use super::belief::Belief;
use super::check;
use super::interval::Interval;
use super::multiplicative::{Schedule, nutch, storm_crawler, thesis};
use super::recent::RecentComparisons;
use super::value::PriorityIndex;
use crate::recrawl::error::{RecrawlError, Result};

/// A policy that decides which page is visited first. A policy has a name whose meaning never
/// changes.
///
/// - `value`: by the crawl value plus a tenth of the harmonic index ([`PriorityIndex::Value`]), as an
///   expectation over the belief.
/// - `crawl-value`: by the crawl value ([`PriorityIndex::CrawlValue`]), as an expectation over the
///   belief.
/// - `harmonic`: by the harmonic index ([`PriorityIndex::Harmonic`]), as an expectation over the belief.
/// - `uniform`: by the time since the last visit.
///
/// All other policies divide the time since the last visit by an interval:
///
/// - `fixed:7d`: the [`Interval`] in the name.
/// - `thesis:3,1.5`: initially 7 days. Three unchanged comparisons in a row multiply the interval
///   by 1.5, and three changed comparisons in a row divide it by 1.5; after each adjustment a new
///   run begins. The interval stays between an hour and a year.
/// - `nutch:0.4,0.2,0.3`: Apache Nutch's `AdaptiveFetchSchedule`, initially 30 days. The parameters
///   are the fraction by which the interval grows, the fraction by which it shrinks, and
///   `sync_delta_rate`. The interval stays between a minute and a year.
/// - `stormcrawler`: StormCrawler's `AdaptiveScheduler`, initially a day. The interval stays
///   between an hour and two weeks.
///
/// The parameters above are the defaults; `fixed` requires an interval. The policies `thesis`,
/// `nutch` and `stormcrawler` depend on the order of the last 64 comparisons. These policies
/// converge to a constant fraction of visits that find a change. If rates differ widely, these
/// policies keep fewer pages fresh than equal intervals for all pages (Cho & Garcia-Molina 2003).
///
/// ```
/// use simkeep::recrawl::Policy;
/// # fn main() -> simkeep::Result<()> {
/// assert_eq!(Policy::default().to_string(), "value");
/// assert_eq!("thesis".parse::<Policy>()?.to_string(), "thesis:3,1.5");
/// assert_eq!("fixed:48h".parse::<Policy>()?.to_string(), "fixed:2d");
/// assert!("weekly".parse::<Policy>().unwrap_err().to_string().contains("stormcrawler"));
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Policy(PolicyKind);

#[derive(Clone, Copy, Debug, PartialEq)]
enum PolicyKind {
    Index(PriorityIndex),
    Uniform,
    Fixed(Interval),
    Thesis { count: u32, factor: f64 },
    Nutch { grow: f64, shrink: f64, sync: f64 },
    StormCrawler,
}

impl Default for Policy {
    fn default() -> Policy {
        Policy::VALUE
    }
}

/// The facts about a page that a policy uses.
///
/// ```
/// use simkeep::recrawl::{Belief, Likelihood, Policy, PolicyInput, Prior, RecentComparisons};
/// # fn main() -> simkeep::Result<()> {
/// let belief = Belief::new(&Prior::default(), &Likelihood::flat());
/// let recent = RecentComparisons::default();
/// let page = |days| PolicyInput { belief: &belief, recent: &recent, weight: 1.0, days };
/// assert_eq!(Policy::UNIFORM.score(&page(7.0))?, 7.0);
/// assert!(Policy::VALUE.score(&page(7.0))? < Policy::VALUE.score(&page(30.0))?);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy, Debug)]
pub struct PolicyInput<'a> {
    /// The belief about the page's change rate.
    pub belief: &'a Belief,
    /// The last comparisons of the page.
    pub recent: &'a RecentComparisons,
    /// The weight of the page.
    pub weight: f64,
    /// The days since the last visit to the page; 0 if the last visit is in the future.
    pub days: f64,
}

impl Policy {
    /// Orders by the crawl value plus a tenth of the harmonic index.
    pub const VALUE: Policy = Policy(PolicyKind::Index(PriorityIndex::Value));
    /// Orders by the crawl value.
    pub const CRAWL_VALUE: Policy = Policy(PolicyKind::Index(PriorityIndex::CrawlValue));
    /// Orders by the harmonic index.
    pub const HARMONIC: Policy = Policy(PolicyKind::Index(PriorityIndex::Harmonic));
    /// Orders by the time since the last visit.
    pub const UNIFORM: Policy = Policy(PolicyKind::Uniform);

    /// Returns the score of a page: the page with the highest score is visited first.
    ///
    /// For `value`, `crawl-value` and `harmonic` the score is the weighted [value of a
    /// visit](Belief::worth), in days. For `uniform` the score is the number of days since the last
    /// visit. For the other policies the score is the number of days since the last visit divided
    /// by the interval, so that a page is due at 1. `uniform` and the policies with intervals
    /// ignore the weight.
    ///
    /// ```
    /// use simkeep::recrawl::{Belief, Likelihood, Policy, PolicyInput, Prior, RecentComparisons};
    /// # fn main() -> simkeep::Result<()> {
    /// let belief = Belief::new(&Prior::default(), &Likelihood::flat());
    /// let recent = RecentComparisons::default();
    /// let page = PolicyInput { belief: &belief, recent: &recent, weight: 1.0, days: 14.0 };
    /// // Two weeks are twice the interval, and a page is due at 1.
    /// assert_eq!("fixed:7d".parse::<Policy>()?.score(&page)?, 2.0);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// [`RecrawlError::Value`] if the weight is not positive and finite, or the number of days is
    /// NaN.
    pub fn score(&self, page: &PolicyInput<'_>) -> Result<f64> {
        if let PolicyKind::Index(index) = self.0 {
            return page.belief.worth(index, page.weight, page.days);
        }
        check::positive("weight", page.weight)?;
        let days = check::since("days", page.days)?;
        Ok(match self.schedule(page.recent) {
            Some(schedule) => days / schedule.next_days,
            None => days,
        })
    }

    /// Returns the index that the policy uses, if any.
    pub(crate) fn index(&self) -> Option<PriorityIndex> {
        match self.0 {
            PolicyKind::Index(index) => Some(index),
            _ => None,
        }
    }

    /// Whether the policy depends on the order of the last comparisons.
    pub(crate) fn is_by_order(&self) -> bool {
        matches!(
            self.0,
            PolicyKind::Thesis { .. } | PolicyKind::Nutch { .. } | PolicyKind::StormCrawler
        )
    }

    /// Returns the interval of a page; `None` for `value`, `crawl-value`, `harmonic` and `uniform`,
    /// which have no interval.
    ///
    /// ```
    /// use simkeep::recrawl::{Change, Comparison, Policy, RecentComparisons};
    /// # fn main() -> simkeep::Result<()> {
    /// let mut recent = RecentComparisons::default();
    /// let unchanged = Comparison::new(7.0, Change::None)?;
    /// (0..3).for_each(|_| recent.push(unchanged)); // so the interval grows by half
    /// let schedule = "thesis".parse::<Policy>()?.schedule(&recent).unwrap();
    /// assert_eq!(schedule.next_days, 10.5);
    /// # Ok(())
    /// # }
    /// ```
    pub fn schedule(&self, recent: &RecentComparisons) -> Option<Schedule> {
        match self.0 {
            PolicyKind::Index(_) | PolicyKind::Uniform => None,
            PolicyKind::Fixed(interval) => Some(Schedule::every(interval.days())),
            PolicyKind::Thesis { count, factor } => Some(thesis(recent, count, factor)),
            PolicyKind::Nutch { grow, shrink, sync } => Some(nutch(recent, grow, shrink, sync)),
            PolicyKind::StormCrawler => Some(storm_crawler(recent)),
        }
    }
}

/// Formats the canonical name, with all parameters.
impl fmt::Display for Policy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            PolicyKind::Index(PriorityIndex::Value) => f.write_str("value"),
            PolicyKind::Index(PriorityIndex::CrawlValue) => f.write_str("crawl-value"),
            PolicyKind::Index(PriorityIndex::Harmonic) => f.write_str("harmonic"),
            PolicyKind::Uniform => f.write_str("uniform"),
            PolicyKind::Fixed(interval) => write!(f, "fixed:{interval}"),
            PolicyKind::Thesis { count, factor } => write!(f, "thesis:{count},{factor}"),
            PolicyKind::Nutch { grow, shrink, sync } => write!(f, "nutch:{grow},{shrink},{sync}"),
            PolicyKind::StormCrawler => f.write_str("stormcrawler"),
        }
    }
}

impl FromStr for Policy {
    type Err = RecrawlError;

    /// Parses a name with all or none of its parameters.
    ///
    /// # Errors
    ///
    /// [`RecrawlError::Invalid`] for an invalid name. For an unknown policy the message lists all
    /// policies, otherwise it describes the parameters.
    fn from_str(text: &str) -> Result<Policy> {
        let (name, parameters) = match text.split_once(':') {
            Some((name, parameters)) => (name, Some(parameters)),
            None => (text, None),
        };
        let kind = match name {
            "value" => plain(PolicyKind::Index(PriorityIndex::Value), parameters),
            "crawl-value" => plain(PolicyKind::Index(PriorityIndex::CrawlValue), parameters),
            "harmonic" => plain(PolicyKind::Index(PriorityIndex::Harmonic), parameters),
            "uniform" => plain(PolicyKind::Uniform, parameters),
            "stormcrawler" => plain(PolicyKind::StormCrawler, parameters),
            "fixed" => parameters.and_then(|interval| interval.parse().ok()).map(PolicyKind::Fixed),
            "thesis" => of_thesis(parameters.unwrap_or("3,1.5")),
            "nutch" => of_nutch(parameters.unwrap_or(".4,.2,.3")),
            _ => {
                return Err(RecrawlError::Invalid(format!(
                    "there is no policy {text:?}; {POLICIES}"
                )));
            }
        };
        let wrong = || {
            RecrawlError::Invalid(format!("the policy {text:?} has wrong parameters; {POLICIES}"))
        };
        kind.map(Policy).ok_or_else(wrong)
    }
}

const POLICIES: &str = "the policies are value, crawl-value, harmonic, uniform, stormcrawler, fixed:7d (an \
     interval in s, m, h, d or w), thesis:3,1.5 (a run of 1 to 64, a factor above 1) and nutch:0.4,0.2,0.3 (the interval \
     grows by a share above 0, shrinks by a share below 1, and ends sooner by a share of at most \
     1)";

/// Returns the policy if there are no parameters.
fn plain(kind: PolicyKind, parameters: Option<&str>) -> Option<PolicyKind> {
    parameters.is_none().then_some(kind)
}

fn of_thesis(parameters: &str) -> Option<PolicyKind> {
    let (count, factor) = parameters.split_once(',')?;
    let (count, factor) = (count.parse().ok()?, number(factor)?);
    ((1..=64).contains(&count) && factor > 1.0 && factor <= 1000.0)
        .then_some(PolicyKind::Thesis { count, factor })
}

fn of_nutch(parameters: &str) -> Option<PolicyKind> {
    let (grow, others) = parameters.split_once(',')?;
    let (shrink, sync) = others.split_once(',')?;
    let (grow, shrink, sync) = (number(grow)?, number(shrink)?, number(sync)?);
    let taken = grow > 0.0 && grow <= 1000.0 && shrink > 0.0 && shrink < 1.0 && sync <= 1.0;
    taken.then_some(PolicyKind::Nutch { grow, shrink, sync })
}

/// Parses digits with an optional point: no sign and no exponent.
fn number(text: &str) -> Option<f64> {
    let plain = text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    text.parse().ok().filter(|_| plain)
}
