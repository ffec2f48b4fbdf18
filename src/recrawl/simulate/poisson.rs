//! Pages whose changes follow the Poisson model, with random rates.

use super::page::{Comparisons, SimulatedPage, VersionDifference};
use super::random::Random;
use crate::recrawl::check;
use crate::recrawl::error::{RecrawlError, Result};
use crate::recrawl::optimum::KnownPage;
use crate::recrawl::real::{exp, ln};

/// The distribution from which the rates of pages are drawn, in changes a day.
///
/// ```
/// use simkeep::recrawl::simulate::{Rates, SimulatedPage};
/// # fn main() -> simkeep::Result<()> {
/// let rates = Rates::ByHost { hosts: 5, pages: 4, median: 0.1, between: 2.0, within: 0.5 };
/// let pages = rates.draw(1, 30.0)?;
/// assert_eq!(pages.len(), 20);
/// assert_eq!(pages[0].host(), pages[1].host());
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Rates {
    /// The rate of each page is log-uniform between the least and the largest rate.
    Flat {
        /// The number of pages.
        pages: u32,
    },
    /// The rates of pages are log-normal around the rate of their host, and the rates of hosts are
    /// log-normal, too. All rates are clamped between the least and the largest rate.
    ByHost {
        /// The number of hosts.
        hosts: u32,
        /// The number of pages of each host.
        pages: u32,
        /// The median rate of the hosts.
        median: f64,
        /// The width of the distribution of hosts, in ln λ.
        between: f64,
        /// The width of the distribution of pages around the rate of their host.
        within: f64,
    },
}

/// The least rate: one change in 400 days.
const LEAST: f64 = 0.0025;

/// The largest rate: one change in about eight hours.
const LARGEST: f64 = 3.2;

/// The maximum expected number of changes of all pages. Each change takes 8 bytes.
const CHANGES_MAX: f64 = 1e8;

/// A page whose changes are a Poisson process. Each change makes a content that is far from all
/// other contents: half of the 64 bits differ, as between two unrelated pages.
///
/// ```
/// use simkeep::recrawl::simulate::{PoissonPage, Rates, SimulatedPage};
/// # fn main() -> simkeep::Result<()> {
/// let pages: Vec<PoissonPage> = Rates::Flat { pages: 2 }.draw(1, 100.0)?;
/// for page in &pages {
///     println!("{:.3} changes a day, {} in 100 days", page.rate(), page.starts().len() - 1);
/// }
/// // The same seed draws the same pages.
/// let again = Rates::Flat { pages: 2 }.draw(1, 100.0)?;
/// assert_eq!(pages[0].starts(), again[0].starts());
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct PoissonPage {
    host: u32,
    per_day: f64,
    starts: Vec<f64>,
}

impl Rates {
    /// Draws pages with their changes up to a day. The same seed draws the same pages on every
    /// machine.
    ///
    /// The pages take 8 bytes for each change.
    ///
    /// ```
    /// use simkeep::recrawl::simulate::{SimulatedPage, Rates};
    /// # fn main() -> simkeep::Result<()> {
    /// let pages = Rates::Flat { pages: 3 }.draw(1, 100.0)?;
    /// assert!(pages.iter().all(|page| (0.0025..=3.2).contains(&page.rate())));
    /// assert_eq!(pages[0].starts()[0], 0.0);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// [`RecrawlError::Value`] if there are no pages, a rate or a width is not positive and finite,
    /// or more than 100 million changes are expected.
    pub fn draw(&self, seed: u64, days: f64) -> Result<Vec<PoissonPage>> {
        let days = check::interval("days", days)?;
        let rates = self.rates(seed)?;
        if rates.iter().map(|(_, rate)| rate * days).sum::<f64>() > CHANGES_MAX {
            return Err(RecrawlError::Value {
                name: "days",
                takes: "smaller for this number of pages, because more than 100 million changes are \
                     expected",
            });
        }
        let page = |(number, (host, per_day)): (usize, (u32, f64))| {
            let mut random = Random::new(seed, 1 + number as u64);
            let (mut starts, mut day) = (vec![0.0], 0.0);
            loop {
                day += random.exponential() / per_day;
                if day > days {
                    return PoissonPage { host, per_day, starts };
                }
                starts.push(day);
            }
        };
        Ok(rates.into_iter().enumerate().map(page).collect())
    }

    /// Returns the host and the rate of each page.
    fn rates(&self, seed: u64) -> Result<Vec<(u32, f64)>> {
        const PAGES: RecrawlError =
            RecrawlError::Value { name: "pages", takes: "from 1 to 10,000,000" };
        let mut random = Random::new(seed, 0);
        let mut rates = Vec::new();
        match *self {
            Rates::Flat { pages: pages @ 1..=10_000_000 } => {
                let octaves = (ln(LEAST), ln(LARGEST));
                for _ in 0..pages {
                    rates.push((0, exp(random.uniform(octaves.0, octaves.1))));
                }
            }
            Rates::ByHost { hosts, pages, median, between, within } => {
                let median = ln(check::positive("median", median)?);
                check::positive("between", between)?;
                check::positive("within", within)?;
                if !(1..=10_000_000).contains(&(u64::from(hosts) * u64::from(pages))) {
                    return Err(PAGES);
                }
                for host in 0..hosts {
                    let middle = median + between * random.normal();
                    for _ in 0..pages {
                        let rate = exp(middle + within * random.normal());
                        rates.push((host, rate.clamp(LEAST, LARGEST)));
                    }
                }
            }
            Rates::Flat { .. } => return Err(PAGES),
        }
        Ok(rates)
    }
}

impl PoissonPage {
    /// Returns the page's change rate a day.
    pub fn rate(&self) -> f64 {
        self.per_day
    }

    /// Returns the page as an input of the [optimum](crate::recrawl::fixed_intervals) functions.
    ///
    /// ```
    /// use simkeep::recrawl::fixed_intervals;
    /// use simkeep::recrawl::simulate::Rates;
    /// # fn main() -> simkeep::Result<()> {
    /// let pages = Rates::Flat { pages: 10 }.draw(1, 100.0)?;
    /// let known: Result<Vec<_>, _> = pages.iter().map(|page| page.known()).collect();
    /// assert!(fixed_intervals(&known?, 5.0)?.freshness > 0.0); // the limit for any policy
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// No errors: drawn rates are in the valid range.
    pub fn known(&self) -> Result<KnownPage> {
        KnownPage::new(self.per_day, 1.0)
    }
}

impl SimulatedPage for PoissonPage {
    type VisitNotes = Comparisons;

    fn host(&self) -> u32 {
        self.host
    }

    fn per_day(&self) -> Option<f64> {
        Some(self.per_day)
    }

    fn starts(&self) -> &[f64] {
        &self.starts
    }

    fn difference(&self, held: usize, now: usize) -> VersionDifference {
        let same = held == now;
        VersionDifference { same, near: same, divergence: if same { 0.0 } else { 0.5 } }
    }

    fn changes(&self, version: usize) -> u64 {
        version as u64
    }

    fn found(&self, day: f64, version: usize) -> Comparisons {
        Comparisons::new(day, version)
    }

    fn visited(&self, notes: &mut Comparisons, day: f64, version: usize) -> Result<()> {
        notes.add(day, version)
    }
}
