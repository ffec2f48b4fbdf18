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
pub(crate) const GOES_ON: u32 = 1 << 31;

/// Puts a number into two places.
#[expect(clippy::indexing_slicing, reason = "they are of a line, or of whole lines")]
#[expect(clippy::cast_possible_truncation, reason = "the two halves are what is wanted")]
pub(super) fn put(places: &mut [U16], at: u32, number: u32) {
    let at = at as usize;
    places[at + 1].set((number >> 16) as u16);
    places[at].set(number as u16);
}

/// The number in two places.
#[inline(always)]
#[expect(clippy::indexing_slicing, reason = "they are of a line, or of whole lines")]
pub(super) fn number(places: &[U16], at: u32) -> u32 {
    let (high, low) = (places[at as usize + 1], places[at as usize]);
    u32::from(low.get()) | u32::from(high.get()) << 16
}
