//! The optimal use of a budget for pages with known rates.

use super::check;
use super::real::{exp_m1, two_or_more};
use super::solve::{around, crossing};
use crate::recrawl::error::{RecrawlError, Result};

/// A page with a known rate.
///
/// ```
/// use simkeep::recrawl::{KnownPage, fixed_intervals};
/// # fn main() -> simkeep::Result<()> {
/// // Two pages that change every ten days; the second one is more important.
/// let pages = [KnownPage::new(0.1, 1.0)?, KnownPage::new(0.1, 4.0)?];
/// let best = fixed_intervals(&pages, 0.5)?;
/// assert!(best.visits_per_day[0] < best.visits_per_day[1]);
/// assert!(KnownPage::new(0.0, 1.0).is_err()); // a page that never changes needs no visit
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct KnownPage {
    per_day: f64,
    weight: f64,
}

impl KnownPage {
    /// Creates a page with a rate, in changes a day, and a weight.
    ///
    /// # Errors
    ///
    /// [`RecrawlError::Value`] if the rate or the weight is not from 1e-100 to 1e100.
    pub fn new(per_day: f64, weight: f64) -> Result<KnownPage> {
        let per_day = check::moderate("per_day", per_day)?;
        Ok(KnownPage { per_day, weight: check::moderate("weight", weight)? })
    }

    /// Returns w/λ, the upper bound of the crawl value: the key of Azar's order.
    fn worth_at_most(self) -> f64 {
        self.weight / self.per_day
    }
}

/// The optimal use of a budget, from [`fixed_intervals`], [`random_times`] or [`few_misses`].
///
/// ```
/// use simkeep::recrawl::{KnownPage, fixed_intervals};
/// # fn main() -> simkeep::Result<()> {
/// let pages = [KnownPage::new(0.1, 1.0)?, KnownPage::new(0.2, 1.0)?];
/// let best = fixed_intervals(&pages, 1.0)?;
/// assert!((best.visits_per_day.iter().sum::<f64>() - 1.0).abs() < 1e-6);
/// assert!(best.freshness > fixed_intervals(&pages, 0.5)?.freshness); // with half of the visits
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Optimum {
    /// The visits a day of each page, in input order. The visits of all pages add up to the budget.
    pub visits_per_day: Vec<f64>,
    /// The marginal value of a visit a day, Λ: equal for all visited pages, in days.
    pub threshold: f64,
    /// The fraction of time that a page is fresh, averaged over the pages by weight, from 0 to 1.
    pub freshness: f64,
}

/// Maximizes freshness with visits at fixed intervals, which no policy with known rates exceeds.
///
/// By J. Cho and H. Garcia-Molina, *Effective page refresh policies for web crawlers*, ACM TODS
/// 2003: at the optimum, w times the [crawl value](super::PriorityIndex::CrawlValue) is equal at
/// each visit of all visited pages. Pages whose w/λ is at most this value are never visited. A page
/// with an interval I is fresh for a fraction of (1 - e^{-λI})/λI of the time. Takes some 4,000
/// exponentials for each page.
///
/// ```
/// use simkeep::recrawl::{KnownPage, fixed_intervals};
/// # fn main() -> simkeep::Result<()> {
/// let pages = [KnownPage::new(0.1, 1.0)?, KnownPage::new(1.0, 1.0)?, KnownPage::new(10.0, 1.0)?];
/// let best = fixed_intervals(&pages, 1.0)?;
/// assert_eq!(best.visits_per_day[2], 0.0); // it changes too often to be kept fresh
/// assert!((best.freshness - 0.460924).abs() < 1e-6);
/// # Ok(())
/// # }
/// ```
///
/// # Errors
///
/// [`RecrawlError::Value`] if there are no pages, or `visits_per_day` is not from 1e-100 to 1e100.
pub fn fixed_intervals(pages: &[KnownPage], visits_per_day: f64) -> Result<Optimum> {
    spend(pages, visits_per_day, visits_at, fresh_at)
}

/// Maximizes freshness with visits at random times.
///
/// By Y. Azar et al., *Tractable near-optimal policies for crawling*, PNAS 2018, in closed form. In
/// the order of w/λ, pages get √(wλ/Λ) - λ visits a day while this number is positive, with 1/√Λ =
/// (R + Σλ)/Σ√(wλ) for a total of R visits a day. A page with ρ visits a day is fresh for a
/// fraction of ρ/(ρ + λ) of the time. Sorts the pages.
///
/// ```
/// use simkeep::recrawl::{KnownPage, fixed_intervals, random_times};
/// # fn main() -> simkeep::Result<()> {
/// let pages = [KnownPage::new(0.1, 1.0)?, KnownPage::new(1.0, 1.0)?];
/// let (random, fixed) = (random_times(&pages, 1.0)?, fixed_intervals(&pages, 1.0)?);
/// assert!(random.freshness < fixed.freshness); // fixed intervals are better
/// # Ok(())
/// # }
/// ```
///
/// # Errors
///
/// [`RecrawlError::Value`] if there are no pages, or `visits_per_day` is not from 1e-100 to 1e100.
pub fn random_times(pages: &[KnownPage], visits_per_day: f64) -> Result<Optimum> {
    let budget = checked(pages, visits_per_day)?;
    let mut order = pages.to_vec();
    order.sort_by(|a, b| b.worth_at_most().total_cmp(&a.worth_at_most()));
    let (mut changes, mut roots, mut factor) = (budget, 0.0, f64::INFINITY);
    for page in order {
        let root = (page.weight * page.per_day).sqrt();
        // The visits to the page would not be positive at the current threshold. Pages are in the
        // order of w/λ, so this page and all later pages get no visits.
        if root * factor <= page.per_day {
            break;
        }
        changes += page.per_day;
        roots += root;
        factor = changes / roots;
    }
    let visits = |page: &KnownPage| {
        let more = (page.weight * page.per_day).sqrt() * factor - page.per_day;
        more.max(0.0)
    };
    let visits_per_day: Vec<f64> = pages.iter().map(visits).collect();
    let threshold = 1.0 / (factor * factor);
    Ok(Optimum { freshness: average(pages, &visits_per_day, at_random), visits_per_day, threshold })
}

/// Minimizes the penalty for missed changes with visits at random times. Each further missed change
/// counts less than the previous missed change: the penalty is Σ w ln(1 + λ/ρ). Every page gets
/// visits.
///
/// By A. Kolobov et al., *Staying up to date with online content changes using reinforcement
/// learning for scheduling*, NeurIPS 2019 (LambdaCrawl): ρ = (-λ + √(λ² + 4wλ/Λ))/2 visits a day,
/// with the Λ for which the visits add up to the budget. Takes 64 square roots for each page.
///
/// ```
/// use simkeep::recrawl::{KnownPage, few_misses, random_times};
/// # fn main() -> simkeep::Result<()> {
/// // The second page changes too often to be kept fresh.
/// let pages = [KnownPage::new(0.1, 1.0)?, KnownPage::new(100.0, 1.0)?];
/// assert_eq!(random_times(&pages, 0.5)?.visits_per_day[1], 0.0);
/// assert!(few_misses(&pages, 0.5)?.visits_per_day[1] > 0.0); // still visited
/// # Ok(())
/// # }
/// ```
///
/// # Errors
///
/// [`RecrawlError::Value`] if there are no pages, or `visits_per_day` is not from 1e-100 to 1e100.
pub fn few_misses(pages: &[KnownPage], visits_per_day: f64) -> Result<Optimum> {
    let visits = |page: &KnownPage, threshold: f64| {
        let (rate, ratio) = (page.per_day, 4.0 * page.weight / threshold / page.per_day);
        // The formula subtracts two numbers that are nearly equal if the ratio is small. This form
        // avoids the subtraction.
        rate * (ratio / 2.0) / (1.0 + (1.0 + ratio).sqrt())
    };
    spend(pages, visits_per_day, visits, at_random)
}

/// The pages of a host with known rates, and the limit of the host.
///
/// ```
/// use simkeep::recrawl::{KnownHost, KnownPage};
/// # fn main() -> simkeep::Result<()> {
/// let pages = vec![KnownPage::new(0.1, 1.0)?, KnownPage::new(0.5, 1.0)?];
/// let host = KnownHost { pages, visits_per_day: Some(0.2) }; // at most a visit in five days
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct KnownHost {
    /// The pages of the host.
    pub pages: Vec<KnownPage>,
    /// The largest number of visits a day; `None` without a limit.
    pub visits_per_day: Option<f64>,
}

/// The optimal use of a budget if some hosts have limits, from [`limited_intervals`].
#[derive(Clone, Debug, PartialEq)]
pub struct LimitedOptimum {
    /// The visits a day of each page, for each host in input order. The visits of all pages add up to
    /// the budget, or to less if all hosts have limits that add up to less.
    pub visits_per_day: Vec<Vec<f64>>,
    /// The price of each host: the marginal value of a visit a day to the host, in days. Equal to
    /// `threshold` for hosts whose limit is not reached, and larger for the others.
    pub prices: Vec<f64>,
    /// The marginal value of a visit a day to a host whose limit is not reached, in days; 0 if the
    /// limits of all hosts are reached.
    pub threshold: f64,
    /// The fraction of time that a page is fresh, averaged over the pages by weight, from 0 to 1.
    pub freshness: f64,
}

/// Maximizes freshness with visits at fixed intervals, as [`fixed_intervals`], if some hosts have a
/// limit of visits a day.
///
/// A host has a price of its own if its limit is reached: the threshold at which its pages take exactly
/// the limit. Each page is visited when its crawl value reaches the price of its host or the common
/// threshold, whichever is larger. A visit a day more to the host gains the difference of the two. Takes
/// some 4,000 exponentials for each page, and twice as many for pages of hosts with a limit.
///
/// ```
/// use simkeep::recrawl::{KnownHost, KnownPage, limited_intervals};
/// # fn main() -> simkeep::Result<()> {
/// let host = |visits_per_day| -> simkeep::Result<KnownHost> {
///     Ok(KnownHost { pages: vec![KnownPage::new(0.1, 1.0)?], visits_per_day })
/// };
/// let best = limited_intervals(&[host(Some(0.05))?, host(None)?], 0.3)?;
/// // The second host gets the visits that the first one does not allow.
/// assert!((best.visits_per_day[0][0] - 0.05).abs() < 1e-6);
/// assert!((best.visits_per_day[1][0] - 0.25).abs() < 1e-6);
/// assert!(best.prices[0] > best.threshold && best.prices[1] == best.threshold);
/// # Ok(())
/// # }
/// ```
///
/// # Errors
///
/// [`RecrawlError::Value`] if there are no pages, or if `visits_per_day` or a limit is not from 1e-100
/// to 1e100.
pub fn limited_intervals(hosts: &[KnownHost], visits_per_day: f64) -> Result<LimitedOptimum> {
    let all: Vec<KnownPage> = hosts.iter().flat_map(|host| host.pages.iter().copied()).collect();
    let budget = checked(&all, visits_per_day)?;
    let hosts: Vec<PricedHost<'_>> = hosts.iter().map(PricedHost::new).collect::<Result<_>>()?;
    let taken = |threshold: f64| {
        let pages = hosts.iter().flat_map(|host| host.visits(threshold));
        pages.sum::<f64>()
    };
    // If all limits are reached, there are no more visits at the least threshold.
    let (threshold, at) = if taken(f64::MIN_POSITIVE) <= budget {
        (0.0, Crossing { above: f64::MIN_POSITIVE, below: f64::MIN_POSITIVE, part: 0.0 })
    } else {
        let at = Crossing::of(&taken, budget);
        (at.above, at)
    };
    let visits = |host: &PricedHost<'_>| -> Vec<f64> {
        host.visits(at.above).zip(host.visits(at.below)).map(|ends| at.between(ends)).collect()
    };
    let visits_per_day: Vec<Vec<f64>> = hosts.iter().map(visits).collect();
    let prices = hosts.iter().map(|host| host.price().max(threshold)).collect();
    let freshness = average(&all, &visits_per_day.concat(), fresh_at);
    Ok(LimitedOptimum { visits_per_day, prices, threshold, freshness })
}

/// A host, and the threshold at which its pages take its limit.
struct PricedHost<'h> {
    pages: &'h [KnownPage],
    limit: Option<Crossing>,
}

impl<'h> PricedHost<'h> {
    fn new(host: &'h KnownHost) -> Result<PricedHost<'h>> {
        let taken =
            |threshold: f64| host.pages.iter().map(|page| visits_at(page, threshold)).sum::<f64>();
        let limit = match host.visits_per_day {
            Some(limit) => {
                let limit = check::moderate("visits_per_day of a host", limit)?;
                Some(Crossing::of(&taken, limit))
            }
            None => None,
        };
        Ok(PricedHost { pages: &host.pages, limit })
    }

    /// Returns the threshold at which the limit is reached; 0 without a limit.
    fn price(&self) -> f64 {
        self.limit.map_or(0.0, |limit| limit.above)
    }

    /// Returns the visits a day of each page at a common threshold.
    fn visits(&self, threshold: f64) -> impl Iterator<Item = f64> {
        // Below its price the host takes its limit, whatever the threshold.
        let limit = self.limit.filter(|limit| threshold < limit.below);
        self.pages.iter().map(move |page| match limit {
            Some(at) => at.between((visits_at(page, at.above), visits_at(page, at.below))),
            None => visits_at(page, threshold),
        })
    }
}

/// Two neighbouring thresholds: at one, pages take more visits than a given number, at the other not.
#[derive(Clone, Copy)]
struct Crossing {
    /// The largest threshold that takes more.
    above: f64,
    /// The least threshold that does not.
    below: f64,
    /// Where the number lies between the visits at the two, from 0 for `below` to 1.
    part: f64,
}

impl Crossing {
    /// Finds the thresholds around a number of visits. `taken` returns the visits at a threshold, and
    /// falls with the threshold.
    fn of(taken: &impl Fn(f64) -> f64, visits: f64) -> Crossing {
        let (above, below) = around(|threshold| taken(threshold) > visits);
        let (more, less) = (taken(above), taken(below));
        let part = if more > less { (visits - less) / (more - less) } else { 1.0 };
        Crossing { above, below, part }
    }

    /// Interpolates the visits of a page, given those at the two thresholds. Between two neighbouring
    /// thresholds, the visits to a page may fall steeply to zero, so the rest of the visits goes to
    /// this page.
    fn between(&self, (more, less): (f64, f64)) -> f64 {
        less + self.part * (more - less)
    }
}

/// Returns the visits a day of a page that is visited when its crawl value reaches a threshold.
fn visits_at(page: &KnownPage, threshold: f64) -> f64 {
    let share = threshold / page.worth_at_most();
    // r is the expected number of changes between two visits, with 1 - (1 + r)e^{-r} = Λλ/w.
    if share >= 1.0 { 0.0 } else { page.per_day / crossing(|r| two_or_more(r) < share) }
}

/// Returns the freshness of a page that is visited at fixed intervals.
fn fresh_at(page: &KnownPage, visits: f64) -> f64 {
    -exp_m1(-page.per_day / visits) * visits / page.per_day
}

/// Returns the freshness of a page that is visited at random times.
fn at_random(page: &KnownPage, visits: f64) -> f64 {
    visits / (visits + page.per_day)
}

fn checked(pages: &[KnownPage], visits_per_day: f64) -> Result<f64> {
    if pages.is_empty() {
        return Err(RecrawlError::Value { name: "pages", takes: "at least one" });
    }
    check::moderate("visits_per_day", visits_per_day)
}

/// Finds the threshold at which the visits add up to the budget. `visits` returns the visits to a
/// page at a threshold, and falls with the threshold.
fn spend(
    pages: &[KnownPage],
    visits_per_day: f64,
    visits: impl Fn(&KnownPage, f64) -> f64,
    fresh: impl Fn(&KnownPage, f64) -> f64,
) -> Result<Optimum> {
    let budget = checked(pages, visits_per_day)?;
    let at = |threshold: f64| pages.iter().map(|page| visits(page, threshold)).sum::<f64>();
    let crossing = Crossing::of(&at, budget);
    let between =
        |page| crossing.between((visits(page, crossing.above), visits(page, crossing.below)));
    let visits_per_day: Vec<f64> = pages.iter().map(between).collect();
    let freshness = average(pages, &visits_per_day, fresh);
    Ok(Optimum { freshness, visits_per_day, threshold: crossing.above })
}

/// Returns the weighted average freshness of all pages. Unvisited pages are not fresh.
fn average(pages: &[KnownPage], visits: &[f64], fresh: impl Fn(&KnownPage, f64) -> f64) -> f64 {
    let weights: f64 = pages.iter().map(|page| page.weight).sum();
    let visited = pages.iter().zip(visits).filter(|(_, visits)| **visits > 0.0);
    visited.map(|(page, visits)| page.weight * fresh(page, *visits)).sum::<f64>() / weights
}
