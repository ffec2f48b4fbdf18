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
/// 2003: at the optimum, w times the [crawl value](fn@super::value) is equal at each visit of all
/// visited pages. Pages whose w/λ is at most this value are never visited. A page with an interval
/// I is fresh for a fraction of (1 - e^{-λI})/λI of the time. Takes some 4,000 exponentials for
/// each page.
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
    let visits = |page: &KnownPage, threshold: f64| {
        let share = threshold / page.worth_at_most();
        // r is the expected number of changes between two visits, with 1 - (1 + r)e^{-r} = Λλ/w.
        if share >= 1.0 { 0.0 } else { page.per_day / crossing(|r| two_or_more(r) < share) }
    };
    let fresh =
        |page: &KnownPage, visits: f64| -exp_m1(-page.per_day / visits) * visits / page.per_day;
    spend(pages, visits_per_day, visits, fresh)
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
    let (threshold, next) = around(|threshold| at(threshold) > budget);
    // Between two neighbouring thresholds, the visits to a page may fall steeply to zero.
    // Interpolation assigns the rest of the budget to such a page.
    let (more, less) = (at(threshold), at(next));
    let part = if more > less { (budget - less) / (more - less) } else { 1.0 };
    let between = |page| {
        let (more, less) = (visits(page, threshold), visits(page, next));
        less + part * (more - less)
    };
    let visits_per_day: Vec<f64> = pages.iter().map(between).collect();
    Ok(Optimum { freshness: average(pages, &visits_per_day, fresh), visits_per_day, threshold })
}

/// Returns the weighted average freshness of all pages. Unvisited pages are not fresh.
fn average(pages: &[KnownPage], visits: &[f64], fresh: impl Fn(&KnownPage, f64) -> f64) -> f64 {
    let weights: f64 = pages.iter().map(|page| page.weight).sum();
    let visited = pages.iter().zip(visits).filter(|(_, visits)| **visits > 0.0);
    visited.map(|(page, visits)| page.weight * fresh(page, *visits)).sum::<f64>() / weights
}
