//! The passes of a join over its source: the entries that each pass reads, and the pairs that it
//! finds.

use std::cmp::Reverse;
use std::convert::Infallible;
use std::ops::{ControlFlow, Range};
use std::sync::atomic::{AtomicUsize, Ordering};

use super::arena::{self, Arena, JoinEntry};
use super::bucket::{Joiner, ROOM_ENTRY_BYTES};
use super::context::{JoinScope, PairSink, StopSignal, WorkItem};
use super::dense_bucket::{DenseBucket, DenseTask, EntryHistogram};
use super::load::{PassLoad, ThreadEntries, common, count};
use super::pair_constraints::{KeyBits, PairConstraints};
use super::run::{Join, MEMORY_BYTES_MIN};
use super::source::{DynSource, Unreadable};
use crate::order::sort_few_by_key;
use crate::search::scratch::ScratchMemory;
use crate::threads::run_jobs;

/// The minimum number of entries for which starting another thread pays.
const THREAD_ENTRIES_MIN: usize = 4096;
/// The intended number of entries in a bucket of a pass: about a core's own cache.
const BUCKET_ENTRIES: u32 = 1 << 13;
/// The maximum number of bits that select the buckets of a pass, if the buckets are then small
/// enough to be joined. All buckets are written concurrently, and 2,048 buckets take twice as long.
const DIGIT_BITS: u32 = 9;
/// The maximum number of bits that select the buckets of a pass, for buckets of any size.
const DIGIT_BITS_MAX: u32 = 16;
/// The minimum number of entries of a dense bucket that threads share, and the minimum factor by
/// which it is larger than other buckets.
const DENSE_MIN: usize = 4 * BUCKET_ENTRIES as usize;
const DENSE_BUCKETS: usize = 8;
/// The size of the room for splitting a bucket again, as a multiple of the size of the bucket.
const ROOM_BUCKETS: usize = 4;

/// The division of memory, in entries.
#[derive(Clone, Copy, Debug)]
struct EntryBudget {
    /// The entries of a load.
    load: usize,
    /// The entries in the room of each thread.
    room: usize,
}

impl EntryBudget {
    fn new(memory_bytes: usize, threads: usize) -> Self {
        // The threads' buffers get a quarter of the memory, and the load gets the rest.
        let room = memory_bytes / 4 / ROOM_ENTRY_BYTES / threads;
        Self { load: memory_bytes / 4 * 3 / size_of::<JoinEntry>(), room }
    }
}

/// A pass over the source.
struct JoinPass {
    /// The bits that select the buckets of the pass.
    digit: KeyBits,
    /// Further bits in which pairs agree.
    rest: KeyBits,
    /// The description of pairs that agree in `digit` and `rest`.
    cut: PairConstraints,
}

pub(super) struct PassRunner<'p> {
    join: Join,
    source: &'p dyn DynSource,
    sink: PairSink<'p>,
    stop: &'p StopSignal<'p>,
    n: u32,
    budget: EntryBudget,
    pieces: Vec<ThreadEntries>,
}

impl<'p> PassRunner<'p> {
    pub(super) fn new(
        join: Join,
        source: &'p dyn DynSource,
        sink: PairSink<'p>,
        stop: &'p StopSignal<'p>,
    ) -> Self {
        let n = source.len();
        let useful = (n as usize / THREAD_ENTRIES_MIN).max(1);
        // Little memory is not divided further: few threads with usable buffers are faster than
        // many threads with tiny buffers.
        let affordable = (join.memory_bytes / MEMORY_BYTES_MIN).max(1);
        let threads = join.threads.min(useful).min(affordable);
        let budget = EntryBudget::new(join.memory_bytes, threads);
        let mut pieces = Vec::new();
        pieces.resize_with(threads, ThreadEntries::default);
        Self { join, source, sink, stop, n, budget, pieces }
    }

    #[expect(clippy::indexing_slicing, reason = "there are counts of each part")]
    pub(super) fn run(mut self) -> Result<ControlFlow<()>, Unreadable> {
        if self.n < 2 {
            return Ok(self.stop.check());
        }
        let passes = self.passes()?;
        // In each pass, each entry counts as two units: one when it is loaded, one when it is
        // joined.
        let units = 2 * u64::from(self.n) * passes.len() as u64;
        self.stop.monitor.begin(units);
        let digits: Vec<KeyBits> = passes.iter().map(|pass| pass.digit).collect();
        // One read of the source counts the digits of all passes.
        let counts = self.count(&digits)?;
        for (index, JoinPass { digit, rest, cut }) in passes.iter().enumerate() {
            let counts: Vec<&[u32]> = counts.iter().map(|of_parts| &of_parts[index][..]).collect();
            for load in self.loads(&counts) {
                if self.stop.check().is_break() {
                    return Ok(ControlFlow::Break(()));
                }
                self.load(*digit, &load, &counts)?;
                if self.join_load(&load, *rest, cut).is_break() {
                    return Ok(ControlFlow::Break(()));
                }
            }
        }
        Ok(self.stop.check())
    }

    /// Returns the passes that find all pairs, or only the requested pass.
    fn passes(&mut self) -> Result<Vec<JoinPass>, Unreadable> {
        let whole = PairConstraints::whole(self.join.k);
        let Some(pass) = self.join.pass else { return Ok(self.passes_within(&whole)) };
        let split = whole.split_whole();
        let pass = pass as usize;
        let Some(part) = split.parts.get(pass) else { return Ok(Vec::new()) };
        let cut = whole.inside(&split, pass);
        // A task may have a range of this part's values whose first bits agree. Equal bits would
        // make empty buckets, so they are skipped.
        let (_, telling) = part.split_at(part.alike(self.differing()?));
        // All entries agree in the whole part: only the other bits can separate them.
        if telling.bits() == 0 {
            return Ok(self.passes_within(&cut));
        }
        // The key has as many bits as separate n entries. Pairs must also agree in the other bits,
        // which buckets do not ensure, so `cut` checks them.
        let (key, others) = telling.split_at(self.n.ilog2() + 1);
        let (digit, rest) = key.split_at(self.digit_bits());
        Ok(vec![JoinPass { digit, rest, cut: cut.agreeing_in(others) }])
    }

    /// Returns the passes that find all pairs of a description.
    fn passes_within(&mut self, known: &PairConstraints) -> Vec<JoinPass> {
        let Some(split) = known.split_first(self.n as usize) else {
            // All entries are compared with each other. Each thread has several pieces, so that no
            // thread waits long for the last piece.
            let piece = self.n as usize / (4 * self.pieces.len());
            self.budget.room = self.budget.room.min(2 * ROOM_BUCKETS * piece.max(1024));
            let (digit, rest) = KeyBits::default().split_at(0);
            return vec![JoinPass { digit, rest, cut: known.clone() }];
        };
        let digit_bits = self.digit_bits();
        let pass = |(index, part): (usize, &KeyBits)| {
            let (digit, rest) = part.split_at(digit_bits);
            JoinPass { digit, rest, cut: known.inside(&split, index) }
        };
        split.parts.iter().enumerate().map(pass).collect()
    }

    /// Returns the bits in which at least two fingerprints of the source differ.
    fn differing(&self) -> Result<u64, Unreadable> {
        let source = self.source;
        let threads = (0..self.pieces.len()).map(|thread| self.ordinals(thread));
        let common = in_threads(threads, |ordinals| common(source, ordinals))?;
        let (all, any) = common.into_iter().fold((u64::MAX, 0), |a, b| (a.0 & b.0, a.1 | b.1));
        Ok(all ^ any)
    }

    /// Returns the number of bits that select the buckets of a pass.
    fn digit_bits(&self) -> u32 {
        let wanted = (self.n / BUCKET_ENTRIES).max(1).ilog2().min(DIGIT_BITS);
        // Buckets vary in size. With twice as many buckets as equal sizes would need, few exceed
        // `bucket_max`.
        let needed = (2 * self.n as usize / self.bucket_max()).max(1).ilog2() + 1;
        // Writing to many buckets at a time is slow (2,048 take twice as long), so there are more
        // than 2^9 buckets only if they would otherwise be too large to join.
        if needed > wanted { needed.min(DIGIT_BITS_MAX) } else { wanted }
    }

    /// Returns the maximum number of entries of a bucket that are joined at once.
    fn bucket_max(&self) -> usize {
        (self.budget.room / ROOM_BUCKETS).max(2)
    }

    /// Returns the ordinals that a thread reads.
    fn ordinals(&self, thread: usize) -> Range<u32> {
        let at = |thread: usize| {
            #[expect(clippy::cast_possible_truncation, reason = "a share of a number of 32 bits")]
            // The ranges are consecutive in thread order, so pieces in order of threads are in
            // order of ordinals.
            let ordinal = (u64::from(self.n) * thread as u64 / self.pieces.len() as u64) as u32;
            ordinal
        };
        at(thread)..at(thread + 1)
    }

    /// Returns, for each thread and part, the number of the thread's fingerprints with each digit.
    fn count(&self, digits: &[KeyBits]) -> Result<Vec<Vec<Vec<u32>>>, Unreadable> {
        let source = self.source;
        let threads = (0..self.pieces.len()).map(|thread| self.ordinals(thread));
        in_threads(threads, |ordinals| count(source, ordinals, digits))
    }

    /// Returns the loads of a pass.
    #[expect(clippy::indexing_slicing, reason = "each thread has a count for each digit")]
    fn loads(&self, counts: &[&[u32]]) -> Vec<PassLoad> {
        let mut loads: Vec<PassLoad> = Vec::new();
        let mut entries = 0;
        for (digit, index) in (0_u32..).zip(0..counts[0].len()) {
            let count: u64 = counts.iter().map(|counts| u64::from(counts[index])).sum();
            // Loads are ranges of digits, filled greedily. A digit is divided only if its entries
            // exceed a load.
            let capacity = self.budget.load as u64;
            if count > capacity {
                // Two ranges of ranks must fit into memory together.
                let half = (capacity / 2).max(1);
                loads.extend(
                    ranges_in_pairs(count, half)
                        .map(|ranges| PassLoad { digits: digit..digit + 1, ranks: Some(ranges) }),
                );
                entries = 0;
                continue;
            }
            match loads.last_mut() {
                Some(load) if load.ranks.is_none() && entries + count <= capacity => {
                    load.digits.end = digit + 1;
                    entries += count;
                }
                _ => {
                    loads.push(PassLoad { digits: digit..digit + 1, ranks: None });
                    entries = count;
                }
            }
        }
        loads
    }

    /// Reads a load in all threads.
    #[expect(clippy::indexing_slicing, reason = "each thread has a count for each digit")]
    fn load(
        &mut self,
        digit: KeyBits,
        load: &PassLoad,
        counts: &[&[u32]],
    ) -> Result<(), Unreadable> {
        let mut rank = 0;
        let ordinals: Vec<Range<u32>> =
            (0..self.pieces.len()).map(|thread| self.ordinals(thread)).collect();
        let mut jobs = Vec::new();
        for ((piece, ordinals), counts) in self.pieces.iter_mut().zip(ordinals).zip(counts) {
            jobs.push((piece, ordinals, *counts, rank));
            // The rank of a thread's first entry: the number of entries in the threads before it.
            // The rank is only used for loads of one digit.
            rank += u64::from(counts[load.digits.start as usize]);
        }
        let (source, stop) = (self.source, self.stop);
        in_threads(jobs.into_iter(), |(piece, ordinals, counts, rank)| {
            piece.load(source, ordinals, digit, load, counts, rank)?;
            // Entries with a divided digit are loaded many times, so their loading does not count
            // as progress.
            if load.ranks.is_none() {
                stop.monitor.advance(piece.len() as u64);
            }
            Ok(())
        })?;
        Ok(())
    }

    /// Joins a load.
    #[expect(clippy::indexing_slicing, reason = "a share is of one of the crowds")]
    fn join_load(&self, load: &PassLoad, rest: KeyBits, cut: &PairConstraints) -> ControlFlow<()> {
        let (items, crowds) = self.items(load, &cut.agreeing_in(rest));
        // Two ranges are joined only with each other. Entries are in order of ordinals, so the
        // first entry of the second range is the border.
        let border = load.ranks.as_ref().filter(|[_, second]| !second.is_empty());
        let border = border.map(|[first, _]| self.ordinal(0, place(first.end - first.start)));
        let next = AtomicUsize::new(0);
        let largest = items.iter().map(WorkItem::entries).max().unwrap_or(0);
        // The room is enough for the bucket and for splits inside it. If the room is used up,
        // `Joiner` compares instead of splitting.
        let room = self.budget.room.min(largest * ROOM_BUCKETS);
        let work = |_: usize| {
            let mut joiner = Joiner::new(self.join.k, self.join.across, self.sink, self.stop);
            let (mut words, mut ordinals) =
                (ScratchMemory::zeroed(room), ScratchMemory::zeroed(room));
            // Each item must be taken exactly once. The contents of items are shared and immutable,
            // so relaxed order is enough.
            while let Some(item) = items.get(next.fetch_add(1, Ordering::Relaxed)) {
                self.stop.check()?;
                let room = Arena::new(&mut words, &mut ordinals);
                joiner.borders = [border, None];
                let [first, second] = match &item.scope {
                    JoinScope::Ranges(ranges) => ranges,
                    JoinScope::DenseTask(crowd, share) => {
                        self.join_share(item.bucket, &crowds[*crowd], share, &mut joiner, room)?;
                        continue;
                    }
                };
                let mut middle = None;
                if !second.is_empty() {
                    middle = Some(first.len());
                    joiner.borders = [border, Some(self.ordinal(item.bucket, second.start))];
                }
                let pieces = self
                    .bucket_range(item.bucket, first.clone())
                    .chain(self.bucket_range(item.bucket, second.clone()));
                joiner.join(pieces, rest, cut, middle, room)?;
                // A pair of pieces does not count as progress: each piece counts when it is joined
                // with itself.
                if middle.is_none() {
                    self.stop.monitor.advance(first.len() as u64);
                }
            }
            joiner.finish()
        };
        let threads = self.pieces.len().min(items.len()).max(1);
        let Ok(ends) = in_threads(0..threads, |thread| Ok::<_, Infallible>(work(thread)));
        if ends.iter().all(|end| end.is_continue()) {
            self.stop.check()
        } else {
            ControlFlow::Break(())
        }
    }

    /// Returns the work items of a load, whose buckets `cut` describes, and its dense buckets. The
    /// largest items come first, so that no thread is left alone with much work at the end.
    fn items(&self, load: &PassLoad, cut: &PairConstraints) -> (Vec<WorkItem>, Vec<DenseBucket>) {
        let bucket_max = self.bucket_max();
        let buckets = load.digits.len();
        let loaded: usize = self.pieces.iter().map(ThreadEntries::len).sum();
        let alike = (DENSE_BUCKETS * loaded / buckets.max(1)).max(DENSE_MIN);
        // With one thread, a large bucket delays no other thread, so the bucket is divided only if
        // it exceeds the maximum that is joined at once.
        let crowded = if self.pieces.len() > 1 { alike.min(bucket_max) } else { bucket_max };
        let (mut items, mut crowds) = (Vec::new(), Vec::new());
        for bucket in 0..buckets {
            let entries: usize = self.pieces.iter().map(|piece| piece.bucket(bucket).len()).sum();
            if entries > crowded
                && let Some((crowd, shares)) = self.dense_bucket(bucket, entries, cut)
            {
                let share =
                    |share| WorkItem { bucket, scope: JoinScope::DenseTask(crowds.len(), share) };
                items.extend(shares.into_iter().map(share));
                crowds.push(crowd);
            } else if entries <= bucket_max {
                items.push(WorkItem { bucket, scope: JoinScope::Ranges([0..entries, 0..0]) });
            } else {
                // As a last resort, the bucket is divided into pieces of half a buffer. Each piece
                // is joined with itself and with every other piece, so any two entries are compared
                // once.
                let pairs = ranges_in_pairs(entries as u64, (bucket_max / 2) as u64);
                items.extend(pairs.map(|ranges| {
                    let ranges = ranges.map(|range| place(range.start)..place(range.end));
                    WorkItem { bucket, scope: JoinScope::Ranges(ranges) }
                }));
            }
        }
        // The largest items come first. The small items at the end fill the gaps between threads.
        sort_few_by_key(&mut items, |item| Reverse(item.entries()));
        (items, crowds)
    }

    /// Returns the shares of a dense bucket; `None` if its entries cannot be separated.
    #[expect(clippy::expect_used, reason = "a crowd has entries, so pieces")]
    fn dense_bucket(
        &self,
        bucket: usize,
        entries: usize,
        cut: &PairConstraints,
    ) -> Option<(DenseBucket, Vec<DenseTask>)> {
        let all = self.bucket_range(bucket, 0..entries);
        let crowd = DenseBucket::new(all.clone().flatten(), entries, cut)?;
        let all: Vec<&[JoinEntry]> = all.collect();
        let Ok(tallies) =
            in_threads(all.into_iter(), |piece| Ok::<_, Infallible>(crowd.count(piece)));
        let tally = tallies.into_iter().reduce(EntryHistogram::and).expect("a crowd has entries");
        // If all entries agree in a part in which pairs must differ, an earlier pass found all
        // pairs.
        if cut.reports_none(tally.differing()) {
            self.stop.monitor.advance(entries as u64);
            return Some((crowd, Vec::new()));
        }
        let wanted = entries.div_ceil(self.pieces.len()).min(self.bucket_max());
        let shares = crowd.shares(&tally, wanted, self.bucket_max())?;
        Some((crowd, shares))
    }

    /// Joins a share of a dense bucket.
    fn join_share(
        &self,
        bucket: usize,
        crowd: &DenseBucket,
        share: &DenseTask,
        joiner: &mut Joiner<'_>,
        room: Arena<'_>,
    ) -> ControlFlow<()> {
        let all = self.bucket_range(bucket, 0..usize::MAX).flatten();
        joiner.join_dense_task(crowd.take(share, all), crowd.of(share), room)?;
        // Every part has all entries of the bucket, so only one part counts as progress.
        if share.is_of_first_part() {
            self.stop.monitor.advance(share.entries as u64);
        }
        ControlFlow::Continue(())
    }

    /// Returns the ordinal of the entry at index `place` of a bucket, in order of ordinals.
    #[expect(clippy::expect_used, reason = "a place of the bucket")]
    fn ordinal(&self, bucket: usize, place: usize) -> u32 {
        let mut entries = self.bucket_range(bucket, place..place + 1).flatten();
        arena::ordinal(*entries.next().expect("the index is within the bucket"))
    }

    /// Returns some entries of a bucket, by their indexes in order of ordinals.
    #[expect(clippy::indexing_slicing, reason = "the ranges ascend, and end within the entries")]
    fn bucket_range(
        &self,
        bucket: usize,
        range: Range<usize>,
    ) -> impl Iterator<Item = &[JoinEntry]> + Clone {
        let mut before = 0;
        self.pieces.iter().filter_map(move |piece| {
            let entries = piece.bucket(bucket);
            // Pieces are consecutive in order of ordinals, so a
            // range of the bucket is one slice of each piece.
            let start = range.start.saturating_sub(before).min(entries.len());
            let end = range.end.saturating_sub(before).min(entries.len());
            before += entries.len();
            Some(&entries[start..end]).filter(|entries| !entries.is_empty())
        })
    }
}

/// Converts a rank to an index of entries in memory.
#[expect(clippy::cast_possible_truncation, reason = "the entries are in memory")]
fn place(rank: u64) -> usize {
    rank as usize
}

/// Returns the ranges of `count` items in pieces of equal length: each piece alone, and each piece
/// with each later piece.
fn ranges_in_pairs(count: u64, length: u64) -> impl Iterator<Item = [Range<u64>; 2]> {
    let length = length.max(1);
    let pieces = count.div_ceil(length);
    let range = move |piece: u64| piece * length..count.min((piece + 1) * length);
    (0..pieces).flat_map(move |first| {
        (first..pieces).map(move |second| {
            // With an empty second range, the first range is joined with itself.
            let second = if first == second { 0..0 } else { range(second) };
            [range(first), second]
        })
    })
}

/// Runs the jobs, each in its own thread if there are enough threads, and returns their results in
/// order. Returns the first error in the order of jobs.
fn in_threads<J: Send, T: Send, E: Send>(
    jobs: impl ExactSizeIterator<Item = J>,
    run: impl Fn(J) -> Result<T, E> + Sync,
) -> Result<Vec<T>, E> {
    let threads = jobs.len();
    run_jobs(jobs, threads, || (), |(), job| run(job)).into_iter().collect()
}
