//! The versions for x86-64.

use std::arch::x86_64::{
    __m256i, __m512i, _mm256_add_epi8, _mm256_add_epi16, _mm256_and_si256, _mm256_castsi256_pd,
    _mm256_castsi256_si128, _mm256_cmpgt_epi16, _mm256_cmpgt_epi64, _mm256_cvtepu8_epi16,
    _mm256_loadu_si256, _mm256_maddubs_epi16, _mm256_min_epu8, _mm256_movemask_epi8,
    _mm256_movemask_pd, _mm256_packs_epi16, _mm256_permute4x64_epi64, _mm256_sad_epu8,
    _mm256_set1_epi8, _mm256_set1_epi16, _mm256_set1_epi64x, _mm256_setr_epi8,
    _mm256_setzero_si256, _mm256_shuffle_epi8, _mm256_srli_epi16, _mm256_xor_si256,
    _mm512_add_epi16, _mm512_cmple_epu16_mask, _mm512_cmple_epu64_mask, _mm512_loadu_si512,
    _mm512_mask_cmple_epu16_mask, _mm512_mask_cmple_epu64_mask, _mm512_maskz_loadu_epi16,
    _mm512_maskz_loadu_epi64, _mm512_maskz_permutexvar_epi8, _mm512_popcnt_epi8,
    _mm512_popcnt_epi16, _mm512_popcnt_epi64, _mm512_set1_epi16, _mm512_set1_epi64,
    _mm512_xor_si512,
};

use zerocopy::little_endian::{U16, U64};
use zerocopy::transmute_ref;

use super::cells::{self, FurtherLines, LineBatch, NearEntry};
use super::runs::{self, BlockRun, NearBlock};
use super::words;
use crate::search::line::CacheLine;

#[target_feature(enable = "popcnt")]
pub(super) fn near_in_runs_popcnt(runs: &[BlockRun<'_>], out: &mut Vec<NearBlock>) {
    runs::near_in_runs(runs, out);
}

#[target_feature(enable = "popcnt")]
pub(super) fn near_u64_popcnt(column: &[U64], query: u64, k: u32, out: &mut Vec<u32>) {
    words::near_u64(column, query, k, out);
}

#[target_feature(enable = "popcnt")]
pub(super) fn near_in_lines_popcnt(
    lines: LineBatch<'_>,
    near: &mut Vec<NearEntry>,
    onward: &mut FurtherLines,
) {
    cells::near_in_lines(lines, near, onward);
}

/// Returns the popcount of each byte: W. Mula, N. Kurz, D. Lemire, "Faster population counts using
/// AVX2 instructions", 2018.
#[inline]
#[target_feature(enable = "avx2")]
fn counts_of_bytes(words: __m256i) -> __m256i {
    // The counts of all 16 nibbles are repeated in each 128-bit lane, since the shuffle looks up
    // within a lane.
    let of_nibble = _mm256_setr_epi8(
        0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4, //
        0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4,
    );
    let nibble = _mm256_set1_epi8(0x0f);
    let low = _mm256_and_si256(words, nibble);
    // AVX2 has no shift of bytes. The 16-bit shift moves bits across bytes, and the mask removes
    // these bits.
    let high = _mm256_and_si256(_mm256_srli_epi16::<4>(words), nibble);
    let low = _mm256_shuffle_epi8(of_nibble, low);
    _mm256_add_epi8(low, _mm256_shuffle_epi8(of_nibble, high))
}

/// Returns the popcounts of four words of 64 bits.
#[inline]
#[target_feature(enable = "avx2")]
fn counts_u64(words: __m256i) -> __m256i {
    // The sum of absolute differences from zero adds the eight byte counts of each 64-bit lane.
    _mm256_sad_epu8(counts_of_bytes(words), _mm256_setzero_si256())
}

/// Returns one bit for each of four lanes, set if the lane is all ones.
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
    // SAFETY: the words are 32 bytes that may be read; the load needs no alignment.
    unsafe {
        _mm256_loadu_si256(std::ptr::from_ref(words).cast())
    }
}

/// Loads a cache line as two vectors.
#[inline]
#[target_feature(enable = "avx2")]
fn halves(line: &CacheLine) -> [__m256i; 2] {
    let [left, right]: &[[U16; 16]; 2] = transmute_ref!(line);
    [load(left), load(right)]
}

/// Returns a bit for each of 32 blocks, set if the block differs from the query in fewer bits than
/// `limit`.
#[inline]
#[target_feature(enable = "avx2")]
fn near_in_line(line: &[U16; 32], query: __m256i, limit: __m256i) -> u32 {
    let near_of = |half: &[U16; 16]| {
        let counts = counts_of_bytes(_mm256_xor_si256(load(half), query));
        // Multiplying by 1 and adding pairs sums the two bytes of each block.
        let counts = _mm256_maddubs_epi16(counts, _mm256_set1_epi8(1));
        _mm256_cmpgt_epi16(limit, counts)
    };
    let [left, right]: &[[U16; 16]; 2] = transmute_ref!(line);
    // Packing works per 128-bit lane, which interleaves
    // the two inputs: the permutation restores the order.
    let near = _mm256_packs_epi16(near_of(left), near_of(right));
    _mm256_movemask_epi8(_mm256_permute4x64_epi64::<0b11_01_10_00>(near)).cast_unsigned()
}

#[target_feature(enable = "avx2,popcnt")]
pub(super) fn near_in_runs_avx2(runs: &[BlockRun<'_>], out: &mut Vec<NearBlock>) {
    for (number, &BlockRun { blocks, query, most }) in (0..).zip(runs) {
        let mut push = |index| out.push(NearBlock { run: number, index });
        let wide = _mm256_set1_epi16(query.cast_signed());
        // AVX2 compares only by "greater than", so the limit is `most + 1`. The limit is at most
        // 17, so the cast to `i16` is lossless.
        let limit = _mm256_set1_epi16(most.min(u16::BITS) as i16 + 1);
        let (lines, rest) = blocks.as_chunks::<32>();
        let mut base = 0;
        for line in lines {
            push_mask(base, near_in_line(line, wide, limit), &mut push);
            base += 32;
        }
        // Buckets are whole lines. Only the rest of a bucket and the nodes of chains have a remainder.
        for (index, block) in (base..).zip(rest) {
            if (block.get() ^ query).count_ones() <= most {
                push(index);
            }
        }
    }
}

#[target_feature(enable = "avx2,popcnt")]
pub(super) fn near_u64_avx2(column: &[U64], query: u64, k: u32, out: &mut Vec<u32>) {
    let wide = _mm256_set1_epi64x(query.cast_signed());
    let limit = _mm256_set1_epi64x(i64::from(k.min(u64::BITS)) + 1);
    let near_of = |counts| lanes_u64(_mm256_cmpgt_epi64(limit, counts));
    let (blocks, rest) = column.as_chunks::<4>();
    // One test covers four vectors, since nearly always all sixteen words are far.
    let (groups, blocks) = blocks.as_chunks::<4>();
    let mut base = 0;
    for group in groups {
        let counts = group.each_ref().map(|block| counts_u64(_mm256_xor_si256(load(block), wide)));
        let [first, second, third, fourth] = counts;
        let nearest =
            // AVX2 has no 64-bit minimum. A byte minimum is correct, since counts fit in the low
            // byte of a lane.
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
pub(super) fn near_in_lines_avx2(
    lines: LineBatch<'_>,
    near: &mut Vec<NearEntry>,
    onward: &mut FurtherLines,
) {
    // The query is laid out as a line of 20 equal entries, so one XOR per half line compares all
    // entries.
    let query = halves(&cells::line_of(lines.query));
    let limit = _mm256_set1_epi16(lines.most.min(cells::ENTRY_BITS) as i16 + 1);
    let ones = _mm256_set1_epi8(1);
    cells::near_in_lines_where(lines, near, onward, |line| {
        let ([left, right], [left_query, right_query]) = (halves(line), query);
        let left = counts_of_bytes(_mm256_xor_si256(left, left_query));
        let right = counts_of_bytes(_mm256_xor_si256(right, right_query));
        // The high bytes of entries 0 to 15 are in the middle two quarters of the right half. The
        // high bytes of entries 16 to 19 are in the last quarter, before the head. Each group moves
        // to the low 128 bits.
        let first = _mm256_permute4x64_epi64::<0b00_00_10_01>(right);
        let last = _mm256_permute4x64_epi64::<0b00_00_00_11>(right);
        let near_of = |places, halves| {
            let halves = _mm256_cvtepu8_epi16(_mm256_castsi256_si128(halves));
            // The count of the 16 low bits plus the count of the 8 high bits is the distance of
            // each entry in 24 bits.
            let counts = _mm256_add_epi16(_mm256_maddubs_epi16(places, ones), halves);
            _mm256_movemask_epi8(_mm256_cmpgt_epi16(limit, counts)).cast_unsigned()
        };
        // The right half starts with four entries. The mask has two bits for each entry, and other
        // lanes are not entries.
        near_of(left, first) | near_of(right, last) & 0xff != 0
    });
}

#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512bitalg,avx512vbmi")]
pub(super) fn near_in_lines_avx512(
    lines: LineBatch<'_>,
    near: &mut Vec<NearEntry>,
    onward: &mut FurtherLines,
) {
    const ENTRIES: usize = cells::LINE_ENTRIES as usize;
    let query = load_line(&cells::line_of(lines.query));
    let limit = _mm512_set1_epi16(lines.most.min(cells::ENTRY_BITS) as i16);
    // This permutation moves the high byte of entry i, at 40 + i, into the low byte of its 16-bit
    // lane.
    let mut halves = [0_u8; 64];
    let behind = (0..).skip(2 * ENTRIES).take(ENTRIES);
    halves.iter_mut().step_by(2).zip(behind).for_each(|(to, half)| *to = half);
    let halves = load_line(&halves);
    cells::near_in_lines_where(lines, near, onward, |line| {
        let difference = _mm512_xor_si512(load_line(line), query);
        let of_halves = _mm512_popcnt_epi8(difference);
        // The mask clears the odd bytes, so that each 16-bit lane has the count of one byte.
        let of_halves = _mm512_maskz_permutexvar_epi8(0x5555_5555_5555_5555, halves, of_halves);
        let distances = _mm512_add_epi16(_mm512_popcnt_epi16(difference), of_halves);
        // Only the first 20 lanes are entries; the other lanes have high bytes and the head.
        _mm512_mask_cmple_epu16_mask((1 << ENTRIES) - 1, distances, limit) != 0
    });
}

#[inline]
#[target_feature(enable = "avx512f")]
fn load_line<T>(line: &T) -> __m512i {
    const { assert!(size_of::<T>() == size_of::<__m512i>()) };
    #[expect(unsafe_code, reason = "a load through a pointer")]
    // SAFETY: the line is 64 bytes that may be read; the load needs no alignment.
    unsafe {
        _mm512_loadu_si512(std::ptr::from_ref(line).cast())
    }
}

#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512bitalg")]
pub(super) fn near_in_runs_avx512(runs: &[BlockRun<'_>], out: &mut Vec<NearBlock>) {
    for (number, &BlockRun { blocks, query, most }) in (0..).zip(runs) {
        let mut push = |index| out.push(NearBlock { run: number, index });
        let query = _mm512_set1_epi16(query.cast_signed());
        let limit = _mm512_set1_epi16(most.min(u16::BITS) as i16);
        let (lines, rest) = blocks.as_chunks::<32>();
        let mut base = 0;
        for line in lines {
            let blocks = load_line(line);
            let distances = _mm512_popcnt_epi16(_mm512_xor_si512(blocks, query));
            push_mask(base, _mm512_cmple_epu16_mask(distances, limit), &mut push);
            base += 32;
        }
        if !rest.is_empty() {
            let lanes = u32::MAX >> (32 - rest.len());
            #[expect(unsafe_code, reason = "a load through a pointer")]
            // SAFETY: `lanes` has one bit for each block of `rest`, from the lowest on, and lanes
            // that are masked out are not read; the load needs no alignment.
            let blocks = unsafe { _mm512_maskz_loadu_epi16(lanes, rest.as_ptr().cast()) };
            let distances = _mm512_popcnt_epi16(_mm512_xor_si512(blocks, query));
            push_mask(base, _mm512_mask_cmple_epu16_mask(lanes, distances, limit), push);
        }
    }
}

#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vpopcntdq")]
pub(super) fn near_u64_avx512(column: &[U64], query: u64, k: u32, out: &mut Vec<u32>) {
    let query = _mm512_set1_epi64(query.cast_signed());
    let limit = _mm512_set1_epi64(k.min(u64::BITS).into());
    let (blocks, rest) = column.as_chunks::<8>();
    let mut base = 0;
    for block in blocks {
        let words = load_line(block);
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
        // SAFETY: `lanes` has one bit for each word of `rest`, from the lowest on, and lanes that
        // are masked out are not read; the load needs no alignment.
        let words = unsafe { _mm512_maskz_loadu_epi64(lanes, rest.as_ptr().cast()) };
        let distances = _mm512_popcnt_epi64(_mm512_xor_si512(words, query));
        let near = _mm512_mask_cmple_epu64_mask(lanes, distances, limit);
        push_mask(base, near.into(), |index| out.push(index));
    }
}

/// Passes on `base` plus the index of each set bit.
#[inline]
fn push_mask(base: u32, mut mask: u32, mut push: impl FnMut(u32)) {
    while mask != 0 {
        push(base + mask.trailing_zeros());
        mask &= mask - 1;
    }
}
