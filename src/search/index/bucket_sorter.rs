//! Counts the entries of buckets, and sorts the entries of a column by bucket, in bounded memory.
//!
//! A table is far larger than the processor's caches, and a counting sort directly into place would
//! wait for memory at each entry. So entries are first distributed to *groups* of consecutive
//! buckets, no more groups than the TLB covers with huge pages. Then each group, which fits a
//! cache, is sorted on its own. If not all entries fit into memory, there are several passes over
//! the column. All steps keep the order of the column.

use std::ops::Range;

use super::source::SourceColumn;
use crate::cpu::prefetch_value;
use crate::search::scratch::ScratchMemory;

/// The approximate number of entries in a group.
const GROUP_ENTRIES: usize = 1 << 14;

/// The approximate maximum number of groups.
const GROUPS: usize = 4096;

/// The base-2 logarithm of the maximum number of buckets in a group: mostly empty buckets would
/// take more memory than the entries.
const GROUP_BITS_MAX: u32 = 14;

/// The maximum number of entries in a group that is sorted in a cache. Larger groups have few large
/// buckets, and are sorted in place.
const CACHED_ENTRIES: usize = 4 * GROUP_ENTRIES;

/// The minimum number of entries in a pass, so that no setting causes a pass for each entry.
const ENTRIES_MIN: usize = 256;

/// The maximum number of entries in a pass, so that groups stay few and small: more than 800 MB do
/// not help.
const ENTRIES_MAX: usize = GROUPS * GROUP_ENTRIES;

/// A distributed entry: its bucket, its bits and its ordinal.
type BucketedEntry = [u32; 3];

/// An entry to be written.
#[derive(Clone, Copy, Default)]
pub(super) struct TableEntry {
    /// The stored bits of the entry.
    pub(super) bits: u32,
    pub(super) ordinal: u32,
}

/// Distributes the entries of one table after another.
pub(super) struct BucketSorter {
    /// The number of entries that fit the memory.
    entries: usize,
    dealt: ScratchMemory<BucketedEntry>,
    /// The entries of one group.
    sorted: Vec<TableEntry>,
}

impl BucketSorter {
    /// Creates a dealer that uses `memory_bytes`, and some hundreds of KiB more.
    pub(super) fn new(memory_bytes: usize) -> Self {
        let entries = (memory_bytes / size_of::<BucketedEntry>()).clamp(ENTRIES_MIN, ENTRIES_MAX);
        Self { entries, dealt: ScratchMemory::default(), sorted: Vec::new() }
    }

    /// Passes the entries of all buckets to `visit` in batches, in order of buckets, and within
    /// each bucket in the order of the column.
    ///
    /// `starts` has the start of each bucket, then the number of entries. `aim` returns the bucket
    /// of a fingerprint and its stored bits; a fingerprint with a bucket beyond the last is
    /// skipped.
    ///
    /// Reads the column once for each memory full of entries. Checks that each bucket has as many
    /// entries as the counting pass found.
    #[expect(clippy::expect_used, reason = "there is an end, even without a bucket")]
    pub(super) fn each_in_order<E>(
        &mut self,
        column: &SourceColumn<'_, E>,
        starts: &[u32],
        aim: impl Fn(u64) -> (u32, u32),
        mut visit: impl FnMut(&[TableEntry]) -> Result<(), E>,
    ) -> Result<(), E> {
        let entries = *starts.last().expect("the number of entries comes last");
        let at_once = self.entries.min(entries as usize);
        // The memory is kept from table to table: fresh huge pages would have to be zeroed again.
        if self.dealt.len() < at_once {
            self.dealt = ScratchMemory::zeroed(at_once);
        }
        let mut done = 0;
        while done < entries {
            #[expect(clippy::cast_possible_truncation, reason = "no more than is left of a u32")]
            let end = done + at_once.min((entries - done) as usize) as u32;
            // Passes divide entries, not buckets, so a single bucket may be larger than the memory.
            let pass = SortPass::new(starts, done..end);
            pass.distribute(column, &aim, &mut self.dealt)?;
            pass.each_group(column, &mut self.dealt, &mut self.sorted, &mut visit)?;
            done = end;
        }
        Ok(())
    }
}

/// The entries that are distributed in one pass.
struct SortPass<'s> {
    /// The places of the entries in the table.
    places: Range<u32>,
    /// The first bucket, whose first entries may belong to an earlier pass.
    first: u32,
    /// The starts of this pass's buckets.
    starts: &'s [u32],
    /// The starts of all buckets, and the end of the last bucket.
    all_starts: &'s [u32],
    /// The base-2 logarithm of the number of buckets in a group.
    group_bits: u32,
}

impl<'s> SortPass<'s> {
    #[expect(
        clippy::indexing_slicing,
        reason = "a place has a bucket, which starts before it ends"
    )]
    fn new(all_starts: &'s [u32], places: Range<u32>) -> Self {
        // The last bucket that starts at or before the first place:
        // empty buckets before it have the same start and are skipped.
        let first = all_starts.partition_point(|start| *start <= places.start) - 1;
        let end = all_starts.partition_point(|start| *start < places.end);
        let starts = &all_starts[first..end];
        let groups = places.len().div_ceil(GROUP_ENTRIES).clamp(1, GROUPS);
        // The number of buckets in a group is a power of two, so that a shift computes the group of
        // a bucket.
        let group_bits = (starts.len() / groups).max(1).ilog2().min(GROUP_BITS_MAX);
        #[expect(clippy::cast_possible_truncation, reason = "bucket numbers fit u32")]
        let first = first as u32;
        Self { places, first, starts, all_starts, group_bits }
    }

    /// Returns the start of a bucket among the entries of this pass.
    fn start(&self, start: u32) -> u32 {
        // The first and the last bucket may reach beyond this pass.
        start.clamp(self.places.start, self.places.end) - self.places.start
    }

    /// Distributes entries to their groups.
    #[expect(clippy::indexing_slicing, reason = "there is a place to go on at for each group")]
    fn distribute<E>(
        &self,
        column: &SourceColumn<'_, E>,
        aim: &impl Fn(u64) -> (u32, u32),
        dealt: &mut [BucketedEntry],
    ) -> Result<(), E> {
        let Self { places, first, starts, group_bits, .. } = self;
        let groups = starts.iter().step_by(1 << group_bits);
        let mut next: Vec<u32> = groups.map(|start| self.start(*start)).collect();
        let ends: Vec<u32> =
            next.iter().skip(1).copied().chain([places.end - places.start]).collect();
        let last = starts.len() - 1;
        // The first bucket's entries that belong to earlier passes are skipped, and the last
        // bucket's entries beyond `after` are left to later passes. All passes read in the same
        // order, so counting the entries is enough.
        let mut before = places.start - starts[0];
        let mut after = places.end - starts[last].max(places.start);
        column.each(|ordinal, fingerprint| {
            let (bucket, bits) = aim(fingerprint);
            // Buckets before the first wrap to large numbers and are rejected with the buckets
            // after the last.
            let at = bucket.wrapping_sub(*first) as usize;
            if at == 0 && before > 0 {
                before -= 1;
                return;
            }
            if at >= last {
                if at > last || after == 0 {
                    return;
                }
                after -= 1;
            }
            let place = &mut next[at >> group_bits];
            // The index is out of bounds only if the column changed since it was counted, which
            // `same` reports.
            if let Some(dealt) = dealt.get_mut(*place as usize) {
                *dealt = [bucket, bits, ordinal];
            }
            *place += 1;
        })?;
        // Every group must be exactly full, or the column changed since it was counted.
        column.same(before == 0 && after == 0 && next == ends)
    }

    /// Sorts each group by bucket, and passes its entries on.
    #[expect(
        clippy::indexing_slicing,
        reason = "groups follow each other; each has as many as dealt"
    )]
    fn each_group<E>(
        &self,
        column: &SourceColumn<'_, E>,
        dealt: &mut [BucketedEntry],
        sorted: &mut Vec<TableEntry>,
        visit: &mut impl FnMut(&[TableEntry]) -> Result<(), E>,
    ) -> Result<(), E> {
        let length = 1 << self.group_bits;
        let mut next = Vec::with_capacity(length);
        let firsts = (self.first..).step_by(length);
        for (first, buckets) in firsts.zip(self.starts.chunks(length)) {
            let start = self.start(buckets[0]);
            let ends = &self.all_starts[first as usize + 1..][..buckets.len()];
            let end = self.start(ends[ends.len() - 1]);
            let ends = || ends.iter().map(|end| self.start(*end) - start);
            let group = &mut dealt[start as usize..end as usize];
            // The group has few buckets with very many entries, as in skewed data. Sorting by
            // bucket and ordinal gives the same order as the stable counting sort below.
            if group.len() > CACHED_ENTRIES {
                group.sort_unstable_by_key(|[bucket, _, ordinal]| (*bucket, *ordinal));
                let end = |(at, _)| group.partition_point(|[bucket, ..]| *bucket <= first + at);
                column.same((0..).zip(buckets).map(end).eq(ends().map(|end| end as usize)))?;
                for piece in group.chunks(GROUP_ENTRIES) {
                    sorted.clear();
                    sorted.extend(
                        piece.iter().map(|&[_, bits, ordinal]| TableEntry { bits, ordinal }),
                    );
                    visit(sorted)?;
                }
                continue;
            }
            next.clear();
            next.extend(buckets.iter().map(|at| self.start(*at) - start));
            // The buffer never shrinks, so old entries are not cleared again. Each place is
            // overwritten before it is read.
            sorted.resize(group.len().max(sorted.len()), TableEntry::default());
            for &mut [bucket, bits, ordinal] in &mut *group {
                let place = &mut next[(bucket - first) as usize];
                // The index is out of bounds only if the column changed, which is checked right
                // after this loop.
                if let Some(sorted) = sorted.get_mut(*place as usize) {
                    *sorted = TableEntry { bits, ordinal };
                }
                *place += 1;
            }
            // Full groups can still have wrong buckets inside, so each bucket is compared with its
            // count.
            column.same(next.iter().copied().eq(ends()))?;
            visit(&sorted[..group.len()])?;
        }
        Ok(())
    }
}

/// The distance between prefetching a count and raising it. The counts exceed a cache, and
/// consecutive counts are seldom close.
const AHEAD: usize = 32;

/// Counts the entries of a column in each of `buckets`, and appends a 0. `aim` returns the bucket
/// of a fingerprint; a fingerprint with a bucket beyond the last is skipped.
#[expect(
    clippy::indexing_slicing,
    reason = "there is one more than there are buckets; a remainder"
)]
pub(super) fn count<E>(
    column: &SourceColumn<'_, E>,
    buckets: usize,
    aim: impl Fn(u64) -> u32,
) -> Result<ScratchMemory<u32>, E> {
    // The extra 0 becomes the end of the last bucket in `turn_into_starts`.
    let mut all = ScratchMemory::zeroed(buckets + 1);
    let counts: &mut [u32] = &mut all[..buckets];
    let mut asked = [u32::MAX; AHEAD];
    column.each(|ordinal, fingerprint| {
        let asked = &mut asked[ordinal as usize % AHEAD];
        // In a ring of 32, the loop prefetches the count of this entry, and raises the count of the
        // entry 32 positions before it. The earlier count has arrived by now.
        let bucket = std::mem::replace(asked, aim(fingerprint));
        if let Some(count) = counts.get(*asked as usize) {
            prefetch_value(count);
        }
        raise(counts, bucket);
    })?;
    // The counts of the last 32 entries are still to be raised. Unused slots contain `u32::MAX`,
    // which is no bucket.
    asked.into_iter().for_each(|bucket| raise(counts, bucket));
    Ok(all)
}

/// Raises the count of a bucket, if the bucket is in the range.
fn raise(counts: &mut [u32], bucket: u32) {
    if let Some(count) = counts.get_mut(bucket as usize) {
        *count += 1;
    }
}

/// Replaces each count by the sum of the counts before it.
pub(super) fn turn_into_starts(counts: &mut [u32]) {
    let mut sum = 0;
    for count in counts {
        let start = sum;
        sum += *count;
        *count = start;
    }
}
