//! A dense bucket, which has far more entries than other buckets. The bits of its entries are
//! reordered so that they separate the entries, and then all threads share the bucket.

use std::ops::Range;

use super::arena::{self, JoinEntry};
use super::bit_permutation::{BitPermutation, SAMPLE};
use super::counts::BucketSizes;
use super::pair_constraints::{KeyBits, PairConstraints};

/// The description of a dense bucket.
pub(super) struct DenseBucket {
    spread: Box<BitPermutation>,
    /// The parts into which the reordered bits are split, with the description of a bucket of each
    /// part.
    parts: Vec<(KeyBits, PairConstraints)>,
}

/// The distribution of the entries of a dense bucket, or of a piece of it.
pub(super) struct EntryHistogram {
    /// For each part, the number of entries with each value.
    counts: Vec<Vec<u32>>,
    /// The bits set in some entries, and the bits set in all of them.
    some: u64,
    all: u64,
}

/// A task of a dense bucket: the entries with a range of values of a part.
#[derive(Clone, Debug)]
pub(super) struct DenseTask {
    part: usize,
    values: Range<u32>,
    /// The number of entries of the task.
    pub(super) entries: usize,
}

impl DenseTask {
    /// Whether this task is of the first part. Each entry of the bucket is in exactly one task of
    /// the first part.
    pub(super) fn is_of_first_part(&self) -> bool {
        self.part == 0
    }
}

impl DenseBucket {
    /// Samples the entries, and reorders their bits. `None` if no other order of bits would help.
    pub(super) fn new<'e>(
        all: impl Iterator<Item = &'e JoinEntry>,
        entries: usize,
        cut: &PairConstraints,
    ) -> Option<Self> {
        // About 1,000 entries of the whole bucket are sampled, since the order of bits needs only
        // rough frequencies.
        let sample = all.step_by(entries.div_ceil(SAMPLE).max(1));
        let sample: Vec<u64> = sample.map(|entry| arena::fingerprint(*entry)).collect();
        let (parts, width) = cut.parts_of(entries);
        let spread = BitPermutation::of(&sample, parts as usize, width as usize);
        let cut = cut.reordered(&spread);
        let split = cut.split(entries)?;
        let inside = |(index, part): (usize, &KeyBits)| (*part, cut.inside(&split, index));
        Some(Self { parts: split.parts.iter().enumerate().map(inside).collect(), spread })
    }

    /// Counts a piece of the bucket.
    pub(super) fn count(&self, entries: &[JoinEntry]) -> EntryHistogram {
        let mut counts: Vec<BucketSizes> =
            self.parts.iter().map(|(part, _)| BucketSizes::new(part.width)).collect();
        let (mut some, mut all) = (0, u64::MAX);
        for entry in entries {
            let fingerprint = arena::fingerprint(*entry);
            (some, all) = (some | fingerprint, all & fingerprint);
            // Counting all parts takes one pass. The counts show before any other work whether the
            // new order separates the entries.
            let word = self.spread.permute(fingerprint);
            for ((part, _), counts) in self.parts.iter().zip(&mut counts) {
                counts.count(part.value(word));
            }
        }
        EntryHistogram {
            counts: counts.into_iter().map(BucketSizes::into_inner).collect(),
            some,
            all,
        }
    }

    /// Divides the bucket into shares of at most `wanted` entries; a single value with more entries
    /// is one share. `None` if one value has more than half of the entries, or more than `most`
    /// entries.
    pub(super) fn shares(
        &self,
        tally: &EntryHistogram,
        wanted: usize,
        most: usize,
    ) -> Option<Vec<DenseTask>> {
        let mut shares: Vec<DenseTask> = Vec::new();
        for (part, counts) in tally.counts.iter().enumerate() {
            let entries: usize = counts.iter().map(|&count| count as usize).sum();
            let mut share = DenseTask { part, values: 0..0, entries: 0 };
            for (value, &count) in (0..).zip(counts) {
                let count = count as usize;
                // One value that most entries share cannot be divided.
                // The caller then joins the bucket whole or in pieces.
                if count > most || count > entries / 2 {
                    return None;
                }
                // A share is a range of values. Entries with the same value must be in the same
                // share, and neighbouring values need not be separated.
                if share.entries + count > wanted && share.entries > 0 {
                    shares.push(share);
                    share = DenseTask { part, values: value..value, entries: 0 };
                }
                share.entries += count;
                share.values.end = value + 1;
            }
            shares.push(share);
        }
        Some(shares)
    }

    /// Returns the entries of a share, with their ordinals.
    #[expect(clippy::indexing_slicing, reason = "a share is of one of the parts")]
    pub(super) fn take<'e>(
        &self,
        share: &DenseTask,
        all: impl Iterator<Item = &'e JoinEntry>,
    ) -> Vec<(u64, u32)> {
        let (part, _) = &self.parts[share.part];
        let mut taken = Vec::with_capacity(share.entries);
        // Each share filters the whole bucket. Filtering reads sequentially, and needs no sorted
        // copy of the bucket.
        taken.extend(all.filter_map(|entry| {
            let fingerprint = arena::fingerprint(*entry);
            let is_of_share = share.values.contains(&part.value(self.spread.permute(fingerprint)));
            is_of_share.then(|| (fingerprint, arena::ordinal(*entry)))
        }));
        assert_eq!(taken.len(), share.entries, "a share has as many entries as were counted");
        taken
    }

    /// Returns the order of bits, the part that separates the entries of a share, and the
    /// description of entries that the part does not separate.
    #[expect(clippy::indexing_slicing, reason = "a share is of one of the parts")]
    pub(super) fn of(&self, share: &DenseTask) -> (&BitPermutation, KeyBits, &PairConstraints) {
        let (part, cut) = &self.parts[share.part];
        (&self.spread, *part, cut)
    }
}

impl EntryHistogram {
    /// Returns the distribution of two pieces together.
    pub(super) fn and(mut self, other: Self) -> Self {
        for (counts, others) in self.counts.iter_mut().zip(other.counts) {
            counts.iter_mut().zip(others).for_each(|(count, other)| *count += other);
        }
        Self { some: self.some | other.some, all: self.all & other.all, ..self }
    }

    /// Returns the bits in which some entries differ.
    pub(super) fn differing(&self) -> u64 {
        // Bits that are set in some entries, but not in all. In all other bits, every two entries
        // agree.
        self.some & !self.all
    }
}
