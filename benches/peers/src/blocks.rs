//! Four blocks of 16 bits: the usual way to search within a distance in a store of sorted keys.
//!
//! Each fingerprint is in four tables, rotated so that a different block comes first. By the
//! pigeonhole principle, two fingerprints within distance k differ, in some block `b` of the four,
//! by at most `(k - b) / 4` bits (by none for k = 3; for k < 3, not all blocks are needed). So the
//! candidates are the entries whose first 16 bits equal the query's, or are within that radius.

use crate::engine::{PeerHit, QueryOptions};

/// The number of tables.
pub(crate) const TABLES: usize = 4;
/// The number of bits of a fingerprint outside of its first block.
pub(crate) const REST_BITS: u32 = 48;

/// The fingerprint as it is rotated in a table.
pub(crate) fn rotate(fingerprint: u64, table: usize) -> u64 {
    fingerprint.rotate_left(16 * table as u32)
}

/// The first block of a rotated fingerprint.
pub(crate) fn block(rotated: u64) -> u16 {
    (rotated >> REST_BITS) as u16
}

/// The key of an entry in a store of ordered bytes: the rotated fingerprint and the page.
pub(crate) fn key(rotated: u64, page: u32) -> [u8; 12] {
    let mut key = [0; 12];
    key[..8].copy_from_slice(&rotated.to_be_bytes());
    key[8..].copy_from_slice(&page.to_be_bytes());
    key
}

/// The entry of a key.
pub(crate) fn entry(key: &[u8]) -> (u64, u32) {
    let (rotated, page) = key.split_first_chunk().expect("8 bytes of 12");
    (u64::from_be_bytes(*rotated), u32::from_be_bytes(page.try_into().expect("the other 4")))
}

/// The sorted entries of each table: rotated fingerprint and page.
pub(crate) struct BlockTables(pub(crate) [Vec<(u64, u32)>; TABLES]);

impl BlockTables {
    /// Builds and sorts the entries.
    pub(crate) fn new(pages: impl Iterator<Item = (u64, u32)> + Clone) -> BlockTables {
        BlockTables(std::array::from_fn(|table| {
            let rotated = |(fingerprint, page)| (rotate(fingerprint, table), page);
            let mut entries: Vec<(u64, u32)> = pages.clone().map(rotated).collect();
            entries.sort_unstable();
            entries
        }))
    }

    /// The entries of a table, bucket by bucket.
    pub(crate) fn buckets(&self, table: usize) -> impl Iterator<Item = (u16, &[(u64, u32)])> {
        let buckets = self.0[table].chunk_by(|a, b| block(a.0) == block(b.0));
        buckets.map(|bucket| (block(bucket[0].0), bucket))
    }
}

/// Selects the buckets to read and the candidates to report.
pub(crate) struct BucketPlan {
    /// The requirements of a search.
    pub(crate) wanted: QueryOptions,
    /// For each table, the masks by which the first block may differ.
    masks: [Vec<u16>; TABLES],
    radii: [Option<u32>; TABLES],
}

impl BucketPlan {
    /// Creates the plan for searches with these requirements.
    pub(crate) fn new(wanted: QueryOptions) -> BucketPlan {
        let radii: [Option<u32>; TABLES] =
            std::array::from_fn(|table| wanted.k.checked_sub(table as u32).map(|k| k / 4));
        let masks = radii.map(|radius| {
            let within = |mask: &u16| radius.is_some_and(|radius| mask.count_ones() <= radius);
            (0..=u16::MAX).filter(within).collect()
        });
        BucketPlan { wanted, masks, radii }
    }

    /// The buckets of a table for a query.
    pub(crate) fn blocks(&self, table: usize, fingerprint: u64) -> impl Iterator<Item = u16> {
        let own = block(rotate(fingerprint, table));
        self.masks[table].iter().map(move |mask| own ^ mask)
    }

    /// Reports a candidate of a table if it is near and no earlier table reported it.
    #[inline]
    pub(crate) fn report(
        &self,
        table: usize,
        query: u64,
        entry: (u64, u32),
        hits: &mut Vec<PeerHit>,
    ) {
        let differing = rotate(query, table) ^ entry.0;
        let distance = differing.count_ones();
        if distance <= self.wanted.k {
            self.report_near(table, differing, entry.1, hits);
        }
    }

    /// Reports a fingerprint that is known to be near.
    #[cold]
    #[inline(never)]
    pub(crate) fn report_near(&self, table: usize, bits: u64, page: u32, hits: &mut Vec<PeerHit>) {
        let known = |before: &usize| {
            let differing = bits.rotate_right(16 * (table - before) as u32);
            self.radii[*before].is_some_and(|radius| block(differing).count_ones() <= radius)
        };
        if !(0..table).any(|before| known(&before)) {
            hits.push(PeerHit { distance: bits.count_ones(), page });
        }
    }
}
