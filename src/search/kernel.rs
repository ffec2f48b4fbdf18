//! Comparing many words with one: the only room of this module with unsafe code.
//!
//! Two functions, each in four versions: `near_u32` and `near_u64` append the indices of all
//! words within distance k of a query, in ascending order. The portable version is the truth, and
//! two more are the same source compiled for processors with a popcount instruction or with AVX2,
//! where the compiler turns a block's smallest distance into vector code. Nearly all blocks hold
//! nothing near, so a block costs one comparison, and only the few others are gone through word by
//! word. The version for AVX-512 is written out, because masks give it the indices at once and
//! spare it the odd words at the end, which matters to runs of 16 words.
//!
//! Which version runs is decided once, at the first use, by what the processor has.

use std::sync::OnceLock;

use zerocopy::little_endian::{U32, U64};

type NearU32 = unsafe fn(&[U32], u32, u32, &mut Vec<u32>);
type NearU64 = unsafe fn(&[U64], u64, u32, &mut Vec<u32>);

/// One version of the two functions.
///
/// Invariant: a `Kernel` is only made where the processor has the features that its functions
/// were compiled for. [`Kernel::available`] is the only place that makes one.
#[derive(Clone, Copy)]
pub(super) struct Kernel {
    name: &'static str,
    near_u32: NearU32,
    near_u64: NearU64,
}

impl Kernel {
    /// The fastest version for this processor.
    pub(super) fn fastest() -> Self {
        static FASTEST: OnceLock<Kernel> = OnceLock::new();
        *FASTEST.get_or_init(|| Self::available().next().unwrap_or(Self::PORTABLE))
    }

    /// Every version that this processor can run, the fastest first.
    pub(super) fn available() -> impl Iterator<Item = Self> {
        #[cfg(target_arch = "x86_64")]
        let special = [
            (std::is_x86_feature_detected!("avx512f")
                && std::is_x86_feature_detected!("avx512bw")
                && std::is_x86_feature_detected!("avx512vl")
                && std::is_x86_feature_detected!("avx512vpopcntdq"))
            .then_some(Self {
                name: "avx512",
                near_u32: x86::near_u32_avx512,
                near_u64: x86::near_u64_avx512,
            }),
            (std::is_x86_feature_detected!("avx2") && std::is_x86_feature_detected!("popcnt"))
                .then_some(Self {
                    name: "avx2",
                    near_u32: x86::near_u32_avx2,
                    near_u64: x86::near_u64_avx2,
                }),
            std::is_x86_feature_detected!("popcnt").then_some(Self {
                name: "popcnt",
                near_u32: x86::near_u32_popcnt,
                near_u64: x86::near_u64_popcnt,
            }),
        ];
        #[cfg(not(target_arch = "x86_64"))]
        let special = [None];
        special.into_iter().flatten().chain([Self::PORTABLE])
    }

    /// The version for every processor.
    const PORTABLE: Self = Self { name: "portable", near_u32, near_u64 };

    /// The name of the instruction set.
    pub(super) fn name(self) -> &'static str {
        self.name
    }

    /// Appends to `out` the index of every word of `plane` within distance `k` of `query`,
    /// ascending. The plane has fewer than 2^32 words.
    pub(super) fn near_u32(self, plane: &[U32], query: u32, k: u32, out: &mut Vec<u32>) {
        #[expect(unsafe_code, reason = "the call of a function for certain processors")]
        // SAFETY: a `Kernel` exists only where the processor has the features its functions need,
        // and they ask for nothing else.
        unsafe {
            (self.near_u32)(plane, query, k, out);
        }
    }

    /// Appends to `out` the index of every word of `column` within distance `k` of `query`,
    /// ascending. The column has fewer than 2^32 words.
    pub(super) fn near_u64(self, column: &[U64], query: u64, k: u32, out: &mut Vec<u32>) {
        #[expect(unsafe_code, reason = "the call of a function for certain processors")]
        // SAFETY: as above.
        unsafe {
            (self.near_u64)(column, query, k, out);
        }
    }
}

/// Bytes of a memory line.
const LINE: usize = 64;

/// Tells the processor that the first lines of `bytes` will be read soon. Costs about a nanosecond
/// a line; does nothing where there is no such instruction.
#[inline]
pub(crate) fn prefetch(bytes: &[u8]) {
    /// Lines to ask for: as many as a core can wait for at once. The processor notices longer
    /// runs by itself.
    const LINES_MAX: usize = 12;
    // One more than there are chunks: bytes seldom begin where a line does, and a vector that is
    // read with its last lanes masked out waits for their line, too.
    for at in (0..=bytes.len().div_ceil(LINE)).take(LINES_MAX) {
        prefetch_line(bytes.as_ptr().wrapping_add(at * LINE));
    }
}

/// Tells the processor that `value`, of at most two memory lines, will be read soon, as
/// [`prefetch`] does.
#[inline]
pub(crate) fn prefetch_value<T>(value: &T) {
    let start = std::ptr::from_ref(value).cast::<u8>();
    prefetch_line(start);
    // What is no larger than its alignment lies in one.
    if size_of::<T>() > align_of::<T>() {
        prefetch_line(start.wrapping_add(size_of::<T>().saturating_sub(1)));
    }
}

/// Tells the processor that the line at this address will be read soon.
#[inline]
fn prefetch_line(address: *const u8) {
    #[cfg(target_arch = "x86_64")]
    #[expect(unsafe_code, reason = "an instruction that takes an address")]
    // SAFETY: prefetching reads nothing and cannot fault, whatever the address.
    unsafe {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        _mm_prefetch::<_MM_HINT_T0>(address.cast());
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = address;
}

#[inline(always)]
fn near_u32(plane: &[U32], query: u32, k: u32, out: &mut Vec<u32>) {
    near(plane, k, out, |word| (word.get() ^ query).count_ones());
}

#[inline(always)]
fn near_u64(column: &[U64], query: u64, k: u32, out: &mut Vec<u32>) {
    near(column, k, out, |word| (word.get() ^ query).count_ones());
}

/// The source of all versions but that for AVX-512: by blocks of 32 words, of 8, and of one.
#[inline(always)]
fn near<W: Copy>(words: &[W], k: u32, out: &mut Vec<u32>, distance: impl Fn(W) -> u32 + Copy) {
    let (words, base) = near_by_blocks::<32, W>(words, 0, k, out, distance);
    let (words, base) = near_by_blocks::<8, W>(words, base, k, out, distance);
    near_by_blocks::<1, W>(words, base, k, out, distance);
}

/// Goes through as many whole blocks as there are; returns the words left and the first's index.
#[inline(always)]
fn near_by_blocks<'w, const WORDS: usize, W: Copy>(
    words: &'w [W],
    mut base: u32,
    k: u32,
    out: &mut Vec<u32>,
    distance: impl Fn(W) -> u32,
) -> (&'w [W], u32) {
    let (blocks, rest) = words.as_chunks::<WORDS>();
    for block in blocks {
        let mut nearest = u32::MAX;
        for &word in block {
            nearest = nearest.min(distance(word));
        }
        if nearest <= k {
            for (index, &word) in (base..).zip(block) {
                if distance(word) <= k {
                    out.push(index);
                }
            }
        }
        #[expect(clippy::cast_possible_truncation, reason = "a block has 32 words at most")]
        let words = WORDS as u32;
        base += words;
    }
    (rest, base)
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use std::arch::x86_64::{
        _mm512_cmple_epu32_mask, _mm512_cmple_epu64_mask, _mm512_loadu_si512,
        _mm512_mask_cmple_epu32_mask, _mm512_mask_cmple_epu64_mask, _mm512_maskz_loadu_epi32,
        _mm512_maskz_loadu_epi64, _mm512_popcnt_epi32, _mm512_popcnt_epi64, _mm512_set1_epi32,
        _mm512_set1_epi64, _mm512_xor_si512,
    };

    use zerocopy::little_endian::{U32, U64};

    #[target_feature(enable = "popcnt")]
    pub(super) fn near_u32_popcnt(plane: &[U32], query: u32, k: u32, out: &mut Vec<u32>) {
        super::near_u32(plane, query, k, out);
    }

    #[target_feature(enable = "popcnt")]
    pub(super) fn near_u64_popcnt(column: &[U64], query: u64, k: u32, out: &mut Vec<u32>) {
        super::near_u64(column, query, k, out);
    }

    #[target_feature(enable = "avx2,popcnt")]
    pub(super) fn near_u32_avx2(plane: &[U32], query: u32, k: u32, out: &mut Vec<u32>) {
        super::near_u32(plane, query, k, out);
    }

    #[target_feature(enable = "avx2,popcnt")]
    pub(super) fn near_u64_avx2(column: &[U64], query: u64, k: u32, out: &mut Vec<u32>) {
        super::near_u64(column, query, k, out);
    }

    #[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vpopcntdq")]
    pub(super) fn near_u32_avx512(plane: &[U32], query: u32, k: u32, out: &mut Vec<u32>) {
        let query = _mm512_set1_epi32(query.cast_signed());
        let limit = _mm512_set1_epi32(k.min(u32::BITS).cast_signed());
        let (blocks, rest) = plane.as_chunks::<16>();
        let mut base = 0;
        for block in blocks {
            #[expect(unsafe_code, reason = "a load through a pointer")]
            // SAFETY: the block is 64 bytes that may be read; the load asks for no alignment.
            let words = unsafe { _mm512_loadu_si512(block.as_ptr().cast()) };
            let distances = _mm512_popcnt_epi32(_mm512_xor_si512(words, query));
            let near = _mm512_cmple_epu32_mask(distances, limit);
            if near != 0 {
                push_mask(base, near.into(), out);
            }
            base += 16;
        }
        if !rest.is_empty() {
            let lanes = u16::MAX >> (16 - rest.len());
            #[expect(unsafe_code, reason = "a load through a pointer")]
            // SAFETY: `lanes` has one bit for each word of `rest`, from the lowest on, and lanes
            // that are masked out are not read; the load asks for no alignment.
            let words = unsafe { _mm512_maskz_loadu_epi32(lanes, rest.as_ptr().cast()) };
            let distances = _mm512_popcnt_epi32(_mm512_xor_si512(words, query));
            let near = _mm512_mask_cmple_epu32_mask(lanes, distances, limit);
            push_mask(base, near.into(), out);
        }
    }

    #[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vpopcntdq")]
    pub(super) fn near_u64_avx512(column: &[U64], query: u64, k: u32, out: &mut Vec<u32>) {
        let query = _mm512_set1_epi64(query.cast_signed());
        let limit = _mm512_set1_epi64(k.min(u64::BITS).into());
        let (blocks, rest) = column.as_chunks::<8>();
        let mut base = 0;
        for block in blocks {
            #[expect(unsafe_code, reason = "a load through a pointer")]
            // SAFETY: the block is 64 bytes that may be read; the load asks for no alignment.
            let words = unsafe { _mm512_loadu_si512(block.as_ptr().cast()) };
            let distances = _mm512_popcnt_epi64(_mm512_xor_si512(words, query));
            let near = _mm512_cmple_epu64_mask(distances, limit);
            if near != 0 {
                push_mask(base, near.into(), out);
            }
            base += 8;
        }
        if !rest.is_empty() {
            let lanes = u8::MAX >> (8 - rest.len());
            #[expect(unsafe_code, reason = "a load through a pointer")]
            // SAFETY: `lanes` has one bit for each word of `rest`, from the lowest on, and lanes
            // that are masked out are not read; the load asks for no alignment.
            let words = unsafe { _mm512_maskz_loadu_epi64(lanes, rest.as_ptr().cast()) };
            let distances = _mm512_popcnt_epi64(_mm512_xor_si512(words, query));
            let near = _mm512_mask_cmple_epu64_mask(lanes, distances, limit);
            push_mask(base, near.into(), out);
        }
    }

    /// Appends `base` plus the place of each bit that is set.
    #[inline]
    fn push_mask(base: u32, mut mask: u32, out: &mut Vec<u32>) {
        while mask != 0 {
            out.push(base + mask.trailing_zeros());
            mask &= mask - 1;
        }
    }
}

type Within = unsafe fn(&[u64], &[u32], u32, &mut Vec<[u32; 2]>);
type Ahead = unsafe fn(&[u64], usize, usize, u32, &mut Vec<[u32; 2]>);
type PairsU32 = unsafe fn(&[u32], &[u32], bool, u32, &mut Vec<[u32; 2]>);
type PairsU64 = unsafe fn(&[u64], &[u64], bool, u32, &mut Vec<[u32; 2]>);

/// The comparisons of many words with many, for joins: one version of three functions.
///
/// AVX2 has no vector popcount. Up to a distance of 4 its version clears the lowest bit of a
/// difference k times and looks whether anything is left, which takes two instructions for each k,
/// where counting takes about ten.
///
/// Invariant: as for [`Kernel`]; [`PairKernel::available`] is the only place that makes one.
#[derive(Clone, Copy)]
pub(super) struct PairKernel {
    #[cfg_attr(not(test), expect(dead_code, reason = "tells versions apart in tests"))]
    name: &'static str,
    within: Within,
    ahead: Ahead,
    pairs_u32: PairsU32,
    pairs_u64: PairsU64,
}

impl PairKernel {
    /// The longest run that [`PairKernel::within`] compares.
    pub(super) const RUN_MAX: usize = 32;

    /// The fastest version for this processor.
    pub(super) fn fastest() -> Self {
        static FASTEST: OnceLock<PairKernel> = OnceLock::new();
        *FASTEST.get_or_init(|| Self::available().next().unwrap_or(Self::PORTABLE))
    }

    /// Every version that this processor can run, the fastest first.
    pub(super) fn available() -> impl Iterator<Item = Self> {
        #[cfg(target_arch = "x86_64")]
        let special = [
            (std::is_x86_feature_detected!("avx512f")
                && std::is_x86_feature_detected!("avx512bw")
                && std::is_x86_feature_detected!("avx512vl")
                && std::is_x86_feature_detected!("avx512vpopcntdq")
                && std::is_x86_feature_detected!("popcnt"))
            .then_some(Self {
                name: "avx512",
                within: x86_pairs::within_avx512,
                ahead: x86_pairs::ahead_avx512,
                pairs_u32: x86_pairs::pairs_u32_avx512,
                pairs_u64: x86_pairs::pairs_u64_avx512,
            }),
            (std::is_x86_feature_detected!("avx2") && std::is_x86_feature_detected!("popcnt"))
                .then_some(Self {
                    name: "avx2",
                    within: x86_pairs::within_avx2,
                    ahead: x86_pairs::ahead_avx2,
                    pairs_u32: x86_pairs::pairs_u32_avx2,
                    pairs_u64: x86_pairs::pairs_u64_avx2,
                }),
            std::is_x86_feature_detected!("popcnt").then_some(Self {
                name: "popcnt",
                within: x86_pairs::within_popcnt,
                ahead: x86_pairs::ahead_popcnt,
                pairs_u32: x86_pairs::pairs_u32_popcnt,
                pairs_u64: x86_pairs::pairs_u64_popcnt,
            }),
        ];
        #[cfg(not(target_arch = "x86_64"))]
        let special = [None];
        special.into_iter().flatten().chain([Self::PORTABLE])
    }

    /// The version for every processor.
    const PORTABLE: Self = Self {
        name: "portable",
        within,
        ahead,
        pairs_u32: pairs_counting,
        pairs_u64: pairs_counting,
    };

    /// The name of the instruction set.
    #[cfg(test)]
    pub(super) fn name(self) -> &'static str {
        self.name
    }

    /// Appends to `out` the indices of all two words within distance `k` of each other that are in
    /// the same run, the lower index first. Run r is `words[starts[r]..starts[r + 1]]`. Runs longer
    /// than [`PairKernel::RUN_MAX`] are left out, and so is what does not lie in `words`.
    pub(super) fn within(self, words: &[u64], starts: &[u32], k: u32, out: &mut Vec<[u32; 2]>) {
        #[expect(unsafe_code, reason = "the call of a function for certain processors")]
        // SAFETY: a `PairKernel` exists only where the processor has the features its functions
        // need, and they ask for nothing else.
        unsafe {
            (self.within)(words, starts, k, out);
        }
    }

    /// Appends to `out` the indices of each of the first `rows` words and each of the `reach` words
    /// after it that is within distance `k` of it, ascending by the first. There are fewer than
    /// 2^32 words.
    ///
    /// For runs of a word or two this is faster than [`PairKernel::within`], since nothing depends
    /// on where a run ends.
    pub(super) fn ahead(
        self,
        words: &[u64],
        rows: usize,
        reach: usize,
        k: u32,
        out: &mut Vec<[u32; 2]>,
    ) {
        #[expect(unsafe_code, reason = "the call of a function for certain processors")]
        // SAFETY: as above.
        unsafe {
            (self.ahead)(words, rows, reach, k, out);
        }
    }

    /// Appends to `out` the indices of every word of `left` and every word of `right` within
    /// distance `k` of it, in no certain order. If this is a `triangle`, then `right` begins with
    /// the words of `left`, and each is compared only with those after it. Both have fewer than
    /// 2^32 words.
    pub(super) fn pairs_u32(
        self,
        left: &[u32],
        right: &[u32],
        triangle: bool,
        k: u32,
        out: &mut Vec<[u32; 2]>,
    ) {
        #[expect(unsafe_code, reason = "the call of a function for certain processors")]
        // SAFETY: as above.
        unsafe {
            (self.pairs_u32)(left, right, triangle, k, out);
        }
    }

    /// The same for words of 64 bits.
    pub(super) fn pairs_u64(
        self,
        left: &[u64],
        right: &[u64],
        triangle: bool,
        k: u32,
        out: &mut Vec<[u32; 2]>,
    ) {
        #[expect(unsafe_code, reason = "the call of a function for certain processors")]
        // SAFETY: as above.
        unsafe {
            (self.pairs_u64)(left, right, triangle, k, out);
        }
    }
}

#[inline(always)]
fn within(words: &[u64], starts: &[u32], k: u32, out: &mut Vec<[u32; 2]>) {
    let mut start = starts.first().copied().unwrap_or(0);
    for &end in starts.get(1..).unwrap_or_default() {
        let run = words.get(start as usize..end as usize).unwrap_or_default();
        if run.len() <= PairKernel::RUN_MAX {
            push_triangle(run, start, k, out);
        }
        start = end;
    }
}

#[inline(always)]
fn ahead(words: &[u64], rows: usize, reach: usize, k: u32, out: &mut Vec<[u32; 2]>) {
    push_ahead(words, 0, rows, reach, k, out);
}

/// The rows from `row` to before `rows`.
#[inline(always)]
fn push_ahead(
    words: &[u64],
    row: usize,
    rows: usize,
    reach: usize,
    k: u32,
    out: &mut Vec<[u32; 2]>,
) {
    let mut rest = words.get(row..).unwrap_or_default();
    #[expect(clippy::cast_possible_truncation, reason = "there are fewer than 2^32 words")]
    let rows = row as u32..rows.min(words.len()) as u32;
    for row in rows {
        let Some((word, after)) = rest.split_first() else { break };
        for (column, other) in (row + 1..).zip(after.iter().take(reach)) {
            if (word ^ other).count_ones() <= k {
                out.push([row, column]);
            }
        }
        rest = after;
    }
}

/// What [`pairs`] compares.
trait Word: Copy {
    fn distance(self, other: Self) -> u32;
}

impl Word for u32 {
    #[inline(always)]
    fn distance(self, other: Self) -> u32 {
        (self ^ other).count_ones()
    }
}

impl Word for u64 {
    #[inline(always)]
    fn distance(self, other: Self) -> u32 {
        (self ^ other).count_ones()
    }
}

/// Rows of a tile, and its columns.
const TILE: usize = 8;
const TILE_WORDS: u32 = 8;
const _: () = assert!(TILE_WORDS as usize == TILE);

/// Compares each of `left` with all words of `right` from `from` on; if `right` begins with
/// `left`, only with those that come after it.
///
/// Tile by tile: nearly all of them hold nothing near. `any_near` says whether one holds two words
/// within distance k; it may say so of others, too.
#[inline(always)]
fn pairs<W: Word>(
    left: &[W],
    right: &[W],
    triangle: bool,
    k: u32,
    out: &mut Vec<[u32; 2]>,
    any_near: impl Fn(&[W; TILE], &[W; TILE]) -> bool,
) {
    let (blocks, odd_rows) = left.as_chunks::<TILE>();
    let mut top = 0;
    let mut rest = right;
    let mut first = 0;
    for rows in blocks {
        if triangle {
            push_triangle(rows, top, k, out);
            rest = rest.get(TILE..).unwrap_or_default();
            first += TILE_WORDS;
        }
        let (tiles, odd_columns) = rest.as_chunks::<TILE>();
        let mut column = first;
        for tile in tiles {
            if any_near(rows, tile) {
                push_near(rows, tile, top, column, k, out);
            }
            column += TILE_WORDS;
        }
        push_near(rows, odd_columns, top, column, k, out);
        top += TILE_WORDS;
    }
    if triangle {
        push_triangle(odd_rows, top, k, out);
        rest = rest.get(odd_rows.len()..).unwrap_or_default();
        #[expect(clippy::cast_possible_truncation, reason = "fewer than a tile has")]
        let odd = odd_rows.len() as u32;
        first = top + odd;
    }
    push_near(odd_rows, rest, top, first, k, out);
}

/// Word by word, where there is little to compare or something is known to be near.
#[inline(always)]
fn push_near<W: Word>(
    left: &[W],
    right: &[W],
    top: u32,
    first: u32,
    k: u32,
    out: &mut Vec<[u32; 2]>,
) {
    for (column, &other) in (first..).zip(right) {
        for (row, &word) in (top..).zip(left) {
            if word.distance(other) <= k {
                out.push([row, column]);
            }
        }
    }
}

/// Each word with those after it.
#[inline(always)]
fn push_triangle<W: Word>(words: &[W], first: u32, k: u32, out: &mut Vec<[u32; 2]>) {
    let mut rest = words;
    let mut row = first;
    while let Some((&word, after)) = rest.split_first() {
        for (column, &other) in (row + 1..).zip(after) {
            if word.distance(other) <= k {
                out.push([row, column]);
            }
        }
        rest = after;
        row += 1;
    }
}

/// The source of the plainer versions: as many vectors of distances as a tile takes.
#[inline(always)]
fn pairs_counting<W: Word>(
    left: &[W],
    right: &[W],
    triangle: bool,
    k: u32,
    out: &mut Vec<[u32; 2]>,
) {
    pairs(left, right, triangle, k, out, |rows, columns| {
        let mut nearest = u32::MAX;
        for &other in columns {
            for &word in rows {
                nearest = nearest.min(word.distance(other));
            }
        }
        nearest <= k
    });
}

#[cfg(target_arch = "x86_64")]
mod x86_pairs {
    use std::arch::x86_64::{
        __m256i, _mm256_add_epi8, _mm256_add_epi32, _mm256_add_epi64, _mm256_and_si256,
        _mm256_cmpeq_epi32, _mm256_cmpeq_epi64, _mm256_cmpgt_epi64, _mm256_cmple_epu32_mask,
        _mm256_loadu_si256, _mm256_min_epu32, _mm256_or_si256, _mm256_popcnt_epi32,
        _mm256_sad_epu8, _mm256_set1_epi8, _mm256_set1_epi32, _mm256_set1_epi64x, _mm256_setr_epi8,
        _mm256_setzero_si256, _mm256_shuffle_epi8, _mm256_srli_epi16, _mm256_testz_si256,
        _mm256_xor_si256, _mm512_cmple_epu64_mask, _mm512_loadu_si512, _mm512_min_epu64,
        _mm512_popcnt_epi64, _mm512_set1_epi64, _mm512_xor_si512,
    };

    use super::TILE;

    #[target_feature(enable = "popcnt")]
    pub(super) fn within_popcnt(words: &[u64], starts: &[u32], k: u32, out: &mut Vec<[u32; 2]>) {
        super::within(words, starts, k, out);
    }

    #[target_feature(enable = "avx2,popcnt")]
    pub(super) fn within_avx2(words: &[u64], starts: &[u32], k: u32, out: &mut Vec<[u32; 2]>) {
        super::within(words, starts, k, out);
    }

    #[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vpopcntdq,popcnt")]
    pub(super) fn within_avx512(words: &[u64], starts: &[u32], k: u32, out: &mut Vec<[u32; 2]>) {
        super::within(words, starts, k, out);
    }

    #[target_feature(enable = "popcnt")]
    pub(super) fn ahead_popcnt(
        words: &[u64],
        rows: usize,
        reach: usize,
        k: u32,
        out: &mut Vec<[u32; 2]>,
    ) {
        super::ahead(words, rows, reach, k, out);
    }

    #[target_feature(enable = "avx2,popcnt")]
    pub(super) fn ahead_avx2(
        words: &[u64],
        rows: usize,
        reach: usize,
        k: u32,
        out: &mut Vec<[u32; 2]>,
    ) {
        match k {
            0 => ahead_by_fours(words, rows, reach, k, out, |word| clears::<0>(word)),
            1 => ahead_by_fours(words, rows, reach, k, out, |word| clears::<1>(word)),
            2 => ahead_by_fours(words, rows, reach, k, out, |word| clears::<2>(word)),
            3 => ahead_by_fours(words, rows, reach, k, out, |word| clears::<3>(word)),
            4 => ahead_by_fours(words, rows, reach, k, out, |word| clears::<4>(word)),
            _ => {
                let limit = _mm256_set1_epi64x(i64::from(k) + 1);
                ahead_by_fours(words, rows, reach, k, out, |word| {
                    _mm256_cmpgt_epi64(limit, distances(word))
                });
            }
        }
    }

    /// Four rows at a time, `near` of whose differences sets all bits of the near ones.
    #[inline]
    #[target_feature(enable = "avx2,popcnt")]
    fn ahead_by_fours(
        words: &[u64],
        rows: usize,
        reach: usize,
        k: u32,
        out: &mut Vec<[u32; 2]>,
        near: impl Fn(__m256i) -> __m256i,
    ) {
        let rows = rows.min(words.len());
        let mut row = 0;
        // All that four rows are compared with, and one more for the first of them.
        while let Some(window) = words.get(row..).and_then(|from| from.get(..reach + 4))
            && row + 4 <= rows
        {
            let start = window.as_ptr();
            let load = |at: usize| {
                #[expect(unsafe_code, reason = "a load through a pointer")]
                // SAFETY: `at` is `reach` at most and the window has four more words than that, so
                // these 32 bytes lie inside it; the load asks for no alignment.
                unsafe {
                    _mm256_loadu_si256(start.wrapping_add(at).cast())
                }
            };
            let four = load(0);
            let mut found = _mm256_setzero_si256();
            for at in 1..=reach {
                found = _mm256_or_si256(found, near(_mm256_xor_si256(four, load(at))));
            }
            if _mm256_testz_si256(found, found) == 0 {
                super::push_ahead(words, row, row + 4, reach, k, out);
            }
            row += 4;
        }
        super::push_ahead(words, row, rows, reach, k, out);
    }

    /// Sets all bits of words in which no more than `K` bits are set, and none of others.
    #[inline]
    #[target_feature(enable = "avx2")]
    fn clears<const K: u32>(mut words: __m256i) -> __m256i {
        for _ in 0..K {
            let less = _mm256_add_epi64(words, _mm256_set1_epi64x(-1));
            words = _mm256_and_si256(words, less);
        }
        _mm256_cmpeq_epi64(words, _mm256_setzero_si256())
    }

    #[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vpopcntdq,popcnt")]
    pub(super) fn ahead_avx512(
        words: &[u64],
        rows: usize,
        reach: usize,
        k: u32,
        out: &mut Vec<[u32; 2]>,
    ) {
        let limit = _mm512_set1_epi64(k.min(u64::BITS).into());
        let rows = rows.min(words.len());
        let mut row = 0;
        while let Some(window) = words.get(row..).and_then(|from| from.get(..reach + 8))
            && row + 8 <= rows
        {
            let start = window.as_ptr();
            let load = |at: usize| {
                #[expect(unsafe_code, reason = "a load through a pointer")]
                // SAFETY: `at` is `reach` at most and the window has eight more words than that, so
                // these 64 bytes lie inside it; the load asks for no alignment.
                unsafe {
                    _mm512_loadu_si512(start.wrapping_add(at).cast())
                }
            };
            let eight = load(0);
            let mut found = 0;
            for at in 1..=reach {
                let distances = _mm512_popcnt_epi64(_mm512_xor_si512(eight, load(at)));
                found |= _mm512_cmple_epu64_mask(distances, limit);
            }
            if found != 0 {
                super::push_ahead(words, row, row + 8, reach, k, out);
            }
            row += 8;
        }
        super::push_ahead(words, row, rows, reach, k, out);
    }

    macro_rules! pairs {
        ($name:ident, $word:ty, $features:literal) => {
            #[target_feature(enable = $features)]
            pub(super) fn $name(
                left: &[$word],
                right: &[$word],
                triangle: bool,
                k: u32,
                out: &mut Vec<[u32; 2]>,
            ) {
                super::pairs_counting(left, right, triangle, k, out);
            }
        };
    }

    pairs!(pairs_u32_popcnt, u32, "popcnt");
    pairs!(pairs_u64_popcnt, u64, "popcnt");

    #[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vpopcntdq,popcnt")]
    pub(super) fn pairs_u32_avx512(
        left: &[u32],
        right: &[u32],
        triangle: bool,
        k: u32,
        out: &mut Vec<[u32; 2]>,
    ) {
        let limit = _mm256_set1_epi32(k.min(u32::BITS).cast_signed());
        super::pairs(left, right, triangle, k, out, |rows, columns| {
            #[expect(unsafe_code, reason = "a load through a pointer")]
            // SAFETY: a tile has 32 bytes that may be read; the load asks for no alignment.
            let columns = unsafe { _mm256_loadu_si256(columns.as_ptr().cast()) };
            let mut nearest = _mm256_set1_epi32(-1);
            for &row in rows {
                let row = _mm256_set1_epi32(row.cast_signed());
                let distances = _mm256_popcnt_epi32(_mm256_xor_si256(columns, row));
                nearest = _mm256_min_epu32(nearest, distances);
            }
            _mm256_cmple_epu32_mask(nearest, limit) != 0
        });
    }

    #[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vpopcntdq,popcnt")]
    pub(super) fn pairs_u64_avx512(
        left: &[u64],
        right: &[u64],
        triangle: bool,
        k: u32,
        out: &mut Vec<[u32; 2]>,
    ) {
        let limit = _mm512_set1_epi64(k.min(u64::BITS).into());
        super::pairs(left, right, triangle, k, out, |rows, columns| {
            #[expect(unsafe_code, reason = "a load through a pointer")]
            // SAFETY: a tile has 64 bytes that may be read; the load asks for no alignment.
            let columns = unsafe { _mm512_loadu_si512(columns.as_ptr().cast()) };
            let mut nearest = _mm512_set1_epi64(-1);
            for &row in rows {
                let row = _mm512_set1_epi64(row.cast_signed());
                let distances = _mm512_popcnt_epi64(_mm512_xor_si512(columns, row));
                nearest = _mm512_min_epu64(nearest, distances);
            }
            _mm512_cmple_epu64_mask(nearest, limit) != 0
        });
    }

    #[target_feature(enable = "avx2,popcnt")]
    pub(super) fn pairs_u32_avx2(
        left: &[u32],
        right: &[u32],
        triangle: bool,
        k: u32,
        out: &mut Vec<[u32; 2]>,
    ) {
        match k {
            0 => super::pairs(left, right, triangle, k, out, |a, b| any_clears::<0>(a, b)),
            1 => super::pairs(left, right, triangle, k, out, |a, b| any_clears::<1>(a, b)),
            2 => super::pairs(left, right, triangle, k, out, |a, b| any_clears::<2>(a, b)),
            3 => super::pairs(left, right, triangle, k, out, |a, b| any_clears::<3>(a, b)),
            4 => super::pairs(left, right, triangle, k, out, |a, b| any_clears::<4>(a, b)),
            _ => super::pairs_counting(left, right, triangle, k, out),
        }
    }

    /// Whether clearing `K` bits of a difference leaves nothing.
    #[inline]
    #[target_feature(enable = "avx2")]
    fn any_clears<const K: u32>(rows: &[u32; TILE], columns: &[u32; TILE]) -> bool {
        let ones = _mm256_set1_epi32(-1);
        let zero = _mm256_setzero_si256();
        #[expect(unsafe_code, reason = "a load through a pointer")]
        // SAFETY: a tile has 32 bytes that may be read; the load asks for no alignment.
        let columns = unsafe { _mm256_loadu_si256(columns.as_ptr().cast()) };
        let mut near = zero;
        for &row in rows {
            let mut difference = _mm256_xor_si256(columns, _mm256_set1_epi32(row.cast_signed()));
            for _ in 0..K {
                let less = _mm256_add_epi32(difference, ones);
                difference = _mm256_and_si256(difference, less);
            }
            near = _mm256_or_si256(near, _mm256_cmpeq_epi32(difference, zero));
        }
        _mm256_testz_si256(near, near) == 0
    }

    #[target_feature(enable = "avx2,popcnt")]
    pub(super) fn pairs_u64_avx2(
        left: &[u64],
        right: &[u64],
        triangle: bool,
        k: u32,
        out: &mut Vec<[u32; 2]>,
    ) {
        super::pairs(left, right, triangle, k, out, |rows, columns| any_near(rows, columns, k));
    }

    /// How many bits of each word are set.
    ///
    /// By a table of 16 counts, looked up for both halves of all bytes at once: W. Mula, N. Kurz, D.
    /// Lemire, "Faster population counts using AVX2 instructions", 2018.
    #[inline]
    #[target_feature(enable = "avx2")]
    fn distances(words: __m256i) -> __m256i {
        let counts = _mm256_setr_epi8(
            0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4, //
            0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4,
        );
        let nibble = _mm256_set1_epi8(15);
        let low = _mm256_and_si256(words, nibble);
        let high = _mm256_and_si256(_mm256_srli_epi16::<4>(words), nibble);
        let bytes =
            _mm256_add_epi8(_mm256_shuffle_epi8(counts, low), _mm256_shuffle_epi8(counts, high));
        _mm256_sad_epu8(bytes, _mm256_setzero_si256())
    }

    /// Whether two words of a tile are within distance `k`.
    #[inline]
    #[target_feature(enable = "avx2")]
    fn any_near(rows: &[u64; TILE], columns: &[u64; TILE], k: u32) -> bool {
        let mut nearest = _mm256_set1_epi64x(i64::MAX);
        let (halves, _) = columns.as_chunks::<4>();
        for half in halves {
            #[expect(unsafe_code, reason = "a load through a pointer")]
            // SAFETY: half a tile has 32 bytes that may be read; the load asks for no alignment.
            let columns = unsafe { _mm256_loadu_si256(half.as_ptr().cast()) };
            for &row in rows {
                let difference = _mm256_xor_si256(columns, _mm256_set1_epi64x(row.cast_signed()));
                // The high half of a distance is 0, and that of the smallest one stays so.
                nearest = _mm256_min_epu32(nearest, distances(difference));
            }
        }
        let near = _mm256_cmpgt_epi64(_mm256_set1_epi64x(i64::from(k) + 1), nearest);
        _mm256_testz_si256(near, near) == 0
    }
}
