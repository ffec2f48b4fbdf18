//! The tables of one set of fingerprints, and the search in them.

use std::ops::Range;

use zerocopy::IntoBytes;
use zerocopy::little_endian::U32;

use super::column::{Column, u32s, u64_at, u64s};
use super::kernel::{Kernel, prefetch};
use super::plan::{Plan, Way, plan};
use super::probe::{BLOCK_BITS, Block, Probes, Reach};
use super::rotation::Rotations;
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

/// A set of distinct fingerprints in canonical order, and the tables for searching it.
///
/// Memory: nothing but the handles of the columns and 264 bytes of shards. Safe to share between
/// threads as far as the columns are.
#[derive(Clone, Debug)]
pub struct Tables<C> {
    /// Distinct fingerprints in canonical order: little-endian `u64`.
    pub(super) fingerprints: C,
    shards: Shards,
    /// Absent for small sets, see [`has_rotations`](super::has_rotations).
    pub(super) rotations: Option<Rotations<C>>,
}

impl<C> Tables<C> {
    /// The same tables in other columns, such as borrowed ones that are quicker to read.
    pub fn map<'c, D>(&'c self, to: impl Fn(&'c C) -> D) -> Tables<D> {
        Tables {
            fingerprints: to(&self.fingerprints),
            shards: self.shards.clone(),
            rotations: self.rotations.as_ref().map(|rotations| rotations.map(&to)),
        }
    }
}

impl<C: Column> Tables<C> {
    /// Takes the columns of one set. Nothing is read: damage shows when it is touched.
    ///
    /// # Errors
    ///
    /// The rotations are addressed by more than the 16 bits of a block.
    pub fn new(
        fingerprints: C,
        shards: Shards,
        rotations: Option<Rotations<C>>,
    ) -> Result<Self, C::Error> {
        if let Some(rotations) = &rotations
            && rotations.bits > BLOCK_BITS
        {
            let [first, ..] = &rotations.tables;
            return Err(first.directory.damaged(0, "more than 16 bits of address"));
        }
        Ok(Self { fingerprints, shards, rotations })
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

    /// What [`find`](Self::find) will do. Reads nothing.
    #[must_use]
    pub fn plan(&self, fingerprint: u64, k: u32) -> Plan {
        let k = k.min(DISTANCE_MAX);
        let scanned = self.shards.around(fingerprint.count_ones(), k);
        let bits = self.rotations.as_ref().map(|rotations| rotations.bits);
        plan(self.len(), bits, k, scanned.end - scanned.start)
    }

    /// Appends to `out` every fingerprint within distance `k` of `fingerprint`, each once, in no
    /// particular order. Exact for every `k`; from 64 on that is all of them.
    ///
    /// Cost: what [`plan`] expects, plus 10 to 30 ns for each candidate found. The worst case, of
    /// whatever data, is reading each column once. Allocates only if something is near.
    ///
    /// # Errors
    ///
    /// A column cannot be read or contradicts itself; `out` is then left as it was.
    pub fn find(&self, fingerprint: u64, k: u32, out: &mut Vec<Candidate>) -> Result<(), C::Error> {
        let before = out.len();
        let found = match (&self.rotations, self.plan(fingerprint, k).way) {
            (Some(rotations), Way::Rotations) => self.look_up(rotations, fingerprint, k, out),
            _ => self.scan(fingerprint, k, out),
        };
        if found.is_err() {
            out.truncate(before);
        }
        found
    }

    /// Checks that every rotation has every fingerprint, in its bucket and in order. Reads all of
    /// them once.
    ///
    /// # Errors
    ///
    /// A column cannot be read, or an entry is not what it must be.
    pub fn check(&self) -> Result<(), C::Error> {
        let Some(rotations) = &self.rotations else { return Ok(()) };
        for block in Block::ALL {
            let rotation = rotations.of(block);
            let mut entries = 0;
            for bucket in 0..1 << rotations.bits {
                let run = rotation.bucket(bucket, self.len())?;
                if run.start != entries {
                    return Err(rotation.directory.damaged(0, "a bucket that does not follow"));
                }
                entries = run.end;
                let planes = u32s(&rotation.planes, run.clone())?;
                let mut before = None;
                for (entry, plane) in run.zip(planes) {
                    let ordinal = rotation.ordinal(entry, self.len())?;
                    let fingerprint = u64_at(&self.fingerprints, ordinal)?;
                    let fits = block.bucket(fingerprint, rotations.bits) == bucket
                        && block.plane(fingerprint) == plane.get()
                        && before < Some(ordinal);
                    if !fits {
                        let offset = u64::from(entry) * 4;
                        return Err(rotation.ordinals.damaged(offset, "an entry out of place"));
                    }
                    before = Some(ordinal);
                }
            }
            if entries != self.len() {
                return Err(rotation.directory.damaged(0, "a rotation without all fingerprints"));
            }
        }
        Ok(())
    }

    pub(super) fn fingerprints(&self) -> &C {
        &self.fingerprints
    }

    pub(super) fn shards(&self) -> &Shards {
        &self.shards
    }

    pub(super) fn rotations(&self) -> Option<&Rotations<C>> {
        self.rotations.as_ref()
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

    /// Looks into the buckets that the pigeonhole principle names.
    ///
    /// By batches of probes, in three rounds each, so that the memory lines of a round come at the
    /// same time: the directories; the runs; and for the few entries that are near in the 32 bits
    /// that a run holds, ordinal and fingerprint.
    pub(super) fn look_up(
        &self,
        rotations: &Rotations<C>,
        fingerprint: u64,
        k: u32,
        out: &mut Vec<Candidate>,
    ) -> Result<(), C::Error> {
        /// Probes in a batch: about as many lines as a core can wait for at once.
        const BATCH: usize = 16;
        let k = k.min(DISTANCE_MAX);
        let kernel = Kernel::fastest();
        let reach = Reach::within(k);
        let ordinals = self.shards.around(fingerprint.count_ones(), k);
        let mut near = Vec::new();
        let mut survivors = Vec::new();
        let mut probes = Probes::new(fingerprint, rotations.bits, reach);
        loop {
            let mut runs = [const { None::<Run<'_>> }; BATCH];
            for (run, probe) in runs.iter_mut().zip(probes.by_ref()) {
                let entries = rotations.run(probe, &ordinals, self.len())?;
                let start = entries.start;
                let planes = u32s(&rotations.of(probe.block).planes, entries)?;
                prefetch(planes.as_bytes());
                *run = Some(Run { block: probe.block, start, planes, k: k - probe.distance });
            }
            let [Some(_), ..] = runs else { break };
            for run in runs.iter().flatten() {
                let plane = run.block.plane(fingerprint);
                kernel.near_u32(run.planes, plane, run.k, &mut near);
                for index in near.drain(..) {
                    let Some(found) = run.planes.get(index as usize) else { continue };
                    if !reach.found_before(run.block, found.get() ^ plane) {
                        survivors.push((run.block, run.start + index));
                    }
                }
            }
            for (block, entry) in &mut survivors {
                *entry = rotations.of(*block).ordinal(*entry, self.len())?;
            }
            for (block, ordinal) in survivors.drain(..) {
                let found = u64_at(&self.fingerprints, ordinal)?;
                let difference = found ^ fingerprint;
                if difference.count_ones() <= k && reach.first_found_by(block, difference) {
                    out.push(Candidate::new(ordinal, found, fingerprint));
                }
            }
        }
        Ok(())
    }
}

/// A run of entries to be compared.
struct Run<'c> {
    block: Block,
    /// The first entry.
    start: u32,
    planes: &'c [U32],
    /// What is left of the distance for the bits outside the bucket's number.
    k: u32,
}
