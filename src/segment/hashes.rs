//! Finds a page by its URL. A filter rules out most segments with one cache line, and an index
//! finds pages by hash. A hash only finds candidates; the URL decides.

use std::ops::Range;

use zerocopy::little_endian::U32;
use zerocopy::transmute;

use super::file::{SectionRef, Segment};
use crate::bug::{self, OrBug};
use crate::cpu::{prefetch, prefetch_value};
use crate::error::Result;
use crate::layout::{
    FILTER_BLOCK_BYTES, FilterBlock, PutInteger, SectionKind, SectionTag, directory_bits,
    filter_blocks, url_hash_bits,
};

/// The number of bits that a hash sets in its block.
const FILTER_PROBES: u32 = 7;

/// Returns the hash of a URL in a store with seed `seed`.
pub(crate) fn url_hash(url: &str, seed: u64) -> u64 {
    let hash = xxhash_rust::xxh3::xxh3_64_with_seed(url.as_bytes(), seed);
    // Eight bits, repeated in all bytes. The directory's top bits and the filter's block both
    // depend on these bits, in the same way as with a whole hash.
    if url_hash_bits() == 64 { hash } else { (hash & 0xff) * 0x0101_0101_0101_0101 }
}

/// Returns the index of the range that contains `hash`, among `count` equal ranges. The index
/// ascends with the hash.
fn scale(hash: u64, count: u64) -> u64 {
    // The product needs no division, and ascends with the hash, so the filter is written from front
    // to end.
    let product = u128::from(hash) * u128::from(count);
    (product >> 64) as u64
}

/// Returns the bits of a filter block that `hash` sets, each below 512.
fn filter_bits(hash: u64) -> impl Iterator<Item = usize> {
    // The high bits of the hash selected the block. The bits within the block come from a product
    // that depends on all bits.
    let mixed = hash.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    // Seven times nine bits are 63. Bit 0 is left out, because it depends only on bit 0 of the
    // hash.
    (0..FILTER_PROBES).map(move |i| (mixed >> (1 + 9 * i) & 511) as usize)
}

/// Writes the filter and the directory from ascending hashes.
pub(super) struct HashIndexWriter {
    pages: u64,
    bits: u32,
    count: u32,
    bucket: u64,
    block: u64,
    open: FilterBlock,
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

    /// Adds the next hash. Appends the finished bytes of the directory and the filter.
    #[expect(clippy::indexing_slicing, reason = "a block has 512 bits")]
    pub(super) fn push(&mut self, hash: u64, directory: &mut Vec<u8>, filter: &mut Vec<u8>) {
        let bucket = if self.bits == 0 { 0 } else { hash >> (64 - self.bits) };
        // A bucket without hashes begins where the next bucket begins.
        while self.bucket <= bucket {
            directory.put_u32(self.count);
            self.bucket += 1;
        }
        self.count += 1;
        let block = scale(hash, filter_blocks(self.pages));
        while self.block < block {
            self.close_block(filter);
        }
        for bit in filter_bits(hash) {
            self.open[bit / 8] |= 1 << (bit % 8);
        }
    }

    fn close_block(&mut self, filter: &mut Vec<u8>) {
        filter.extend_from_slice(&self.open);
        self.open = [0; 64];
        self.block += 1;
    }

    /// Appends the remaining bytes of the directory and the filter.
    pub(super) fn finish(mut self, directory: &mut Vec<u8>, filter: &mut Vec<u8>) -> Result<()> {
        bug::ensure(u64::from(self.count) == self.pages, "each page has one hash")?;
        // The directory has one number more than buckets, because a lookup reads the start of its
        // bucket and the start of the next bucket.
        while self.bucket <= 1 << self.bits {
            directory.put_u32(self.count);
            self.bucket += 1;
        }
        while self.block < filter_blocks(self.pages) {
            self.close_block(filter);
        }
        Ok(())
    }
}

impl Segment {
    fn plain(&self, kind: SectionKind) -> SectionRef<'_> {
        self.section(SectionTag::of(kind))
    }

    /// Returns the filter block for a hash; `None` in a segment without pages.
    fn filter_block(&self, hash: u64) -> Result<Option<&FilterBlock>> {
        let blocks = filter_blocks(self.numbers().pages);
        if blocks == 0 {
            return Ok(None);
        }
        // Sections begin at multiples of 64 in the file, so a filter block is exactly one cache
        // line.
        let start = scale(hash, blocks) * FILTER_BLOCK_BYTES;
        let block = self.plain(SectionKind::Filter).get(start..start + FILTER_BLOCK_BYTES)?;
        Ok(Some(block.as_array().or_bug("a range has the requested number of bytes")?))
    }

    /// Whether the segment may contain a page with this hash. Costs one cache line.
    #[inline]
    #[expect(clippy::indexing_slicing, reason = "a block has 512 bits")]
    pub(crate) fn may_contain(&self, hash: u64) -> Result<bool> {
        let Some(block) = self.filter_block(hash)? else { return Ok(false) };
        Ok(filter_bits(hash).all(|bit| block[bit / 8] >> (bit % 8) & 1 == 1))
    }

    /// Prefetches the bytes for [`may_contain`](Self::may_contain), which reports damage.
    pub(crate) fn prefetch_filter(&self, hash: u64) {
        if let Ok(Some([byte, ..])) = self.filter_block(hash) {
            prefetch_value(byte);
        }
    }

    /// Returns the offset of the bucket bounds of a hash in the directory.
    fn bounds_at(&self, hash: u64) -> u64 {
        let bits = directory_bits(self.numbers().pages);
        // Without bits the shift would be by 64, which overflows.
        if bits == 0 { 0 } else { (hash >> (64 - bits)) * 4 }
    }

    /// Prefetches the bucket bounds of a hash. A later read of the bounds reports damage.
    pub(super) fn prefetch_bounds(&self, hash: u64) {
        let at = self.bounds_at(hash);
        if let Ok(bounds) = self.plain(SectionKind::HashDirectory).get(at..at + 8) {
            prefetch(bounds);
        }
    }

    /// Prefetches the hashes near a hash. A later read of the hashes reports damage.
    pub(super) fn prefetch_hashes(&self, hash: u64) {
        if let Ok(places) = self.bucket(hash)
            && let Ok(hashes) =
                self.plain(SectionKind::Hashes).get(places.start * 8..places.end * 8)
        {
            prefetch(hashes);
        }
    }

    /// Returns the range of a hash's bucket in the hash column.
    fn bucket(&self, hash: u64) -> Result<Range<u64>> {
        let (directory, at) = (self.plain(SectionKind::HashDirectory), self.bounds_at(hash));
        // Both bounds in one read, because they are neighbours and nearly always in one cache
        // line.
        let bounds: [U32; 2] = transmute!(directory.array::<8>(at)?);
        let [start, end] = bounds.map(|bound| u64::from(bound.get()));
        let pages = self.numbers().pages;
        if start > end || end > pages {
            let what = format!(
                "it places a bucket at the hashes {start} to {end}, but there are {pages} hashes"
            );
            return Err(directory.flaw(at, &what));
        }
        Ok(start..end)
    }

    /// Returns the range of hashes equal to `hash` in the hash column.
    pub(super) fn places(&self, hash: u64) -> Result<Range<u64>> {
        let bucket = self.bucket(hash)?;
        Ok(self.bound(bucket.clone(), |h| h < hash)?..self.bound(bucket, |h| h <= hash)?)
    }

    /// Returns the first place for whose hash `before` is false.
    fn bound(&self, places: Range<u64>, before: impl Fn(u64) -> bool) -> Result<u64> {
        let hashes = self.plain(SectionKind::Hashes);
        // A bucket has four to eight hashes on average, so the search takes a few steps in one or
        // two cache lines.
        let (mut low, mut high) = (places.start, places.end);
        while low < high {
            let middle = u64::midpoint(low, high);
            if before(hashes.u64_at(middle)?) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        Ok(low)
    }

    /// Returns the place of the first hash that is at least `hash`.
    pub(super) fn place_from(&self, hash: u64) -> Result<u64> {
        let Range { start, end } = self.bucket(hash)?;
        self.bound(start..end, |other| other < hash)
    }

    /// Returns the ordinals of the pages with this hash.
    pub(super) fn pages_with_hash(&self, hash: u64) -> Result<impl Iterator<Item = Result<u32>>> {
        // The filter costs one cache line. The filter saves the lines of directory and hashes if
        // the page is not in the segment.
        let places = if self.may_contain(hash)? { self.places(hash)? } else { 0..0 };
        Ok(self.pages_at(places))
    }

    /// Returns the ordinals of the pages with this hash, after [`may_contain`](Self::may_contain)
    /// returned `true`.
    pub(super) fn pages_behind(&self, hash: u64) -> Result<impl Iterator<Item = Result<u32>>> {
        Ok(self.pages_at(self.places(hash)?))
    }

    fn pages_at(&self, places: Range<u64>) -> impl Iterator<Item = Result<u32>> {
        let pages = self.plain(SectionKind::HashPages);
        places.map(move |place| pages.u32_at(place))
    }
}
