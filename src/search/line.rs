//! Cache lines of 16-bit places. Two places of a line store a number.

use zerocopy::little_endian::U16;

/// A cache line: 64 bytes.
pub type CacheLine = [U16; LINE_PLACES as usize];

/// The length of a [`CacheLine`] in bytes.
pub const LINE_BYTES: u64 = size_of::<CacheLine>() as u64;

/// The number of places in a line.
pub(super) const LINE_PLACES: u32 = 32;

/// The first of the two places that store the number of the first entry of a bucket or of a line.
pub(super) const NUMBER: u32 = LINE_PLACES - 2;

/// A flag in the number at [`NUMBER`]: the bucket or line has more entries than fit, and continues
/// elsewhere.
pub(crate) const GOES_ON: u32 = 1 << 31;

/// Writes a number to two places.
#[expect(clippy::indexing_slicing, reason = "they are of a line, or of whole lines")]
#[expect(clippy::cast_possible_truncation, reason = "takes the two halves")]
pub(super) fn put(places: &mut [U16], at: u32, number: u32) {
    let at = at as usize;
    places[at + 1].set((number >> 16) as u16);
    places[at].set(number as u16);
}

/// Reads the number in two places.
#[inline(always)]
#[expect(clippy::indexing_slicing, reason = "they are of a line, or of whole lines")]
pub(super) fn number(places: &[U16], at: u32) -> u32 {
    let (high, low) = (places[at as usize + 1], places[at as usize]);
    u32::from(low.get()) | u32::from(high.get()) << 16
}
