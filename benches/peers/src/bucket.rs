//! A bucket in one value: all entries of a table that share their first block, as a column of
//! rotated fingerprints (8 bytes each, little-endian) and a column of pages (4 bytes each).
//!
//! So a search costs a key-value store four lookups, and no iteration over rows. An insert would
//! rewrite the whole bucket; that cost is not measured here.

use crate::blocks::BucketPlan;
use crate::engine::PeerHit;
use crate::kernel::{ColumnWord, ScanKernel};

/// Writes a bucket.
pub(crate) fn encode(entries: &[(u64, u32)], value: &mut Vec<u8>) {
    value.clear();
    value.extend(entries.iter().flat_map(|(rotated, _)| rotated.to_le_bytes()));
    value.extend(entries.iter().flat_map(|(_, page)| page.to_le_bytes()));
}

/// Searches in buckets.
pub(crate) struct BucketReader {
    kernel: ScanKernel,
    places: Vec<u32>,
}

impl BucketReader {
    /// Selects the loop that is fastest on a bucket of average size.
    pub(crate) fn new(n: usize) -> BucketReader {
        BucketReader { kernel: ScanKernel::fastest((n >> 16).max(1)), places: Vec::new() }
    }

    /// Reports the near entries in a bucket of a table.
    pub(crate) fn read(
        &mut self,
        plan: &BucketPlan,
        table: usize,
        query: u64,
        value: &[u8],
        hits: &mut Vec<PeerHit>,
    ) {
        let (column, pages) = value.split_at(value.len() / 12 * 8);
        let column: &[ColumnWord] = column.as_chunks().0;
        let rotated = crate::blocks::rotate(query, table);
        (self.kernel.near)(column, rotated, plan.wanted.k, &mut self.places);
        for place in self.places.drain(..) {
            let place = place as usize;
            let page = u32::from_le_bytes(pages.as_chunks().0[place]);
            let differing = u64::from_le_bytes(column[place]) ^ rotated;
            plan.report_near(table, differing, page, hits);
        }
    }
}
