//! Looks up queries in cells.
//!
//! All cells of a query are prefetched at once, and compared while the cells of the next query
//! arrive. If a cell continues in another line, that line is prefetched, and compared one query
//! later.

use arrayvec::ArrayVec;

use super::round_buffer::RoundBuffer;
use super::survivors::{LookupContext, Survivor, Survivors};
use super::work_limit::WorkLimit;
use crate::search::candidate::HitSink;
use crate::search::cells::{CellTable, Cells, FingerprintHalf, HALVES, cell_of, most_differing};
use crate::search::column::Column;
use crate::search::cost::Cost;
use crate::search::hamming;
use crate::search::hamming::WEIGHT_MAX;
use crate::search::kernel::{
    FULL_ENTRIES, FurtherLines, GATHERED, LINE_ENTRIES, LineBatch, NEXT, NearEntry, SearchKernel,
    SelectedLine,
};
use crate::search::line::{CacheLine, GOES_ON, LINE_BYTES, NUMBER, number};

/// The maximum number of groups of cells: one for each distance of a codeword in each half.
const GROUPS: usize = HALVES * (WEIGHT_MAX as usize + 1);

/// The cells to search, and the distance.
pub(in crate::search) struct CellContext<'c, C> {
    /// The canonical column.
    pub(in crate::search) fingerprints: &'c C,
    /// The number of fingerprints.
    pub(in crate::search) n: u32,
    pub(in crate::search) cells: &'c Cells<C>,
    pub(in crate::search) k: u32,
}

/// The location of an entry.
#[derive(Clone, Copy)]
pub(super) struct CellLocation {
    half: FingerprintHalf,
    /// The message that selected the cell of the entry.
    message: u32,
}

impl<C: Column> LookupContext for CellContext<'_, C> {
    type Column = C;
    type Place = CellLocation;

    fn fingerprints(&self) -> &C {
        self.fingerprints
    }

    fn len(&self) -> u32 {
        self.n
    }

    fn ordinals(&self, place: CellLocation) -> &C {
        &self.cells.of(place.half).ordinals
    }

    fn reports(
        &self,
        CellLocation { half, message }: CellLocation,
        found: u64,
        query: u64,
    ) -> bool {
        // Several messages share a cell, and the number of an unused slot is the number of another
        // cell's entry. Comparing the message rejects entries of both kinds, so only one probe
        // reports an entry.
        half.reports(found, query, self.k) && hamming::nearest(half.cut(found).0) == message
    }
}

/// The cells of a query, and the progress of the query.
#[derive(Default)]
struct CellQuery {
    query: u64,
    /// The index of the query.
    number: usize,
    /// The cells of the query, or the lines in which cells continue. The lines of the upper half
    /// come first.
    sought: ArrayVec<SelectedLine, GATHERED>,
    /// Runs of cells that are compared with one limit.
    groups: ArrayVec<CellGroup, GROUPS>,
    /// The lines in which the cells continue.
    onward: FurtherLines,
}

/// Cells that are compared with one limit.
struct CellGroup {
    half: FingerprintHalf,
    /// The maximum number of bits in which an entry may differ.
    most: u32,
    /// The end of the group.
    end: usize,
    /// The end of the lines in which the cells of the group continue.
    onward_end: usize,
}

impl<C: Column> CellContext<'_, C> {
    /// Passes the cells that may contain entries near a query to `visit`: the half, the maximum
    /// number of bits in which an entry may differ, the messages as differences from the message of
    /// the query's half, and the message of the query's half.
    fn each_pattern<E>(
        &self,
        query: u64,
        mut visit: impl FnMut(FingerprintHalf, u32, &'static [u32], u32) -> Result<(), E>,
    ) -> Result<(), E> {
        for half in FingerprintHalf::ALL {
            let reach = half.reach(self.k);
            // For k = 0 the upper half alone finds equal fingerprints.
            if reach == 0 {
                continue;
            }
            let (own, _) = half.cut(query);
            // The code is linear: the patterns depend on the syndrome only, and one XOR adapts them
            // to this query.
            let (syndrome, own) = (hamming::syndrome(own), hamming::message(own));
            // Words within `reach - 1` bits are filed under codewords within `reach`, since each
            // codeword differs from its words in at most one bit.
            for weight in 0..=reach {
                let most = most_differing(self.k, weight);
                visit(half, most, hamming::patterns(syndrome, weight), own)?;
            }
        }
        Ok(())
    }

    /// Counts the work of a query.
    pub(in crate::search) fn count(&self, query: u64) -> Result<Cost, C::Error> {
        let mut cost = Cost::default();
        self.each_pattern(query, |half, _, patterns, own| {
            let table = self.cells.of(half);
            for pattern in patterns {
                cost.probes += 1.0;
                let (mut column, mut are_further) = (&table.cells, false);
                let mut line = cell_of(own ^ pattern, self.cells.count);
                loop {
                    let all = column.lines(std::iter::once(line))?;
                    let Some(places) = all.get(line as usize) else {
                        return Err(beyond(column, all));
                    };
                    let goes_on = number(places, NUMBER) & GOES_ON != 0;
                    let entries = if goes_on { FULL_ENTRIES } else { LINE_ENTRIES };
                    cost.lines += 1.0;
                    cost.candidates += f64::from(entries);
                    let next = number(places, NEXT);
                    // Further lines are written in ascending order. A
                    // damaged line that points backwards ends the loop here.
                    if !goes_on || are_further && next <= line {
                        break;
                    }
                    (column, line, are_further) = (&table.further, next, true);
                }
            }
            Ok(())
        })?;
        Ok(cost)
    }
}

/// Builds the error for a reference to a line beyond the lines `all` of a column.
#[cold]
fn beyond<C: Column>(column: &C, all: &[CacheLine]) -> C::Error {
    column.damaged(all.len() as u64 * LINE_BYTES, "another section refers to lines beyond its end")
}

/// Queries in flight.
pub(in crate::search) struct CellLookup<'c, 'f, C> {
    context: CellContext<'c, C>,
    /// At any time, one query is collected, one is compared, and one is continued.
    queries: RoundBuffer<CellQuery>,
    near: Vec<NearEntry>,
    survivors: Survivors<'f, CellLocation>,
    work_limit: WorkLimit,
}

impl<'c, 'f, C: Column> CellLookup<'c, 'f, C> {
    pub(in crate::search) fn new(
        context: CellContext<'c, C>,
        work_limit: WorkLimit,
        finds: &'f mut dyn HitSink,
    ) -> Self {
        let queries = RoundBuffer::new(CellQuery::default);
        let survivors = Survivors::new(finds);
        Self { context, queries, near: Vec::new(), survivors, work_limit }
    }

    /// Starts a query.
    pub(in crate::search) fn query(&mut self, number: usize, query: u64) -> Result<(), C::Error> {
        let Self { context: ground, queries, near, survivors, work_limit: patience } = self;
        let stage = queries.filled();
        (stage.query, stage.number) = (query, number);
        ground.each_pattern(query, |half, most, mut patterns, own| {
            let cells = &ground.cells.of(half).cells;
            while !patterns.is_empty() {
                // A wide query has more cells than fit into one batch. A full batch is compared at
                // once. The extra comparison costs little, since a batch is already more lines than
                // a core can fetch concurrently.
                if stage.sought.is_full() {
                    stage.compare(ground, near, survivors, patience)?;
                    stage.go_on(ground, near, survivors, patience)?;
                }
                let room = patterns.len().min(stage.sought.remaining_capacity());
                let (now, later) = patterns.split_at(room);
                for pattern in now {
                    let message = own ^ pattern;
                    let line = cell_of(message, ground.cells.count);
                    cells.prefetch(u64::from(line) * LINE_BYTES);
                    stage.sought.push(SelectedLine { line, message });
                }
                let end = stage.sought.len();
                match stage.groups.last_mut() {
                    // Up to k = 6 all weights of a half have the same limit, so their groups merge
                    // into one group.
                    Some(last) if (last.half, last.most) == (half, most) => last.end = end,
                    _ => stage.groups.push(CellGroup { half, most, end, onward_end: 0 }),
                }
                patterns = later;
            }
            Ok(())
        })?;
        self.turn()
    }

    /// Finishes the queries in flight, and returns the queries over the work limit.
    pub(in crate::search) fn finish(&mut self) -> Result<Vec<usize>, C::Error> {
        // `query` has already advanced the ring once after the last query, so two turns finish that
        // query.
        for _ in 1..RoundBuffer::<CellQuery>::TURNS {
            self.turn()?;
        }
        self.survivors.settle(&self.context)?;
        Ok(self.work_limit.take_over_limit())
    }

    /// Compares the cells of the query before the last collected query, and finishes the query
    /// before that.
    fn turn(&mut self) -> Result<(), C::Error> {
        let Self { context: ground, queries, near, survivors, work_limit: patience } = self;
        let (compared, finished) = queries.turn();
        compared.compare(ground, near, survivors, patience)?;
        finished.go_on(ground, near, survivors, patience)
    }
}

impl CellQuery {
    /// Compares the cells. The cells have arrived in the cache.
    fn compare<C: Column>(
        &mut self,
        ground: &CellContext<'_, C>,
        near: &mut Vec<NearEntry>,
        survivors: &mut Survivors<'_, CellLocation>,
        patience: &mut WorkLimit,
    ) -> Result<(), C::Error> {
        self.compare_lines(ground, false, near, survivors, patience)
    }

    /// Compares the lines in which the cells continue, and finishes the query.
    fn go_on<C: Column>(
        &mut self,
        ground: &CellContext<'_, C>,
        near: &mut Vec<NearEntry>,
        survivors: &mut Survivors<'_, CellLocation>,
        patience: &mut WorkLimit,
    ) -> Result<(), C::Error> {
        while !self.onward.is_empty() {
            self.sought.clear();
            self.sought.extend(self.onward.drain(..));
            // The lines in `onward` are in the order of the
            // groups, so `onward_end` splits them the same way.
            for group in &mut self.groups {
                group.end = group.onward_end;
            }
            self.compare_lines(ground, true, near, survivors, patience)?;
        }
        self.sought.clear();
        // The ring buffer reuses this stage for a later query, which expects it to be empty.
        self.groups.clear();
        Ok(())
    }

    #[expect(clippy::indexing_slicing, reason = "groups follow each other, up to the end of all")]
    fn compare_lines<C: Column>(
        &mut self,
        ground: &CellContext<'_, C>,
        are_further: bool,
        near: &mut Vec<NearEntry>,
        survivors: &mut Survivors<'_, CellLocation>,
        patience: &mut WorkLimit,
    ) -> Result<(), C::Error> {
        let kernel = SearchKernel::fastest();
        let Self { query, number, sought, groups, onward } = self;
        let (query, number, count) = (*query, *number, ground.cells.count as usize);
        let mut start = 0;
        for CellGroup { half, most, end, onward_end } in groups {
            if patience.is_over(number) {
                // The query is over its work limit: its answer is
                // dropped, so its remaining lines need no comparison.
                onward.clear();
                return Ok(());
            }
            let (half, most) = (*half, *most);
            let CellTable { cells, further, .. } = ground.cells.of(half);
            let (_, other) = half.cut(query);
            let sought = &sought[start..*end];
            start = *end;
            let column = if are_further { further } else { cells };
            // A mapped column verifies here the checksums of the blocks with these lines, unless
            // they are verified already.
            let all = column.lines(sought.iter().map(|sought| sought.line))?;
            // `cell_of` is below `count`, so one length check is enough for all cells. The number
            // of a further line comes from the file, so each number is checked.
            let all_are_there = match are_further {
                true => sought.iter().all(|sought| (sought.line as usize) < all.len()),
                false => count <= all.len(),
            };
            if !all_are_there {
                return Err(beyond(column, all));
            }
            // The further lines are only prefetched: no line is read here, so no checksum needs to
            // be verified yet.
            let further = further.lines(std::iter::empty())?;
            let lines = LineBatch { all, further, are_further, sought, query: other, most };
            kernel.near_in_lines(lines, near, onward);
            *onward_end = onward.len();
            // The number of first lines depends on k alone. Only
            // long chains of further lines count as extra work.
            let compared = if are_further { sought.len() * FULL_ENTRIES as usize } else { 0 };
            if !patience.spend(number, compared, near.len()) {
                near.clear();
                onward.clear();
                return Ok(());
            }
            for NearEntry { entry, message } in near.drain(..) {
                // A line does not store its entry count. The number of an unused slot belongs to an
                // entry of another cell, and `reports` rejects that entry by its message. After the
                // last cell, the number exceeds `n`.
                if entry < ground.n {
                    let place = CellLocation { half, message };
                    survivors.add(ground, Survivor { query, number, place, entry })?;
                }
            }
        }
        Ok(())
    }
}
