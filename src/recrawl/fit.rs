//! Learning a prior from the comparisons of many pages.

use std::f64::consts::LN_2;

use super::grid::{Grid, RATES};
use super::likelihood::{Likelihood, relative};
use super::prior::Prior;
use super::real::{exp, ln};

/// How many priors are tried.
const PRIORS: usize = 64;

/// The widths that are tried, each with 16 medians.
const WIDTHS: [f64; 4] = [0.5, 1.0, 1.5, 2.5];

/// Units of a nat in which evidence is summed. Sums of integers do not depend on the order of pages.
const UNIT: f64 = 65_536.0;

/// The least evidence of a page, in those units: 2³² pages of it fit in a sum.
const LEAST: f64 = -2_147_483_648.0;

/// With fewer pages than this, nothing is learned.
const PAGES_MIN: u64 = 20;

/// The one of this number: its median is from 2⁻¹² to 8 changes a day, in octaves.
fn prior(number: usize) -> Prior {
    let centre = ((number / WIDTHS.len()) as f64 - 12.0) * LN_2;
    let width = WIDTHS.get(number % WIDTHS.len()).copied().unwrap_or(1.0);
    Prior::of_log_normal(centre, width)
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
        let likelihood = relative(likelihood.logarithms());
        let mut evidence = [0; PRIORS];
        for (of_one, prior) in evidence.iter_mut().zip(&self.probability) {
            let chance: f64 = prior.iter().zip(likelihood).map(|(p, l)| p * l).sum();
            *of_one = in_units(chance);
        }
        Evidence(evidence)
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
/// assert_eq!(fit.prior(), Prior::default()); // nothing is known yet
/// let never = Likelihood::of(&[Comparison::new(90.0, Change::None)?; 4]);
/// let often = Likelihood::of(&[Comparison::new(90.0, Change::Undated)?; 4]);
/// for page in 0..100 {
///     fit.add(&priors.evidence(if page % 10 == 0 { &often } else { &never }));
/// }
/// assert_ne!(fit.prior(), Prior::default());
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
        self.sums = both(&self.sums, &page.0, i64::saturating_add);
        self.pages += 1;
    }

    /// Adds all pages of another one.
    pub fn merge(&mut self, other: &Fit) {
        self.sums = both(&self.sums, &other.sums, i64::saturating_add);
        self.pages += other.pages;
    }

    /// The priors, each as likely as it explains the pages well, mixed; of fewer than 20 pages the
    /// [default](Prior::default).
    pub fn prior(&self) -> Prior {
        if self.pages < PAGES_MIN {
            return Prior::default();
        }
        mixed(&shares(&self.sums, &[0.0; PRIORS]))
    }
}

/// Whether the pages of a host have a prior of their own: only if it explains them better than that of
/// all pages does, each page judged without itself.
///
/// A host of few pages, or of pages that differ like any others, would otherwise be believed to be what
/// its pages happened to look like. All pages of the host go into a [`Fit`] first, and then by
/// [`judge`](Trial::judge) in any order.
#[derive(Clone, Debug)]
pub struct Trial {
    host: Fit,
    /// How likely each prior is that of a host, before its pages tell more, as logarithms: as the
    /// median of it is likely to be the rate of a page. Without that, a host whose pages changed at
    /// each visit would be taken for as fast as can be.
    of_hosts: [f64; PRIORS],
    /// How likely each prior is that of all pages.
    of_all: [f64; PRIORS],
    /// Whether there are enough pages in all.
    learned: bool,
    /// By how much the prior of the host explains its pages better.
    gain: i64,
}

impl Trial {
    /// A trial of the prior of a host against that of all pages, those of the host included.
    pub fn new(host: &Fit, all: &Fit) -> Trial {
        let prior = all.prior();
        let mut of_hosts = [0.0; PRIORS];
        for (number, of_host) in of_hosts.iter_mut().enumerate() {
            // Medians are rates of the grid: octaves from the 16th half octave on.
            let median = prior.logarithms().get(16 + number / WIDTHS.len() * 2);
            *of_host = median.copied().unwrap_or(0.0);
        }
        Trial {
            host: host.clone(),
            of_hosts,
            of_all: shares(&all.sums, &[0.0; PRIORS]),
            learned: all.pages >= PAGES_MIN,
            gain: 0,
        }
    }

    /// Judges one page of the host: by the prior that the other ones have, and by that of all.
    pub fn judge(&mut self, page: &Evidence) {
        let others = both(&self.host.sums, &page.0, i64::saturating_sub);
        let by_host = explained(&shares(&others, &self.of_hosts), page);
        self.gain = self.gain.saturating_add(by_host - explained(&self.of_all, page));
    }

    /// The prior of the host, if it has one of its own. Of fewer than 20 pages in all none has.
    pub fn prior(&self) -> Option<Prior> {
        let own = self.learned && self.host.pages > 1 && self.gain > 0;
        own.then(|| mixed(&shares(&self.host.sums, &self.of_hosts)))
    }
}

/// How likely each prior is by its evidence, and by what was thought of it before, as logarithms. They
/// add up to one.
fn shares(sums: &[i64; PRIORS], before: &[f64; PRIORS]) -> [f64; PRIORS] {
    let mut log = *before;
    log.iter_mut().zip(sums).for_each(|(log, sum)| *log += *sum as f64 / UNIT);
    let share = relative(&log);
    let sum: f64 = share.iter().sum();
    share.map(|share| share / sum)
}

/// The priors, each with its share.
fn mixed(shares: &[f64; PRIORS]) -> Prior {
    let mut mixed = [0.0; RATES];
    for (number, share) in shares.iter().enumerate() {
        let probability = prior(number).logarithms().map(exp);
        mixed.iter_mut().zip(probability).for_each(|(sum, one)| *sum += share * one);
    }
    Prior::of_probabilities(&mixed)
}

/// How well priors with these shares explain a page, in units of evidence.
fn explained(shares: &[f64; PRIORS], page: &Evidence) -> i64 {
    let chance = shares.iter().zip(page.0).map(|(share, log)| share * exp(log as f64 / UNIT)).sum();
    in_units(chance)
}

/// The logarithm of a chance, in units of evidence.
#[expect(clippy::cast_possible_truncation, reason = "from -2³¹ to about 0")]
fn in_units(chance: f64) -> i64 {
    (ln(chance) * UNIT).round().max(LEAST) as i64
}

/// What a function makes of the figures for each prior.
fn both(a: &[i64; PRIORS], b: &[i64; PRIORS], of: fn(i64, i64) -> i64) -> [i64; PRIORS] {
    let mut made = *a;
    made.iter_mut().zip(b).for_each(|(a, b)| *a = of(*a, *b));
    made
}
