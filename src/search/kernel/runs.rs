//! Comparing runs of words, each with a query of its own.

use zerocopy::little_endian::U32;

use super::Kernel;

/// Words to compare, and with what.
#[derive(Clone, Copy, Debug)]
pub(in super::super) struct PlaneRun<'p> {
    /// Fewer than 2^32 words.
    pub(in super::super) plane: &'p [U32],
    pub(in super::super) query: u32,
    /// The greatest distance that counts as near.
    pub(in super::super) k: u32,
}

/// A word that is near: its run, and its place in that.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in super::super) struct NearWord {
    pub(in super::super) run: u32,
    pub(in super::super) index: u32,
}

pub(super) type NearInRuns = unsafe fn(&[PlaneRun<'_>], &mut Vec<NearWord>);

impl Kernel {
    /// Appends to `out` every word of the runs that is near, in order.
    pub(in super::super) fn near_in_runs(self, runs: &[PlaneRun<'_>], out: &mut Vec<NearWord>) {
        #[expect(unsafe_code, reason = "the call of a function for certain processors")]
        // SAFETY: a `Kernel` exists only where the processor has the features its functions need,
        // and they ask for nothing else.
        unsafe {
            (self.near_in_runs)(runs, out);
        }
    }
}

/// The source of the versions that are not written out.
#[inline(always)]
pub(super) fn near_in_runs(runs: &[PlaneRun<'_>], out: &mut Vec<NearWord>) {
    for (run, &PlaneRun { plane, query, k }) in (0..).zip(runs) {
        let push = |index| out.push(NearWord { run, index });
        super::near(plane, k, push, |word| (word.get() ^ query).count_ones());
    }
}
