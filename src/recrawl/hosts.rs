//! Learns how similar the pages of a host are, and derives a prior for each host.

use std::array;

use super::class::PriorClass;
use super::fit::{Fit, MEDIANS, PAGES_MIN, PRIORS, UNIT, WIDTHS, in_units, median};
use super::likelihood::relative;
use super::prior::Prior;
use super::real::exp;

/// The widths to try for the distribution of hosts' medians. With the first width, hosts hardly
/// differ.
const BETWEEN: [f64; 5] = [0.1, 0.7, 1.2, 1.8, 2.6];

/// The number of models to try. A model has a middle, a width between hosts, and a width within
/// hosts.
const MODELS: usize = MEDIANS * BETWEEN.len() * WIDTHS.len();

/// The minimum probability of a model. Less likely models are dropped.
const NEGLIGIBLE: f64 = 1e-6;

/// The priors of the pages of hosts, learned from the evidence of all hosts.
///
/// The median rate of a host is log-normal, and the rates of the host's pages are log-normal around
/// this median. The two widths and the middle are learned from the evidence of hosts. If hosts do
/// not differ, the prior of a host is the prior of all pages. If hosts differ, the prior of a host
/// lies between the prior of all pages and the evidence of the host's other pages, depending on
/// their number. This method is empirical Bayes with two levels: A. Gelman et al., *Bayesian data
/// analysis*, chapter 5.
///
/// The prior of a host is a log-normal, rounded to a quarter of an octave, so that results for one
/// prior serve many hosts. A tenth of the prior is the [default](Prior::default), since a page may
/// differ from all pages that the prior was learned from (J. O. Berger, *Statistical decision
/// theory and Bayesian analysis*, 4.7.4: ε-contamination).
///
/// ```
/// use simkeep::recrawl::{Belief, Change, Comparison, Fit, HostPriors, Likelihood, Priors};
/// # fn main() -> simkeep::Result<()> {
/// let priors = Priors::default();
/// let never = Likelihood::of(&[Comparison::new(30.0, Change::None)?; 9]);
/// let often = Likelihood::of(&[Comparison::new(30.0, Change::Undated)?; 9]);
/// let mut hosts = vec![Fit::default(); 20];
/// for (number, host) in hosts.iter_mut().enumerate() {
///     let page = priors.evidence(if number % 4 == 0 { &often } else { &never });
///     (0..5).for_each(|_| host.add(&page));
/// }
/// let learned = HostPriors::new(&hosts);
/// // What is believed of a page that was never compared goes by its host.
/// let rate = |host| Belief::new(&learned.prior(host), &Likelihood::flat()).rate();
/// assert!(rate(&hosts[0]).per_day > 10.0 * rate(&hosts[1]).per_day);
/// assert!(rate(&Fit::default()).low < rate(&hosts[1]).high); // of a host that is new
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct HostPriors {
    /// The likely models with their probabilities.
    models: Vec<(HostModel, f64)>,
    /// The logarithms of all medians to try.
    medians: [f64; MEDIANS],
}

/// A model of the differences between hosts.
#[derive(Clone, Debug)]
struct HostModel {
    /// The probability of each median for a host.
    medians: [f64; MEDIANS],
    /// The index of the width within hosts.
    within: usize,
}

impl HostPriors {
    /// Learns from the evidence of hosts. The evidence of a host is the evidence of its pages with
    /// comparisons.
    ///
    /// Takes some 10 µs for each host. A few thousand hosts are enough; select the hosts
    /// independently of their pages. With fewer than 20 pages in total, nothing is learned.
    ///
    /// ```
    /// use simkeep::recrawl::{Fit, HostPriors, Prior, Priors};
    /// # fn main() -> simkeep::Result<()> {
    /// let nothing = HostPriors::new(&[Fit::default()]);
    /// assert_eq!(nothing.prior(&Fit::default()), Prior::default()); // too few pages
    /// # Ok(())
    /// # }
    /// ```
    pub fn new<'f>(hosts: impl IntoIterator<Item = &'f Fit>) -> HostPriors {
        let medians = medians();
        let (mut sums, mut pages) = ([0_i64; MODELS], 0);
        for host in hosts.into_iter().filter(|host| host.pages() > 0) {
            let log = host.logarithms();
            let chances = relative(&log);
            for (sum, way) in sums.iter_mut().zip(models(&medians)) {
                *sum = sum.saturating_add(in_units(way.chance(&chances)));
            }
            pages += host.pages();
        }
        let of_all = array::from_fn(median);
        if pages < PAGES_MIN {
            return HostPriors { models: Vec::new(), medians: of_all };
        }
        let shares = relative(&sums.map(|sum| sum as f64 / UNIT));
        let sum: f64 = shares.iter().sum();
        let likely = models(&medians).zip(shares.map(|share| share / sum));
        let ways = likely.filter(|(_, share)| *share >= NEGLIGIBLE).collect();
        HostPriors { models: ways, medians: of_all }
    }

    /// Returns the prior of a page of a host, given the evidence of the host's pages. Takes some
    /// microseconds.
    ///
    /// [Leave out](Fit::without) the evidence of the page itself, because the prior is multiplied
    /// by the page's likelihood, which includes this evidence. For hosts with more than about ten
    /// pages the difference is negligible. Without any evidence, the result is the prior of a page
    /// of an unknown host.
    ///
    /// ```
    /// use simkeep::recrawl::{Belief, Change, Comparison, Fit, HostPriors, Likelihood, Priors};
    /// # fn main() -> simkeep::Result<()> {
    /// let priors = Priors::default();
    /// let page = |change| -> simkeep::Result<_> {
    ///     Ok(priors.evidence(&Likelihood::of(&[Comparison::new(30.0, change)?; 9])))
    /// };
    /// let (mut docs, mut news) = (Fit::default(), Fit::default());
    /// for _ in 0..20 {
    ///     docs.add(&page(Change::None)?);
    ///     news.add(&page(Change::Undated)?);
    /// }
    /// let hosts = HostPriors::new([&docs, &news]);
    /// let rate = |host| Belief::new(&hosts.prior(host), &Likelihood::flat()).rate().per_day;
    /// assert!(rate(&docs) < rate(&news));
    /// # Ok(())
    /// # }
    /// ```
    pub fn prior(&self, host: &Fit) -> Prior {
        self.class(host).prior()
    }

    /// Returns the nearest class to the prediction for a host. The prediction has the mean and the
    /// deviation over all models, medians and rates within the host.
    pub(crate) fn class(&self, host: &Fit) -> PriorClass {
        if self.models.is_empty() {
            return PriorClass::default();
        }
        let chances = relative(&host.logarithms());
        let (mut mean, mut square) = (0.0, 0.0);
        for (way, share) in &self.models {
            let of_way = way.of_medians(&chances);
            let sum: f64 = of_way.iter().sum();
            // If no median of this model explains the pages, all its terms are 0. Infinity times 0
            // would be NaN.
            let share = share / sum.max(f64::MIN_POSITIVE);
            let within = way.width() * way.width();
            for (chance, median) in of_way.into_iter().zip(&self.medians) {
                mean += share * chance * median;
                square += share * chance * (median * median + within);
            }
        }
        // The variance is at least the variance within hosts, 0.25, so rounding cannot make the
        // difference negative.
        PriorClass::nearest(mean, (square - mean * mean).sqrt())
    }
}

impl HostModel {
    /// Returns the unnormalized probability of each median for a host, given the likelihoods of the
    /// priors for its pages.
    fn of_medians(&self, chances: &[f64; PRIORS]) -> [f64; MEDIANS] {
        let mut of_medians = self.medians;
        // Priors are numbered by median and then by width, so every fourth prior has the same
        // width.
        let of_width = chances.iter().skip(self.within).step_by(WIDTHS.len());
        of_medians.iter_mut().zip(of_width).for_each(|(median, chance)| *median *= chance);
        of_medians
    }

    /// Returns the width within hosts.
    #[expect(clippy::indexing_slicing, reason = "the number of one of them")]
    fn width(&self) -> f64 {
        WIDTHS[self.within]
    }

    /// Returns the likelihood of a host's pages.
    fn chance(&self, chances: &[f64; PRIORS]) -> f64 {
        self.of_medians(chances).iter().sum()
    }
}

/// Returns all models.
fn models(
    medians: &[[f64; MEDIANS]; MEDIANS * BETWEEN.len()],
) -> impl Iterator<Item = HostModel> + use<'_> {
    let within = 0..WIDTHS.len();
    medians.iter().flat_map(move |medians| {
        within.clone().map(move |within| HostModel { medians: *medians, within })
    })
}

/// Returns the probability of each median, for each combination of a middle and a width between
/// hosts.
#[expect(clippy::indexing_slicing, reason = "a remainder is less than the divisor")]
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
