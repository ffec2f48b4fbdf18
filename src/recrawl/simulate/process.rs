//! Random processes that make the changes of a page.

use super::random::Random;
use crate::recrawl::check;
use crate::recrawl::error::{RecrawlError, Result};

/// The random process that makes the changes of a page at its rate.
///
/// Policies assume a constant rate. The other processes show what happens if this assumption is
/// wrong.
///
/// ```
/// use simkeep::recrawl::simulate::{ChangeProcess, Rates, SimulatedPage};
/// # fn main() -> simkeep::Result<()> {
/// let rates = Rates::Equal { hosts: 1, pages: 10, per_day: 1.0 };
/// let pages = rates.draw(ChangeProcess::Settling { days: 40.0 }, 1, 400.0)?;
/// for page in pages {
///     let days = page.starts();
///     assert!(days[days.len() - 1] - days[0] <= 40.0);
/// }
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum ChangeProcess {
    /// A Poisson process: a change is equally likely at any time.
    Constant,
    /// A page appears on a random day, changes as a Poisson process for some days, and never
    /// changes again.
    Settling {
        /// The number of days for which a page changes.
        days: f64,
    },
    /// After half of the time, each page gets a second random rate.
    Switching,
    /// Changes come in bursts. The bursts are a Poisson process, and the changes of a burst are
    /// equally likely at any time of the burst.
    Bursts {
        /// The number of changes in a burst, from 1 to 10,000.
        changes: u32,
        /// The days of a burst.
        days: f64,
    },
    /// All changes are made in office hours: eight hours on each of the first five days of the week.
    Weekdays,
    /// The pages of a host change together, at the rate of the host's first page: each page at a
    /// random time of the following 24 hours.
    HostAtOnce,
}

/// The largest number of changes in a burst.
const BURST_MAX: u32 = 10_000;

/// The office hours of a day, and of a week of seven days, in days.
const OFFICE_DAY: f64 = 8.0 / 24.0;
const OFFICE_WEEK: f64 = 5.0 * OFFICE_DAY;
/// The beginning of the office hours, as a fraction of the day.
const OFFICE_OPENS: f64 = 9.0 / 24.0;

impl ChangeProcess {
    /// Checks the numbers of the process.
    pub(super) fn checked(self) -> Result<ChangeProcess> {
        match self {
            ChangeProcess::Settling { days } => check::interval("days", days).map(drop)?,
            ChangeProcess::Bursts { changes, days } => {
                if !(1..=BURST_MAX).contains(&changes) {
                    return Err(RecrawlError::Value { name: "changes", takes: "from 1 to 10,000" });
                }
                check::interval("days", days)?;
            }
            ChangeProcess::Constant
            | ChangeProcess::Switching
            | ChangeProcess::Weekdays
            | ChangeProcess::HostAtOnce => {}
        }
        Ok(self)
    }

    /// Returns the rate of a page if the process has a constant rate.
    pub(super) fn constant_rate(self, per_day: f64) -> Option<f64> {
        (self == ChangeProcess::Constant).then_some(per_day)
    }

    /// Draws the days on which the versions of a page begin. The page has a number and a host, and
    /// rates for the first and the second half of the time. The simulation ends after `days` days.
    pub(super) fn starts(
        self,
        seed: u64,
        (number, host): (usize, u32),
        [per_day, later]: [f64; 2],
        days: f64,
    ) -> Vec<f64> {
        let mut random = Random::new(seed, 1 + number as u64);
        let first = match self {
            ChangeProcess::Settling { .. } => random.uniform(0.0, days),
            _ => 0.0,
        };
        let mut starts = vec![first];
        match self {
            ChangeProcess::Constant => starts.extend(poisson(&mut random, per_day, days)),
            ChangeProcess::Settling { days: lively } => {
                let changes = poisson(&mut random, per_day, lively).map(|day| first + day);
                starts.extend(changes.filter(|day| *day <= days));
            }
            ChangeProcess::Switching => {
                let half = days / 2.0;
                starts.extend(poisson(&mut random, per_day, half));
                starts.extend(poisson(&mut random, later, half).map(|day| half + day));
            }
            ChangeProcess::Bursts { changes, days: length } => {
                let begins: Vec<f64> =
                    poisson(&mut random, per_day / f64::from(changes), days).collect();
                for begin in begins {
                    starts.extend((0..changes).map(|_| begin + random.uniform(0.0, length)));
                }
            }
            ChangeProcess::Weekdays => {
                // The clock of the process runs in office hours only, and runs faster.
                let speed = 7.0 / OFFICE_WEEK;
                let worked = days / speed + OFFICE_WEEK;
                starts.extend(poisson(&mut random, per_day * speed, worked).map(office_time));
            }
            ChangeProcess::HostAtOnce => {
                // All pages of a host draw the same days from the stream of the host.
                let mut of_host = Random::new(!seed, host.into());
                let together = poisson(&mut of_host, per_day, days);
                starts.extend(together.map(|day| day + random.uniform(0.0, 1.0)));
            }
        }
        starts.retain(|day| *day <= days);
        starts.sort_unstable_by(f64::total_cmp);
        starts
    }
}

/// Returns the times of a Poisson process up to a day.
fn poisson(random: &mut Random, per_day: f64, days: f64) -> impl Iterator<Item = f64> {
    let mut day = 0.0;
    std::iter::from_fn(move || {
        day += random.exponential() / per_day;
        (day <= days).then_some(day)
    })
}

/// Returns the day on which the office hours since the start add up to `worked` days.
fn office_time(worked: f64) -> f64 {
    let weeks = (worked / OFFICE_WEEK).floor();
    let in_week = worked - weeks * OFFICE_WEEK;
    let day = (in_week / OFFICE_DAY).floor();
    7.0 * weeks + day + OFFICE_OPENS + (in_week - day * OFFICE_DAY)
}
