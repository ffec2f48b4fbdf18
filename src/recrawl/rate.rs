//! How often a page changes, as one number. A [`Belief`](super::Belief) says how sure that is, too.

use super::check;
use super::comparison::{Change, Comparison};
use super::real::{exp_m1, ln, ln_1p};
use super::solve::crossing;
use crate::recrawl::error::{RecrawlError, Result};

/// Half comparisons that are added to those that were made, so that an estimate is neither zero nor
/// infinite.
///
/// Half an unchanged one takes most of the bias away: by J. Cho and H. Garcia-Molina, *Estimating
/// frequency of change*, ACM TOIT 2003, which has it for intervals that are equal.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum Halves {
    /// Nothing is added. This is the estimate of maximum likelihood.
    None,
    /// Half an unchanged comparison of the mean interval. Without it, the rate of a page that changed in
    /// each interval is infinite.
    Unchanged,
    /// Half a changed one as well, so that a page that never changed has a rate above zero, and is
    /// visited again.
    Both,
}

/// Changes seen, over the time in which they were seen: X/T, in changes a day.
///
/// This is too low where a page may change more than once between visits, since that counts once.
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
/// [`RecrawlError::Value`] if `days` are not from a millisecond to 4,000,000.
pub fn naive(changes: u32, days: f64) -> Result<f64> {
    Ok(f64::from(changes) / check::interval("days", days)?)
}

/// The changes in an interval, of a page that changed in `changes` of `comparisons` equal intervals:
/// -ln((n - X + ½)/(n + ½)) with [`Halves::Unchanged`] (Cho & Garcia-Molina 2003, section 4.2).
///
/// With [`Halves::None`] it is -ln(1 - X/n), infinite if all changed, and with [`Halves::Both`]
/// -ln((n - X + ½)/(n + 1)). Divide by the interval in days to have changes a day.
///
/// ```
/// use simkeep::recrawl::{Halves, regular};
/// # fn main() -> simkeep::Result<()> {
/// assert!((regular(10, 3, Halves::Unchanged)? - 0.336472).abs() < 1e-6);
/// assert_eq!(regular(10, 10, Halves::None)?, f64::INFINITY);
/// # Ok(())
/// # }
/// ```
///
/// # Errors
///
/// [`RecrawlError::Value`] if there are no comparisons, or more changes than comparisons.
pub fn regular(comparisons: u32, changes: u32, halves: Halves) -> Result<f64> {
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
        Halves::None => (0.0, 0.0),
        Halves::Unchanged => (0.5, 0.5),
        Halves::Both => (1.0, 0.5),
    };
    let unchanged = f64::from(comparisons - changes) + unchanged_added;
    let all = f64::from(comparisons) + added;
    Ok(ln(all / unchanged))
}

/// Changes a day, from comparisons at any intervals: the λ of the greatest likelihood of changes by a
/// Poisson process, with the halves of the mean interval Ī added that `halves` says. It solves
///
/// > E/λ + Σ<sub>changed</sub> I/(e^{λI} - 1) + ½ Ī/(e^{λĪ} - 1) = Σ<sub>unchanged</sub> I + ½ Ī
///
/// (Cho & Garcia-Molina 2003, section 5, without the halves). Of changes whose time is known there are
/// E. Each has its quiet time, from the change to the visit, on the right, and nothing on the left
/// but its part of E/λ: the chance of a last change so long ago is λe^{-λt}. With equal intervals, no
/// dates, and the halves, it is what [`regular`] gives.
///
/// The left side only falls in λ, so a bisection of ln λ finds it in 64 steps, each of which takes time
/// in proportion to the comparisons. Without halves, a page that never changed has rate 0, and one that
/// always changed without a date has none that is finite: the answer is then infinite.
///
/// ```
/// use simkeep::recrawl::{Change, Comparison, Halves, irregular};
/// # fn main() -> simkeep::Result<()> {
/// let visits = [Comparison::new(1.0, Change::None)?, Comparison::new(2.0, Change::Undated)?];
/// assert!((irregular(&visits, Halves::None)? - 3f64.ln() / 2.0).abs() < 1e-12);
/// # Ok(())
/// # }
/// ```
///
/// # Errors
///
/// [`RecrawlError::Value`] if there is no comparison.
pub fn irregular(comparisons: &[Comparison], halves: Halves) -> Result<f64> {
    let sums = Sums::of(comparisons);
    let mean = check::positive("comparisons", comparisons.len() as f64)
        .map(|count| comparisons.iter().map(|one| one.days()).sum::<f64>() / count)
        .map_err(|_| NO_COMPARISONS)?;
    let (on_the_left, on_the_right) = match halves {
        Halves::None => (0.0, 0.0),
        Halves::Unchanged => (0.0, 0.5),
        Halves::Both => (0.5, 0.5),
    };
    // Half an unchanged comparison is quiet time only. Half a
    // changed one is a term on the left as well.
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

/// Changes a day, where the time of the last change before each visit is known, as by Last-Modified:
/// X'/T, with X' = (X - 1) - X/(N ln(1 - X/N)), which takes the bias away that few visits have.
///
/// N are the visits and X those that found a change. T is the sum of the times since that change, or,
/// where there was none, since the visit before. X' is X - 1 if all found one, and 0 if none did. From
/// Cho & Garcia-Molina 2003, section 6.
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
/// [`RecrawlError::Value`] if there is no comparison, and [`RecrawlError::Invalid`] if a change has no
/// date.
pub fn last_modified(comparisons: &[Comparison]) -> Result<f64> {
    let sums = Sums::of(comparisons);
    if comparisons.is_empty() {
        return Err(NO_COMPARISONS);
    }
    if sums.undated > 0 {
        return Err(RecrawlError::Invalid(
            "a rate by times of changes takes no change without a time".to_owned(),
        ));
    }
    let (visits, changed) = (comparisons.len() as f64, f64::from(sums.dated));
    // The formula divides by ln(1 - X/N). Its limits are 0 without changes and X - 1 where all changed.
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

/// What the estimates need of all comparisons.
#[derive(Default)]
struct Sums {
    /// How many changes have a date.
    dated: u32,
    /// How many have none.
    undated: u32,
    /// The time in which nothing changed, in days: of unchanged intervals, and since dated changes.
    quiet: f64,
}

impl Sums {
    fn of(comparisons: &[Comparison]) -> Sums {
        let mut sums = Sums::default();
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
