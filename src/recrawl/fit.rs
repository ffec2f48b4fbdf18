//! Learns a prior from the comparisons of many pages.

use std::f64::consts::LN_2;

use super::grid::{Grid, RATES, dot};
use super::likelihood::{Likelihood, relative};
use super::prior::Prior;
use super::real::{exp, ln};

/// The number of priors to try.
pub(super) const PRIORS: usize = MEDIANS * WIDTHS.len();

/// The number of medians to try, an octave apart.
pub(super) const MEDIANS: usize = 16;

/// The widths to try with each median.
pub(super) const WIDTHS: [f64; 4] = [0.5, 1.0, 1.5, 2.0];

/// The number of units of evidence in a nat. Evidence is counted in integers, because sums of
/// integers do not depend on the order of pages.
pub(super) const UNIT: f64 = 65_536.0;

/// The minimum evidence of a page, in units of [`UNIT`]. The minimum ensures that the sum over 2³²
/// pages does not overflow.
const LEAST: f64 = -2_147_483_648.0;

/// The minimum number of pages to learn from.
pub(super) const PAGES_MIN: u64 = 20;

/// Returns the logarithm of the median with a number: from 2⁻¹² to 8 changes a day.
pub(super) fn median(number: usize) -> f64 {
    (number as f64 - 12.0) * LN_2
}

/// Returns the prior with a number.
#[expect(clippy::indexing_slicing, reason = "a remainder is less than the divisor")]
fn prior(number: usize) -> Prior {
    let width = WIDTHS[number % WIDTHS.len()];
    Prior::of_log_normal(median(number / WIDTHS.len()), width)
}

/// The 64 log-normal priors to try: 16 medians, from one change in 11 years to eight changes a day,
/// with four widths each.
///
/// Create the priors once; they take 32 KiB.
///
/// ```
/// use simkeep::recrawl::{Change, Comparison, Fit, Likelihood, Prior, Priors};
/// # fn main() -> simkeep::Result<()> {
/// let (priors, mut fit) = (Priors::default(), Fit::default());
/// let unchanged = Likelihood::of(&[Comparison::new(30.0, Change::None)?; 12]);
/// (0..20).for_each(|_| fit.add(&priors.evidence(&unchanged)));
/// assert_ne!(fit.prior(&priors), Prior::default()); // learned from twenty pages
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct Priors {
    probability: Vec<Grid>,
}

impl Default for Priors {
    fn default() -> Priors {
        let probability = |number| prior(number).logarithms().map(exp);
        Priors { probability: (0..PRIORS).map(probability).collect() }
    }
}

/// The evidence of one page: for each of the 64 priors, the logarithm of the probability of the
/// page's comparisons.
///
/// ```
/// use simkeep::recrawl::{Change, Comparison, Fit, Likelihood, Priors};
/// # fn main() -> simkeep::Result<()> {
/// let (priors, mut fit) = (Priors::default(), Fit::default());
/// let page = priors.evidence(&Likelihood::of(&[Comparison::new(30.0, Change::Undated)?]));
/// fit.add(&page);
/// // The evidence of all other pages.
/// assert_eq!(fit.without(&page), Fit::default());
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Evidence([i64; PRIORS]);

impl Priors {
    /// Computes the evidence of a page. Takes some microseconds.
    pub fn evidence(&self, likelihood: &Likelihood) -> Evidence {
        // The likelihood is relative, so that nothing underflows. The factor is the same for all
        // priors, so it does not matter.
        let likelihood = relative(likelihood.logarithms());
        let mut evidence = [0; PRIORS];
        for (of_one, prior) in evidence.iter_mut().zip(&self.probability) {
            *of_one = in_units(dot(prior, &likelihood));
        }
        Evidence(evidence)
    }

    /// Returns the mixture of all priors, weighted by `shares`.
    pub(super) fn mixed(&self, shares: &[f64; PRIORS]) -> Prior {
        let mut mixed = [0.0; RATES];
        for (share, prior) in shares.iter().zip(&self.probability) {
            mixed.iter_mut().zip(prior).for_each(|(sum, one)| *sum += share * one);
        }
        Prior::of_probabilities(&mixed)
    }
}

/// The evidence of many pages: for each prior, the logarithm of the probability of all pages'
/// comparisons.
///
/// Computes Bayes' rule for a log-normal whose median and width lie on a grid. The sums are
/// integers, so the result depends neither on the order of pages nor on their partition. Takes 520
/// bytes.
///
/// ```
/// use simkeep::recrawl::{Change, Comparison, Fit, Likelihood, Prior, Priors};
/// # fn main() -> simkeep::Result<()> {
/// let (priors, mut fit) = (Priors::default(), Fit::default());
/// assert_eq!(fit.prior(&priors), Prior::default()); // nothing is known yet
/// let never = Likelihood::of(&[Comparison::new(90.0, Change::None)?; 4]);
/// let often = Likelihood::of(&[Comparison::new(90.0, Change::Undated)?; 4]);
/// for page in 0..100 {
///     fit.add(&priors.evidence(if page % 10 == 0 { &often } else { &never }));
/// }
/// assert_ne!(fit.prior(&priors), Prior::default());
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Fit {
    sums: [i64; PRIORS],
    pages: u64,
}

impl Default for Fit {
    fn default() -> Fit {
        Fit { sums: [0; PRIORS], pages: 0 }
    }
}

impl Fit {
    /// Adds a page with comparisons. Do not add pages without comparisons: they have no evidence.
    pub fn add(&mut self, page: &Evidence) {
        self.add_many(page, 1);
    }

    /// Adds `pages` pages with the same evidence.
    pub(crate) fn add_many(&mut self, page: &Evidence, pages: u32) {
        for (sum, of_page) in self.sums.iter_mut().zip(&page.0) {
            *sum = sum.saturating_add(of_page.saturating_mul(pages.into()));
        }
        self.pages += u64::from(pages);
    }

    /// Adds all pages of another fit.
    ///
    /// ```
    /// use simkeep::recrawl::{Change, Comparison, Fit, Likelihood, Priors};
    /// # fn main() -> simkeep::Result<()> {
    /// let priors = Priors::default();
    /// let page = priors.evidence(&Likelihood::of(&[Comparison::new(30.0, Change::None)?]));
    /// let (mut here, mut there) = (Fit::default(), Fit::default());
    /// here.add(&page);
    /// there.add(&page); // by another thread
    /// here.merge(&there);
    /// assert_eq!(here.pages(), 2);
    /// # Ok(())
    /// # }
    /// ```
    pub fn merge(&mut self, other: &Fit) {
        self.sums = both(&self.sums, &other.sums, i64::saturating_add);
        self.pages += other.pages;
    }

    /// Returns the evidence of all pages except a page that was added before.
    #[must_use]
    pub fn without(&self, page: &Evidence) -> Fit {
        // The sums are integers, so unless a sum was saturated, the result is exactly the sum of
        // the other pages.
        let sums = both(&self.sums, &page.0, i64::saturating_sub);
        Fit { sums, pages: self.pages.saturating_sub(1) }
    }

    /// Returns the number of pages.
    pub fn pages(&self) -> u64 {
        self.pages
    }

    /// Returns the mixture of the priors, weighted by their probability given the pages; the
    /// [default](Prior::default) for fewer than 20 pages. Takes some microseconds.
    ///
    /// ```
    /// use simkeep::recrawl::{Belief, Change, Comparison, Fit, Likelihood, Priors};
    /// # fn main() -> simkeep::Result<()> {
    /// let (priors, mut fit) = (Priors::default(), Fit::default());
    /// let rate = |fit: &Fit| Belief::new(&fit.prior(&priors), &Likelihood::flat()).rate().per_day;
    /// let before = rate(&fit);
    /// // Twenty pages never change.
    /// let unchanged = priors.evidence(&Likelihood::of(&[Comparison::new(90.0, Change::None)?; 4]));
    /// (0..20).for_each(|_| fit.add(&unchanged));
    /// assert!(rate(&fit) < before);
    /// # Ok(())
    /// # }
    /// ```
    pub fn prior(&self, priors: &Priors) -> Prior {
        if self.pages < PAGES_MIN {
            return Prior::default();
        }
        let shares = relative(&self.logarithms());
        let sum: f64 = shares.iter().sum();
        priors.mixed(&shares.map(|share| share / sum))
    }

    /// Returns the log-likelihood of each prior given the pages.
    pub(super) fn logarithms(&self) -> [f64; PRIORS] {
        self.sums.map(|sum| sum as f64 / UNIT)
    }
}

/// Converts a log-likelihood to units of evidence.
#[expect(clippy::cast_possible_truncation, reason = "from -2³¹ to about 0")]
pub(super) fn in_units(chance: f64) -> i64 {
    // `ln(0)` is minus infinity, which becomes `LEAST`, so a sum over 2^32 pages still fits.
    (ln(chance) * UNIT).round().max(LEAST) as i64
}

/// Applies a function to the numbers of each prior in two arrays.
fn both(a: &[i64; PRIORS], b: &[i64; PRIORS], of: fn(i64, i64) -> i64) -> [i64; PRIORS] {
    let mut made = *a;
    made.iter_mut().zip(b).for_each(|(a, b)| *a = of(*a, *b));
    made
}
