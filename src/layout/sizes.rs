//! The sizes of the sections that locate a segment's pages. The number of pages determines these
//! sizes.

use super::SectionKind;

/// The number of pages in a group; the last group may have fewer.
pub(crate) const GROUP_PAGES: u64 = GROUP_LEN as u64;
/// The number of pages in a group, as the length of an array.
pub(crate) const GROUP_LEN: usize = 16;

/// Bits of the URL hash: 64.
#[cfg(not(feature = "internals"))]
pub(crate) fn url_hash_bits() -> u64 {
    64
}

/// Bits of the URL hash: 64. Tests set `SIMKEEP_NARROW_HASHES` to get 8, so that nearly all URLs
/// collide.
#[cfg(feature = "internals")]
pub(crate) fn url_hash_bits() -> u64 {
    static BITS: std::sync::LazyLock<u64> = std::sync::LazyLock::new(|| {
        if std::env::var_os("SIMKEEP_NARROW_HASHES").is_some() { 8 } else { 64 }
    });
    *BITS
}

/// A block of the filter: one cache line.
pub(crate) type FilterBlock = [u8; 64];
pub(crate) const FILTER_BLOCK_BYTES: u64 = size_of::<FilterBlock>() as u64;
/// Bits of the filter per page.
const FILTER_BITS: u64 = 12;

/// The number of blocks of the filter over `pages` hashes.
pub(crate) const fn filter_blocks(pages: u64) -> u64 {
    (pages * FILTER_BITS).div_ceil(FILTER_BLOCK_BYTES * 8)
}

/// The number of leading hash bits that the directory uses: about four pages to a bucket.
pub(crate) fn directory_bits(pages: u64) -> u32 {
    // If there are fewer than four pages, they share one bucket.
    (pages / 4).checked_ilog2().unwrap_or(0).min(28)
}

/// The input of a page's schedule, packed.
pub(crate) type PackedRow = [u8; 16];
pub(crate) const ROW_BYTES: u64 = size_of::<PackedRow>() as u64;

/// The sections whose length follows from the number of pages, with their lengths in bytes. The
/// number of pages is below [`PAGES_MAX`](super::PAGES_MAX).
pub(crate) fn bytes_for(pages: u64) -> [(SectionKind, u64); 6] {
    [
        (SectionKind::PageIndex, (pages.div_ceil(GROUP_PAGES) + 1) * 8),
        (SectionKind::Hashes, pages * 8),
        (SectionKind::HashPages, pages * 4),
        (SectionKind::HashDirectory, ((1 << directory_bits(pages)) + 1) * 4),
        (SectionKind::Filter, filter_blocks(pages) * FILTER_BLOCK_BYTES),
        (SectionKind::Schedule, pages * ROW_BYTES),
    ]
}

/// Converts an offset or a length of bytes in memory or in a memory map.
///
/// # Panics
///
/// If `bytes` exceeds the address space, which is impossible for bytes in memory.
#[inline]
#[expect(clippy::expect_used, reason = "what is in memory has a place there")]
pub(crate) fn to_usize(bytes: u64) -> usize {
    usize::try_from(bytes).expect("bytes in memory have a place that the processor can name")
}
