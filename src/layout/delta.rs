//! The change that operations make to a store's totals.

/// The change that operations make to a store's totals.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Delta {
    /// The change in the number of known pages.
    pub(crate) pages: i64,
    /// The change in the number of visits to known pages.
    pub(crate) visits: i64,
    /// The change in the number of pages with content in force.
    pub(crate) in_force: i64,
    /// The change in the number of pages that are gone.
    pub(crate) gone: i64,
}

/// An upper bound of a segment's numbers, so that sums of these numbers do not overflow.
const NUMBER_MAX: u64 = 1 << 48;

impl Delta {
    /// Whether the numbers of a segment's delta are within the bounds.
    pub(crate) fn is_possible(&self) -> bool {
        self.numbers().into_iter().all(|number| number.unsigned_abs() < NUMBER_MAX)
    }

    /// All numbers, in the order of the format.
    pub(crate) fn numbers(self) -> [i64; 4] {
        let Delta { pages, visits, in_force, gone } = self;
        [pages, visits, in_force, gone]
    }

    /// Creates a delta from its numbers, in the order of the format.
    pub(crate) fn of([pages, visits, in_force, gone]: [i64; 4]) -> Delta {
        Delta { pages, visits, in_force, gone }
    }

    /// The sum of the two deltas; `None` on overflow.
    pub(crate) fn plus(self, other: Delta) -> Option<Delta> {
        self.join(other, i64::checked_add)
    }

    /// The difference of the two deltas; `None` on overflow.
    pub(crate) fn minus(self, other: Delta) -> Option<Delta> {
        self.join(other, i64::checked_sub)
    }

    fn join(self, other: Delta, with: fn(i64, i64) -> Option<i64>) -> Option<Delta> {
        let [p, v, i, g] = other.numbers();
        let [pages, visits, in_force, gone] = self.numbers();
        Some(Delta {
            pages: with(pages, p)?,
            visits: with(visits, v)?,
            in_force: with(in_force, i)?,
            gone: with(gone, g)?,
        })
    }
}
