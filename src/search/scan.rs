//! Scanning the canonical column.

use std::ops::Range;

use super::candidate::Candidate;
use super::column::{Column, u64s};
use super::kernel::Kernel;

/// Compares a range of a canonical column, and hands over what is near, in order.
#[expect(clippy::indexing_slicing, reason = "indices of the column that was compared")]
pub(super) fn scan<C: Column>(
    fingerprints: &C,
    Range { mut start, end }: Range<u32>,
    fingerprint: u64,
    k: u32,
    mut found: impl FnMut(Candidate),
) -> Result<(), C::Error> {
    /// Fingerprints read at a time: 64 KiB, so that they are still in the cache when those
    /// that are near are looked at again.
    const STRIDE: u32 = 8192;
    let kernel = Kernel::fastest();
    let mut near = Vec::new();
    while start < end {
        let stop = end.min(start.saturating_add(STRIDE));
        let column = u64s(fingerprints, start..stop)?;
        kernel.near_u64(column, fingerprint, k, &mut near);
        for index in near.drain(..) {
            found(Candidate::new(start + index, column[index as usize].get(), fingerprint));
        }
        start = stop;
    }
    Ok(())
}
