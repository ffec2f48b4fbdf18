//! The result of comparing a visit with the previous visit.

use super::check;
use crate::recrawl::error::{RecrawlError, Result};

/// The number of comparisons of a page at which all of them are counted half as often.
pub(crate) const HALVED_AT: u32 = 128;

/// The comparison of two consecutive visits.
///
/// ```
/// use simkeep::recrawl::{Change, Comparison};
/// # fn main() -> simkeep::Result<()> {
/// let weekly = Comparison::new(7.0, Change::None)?;
/// assert_eq!(weekly.days(), 7.0);
/// // Two visits at the same time are no comparison.
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
///
/// ```
/// use simkeep::recrawl::{Change, Comparison};
/// # fn main() -> simkeep::Result<()> {
/// let weekly = |change| Comparison::new(7.0, change);
/// assert_eq!(weekly(Change::None)?.change(), Change::None);
/// // The server reports that the page changed two days ago.
/// assert_eq!(weekly(Change::DaysAgo(2.0))?.change(), Change::DaysAgo(2.0));
/// assert!(weekly(Change::DaysAgo(9.0)).is_err()); // before the previous visit
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Change {
    /// The page is unchanged.
    None,
    /// The page changed at least once, at an unknown time.
    Undated,
    /// The page changed. The last change was this number of days before the later visit.
    DaysAgo(f64),
}

impl Comparison {
    /// Creates a comparison of two visits that are `days` apart.
    ///
    /// # Errors
    ///
    /// [`RecrawlError::Value`] if `days` is not from a millisecond to 4,000,000 days (the limits
    /// for two visits), or if a change was not between the visits.
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

    /// Returns the time between the visits, in days.
    pub fn days(self) -> f64 {
        self.days
    }

    /// Returns whether the page changed.
    pub fn change(self) -> Change {
        self.change
    }
}
