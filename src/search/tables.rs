//! The tables of one set of fingerprints, and the search in them.

use std::ops::Range;

use arrayvec::ArrayVec;
use zerocopy::IntoBytes;
use zerocopy::little_endian::U32;

use super::cells::{CELLS_MAX, Cells, Gathered};
use super::column::{Column, Line, u32s, u64_at, u64s};
use super::cost::Cost;
use super::kernel::{Kernel, prefetch};
use super::plan::{Plan, Planner, Way};
use super::probe::{BLOCK_BITS, BLOCKS, Block, Probe, Probes, Reach};
use super::rotation::Rotations;
use super::shape::Shape;
use super::shards::{DISTANCE_MAX, Shards};

/// A fingerprint that was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Candidate {
    /// Its place in the canonical column, or its number in [`Chains`](super::Chains).
    pub ordinal: u32,
    /// The fingerprint.
    pub fingerprint: u64,
    /// In how many bits it differs from the query: 0 to 64.
    pub distance: u8,
}

impl Candidate {
    pub(super) fn new(ordinal: u32, fingerprint: u64, query: u64) -> Self {
        #[expect(clippy::cast_possible_truncation, reason = "at most 64")]
        let distance = (fingerprint ^ query).count_ones() as u8;
        Self { ordinal, fingerprint, distance }
    }
}

/// What finds fingerprints in a column, in the columns of its [`Shape`].
#[derive(Clone, Debug)]
pub enum Index<C> {
    /// Nothing but the column itself.
    None,
    /// See [`Rotations`].
    Rotations(Rotations<C>),
    /// See [`Cells`].
    Cells(Cells<C>),
}

impl<C> Index<C> {
    fn shape(&self) -> Shape {
        match self {
            Self::None => Shape::Column,
            Self::Rotations(rotations) => Shape::Rotations(rotations.address),
            Self::Cells(cells) => Shape::Cells { count: cells.count },
        }
    }

    fn map<'c, D>(&'c self, to: &impl Fn(&'c C) -> D) -> Index<D> {
        match self {
            Self::None => Index::None,
            Self::Rotations(rotations) => Index::Rotations(rotations.map(to)),
            Self::Cells(cells) => Index::Cells(cells.map(to)),
        }
    }
}

/// A set of distinct fingerprints in canonical order, and the tables for searching it.
///
/// Memory: nothing but the handles of the columns, 264 bytes of shards and as many for planning. Safe
/// to share between threads as far as the columns are.
#[derive(Clone, Debug)]
pub struct Tables<C> {
    /// Distinct fingerprints in canonical order: little-endian `u64`.
    pub(super) fingerprints: C,
    shards: Shards,
    pub(super) index: Index<C>,
    planner: Planner,
}

impl<C> Tables<C> {
    /// The same tables in other columns, such as borrowed ones that are quicker to read.
    pub fn map<'c, D>(&'c self, to: impl Fn(&'c C) -> D) -> Tables<D> {
        Tables {
            fingerprints: to(&self.fingerprints),
            shards: self.shards.clone(),
            index: self.index.map(&to),
            planner: self.planner.clone(),
        }
    }
}

impl<C: Column> Tables<C> {
    /// Takes the columns of one set. Nothing is read: damage shows when it is touched.
    ///
    /// # Errors
    ///
    /// The rotations are addressed by more than the 16 bits of a block, or by steps of less; or there
    /// are more fingerprints than cells can have, 2^31 - 1.
    pub fn new(fingerprints: C, shards: Shards, index: Index<C>) -> Result<Self, C::Error> {
        if let Index::Rotations(Rotations { address, tables: [first, ..] }) = &index
            && (address.bits > BLOCK_BITS || address.stepped && address.bits < BLOCK_BITS)
        {
            return Err(first.directory.damaged(0, "an address that there cannot be"));
        }
        if let Index::Cells(Cells { tables: [first, ..], .. }) = &index
            && shards.fingerprints() > CELLS_MAX
        {
            return Err(first.cells.damaged(0, "more fingerprints than cells can have"));
        }
        let planner = Planner::new(index.shape(), shards.fingerprints());
        Ok(Self { fingerprints, shards, index, planner })
    }

    /// The number of fingerprints.
    #[must_use]
    pub fn len(&self) -> u32 {
        self.shards.fingerprints()
    }

    /// Whether there are no fingerprints.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// What finds fingerprints in them.
    #[must_use]
    pub fn shape(&self) -> Shape {
        self.index.shape()
    }

    /// What [`find`](Self::find) will do. Reads nothing.
    #[must_use]
    pub fn plan(&self, fingerprint: u64, k: u32) -> Plan {
        let k = k.min(DISTANCE_MAX);
        let scanned = self.shards.around(fingerprint.count_ones(), k);
        self.planner.plan(k, scanned.end - scanned.start)
    }

    fn way(&self, fingerprint: u64, k: u32) -> Way {
        let scanned = self.shards.around(fingerprint.count_ones(), k);
        self.planner.way(k, scanned.end - scanned.start)
    }

    /// Appends to `out` every fingerprint within distance `k` of `fingerprint`, each once, in no
    /// particular order. Exact for every `k`; from 64 on that is all of them.
    ///
    /// Cost: what [`plan`](Self::plan) expects, plus 10 to 30 ns for each candidate found. The worst
    /// case, of whatever data, is reading each column once. Allocates only if something is near.
    ///
    /// # Errors
    ///
    /// A column cannot be read or contradicts itself; `out` is then left as it was.
    pub fn find(&self, fingerprint: u64, k: u32, out: &mut Vec<Candidate>) -> Result<(), C::Error> {
        let k = k.min(DISTANCE_MAX);
        let before = out.len();
        let found = self.find_by(self.way(fingerprint, k), fingerprint, k, out);
        if found.is_err() {
            out.truncate(before);
        }
        found
    }

    /// The same by a way that need not be the best one; by a scan if the tables do not have it.
    pub(super) fn find_by(
        &self,
        way: Way,
        fingerprint: u64,
        k: u32,
        out: &mut Vec<Candidate>,
    ) -> Result<(), C::Error> {
        match (way, &self.index) {
            (Way::Rotations, Index::Rotations(rotations)) => {
                let reach = Reach::within(k);
                if reach.is_plain() {
                    self.look_up_own(rotations, fingerprint, k, reach, out)
                } else {
                    self.look_up(rotations, fingerprint, k, reach, out)
                }
            }
            (Way::Cells, Index::Cells(cells)) => {
                let mut gathered = Gathered::default();
                let (column, n) = (&self.fingerprints, self.len());
                cells.gather(fingerprint, k, &mut gathered, |full| {
                    cells.prefetch(full)?;
                    cells.compare(column, n, full, |candidate| out.push(candidate))
                })?;
                cells.prefetch(&gathered)?;
                cells.compare(column, n, &mut gathered, |candidate| out.push(candidate))
            }
            _ => self.scan(fingerprint, k, out),
        }
    }

    /// What [`find`](Self::find) meets on its way, without the time: probes, candidates, and memory
    /// lines but those of hits. Costs about as much as the search.
    ///
    /// # Errors
    ///
    /// As [`find`](Self::find).
    pub fn count(&self, fingerprint: u64, k: u32) -> Result<Cost, C::Error> {
        let k = k.min(DISTANCE_MAX);
        let mut cost = Cost::default();
        match (self.way(fingerprint, k), &self.index) {
            (Way::Rotations, Index::Rotations(rotations)) => {
                let reach = Reach::within(k);
                for probe in Probes::new(fingerprint, rotations.address.bits, reach) {
                    let run = self.run(rotations, probe, fingerprint, k, reach)?;
                    let bytes = run.planes.as_bytes();
                    cost.probes += 1.0;
                    cost.candidates += run.planes.len() as f64;
                    cost.lines += 1.0 + lines_of(bytes) as f64;
                }
            }
            (Way::Cells, Index::Cells(cells)) => {
                let mut gathered = Gathered::default();
                let mut add = |gathered: &Gathered| cells.count(gathered, &mut cost);
                cells.gather(fingerprint, k, &mut gathered, |full| add(full))?;
                add(&gathered)?;
            }
            _ => {
                let scanned = self.shards.around(fingerprint.count_ones(), k);
                cost.candidates = f64::from(scanned.end - scanned.start);
                cost.lines = (cost.candidates / 8.0).ceil();
            }
        }
        Ok(cost)
    }

    /// Tells the processor which memory lines a search within 3 will read first. Worth it some
    /// hundred nanoseconds ahead.
    ///
    /// # Errors
    ///
    /// A column cannot be read.
    pub fn prefetch(&self, fingerprint: u64) -> Result<(), C::Error> {
        if let Index::Rotations(rotations) = &self.index {
            for block in Block::ALL {
                let step = rotations.address.step(block, fingerprint);
                prefetch(u32s(&rotations.of(block).directory, step..step + 1)?.as_bytes());
            }
        }
        Ok(())
    }

    /// Checks that the tables have every fingerprint once, where it belongs. Reads all of them.
    ///
    /// # Errors
    ///
    /// A column cannot be read, or an entry is not what it must be.
    pub fn check(&self) -> Result<(), C::Error> {
        match &self.index {
            Index::None => Ok(()),
            Index::Rotations(rotations) => rotations.check(&self.fingerprints, self.len()),
            Index::Cells(cells) => cells.check(&self.fingerprints, self.len()),
        }
    }

    /// Compares everything whose popcount is near enough.
    pub(super) fn scan(
        &self,
        fingerprint: u64,
        k: u32,
        out: &mut Vec<Candidate>,
    ) -> Result<(), C::Error> {
        /// Fingerprints read at a time: 64 KiB, so that they are still in the cache when those
        /// that are near are looked at again.
        const STRIDE: u32 = 8192;
        let kernel = Kernel::fastest();
        let mut near = Vec::new();
        let Range { mut start, end } = self.shards.around(fingerprint.count_ones(), k);
        while start < end {
            let stop = end.min(start.saturating_add(STRIDE));
            let column = u64s(&self.fingerprints, start..stop)?;
            kernel.near_u64(column, fingerprint, k, &mut near);
            for index in near.drain(..) {
                if let Some(found) = column.get(index as usize) {
                    out.push(Candidate::new(start + index, found.get(), fingerprint));
                }
            }
            start = stop;
        }
        Ok(())
    }

    /// The entries of a rotation that a query is to be compared with.
    #[inline]
    pub(super) fn run<'c>(
        &self,
        rotations: &'c Rotations<C>,
        probe: Probe,
        fingerprint: u64,
        k: u32,
        reach: Reach,
    ) -> Result<Run<'c>, C::Error> {
        let Probe { block, bucket, distance } = probe;
        let steps = if rotations.address.stepped {
            let popcount = block.next().bucket(fingerprint, BLOCK_BITS).count_ones();
            let slack = reach.slack(block, distance).unwrap_or(0);
            rotations.address.steps_of(bucket, popcount, slack)
        } else {
            bucket..bucket + 1
        };
        let rotation = rotations.of(block);
        let entries = rotation.entries(steps, self.len())?;
        let start = entries.start;
        let planes = u32s(&rotation.planes, entries)?;
        prefetch(planes.as_bytes());
        Ok(Run { block, distance, start, planes, k: k - distance })
    }

    /// Looks into the fingerprint's own bucket in each rotation.
    fn look_up_own(
        &self,
        rotations: &Rotations<C>,
        fingerprint: u64,
        k: u32,
        reach: Reach,
        out: &mut Vec<Candidate>,
    ) -> Result<(), C::Error> {
        for block in Block::ALL {
            if reach.of(block) > 0 {
                let step = rotations.address.step(block, fingerprint);
                prefetch(u32s(&rotations.of(block).directory, step..step + 1)?.as_bytes());
            }
        }
        let bits = rotations.address.bits;
        let mut runs = [const { None }; BLOCKS];
        for (run, block) in runs.iter_mut().zip(Block::ALL) {
            if reach.of(block) > 0 {
                let probe = Probe { block, bucket: block.bucket(fingerprint, bits), distance: 0 };
                *run = Some(self.run(rotations, probe, fingerprint, k, reach)?);
            }
        }
        let mut survivors = Vec::new();
        self.compare(rotations, &runs, fingerprint, k, reach, &mut survivors, out)
    }

    /// Looks into the buckets that the pigeonhole principle names.
    ///
    /// By batches of probes, in three rounds each, so that the memory lines of a round come at the
    /// same time: the directories; the runs; and for the few entries that are near in the 32 bits
    /// that a run holds, ordinal and fingerprint.
    fn look_up(
        &self,
        rotations: &Rotations<C>,
        fingerprint: u64,
        k: u32,
        reach: Reach,
        out: &mut Vec<Candidate>,
    ) -> Result<(), C::Error> {
        /// Probes in a batch: about as many lines as a core can wait for at once.
        const BATCH: usize = 16;
        let mut survivors = Vec::new();
        let mut probes = Probes::new(fingerprint, rotations.address.bits, reach);
        // The directory is asked for a batch ahead, while the one before is compared; unless it is
        // so small that it is there already.
        let is_large = rotations.address.steps() > 1 << 14;
        let mut next_batch = || -> Result<ArrayVec<Probe, BATCH>, C::Error> {
            let batch: ArrayVec<Probe, BATCH> = probes.by_ref().take(BATCH).collect();
            for probe in batch.iter().filter(|_| is_large) {
                let step = rotations.address.first_step(probe.bucket);
                let directory = &rotations.of(probe.block).directory;
                prefetch(u32s(directory, step..step + 1)?.as_bytes());
            }
            Ok(batch)
        };
        let mut batch = next_batch()?;
        while !batch.is_empty() {
            let next = next_batch()?;
            let mut runs = [const { None }; BATCH];
            for (run, probe) in runs.iter_mut().zip(batch) {
                *run = Some(self.run(rotations, probe, fingerprint, k, reach)?);
            }
            self.compare(rotations, &runs, fingerprint, k, reach, &mut survivors, out)?;
            batch = next;
        }
        Ok(())
    }

    /// Compares runs with a query.
    #[expect(clippy::too_many_arguments, reason = "the parts of one search")]
    fn compare(
        &self,
        rotations: &Rotations<C>,
        runs: &[Option<Run<'_>>],
        fingerprint: u64,
        k: u32,
        reach: Reach,
        survivors: &mut Vec<(Block, u32)>,
        out: &mut Vec<Candidate>,
    ) -> Result<(), C::Error> {
        let kernel = Kernel::fastest();
        let mut near = Vec::new();
        for run in runs.iter().flatten() {
            let plane = run.block.plane(fingerprint);
            kernel.near_u32(run.planes, plane, run.k, &mut near);
            for index in near.drain(..) {
                let Some(found) = run.planes.get(index as usize) else { continue };
                if !reach.left_to_later(run.block, run.distance, found.get() ^ plane) {
                    survivors.push((run.block, run.start + index));
                }
            }
        }
        for (block, entry) in &mut *survivors {
            *entry = rotations.of(*block).ordinal(*entry, self.len())?;
        }
        for (block, ordinal) in survivors.drain(..) {
            let found = u64_at(&self.fingerprints, ordinal)?;
            let difference = found ^ fingerprint;
            if difference.count_ones() <= k && reach.last_found_by(block, difference) {
                out.push(Candidate::new(ordinal, found, fingerprint));
            }
        }
        Ok(())
    }
}

/// How many memory lines bytes lie in.
fn lines_of(bytes: &[u8]) -> usize {
    let start = bytes.as_ptr().addr() % size_of::<Line>();
    (start + bytes.len()).div_ceil(size_of::<Line>())
}

/// A run of entries to be compared.
#[derive(Clone, Copy)]
pub(super) struct Run<'c> {
    pub(super) block: Block,
    /// In how many bits the bucket differs from the query's.
    pub(super) distance: u32,
    /// The first entry.
    pub(super) start: u32,
    pub(super) planes: &'c [U32],
    /// What is left of the distance for the bits outside the bucket's number.
    pub(super) k: u32,
}
