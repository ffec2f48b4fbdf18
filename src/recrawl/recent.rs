//! The last comparisons of a page in order of time, for the policies that depend on the order.

use super::comparison::{Change, Comparison};

/// The last 64 comparisons of a page with their results, and the time for which the page has been
/// unchanged.
///
/// ```
/// use simkeep::recrawl::{Change, Comparison, RecentComparisons};
/// # fn main() -> simkeep::Result<()> {
/// let mut recent = RecentComparisons::default();
/// recent.push(Comparison::new(7.0, Change::Undated)?);
/// recent.push(Comparison::new(7.0, Change::None)?);
/// assert!(recent.changes().eq([true, false]));
/// assert_eq!(recent.quiet_days(), 7.0);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct RecentComparisons {
    /// One bit for each comparison, set if the comparison found a change. The last comparison is
    /// the lowest bit.
    bits: u64,
    /// The number of comparisons.
    count: u32,
    quiet_days: f64,
}

impl RecentComparisons {
    /// Creates the last `count` comparisons from bits. The lowest bit is the last comparison.
    pub(crate) fn of(bits: u64, count: u32, quiet_days: f64) -> RecentComparisons {
        RecentComparisons { bits, count, quiet_days }
    }

    /// Adds a comparison. If there are 64 already, drops the oldest.
    ///
    /// ```
    /// use simkeep::recrawl::{Change, Comparison, RecentComparisons};
    /// # fn main() -> simkeep::Result<()> {
    /// let mut recent = RecentComparisons::default();
    /// recent.push(Comparison::new(7.0, Change::DaysAgo(2.0))?);
    /// recent.push(Comparison::new(3.0, Change::None)?);
    /// assert_eq!(recent.quiet_days(), 5.0);
    /// # Ok(())
    /// # }
    /// ```
    pub fn push(&mut self, comparison: Comparison) {
        let changed = comparison.change() != Change::None;
        self.bits = self.bits << 1 | u64::from(changed);
        self.count = (self.count + 1).min(u64::BITS);
        self.quiet_days = match comparison.change() {
            Change::None => self.quiet_days + comparison.days(),
            Change::Undated => 0.0,
            Change::DaysAgo(ago) => ago,
        };
    }

    /// Returns whether each comparison found a change, the oldest comparison first.
    pub fn changes(&self) -> impl Iterator<Item = bool> + use<> {
        let bits = self.bits;
        (0..self.count).rev().map(move |i| bits >> i & 1 == 1)
    }

    /// Returns the days from the last known change to the last visit; without a change, the days
    /// from the first visit to the last. An undated change counts as a change at the time of the
    /// visit that found it.
    pub fn quiet_days(&self) -> f64 {
        self.quiet_days
    }
}
