//! The length of a simulation and its visits.

use crate::recrawl::check;
use crate::recrawl::error::{RecrawlError, Result};
use crate::recrawl::interval::Interval;

/// The days of a simulation, in steps.
///
/// ```
/// use simkeep::recrawl::simulate::Span;
/// # fn main() -> simkeep::Result<()> {
/// // 200 days in steps of 6 hours; the crawler learns for 50 days.
/// let span = Span::new(0.25, 50.0, 200.0)?;
/// assert_eq!((span.steps(), span.from(), span.to()), (800, 50.0, 200.0));
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Span {
    step_days: f64,
    from: f64,
    to: f64,
}

/// The maximum number of steps.
const STEPS_MAX: f64 = 1e6;

impl Span {
    /// Creates a simulation from day 0 to day `to`, in steps of `step_days`. Measurement starts on
    /// day `from`, so that the crawler can learn before.
    ///
    /// # Errors
    ///
    /// [`RecrawlError::Value`] if `step_days` is not positive, or if there are more than a million
    /// steps; or if the measured time is shorter than a step.
    pub fn new(step_days: f64, from: f64, to: f64) -> Result<Span> {
        let step_days = check::interval("step_days", step_days)?;
        let to = check::interval("to", to)?;
        let from = check::since("from", from)?;
        if to / step_days > STEPS_MAX {
            return Err(RecrawlError::Value {
                name: "step_days",
                takes: "large enough for at most a million steps",
            });
        }
        if from + step_days > to {
            return Err(RecrawlError::Value {
                name: "from",
                takes: "at least one step before the end",
            });
        }
        Ok(Span { step_days, from, to })
    }

    /// Returns the days of a step.
    pub fn step_days(self) -> f64 {
        self.step_days
    }

    /// Returns the day on which measurement starts.
    pub fn from(self) -> f64 {
        self.from
    }

    /// Returns the last day.
    pub fn to(self) -> f64 {
        self.to
    }

    /// Returns the number of steps.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "at most a million"
    )]
    pub fn steps(self) -> u32 {
        (self.to / self.step_days).ceil() as u32
    }

    /// Returns the day of a step.
    pub(super) fn day(self, step: u32) -> f64 {
        f64::from(step) * self.step_days
    }

    /// Returns the measured part of a period.
    pub(super) fn measured(self, since: f64, to: f64) -> Option<(f64, f64)> {
        let (since, to) = (since.max(self.from), to.min(self.to));
        (since < to).then_some((since, to))
    }
}

/// The number of visits that a crawler may make, and the largest time between two visits to a page.
///
/// ```
/// use simkeep::recrawl::simulate::Budget;
/// # fn main() -> simkeep::Result<()> {
/// assert_eq!(Budget::per_day(100.0)?.of(5_000), 100.0);
/// // One visit in ten days for each page.
/// assert_eq!(Budget::every(10.0)?.of(5_000), 500.0);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Budget {
    visits: VisitBudget,
    largest_interval: Interval,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum VisitBudget {
    PerDay(f64),
    Every { days: f64 },
}

impl Budget {
    /// Sets a number of visits a day.
    ///
    /// # Errors
    ///
    /// [`RecrawlError::Value`] if the number is not from 1e-100 to 1e100.
    pub fn per_day(visits: f64) -> Result<Budget> {
        Ok(Budget::new(VisitBudget::PerDay(check::moderate("visits", visits)?)))
    }

    /// Sets an average of one visit per `days` days for each known page. Some pages get more visits
    /// than others.
    ///
    /// # Errors
    ///
    /// [`RecrawlError::Value`] if `days` is not from a millisecond to 4,000,000 days.
    pub fn every(days: f64) -> Result<Budget> {
        Ok(Budget::new(VisitBudget::Every { days: check::interval("days", days)? }))
    }

    fn new(visits: VisitBudget) -> Budget {
        Budget { visits, largest_interval: Interval::YEAR }
    }

    /// Sets the largest time between two visits to a page. Pages that were not visited for longer come
    /// before all others, as [due](crate::due::Due::largest_interval) pages do. Default: 365 days.
    ///
    /// ```
    /// use simkeep::recrawl::simulate::Budget;
    /// # fn main() -> simkeep::Result<()> {
    /// let budget = Budget::per_day(100.0)?.largest_interval("30d".parse()?);
    /// # Ok(())
    /// # }
    /// ```
    pub fn largest_interval(self, interval: Interval) -> Budget {
        Budget { largest_interval: interval, ..self }
    }

    /// Returns the largest time between two visits to a page, in days.
    pub(super) fn largest_days(self) -> f64 {
        self.largest_interval.days()
    }

    /// Returns the visits a day for `pages` known pages.
    pub fn of(self, pages: usize) -> f64 {
        match self.visits {
            VisitBudget::PerDay(visits) => visits,
            VisitBudget::Every { days } => pages as f64 / days,
        }
    }
}
