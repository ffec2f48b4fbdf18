//! Learning a prior from the comparisons of many pages.

use std::f64::consts::LN_2;

use super::grid::{Grid, RATES, dot};
use super::likelihood::{Likelihood, relative};
use super::prior::Prior;
use super::real::{exp, ln};

/// How many priors are tried.
pub(super) const PRIORS: usize = MEDIANS * WIDTHS.len();

/// How many medians are tried, an octave apart.
pub(super) const MEDIANS: usize = 16;

/// The widths that are tried with each of them.
pub(super) const WIDTHS: [f64; 4] = [0.5, 1.0, 1.5, 2.0];

/// Units of a nat in which evidence is summed. Sums of integers do not depend on the order of pages.
pub(super) const UNIT: f64 = 65_536.0;

/// The least evidence of a page, in those units: 2³² pages of it fit in a sum.
const LEAST: f64 = -2_147_483_648.0;

/// With fewer pages than this, nothing is learned.
pub(super) const PAGES_MIN: u64 = 20;

/// The logarithm of the median of this number: from 2⁻¹² to 8 changes a day.
pub(super) fn median(number: usize) -> f64 {
    (number as f64 - 12.0) * LN_2
}

/// The prior of this number.
#[expect(clippy::indexing_slicing, reason = "a rest is less than what it is of")]
fn prior(number: usize) -> Prior {
    let width = WIDTHS[number % WIDTHS.len()];
    Prior::of_log_normal(median(number / WIDTHS.len()), width)
}

/// The 64 log-normal priors that are tried: 16 medians, from a change in 11 years to eight a day, and
/// four widths each.
///
/// Made once, in 32 KiB.
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

/// How well each of the 64 priors explains the comparisons of one page: the logarithm of the chance that
/// they come out as they did.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Evidence([i64; PRIORS]);

impl Priors {
    /// The evidence of a page. It takes some microseconds.
    pub fn evidence(&self, likelihood: &Likelihood) -> Evidence {
        // Relative, so that nothing underflows. The factor is the same
        // for all priors, so it does not matter.
        let likelihood = relative(likelihood.logarithms());
        let mut evidence = [0; PRIORS];
        for (of_one, prior) in evidence.iter_mut().zip(&self.probability) {
            *of_one = in_units(dot(prior, &likelihood));
        }
        Evidence(evidence)
    }

    /// All of them, each with its share.
    pub(super) fn mixed(&self, shares: &[f64; PRIORS]) -> Prior {
        let mut mixed = [0.0; RATES];
        for (share, prior) in shares.iter().zip(&self.probability) {
            mixed.iter_mut().zip(prior).for_each(|(sum, one)| *sum += share * one);
        }
        Prior::of_probabilities(&mixed)
    }
}

/// The evidence of many pages: which priors explain all of them well.
///
/// Bayes once more, for a log-normal whose median and width are of a mesh. In integers, so that
/// neither the order of the pages shows nor how they were divided. 520 bytes.
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
    /// Adds a page that has comparisons; one without says nothing, and is not to be counted.
    pub fn add(&mut self, page: &Evidence) {
        self.add_many(page, 1);
    }

    /// Adds so many pages that have the same evidence.
    pub(crate) fn add_many(&mut self, page: &Evidence, pages: u32) {
        for (sum, of_page) in self.sums.iter_mut().zip(&page.0) {
            *sum = sum.saturating_add(of_page.saturating_mul(pages.into()));
        }
        self.pages += u64::from(pages);
    }

    /// Adds all pages of another one.
    pub fn merge(&mut self, other: &Fit) {
        self.sums = both(&self.sums, &other.sums, i64::saturating_add);
        self.pages += other.pages;
    }

    /// The evidence without a page that is in it.
    #[must_use]
    pub fn without(&self, page: &Evidence) -> Fit {
        // Integers: unless a sum was saturated, this is exactly the sum of the other pages.
        let sums = both(&self.sums, &page.0, i64::saturating_sub);
        Fit { sums, pages: self.pages.saturating_sub(1) }
    }

    /// How many pages there are.
    pub fn pages(&self) -> u64 {
        self.pages
    }

    /// The priors, each as likely as it explains the pages well, mixed; of fewer than 20 pages the
    /// [default](Prior::default). It takes some microseconds.
    pub fn prior(&self, priors: &Priors) -> Prior {
        if self.pages < PAGES_MIN {
            return Prior::default();
        }
        let shares = relative(&self.logarithms());
        let sum: f64 = shares.iter().sum();
        priors.mixed(&shares.map(|share| share / sum))
    }

    /// How well each prior explains the pages: the logarithms of the chances.
    pub(super) fn logarithms(&self) -> [f64; PRIORS] {
        self.sums.map(|sum| sum as f64 / UNIT)
    }
}

/// The logarithm of a chance, in units of evidence.
#[expect(clippy::cast_possible_truncation, reason = "from -2³¹ to about 0")]
pub(super) fn in_units(chance: f64) -> i64 {
    // `ln(0)` is minus infinity, which becomes `LEAST`: a sum over 2^32 pages still fits.
    (ln(chance) * UNIT).round().max(LEAST) as i64
}

/// What a function makes of the figures for each prior.
fn both(a: &[i64; PRIORS], b: &[i64; PRIORS], of: fn(i64, i64) -> i64) -> [i64; PRIORS] {
    let mut made = *a;
    made.iter_mut().zip(b).for_each(|(a, b)| *a = of(*a, *b));
    made
}
