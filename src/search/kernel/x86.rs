//! The versions for x86-64.

use std::arch::x86_64::{
    __m256i, _mm256_add_epi8, _mm256_and_si256, _mm256_castsi256_pd, _mm256_castsi256_ps,
    _mm256_cmpgt_epi32, _mm256_cmpgt_epi64, _mm256_loadu_si256, _mm256_madd_epi16,
    _mm256_maddubs_epi16, _mm256_maskload_epi32, _mm256_min_epu8, _mm256_movemask_pd,
    _mm256_movemask_ps, _mm256_sad_epu8, _mm256_set1_epi8, _mm256_set1_epi16, _mm256_set1_epi32,
    _mm256_set1_epi64x, _mm256_setr_epi8, _mm256_setr_epi32, _mm256_setzero_si256,
    _mm256_shuffle_epi8, _mm256_srli_epi16, _mm256_sub_epi32, _mm256_xor_si256,
    _mm512_cmple_epu32_mask, _mm512_cmple_epu64_mask, _mm512_loadu_si512,
    _mm512_mask_cmple_epu32_mask, _mm512_mask_cmple_epu64_mask, _mm512_maskz_loadu_epi32,
    _mm512_maskz_loadu_epi64, _mm512_popcnt_epi32, _mm512_popcnt_epi64, _mm512_set1_epi32,
    _mm512_set1_epi64, _mm512_xor_si512,
};

use zerocopy::little_endian::{U32, U64};

use super::super::column::Line;
use super::cells::{self, Lines, NearEntry, Onward};
use super::runs::{self, NearWord, PlaneRun};

#[target_feature(enable = "popcnt")]
pub(super) fn near_in_runs_popcnt(runs: &[PlaneRun<'_>], out: &mut Vec<NearWord>) {
    runs::near_in_runs(runs, out);
}

#[target_feature(enable = "popcnt")]
pub(super) fn near_u64_popcnt(column: &[U64], query: u64, k: u32, out: &mut Vec<u32>) {
    super::near_u64(column, query, k, out);
}

#[target_feature(enable = "popcnt")]
pub(super) fn near_in_lines_popcnt(
    lines: Lines<'_>,
    near: &mut Vec<NearEntry>,
    onward: &mut Onward,
) {
    super::near_in_lines(lines, near, onward);
}

/// How many bits of each byte are set: W. Mula, N. Kurz, D. Lemire, "Faster population counts
/// using AVX2 instructions", 2018.
#[inline]
#[target_feature(enable = "avx2")]
fn counts_of_bytes(words: __m256i) -> __m256i {
    let of_nibble = _mm256_setr_epi8(
        0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4, //
        0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4,
    );
    let nibble = _mm256_set1_epi8(0x0f);
    let low = _mm256_and_si256(words, nibble);
    let high = _mm256_and_si256(_mm256_srli_epi16::<4>(words), nibble);
    let low = _mm256_shuffle_epi8(of_nibble, low);
    _mm256_add_epi8(low, _mm256_shuffle_epi8(of_nibble, high))
}

/// How many bits of each of eight words are set.
#[inline]
#[target_feature(enable = "avx2")]
fn counts_u32(words: __m256i) -> __m256i {
    let of_pairs = _mm256_maddubs_epi16(counts_of_bytes(words), _mm256_set1_epi8(1));
    _mm256_madd_epi16(of_pairs, _mm256_set1_epi16(1))
}

/// One bit for each of eight lanes that is all ones.
#[inline]
#[target_feature(enable = "avx2")]
fn lanes_u32(mask: __m256i) -> u32 {
    _mm256_movemask_ps(_mm256_castsi256_ps(mask)).cast_unsigned()
}

/// How many bits of each of four words of 64 bits are set.
#[inline]
#[target_feature(enable = "avx2")]
fn counts_u64(words: __m256i) -> __m256i {
    _mm256_sad_epu8(counts_of_bytes(words), _mm256_setzero_si256())
}

/// One bit for each of four lanes that is all ones.
#[inline]
#[target_feature(enable = "avx2")]
fn lanes_u64(mask: __m256i) -> u32 {
    _mm256_movemask_pd(_mm256_castsi256_pd(mask)).cast_unsigned()
}

#[inline]
#[target_feature(enable = "avx2")]
fn load<T>(words: &T) -> __m256i {
    const { assert!(size_of::<T>() == size_of::<__m256i>()) };
    #[expect(unsafe_code, reason = "a load through a pointer")]
    // SAFETY: the words are 32 bytes that may be read; the load asks for no alignment.
    unsafe {
        _mm256_loadu_si256(std::ptr::from_ref(words).cast())
    }
}

/// A memory line as two vectors.
#[inline]
#[target_feature(enable = "avx2")]
fn halves(line: &Line) -> [__m256i; 2] {
    let (halves, _) = line.as_chunks::<8>();
    match halves {
        [left, right] => [load(left), load(right)],
        _ => [_mm256_setzero_si256(); 2],
    }
}

#[target_feature(enable = "avx2,popcnt")]
pub(super) fn near_in_runs_avx2(runs: &[PlaneRun<'_>], out: &mut Vec<NearWord>) {
    for (number, run) in (0..).zip(runs) {
        if run.plane.len() <= SHORT {
            let near = near_in_short_run(run);
            push_mask(0, near, |index| out.push(NearWord { run: number, index }));
        } else {
            near_in_long_run(run, |index| out.push(NearWord { run: number, index }));
        }
    }
}

/// Words of a short run: lengths are not foreseen, and comparing too many lanes is cheaper than
/// asking how many there are.
const SHORT: usize = 8 * 3;

/// Which of the words of a run of [`SHORT`] at most are near, as bits.
#[inline]
#[target_feature(enable = "avx2,popcnt")]
fn near_in_short_run(&PlaneRun { plane, query, k }: &PlaneRun<'_>) -> u32 {
    let lanes = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
    let query = _mm256_set1_epi32(query.cast_signed());
    let limit = _mm256_set1_epi32(k.min(u32::BITS).cast_signed() + 1);
    #[expect(clippy::cast_possible_truncation, reason = "at most 24")]
    let len = plane.len() as i32;
    let ends = _mm256_sub_epi32(_mm256_set1_epi32(len), lanes);
    let mut near = 0;
    for start in [0, 8, 16] {
        let there = _mm256_cmpgt_epi32(ends, _mm256_set1_epi32(start));
        // Lanes that are not set are waited for all the same: those of no word are in a line that
        // has come.
        let from = if start < len { start.cast_unsigned() } else { 0 };
        let words = plane.as_ptr().wrapping_add(from as usize).cast();
        #[expect(unsafe_code, reason = "a load through a pointer")]
        // SAFETY: `there` is set in one lane for each word of the plane from `start` on, and in none
        // if there are no such words; lanes that are not set are not read; the load asks for no
        // alignment.
        let words = unsafe { _mm256_maskload_epi32(words, there) };
        let counts = counts_u32(_mm256_xor_si256(words, query));
        near |= lanes_u32(_mm256_cmpgt_epi32(limit, counts)) << start;
    }
    // Lanes that were not set count as zeros.
    near & !(u32::MAX << len)
}

/// Hands over which of the words of a run of more than [`SHORT`] are near.
#[inline(never)]
#[target_feature(enable = "avx2,popcnt")]
fn near_in_long_run(&PlaneRun { plane, query, k }: &PlaneRun<'_>, mut push: impl FnMut(u32)) {
    let query = _mm256_set1_epi32(query.cast_signed());
    let limit = _mm256_set1_epi32(k.min(u32::BITS).cast_signed() + 1);
    let near_of = |counts| lanes_u32(_mm256_cmpgt_epi32(limit, counts));
    let (blocks, _) = plane.as_chunks::<8>();
    let (groups, blocks) = blocks.as_chunks::<4>();
    let mut base = 0;
    for group in groups {
        let counts = group.each_ref().map(|block| counts_u32(_mm256_xor_si256(load(block), query)));
        let [first, second, third, fourth] = counts;
        // Nearly always nothing is near in any of them. Counts fit a byte each.
        let nearest =
            _mm256_min_epu8(_mm256_min_epu8(first, second), _mm256_min_epu8(third, fourth));
        if near_of(nearest) != 0 {
            for (counts, base) in counts.into_iter().zip((base..).step_by(8)) {
                push_mask(base, near_of(counts), &mut push);
            }
        }
        base += 8 * 4;
    }
    for block in blocks {
        push_mask(base, near_of(counts_u32(_mm256_xor_si256(load(block), query))), &mut push);
        base += 8;
    }
    // The words that are left, with some that were compared before them.
    if let Some(last) = plane.last_chunk::<8>() {
        let near = near_of(counts_u32(_mm256_xor_si256(load(last), query)));
        #[expect(clippy::cast_possible_truncation, reason = "fewer than 2^32 words")]
        let left = plane.len() as u32 - base;
        push_mask(base, near >> (8 - left), push);
    }
}

#[target_feature(enable = "avx2,popcnt")]
pub(super) fn near_u64_avx2(column: &[U64], query: u64, k: u32, out: &mut Vec<u32>) {
    let wide = _mm256_set1_epi64x(query.cast_signed());
    let limit = _mm256_set1_epi64x(i64::from(k.min(u64::BITS)) + 1);
    let near_of = |counts| lanes_u64(_mm256_cmpgt_epi64(limit, counts));
    let (blocks, rest) = column.as_chunks::<4>();
    let (groups, blocks) = blocks.as_chunks::<4>();
    let mut base = 0;
    for group in groups {
        let counts = group.each_ref().map(|block| counts_u64(_mm256_xor_si256(load(block), wide)));
        let [first, second, third, fourth] = counts;
        let nearest =
            _mm256_min_epu8(_mm256_min_epu8(first, second), _mm256_min_epu8(third, fourth));
        if near_of(nearest) != 0 {
            for (counts, base) in counts.into_iter().zip((base..).step_by(4)) {
                push_mask(base, near_of(counts), |index| out.push(index));
            }
        }
        base += 4 * 4;
    }
    for block in blocks {
        let near = near_of(counts_u64(_mm256_xor_si256(load(block), wide)));
        push_mask(base, near, |index| out.push(index));
        base += 4;
    }
    for (index, word) in (base..).zip(rest) {
        if (word.get() ^ query).count_ones() <= k {
            out.push(index);
        }
    }
}

#[target_feature(enable = "avx2,popcnt")]
pub(super) fn near_in_lines_avx2(lines: Lines<'_>, near: &mut Vec<NearEntry>, onward: &mut Onward) {
    cells::near_in_lines(lines, near, onward, |line, query, most| {
        let query = _mm256_set1_epi32(query.cast_signed());
        let limit = _mm256_set1_epi32(most.min(u32::BITS).cast_signed() + 1);
        let [left, right] = halves(line).map(|half| counts_u32(_mm256_xor_si256(half, query)));
        // Counts fit a byte each.
        lanes_u32(_mm256_cmpgt_epi32(limit, _mm256_min_epu8(left, right))) != 0
    });
}

#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vpopcntdq")]
pub(super) fn near_in_lines_avx512(
    lines: Lines<'_>,
    near: &mut Vec<NearEntry>,
    onward: &mut Onward,
) {
    cells::near_in_lines(lines, near, onward, |line, query, most| {
        #[expect(unsafe_code, reason = "a load through a pointer")]
        // SAFETY: the line is 64 bytes that may be read; the load asks for no alignment.
        let words = unsafe { _mm512_loadu_si512(line.as_ptr().cast()) };
        let query = _mm512_set1_epi32(query.cast_signed());
        let distances = _mm512_popcnt_epi32(_mm512_xor_si512(words, query));
        _mm512_cmple_epu32_mask(distances, _mm512_set1_epi32(most.cast_signed())) != 0
    });
}

#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vpopcntdq")]
pub(super) fn near_in_runs_avx512(runs: &[PlaneRun<'_>], out: &mut Vec<NearWord>) {
    for (number, run) in (0..).zip(runs) {
        let push = |index| out.push(NearWord { run: number, index });
        if run.plane.len() <= SHORT_512 {
            push_mask(0, near_in_short_run_512(run), push);
        } else {
            near_in_long_run_512(run, push);
        }
    }
}

/// Words of a run that is short for vectors of 16, at most: compared without asking how many there
/// are, as [`SHORT`] says.
const SHORT_512: usize = 16 * 2;

/// Which of the words of a run of [`SHORT_512`] at most are near, as bits.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vpopcntdq")]
fn near_in_short_run_512(&PlaneRun { plane, query, k }: &PlaneRun<'_>) -> u32 {
    let query = _mm512_set1_epi32(query.cast_signed());
    let limit = _mm512_set1_epi32(k.min(u32::BITS).cast_signed());
    #[expect(clippy::cast_possible_truncation, reason = "at most 32 bits are set")]
    let there = ((1_u64 << plane.len().min(SHORT_512)) - 1) as u32;
    let mut near = 0;
    for start in [0, 16] {
        #[expect(clippy::cast_possible_truncation, reason = "16 bits of 32")]
        let lanes = (there >> start) as u16;
        // Lanes that are not set are waited for, too: those of no word are the first words', whose
        // line has come.
        let from = if lanes == 0 { 0 } else { start };
        let words = plane.as_ptr().wrapping_add(from).cast();
        #[expect(unsafe_code, reason = "a load through a pointer")]
        // SAFETY: `lanes` has one bit for each word of the plane from `start` on, 16 at most, and
        // none if there are no such words; lanes that are not set are not read; the load asks for
        // no alignment.
        let words = unsafe { _mm512_maskz_loadu_epi32(lanes, words) };
        let distances = _mm512_popcnt_epi32(_mm512_xor_si512(words, query));
        near |= u32::from(_mm512_mask_cmple_epu32_mask(lanes, distances, limit)) << start;
    }
    near
}

/// Hands over which of the words of a run of more than [`SHORT_512`] are near.
#[inline(never)]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vpopcntdq")]
fn near_in_long_run_512(&PlaneRun { plane, query, k }: &PlaneRun<'_>, mut push: impl FnMut(u32)) {
    let query = _mm512_set1_epi32(query.cast_signed());
    let limit = _mm512_set1_epi32(k.min(u32::BITS).cast_signed());
    let near_of = |block: &[U32; 16]| {
        #[expect(unsafe_code, reason = "a load through a pointer")]
        // SAFETY: the block is 64 bytes that may be read; the load asks for no alignment.
        let words = unsafe { _mm512_loadu_si512(block.as_ptr().cast()) };
        let distances = _mm512_popcnt_epi32(_mm512_xor_si512(words, query));
        u32::from(_mm512_cmple_epu32_mask(distances, limit))
    };
    let (blocks, _) = plane.as_chunks::<16>();
    let (pairs, _) = blocks.as_chunks::<2>();
    let mut base = 0;
    for [first, second] in pairs {
        // Nearly always nothing is near in either.
        push_mask(base, near_of(first) | near_of(second) << 16, &mut push);
        base += 32;
    }
    // The words that are left, with some that were compared before them.
    let (_, blocks) = plane.as_rchunks::<16>();
    if let [.., first, second] = blocks {
        let near = u64::from(near_of(first) | near_of(second) << 16);
        #[expect(clippy::cast_possible_truncation, reason = "fewer than 2^32 words")]
        let left = plane.len() as u32 - base;
        #[expect(clippy::cast_possible_truncation, reason = "32 bits, and fewer once shifted")]
        push_mask(base, (near >> (32 - left)) as u32, push);
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
            push_mask(base, near.into(), |index| out.push(index));
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
        push_mask(base, near.into(), |index| out.push(index));
    }
}

/// Hands over `base` plus the place of each bit that is set.
#[inline]
fn push_mask(base: u32, mut mask: u32, mut push: impl FnMut(u32)) {
    while mask != 0 {
        push(base + mask.trailing_zeros());
        mask &= mask - 1;
    }
}
