//! The rotations: four tables over the canonical column, each addressed by another block.

use std::ops::Range;

use super::column::{Column, U32_BYTES, u32_at, u32s};
use super::probe::{BLOCK_BITS, BLOCKS, Block, Probe};

/// Columns with fewer fingerprints are scanned; rotations would cost more than they spare.
const FINGERPRINTS_MIN: u32 = 1024;

/// A directory has about as many buckets as there are lots of this many entries...
const BUCKET_ENTRIES_LOG2: u32 = 3;

/// ...but never fewer than this, as a power of two.
const BITS_MIN: u32 = 4;

/// Whether a column of `n` fingerprints is worth rotations.
#[must_use]
pub fn has_rotations(n: u32) -> bool {
    n >= FINGERPRINTS_MIN
}

/// The bits by which the rotations of `n` fingerprints are addressed: `ceil(log2(n)) - 3`, no
/// fewer than 4 and no more than 16.
///
/// Below half a million fingerprints this keeps a bucket at 4 to 8 entries and the directory at an
/// eighth of the entries' bytes at most.
#[must_use]
pub fn rotation_bits(n: u32) -> u32 {
    let log2 = u32::BITS - n.saturating_sub(1).leading_zeros();
    log2.saturating_sub(BUCKET_ENTRIES_LOG2).clamp(BITS_MIN, BLOCK_BITS)
}

/// One rotation: every fingerprint of the canonical column once, sorted by one of its blocks.
///
/// Within a bucket, entries are in canonical order, so by popcount.
#[derive(Clone, Debug)]
pub struct Rotation<C> {
    /// Where each bucket starts, then the number of entries: `2^bits + 1` little-endian `u32`.
    pub directory: C,
    /// The 32 bits that follow the block, of each entry: little-endian `u32`.
    pub planes: C,
    /// The place in the canonical column, of each entry: little-endian `u32`.
    pub ordinals: C,
}

impl<C: Column> Rotation<C> {
    /// The entries of a bucket.
    pub(super) fn bucket(&self, bucket: u32, n: u32) -> Result<Range<u32>, C::Error> {
        let bounds = u32s(&self.directory, bucket..bucket + 2)?;
        match bounds {
            [start, end] if start.get() <= end.get() && end.get() <= n => {
                Ok(start.get()..end.get())
            }
            _ => Err(self
                .directory
                .damaged(u64::from(bucket) * U32_BYTES, "a bucket out of order or beyond the end")),
        }
    }

    /// The ordinal of an entry, below `n`.
    pub(super) fn ordinal(&self, entry: u32, n: u32) -> Result<u32, C::Error> {
        let ordinal = u32_at(&self.ordinals, entry)?;
        if ordinal >= n {
            let offset = u64::from(entry) * U32_BYTES;
            return Err(self.ordinals.damaged(offset, "an ordinal beyond the end"));
        }
        Ok(ordinal)
    }

    /// The part of `entries`, all of one bucket, whose ordinals lie in `ordinals`.
    fn narrowed(&self, entries: Range<u32>, ordinals: &Range<u32>) -> Result<Range<u32>, C::Error> {
        let column = u32s(&self.ordinals, entries.clone())?;
        let before = column.partition_point(|ordinal| ordinal.get() < ordinals.start);
        let until = column.partition_point(|ordinal| ordinal.get() < ordinals.end);
        // Both are at most the number of entries; the second is smaller only in a damaged column.
        let until = until.max(before);
        #[expect(clippy::cast_possible_truncation, reason = "a bucket has fewer than 2^32 entries")]
        let (before, until) = (before as u32, until as u32);
        Ok(entries.start + before..entries.start + until)
    }
}

impl<C> Rotation<C> {
    fn map<'c, D>(&'c self, to: &impl Fn(&'c C) -> D) -> Rotation<D> {
        let Rotation { directory, planes, ordinals } = self;
        Rotation { directory: to(directory), planes: to(planes), ordinals: to(ordinals) }
    }
}

/// The four rotations of a column. Rotation j is addressed by block j; block 0 is the top one.
#[derive(Clone, Debug)]
pub struct Rotations<C> {
    /// By how many bits of the block each is addressed: 0 to 16, see [`rotation_bits`].
    pub bits: u32,
    /// The rotations in the order of their blocks.
    pub tables: [Rotation<C>; BLOCKS],
}

impl<C> Rotations<C> {
    /// The same rotations in other columns.
    pub(super) fn map<'c, D>(&'c self, to: &impl Fn(&'c C) -> D) -> Rotations<D> {
        Rotations { bits: self.bits, tables: self.tables.each_ref().map(|table| table.map(to)) }
    }
}

impl<C: Column> Rotations<C> {
    /// Entries from which on a bucket is worth two binary searches, to look only at those of its
    /// entries whose popcount is near enough. It takes this many to pay for some ten lines each,
    /// which evenly spread data never reaches below 10^8 fingerprints; it spares the rest of a hot
    /// bucket.
    const NARROWED_MIN: u32 = 2048;

    /// The rotation addressed by `block`.
    pub(super) fn of(&self, block: Block) -> &Rotation<C> {
        let [first, second, third, fourth] = &self.tables;
        match block {
            Block::First => first,
            Block::Second => second,
            Block::Third => third,
            Block::Fourth => fourth,
        }
    }

    /// The entries of the probed bucket among which those with ordinals in `ordinals` are.
    pub(super) fn run(
        &self,
        probe: Probe,
        ordinals: &Range<u32>,
        n: u32,
    ) -> Result<Range<u32>, C::Error> {
        let rotation = self.of(probe.block);
        let entries = rotation.bucket(probe.bucket, n)?;
        if entries.end - entries.start >= Self::NARROWED_MIN {
            return rotation.narrowed(entries, ordinals);
        }
        Ok(entries)
    }
}
