//! Distributions of the change rates of random pages.

use super::process::ChangeProcess;
use super::random::Random;
use super::random_page::RandomPage;
use crate::recrawl::check;
use crate::recrawl::error::{RecrawlError, Result};
use crate::recrawl::real::{exp, ln};

/// The distribution from which the rates of pages are drawn, in changes a day.
///
/// ```
/// use simkeep::recrawl::simulate::{ChangeProcess, Rates, SimulatedPage};
/// # fn main() -> simkeep::Result<()> {
/// let rates = Rates::ByHost { hosts: 5, pages: 4, median: 0.1, between: 2.0, within: 0.5 };
/// let pages = rates.draw(ChangeProcess::Constant, 1, 30.0)?;
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
    /// All pages have the same rate.
    Equal {
        /// The number of hosts.
        hosts: u32,
        /// The number of pages of each host.
        pages: u32,
        /// The rate of each page.
        per_day: f64,
    },
}

/// The least rate: one change in 400 days.
const LEAST: f64 = 0.0025;

/// The largest rate: one change in about eight hours.
const LARGEST: f64 = 3.2;

/// The allowed numbers of pages.
const PAGES_RANGE: std::ops::RangeInclusive<u64> = 1..=10_000_000;

/// The maximum expected number of changes of all pages. Each change takes 8 bytes.
const CHANGES_MAX: f64 = 1e8;

impl Rates {
    /// Draws pages with their changes up to a day. The same seed draws the same pages on every
    /// machine.
    ///
    /// The pages take 8 bytes for each change.
    ///
    /// ```
    /// use simkeep::recrawl::simulate::{ChangeProcess, Rates, SimulatedPage};
    /// # fn main() -> simkeep::Result<()> {
    /// let pages = Rates::Flat { pages: 3 }.draw(ChangeProcess::Constant, 1, 100.0)?;
    /// assert!(pages.iter().all(|page| (0.0025..=3.2).contains(&page.per_day().unwrap())));
    /// assert_eq!(pages[0].starts()[0], 0.0);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// [`RecrawlError::Value`] if there are no pages, if a rate, a width or a number of the process
    /// is not positive and finite, or if more than 100 million changes are expected.
    pub fn draw(&self, process: ChangeProcess, seed: u64, days: f64) -> Result<Vec<RandomPage>> {
        let days = check::interval("days", days)?;
        let process = process.checked()?;
        let mut rates = self.rates(Random::new(seed, 0))?;
        if process == ChangeProcess::HostAtOnce {
            // The pages of a host are contiguous, and change at the rate of the first of them.
            for host in rates.chunk_by_mut(|(a, _), (b, _)| a == b) {
                if let [(_, first), others @ ..] = host {
                    others.iter_mut().for_each(|(_, rate)| *rate = *first);
                }
            }
        }
        // The rates of the second half of the time, which differ for one process.
        let later = match process {
            ChangeProcess::Switching => self.rates(Random::new(seed, u64::MAX))?,
            _ => rates.clone(),
        };
        let both = rates.iter().chain(&later);
        if both.map(|(_, rate)| rate * days / 2.0).sum::<f64>() > CHANGES_MAX {
            return Err(RecrawlError::Value {
                name: "days",
                takes: "smaller for this number of pages, because more than 100 million changes are \
                     expected",
            });
        }
        let page = |(number, ((host, own), (_, later)))| {
            let starts = process.starts(seed, (number, host), [own, later], days);
            RandomPage::drawn(host, process.constant_rate(own), starts)
        };
        Ok(rates.into_iter().zip(later).enumerate().map(page).collect())
    }

    /// Returns the host and the rate of each page.
    fn rates(&self, mut random: Random) -> Result<Vec<(u32, f64)>> {
        const PAGES: RecrawlError =
            RecrawlError::Value { name: "pages", takes: "from 1 to 10,000,000" };
        let count = |hosts: u32, pages: u32| u64::from(hosts) * u64::from(pages);
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
                if !PAGES_RANGE.contains(&count(hosts, pages)) {
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
            Rates::Equal { hosts, pages, per_day } => {
                let per_day = check::moderate("per_day", per_day)?;
                if !PAGES_RANGE.contains(&count(hosts, pages)) {
                    return Err(PAGES);
                }
                let pages = |host| (0..pages).map(move |_| (host, per_day));
                rates.extend((0..hosts).flat_map(pages));
            }
            Rates::Flat { .. } => return Err(PAGES),
        }
        Ok(rates)
    }
}
