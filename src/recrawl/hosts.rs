//! How much the pages of a host have in common, and what to expect of one of them.

use std::array;

use super::class::Class;
use super::fit::{Fit, MEDIANS, PAGES_MIN, PRIORS, UNIT, WIDTHS, in_units, median};
use super::likelihood::relative;
use super::prior::Prior;
use super::real::exp;

/// How far hosts may differ from each other: widths of their medians. With the first one they hardly do.
const BETWEEN: [f64; 5] = [0.1, 0.7, 1.2, 1.8, 2.6];

/// All ways in which hosts are taken to differ: a middle, a width between hosts, one within them.
const WAYS: usize = MEDIANS * BETWEEN.len() * WIDTHS.len();

/// What is less likely than this is not looked at.
const NEGLIGIBLE: f64 = 1e-6;

/// The priors of the pages of hosts, learned from all of them.
///
/// The median rate of a host is log-normal, and the rates of its pages are so around it. How wide both
/// are, and where the middle is, is learned from the evidence of hosts: how far they differ, and how
/// far the pages of one do. Where hosts tell nothing of their pages the prior of a host is that of all
/// pages; where they do, it is between that and what its other pages show, by how many these are. This
/// is empirical Bayes with two levels: A. Gelman et al., *Bayesian data analysis*, chapter 5.
///
/// The prior of a host is a log-normal, to a quarter of an octave. So there are few, and what is worked
/// out of one serves many hosts. A tenth of it is the [default](Prior::default), since a page may be of
/// another kind than any that was learned from (J. O. Berger, *Statistical decision theory and Bayesian
/// analysis*, 4.7.4: ε-contamination).
///
/// ```
/// use simkeep::recrawl::{Belief, Change, Comparison, Fit, Hosts, Likelihood, Priors};
/// # fn main() -> simkeep::Result<()> {
/// let priors = Priors::default();
/// let never = Likelihood::of(&[Comparison::new(30.0, Change::None)?; 9]);
/// let often = Likelihood::of(&[Comparison::new(30.0, Change::Undated)?; 9]);
/// let mut hosts = vec![Fit::default(); 20];
/// for (number, host) in hosts.iter_mut().enumerate() {
///     let page = priors.evidence(if number % 4 == 0 { &often } else { &never });
///     (0..5).for_each(|_| host.add(&page));
/// }
/// let learned = Hosts::new(&hosts);
/// // What is believed of a page that was never compared goes by its host.
/// let rate = |host| Belief::new(&learned.prior(host), &Likelihood::flat()).rate();
/// assert!(rate(&hosts[0]).per_day > 10.0 * rate(&hosts[1]).per_day);
/// assert!(rate(&Fit::default()).low < rate(&hosts[1]).high); // of a host that is new
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct Hosts {
    /// The ways that are likely, and how likely they are.
    ways: Vec<(Way, f64)>,
    /// The logarithms of all medians.
    medians: [f64; MEDIANS],
}

/// One of the ways in which hosts may differ.
#[derive(Clone, Debug)]
struct Way {
    /// How likely each median is to be that of a host.
    medians: [f64; MEDIANS],
    /// The number of the width within hosts.
    within: usize,
}

impl Hosts {
    /// Learns from the evidence of hosts: of each, that of its pages that have comparisons.
    ///
    /// It takes some 10 µs for each host. A few thousand hosts are enough; which they are should not
    /// depend on their pages. With fewer than 20 pages in all, nothing is learned.
    pub fn new<'f>(hosts: impl IntoIterator<Item = &'f Fit>) -> Hosts {
        let medians = medians();
        let (mut sums, mut pages) = ([0_i64; WAYS], 0);
        for host in hosts.into_iter().filter(|host| host.pages() > 0) {
            let log = host.logarithms();
            let chances = relative(&log);
            for (sum, way) in sums.iter_mut().zip(ways(&medians)) {
                *sum = sum.saturating_add(in_units(way.chance(&chances)));
            }
            pages += host.pages();
        }
        let of_all = array::from_fn(median);
        if pages < PAGES_MIN {
            return Hosts { ways: Vec::new(), medians: of_all };
        }
        let shares = relative(&sums.map(|sum| sum as f64 / UNIT));
        let sum: f64 = shares.iter().sum();
        let likely = ways(&medians).zip(shares.map(|share| share / sum));
        let ways = likely.filter(|(_, share)| *share >= NEGLIGIBLE).collect();
        Hosts { ways, medians: of_all }
    }

    /// The prior of a page of this host, of whose pages this is the evidence. It takes some
    /// microseconds.
    ///
    /// That of the page itself is best [left out](Fit::without): it is in the likelihood that the prior
    /// is going to be multiplied with. For hosts of more than some ten pages that makes no difference.
    /// Without any evidence it is the prior of a page of a host that nothing is known of.
    pub fn prior(&self, host: &Fit) -> Prior {
        self.class(host).prior()
    }

    /// The log-normal with the mean and the deviation of what is to be expected of a host: how likely
    /// each way is, each median by it, and the width within hosts.
    pub(crate) fn class(&self, host: &Fit) -> Class {
        if self.ways.is_empty() {
            return Class::default();
        }
        let chances = relative(&host.logarithms());
        let (mut mean, mut square) = (0.0, 0.0);
        for (way, share) in &self.ways {
            let of_way = way.of_medians(&chances);
            let sum: f64 = of_way.iter().sum();
            // If no median of this way explains the pages, all its terms
            // are 0. Infinity times 0 would be NaN.
            let share = share / sum.max(f64::MIN_POSITIVE);
            let within = way.width() * way.width();
            for (chance, median) in of_way.into_iter().zip(&self.medians) {
                mean += share * chance * median;
                square += share * chance * (median * median + within);
            }
        }
        // The variance is at least that within hosts, 0.25, so rounding
        // cannot make the difference negative.
        Class::nearest(mean, (square - mean * mean).sqrt())
    }
}

impl Way {
    /// How likely each median is for a host, given how well the priors explain its pages; not
    /// normalised.
    fn of_medians(&self, chances: &[f64; PRIORS]) -> [f64; MEDIANS] {
        let mut of_medians = self.medians;
        // Priors are numbered by median and then by width, so one width is every fourth of them.
        let of_width = chances.iter().skip(self.within).step_by(WIDTHS.len());
        of_medians.iter_mut().zip(of_width).for_each(|(median, chance)| *median *= chance);
        of_medians
    }

    /// The width within hosts.
    #[expect(clippy::indexing_slicing, reason = "the number of one of them")]
    fn width(&self) -> f64 {
        WIDTHS[self.within]
    }

    /// How well it explains the pages of a host.
    fn chance(&self, chances: &[f64; PRIORS]) -> f64 {
        self.of_medians(chances).iter().sum()
    }
}

/// All ways.
fn ways(
    medians: &[[f64; MEDIANS]; MEDIANS * BETWEEN.len()],
) -> impl Iterator<Item = Way> + use<'_> {
    let within = 0..WIDTHS.len();
    medians.iter().flat_map(move |medians| {
        within.clone().map(move |within| Way { medians: *medians, within })
    })
}

/// How likely each median is, for each middle and each width between hosts.
#[expect(clippy::indexing_slicing, reason = "a rest is less than what it is of")]
fn medians() -> [[f64; MEDIANS]; MEDIANS * BETWEEN.len()] {
    array::from_fn(|number| {
        let middle = median(number / BETWEEN.len());
        let width = BETWEEN[number % BETWEEN.len()];
        let chance = |at| {
            let off: f64 = (median(at) - middle) / width;
            exp(-off * off / 2.0)
        };
        let chances: [f64; MEDIANS] = array::from_fn(chance);
        let sum: f64 = chances.iter().sum();
        chances.map(|chance| chance / sum)
    })
}
