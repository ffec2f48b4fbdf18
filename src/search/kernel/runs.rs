//! Comparing runs of blocks, each with a query of its own.

use zerocopy::little_endian::U16;

use super::Kernel;

/// Blocks to compare, and with what.
#[derive(Clone, Copy, Debug, Default)]
pub(in super::super) struct BlockRun<'b> {
    /// Fewer than 2^32 of them.
    pub(in super::super) blocks: &'b [U16],
    pub(in super::super) query: u16,
    /// The greatest distance that counts as near.
    pub(in super::super) most: u32,
}

/// A block that is near: its run, and its place in that.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in super::super) struct NearBlock {
    pub(in super::super) run: u32,
    pub(in super::super) index: u32,
}

pub(super) type NearInRuns = unsafe fn(&[BlockRun<'_>], &mut Vec<NearBlock>);

impl Kernel {
    /// Appends to `out` every block of the runs that is near, in order.
    pub(in super::super) fn near_in_runs(self, runs: &[BlockRun<'_>], out: &mut Vec<NearBlock>) {
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
pub(super) fn near_in_runs(runs: &[BlockRun<'_>], out: &mut Vec<NearBlock>) {
    for (run, &BlockRun { blocks, query, most }) in (0..).zip(runs) {
        let push = |index| out.push(NearBlock { run, index });
        super::near(blocks, most, push, |block| (block.get() ^ query).count_ones());
    }
}
