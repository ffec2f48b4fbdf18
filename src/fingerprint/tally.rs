//! How often each feature of one document occurs.

use std::hash::{BuildHasher, RandomState};

/// A feature and its occurrences.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) struct Tallied {
    pub(super) hash: u64,
    /// How often it occurs.
    pub(super) count: u64,
    /// What its occurrences weigh together by their places, in units of 2⁻¹⁶.
    pub(super) places: u64,
}

/// Counts features by hash, in the order in which they first occur. The memory is kept from document
/// to document: 32 to 64 bytes for each distinct feature of the largest.
#[derive(Clone, Debug)]
pub(super) struct Tally {
    features: Vec<Tallied>,
    /// Open addressing: one more than the place in `features`, or 0. A power of two long, and at
    /// least twice as long as `features`.
    slots: Vec<u32>,
    /// Drawn at random, so that nobody can write a text whose features all fall into one slot.
    factor: u64,
}

/// Slots of an empty tally.
const SLOTS_MIN: usize = 1 << 10;

impl Tally {
    pub(super) fn new() -> Tally {
        Tally {
            features: Vec::with_capacity(SLOTS_MIN / 2),
            slots: vec![0; SLOTS_MIN],
            factor: RandomState::new().hash_one(0u64) | 1,
        }
    }

    /// Counts an occurrence that weighs `place` by its place.
    #[inline]
    pub(super) fn add(&mut self, hash: u64, place: u64) {
        let mut slot = self.slot(hash);
        loop {
            let Some(place_of) = self.slots.get_mut(slot) else { return };
            match place_of.checked_sub(1) {
                None => {
                    // Four billion distinct features would take 100 GB.
                    let Ok(number) = u32::try_from(self.features.len() + 1) else { return };
                    *place_of = number;
                    self.features.push(Tallied { hash, count: 1, places: place });
                    if self.features.len() * 2 > self.slots.len() {
                        self.grow();
                    }
                    return;
                }
                Some(known) => {
                    if let Some(feature) = self.features.get_mut(known as usize)
                        && feature.hash == hash
                    {
                        feature.count += 1;
                        feature.places = feature.places.saturating_add(place);
                        return;
                    }
                }
            }
            slot = (slot + 1) & (self.slots.len() - 1);
        }
    }

    #[inline]
    fn slot(&self, hash: u64) -> usize {
        let bits = self.slots.len().ilog2();
        // The upper bits of a product depend on all bits of the hash.
        #[expect(clippy::cast_possible_truncation, reason = "as many bits as a length has")]
        let slot = (hash.wrapping_mul(self.factor) >> (64 - bits)) as usize;
        slot
    }

    fn grow(&mut self) {
        let slots = self.slots.len() * 2;
        self.slots.clear();
        self.slots.resize(slots, 0);
        for (number, feature) in (1..).zip(&self.features) {
            let mut slot = self.slot(feature.hash);
            while self.slots.get(slot).is_some_and(|taken| *taken != 0) {
                slot = (slot + 1) & (slots - 1);
            }
            if let Some(free) = self.slots.get_mut(slot) {
                *free = number;
            }
        }
    }

    /// The features, in the order in which they first occurred.
    pub(super) fn features(&self) -> &[Tallied] {
        &self.features
    }

    /// Forgets them.
    pub(super) fn clear(&mut self) {
        // One large document must not slow down all small ones after it.
        if self.slots.len() > 16 * self.features.len().max(SLOTS_MIN / 16) {
            self.slots.truncate(SLOTS_MIN);
        }
        self.slots.fill(0);
        self.features.clear();
    }

    /// Gives back memory beyond what so many features take.
    pub(super) fn shrink_to(&mut self, features: usize) {
        self.features.shrink_to(features);
        self.slots.shrink_to(4 * features);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn tallied(tally: &Tally) -> Vec<(u64, u64, u64)> {
        tally.features().iter().map(|f| (f.hash, f.count, f.places)).collect()
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
    fn a_large_document_is_counted_and_forgotten() {
        let mut tally = Tally::new();
        for round in 0..3 {
            for n in 0..50_000u64 {
                tally.add(n * n % 9973, round);
            }
            let distinct = tally.features().len();
            assert!((4000..9973).contains(&distinct));
            assert_eq!(tally.features().iter().map(|f| f.count).sum::<u64>(), 50_000);
            tally.clear();
            assert_eq!(tally.features(), []);
            for _ in 0..3 {
                tally.add(7, 1);
                assert_eq!(tallied(&tally), [(7, 1, 1)]);
                tally.clear();
            }
        }
        assert_eq!(tally.slots.len(), SLOTS_MIN);
    }

    proptest! {
        #[test]
        fn features_are_counted_as_by_the_definition(
            documents in prop::collection::vec(
                prop::collection::vec((0u64..700, 0u64..9), 0..900), 1..4),
        ) {
            let mut tally = Tally::new();
            for document in documents {
                document.iter().for_each(|&(hash, place)| tally.add(hash, place));
                prop_assert_eq!(tallied(&tally), naive(&document));
                tally.clear();
            }
        }
    }
}
