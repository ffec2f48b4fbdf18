//! How often each feature of one document occurs.

use std::hash::{BuildHasher, RandomState};

/// A feature and its occurrences.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(super) struct Tallied {
    pub(super) hash: u64,
    /// How often it occurs.
    pub(super) count: u64,
}

/// Counts features by hash. The memory is kept from document to document: 50 to 100 bytes for each
/// distinct feature of the largest.
#[derive(Clone, Debug)]
pub(super) struct Tally {
    /// Open addressing; one that occurs never is free. A power of two long, and at least twice as
    /// long as there are features.
    slots: Vec<Tallied>,
    /// What the occurrences of each slot's feature weigh together by their places, in units of 2⁻¹⁶;
    /// empty where places do not matter.
    places: Vec<u64>,
    /// The slots that are taken, in the order in which their features first occurred, and one more
    /// place.
    taken: Vec<u32>,
    len: usize,
    /// Drawn at random, so that nobody can write a text whose features all fall into one slot.
    factor: u64,
}

/// Slots of an empty tally.
const SLOTS_MIN: usize = 1 << 10;

impl Tally {
    pub(super) fn new() -> Tally {
        Tally {
            slots: vec![Tallied::default(); SLOTS_MIN],
            places: Vec::new(),
            taken: vec![0; SLOTS_MIN / 2 + 1],
            len: 0,
            factor: RandomState::new().hash_one(0u64) | 1,
        }
    }

    /// Counts an occurrence of each.
    #[inline]
    pub(super) fn add_all(&mut self, hashes: &[u64]) {
        for hash in hashes {
            self.add(*hash);
        }
    }

    /// Counts an occurrence that weighs `place` by its place.
    pub(super) fn add_placed(&mut self, hash: u64, place: u64) {
        if self.places.is_empty() {
            self.places.resize(self.slots.len(), 0);
        }
        let slot = self.add(hash);
        if let Some(places) = self.places.get_mut(slot) {
            *places = places.saturating_add(place);
        }
    }

    /// Counts an occurrence, and says in which slot.
    #[inline]
    fn add(&mut self, hash: u64) -> usize {
        if self.len * 2 >= self.slots.len() {
            self.grow();
        }
        let mask = self.slots.len() - 1;
        let mut at = self.slot(hash);
        while let Some(slot) = self.slots.get_mut(at) {
            // One branch for both: whether it was there before nobody can guess.
            if (slot.count == 0) | (slot.hash == hash) {
                let new = slot.count == 0;
                *slot = Tallied { hash, count: slot.count + 1 };
                if let Some(next) = self.taken.get_mut(self.len) {
                    // A number of slots beyond that would take 64 GB.
                    *next = u32::try_from(at).unwrap_or(u32::MAX);
                }
                self.len += usize::from(new);
                return at;
            }
            at = (at + 1) & mask;
        }
        at
    }

    #[inline]
    fn slot(&self, hash: u64) -> usize {
        let bits = self.slots.len().ilog2();
        // The upper bits of a product depend on all bits of the hash.
        #[expect(clippy::cast_possible_truncation, reason = "as many bits as a length has")]
        let slot = (hash.wrapping_mul(self.factor) >> (64 - bits)) as usize;
        slot
    }

    #[cold]
    fn grow(&mut self) {
        let slots = self.slots.len() * 2;
        let before = std::mem::replace(&mut self.slots, vec![Tallied::default(); slots]);
        let places = std::mem::take(&mut self.places);
        if !places.is_empty() {
            self.places.resize(slots, 0);
        }
        self.taken.resize(slots / 2 + 1, 0);
        for nth in 0..self.len {
            let Some(taken) = self.taken.get(nth).map(|taken| *taken as usize) else { return };
            let Some(feature) = before.get(taken) else { return };
            let mut at = self.slot(feature.hash);
            while self.slots.get(at).is_some_and(|slot| slot.count != 0) {
                at = (at + 1) & (slots - 1);
            }
            self.slots.get_mut(at).into_iter().for_each(|slot| *slot = *feature);
            if let (Some(to), Some(from)) = (self.places.get_mut(at), places.get(taken)) {
                *to = *from;
            }
            let at = u32::try_from(at).unwrap_or(u32::MAX);
            self.taken.get_mut(nth).into_iter().for_each(|taken| *taken = at);
        }
    }

    fn taken(&self) -> impl Iterator<Item = usize> + '_ {
        self.taken.iter().take(self.len).map(|slot| *slot as usize)
    }

    /// The features, in the order in which they first occurred.
    pub(super) fn features(&self) -> impl Iterator<Item = Tallied> + '_ {
        self.taken().filter_map(|slot| self.slots.get(slot).copied())
    }

    /// What their occurrences weigh by their places, in the same order.
    pub(super) fn places(&self) -> impl Iterator<Item = u64> + '_ {
        self.taken().map(|slot| self.places.get(slot).copied().unwrap_or(0))
    }

    /// Forgets them, and memory beyond what so many features take.
    pub(super) fn clear(&mut self, features_kept: usize) {
        let kept = (4 * features_kept).next_power_of_two().max(SLOTS_MIN);
        if self.slots.len() > kept {
            self.slots = vec![Tallied::default(); kept];
            self.taken = vec![0; kept / 2 + 1];
            self.places = Vec::new();
        } else {
            for slot in self.taken.iter().take(self.len) {
                let slot = *slot as usize;
                self.slots.get_mut(slot).into_iter().for_each(|slot| *slot = Tallied::default());
                self.places.get_mut(slot).into_iter().for_each(|place| *place = 0);
            }
        }
        self.len = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn tallied(tally: &Tally) -> Vec<(u64, u64, u64)> {
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
    fn a_large_document_is_counted_and_forgotten() {
        let mut tally = Tally::new();
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
        assert_eq!(tally.slots.len(), SLOTS_MIN);
    }

    proptest! {
        #[test]
        fn features_are_counted_as_by_the_definition(
            documents in prop::collection::vec(
                prop::collection::vec((0u64..700, 0u64..9), 0..900), 1..4),
            kept in 0usize..1000,
        ) {
            let mut tally = Tally::new();
            for document in documents {
                document.iter().for_each(|&(hash, place)| tally.add_placed(hash, place));
                prop_assert_eq!(tallied(&tally), naive(&document));
                tally.clear(kept);
            }
            // Without places.
            tally.add_all(&[1, 2, 1]);
            prop_assert_eq!(tallied(&tally), vec![(1, 2, 0), (2, 1, 0)]);
        }
    }
}
