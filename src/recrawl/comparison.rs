//! What a visit tells of the time since the one before it.

use super::check;
use crate::recrawl::error::{RecrawlError, Result};

/// What two visits in a row say of the time between them.
///
/// ```
/// use simkeep::recrawl::{Change, Comparison};
/// # fn main() -> simkeep::Result<()> {
/// let weekly = Comparison::new(7.0, Change::None)?;
/// assert_eq!(weekly.days(), 7.0);
/// // Visits at one time tell nothing.
/// assert!(Comparison::new(0.0, Change::None).is_err());
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Comparison {
    days: f64,
    change: Change,
}

/// Whether a page changed between two visits.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Change {
    /// It is unchanged.
    None,
    /// It changed once or more often, and it is not known when.
    Undated,
    /// It changed, the last time so many days before the later visit.
    DaysAgo(f64),
}

impl Comparison {
    /// A comparison of two visits that are `days` apart.
    ///
    /// # Errors
    ///
    /// [`RecrawlError::Value`] if `days` are not from a millisecond to 4,000,000 (no two times of visits
    /// are nearer or farther apart), or if a change was not between the visits.
    pub fn new(days: f64, change: Change) -> Result<Comparison> {
        check::interval("days", days)?;
        match change {
            Change::DaysAgo(ago) if !(0.0..=days).contains(&ago) => Err(RecrawlError::Value {
                name: "days ago",
                takes: "from 0 to the days between the visits",
            }),
            _ => Ok(Comparison { days, change }),
        }
    }

    /// The time between the visits, in days.
    pub fn days(self) -> f64 {
        self.days
    }

    /// Whether the page changed.
    pub fn change(self) -> Change {
        self.change
    }
}
