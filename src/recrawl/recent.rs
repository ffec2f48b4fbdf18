//! The last comparisons of a page in their order, for the policies that go by it.

use super::comparison::{Change, Comparison};

/// Which of the last 64 comparisons found a change, and how long the page has been as it is.
///
/// ```
/// use simkeep::recrawl::{Change, Comparison, Recent};
/// # fn main() -> simkeep::Result<()> {
/// let mut recent = Recent::default();
/// recent.push(Comparison::new(7.0, Change::Undated)?);
/// recent.push(Comparison::new(7.0, Change::None)?);
/// assert!(recent.changes().eq([true, false]));
/// assert_eq!(recent.quiet_days(), 7.0);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Recent {
    /// Whether each found a change. That of the last comparison is the lowest bit.
    bits: u64,
    /// How many bits there are.
    count: u32,
    quiet_days: f64,
}

impl Recent {
    /// Those of a page that are known already: the last `count` of them by bits, that of the last one
    /// lowest.
    pub(crate) fn of(bits: u64, count: u32, quiet_days: f64) -> Recent {
        Recent { bits, count, quiet_days }
    }

    /// Adds a comparison. Of more than 64 the oldest is dropped.
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

    /// The comparisons, oldest first: whether each found a change.
    pub fn changes(&self) -> impl Iterator<Item = bool> + use<> {
        let bits = self.bits;
        (0..self.count).rev().map(move |i| bits >> i & 1 == 1)
    }

    /// The days from the last known change to the last visit; from the first visit, if there was none. A
    /// change without a date counts as of the visit that found it.
    pub fn quiet_days(&self) -> f64 {
        self.quiet_days
    }
}
