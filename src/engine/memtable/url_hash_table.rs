//! Page numbers by URL hash, for the memtable.

use crate::cpu::prefetch_value;

/// An open-addressed hash table. A lookup reads one cache line, which can be prefetched.
///
/// A slot has the high half of a hash and a page number, so nearly every candidate is the right
/// page. The table does not store the hashes: the caller passes them when the table grows.
#[derive(Debug, Default)]
pub(super) struct UrlHashTable {
    /// The slots. Their number is 0 or a power of two; at most three quarters are used.
    slots: Vec<u64>,
    used: usize,
}

/// The value of an empty slot: page numbers stay below 2^32 - 1.
const EMPTY: u64 = u64::MAX;

/// The number of slots of a table after its first insertion.
const SLOTS_MIN: usize = 64;

impl UrlHashTable {
    /// Removes all pages, and keeps the memory.
    pub(super) fn clear(&mut self) {
        self.slots.fill(EMPTY);
        self.used = 0;
    }

    /// The number of bytes of used memory.
    pub(super) fn memory_bytes(&self) -> usize {
        self.slots.capacity() * size_of::<u64>()
    }

    /// The first slot for a hash, by the low half of the hash.
    #[expect(clippy::cast_possible_truncation, reason = "the low half")]
    fn start(&self, hash: u64) -> usize {
        // Without slots the mask has all bits, and the caller does not use the result.
        (hash as u32) as usize & self.slots.len().wrapping_sub(1)
    }

    /// Prefetches the cache line that a lookup reads.
    pub(super) fn prefetch(&self, hash: u64) {
        if let Some(slot) = self.slots.get(self.start(hash)) {
            prefetch_value(slot);
        }
    }

    /// The numbers of the pages that may have the hash `hash`.
    pub(super) fn candidates(&self, hash: u64) -> impl Iterator<Item = u32> {
        // Linear probing: from the start to the end of the table, then from its beginning.
        let (before, after) = self.slots.split_at(self.start(hash).min(self.slots.len()));
        let slots = after.iter().chain(before).copied().take_while(|slot| *slot != EMPTY);
        #[expect(clippy::cast_possible_truncation, reason = "the low half is the page number")]
        slots.filter(move |slot| (slot ^ hash) >> 32 == 0).map(|slot| slot as u32)
    }

    /// Adds a page that is not in the table. `hash_of` returns the hashes of existing pages.
    pub(super) fn insert(&mut self, hash: u64, number: u32, hash_of: impl Fn(u32) -> u64) {
        // A search ends at an empty slot, so there must always be an empty slot.
        if (self.used + 1) * 4 > self.slots.len() * 3 {
            let slots = (self.slots.len() * 2).max(SLOTS_MIN);
            let old = std::mem::replace(&mut self.slots, vec![EMPTY; slots]);
            for slot in old.into_iter().filter(|slot| *slot != EMPTY) {
                #[expect(
                    clippy::cast_possible_truncation,
                    reason = "the low half is the page number"
                )]
                let number = slot as u32;
                self.put(hash_of(number), number);
            }
        }
        self.put(hash, number);
        self.used += 1;
    }

    #[expect(clippy::expect_used, reason = "a quarter of the slots is free at least")]
    fn put(&mut self, hash: u64, number: u32) {
        let start = self.start(hash);
        let (before, after) = self.slots.split_at_mut(start);
        let free = after.iter_mut().chain(before).find(|slot| **slot == EMPTY);
        *free.expect("a slot is free") = hash & !0xffff_ffff | u64::from(number);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_number_is_found_by_its_hash() {
        // The hashes collide in their low halves, in their high halves, and in both.
        let hash = |n: u32| u64::from(n % 7) << 32 | u64::from(n / 50) | 0xffff_ff00;
        let mut numbers = UrlHashTable::default();
        assert_eq!(numbers.candidates(3).next(), None);
        for n in 0..1000 {
            numbers.insert(hash(n), n, hash);
        }
        for n in 0..1000 {
            assert!(numbers.candidates(hash(n)).any(|found| found == n));
            assert!(numbers.candidates(hash(n)).all(|found| found % 7 == n % 7));
        }
        assert_eq!(numbers.candidates(9 << 32).next(), None);
        numbers.clear();
        assert_eq!(numbers.candidates(hash(1)).next(), None);
    }
}
