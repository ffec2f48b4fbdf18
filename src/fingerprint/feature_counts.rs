//! Counts the features of one document.

use std::hash::{BuildHasher, RandomState};

/// A feature and its occurrences.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(super) struct FeatureCount {
    pub(super) hash: u64,
    /// The number of occurrences.
    pub(super) count: u64,
}

impl FeatureCount {
    /// Returns the count as stored in a slot.
    #[expect(clippy::cast_possible_truncation, reason = "it came from as many bits")]
    fn bits_of_count(self) -> u32 {
        self.count as u32
    }
}

/// Counts features by hash. The memory is kept from document to document: 50 to 100 bytes for each
/// distinct feature of the largest.
#[derive(Clone, Debug)]
pub(super) struct FeatureCounts {
    /// A power of two of lines, with at least twice as many slots as features.
    lines: Vec<CountBucket>,
    /// The position weights of all occurrences of each slot's feature, in units of 2⁻¹⁶; empty if
    /// positions do not matter.
    places: Vec<u64>,
    /// The occupied slots in the order in which their features first occurred, and one spare
    /// element.
    taken: Vec<u32>,
    len: usize,
    /// Random, so that no text can be crafted whose features all collide in one line.
    factor: u64,
}

/// The number of slots in a line.
const SLOTS: usize = 4;

/// A cache line. The slots of a line are filled in order, before the slots of the next line.
#[derive(Clone, Copy, Debug, Default)]
#[repr(align(64))]
struct CountBucket {
    hashes: [u64; SLOTS],
    /// The count of each slot; 0 for a free slot. A count saturates, which takes 8 GB of text.
    counts: [u32; SLOTS],
}

/// The number of lines of an empty tally.
const LINES_MIN: usize = 1 << 8;

impl CountBucket {
    /// Returns the slot of a hash, or the first free slot. Checks all slots without a branch,
    /// because the position cannot be predicted.
    #[inline]
    fn slot(&self, hash: u64) -> Option<usize> {
        let (mut known, mut free) = (0u32, 0u32);
        for (slot, (other, count)) in self.hashes.iter().zip(self.counts).enumerate() {
            known |= u32::from(*other == hash) << slot;
            free |= u32::from(count == 0) << slot;
        }
        let fit = if known == 0 { free } else { known };
        (fit != 0).then_some(fit.trailing_zeros() as usize)
    }
}

impl FeatureCounts {
    pub(super) fn new() -> FeatureCounts {
        FeatureCounts {
            lines: vec![CountBucket::default(); LINES_MIN],
            places: Vec::new(),
            taken: vec![0; LINES_MIN * SLOTS / 2 + 1],
            len: 0,
            factor: RandomState::new().hash_one(0u64) | 1,
        }
    }

    /// Counts an occurrence of each hash.
    #[inline]
    pub(super) fn add_all(&mut self, hashes: &[u64]) {
        for hash in hashes {
            self.add(*hash, 1);
        }
    }

    /// Counts an occurrence with the position weight `place`.
    #[expect(clippy::indexing_slicing, reason = "there is a place for each slot")]
    pub(super) fn add_placed(&mut self, hash: u64, place: u64) {
        let slot = self.add(hash, 1);
        self.places.resize(self.lines.len() * SLOTS, 0);
        self.places[slot] = self.places[slot].saturating_add(place);
    }

    /// Counts occurrences, and returns the slot.
    #[inline]
    #[expect(
        clippy::indexing_slicing,
        reason = "lines are a power of two; half of the slots are taken"
    )]
    #[expect(
        clippy::cast_possible_truncation,
        reason = "more slots than 32 bits can index take 64 GB"
    )]
    fn add(&mut self, hash: u64, count: u32) -> usize {
        if self.len * 2 >= self.lines.len() * SLOTS {
            self.grow();
        }
        let mask = self.lines.len() - 1;
        let mut at = self.line(hash);
        loop {
            let line = &mut self.lines[at];
            if let Some(slot) = line.slot(hash) {
                let place = at * SLOTS + slot;
                self.taken[self.len] = place as u32;
                let counted = &mut line.counts[slot];
                self.len += usize::from(*counted == 0);
                *counted = counted.saturating_add(count);
                line.hashes[slot] = hash;
                return place;
            }
            at = (at + 1) & mask;
        }
    }

    #[inline]
    fn line(&self, hash: u64) -> usize {
        let bits = self.lines.len().ilog2();
        // The upper bits of a product depend on all bits of the hash.
        #[expect(clippy::cast_possible_truncation, reason = "as many bits as a length has")]
        let line = (hash.wrapping_mul(self.factor) >> (64 - bits)) as usize;
        line
    }

    #[cold]
    #[expect(clippy::indexing_slicing, reason = "there is a place for each slot")]
    fn grow(&mut self) {
        let lines = self.lines.len() * 2;
        let before = std::mem::replace(self, FeatureCounts::new());
        self.factor = before.factor;
        self.empty(lines);
        for (feature, place) in before.features().zip(before.places()) {
            let slot = self.add(feature.hash, feature.bits_of_count());
            if !before.places.is_empty() {
                self.places.resize(self.lines.len() * SLOTS, 0);
                self.places[slot] = place;
            }
        }
    }

    /// Clears the tally, with this many lines.
    fn empty(&mut self, lines: usize) {
        self.lines = vec![CountBucket::default(); lines];
        self.taken = vec![0; lines * SLOTS / 2 + 1];
        self.places = Vec::new();
        self.len = 0;
    }

    fn taken(&self) -> impl Iterator<Item = usize> + '_ {
        self.taken.iter().take(self.len).map(|slot| *slot as usize)
    }

    /// Returns the number of features.
    pub(super) fn len(&self) -> usize {
        self.len
    }

    /// Removes features with hashes greater than `last`. Keeps the memory.
    pub(super) fn forget_above(&mut self, last: u64) {
        let kept: Vec<FeatureCount> =
            self.features().filter(|feature| feature.hash <= last).collect();
        self.reset();
        for feature in kept {
            self.add(feature.hash, feature.bits_of_count());
        }
    }

    /// Returns the features in the order in which they first occurred.
    #[expect(clippy::indexing_slicing, reason = "slots that are taken")]
    pub(super) fn features(&self) -> impl Iterator<Item = FeatureCount> + '_ {
        self.taken().map(|slot| {
            let (line, slot) = (&self.lines[slot / SLOTS], slot % SLOTS);
            FeatureCount { hash: line.hashes[slot], count: line.counts[slot].into() }
        })
    }

    /// Returns the position weights of the features, in the order of [`features`](Self::features);
    /// 0 if positions do not matter.
    #[expect(clippy::indexing_slicing, reason = "there is a place for each slot, or for none")]
    pub(super) fn places(&self) -> impl Iterator<Item = u64> + '_ {
        self.taken().map(|slot| if self.places.is_empty() { 0 } else { self.places[slot] })
    }

    /// Removes all features, and frees memory beyond the need of `features_kept` features.
    pub(super) fn clear(&mut self, features_kept: usize) {
        let kept = (4 * features_kept / SLOTS).next_power_of_two().max(LINES_MIN);
        if self.lines.len() > kept {
            self.empty(kept);
        } else {
            self.reset();
        }
    }

    /// Removes all features, and keeps the memory.
    #[expect(clippy::indexing_slicing, reason = "slots that are taken")]
    fn reset(&mut self) {
        for slot in self.taken.iter().take(self.len) {
            let slot = *slot as usize;
            self.lines[slot / SLOTS] = CountBucket::default();
            if !self.places.is_empty() {
                self.places[slot] = 0;
            }
        }
        self.len = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn tallied(tally: &FeatureCounts) -> Vec<(u64, u64, u64)> {
        tally.features().zip(tally.places()).map(|(f, place)| (f.hash, f.count, place)).collect()
    }

    fn naive(features: &[(u64, u64)]) -> Vec<(u64, u64, u64)> {
        let mut all: Vec<(u64, u64, u64)> = Vec::new();
        for &(hash, place) in features {
            match all.iter_mut().find(|f| f.0 == hash) {
                Some(known) => (known.1, known.2) = (known.1 + 1, known.2 + place),
                None => all.push((hash, 1, place)),
            }
        }
        all
    }

    #[test]
    fn large_document_is_counted_and_cleared() {
        let mut tally = FeatureCounts::new();
        for round in 0..3 {
            for n in 0..50_000u64 {
                tally.add_placed(n * n % 9973, round);
            }
            let distinct = tally.features().count();
            assert!((4000..9973).contains(&distinct));
            assert_eq!(tally.features().map(|f| f.count).sum::<u64>(), 50_000);
            tally.clear(100);
            assert_eq!(tally.features().next(), None);
            for _ in 0..3 {
                tally.add_placed(7, 1);
                assert_eq!(tallied(&tally), [(7, 1, 1)]);
                tally.clear(100);
            }
        }
        assert_eq!(tally.lines.len(), LINES_MIN);
    }

    proptest! {
        #[test]
        fn feature_counts_match_the_definition(
            documents in prop::collection::vec(
                prop::collection::vec((0u64..700, 0u64..9), 0..900), 1..4),
            kept in 0usize..1000,
        ) {
            let mut tally = FeatureCounts::new();
            for document in documents {
                document.iter().for_each(|&(hash, place)| tally.add_placed(hash, place));
                prop_assert_eq!(tallied(&tally), naive(&document));
                tally.clear(kept);
            }
            // Counts without position weights.
            tally.add_all(&[1, 2, 1]);
            prop_assert_eq!(tallied(&tally), vec![(1, 2, 0), (2, 1, 0)]);
        }
    }
}
