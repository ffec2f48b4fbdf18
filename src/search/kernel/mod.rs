//! Compares many words with one word. Only this module of `search` uses `unsafe`.
//!
//! There are three functions, each in four versions. `near_u64` appends the indices of all words
//! within distance k of a query, in ascending order; `near_in_runs` (`runs.rs`) compares several
//! runs of blocks of 16 bits; `near_in_lines` (`cells.rs`) processes lines of entries. The portable
//! version defines the results, and another version is the same source compiled for processors with
//! a popcount instruction. Nearly all groups of words contain no near word, so a group costs one
//! comparison, and only groups with a near word are processed word by word. The versions for AVX2
//! and AVX-512 use explicit instructions: masks yield the indices directly, which speeds up runs of
//! one cache line.
//!
//! The version is chosen once, on first use, from the processor's features.

mod cells;
mod pairs;
mod runs;
mod words;
#[cfg(target_arch = "x86_64")]
mod x86;

use std::sync::OnceLock;

use cells::NearInLines;
pub(super) use cells::{
    ENTRY_BITS, FULL_ENTRIES, FurtherLines, GATHERED, LINE_ENTRIES, LineBatch, NEXT, NearEntry,
    SelectedLine, entries, put_entry,
};
pub(super) use pairs::PairKernel;
use runs::NearInRuns;
pub(super) use runs::{BlockRun, NearBlock};
use zerocopy::little_endian::U64;

type NearU64 = unsafe fn(&[U64], u64, u32, &mut Vec<u32>);

/// A version of the three functions.
///
/// Invariant: a `SearchKernel` exists only if the processor has the features that its functions were
/// compiled for. Only [`SearchKernel::available`] creates a `SearchKernel`.
#[derive(Clone, Copy)]
pub(super) struct SearchKernel {
    name: &'static str,
    near_u64: NearU64,
    near_in_runs: NearInRuns,
    near_in_lines: NearInLines,
}

impl SearchKernel {
    /// Returns the fastest version for this processor.
    pub(super) fn fastest() -> Self {
        static FASTEST: OnceLock<SearchKernel> = OnceLock::new();
        // The order of `available` decides. The fallback is
        // never needed, since the portable version comes last.
        *FASTEST.get_or_init(|| Self::available().next().unwrap_or(Self::PORTABLE))
    }

    /// Returns every version that this processor can run, the fastest first.
    pub(super) fn available() -> impl Iterator<Item = Self> {
        #[cfg(target_arch = "x86_64")]
        let special = [
            // All three functions share one condition: the processor must have every feature that
            // any of them is compiled for.
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
        // Tests compare each version in this list with a plain loop.
        special.into_iter().flatten().chain([Self::PORTABLE])
    }

    /// The version for every processor.
    const PORTABLE: Self = Self {
        name: "portable",
        near_u64: words::near_u64,
        near_in_runs: runs::near_in_runs,
        near_in_lines: cells::near_in_lines,
    };

    /// Returns the name of the instruction set.
    pub(super) fn name(self) -> &'static str {
        self.name
    }

    /// Appends to `out` the index of every word of `column` within distance `k` of `query`,
    /// ascending. The column must have fewer than 2^32 words.
    pub(super) fn near_u64(self, column: &[U64], query: u64, k: u32, out: &mut Vec<u32>) {
        #[expect(unsafe_code, reason = "the call of a function for certain processors")]
        // SAFETY: a `SearchKernel` exists only where the processor has the features that the functions
        // need, and the functions have no other precondition.
        unsafe {
            (self.near_u64)(column, query, k, out);
        }
    }

    /// Appends to `out` every near block of the runs, in order.
    pub(super) fn near_in_runs(self, runs: &[BlockRun<'_>], out: &mut Vec<NearBlock>) {
        #[expect(unsafe_code, reason = "the call of a function for certain processors")]
        // SAFETY: a `SearchKernel` exists only where the processor has the features that the functions
        // need, and the functions have no other precondition.
        unsafe {
            (self.near_in_runs)(runs, out);
        }
    }

    /// Appends to `near` every near entry of the lines, in order, and to `onward` the lines in
    /// which cells continue; these lines are prefetched.
    ///
    /// The result may include entries that do not exist, since a line does not store its number of
    /// entries. A cell with an invalid continuation continues in the line `u32::MAX`. `onward` has
    /// space for [`GATHERED`] lines, the maximum number that is compared together.
    pub(super) fn near_in_lines(
        self,
        lines: LineBatch<'_>,
        near: &mut Vec<NearEntry>,
        onward: &mut FurtherLines,
    ) {
        #[expect(unsafe_code, reason = "the call of a function for certain processors")]
        // SAFETY: a `SearchKernel` exists only where the processor has the features that the functions
        // need, and the functions have no other precondition.
        unsafe {
            (self.near_in_lines)(lines, near, onward);
        }
    }
}
