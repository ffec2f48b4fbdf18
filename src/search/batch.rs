//! Many queries at once, each rotation's in the order of its buckets.
//!
//! Sorted so, a batch walks through a table from front to end: the processor sees what comes, and
//! neighbouring queries share memory lines and pages. The order is that of the whole 16-bit block,
//! so it serves tables addressed by any number of its bits, and is made once for many tables.

use std::collections::VecDeque;

use zerocopy::IntoBytes;

use super::cells::{Cells, Gathered};
use super::column::{Column, u32s, u64_at};
use super::kernel::{Kernel, prefetch};
use super::plan::Way;
use super::probe::{BLOCK_BITS, Block, Probe, Reach};
use super::rotation::Rotations;
use super::shards::DISTANCE_MAX;
use super::tables::{Candidate, Index, Run, Tables};

/// Queries for one distance, sorted for each rotation.
#[derive(Clone, Debug)]
pub struct Batch {
    k: u32,
    reach: Reach,
    queries: Vec<u64>,
    /// For each rotation, the places of the queries in order of its block; empty where the rotation
    /// is not needed, or more than one of its buckets are.
    orders: [Vec<u32>; 4],
}

impl Batch {
    /// Sorts queries: about 20 ns for each and rotation.
    #[must_use]
    pub fn new(queries: Vec<u64>, k: u32) -> Batch {
        let k = k.min(DISTANCE_MAX);
        let reach = Reach::within(k);
        let orders = Block::ALL.map(|block| {
            if reach.of(block) != 1 {
                return Vec::new();
            }
            let places = (0u32..).zip(&queries);
            let mut keys: Vec<u64> = places
                .map(|(place, query)| {
                    u64::from(block.bucket(*query, BLOCK_BITS)) << 32 | u64::from(place)
                })
                .collect();
            keys.sort_unstable();
            #[expect(clippy::cast_possible_truncation, reason = "the low half is the place")]
            let order = keys.into_iter().map(|key| key as u32).collect();
            order
        });
        Batch { k, reach, queries, orders }
    }
}

/// An entry near a query in the bits that a run holds.
struct Survivor {
    query: u32,
    entry: u32,
}

impl<C: Column> Tables<C> {
    /// Answers a batch: hands the place of a query and a candidate to `found`, each once, in no
    /// particular order. Exact, as [`find`](Self::find).
    ///
    /// Cost for distances up to 3: half to a quarter of what [`find`](Self::find) takes for each, the
    /// less the denser the batch. For wider ones the same as [`find`](Self::find), except in cells,
    /// where one query's lines come while another's are compared.
    ///
    /// # Errors
    ///
    /// As [`find`](Self::find); the batch is then not answered completely.
    pub fn find_batch(
        &self,
        batch: &Batch,
        mut found: impl FnMut(usize, Candidate),
    ) -> Result<(), C::Error> {
        // That of a query in the middle stands for all.
        let one = batch.queries.get(batch.queries.len() / 2);
        let way = one.map(|query| self.plan(*query, batch.k).way);
        match (way, &self.index) {
            (Some(Way::Rotations), Index::Rotations(rotations)) if batch.reach.is_plain() => {
                for block in Block::ALL {
                    self.walk(rotations, batch, block, &mut found)?;
                }
                Ok(())
            }
            (Some(Way::Cells), Index::Cells(cells)) => self.interleave(cells, batch, found),
            _ => {
                let mut candidates = Vec::new();
                for (place, &query) in batch.queries.iter().enumerate() {
                    self.find(query, batch.k, &mut candidates)?;
                    candidates.drain(..).for_each(|candidate| found(place, candidate));
                }
                Ok(())
            }
        }
    }

    /// One rotation, from its first query to its last.
    fn walk(
        &self,
        rotations: &Rotations<C>,
        batch: &Batch,
        block: Block,
        found: &mut impl FnMut(usize, Candidate),
    ) -> Result<(), C::Error> {
        /// How many queries ahead a run's memory lines are asked for.
        const RUNS_AHEAD: usize = 12;
        /// How many queries ahead of that those of the directory are.
        const STEPS_AHEAD: usize = 12;
        /// How many entries wait to be compared whole.
        const SURVIVORS: usize = 16_384;
        let kernel = Kernel::fastest();
        let [first, second, third, fourth] = &batch.orders;
        let order = match block {
            Block::First => first,
            Block::Second => second,
            Block::Third => third,
            Block::Fourth => fourth,
        };
        let query_at = |place: u32| batch.queries.get(place as usize).copied().unwrap_or(0);
        let rotation = rotations.of(block);
        let address = rotations.address;
        let (mut near, mut survivors) = (Vec::new(), Vec::new());
        let mut settle = |survivors: &mut Vec<Survivor>| -> Result<(), C::Error> {
            for Survivor { query: place, entry } in survivors.drain(..) {
                let ordinal = rotation.ordinal(entry, self.len())?;
                let fingerprint = u64_at(&self.fingerprints, ordinal)?;
                let query = query_at(place);
                let difference = fingerprint ^ query;
                if difference.count_ones() <= batch.k
                    && batch.reach.last_found_by(block, difference)
                {
                    found(place as usize, Candidate::new(ordinal, fingerprint, query));
                }
            }
            Ok(())
        };
        let mut waiting = VecDeque::with_capacity(RUNS_AHEAD + 1);
        let mut compare = |place: u32, run: Run<'_>| -> Result<(), C::Error> {
            let plane = block.plane(query_at(place));
            kernel.near_u32(run.planes, plane, batch.k, &mut near);
            for index in near.drain(..) {
                let Some(found) = run.planes.get(index as usize) else { continue };
                if !batch.reach.left_to_later(block, 0, found.get() ^ plane) {
                    survivors.push(Survivor { query: place, entry: run.start + index });
                }
            }
            if survivors.len() >= SURVIVORS {
                settle(&mut survivors)?;
            }
            Ok(())
        };
        for (at, &place) in order.iter().enumerate() {
            if let Some(&ahead) = order.get(at + STEPS_AHEAD) {
                let step = address.step(block, query_at(ahead));
                prefetch(u32s(&rotation.directory, step..step + 1)?.as_bytes());
            }
            let query = query_at(place);
            let probe = Probe { block, bucket: block.bucket(query, address.bits), distance: 0 };
            waiting.push_back((place, self.run(rotations, probe, query, batch.k, batch.reach)?));
            if waiting.len() > RUNS_AHEAD
                && let Some((place, run)) = waiting.pop_front()
            {
                compare(place, run)?;
            }
        }
        for (place, run) in waiting.drain(..) {
            compare(place, run)?;
        }
        settle(&mut survivors)
    }

    /// Asks for the cells of one query, and compares those of the one before.
    fn interleave(
        &self,
        cells: &Cells<C>,
        batch: &Batch,
        mut found: impl FnMut(usize, Candidate),
    ) -> Result<(), C::Error> {
        let mut compare = |place: usize, gathered: &mut Gathered| {
            cells.compare(&self.fingerprints, self.len(), gathered, |c| found(place, c))
        };
        let (mut first, mut second) = (Gathered::default(), Gathered::default());
        let (mut next, mut last) = (&mut first, &mut second);
        for (place, &query) in batch.queries.iter().enumerate() {
            cells.gather(query, batch.k, next, |full| {
                cells.prefetch(full)?;
                compare(place, full)
            })?;
            cells.prefetch(next)?;
            if let Some(before) = place.checked_sub(1) {
                compare(before, last)?;
            }
            std::mem::swap(&mut next, &mut last);
        }
        match batch.queries.len().checked_sub(1) {
            Some(before) => compare(before, last),
            None => Ok(()),
        }
    }
}
