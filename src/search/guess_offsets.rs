//! What lookups of single values remember, so that later lookups guess better.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicI16, Ordering};

/// The base-2 logarithm of the minimum number of entries in a part.
const PART_BITS_MIN: u32 = 6;

/// The base-2 logarithm of the maximum number of parts. The processor's own cache keeps 8,192 offsets;
/// with four times as many, reading an offset took as long as it saved.
const PARTS_BITS_MAX: u32 = 13;

/// How far the values of the last lookups were from their expected places: a number for each part of
/// a column. Adjacent entries have nearly the same offset, so a lookup makes the next one nearby
/// guess better. Wrong offsets cost time, never a value.
///
/// Evenly spread values are a random walk about their expected places. In a column of ten million,
/// an entry is some hundred entries away, and two entries of one part differ by some twenty.
///
/// Memory: nothing until the first lookup, then at most 16 KiB.
#[derive(Debug)]
pub(crate) struct GuessOffsets {
    /// An offset for each part.
    offsets: OnceLock<Box<[AtomicI16]>>,
    /// The number of entries in the column.
    entries: u32,
    /// The base-2 logarithm of the number of entries in a part.
    part_bits: u32,
}

impl GuessOffsets {
    /// Creates the offsets of a column with this number of entries.
    pub(crate) fn new(entries: u32) -> GuessOffsets {
        let bits = u32::BITS - entries.leading_zeros();
        let part_bits = bits.saturating_sub(PARTS_BITS_MAX).max(PART_BITS_MIN);
        GuessOffsets { offsets: OnceLock::new(), entries, part_bits }
    }

    /// The offset of the part with an expected place; `None` for a place beyond the column, which
    /// only a damaged column expects.
    fn of(&self, expected: u32) -> Option<&AtomicI16> {
        let parts = 0..=self.entries >> self.part_bits;
        let offsets = self.offsets.get_or_init(|| parts.map(|_| AtomicI16::new(0)).collect());
        offsets.get((expected >> self.part_bits) as usize)
    }

    /// Returns how far an entry probably is from its expected place.
    pub(super) fn at(&self, expected: u32) -> i32 {
        self.of(expected).map_or(0, |offset| offset.load(Ordering::Relaxed).into())
    }

    /// Remembers the place of an entry.
    pub(super) fn learn(&self, expected: u32, place: u32) {
        let offset = i64::from(place) - i64::from(expected);
        // So far away are only values that somebody chose. Guesses are no better for them.
        let offset = i16::try_from(offset).unwrap_or(0);
        if let Some(known) = self.of(expected) {
            // The mean of the last few is nearer to the next one than the last one alone. If another
            // thread stores at the same time, one of the two offsets is lost, which costs nothing.
            known.store(known.load(Ordering::Relaxed).midpoint(offset), Ordering::Relaxed);
        }
    }
}
