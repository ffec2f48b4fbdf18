//! The rotations: four tables over the canonical column, each addressed by a different block.
//!
//! The top bits of a block select a *bucket*. All buckets have the same number of cache lines, so
//! they are found without a directory, and a search waits for memory once. A bucket stores the next
//! block of each fingerprint, 16 bits.
//!
//! ```text
//! place          0        1             25      26 ... 29    30 31
//! first line   [ block  | block  | ... | block | block ... | first entry          ]
//! of many      [ block  | block  | ... | block | rest: start, length | first entry, top bit ]
//! other lines  [ block  | block  | ...                                            ]
//! ```
//!
//! A bucket with more entries than its lines can store continues in the *rest*, a run of blocks.

use std::ops::Range;

use zerocopy::little_endian::U16;

use super::column::{Column, U16_BYTES, U32_BYTES, ordinal_at, u16s, u64_at};
use super::line::{GOES_ON, LINE_BYTES, LINE_PLACES, NUMBER, number, put};
use super::probe::{BLOCK_BITS, BLOCKS, FingerprintBlock};

/// The maximum number of lines of a bucket. More lines are never needed, since there are fewer
/// entries.
const LINES_MAX: u32 = 1 << 26;

/// The places in the first line for the start of a bucket's entries in the rest, and for the number
/// of these entries.
const REST: [u32; 2] = [26, 28];

const _: () = {
    let [start, len] = REST;
    assert!(start + 2 == len && len + 2 == NUMBER && NUMBER + 2 == LINE_PLACES);
    assert!(LINE_PLACES as u64 * U16_BYTES == LINE_BYTES);
    // A bucket has at most 2^31 places, so its first entry's
    // number, of 31 bits, plus a place fits 32 bits.
    assert!(LINES_MAX <= (1 << 31) / LINE_PLACES);
};

/// Returns the places of a bucket without entries, which are its head.
fn head_places(goes_on: bool) -> Range<u32> {
    let [rest, _] = REST;
    if goes_on { rest..LINE_PLACES } else { NUMBER..LINE_PLACES }
}

/// Returns the place of an entry, counted from the first place of its bucket; it may be beyond the
/// last place.
pub(super) fn place_of(entry: u32, goes_on: bool) -> u32 {
    let head = head_places(goes_on);
    if entry < head.start { entry } else { entry + (head.end - head.start) }
}

/// The addresses of buckets in the rotations of a column.
///
/// ```
/// use simkeep::query::{BucketLayout, Shape};
/// let Shape::Rotations(layout) = Shape::choose(1_000_000, 3, 48) else { panic!("one million") };
/// assert_eq!(layout, BucketLayout::of(1_000_000));
/// assert_eq!((layout.lines, layout.buckets()), (1, 1 << layout.bits));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BucketLayout {
    /// The number of top bits of a block that select its bucket: 0 to 16.
    pub bits: u32,
    /// The number of cache lines in a bucket: 1 to 2^26.
    pub lines: u32,
}

impl BucketLayout {
    /// Chooses buckets for `n` fingerprints. A line has 12.8 to 25.6 entries on average, so that
    /// few buckets continue in the rest. Buckets have one line up to 1.7 million fingerprints.
    #[must_use]
    #[expect(clippy::cast_possible_truncation, reason = "2^32 fingerprints take 2,560 lines")]
    pub fn of(n: u32) -> Self {
        // The computation is in fifths of a fingerprint, to use integers only: the bounds 12.8 and
        // 25.6 are 64/5 and 128/5.
        let n = u64::from(n) * 5;
        // The maximum number of bits for which a bucket has at least 12.8 entries on average. A
        // line has space for 30 entries, so few buckets overflow although their sizes vary.
        let bits = (n.saturating_sub(1) / 64).checked_ilog2().unwrap_or(0).min(BLOCK_BITS);
        // Only at 16 bits can a bucket exceed one line; with fewer bits, `bits` grows instead.
        let lines = n.div_ceil(128 << bits).max(1);
        Self { bits, lines: lines as u32 }
    }

    /// Returns the number of buckets.
    #[must_use]
    pub fn buckets(self) -> u32 {
        1 << self.bits.min(BLOCK_BITS)
    }

    /// Returns the size in bytes of all buckets of a rotation.
    #[must_use]
    pub fn bytes(self) -> u64 {
        u64::from(self.buckets()) * self.bucket_bytes()
    }

    pub(super) fn bucket_bytes(self) -> u64 {
        u64::from(self.lines) * LINE_BYTES
    }

    /// Returns the capacity of a bucket in entries.
    pub(super) fn room(self) -> u32 {
        self.places().saturating_sub(LINE_PLACES - NUMBER)
    }

    /// Returns the number of entries in the lines of a bucket that continues.
    pub(super) fn full_room(self) -> u32 {
        let [rest, _] = REST;
        self.places().saturating_sub(LINE_PLACES - rest)
    }

    /// Whether the address is valid.
    pub(crate) fn is_possible(self) -> bool {
        self.bits <= BLOCK_BITS && (1..=LINES_MAX).contains(&self.lines)
    }

    /// Returns the number of places of a bucket.
    pub(super) fn places(self) -> u32 {
        self.lines.saturating_mul(LINE_PLACES)
    }
}

/// Writes the head of a bucket: the number of its first entry, and, if the bucket continues, its
/// start in the rest and its number of entries there.
pub(super) fn put_head(places: &mut [U16], first: u32, rest: Option<[u32; 2]>) {
    let Some(numbers) = rest else { return put(places, NUMBER, first) };
    put(places, NUMBER, first | GOES_ON);
    // REST and NUMBER are in the first line, so a probe reads the whole head with the first line.
    REST.into_iter().zip(numbers).for_each(|(at, number)| put(places, at, number));
}

/// The lines of a bucket.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bucket<'c> {
    /// The places of the bucket: blocks, except for the head in the first line.
    pub(super) places: &'c [U16],
    /// The number of the first entry, and the flag that the bucket continues.
    head: u32,
}

impl Bucket<'_> {
    /// Whether the bucket continues in the rest.
    #[inline]
    pub(super) fn goes_on(&self) -> bool {
        self.head & GOES_ON != 0
    }

    /// Returns the number of the first entry.
    pub(super) fn first(&self) -> u32 {
        self.head & !GOES_ON
    }

    /// Returns the number of the entry in a place, if the place may contain an entry.
    pub(super) fn entry(&self, place: u32) -> Option<u32> {
        let head = head_places(self.goes_on());
        // The head is inside the first line. Places of further lines come after the head, so the
        // length of the head is subtracted.
        match place {
            // `first` has 31 bits and a bucket at most 2^31
            // places, so the sum fits 32 bits even if damaged.
            _ if place < head.start => Some(self.first() + place),
            _ if place < head.end => None,
            _ => Some(self.first() + place - (head.end - head.start)),
        }
    }

    /// Returns the range of the bucket's entries in the rest, and the number of the first of these
    /// entries.
    pub(super) fn rest(&self) -> (Range<u32>, u32) {
        if !self.goes_on() {
            return (0..0, 0);
        }
        let [start, len] = REST.map(|at| number(self.places, at));
        let head = head_places(true);
        #[expect(clippy::cast_possible_truncation, reason = "there are 2^31 places at most")]
        let entries = self.places.len() as u32 - (head.end - head.start);
        // A damaged range whose end saturates also exceeds the column, so reading it is an error.
        (start..start.saturating_add(len), self.first() + entries)
    }
}

/// A rotation: a table of every fingerprint of the canonical column, ordered by one of its blocks.
///
/// Within a bucket entries are in canonical order.
#[derive(Clone, Debug)]
pub struct Rotation<C> {
    /// The buckets: [`BucketLayout::lines`] lines each, of 16-bit places.
    pub buckets: C,
    /// The blocks that do not fit into their buckets: little-endian `u16`.
    pub rest: C,
    /// The ordinal of each entry in the canonical column, in order of buckets: little-endian `u32`.
    pub ordinals: C,
}

impl<C: Column> Rotation<C> {
    /// Returns the lines of a bucket.
    #[inline]
    pub(super) fn bucket(
        &self,
        bucket: u32,
        address: BucketLayout,
    ) -> Result<Bucket<'_>, C::Error> {
        // In `u64`: 2^16 buckets of 2^31 places exceed 32 bits.
        let start = u64::from(bucket) * u64::from(address.places());
        let places = u16s(&self.buckets, start..start + u64::from(address.places()))?;
        Ok(Bucket { places, head: number(places, NUMBER) })
    }

    /// Returns entries of the rest.
    pub(super) fn rest(&self, range: Range<u32>) -> Result<&[U16], C::Error> {
        u16s(&self.rest, range.start.into()..range.end.into())
    }
}

impl<C> Rotation<C> {
    fn map<'c, D>(&'c self, to: &impl Fn(&'c C) -> D) -> Rotation<D> {
        let Rotation { buckets, rest, ordinals } = self;
        Rotation { buckets: to(buckets), rest: to(rest), ordinals: to(ordinals) }
    }
}

/// The four rotations of a column. Rotation j is addressed by block j; block 0 is the top block.
#[derive(Clone, Debug)]
pub struct Rotations<C> {
    /// The address of each rotation.
    pub address: BucketLayout,
    /// The rotations in the order of their blocks.
    pub tables: [Rotation<C>; BLOCKS],
}

impl<C> Rotations<C> {
    /// Returns these rotations with other columns.
    pub(super) fn map<'c, D>(&'c self, to: &impl Fn(&'c C) -> D) -> Rotations<D> {
        let tables = self.tables.each_ref().map(|table| table.map(to));
        Rotations { address: self.address, tables }
    }

    /// Returns the rotation addressed by `block`.
    #[inline]
    pub(super) fn of(&self, block: FingerprintBlock) -> &Rotation<C> {
        #[expect(clippy::indexing_slicing, reason = "there is a table for each block")]
        &self.tables[block as usize]
    }
}

impl<C: Column> Rotations<C> {
    /// Checks that each rotation has every fingerprint, in its bucket and in order.
    pub(super) fn check(&self, fingerprints: &C, n: u32) -> Result<(), C::Error> {
        for block in FingerprintBlock::ALL {
            let rotation = self.of(block);
            let (mut entry, mut rest) = (0, 0);
            for bucket_number in 0..self.address.buckets() {
                let bucket = rotation.bucket(bucket_number, self.address)?;
                let out_of_place = || {
                    let offset = u64::from(bucket_number) * self.address.bucket_bytes();
                    rotation
                        .buckets
                        .damaged(offset, "a bucket does not begin where the bucket before it ends")
                };
                let (in_rest, _) = bucket.rest();
                // Every head must continue exactly where the previous bucket ended, in entries and
                // in the rest. So no entry is missing, or belongs to two buckets.
                if bucket.first() != entry || bucket.goes_on() && in_rest.start != rest {
                    return Err(out_of_place());
                }
                // The expected block of each entry is recomputed from the canonical column and
                // compared with the stored block, first in the bucket and then in its rest.
                let mut further = rotation.rest(in_rest.clone())?.iter();
                let places = (0..).zip(bucket.places);
                let mut blocks = places.filter(|(place, _)| bucket.entry(*place).is_some());
                let mut before = None;
                while entry < n {
                    let ordinal = ordinal_at(&rotation.ordinals, entry, n)?;
                    let fingerprint = u64_at(fingerprints, ordinal)?;
                    if block.bucket(fingerprint, self.address.bits) != bucket_number {
                        break;
                    }
                    let stored = blocks.next().map(|(_, stored)| stored).or_else(|| further.next());
                    let expected = block.next().value(fingerprint);
                    // `None < Some(_)`, so the first entry of a bucket passes the order test.
                    if stored.is_none_or(|stored| stored.get() != expected)
                        || before >= Some(ordinal)
                    {
                        let offset = u64::from(entry) * U32_BYTES;
                        return Err(rotation
                            .ordinals
                            .damaged(offset, "an entry is not where its fingerprint belongs"));
                    }
                    before = Some(ordinal);
                    entry += 1;
                }
                let is_full = entry - bucket.first() > self.address.room();
                if bucket.goes_on() != is_full || further.next().is_some() {
                    return Err(out_of_place());
                }
                rest += in_rest.end - in_rest.start;
            }
            if entry != n {
                return Err(rotation
                    .ordinals
                    .damaged(0, "a rotation does not contain all fingerprints"));
            }
            // Columns have no length. If the next byte cannot be read, the rest ends here.
            let behind = u64::from(rest) * U16_BYTES;
            if rotation.rest.bytes(behind..behind + 1).is_ok() {
                return Err(rotation.rest.damaged(behind, "it has entries after the last bucket"));
            }
        }
        Ok(())
    }
}
