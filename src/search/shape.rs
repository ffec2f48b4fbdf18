//! The shapes of the tables of a set, and their sizes.

use super::cells::{CELLS_MIN, GOING_ON, HALVES, cell_count};
use super::line::GOES_ON;
use super::probe::BLOCKS;
use super::rotation::BucketLayout;

/// The index of a column, in addition to its popcount shards.
///
/// ```
/// # use simkeep::{Observation, Options, Store, Time};
/// use simkeep::inspect::SegmentView;
/// use simkeep::query::Shape;
/// # fn main() -> simkeep::Result<()> {
/// # let dir = tempfile::tempdir().unwrap();
/// # let store = Store::create(dir.path().join("store"), Options::default())?;
/// let (url, epoch) = ("https://example.com/", store.change_epoch());
/// store.observe(Observation::content(url, Time::now(), 7, epoch))?;
/// store.seal()?;
/// let id = store.stats()?.segments[0].id;
/// let segment = SegmentView::of(&store.snapshot(), id)?.unwrap();
/// assert_eq!(segment.tables[0].shape, Shape::Column); // a single fingerprint
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Shape {
    /// No tables: searches scan the shards. Takes the least memory, and is the fastest for small
    /// sets and wide distances.
    Column,
    /// Four rotations: a bucket of one or more cache lines for each probe, few probes. The fastest
    /// up to some ten million fingerprints, and for medium distances beyond.
    Rotations(BucketLayout),
    /// Two tables of cells: one cache line for each probe, more probes. The fastest for small
    /// distances in large sets, at three quarters of the memory.
    Cells {
        /// The number of cells in each table.
        count: u32,
    },
}

/// The minimum number of fingerprints for tables. Smaller columns are scanned, since tables would
/// cost more than they save.
const INDEXED_MIN: u32 = 1024;

/// The maximum number of fingerprints for tables, which have 31 bits for the number of an entry.
pub(super) const INDEXED_MAX: u32 = GOES_ON - 1;

/// The bytes of a fingerprint and of its posting, in every shape.
const COLUMN_BYTES: f64 = 12.0;

/// The bytes of an ordinal in every entry of a table.
const ORDINAL_BYTES: f64 = 4.0;

/// The bytes of a cell, including the share of cells that continue in another line.
const CELL_BYTES: f64 = 64.0 * (1.0 + GOING_ON);

impl Shape {
    /// Returns every shape that `n` fingerprints can have.
    #[must_use]
    pub fn all(n: u32) -> [Option<Self>; 3] {
        let cells = Self::Cells { count: cell_count(n) };
        [
            Some(Self::Column),
            // The upper bound comes from the format: the top bit of an entry number is `GOES_ON`.
            (INDEXED_MIN..=INDEXED_MAX)
                .contains(&n)
                .then_some(Self::Rotations(BucketLayout::of(n))),
            (CELLS_MIN..=INDEXED_MAX).contains(&n).then_some(cells),
        ]
    }

    /// Returns the bytes on disk for each of `n` uniformly distributed fingerprints, including the
    /// fingerprint and its posting. The rest of rotations, some tenths of a byte, is not included.
    ///
    /// ```
    /// use simkeep::query::Shape;
    /// let (column, tables) = (Shape::Column, Shape::choose(1_000_000, 3, 48));
    /// assert!(column.bytes_each(1_000_000) < tables.bytes_each(1_000_000));
    /// assert!(tables.bytes_each(1_000_000) <= 48.0);
    /// ```
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
