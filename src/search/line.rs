//! Memory lines of places of 16 bits, two of which make a number.

use zerocopy::little_endian::U16;

/// A memory line: 64 bytes.
pub type Line = [U16; LINE_PLACES as usize];

/// Bytes of a [`Line`].
pub const LINE_BYTES: u64 = size_of::<Line>() as u64;

/// Places of a line.
pub(super) const LINE_PLACES: u32 = 32;

/// The first of two places that say which the first entry of a bucket or of a line is.
pub(super) const NUMBER: u32 = LINE_PLACES - 2;

/// Set in what is said there: there are more entries than there is room for, and they stand elsewhere.
pub(super) const GOES_ON: u32 = 1 << 31;

/// Puts a number into two places.
pub(super) fn put(places: &mut [U16], at: u32, number: u32) {
    let at = at as usize;
    if let Some([low, high]) = places.get_mut(at..at + 2) {
        #[expect(clippy::cast_possible_truncation, reason = "the two halves are what is wanted")]
        let (low_half, high_half) = (number as u16, (number >> 16) as u16);
        low.set(low_half);
        high.set(high_half);
    }
}

/// The number in two places; 0 if there are no such places.
#[inline(always)]
pub(super) fn number(places: &[U16], at: u32) -> u32 {
    match places.get(at as usize..at as usize + 2) {
        Some([low, high]) => u32::from(low.get()) | u32::from(high.get()) << 16,
        _ => 0,
    }
}
