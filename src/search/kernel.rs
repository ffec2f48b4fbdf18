//! Comparing many words with one: the only room of this module with unsafe code.
//!
//! Three functions, each in four versions: `near_u64` appends the indices of all words within
//! distance k of a query, in ascending order; `near_in_runs` (`runs.rs`) does so for several runs of
//! blocks of 16 bits; `near_in_lines` (`cells.rs`) goes through lines of entries. The portable version is
//! the truth, and another is the same source compiled for processors with a popcount instruction.
//! Nearly all groups of words hold nothing near, so a group costs one comparison, and only the few
//! others are gone through word by word. The versions for AVX2 and AVX-512 are written out: masks give
//! them the indices at once, which matters to runs of one memory line.
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

/// Bytes of a memory line.
const LINE: usize = 64;

/// Tells the processor that the first lines of `bytes` will be read soon. Costs about a nanosecond
/// a line; does nothing where there is no such instruction.
#[inline]
pub(crate) fn prefetch(bytes: &[u8]) {
    prefetch_lines_of(bytes.as_ptr(), bytes.len());
}

/// The same for the line of the byte at a place in `bytes`, which need not be there.
#[inline]
pub(crate) fn prefetch_at(bytes: &[u8], place: u64) {
    if let Ok(place) = usize::try_from(place) {
        prefetch_line(bytes.as_ptr().wrapping_add(place));
    }
}

#[inline]
fn prefetch_lines_of(start: *const u8, bytes: usize) {
    /// Lines to ask for: as many as a core can wait for at once. The processor notices longer
    /// runs by itself.
    const LINES_MAX: usize = 12;
    // Nearly all are no more than two lines: no loop, whose end would not be foreseen.
    prefetch_line(start);
    prefetch_line(start.wrapping_add(bytes.saturating_sub(1)));
    if bytes > 2 * LINE {
        for line in 1..bytes.div_ceil(LINE).min(LINES_MAX) {
            prefetch_line(start.wrapping_add(line * LINE));
        }
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
