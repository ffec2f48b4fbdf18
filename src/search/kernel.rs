//! Comparing many words with one: the only room of this module with unsafe code.
//!
//! Three functions, each in four versions: `near_u64` appends the indices of all words within
//! distance k of a query, in ascending order; `near_in_runs` (`runs.rs`) does so for several runs
//! of blocks of 16 bits; `near_in_lines` (`cells.rs`) goes through lines of entries. The portable
//! version is the truth, and another is the same source compiled for processors with a popcount
//! instruction. Nearly all groups of words hold nothing near, so a group costs one comparison, and
//! only the few others are gone through word by word. The versions for AVX2 and AVX-512 are written
//! out: masks give them the indices at once, which matters to runs of one memory line.
//!
//! Which version runs is decided once, at the first use, by what the processor has.

mod cells;
mod pairs;
mod runs;
#[cfg(target_arch = "x86_64")]
mod x86;

use std::sync::OnceLock;

use cells::NearInLines;
pub(super) use cells::{
    ENTRY_BITS, FULL_ENTRIES, GATHERED, LINE_ENTRIES, Lines, NEXT, NearEntry, Onward, Sought,
    entries, put_entry,
};
pub(super) use pairs::PairKernel;
use runs::NearInRuns;
pub(super) use runs::{BlockRun, NearBlock};
use zerocopy::little_endian::U64;

type NearU64 = unsafe fn(&[U64], u64, u32, &mut Vec<u32>);

/// One version of the three functions.
///
/// Invariant: a `Kernel` is only made where the processor has the features that its functions
/// were compiled for. [`Kernel::available`] is the only place that makes one.
#[derive(Clone, Copy)]
pub(super) struct Kernel {
    name: &'static str,
    near_u64: NearU64,
    near_in_runs: NearInRuns,
    near_in_lines: NearInLines,
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
                && std::is_x86_feature_detected!("avx512bitalg")
                && std::is_x86_feature_detected!("avx512vbmi")
                && std::is_x86_feature_detected!("avx512vpopcntdq"))
            .then_some(Self {
                name: "avx512",
                near_u64: x86::near_u64_avx512,
                near_in_runs: x86::near_in_runs_avx512,
                near_in_lines: x86::near_in_lines_avx512,
            }),
            (std::is_x86_feature_detected!("avx2") && std::is_x86_feature_detected!("popcnt"))
                .then_some(Self {
                    name: "avx2",
                    near_u64: x86::near_u64_avx2,
                    near_in_runs: x86::near_in_runs_avx2,
                    near_in_lines: x86::near_in_lines_avx2,
                }),
            std::is_x86_feature_detected!("popcnt").then_some(Self {
                name: "popcnt",
                near_u64: x86::near_u64_popcnt,
                near_in_runs: x86::near_in_runs_popcnt,
                near_in_lines: x86::near_in_lines_popcnt,
            }),
        ];
        #[cfg(not(target_arch = "x86_64"))]
        let special = [None];
        special.into_iter().flatten().chain([Self::PORTABLE])
    }

    /// The version for every processor.
    const PORTABLE: Self =
        Self { name: "portable", near_u64, near_in_runs: runs::near_in_runs, near_in_lines };

    /// The name of the instruction set.
    pub(super) fn name(self) -> &'static str {
        self.name
    }

    /// Appends to `out` the index of every word of `column` within distance `k` of `query`,
    /// ascending. The column has fewer than 2^32 words.
    pub(super) fn near_u64(self, column: &[U64], query: u64, k: u32, out: &mut Vec<u32>) {
        #[expect(unsafe_code, reason = "the call of a function for certain processors")]
        // SAFETY: a `Kernel` exists only where the processor has the features its functions need,
        // and they ask for nothing else.
        unsafe {
            (self.near_u64)(column, query, k, out);
        }
    }
}

#[inline(always)]
fn near_in_lines(lines: Lines<'_>, near: &mut Vec<NearEntry>, onward: &mut Onward) {
    let Lines { query, most, .. } = lines;
    cells::near_in_lines(lines, near, onward, |line| cells::any_near(line, query, most));
}

#[inline(always)]
fn near_u64(column: &[U64], query: u64, k: u32, out: &mut Vec<u32>) {
    near(column, k, |index| out.push(index), |word| (word.get() ^ query).count_ones());
}

/// The source of the versions that are not written out: by blocks of 32 words, of 8, and of one.
#[inline(always)]
fn near<W: Copy>(
    words: &[W],
    k: u32,
    mut push: impl FnMut(u32),
    distance: impl Fn(W) -> u32 + Copy,
) {
    let (words, base) = near_by_blocks::<32, W>(words, 0, k, &mut push, distance);
    let (words, base) = near_by_blocks::<8, W>(words, base, k, &mut push, distance);
    near_by_blocks::<1, W>(words, base, k, &mut push, distance);
}

/// Goes through as many whole blocks as there are; returns the words left and the first's index.
#[inline(always)]
fn near_by_blocks<'w, const WORDS: usize, W: Copy>(
    words: &'w [W],
    mut base: u32,
    k: u32,
    push: &mut impl FnMut(u32),
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
                    push(index);
                }
            }
        }
        #[expect(clippy::cast_possible_truncation, reason = "a block has 32 words at most")]
        let words = WORDS as u32;
        base += words;
    }
    (rest, base)
}
