//! The shapes that the tables of a set can have, and what each takes.

use super::cells::{CELLS_MIN, GOING_ON, HALVES, cell_count};
use super::line::GOES_ON;
use super::probe::BLOCKS;
use super::rotation::Address;

/// What finds fingerprints in a column, beside the popcount shards that every column has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Shape {
    /// Nothing: the shards are scanned. The least memory, and the quickest for small sets and wide
    /// distances.
    Column,
    /// Four rotations: a bucket of one memory line or several for each probe, few probes. The quickest
    /// up to some ten million fingerprints, and for middle distances beyond.
    Rotations(Address),
    /// Two tables of cells, so many each: one memory line for each probe, more probes. The quickest
    /// for small distances in large sets, at three quarters of the memory.
    Cells {
        /// The cells of each table.
        count: u32,
    },
}

/// Columns with fewer fingerprints are scanned; tables would cost more than they spare.
const INDEXED_MIN: u32 = 1024;

/// Sets with more fingerprints can have no tables, which have 31 bits for the number of an entry.
pub(super) const INDEXED_MAX: u32 = GOES_ON - 1;

/// Bytes of a fingerprint and of the word that names its page, which every shape has.
const COLUMN_BYTES: f64 = 12.0;

/// Bytes of an ordinal, which every entry of a table has.
const ORDINAL_BYTES: f64 = 4.0;

/// Bytes of a cell, the share of cells that go on in another line included.
const CELL_BYTES: f64 = 64.0 * (1.0 + GOING_ON);

impl Shape {
    /// Every shape that `n` fingerprints can have.
    #[must_use]
    pub fn all(n: u32) -> [Option<Self>; 3] {
        let cells = Self::Cells { count: cell_count(n) };
        [
            Some(Self::Column),
            // The upper bound is that of the format: the top bit of an entry number is `GOES_ON`.
            (INDEXED_MIN..=INDEXED_MAX).contains(&n).then_some(Self::Rotations(Address::of(n))),
            (CELLS_MIN..=INDEXED_MAX).contains(&n).then_some(cells),
        ]
    }

    /// Bytes on disk for each of `n` evenly spread fingerprints, the fingerprint and its page included;
    /// what is in the rest of rotations, some tenths, is not.
    #[must_use]
    pub fn bytes_each(self, n: u32) -> f64 {
        let each = |bytes: f64| bytes / f64::from(n.max(1));
        COLUMN_BYTES
            + match self {
                Self::Column => 0.0,
                Self::Rotations(address) => {
                    // Buckets have a fixed size and are partly empty, so
                    // their bytes are divided among all fingerprints.
                    BLOCKS as f64 * (ORDINAL_BYTES + each(address.bytes() as f64))
                }
                Self::Cells { count } => {
                    HALVES as f64 * (ORDINAL_BYTES + each(f64::from(count) * CELL_BYTES))
                }
            }
    }
}
