//! The rotations: four tables over the canonical column, each addressed by another block.

use std::ops::Range;

use super::column::{Column, U32_BYTES, ordinal_at, u32s, u64_at};
use super::probe::{BLOCK_BITS, BLOCKS, Block};

/// A directory has about as many buckets as there are lots of this many entries...
const BUCKET_ENTRIES_LOG2: u32 = 3;

/// ...but never fewer than this, as a power of two.
const BITS_MIN: u32 = 4;

/// Bits of the number of a step.
const STEP_BITS: u32 = 4;

/// The last step of a bucket: that of the popcounts 15 and 16.
const STEP_MAX: u32 = (1 << STEP_BITS) - 1;

/// How the rotations of a column are addressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Address {
    /// How many of the top bits of a block tell its bucket: 0 to 16.
    pub bits: u32,
    /// Whether buckets are *stepped*: ordered by the popcount of the block that comes next, with 16
    /// steps in the directory for each.
    pub stepped: bool,
}

impl Address {
    /// Plain buckets for `n` fingerprints: `ceil(log2(n)) - 3` bits, no fewer than 4 and no more than
    /// 16.
    ///
    /// Below half a million fingerprints this keeps a bucket at 4 to 8 entries and the directory at an
    /// eighth of the entries' bytes at most.
    #[must_use]
    pub fn plain(n: u32) -> Self {
        let log2 = u32::BITS - n.saturating_sub(1).leading_zeros();
        let bits = log2.saturating_sub(BUCKET_ENTRIES_LOG2).clamp(BITS_MIN, BLOCK_BITS);
        Self { bits, stepped: false }
    }

    /// Stepped buckets, of whole blocks: the directory of a bucket is a memory line.
    #[must_use]
    pub fn stepped() -> Self {
        Self { bits: BLOCK_BITS, stepped: true }
    }

    /// How many lots of entries the directory tells apart.
    #[must_use]
    pub fn steps(self) -> u32 {
        1 << (self.bits.min(BLOCK_BITS) + if self.stepped { STEP_BITS } else { 0 })
    }

    /// The step that a fingerprint belongs to in the rotation of `block`.
    #[inline]
    pub(super) fn step(self, block: Block, fingerprint: u64) -> u32 {
        let bucket = block.bucket(fingerprint, self.bits);
        if !self.stepped {
            return bucket;
        }
        bucket << STEP_BITS | block.next_popcount(fingerprint).min(STEP_MAX)
    }

    /// The steps of a stepped bucket in which something lies whose next block differs from that with
    /// `popcount` bits set in no more than `slack` bits.
    pub(super) fn steps_of(self, bucket: u32, popcount: u32, slack: u32) -> Range<u32> {
        let first = popcount.saturating_sub(slack).min(STEP_MAX);
        let last = popcount.saturating_add(slack).min(STEP_MAX);
        let own = bucket << STEP_BITS;
        own + first..own + last + 1
    }
}

/// One rotation: every fingerprint of the canonical column once, sorted by one of its blocks.
///
/// Within a bucket, or a step of it, entries are in canonical order.
#[derive(Clone, Debug)]
pub struct Rotation<C> {
    /// Where each step starts, then the number of entries: [`Address::steps`] + 1 little-endian
    /// `u32`.
    pub directory: C,
    /// The 32 bits that follow the block, of each entry: little-endian `u32`.
    pub planes: C,
    /// The place in the canonical column, of each entry: little-endian `u32`.
    pub ordinals: C,
}

impl<C: Column> Rotation<C> {
    /// The entries of consecutive steps.
    #[inline]
    pub(super) fn entries(&self, steps: Range<u32>, n: u32) -> Result<Range<u32>, C::Error> {
        let bounds = u32s(&self.directory, steps.start..steps.end + 1)?;
        let (start, end) = match bounds {
            [start, .., end] => (start.get(), end.get()),
            _ => (1, 0),
        };
        if start > end || end > n {
            let offset = u64::from(steps.start) * U32_BYTES;
            return Err(self.directory.damaged(offset, "a bucket out of order or beyond the end"));
        }
        Ok(start..end)
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
    /// How each is addressed.
    pub address: Address,
    /// The rotations in the order of their blocks.
    pub tables: [Rotation<C>; BLOCKS],
}

impl<C> Rotations<C> {
    /// The same rotations in other columns.
    pub(super) fn map<'c, D>(&'c self, to: &impl Fn(&'c C) -> D) -> Rotations<D> {
        let tables = self.tables.each_ref().map(|table| table.map(to));
        Rotations { address: self.address, tables }
    }

    /// The rotation addressed by `block`.
    pub(super) fn of(&self, block: Block) -> &Rotation<C> {
        #[expect(clippy::indexing_slicing, reason = "there is one for each block")]
        &self.tables[block as usize]
    }
}

impl<C: Column> Rotations<C> {
    /// Checks that each rotation has every fingerprint, in its bucket and step, and in order.
    pub(super) fn check(&self, fingerprints: &C, n: u32) -> Result<(), C::Error> {
        for block in Block::ALL {
            let rotation = self.of(block);
            let mut entries = 0;
            for step in 0..self.address.steps() {
                let run = rotation.entries(step..step + 1, n)?;
                if run.start != entries {
                    return Err(rotation.directory.damaged(0, "a bucket that does not follow"));
                }
                entries = run.end;
                let planes = u32s(&rotation.planes, run.clone())?;
                let mut before = None;
                for (entry, plane) in run.zip(planes) {
                    let ordinal = ordinal_at(&rotation.ordinals, entry, n)?;
                    let fingerprint = u64_at(fingerprints, ordinal)?;
                    let fits = self.address.step(block, fingerprint) == step
                        && block.plane(fingerprint) == plane.get()
                        && before < Some(ordinal);
                    if !fits {
                        let offset = u64::from(entry) * U32_BYTES;
                        return Err(rotation.ordinals.damaged(offset, "an entry out of place"));
                    }
                    before = Some(ordinal);
                }
            }
            if entries != n {
                return Err(rotation.directory.damaged(0, "a rotation without all fingerprints"));
            }
        }
        Ok(())
    }
}
