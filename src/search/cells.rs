//! Cells: two tables over the canonical column, in whole cache lines, for large sets.
//!
//! The fingerprint is split into two halves. Two fingerprints that differ in at most k bits differ
//! in at most `k / 2` bits of one half. The low 31 bits of a half are decoded to the nearest word
//! of a Hamming code (`hamming.rs`). The message of that word selects the *cell* of the
//! fingerprint. A cell is a cache line with 20 entries. Each entry stores 24 bits of the other
//! half: 16 bits in one place of 16 bits, and 8 bits in half of another place. The line also stores
//! the number of its first entry.
//!
//! ```text
//! place    0    1        17   18   19   20          28   29     30    31
//! cell   [ bits bits ... bits bits bits bits, bits .... bits  | first entry          ]
//! full   [ bits bits ... bits next      bits, bits ....       | first entry, top bit ]
//! ```
//!
//! So a lookup costs one cache line and no directory. For k = 3 a lookup reads 31 lines, which are
//! all prefetched at once. A cell with more than 20 entries continues in another line of the same
//! form, the *next* line. An entry determines 24 of the 64 bits, and its cell determines most of
//! the other half. So an entry that is near in these bits is nearly always near as a whole.

use super::column::{Column, u32_at, u64_at};
use super::hamming::{self, MESSAGE_BITS, WEIGHT_MAX};
use super::kernel::{ENTRY_BITS, FULL_ENTRIES, LINE_ENTRIES, NEXT, entries};
use super::line::{GOES_ON, LINE_BYTES, NUMBER, number};

/// The average number of entries in a cell.
const LOAD: f64 = 14.0;

/// The share of cells that continue in another line with [`LOAD`] entries on average.
pub(super) const GOING_ON: f64 = 0.05;

/// The minimum size of a set for cells. For smaller sets, rotations are faster for all distances.
pub(super) const CELLS_MIN: u32 = 1 << 16;

/// The number of halves, which is also the number of tables.
pub const HALVES: usize = 2;

/// A half of the fingerprint, or the table addressed by it. The upper half comes first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FingerprintHalf {
    Upper,
    Lower,
}

impl FingerprintHalf {
    pub(super) const ALL: [Self; HALVES] = [Self::Upper, Self::Lower];

    /// Returns this half of a fingerprint, and the low bits of the other half that entries store.
    /// An epoch may reserve the top bits of the upper half.
    #[expect(clippy::cast_possible_truncation, reason = "takes the two halves")]
    pub(super) fn cut(self, fingerprint: u64) -> (u32, u32) {
        let (upper, lower) = ((fingerprint >> 32) as u32, fingerprint as u32);
        let (own, other) = match self {
            Self::Upper => (upper, lower),
            Self::Lower => (lower, upper),
        };
        (own, other & ((1 << ENTRY_BITS) - 1))
    }

    /// Returns the number of differing bits from which on this half need not be searched: the
    /// radius of the pigeonhole principle plus one. The numbers of the two halves add up to k + 1.
    pub(super) fn reach(self, k: u32) -> u32 {
        match self {
            Self::Upper => k / 2 + 1,
            Self::Lower => k.div_ceil(2),
        }
    }

    /// Whether a fingerprint is within `k` of the query and this half reports it: the upper half
    /// reports a fingerprint that differs in fewer bits of the upper half than its reach.
    pub(super) fn reports(self, fingerprint: u64, query: u64, k: u32) -> bool {
        let difference = fingerprint ^ query;
        // The halves' reaches add up to k + 1, so a pair that differs too much in the upper half is
        // near enough in the lower half. So exactly one half reports a pair.
        let upper = (difference >> 32).count_ones() < Self::Upper.reach(k);
        difference.count_ones() <= k && upper == (self == Self::Upper)
    }
}

/// Returns the cell of a message, of `cells` cells.
///
/// Messages are multiplied by an odd factor before they are mapped to ranges, so that neighbouring
/// messages are in different cells: neighbouring messages are likely to be frequent together.
pub(super) fn cell_of(message: u32, cells: u32) -> u32 {
    /// 2^26 divided by the golden ratio, made odd: D. E. Knuth, TAOCP vol. 3, 6.4.
    // An odd factor is invertible modulo 2^26, so different messages stay different. Multiplying
    // and shifting maps them to any number of cells without a division.
    const FACTOR: u32 = 41_475_557;
    let shuffled = message.wrapping_mul(FACTOR) & ((1 << MESSAGE_BITS) - 1);
    #[expect(clippy::cast_possible_truncation, reason = "less than `cells`")]
    let cell = ((u64::from(shuffled) * u64::from(cells)) >> MESSAGE_BITS) as u32;
    cell
}

/// Returns the number of cells in each table of `n` fingerprints: one cell for every 14
/// fingerprints, at least two cells, and at most one for each message.
#[must_use]
pub fn cell_count(n: u32) -> u32 {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "less than n")]
    // On average 14 of 20 slots are used: 5 % of the cells continue in a second line (`GOING_ON`).
    let cells = (f64::from(n) / LOAD) as u32;
    cells.clamp(2, 1 << MESSAGE_BITS)
}

/// Returns the maximum number of further lines that the cells of `n` fingerprints can need: each
/// further line follows a full line.
pub(crate) fn further_max(n: u32) -> u64 {
    u64::from(n / FULL_ENTRIES)
}

/// The largest distance for which all cells of a half are compared with one limit. Up to this
/// distance few entries are near.
const ALIKE_MAX: u32 = 6;

/// Returns the maximum number of bits in which an entry may differ from the query, in a cell whose
/// codeword has distance `weight` from the query's half. The fingerprints of the cell differ in
/// this half by at least `weight - 1` bits.
pub(super) fn most_differing(k: u32, weight: u32) -> u32 {
    // The codeword's distance proves differences in this half, which leaves fewer bits for the
    // other half. Up to k = 6 the plain limit k admits few more entries, and lets one call compare
    // all cells of a half.
    if k <= ALIKE_MAX { k } else { k - weight.saturating_sub(1).min(k) }
}

/// The largest distance that cells support: beyond it, too many codewords are near.
pub(super) const CELLS_DISTANCE_MAX: u32 = 2 * (WEIGHT_MAX - 1);

/// A table of cells, for one half.
#[derive(Clone, Debug)]
pub struct CellTable<C> {
    /// The cells: one [`CacheLine`](super::CacheLine) each.
    pub cells: C,
    /// The lines in which full cells continue, in the form of `cells`.
    pub further: C,
    /// The ordinal of each entry in the canonical column, in order of cells: little-endian `u32`.
    pub ordinals: C,
}

/// The two tables of a column, by upper and by lower halves.
#[derive(Clone, Debug)]
pub struct Cells<C> {
    /// The number of cells in each table, see [`cell_count`].
    pub count: u32,
    /// The table of the upper halves, then the table of the lower halves.
    pub tables: [CellTable<C>; HALVES],
}

impl<C> Cells<C> {
    /// Returns these cells with other columns.
    pub(super) fn map<'c, D>(&'c self, to: &impl Fn(&'c C) -> D) -> Cells<D> {
        let tables = self.tables.each_ref();
        let tables = tables.map(|table| {
            let CellTable { cells, further, ordinals } = table;
            CellTable { cells: to(cells), further: to(further), ordinals: to(ordinals) }
        });
        Cells { count: self.count, tables }
    }

    pub(super) fn of(&self, half: FingerprintHalf) -> &CellTable<C> {
        let [upper, lower] = &self.tables;
        match half {
            FingerprintHalf::Upper => upper,
            FingerprintHalf::Lower => lower,
        }
    }
}

impl<C: Column> Cells<C> {
    /// Checks that each table has every fingerprint, in its cell and in order.
    pub(super) fn check(&self, fingerprints: &C, n: u32) -> Result<(), C::Error> {
        for half in FingerprintHalf::ALL {
            let table = self.of(half);
            // Entries are numbered through all cells in order, so the check compares the number in
            // each head with the running count.
            let mut passed = 0;
            let mut further = 0;
            for cell in 0..self.count {
                let (mut column, mut line, mut before) = (&table.cells, cell, None);
                loop {
                    let out_of_place = || {
                        column.damaged(
                            u64::from(line) * LINE_BYTES,
                            "an entry is not where its fingerprint belongs",
                        )
                    };
                    let all = column.lines(std::iter::once(line))?;
                    let Some(places) = all.get(line as usize) else { return Err(out_of_place()) };
                    let head = number(places, NUMBER);
                    let goes_on = head & GOES_ON != 0;
                    // A wrong first number would attribute entries to other fingerprints.
                    if head & !GOES_ON != passed {
                        return Err(out_of_place());
                    }
                    let capacity = if goes_on { FULL_ENTRIES } else { LINE_ENTRIES };
                    // A line has no entry count: the entries of this cell
                    // end where the next ordinal belongs to another cell.
                    for entry in entries(places).take(capacity as usize) {
                        if passed >= n {
                            break;
                        }
                        let ordinal = u32_at(&table.ordinals, passed)?;
                        if ordinal >= n {
                            return Err(out_of_place());
                        }
                        let (own, other) = half.cut(u64_at(fingerprints, ordinal)?);
                        if cell_of(hamming::nearest(own), self.count) != cell {
                            // The other slots are unused, or the next entry belongs to a later
                            // cell. If the next entry belongs to an earlier cell, no cell counts
                            // it, and the final count is too low.
                            break;
                        }
                        if other != entry || before >= Some(ordinal) {
                            return Err(out_of_place());
                        }
                        before = Some(ordinal);
                        passed += 1;
                    }
                    if !goes_on {
                        break;
                    }
                    // Cells continue in the order of the cells, so the
                    // further lines are used one after another, each once.
                    if number(places, NEXT) != further {
                        return Err(out_of_place());
                    }
                    (column, line) = (&table.further, further);
                    further += 1;
                }
            }
            if further as usize != table.further.lines(std::iter::empty())?.len() {
                return Err(table.further.damaged(0, "it has lines that no cell refers to"));
            }
            if passed != n {
                return Err(table.ordinals.damaged(0, "its cells do not contain all fingerprints"));
            }
        }
        Ok(())
    }
}
