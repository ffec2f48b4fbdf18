//! Comparing runs of blocks, each with a query of its own.

use zerocopy::little_endian::U16;

use super::words::near;

/// Blocks to compare, and with what.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::search) struct BlockRun<'b> {
    /// Fewer than 2^32 of them.
    pub(in crate::search) blocks: &'b [U16],
    pub(in crate::search) query: u16,
    /// The greatest distance that counts as near.
    pub(in crate::search) most: u32,
}

/// A block that is near: its run, and its place in that.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::search) struct NearBlock {
    pub(in crate::search) run: u32,
    pub(in crate::search) index: u32,
}

pub(super) type NearInRuns = unsafe fn(&[BlockRun<'_>], &mut Vec<NearBlock>);

/// The source of the versions that are not written out.
#[inline(always)]
pub(super) fn near_in_runs(runs: &[BlockRun<'_>], out: &mut Vec<NearBlock>) {
    for (run, &BlockRun { blocks, query, most }) in (0..).zip(runs) {
        let push = |index| out.push(NearBlock { run, index });
        // Indices count from the start of each run, in ascending order: callers map them to entries.
        near(blocks, most, push, |block| (block.get() ^ query).count_ones());
    }
}
