//! Compares many words with many other words, for joins.

#[cfg(target_arch = "x86_64")]
mod x86;

use std::sync::OnceLock;

type WithinFn = unsafe fn(&[u64], &[u32], u32, &mut Vec<[u32; 2]>);
type AheadFn = unsafe fn(&[u64], usize, usize, u32, &mut Vec<[u32; 2]>);
type PairsU32 = unsafe fn(&[u32], &[u32], bool, u32, &mut Vec<[u32; 2]>);
type PairsU64 = unsafe fn(&[u64], &[u64], bool, u32, &mut Vec<[u32; 2]>);

/// A version of the three functions that compare many words with many other words, for joins.
///
/// AVX2 has no vector popcount. For distances up to 4, the AVX2 version clears the lowest bit of a
/// difference k times and tests for zero, with two instructions for each bit. Counting takes about
/// ten instructions.
///
/// Invariant: a `PairKernel` exists only if the processor has the features that its functions were
/// compiled for, as for [`SearchKernel`](super::SearchKernel). Only [`PairKernel::available`] creates a
/// `PairKernel`.
#[derive(Clone, Copy)]
pub(in crate::search) struct PairKernel {
    #[cfg_attr(not(test), expect(dead_code, reason = "distinguishes versions in tests"))]
    name: &'static str,
    within: WithinFn,
    ahead: AheadFn,
    pairs_u32: PairsU32,
    pairs_u64: PairsU64,
}

impl PairKernel {
    /// The longest run that [`PairKernel::within`] compares.
    pub(in crate::search) const RUN_MAX: usize = 32;

    /// Returns the fastest version for this processor.
    pub(in crate::search) fn fastest() -> Self {
        static FASTEST: OnceLock<PairKernel> = OnceLock::new();
        *FASTEST.get_or_init(|| Self::available().next().unwrap_or(Self::PORTABLE))
    }

    /// Returns every version that this processor can run, the fastest first.
    pub(in crate::search) fn available() -> impl Iterator<Item = Self> {
        #[cfg(target_arch = "x86_64")]
        let special = [
            (std::is_x86_feature_detected!("avx512f")
                && std::is_x86_feature_detected!("avx512bw")
                && std::is_x86_feature_detected!("avx512vl")
                && std::is_x86_feature_detected!("avx512vpopcntdq")
                && std::is_x86_feature_detected!("popcnt"))
            .then_some(Self {
                name: "avx512",
                within: x86::within_avx512,
                ahead: x86::ahead_avx512,
                pairs_u32: x86::pairs_u32_avx512,
                pairs_u64: x86::pairs_u64_avx512,
            }),
            (std::is_x86_feature_detected!("avx2") && std::is_x86_feature_detected!("popcnt"))
                .then_some(Self {
                    name: "avx2",
                    within: x86::within_avx2,
                    ahead: x86::ahead_avx2,
                    pairs_u32: x86::pairs_u32_avx2,
                    pairs_u64: x86::pairs_u64_avx2,
                }),
            std::is_x86_feature_detected!("popcnt").then_some(Self {
                name: "popcnt",
                within: x86::within_popcnt,
                ahead: x86::ahead_popcnt,
                pairs_u32: x86::pairs_u32_popcnt,
                pairs_u64: x86::pairs_u64_popcnt,
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

    /// Returns the name of the instruction set.
    #[cfg(test)]
    pub(in crate::search) fn name(self) -> &'static str {
        self.name
    }

    /// Appends to `out` the indices of all pairs of words within distance `k` in the same run, the
    /// lower index first. Run r is `words[starts[r]..starts[r + 1]]`. Runs longer than
    /// [`PairKernel::RUN_MAX`] are skipped.
    pub(in crate::search) fn within(
        self,
        words: &[u64],
        starts: &[u32],
        k: u32,
        out: &mut Vec<[u32; 2]>,
    ) {
        #[expect(unsafe_code, reason = "the call of a function for certain processors")]
        // SAFETY: a `PairKernel` exists only where the processor has the features that the
        // functions need, and the functions have no other precondition.
        unsafe {
            (self.within)(words, starts, k, out);
        }
    }

    /// Compares each of the first `rows` words with the `reach` words after it, and appends to
    /// `out` the indices of the pairs within distance `k`, ascending by the first index. There must
    /// be fewer than 2^32 words.
    ///
    /// For runs of one or two words this function is faster than [`PairKernel::within`], since it
    /// does not depend on the ends of runs.
    pub(in crate::search) fn ahead(
        self,
        words: &[u64],
        rows: usize,
        reach: usize,
        k: u32,
        out: &mut Vec<[u32; 2]>,
    ) {
        #[expect(unsafe_code, reason = "the call of a function for certain processors")]
        // SAFETY: as in `within`.
        unsafe {
            (self.ahead)(words, rows, reach, k, out);
        }
    }

    /// Appends to `out` the indices of all pairs of words from `left` and `right` within distance
    /// `k`, in no particular order. With `triangle`, `right` begins with the words of `left`, and
    /// each word is compared only with later words. `left` and `right` must have fewer than 2^32
    /// words each.
    pub(in crate::search) fn pairs_u32(
        self,
        left: &[u32],
        right: &[u32],
        triangle: bool,
        k: u32,
        out: &mut Vec<[u32; 2]>,
    ) {
        #[expect(unsafe_code, reason = "the call of a function for certain processors")]
        // SAFETY: as in `within`.
        unsafe {
            (self.pairs_u32)(left, right, triangle, k, out);
        }
    }

    /// Compares words of 64 bits by the rules of [`pairs_u32`](Self::pairs_u32).
    pub(in crate::search) fn pairs_u64(
        self,
        left: &[u64],
        right: &[u64],
        triangle: bool,
        k: u32,
        out: &mut Vec<[u32; 2]>,
    ) {
        #[expect(unsafe_code, reason = "the call of a function for certain processors")]
        // SAFETY: as in `within`.
        unsafe {
            (self.pairs_u64)(left, right, triangle, k, out);
        }
    }
}

#[inline(always)]
#[expect(clippy::indexing_slicing, reason = "runs are of the words")]
fn within(words: &[u64], starts: &[u32], k: u32, out: &mut Vec<[u32; 2]>) {
    let Some((&first, ends)) = starts.split_first() else { return };
    let mut start = first;
    for &end in ends {
        let run = &words[start as usize..end as usize];
        // The caller splits or compares longer runs by other means.
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

/// Compares the rows `row..rows`, each with the `reach` words after it.
#[inline(always)]
#[expect(clippy::indexing_slicing, reason = "no further than to the last word")]
#[expect(clippy::cast_possible_truncation, reason = "there are fewer than 2^32 words")]
fn push_ahead(
    words: &[u64],
    row: usize,
    rows: usize,
    reach: usize,
    k: u32,
    out: &mut Vec<[u32; 2]>,
) {
    // Pairs across the end of a run are found here too; the caller filters them by bucket.
    for row in row..rows.min(words.len()) {
        let (word, after) = (words[row], &words[row + 1..]);
        for (column, other) in (row + 1..).zip(after.iter().take(reach)) {
            if (word ^ other).count_ones() <= k {
                out.push([row as u32, column as u32]);
            }
        }
    }
}

/// A word that [`pairs`] compares.
trait HammingWord: Copy {
    fn distance(self, other: Self) -> u32;
}

impl HammingWord for u32 {
    #[inline(always)]
    fn distance(self, other: Self) -> u32 {
        (self ^ other).count_ones()
    }
}

impl HammingWord for u64 {
    #[inline(always)]
    fn distance(self, other: Self) -> u32 {
        (self ^ other).count_ones()
    }
}

/// The rows and the columns of a tile.
// 8 columns fill a 512-bit vector of 64-bit words, or a 256-bit vector of 32-bit words.
const TILE: usize = 8;
const TILE_WORDS: u32 = 8;
const _: () = assert!(TILE_WORDS as usize == TILE);

/// Compares each word of `left` with all words of `right`. If `right` begins with `left`, each word
/// is compared only with later words.
///
/// The function processes tiles: nearly all tiles contain no near pair. `any_near` returns whether
/// a tile has two words within distance k; false positives are allowed.
#[inline(always)]
#[expect(clippy::indexing_slicing, reason = "in a triangle, right begins with left")]
fn pairs<W: HammingWord>(
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
        // `right` begins with `left`: pairs inside the block come from the triangle, and columns up
        // to and including the block are skipped, so each pair is compared only once.
        if triangle {
            push_triangle(rows, top, k, out);
            rest = &rest[TILE..];
            first += TILE_WORDS;
        }
        let (tiles, odd_columns) = rest.as_chunks::<TILE>();
        let mut column = first;
        for tile in tiles {
            // The condition is rarely true. If the condition is true, all 64 pairs of the tile are
            // compared again to find the indices.
            if any_near(rows, tile) {
                push_near(rows, tile, top, column, k, out);
            }
            column += TILE_WORDS;
        }
        // Fewer than eight columns are left: no vector load may reach beyond the slice.
        push_near(rows, odd_columns, top, column, k, out);
        top += TILE_WORDS;
    }
    if triangle {
        push_triangle(odd_rows, top, k, out);
        // After the loop `rest` begins with the odd rows, which the triangle has compared.
        rest = &rest[odd_rows.len()..];
        #[expect(clippy::cast_possible_truncation, reason = "fewer than a tile has")]
        let odd = odd_rows.len() as u32;
        first = top + odd;
    }
    push_near(odd_rows, rest, top, first, k, out);
}

/// Compares word by word, for few words or a tile with a near pair.
#[inline(always)]
fn push_near<W: HammingWord>(
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

/// Compares each word with the words after it.
#[inline(always)]
fn push_triangle<W: HammingWord>(words: &[W], first: u32, k: u32, out: &mut Vec<[u32; 2]>) {
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

/// The source of the simpler versions, which count all distances of a tile.
#[inline(always)]
fn pairs_counting<W: HammingWord>(
    left: &[W],
    right: &[W],
    triangle: bool,
    k: u32,
    out: &mut Vec<[u32; 2]>,
) {
    pairs(left, right, triangle, k, out, |rows, columns| {
        let mut nearest = u32::MAX;
        // The loop computes all 64 distances without a branch. The compiler unrolls and vectorizes
        // it for the target.
        for &other in columns {
            for &word in rows {
                nearest = nearest.min(word.distance(other));
            }
        }
        nearest <= k
    });
}
