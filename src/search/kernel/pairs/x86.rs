//! The versions for x86-64.

use std::arch::x86_64::{
    __m256i, _mm256_add_epi8, _mm256_add_epi32, _mm256_add_epi64, _mm256_and_si256,
    _mm256_cmpeq_epi32, _mm256_cmpeq_epi64, _mm256_cmpgt_epi64, _mm256_cmple_epu32_mask,
    _mm256_loadu_si256, _mm256_min_epu32, _mm256_or_si256, _mm256_popcnt_epi32, _mm256_sad_epu8,
    _mm256_set1_epi8, _mm256_set1_epi32, _mm256_set1_epi64x, _mm256_setr_epi8,
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
    // A constant k lets the compiler unroll `clears`. From k = 5 on, clearing bits takes at least
    // as many instructions as counting.
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

/// Processes four rows at a time; `near` maps each near difference to all ones.
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
    // The window has the four rows and the `reach` words after the last row: `load(reach)` reads up
    // to its end.
    while let Some(window) = words.get(row..).and_then(|from| from.get(..reach + 4))
        && row + 4 <= rows
    {
        let start = window.as_ptr();
        let load = |at: usize| {
            #[expect(unsafe_code, reason = "a load through a pointer")]
            // SAFETY: `at` is at most `reach`, and the window has `reach + 4` words, so these 32
            // bytes lie inside the window; the load needs no alignment.
            unsafe {
                _mm256_loadu_si256(start.wrapping_add(at).cast())
            }
        };
        // Lane i of `load(at)` is the word `at` after row i, so one XOR compares all four rows.
        let four = load(0);
        let mut found = _mm256_setzero_si256();
        for at in 1..=reach {
            found = _mm256_or_si256(found, near(_mm256_xor_si256(four, load(at))));
        }
        if _mm256_testz_si256(found, found) == 0 {
            // Rarely, a word is near. Then the near words are searched one by one.
            super::push_ahead(words, row, row + 4, reach, k, out);
        }
        row += 4;
    }
    super::push_ahead(words, row, rows, reach, k, out);
}

/// Sets all bits of words with at most `K` bits set, and clears all bits of other words.
#[inline]
#[target_feature(enable = "avx2")]
fn clears<const K: u32>(mut words: __m256i) -> __m256i {
    for _ in 0..K {
        // `w & (w - 1)` clears the lowest bit that is set. After K rounds only words with more than
        // K bits are nonzero.
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
    // AVX-512 counts bits in one instruction, so there is no special version for small k.
    let limit = _mm512_set1_epi64(k.min(u64::BITS).into());
    let rows = rows.min(words.len());
    let mut row = 0;
    while let Some(window) = words.get(row..).and_then(|from| from.get(..reach + 8))
        && row + 8 <= rows
    {
        let start = window.as_ptr();
        let load = |at: usize| {
            #[expect(unsafe_code, reason = "a load through a pointer")]
            // SAFETY: `at` is at most `reach`, and the window has `reach + 8` words, so these 64
            // bytes lie inside the window; the load needs no alignment.
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
        // SAFETY: a tile has 32 bytes that may be read; the load needs no alignment.
        let columns = unsafe { _mm256_loadu_si256(columns.as_ptr().cast()) };
        // The running minimum of each column. One test at the end of the tile replaces eight tests.
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
        // SAFETY: a tile has 64 bytes that may be read; the load needs no alignment.
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
        // From k = 5 on, counting takes no more instructions than clearing, so the generic loop is
        // used, compiled with AVX2.
        _ => super::pairs_counting(left, right, triangle, k, out),
    }
}

/// Whether clearing `K` bits of some difference leaves zero.
#[inline]
#[target_feature(enable = "avx2")]
fn any_clears<const K: u32>(rows: &[u32; TILE], columns: &[u32; TILE]) -> bool {
    let ones = _mm256_set1_epi32(-1);
    let zero = _mm256_setzero_si256();
    #[expect(unsafe_code, reason = "a load through a pointer")]
    // SAFETY: a tile has 32 bytes that may be read; the load needs no alignment.
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

/// Returns the popcount of each word.
///
/// Looks up all nibbles in a table of 16 counts: W. Mula, N. Kurz, D. Lemire, "Faster population
/// counts using AVX2 instructions", 2018.
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
        // SAFETY: half a tile has 32 bytes that may be read; the load needs no alignment.
        let columns = unsafe { _mm256_loadu_si256(half.as_ptr().cast()) };
        for &row in rows {
            let difference = _mm256_xor_si256(columns, _mm256_set1_epi64x(row.cast_signed()));
            // AVX2 has no 64-bit minimum. The 32-bit minimum is correct, since the high half of
            // every distance is 0.
            nearest = _mm256_min_epu32(nearest, distances(difference));
        }
    }
    let near = _mm256_cmpgt_epi64(_mm256_set1_epi64x(i64::from(k) + 1), nearest);
    _mm256_testz_si256(near, near) == 0
}
