//! Many queries at once, each rotation's in the order of its buckets.
//!
//! Sorted so, a batch walks through a table from front to end: the processor sees what comes, and
//! neighbouring queries share memory lines and pages. The order is that of the whole 16-bit block,
//! so it serves tables addressed by any number of its bits, and is made once for many tables.

use zerocopy::IntoBytes;
use zerocopy::little_endian::U32;

use super::column::{Column, u32s, u64_at};
use super::kernel::{Kernel, prefetch};
use super::plan::Way;
use super::probe::{BLOCK_BITS, Block, Probe, Reach};
use super::rotation::Rotations;
use super::shards::DISTANCE_MAX;
use super::tables::{Candidate, Tables};

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

/// The entries that a query is compared with.
#[derive(Clone, Copy, Default)]
struct Run<'c> {
    place: u32,
    start: u32,
    planes: &'c [U32],
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
    /// Cost for distances up to 3: 100 to 300 ns a query where [`find`](Self::find) takes two to
    /// four times that, the more the denser the batch. For wider ones the same as
    /// [`find`](Self::find).
    ///
    /// # Errors
    ///
    /// As [`find`](Self::find); the batch is then not answered completely.
    pub fn find_batch(
        &self,
        batch: &Batch,
        mut found: impl FnMut(usize, Candidate),
    ) -> Result<(), C::Error> {
        let worth = |query: &u64| self.plan(*query, batch.k).way == Way::Rotations;
        if let Some(rotations) = self.rotations()
            && batch.reach.is_plain()
            && batch.queries.first().is_some_and(worth)
        {
            for block in Block::ALL {
                self.walk(rotations, batch, block, &mut found)?;
            }
            return Ok(());
        }
        let mut candidates = Vec::new();
        for (place, &query) in batch.queries.iter().enumerate() {
            self.find(query, batch.k, &mut candidates)?;
            candidates.drain(..).for_each(|candidate| found(place, candidate));
        }
        Ok(())
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
        const AHEAD: usize = 12;
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
        let (mut near, mut survivors) = (Vec::new(), Vec::new());
        let mut settle = |survivors: &mut Vec<Survivor>| -> Result<(), C::Error> {
            for Survivor { query: place, entry } in survivors.drain(..) {
                let ordinal = rotation.ordinal(entry, self.len())?;
                let fingerprint = u64_at(self.fingerprints(), ordinal)?;
                let query = query_at(place);
                let difference = fingerprint ^ query;
                if difference.count_ones() <= batch.k
                    && batch.reach.first_found_by(block, difference)
                {
                    found(place as usize, Candidate::new(ordinal, fingerprint, query));
                }
            }
            Ok(())
        };
        let run = |place: u32| -> Result<Run<'_>, C::Error> {
            let query = query_at(place);
            let bucket = block.bucket(query, rotations.bits);
            let ordinals = self.shards().around(query.count_ones(), batch.k);
            let entries =
                rotations.run(Probe { block, bucket, distance: 0 }, &ordinals, self.len())?;
            let start = entries.start;
            let planes = u32s(&rotation.planes, entries)?;
            prefetch(planes.as_bytes());
            Ok(Run { place, start, planes })
        };
        let mut ahead: [Run<'_>; AHEAD] = [Run::default(); AHEAD];
        let (first, rest) = order.split_at(order.len().min(AHEAD));
        for (slot, &place) in ahead.iter_mut().zip(first) {
            *slot = run(place)?;
        }
        let mut rest = rest.iter();
        for slot in (0..AHEAD).cycle().take(order.len()) {
            let Some(slot) = ahead.get_mut(slot) else { break };
            let next = rest.next().map(|&place| run(place)).transpose()?.unwrap_or_default();
            if survivors.len() >= SURVIVORS {
                settle(&mut survivors)?;
            }
            let Run { place, start, planes } = std::mem::replace(slot, next);
            let plane = block.plane(query_at(place));
            kernel.near_u32(planes, plane, batch.k, &mut near);
            for index in near.drain(..) {
                let Some(found) = planes.get(index as usize) else { continue };
                if !batch.reach.found_before(block, found.get() ^ plane) {
                    survivors.push(Survivor { query: place, entry: start + index });
                }
            }
        }
        settle(&mut survivors)?;
        Ok(())
    }
}
