//! Finding a page by its URL: a filter that rules out most segments with one cache line, and an
//! index by hash. A hash only hints; the URL decides.

use std::ops::Range;

use super::file::{SectionRef, Segment};
use crate::cpu::{prefetch, prefetch_value};
use crate::error::Result;
use crate::layout::{Cursor, Kind, Tag};

/// Bits of filter for each page.
const FILTER_BITS: u64 = 12;
/// A filter block is one cache line.
const FILTER_BLOCK_BYTES: u64 = 64;
/// Bits that a hash sets in its block.
const FILTER_PROBES: u32 = 7;

/// The hash of a URL in a store with this seed.
pub(crate) fn url_hash(url: &str, seed: u64) -> u64 {
    let hash = xxhash_rust::xxh3::xxh3_64_with_seed(url.as_bytes(), seed);
    if cfg!(feature = "narrow-hash") { (hash & 0xff) * 0x0101_0101_0101_0101 } else { hash }
}

/// Blocks of the filter over `pages` hashes.
fn filter_blocks(pages: u64) -> u64 {
    (pages * FILTER_BITS).div_ceil(FILTER_BLOCK_BYTES * 8)
}

/// Bytes of the filter over `pages` hashes.
pub(super) fn filter_bytes(pages: u64) -> u64 {
    filter_blocks(pages) * FILTER_BLOCK_BYTES
}

/// The place of `hash` among `count` equal ranges; ascending with the hash.
fn scale(hash: u64, count: u64) -> u64 {
    let product = u128::from(hash) * u128::from(count);
    u64::try_from(product >> 64).unwrap_or(0)
}

/// The bits of a filter block that `hash` sets.
fn filter_bits(hash: u64) -> impl Iterator<Item = usize> {
    // The block was chosen by the high bits; these come from a product that all bits go into.
    let mixed = hash.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    (0..FILTER_PROBES).map(move |i| usize::try_from(mixed >> (1 + 9 * i) & 511).unwrap_or(0))
}

/// Top bits of a hash that the directory goes by: about four pages to a bucket.
fn directory_bits(pages: u64) -> u32 {
    (pages / 4).checked_ilog2().unwrap_or(0).min(28)
}

/// Bytes of the directory over `pages` hashes.
pub(super) fn directory_bytes(pages: u64) -> u64 {
    ((1 << directory_bits(pages)) + 1) * 4
}

/// Filter and directory, made from hashes that come in ascending order.
pub(super) struct HashIndexWriter {
    pages: u64,
    bits: u32,
    count: u32,
    bucket: u64,
    block: u64,
    open: [u8; 64],
}

impl HashIndexWriter {
    pub(super) fn new(pages: u64) -> Self {
        HashIndexWriter {
            pages,
            bits: directory_bits(pages),
            count: 0,
            bucket: 0,
            block: 0,
            open: [0; 64],
        }
    }

    /// Takes the next hash; hands over what is finished of directory and filter.
    pub(super) fn push(&mut self, hash: u64, directory: &mut Vec<u8>, filter: &mut Vec<u8>) {
        let bucket = if self.bits == 0 { 0 } else { hash >> (64 - self.bits) };
        while self.bucket <= bucket {
            directory.extend_from_slice(&self.count.to_le_bytes());
            self.bucket += 1;
        }
        self.count = self.count.saturating_add(1);
        let block = scale(hash, filter_blocks(self.pages));
        while self.block < block {
            self.close_block(filter);
        }
        for bit in filter_bits(hash) {
            if let Some(byte) = self.open.get_mut(bit / 8) {
                *byte |= 1 << (bit % 8);
            }
        }
    }

    fn close_block(&mut self, filter: &mut Vec<u8>) {
        filter.extend_from_slice(&self.open);
        self.open = [0; 64];
        self.block += 1;
    }

    /// The rest of directory and filter.
    pub(super) fn finish(mut self, directory: &mut Vec<u8>, filter: &mut Vec<u8>) {
        while self.bucket <= 1 << self.bits {
            directory.extend_from_slice(&self.count.to_le_bytes());
            self.bucket += 1;
        }
        while self.block < filter_blocks(self.pages) {
            self.close_block(filter);
        }
    }
}

impl Segment {
    fn plain(&self, kind: Kind) -> SectionRef<'_> {
        self.section(Tag::of(kind))
    }

    /// The block of the filter where this hash would be; none if there is no filter.
    fn filter_block(&self, hash: u64) -> Result<&[u8]> {
        let blocks = filter_blocks(self.numbers().pages);
        if blocks == 0 {
            return Ok(&[]);
        }
        let start = scale(hash, blocks) * FILTER_BLOCK_BYTES;
        self.plain(Kind::Filter).get(start..start + FILTER_BLOCK_BYTES)
    }

    /// Whether a page with this hash may be here. Costs one cache line.
    #[inline]
    pub(crate) fn may_contain(&self, hash: u64) -> Result<bool> {
        let block = self.filter_block(hash)?;
        Ok(filter_bits(hash).all(|bit| block.get(bit / 8).is_some_and(|b| b >> (bit % 8) & 1 == 1)))
    }

    /// Asks for what [`may_contain`](Self::may_contain) will read.
    pub(crate) fn prefetch_filter(&self, hash: u64) {
        if let Ok([byte, ..]) = self.filter_block(hash) {
            prefetch_value(byte);
        }
    }

    /// The bytes of the directory that say where the hashes of a bucket are, and the bucket.
    fn bounds(&self, hash: u64) -> Result<(u64, &[u8])> {
        let bits = directory_bits(self.numbers().pages);
        let bucket = if bits == 0 { 0 } else { hash >> (64 - bits) };
        Ok((bucket, self.plain(Kind::HashDirectory).get(bucket * 4..bucket * 4 + 8)?))
    }

    /// Asks for where the hashes near this one are.
    pub(super) fn prefetch_bounds(&self, hash: u64) {
        if let Ok((_, bounds)) = self.bounds(hash) {
            prefetch(bounds);
        }
    }

    /// Asks for the hashes near this one.
    pub(super) fn prefetch_hashes(&self, hash: u64) {
        if let Ok(places) = self.bucket(hash)
            && let Ok(hashes) = self.plain(Kind::Hashes).get(places.start * 8..places.end * 8)
        {
            prefetch(hashes);
        }
    }

    /// Places in the hash column of the hashes that share a bucket with this one.
    fn bucket(&self, hash: u64) -> Result<Range<u64>> {
        let (bucket, bounds) = self.bounds(hash)?;
        let mut cursor = Cursor::new(bounds);
        let (start, end) = (cursor.u32().unwrap_or(0).into(), cursor.u32().unwrap_or(0).into());
        if start > end || end > self.numbers().pages {
            let directory = self.plain(Kind::HashDirectory);
            return Err(directory.flaw(bucket * 4, "a bucket ends before it starts"));
        }
        Ok(start..end)
    }

    /// Places in the hash column of the hashes equal to `hash`.
    fn places(&self, hash: u64) -> Result<Range<u64>> {
        let Range { start, end } = self.bucket(hash)?;
        let hashes = self.plain(Kind::Hashes);
        let bound = |before: &dyn Fn(u64) -> bool| -> Result<u64> {
            let (mut low, mut high) = (start, end);
            while low < high {
                let middle = u64::midpoint(low, high);
                if before(hashes.u64_at(middle)?) {
                    low = middle + 1;
                } else {
                    high = middle;
                }
            }
            Ok(low)
        };
        Ok(bound(&|h| h < hash)?..bound(&|h| h <= hash)?)
    }

    /// The ordinals of the pages with this hash.
    pub(super) fn pages_with_hash(&self, hash: u64) -> Result<impl Iterator<Item = Result<u32>>> {
        let places = if self.may_contain(hash)? { self.places(hash)? } else { 0..0 };
        Ok(self.pages_at(places))
    }

    /// The same where the filter has been asked.
    pub(super) fn pages_behind(&self, hash: u64) -> Result<impl Iterator<Item = Result<u32>>> {
        Ok(self.pages_at(self.places(hash)?))
    }

    fn pages_at(&self, places: Range<u64>) -> impl Iterator<Item = Result<u32>> {
        let pages = self.plain(Kind::HashPages);
        places.map(move |place| pages.u32_at(place))
    }
}
