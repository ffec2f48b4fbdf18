//! Compares runs of blocks, each with its own query.

use zerocopy::little_endian::U16;

use super::words::near;

/// The blocks to compare, with the query and the limit.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::search) struct BlockRun<'b> {
    /// The blocks, fewer than 2^32.
    pub(in crate::search) blocks: &'b [U16],
    pub(in crate::search) query: u16,
    /// The largest distance of a near block.
    pub(in crate::search) most: u32,
}

/// A near block: its run, and its index in the run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::search) struct NearBlock {
    pub(in crate::search) run: u32,
    pub(in crate::search) index: u32,
}

pub(super) type NearInRuns = unsafe fn(&[BlockRun<'_>], &mut Vec<NearBlock>);

/// Appends the near blocks of the runs to `out`. The source of the portable versions.
#[inline(always)]
pub(super) fn near_in_runs(runs: &[BlockRun<'_>], out: &mut Vec<NearBlock>) {
    for (run, &BlockRun { blocks, query, most }) in (0..).zip(runs) {
        let push = |index| out.push(NearBlock { run, index });
        // Indices are relative to the start of each run, and ascending. Callers map them to
        // entries.
        near(blocks, most, push, |block| (block.get() ^ query).count_ones());
    }
}
