//! What operations change of what a store counts.

/// By how much operations change the numbers of what a store knows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Delta {
    /// Pages that are known.
    pub(crate) pages: i64,
    /// Visits to them.
    pub(crate) visits: i64,
    /// Pages of which a content is in force.
    pub(crate) in_force: i64,
    /// Pages that are gone.
    pub(crate) gone: i64,
}

/// A number of a segment is less than this: sums of them have room.
const NUMBER_MAX: u64 = 1 << 48;

impl Delta {
    /// Whether a segment may have these numbers.
    pub(crate) fn is_possible(&self) -> bool {
        self.numbers().into_iter().all(|number| number.unsigned_abs() < NUMBER_MAX)
    }

    /// All of them, in the order of the format.
    pub(crate) fn numbers(self) -> [i64; 4] {
        let Delta { pages, visits, in_force, gone } = self;
        [pages, visits, in_force, gone]
    }

    /// Those with these numbers.
    pub(crate) fn of([pages, visits, in_force, gone]: [i64; 4]) -> Delta {
        Delta { pages, visits, in_force, gone }
    }

    /// Both after one another; `None` if a number has no room.
    pub(crate) fn plus(self, other: Delta) -> Option<Delta> {
        self.join(other, i64::checked_add)
    }

    /// This without the other; `None` if a number has no room.
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
