//! Joins entries in memory: splits large buckets again, and compares the entries of small buckets.

use std::ops::ControlFlow;

use super::arena::{self, Arena, EntryRun, JoinEntry};
use super::bit_permutation::BitPermutation;
use super::context::{JoinContext, Pair, PairSink, StopSignal, sort_equals};
use super::counts::{BucketSizes, BucketStarts};
use super::pair_constraints::{HALF_K_MAX, KeyBits, PairConstraints, Split};
use crate::search::kernel::PairKernel;

/// The maximum number of pairs passed on at a time.
const CHUNK_PAIRS: usize = 1024;
/// The number of rows that are compared with a whole bucket before the results are processed.
const ROWS: u32 = 32;
/// The number of columns of a bucket compared at a time, which bounds the results of one call.
const COLUMNS: u32 = 1024;
/// The number of runs compared by one call.
const RUNS: usize = 1024;
/// The longest run for which each entry is compared with the next entries, ignoring the ends of
/// runs.
const SHORT_RUN_MAX: usize = 8;
/// The smallest bucket that is searched for equal fingerprints.
const EQUALS_MIN: usize = 256;

/// The maximum number of entries on one side of a border for comparing them directly with the whole
/// other side. Splitting so few entries first would take longer.
const FEW: usize = 64;

/// The smallest run whose bits are reordered.
const SPREAD_MIN: usize = 2048;

/// The bytes of working memory for an entry of the [`Arena`] and its auxiliary data: the halves of
/// fingerprints, and the sequence of equal fingerprints.
pub(super) const ROOM_ENTRY_BYTES: usize = 32;

/// The state of a thread that joins buckets, with reusable buffers.
pub(super) struct Joiner<'j> {
    k: u32,
    sink: PairSink<'j>,
    stop: &'j StopSignal<'j>,
    kernel: PairKernel,
    /// Only pairs that cross each of these borders are wanted: one ordinal is below the border, and
    /// the other ordinal is not.
    pub(super) borders: [Option<u32>; 2],
    /// A further border that wanted pairs cross. Equal entries on its two sides are kept apart.
    across: Option<u32>,
    near: Vec<[u32; 2]>,
    halves: Vec<u32>,
    chunk: Vec<Pair>,
}

impl<'j> Joiner<'j> {
    pub(super) fn new(
        k: u32,
        across: Option<u32>,
        sink: PairSink<'j>,
        stop: &'j StopSignal<'j>,
    ) -> Self {
        Self {
            k,
            across,
            sink,
            stop,
            kernel: PairKernel::fastest(),
            borders: [None; 2],
            near: Vec::new(),
            halves: Vec::new(),
            chunk: Vec::with_capacity(CHUNK_PAIRS),
        }
    }

    /// Joins the entries of some pieces after distributing them by `key`; `cut` describes each
    /// bucket. If `middle` is set, only entries before it are joined with entries from it on.
    ///
    /// `room` must have space for at least the entries; the rest of `room` is for splitting
    /// buckets.
    #[expect(clippy::expect_used, reason = "the room is made for the largest bucket")]
    pub(super) fn join<'e>(
        &mut self,
        pieces: impl Iterator<Item = &'e [JoinEntry]> + Clone,
        key: KeyBits,
        cut: &PairConstraints,
        middle: Option<usize>,
        mut room: Arena<'_>,
    ) -> ControlFlow<()> {
        // A counting sort by the key's bits. The sort is stable, so runs stay in order of ordinals,
        // which `across` and `middle` require.
        let mut counts = BucketSizes::new(key.width);
        for piece in pieces.clone() {
            piece.iter().for_each(|entry| counts.count(key.value(arena::fingerprint(*entry))));
        }
        let mut starts = counts.into_starts();
        let entries = pieces.clone().map(<[JoinEntry]>::len).sum();
        let (words, ordinals, room) = room.take(entries).expect("there is room for all entries");
        for entry in pieces.flatten() {
            let (fingerprint, ordinal) = (arena::fingerprint(*entry), arena::ordinal(*entry));
            starts.place(key.value(fingerprint), fingerprint, ordinal, words, ordinals);
        }
        // With a key, the sort mixes entries from before and after `middle`, and the joiner's
        // borders filter the pairs instead.
        let cross = middle.filter(|_| key.width == 0);
        let across = self.across;
        let context = JoinContext { cut, equals: None, cross, across, reordered: usize::MAX };
        self.join_runs(EntryRun { words, ordinals }, &starts, key, context, room)
    }

    /// Passes on the remaining pairs.
    pub(super) fn finish(&mut self) -> ControlFlow<()> {
        let flow = if self.chunk.is_empty() {
            ControlFlow::Continue(())
        } else {
            (self.sink)(&self.chunk)
        };
        self.chunk.clear();
        // The sink returned `Break`. The other threads see the flag at their next check.
        if flow.is_break() {
            self.stop.stop();
        }
        flow
    }

    /// Joins each of some runs.
    #[expect(clippy::indexing_slicing, reason = "ranges of the starts, in windows of two")]
    fn join_runs(
        &mut self,
        all: EntryRun<'_>,
        starts: &BucketStarts,
        key: KeyBits,
        context: JoinContext<'_>,
        mut room: Arena<'_>,
    ) -> ControlFlow<()> {
        // If a bucket has at most two entries on average, nearly all runs are empty or short, and a
        // loop over runs would mispredict every end.
        let run_max = if all.len() <= 2 * starts.starts.len() {
            self.join_short_runs(all, starts, key, context)?;
            SHORT_RUN_MAX
        } else {
            let starts = &starts.starts;
            // A run needs its start and its end, so each piece of `starts` repeats the last element
            // of the previous piece.
            let mut from = 0;
            while from + 1 < starts.len() {
                let piece = &starts[from..starts.len().min(from + RUNS + 1)];
                self.near.clear();
                self.kernel.within(all.words, piece, self.k, &mut self.near);
                self.report_near(all, all, context)?;
                from += RUNS;
            }
            PairKernel::RUN_MAX
        };
        // In the common case no run is longer, so no pass over the starts searches for longer runs.
        if starts.largest <= run_max {
            return ControlFlow::Continue(());
        }
        let starts = &starts.starts;
        // One threshold applies to all runs of this call, since evaluating the cost model for each
        // run would be slow.
        let splits_from = context.cut.entries_to_split().max(run_max + 1);
        for window in starts.windows(2) {
            let (start, end) = (window[0], window[1]);
            let entries = (end - start) as usize;
            if entries > run_max {
                let run = all.part(start, end);
                let room = room.reborrow();
                if entries >= splits_from {
                    self.split(run, context, room)?;
                } else {
                    self.compare(run, context)?;
                }
            }
        }
        ControlFlow::Continue(())
    }

    /// Joins the short runs among runs that are usually short.
    #[expect(clippy::indexing_slicing, reason = "places in the run that was compared")]
    fn join_short_runs(
        &mut self,
        all: EntryRun<'_>,
        starts: &BucketStarts,
        key: KeyBits,
        context: JoinContext<'_>,
    ) -> ControlFlow<()> {
        // Two entries of a run of n entries are at most n - 1 apart. If the largest run is shorter
        // than the maximum, fewer comparisons suffice.
        let reach = starts.largest.min(SHORT_RUN_MAX).saturating_sub(1);
        let rows = COLUMNS as usize;
        let mut from = 0;
        while reach > 0 && from < all.len() {
            // The last rows are compared with entries beyond the chunk. The entries beyond the
            // chunk entries become rows
            // in the next chunk, so no pair is lost or compared twice.
            let end = all.len().min(from + rows + reach);
            let run = all.range(from..end);
            self.near.clear();
            self.kernel.ahead(run.words, rows, reach, self.k, &mut self.near);
            // Another part reports near pairs of different runs, and pairs of long runs are found
            // later. Pairs of different runs and pairs of long runs kinds of pairs are dropped
            // here, so each pair is reported once.
            let mut near = std::mem::take(&mut self.near);
            near.retain(|&[row, column]| {
                let bucket = key.value(run.words[row as usize]);
                bucket == key.value(run.words[column as usize])
                    && starts.count(bucket) <= SHORT_RUN_MAX
            });
            self.near = near;
            self.report_near(run, run, context)?;
            from += rows;
        }
        ControlFlow::Continue(())
    }

    /// Splits a run again if that is cheaper than comparing all pairs.
    fn split(
        &mut self,
        run: EntryRun<'_>,
        context: JoinContext<'_>,
        mut room: Arena<'_>,
    ) -> ControlFlow<()> {
        self.stop.check()?;
        // With two sides, the comparisons form a rectangle. If one side has so few entries,
        // comparing takes less time than splitting the run.
        if context.sides(run).is_some_and(|(left, right)| left.min(right) <= FEW) {
            return self.compare(run, context);
        }
        let Some(split) = context.cut.split(run.len()) else {
            return self.compare_distinct(run, context, room);
        };
        // Entries are counted before any is moved: the counts show whether the split pays.
        let counts: Vec<BucketSizes> = split
            .parts
            .iter()
            .map(|part| {
                let mut counts = BucketSizes::new(part.width);
                run.words.iter().for_each(|&word| counts.count(part.value(word)));
                counts
            })
            .collect();
        if context.equals.is_none() && run.len() >= EQUALS_MIN {
            // If one bucket of a part has a quarter of the entries, equal fingerprints are likely,
            // and no split separates equal fingerprints.
            let hot = run.len() / 4;
            if counts.iter().any(|counts| counts.largest() > hot) {
                return self.compare_distinct(run, context, room);
            }
        }
        self.join_parts(run, &split, counts, context, &mut room)
    }

    /// Joins the buckets of each part.
    fn join_parts(
        &mut self,
        run: EntryRun<'_>,
        split: &Split,
        counts: Vec<BucketSizes>,
        context: JoinContext<'_>,
        room: &mut Arena<'_>,
    ) -> ControlFlow<()> {
        let compares: u64 = counts.iter().map(BucketSizes::compares).sum();
        let entries = run.len() as u64;
        // Splitting must save a fifth of all comparisons to pay, over all parts together. If the
        // split saves less, too many entries agree in these bits, and another order of bits is
        // tried.
        if compares > entries * entries / 2 / 5 * 4 {
            return self.compare_dense(run, context, room);
        }
        // Nested splits share the buffer, and it is used up here. Comparing needs no buffer, and is
        // only slower.
        let Some((words, ordinals, mut room)) = room.take(run.len()) else {
            return self.compare(run, context);
        };
        // The parts reuse the same buffer one after another: each part sorts the run anew.
        for (index, (part, counts)) in split.parts.iter().zip(counts).enumerate() {
            let mut starts = counts.into_starts();
            for (&word, &ordinal) in run.words.iter().zip(run.ordinals) {
                starts.place(part.value(word), word, ordinal, words, ordinals);
            }
            let cut = context.cut.inside(split, index);
            // Sorting moved the entries, so an index into the run is no longer valid.
            let context = JoinContext { cut: &cut, cross: None, ..context };
            let room = room.reborrow();
            self.join_runs(EntryRun { words, ordinals }, &starts, *part, context, room)?;
        }
        ControlFlow::Continue(())
    }

    /// Joins a run that may have many equal fingerprints: compares each distinct fingerprint once.
    #[expect(clippy::indexing_slicing, reason = "the distinct entries are a subset")]
    fn compare_distinct(
        &mut self,
        run: EntryRun<'_>,
        context: JoinContext<'_>,
        mut room: Arena<'_>,
    ) -> ControlFlow<()> {
        // The entries are already distinct, or too few for a gain. `cross` is an index into this
        // run, which sorting would invalidate.
        if context.equals.is_some() || context.cross.is_some() || run.len() < EQUALS_MIN {
            return self.compare(run, context);
        }
        let Some((words, ordinals, rest)) = room.take(run.len()) else {
            return self.compare(run, context);
        };
        let mut equals: Vec<(u64, u32)> =
            run.words.iter().copied().zip(run.ordinals.iter().copied()).collect();
        let across = sort_equals(&mut equals, self.across);
        // From here on, ordinals are indexes into `equals`, and so is `across`.
        let context = JoinContext { equals: Some(&equals), across, ..context };
        let distinct = self.put_distinct(&equals, context, |word| word, words, ordinals)?;
        let run = EntryRun { words: &words[..distinct], ordinals: &ordinals[..distinct] };
        match context.cut.split(distinct) {
            Some(_) => self.split(run, context, rest),
            None => self.compare(run, context),
        }
    }

    /// Writes each distinct fingerprint once, reordered by `put`, with its index in `equals` as the
    /// ordinal. Returns the number of distinct fingerprints.
    #[expect(clippy::indexing_slicing, reason = "there is room for all, and one is of each")]
    fn put_distinct(
        &mut self,
        equals: &[(u64, u32)],
        context: JoinContext<'_>,
        put: impl Fn(u64) -> u64,
        words: &mut [u64],
        ordinals: &mut [u32],
    ) -> ControlFlow<(), usize> {
        let mut distinct = 0;
        let mut place = 0_u32;
        while let Some(same) = context.same(equals, place) {
            (words[distinct], ordinals[distinct]) = (put(same[0].0), place);
            distinct += 1;
            #[expect(clippy::cast_possible_truncation, reason = "entries have ordinals of 32 bits")]
            let copies = same.len() as u32;
            place += copies;
            // Equal pairs differ in no part, so only the first part at every level reports them.
            // `across` keeps equal entries of different sides apart, so their pairs are found like
            // other near pairs.
            if context.cut.reports_equal() && context.across.is_none() {
                self.report_equal(same)?;
            }
        }
        ControlFlow::Continue(distinct)
    }

    /// Joins a share of a dense bucket in the reordered bits: the buckets of the share's part,
    /// which `cut` describes.
    #[expect(clippy::expect_used, reason = "a share takes at most half of the room")]
    pub(super) fn join_dense_task(
        &mut self,
        mut equals: Vec<(u64, u32)>,
        (spread, part, cut): (&BitPermutation, KeyBits, &PairConstraints),
        mut room: Arena<'_>,
    ) -> ControlFlow<()> {
        let across = sort_equals(&mut equals, self.across);
        let context = JoinContext {
            cut,
            equals: Some(&equals),
            cross: None,
            across,
            reordered: equals.len(),
        };
        let all = room.take(equals.len());
        let (words, ordinals, mut room) = all.expect("there is room for all entries");
        let put = |word| spread.permute(word);
        let distinct = self.put_distinct(&equals, context, put, words, ordinals)?;
        let entries = words.iter().zip(&*ordinals).take(distinct);
        let mut counts = BucketSizes::new(part.width);
        entries.clone().for_each(|(word, _)| counts.count(part.value(*word)));
        let mut starts = counts.into_starts();
        let (words, ordinals, room) =
            room.take(distinct).expect("there is room for one more copy of each entry");
        for (&word, &ordinal) in entries {
            starts.place(part.value(word), word, ordinal, words, ordinals);
        }
        // Another order may be tried only for runs of at most half as many entries.
        let context = JoinContext { reordered: distinct, ..context };
        self.join_runs(EntryRun { words, ordinals }, &starts, part, context, room)
    }

    /// Joins a nonempty run whose bits, in the current order, separate too few entries.
    #[expect(clippy::indexing_slicing, reason = "it is not empty")]
    fn compare_dense(
        &mut self,
        run: EntryRun<'_>,
        context: JoinContext<'_>,
        room: &mut Arena<'_>,
    ) -> ControlFlow<()> {
        // If no entry differs from the first in some part that must
        // differ, an earlier pass reports every pair of this run.
        let first = run.words[0];
        if context.cut.reports_none(run.words.iter().fold(0, |all, word| all | word ^ first)) {
            return ControlFlow::Continue(());
        }
        // A new order is tried only if at most half of the entries remain since the last
        // reordering, which bounds the recursion.
        if run.len() < SPREAD_MIN || run.len() > context.reordered / 2 || context.cross.is_some() {
            return self.compare(run, context);
        }
        if context.equals.is_none() {
            return self.compare_distinct(run, context, room.reborrow());
        }
        let (parts, width) = context.cut.parts_of(run.len());
        // Distances do not depend on the order of bits. `equals`
        // keeps the original fingerprints for the report.
        let spread = BitPermutation::of(run.words, parts as usize, width as usize);
        let words: Vec<u64> = run.words.iter().map(|&word| spread.permute(word)).collect();
        let cut = context.cut.reordered(&spread);
        let context = JoinContext { cut: &cut, reordered: run.len(), ..context };
        self.split(EntryRun { words: &words, ..run }, context, room.reborrow())
    }

    /// Compares all pairs of a run, or all pairs across its border.
    fn compare(&mut self, run: EntryRun<'_>, mut context: JoinContext<'_>) -> ControlFlow<()> {
        if let Some((left, right)) = context.sides(run) {
            debug_assert!(run.ordinals.is_sorted(), "entries are in order of their ordinals");
            if left == 0 || right == 0 {
                return ControlFlow::Continue(());
            }
            // Entries are in order of ordinals, so the border is one index: the rows before it are
            // compared with the columns after it.
            context.cross = context.cross.or(Some(left));
        }
        let (half, half_k) = context.cut.half();
        let mut halves = std::mem::take(&mut self.halves);
        halves.clear();
        // Comparing 32 bits first is cheaper if few pairs pass, since twice as many words fit in a
        // vector.
        if half_k <= HALF_K_MAX {
            halves.extend(run.words.iter().map(|&word| half.of(word)));
        }
        let flow = self.compare_rows(run, &halves, half_k, context);
        self.halves = halves;
        flow
    }

    /// Compares some rows at a time with all entries, or with the entries beyond the border if
    /// there is a border.
    #[expect(clippy::indexing_slicing, reason = "there are halves of all entries, or none")]
    #[expect(clippy::cast_possible_truncation, reason = "entries have ordinals of 32 bits")]
    fn compare_rows(
        &mut self,
        run: EntryRun<'_>,
        halves: &[u32],
        half_k: u32,
        context: JoinContext<'_>,
    ) -> ControlFlow<()> {
        let len = run.len() as u32;
        let first = context.cross.map(|cross| cross as u32);
        let rows = first.unwrap_or(len);
        let mut top = 0;
        // A tile has 32 rows and 1,024 columns. Rows and columns stay in the first cache, and
        // `near` stays bounded even if all pairs are near.
        while top < rows {
            let bottom = rows.min(top.saturating_add(ROWS));
            self.stop.check()?;
            let above = run.part(top, bottom);
            // Only the first columns of these rows overlap with the rows themselves.
            let mut triangle = first.is_none();
            let mut left = first.unwrap_or(top);
            while left < len {
                let right = len.min(left.saturating_add(COLUMNS));
                let beside = run.part(left, right);
                self.near.clear();
                let near = &mut self.near;
                if halves.is_empty() {
                    self.kernel.pairs_u64(above.words, beside.words, triangle, self.k, near);
                } else {
                    let above = &halves[top as usize..bottom as usize];
                    let beside = &halves[left as usize..right as usize];
                    self.kernel.pairs_u32(above, beside, triangle, half_k, near);
                }
                self.report_near(above, beside, context)?;
                triangle = false;
                left = right;
            }
            top = bottom;
        }
        ControlFlow::Continue(())
    }

    /// Reports near pairs, by their indexes in the two runs.
    #[expect(clippy::indexing_slicing, reason = "places in the runs that were compared")]
    fn report_near(
        &mut self,
        left: EntryRun<'_>,
        right: EntryRun<'_>,
        context: JoinContext<'_>,
    ) -> ControlFlow<()> {
        if self.near.is_empty() {
            return ControlFlow::Continue(());
        }
        let near = std::mem::take(&mut self.near);
        let mut flow = ControlFlow::Continue(());
        for &[row, column] in &near {
            let (row, column) = (row as usize, column as usize);
            let (word, other) = (left.words[row], right.words[column]);
            let difference = word ^ other;
            // The kernel may have compared halves only, and an earlier pass may have found the pair.
            if difference.count_ones() > self.k || !context.cut.reports(difference) {
                continue;
            }
            let (ordinal, other_ordinal) = (left.ordinals[row], right.ordinals[column]);
            flow = match context.equals {
                None => self.report((word, ordinal), (other, other_ordinal)),
                Some(equals) => self.report_all(equals, context, ordinal, other_ordinal),
            };
            if flow.is_break() {
                break;
            }
        }
        self.near = near;
        flow
    }

    /// Reports all pairs of an entry with one fingerprint and an entry with the other fingerprint.
    #[expect(clippy::expect_used, reason = "places of entries")]
    fn report_all(
        &mut self,
        equals: &[(u64, u32)],
        context: JoinContext<'_>,
        one: u32,
        other: u32,
    ) -> ControlFlow<()> {
        let same = |place| context.same(equals, place).expect("an entry has the place of one");
        // Each copy of one fingerprint forms a pair with each copy of the other. The iterations
        // over copies are output, not search.
        for &left in same(one) {
            for &right in same(other) {
                self.report(left, right)?;
            }
        }
        ControlFlow::Continue(())
    }

    /// Reports all pairs of entries with the same fingerprint.
    fn report_equal(&mut self, mut same: &[(u64, u32)]) -> ControlFlow<()> {
        while let Some((&left, others)) = same.split_first() {
            for &right in others {
                self.report(left, right)?;
            }
            same = others;
        }
        ControlFlow::Continue(())
    }

    /// Reports a pair of fingerprints with their ordinals, if it is wanted.
    #[inline]
    fn report(&mut self, one: (u64, u32), other: (u64, u32)) -> ControlFlow<()> {
        let ((first, left), (second, right)) =
            if one.1 <= other.1 { (one, other) } else { (other, one) };
        let crosses = |border: &u32| left < *border && *border <= right;
        if !self.borders.iter().chain([&self.across]).flatten().all(crosses) {
            return ControlFlow::Continue(());
        }
        let distance = (first ^ second).count_ones();
        self.chunk.push(Pair { left, right, fingerprints: [first, second], distance });
        if self.chunk.len() < CHUNK_PAIRS {
            return ControlFlow::Continue(());
        }
        // The stop flag is checked before each full chunk, so that a cancelled join stops within
        // 1,024 pairs per thread.
        self.stop.check()?;
        self.finish()
    }
}
