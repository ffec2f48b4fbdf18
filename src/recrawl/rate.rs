//! Point estimates of the change rate. A [`Belief`](super::Belief) also includes the uncertainty.

use super::check;
use super::comparison::{Change, Comparison};
use super::real::{exp_m1, ln, ln_1p};
use super::solve::crossing;
use crate::recrawl::error::{RecrawlError, Result};

/// Half comparisons added to the observed comparisons, so that an estimate is neither zero nor
/// infinite.
///
/// Half an unchanged comparison removes most of the bias, according to J. Cho and H. Garcia-Molina,
/// *Estimating frequency of change*, ACM TOIT 2003, for equal intervals.
///
/// ```
/// use simkeep::recrawl::{Pseudocounts, regular};
/// # fn main() -> simkeep::Result<()> {
/// // A page that changed in none of 10 intervals, and a page that changed in all.
/// assert_eq!(regular(10, 0, Pseudocounts::None)?, 0.0);
/// assert!(regular(10, 0, Pseudocounts::Both)? > 0.0);
/// assert_eq!(regular(10, 10, Pseudocounts::None)?, f64::INFINITY);
/// assert!(regular(10, 10, Pseudocounts::Unchanged)?.is_finite());
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum Pseudocounts {
    /// Adds nothing: the maximum-likelihood estimate.
    None,
    /// Adds half an unchanged comparison of the mean interval. Without this half comparison, the
    /// rate of a page that changed in each interval is infinite.
    Unchanged,
    /// Adds half a changed comparison as well as half an unchanged one, so that a page that never
    /// changed has a rate above zero, and is visited again.
    Both,
}

/// Estimates changes a day as observed changes over observed time: X/T.
///
/// The estimate is too low if a page can change more than once between visits, since several
/// changes between two visits count once.
///
/// ```
/// # fn main() -> simkeep::Result<()> {
/// assert_eq!(simkeep::recrawl::naive(3, 30.0)?, 0.1);
/// # Ok(())
/// # }
/// ```
///
/// # Errors
///
/// [`RecrawlError::Value`] if `days` is not from a millisecond to 4,000,000 days.
pub fn naive(changes: u32, days: f64) -> Result<f64> {
    Ok(f64::from(changes) / check::interval("days", days)?)
}

/// Estimates the changes per interval of a page that changed in `changes` of `comparisons` equal
/// intervals: -ln((n - X + ½)/(n + ½)) with [`Pseudocounts::Unchanged`] (Cho & Garcia-Molina 2003,
/// section 4.2).
///
/// With [`Pseudocounts::None`] the estimate is -ln(1 - X/n), infinite if all comparisons found a change.
/// With [`Pseudocounts::Both`] the estimate is -ln((n - X + ½)/(n + 1)). Divide the estimate by the
/// interval in days for changes a day.
///
/// ```
/// use simkeep::recrawl::{Pseudocounts, regular};
/// # fn main() -> simkeep::Result<()> {
/// assert!((regular(10, 3, Pseudocounts::Unchanged)? - 0.336472).abs() < 1e-6);
/// assert_eq!(regular(10, 10, Pseudocounts::None)?, f64::INFINITY);
/// # Ok(())
/// # }
/// ```
///
/// # Errors
///
/// [`RecrawlError::Value`] if there are no comparisons, or more changes than comparisons.
pub fn regular(comparisons: u32, changes: u32, halves: Pseudocounts) -> Result<f64> {
    if comparisons == 0 {
        return Err(NO_COMPARISONS);
    }
    if changes > comparisons {
        return Err(RecrawlError::Value {
            name: "changes",
            takes: "at most the number of comparisons",
        });
    }
    let (added, unchanged_added) = match halves {
        Pseudocounts::None => (0.0, 0.0),
        Pseudocounts::Unchanged => (0.5, 0.5),
        Pseudocounts::Both => (1.0, 0.5),
    };
    let unchanged = f64::from(comparisons - changes) + unchanged_added;
    let all = f64::from(comparisons) + added;
    Ok(ln(all / unchanged))
}

/// Estimates changes a day from comparisons at any intervals: the λ of maximum likelihood for a
/// Poisson process, with the half comparisons of the mean interval Ī that `halves` adds. λ is the
/// solution of
///
/// > E/λ + Σ<sub>changed</sub> I/(e^{λI} - 1) + ½ Ī/(e^{λĪ} - 1) = Σ<sub>unchanged</sub> I + ½ Ī
///
/// (Cho & Garcia-Molina 2003, section 5, without the halves). E is the number of dated changes. A
/// dated change adds the quiet time from the change to the visit on the right side. On the left
/// side it adds only its part of E/λ, because the density of a last change a time t ago is
/// λe^{-λt}. For equal intervals without dates, with the halves, the result equals [`regular`].
///
/// The left side falls as λ grows, so a bisection of ln λ takes 64 steps, each linear in the number
/// of comparisons. Without halves, a page that never changed has rate 0. The result is infinite for
/// a page that always changed, if no change has a date.
///
/// ```
/// use simkeep::recrawl::{Change, Comparison, Pseudocounts, irregular};
/// # fn main() -> simkeep::Result<()> {
/// let visits = [Comparison::new(1.0, Change::None)?, Comparison::new(2.0, Change::Undated)?];
/// assert!((irregular(&visits, Pseudocounts::None)? - 3f64.ln() / 2.0).abs() < 1e-12);
/// # Ok(())
/// # }
/// ```
///
/// # Errors
///
/// [`RecrawlError::Value`] if `comparisons` is empty.
pub fn irregular(comparisons: &[Comparison], halves: Pseudocounts) -> Result<f64> {
    let sums = ComparisonSums::of(comparisons);
    let mean = check::positive("comparisons", comparisons.len() as f64)
        .map(|count| comparisons.iter().map(|one| one.days()).sum::<f64>() / count)
        .map_err(|_| NO_COMPARISONS)?;
    let (on_the_left, on_the_right) = match halves {
        Pseudocounts::None => (0.0, 0.0),
        Pseudocounts::Unchanged => (0.0, 0.5),
        Pseudocounts::Both => (0.5, 0.5),
    };
    // Half an unchanged comparison only adds quiet time. Half a changed comparison also adds a term
    // on the left side.
    let quiet = sums.quiet + on_the_right * mean;
    if sums.dated == 0 && sums.undated == 0 && on_the_left == 0.0 {
        return Ok(0.0);
    }
    if quiet == 0.0 {
        return Ok(f64::INFINITY);
    }
    let expected = |rate: f64, days: f64| days / exp_m1(rate * days);
    Ok(crossing(|rate| {
        let undated = comparisons.iter().filter(|one| one.change() == Change::Undated);
        let undated: f64 = undated.map(|one| expected(rate, one.days())).sum();
        let half = if on_the_left > 0.0 { on_the_left * expected(rate, mean) } else { 0.0 };
        f64::from(sums.dated) / rate + undated + half > quiet
    }))
}

/// Estimates changes a day if the time of the last change before each visit is known, for example
/// from Last-Modified: X'/T. The correction X' = (X - 1) - X/(N ln(1 - X/N)) removes the bias of
/// few visits.
///
/// N is the number of visits, and X is the number of visits that found a change. T sums the times
/// since the last change. For a visit without a change, T includes the time since the previous
/// visit. X' is X - 1 if all visits found a change, and 0 if no visit found a change. From Cho &
/// Garcia-Molina 2003, section 6.
///
/// ```
/// use simkeep::recrawl::{Change, Comparison, last_modified};
/// # fn main() -> simkeep::Result<()> {
/// let changes = [Change::DaysAgo(2.0), Change::None, Change::DaysAgo(7.0), Change::None];
/// let visits: Result<Vec<_>, _> =
///     changes.into_iter().map(|change| Comparison::new(10.0, change)).collect();
/// assert!(last_modified(&visits?)? > 0.05);
/// # Ok(())
/// # }
/// ```
///
/// # Errors
///
/// [`RecrawlError::Value`] if `comparisons` is empty, and [`RecrawlError::Invalid`] if a change has
/// no date.
pub fn last_modified(comparisons: &[Comparison]) -> Result<f64> {
    let sums = ComparisonSums::of(comparisons);
    if comparisons.is_empty() {
        return Err(NO_COMPARISONS);
    }
    if sums.undated > 0 {
        return Err(RecrawlError::Invalid(
            "this estimate needs the time of each change, but a change has no time".to_owned(),
        ));
    }
    let (visits, changed) = (comparisons.len() as f64, f64::from(sums.dated));
    // The formula divides by ln(1 - X/N). The limits of the formula are 0 without changes and X - 1
    // if all visits found a change.
    let changes = if sums.dated == 0 {
        0.0
    } else if changed == visits {
        changed - 1.0
    } else {
        (changed - 1.0) - changed / (visits * ln_1p(-changed / visits))
    };
    match changes {
        0.0 => Ok(0.0),
        _ => Ok(changes / sums.quiet),
    }
}

const NO_COMPARISONS: RecrawlError =
    RecrawlError::Value { name: "comparisons", takes: "at least one" };

/// Sums over all comparisons, as input of the estimates.
#[derive(Default)]
struct ComparisonSums {
    /// The number of dated changes.
    dated: u32,
    /// The number of undated changes.
    undated: u32,
    /// The time without a change, in days: the sum of unchanged intervals and of times since dated
    /// changes.
    quiet: f64,
}

impl ComparisonSums {
    fn of(comparisons: &[Comparison]) -> ComparisonSums {
        let mut sums = ComparisonSums::default();
        for one in comparisons {
            match one.change() {
                Change::None => sums.quiet += one.days(),
                Change::Undated => sums.undated += 1,
                Change::DaysAgo(ago) => {
                    sums.dated += 1;
                    sums.quiet += ago;
                }
            }
        }
        sums
    }
}
