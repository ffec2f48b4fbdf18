//! A column: a run of bytes that the caller stores, read by range.

use std::ops::Range;

use zerocopy::FromBytes;
use zerocopy::little_endian::{U16, U32, U64};

use super::candidate::Candidate;
use super::kernel::SearchKernel;
use super::line::CacheLine;
use crate::cpu::prefetch;

/// A column of a segment, read by the search.
///
/// The search reads ranges and never the whole column. So an implementation over a mapped file can
/// verify the checksums of only the touched blocks, on first touch.
///
/// An implementation returns exactly the bytes of `range`, or an error if they are not all
/// available. Every query calls it in its hot path, so a call should cost a few nanoseconds.
pub trait Column {
    /// The error of a read; the search also uses it to report contradictory content.
    type Error;

    /// Returns the bytes of `range`, counted from the start of the column.
    ///
    /// # Errors
    ///
    /// Returns an error if the range extends beyond the column, or if its bytes are damaged.
    fn bytes(&self, range: Range<u64>) -> Result<&[u8], Self::Error>;

    /// Announces a read of the cache line at byte `offset`. The call is a hint: it costs a
    /// nanosecond and cannot fail, and the offset may be beyond the end.
    fn prefetch(&self, offset: u64) {
        // A column that verifies checksums in `bytes` should override this method, since a hint
        // must not read a whole block.
        if let Ok(bytes) = self.bytes(offset..offset.saturating_add(1)) {
            prefetch(bytes);
        }
    }

    /// Returns the whole column as cache lines. The lines with the numbers `lines` are sound. The
    /// caller reads no other lines, and checks that these lines exist.
    ///
    /// # Errors
    ///
    /// Returns an error if one of the lines is damaged. For a line beyond the end, an error is
    /// optional.
    fn lines(&self, lines: impl Iterator<Item = u32>) -> Result<&[CacheLine], Self::Error>;

    /// Builds the error for an invalid value at byte `offset` of this column.
    ///
    /// `what` describes the problem in a few words, such as "it refers to a fingerprint beyond the
    /// last one".
    fn damaged(&self, offset: u64, what: &'static str) -> Self::Error;
}

/// The length of an entry in a `u16` column.
pub(super) const U16_BYTES: u64 = 2;
/// The length of an entry in a `u32` column.
pub(super) const U32_BYTES: u64 = 4;
/// The length of an entry in a `u64` column.
pub(super) const U64_BYTES: u64 = 8;

/// The error text for a column that returned another number of bytes than requested.
const WRONG_LENGTH: &str = "reading it returned another number of bytes than requested";

/// Returns entries `range` of a column of little-endian `u16`.
#[inline]
pub(super) fn u16s<C: Column>(column: &C, range: Range<u64>) -> Result<&[U16], C::Error> {
    let start = range.start * U16_BYTES;
    let bytes = column.bytes(start..range.end * U16_BYTES)?;
    match <[U16]>::ref_from_bytes(bytes) {
        // A wrong number of bytes would shift entries, or make indices of the range invalid.
        Ok(entries) if entries.len() as u64 == range.end - range.start => Ok(entries),
        _ => Err(column.damaged(start, WRONG_LENGTH)),
    }
}

/// Returns entries `range` of a column of little-endian `u64`.
#[inline]
pub(super) fn u64s<C: Column>(column: &C, range: Range<u32>) -> Result<&[U64], C::Error> {
    let start = u64::from(range.start) * U64_BYTES;
    let end = u64::from(range.end) * U64_BYTES;
    let bytes = column.bytes(start..end)?;
    match <[U64]>::ref_from_bytes(bytes) {
        Ok(entries) if entries.len() == range.len() => Ok(entries),
        _ => Err(column.damaged(start, WRONG_LENGTH)),
    }
}

/// Returns entry `index` of a column of little-endian `u32`.
#[inline]
pub(super) fn u32_at<C: Column>(column: &C, index: u32) -> Result<u32, C::Error> {
    let start = u64::from(index) * U32_BYTES;
    let bytes = column.bytes(start..start + U32_BYTES)?;
    match U32::ref_from_bytes(bytes) {
        Ok(entry) => Ok(entry.get()),
        Err(_) => Err(column.damaged(start, WRONG_LENGTH)),
    }
}

/// Returns entry `index` of a column of little-endian `u64`.
#[inline]
pub(super) fn u64_at<C: Column>(column: &C, index: u32) -> Result<u64, C::Error> {
    let start = u64::from(index) * U64_BYTES;
    let bytes = column.bytes(start..start + U64_BYTES)?;
    match U64::ref_from_bytes(bytes) {
        Ok(entry) => Ok(entry.get()),
        Err(_) => Err(column.damaged(start, WRONG_LENGTH)),
    }
}

/// Returns entry `index` of a column of ordinals, checked to be below `n`.
#[inline]
pub(super) fn ordinal_at<C: Column>(column: &C, index: u32, n: u32) -> Result<u32, C::Error> {
    let ordinal = u32_at(column, index)?;
    if ordinal >= n {
        return Err(column.damaged(
            u64::from(index) * U32_BYTES,
            "it refers to a fingerprint beyond the last fingerprint",
        ));
    }
    Ok(ordinal)
}

/// Compares a range of a canonical column, and passes on the near fingerprints in order.
#[expect(clippy::indexing_slicing, reason = "indices of the column that was compared")]
pub(super) fn scan<C: Column>(
    fingerprints: &C,
    Range { mut start, end }: Range<u32>,
    fingerprint: u64,
    k: u32,
    found: &mut dyn FnMut(Candidate),
) -> Result<(), C::Error> {
    /// The number of fingerprints per read: 64 KiB, so that the near fingerprints are still in the
    /// cache when they are read again.
    const STRIDE: u32 = 8192;
    // The first comparison only yields indices, so the words
    // of a hit are read twice, the second time from the cache.
    let kernel = SearchKernel::fastest();
    let mut near = Vec::new();
    while start < end {
        let stop = end.min(start.saturating_add(STRIDE));
        // Checksums of the blocks in this range are verified here, before any comparison.
        let column = u64s(fingerprints, start..stop)?;
        kernel.near_u64(column, fingerprint, k, &mut near);
        for index in near.drain(..) {
            found(Candidate::new(start + index, column[index as usize].get(), fingerprint));
        }
        start = stop;
    }
    Ok(())
}
