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
mod words;
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
        // The order of `available` decides. The fallback is
        // never needed, since the portable version comes last.
        *FASTEST.get_or_init(|| Self::available().next().unwrap_or(Self::PORTABLE))
    }

    /// Every version that this processor can run, the fastest first.
    pub(super) fn available() -> impl Iterator<Item = Self> {
        #[cfg(target_arch = "x86_64")]
        let special = [
            // One flag for all three functions: the features that
            // any of them is compiled for must all be there.
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

    /// Appends to `out` every block of the runs that is near, in order.
    pub(super) fn near_in_runs(self, runs: &[BlockRun<'_>], out: &mut Vec<NearBlock>) {
        #[expect(unsafe_code, reason = "the call of a function for certain processors")]
        // SAFETY: a `Kernel` exists only where the processor has the features its functions need,
        // and they ask for nothing else.
        unsafe {
            (self.near_in_runs)(runs, out);
        }
    }

    /// Appends to `near` every entry of the lines whose distance from the query is near, in order,
    /// and to `onward` the lines in which cells go on, which are asked for ahead.
    ///
    /// Entries that a line does not have may be among them, since it does not say how many it has.
    /// A cell that does not go on where it should goes on in the line `u32::MAX`. There is room for
    /// [`GATHERED`] of those: no more lines are looked into at once.
    pub(super) fn near_in_lines(
        self,
        lines: Lines<'_>,
        near: &mut Vec<NearEntry>,
        onward: &mut Onward,
    ) {
        #[expect(unsafe_code, reason = "the call of a function for certain processors")]
        // SAFETY: a `Kernel` exists only where the processor has the features its functions need,
        // and they ask for nothing else.
        unsafe {
            (self.near_in_lines)(lines, near, onward);
        }
    }
}
