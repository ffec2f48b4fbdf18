//! The index in memory, for fingerprints that are not yet in a segment.

use std::collections::HashMap;
use std::time::Instant;

use zerocopy::little_endian::U64;

use super::candidate::Candidate;
use super::kernel::{BlockRun, NearBlock, SearchKernel};
use super::nearest::{Bounds, Completeness, NearestCandidates};
use super::node::{ChainNode, NONE, add, empty_buckets, number_at, prefetched};
use super::outward::{LOOKED_UP_MAX, within_one};
use super::plan::{AccessPath, SearchPlan, nodes_worth_a_scan, plan_chains};
use super::probe::{BLOCK_BITS, BLOCKS, FingerprintBlock, Probe, ProbeRadius, Probes};
use super::shards::DISTANCE_MAX;
use crate::cpu::prefetch_value;

/// The number of address bits of a new index's buckets.
const BITS_MIN: u32 = 4;

/// The number of fingerprints per bucket at which the buckets are doubled: at this load one bucket
/// in twelve overflows.
const LOAD_MAX: usize = 6;

/// Fingerprints in order of arrival, searchable after every addition.
///
/// The index has the four tables of a segment, grown incrementally. A bucket is a chain of nodes.
/// Each node is a cache line with nine entries, and most chains have one node. So a search waits
/// for memory once, not once for every entry. The first node of a bucket is found by the bucket's
/// number and contains the latest entries. When the first node is full, it moves behind a new,
/// empty node. The index begins with few buckets and doubles them as they fill, up to the 16 bits
/// of a block.
///
/// Memory: at least 4 KiB; 60 to 100 bytes for each fingerprint up to 300,000, some 55 bytes from a
/// million fingerprints on, plus spare capacity as in a `Vec`.
#[derive(Clone, Debug)]
pub struct Chains {
    fingerprints: Vec<U64>,
    /// The first node of each bucket, in the table of each block.
    buckets: [Vec<ChainNode>; BLOCKS],
    /// The nodes after the first node of a chain, of all tables.
    overflow: Vec<ChainNode>,
    /// The number of address bits of the buckets.
    bits: u32,
    /// The number of each fingerprint. The map exists once chains were too long to find a
    /// fingerprint. The hash of the map is randomized, since an attacker may have caused the long
    /// chains.
    numbers: Option<HashMap<u64, u32>>,
}

impl Default for Chains {
    fn default() -> Self {
        Self::new()
    }
}

impl Chains {
    /// Creates an empty index: 4 KiB.
    #[must_use]
    pub fn new() -> Self {
        Self {
            fingerprints: Vec::new(),
            buckets: empty_buckets(BITS_MIN),
            overflow: Vec::new(),
            bits: BITS_MIN,
            numbers: None,
        }
    }

    /// Returns the number of fingerprints.
    #[must_use]
    pub fn len(&self) -> usize {
        self.fingerprints.len()
    }

    /// Whether there are no fingerprints.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.fingerprints.is_empty()
    }

    /// Returns all fingerprints in order of number.
    pub fn fingerprints(&self) -> impl Iterator<Item = u64> + '_ {
        self.fingerprints.iter().map(|fingerprint| fingerprint.get())
    }

    /// Returns the memory in bytes, including spare capacity.
    #[must_use]
    pub fn memory_bytes(&self) -> usize {
        let buckets: usize = self.buckets.iter().map(Vec::capacity).sum();
        size_of::<Self>()
            + self.fingerprints.capacity() * size_of::<U64>()
            + (buckets + self.overflow.capacity()) * size_of::<ChainNode>()
            + self.numbers.as_ref().map_or(0, |numbers| numbers.capacity() * NUMBER_BYTES)
    }

    /// Removes all fingerprints, and keeps the memory.
    pub fn clear(&mut self) {
        self.fingerprints.clear();
        self.overflow.clear();
        self.numbers = None;
        for buckets in &mut self.buckets {
            // The buckets keep their number: the next content is likely to be as large, and the
            // buckets need not double again.
            buckets.fill(ChainNode::EMPTY);
        }
    }

    /// Prefetches the cache lines that a search within distance 3 reads first. Call this method
    /// some hundred nanoseconds before the search; the call takes about five nanoseconds.
    pub fn prefetch(&self, fingerprint: u64) {
        for block in FingerprintBlock::ALL {
            // The address of a first node is computed, so the hint reads no memory itself.
            prefetch_value(self.first(Probe::own(block, fingerprint, self.bits)));
        }
    }

    /// Adds a fingerprint and returns its number: 0 for the first, 1 for the next, and so on. Equal
    /// fingerprints get separate numbers.
    ///
    /// Cost: a cache line in each of four tables, 50 to 80 ns, and on average 50 to 80 ns more for
    /// doubling the buckets. The last doubling, at 196,608 fingerprints, takes some 10 ms, half of
    /// it in the operating system for 16 MiB of fresh memory.
    ///
    /// # Panics
    ///
    /// Panics after 2^32 - 1 fingerprints, which would take 200 GiB.
    #[expect(clippy::indexing_slicing, reason = "there is a bucket for each value of the bits")]
    pub fn push(&mut self, fingerprint: u64) -> u32 {
        assert!(
            self.len() < NONE as usize,
            "an index in memory numbers fewer than 2^32 fingerprints"
        );
        let id = self.count();
        // The buckets are doubled before the push, so that the new entry goes to its final bucket.
        // At 16 bits the block has no more bits, and chains grow longer instead.
        if self.len() >= LOAD_MAX << self.bits && self.bits < BLOCK_BITS {
            self.grow();
        }
        self.fingerprints.push(U64::new(fingerprint));
        if let Some(numbers) = &mut self.numbers {
            // Of equal fingerprints, the map keeps the first number. `distinct_numbers` detects
            // equal fingerprints by the length of the map.
            numbers.entry(fingerprint).or_insert(id);
        }
        for (buckets, block) in self.buckets.iter_mut().zip(FingerprintBlock::ALL) {
            let bucket = block.bucket(fingerprint, self.bits) as usize;
            add(&mut buckets[bucket], &mut self.overflow, block.next().value(fingerprint), id);
        }
        id
    }

    /// Doubles the buckets: the next bit of the entries' blocks splits each bucket in two. The
    /// halves are adjacent, so old and new buckets are processed in order.
    #[expect(
        clippy::indexing_slicing,
        reason = "entries are numbered as they were pushed; two halves"
    )]
    fn grow(&mut self) {
        // All four tables get one more bit at once, so that a single number of bits is enough for
        // all probes.
        self.bits += 1;
        let overflow = std::mem::take(&mut self.overflow);
        for (buckets, block) in self.buckets.iter_mut().zip(FingerprintBlock::ALL) {
            let mut split = Vec::with_capacity(buckets.len() * 2);
            let mut moved = 0;
            for first in &*buckets {
                let mut halves = [ChainNode::EMPTY, ChainNode::EMPTY];
                let mut chain = Some(first);
                while let Some(node) = chain {
                    for (next, &id) in node.blocks().iter().zip(&node.ids) {
                        let fingerprint = self.fingerprints[id as usize].get();
                        // The nodes store only the next block, so the new address bit comes from
                        // the fingerprint.
                        let half = block.bucket(fingerprint, self.bits) & 1;
                        add(&mut halves[half as usize], &mut self.overflow, next.get(), id);
                    }
                    moved += node.len as usize;
                    chain = node.behind(&overflow);
                }
                split.extend(halves);
            }
            // A truncated chain would lose entries silently. The check costs one addition per node.
            assert_eq!(moved, self.fingerprints.len(), "every table has every fingerprint");
            *buckets = split;
        }
    }

    /// Appends to `out` every fingerprint within distance `k` of `fingerprint`, each number once,
    /// in no particular order. Exact for every `k`; a `k` of 64 or more finds all fingerprints.
    ///
    /// Cost: one or two cache lines for each bucket of the pigeonhole principle, 4 for k = 3. The
    /// cost is at most about twice the cost of a scan of all fingerprints, at some 0.1 ns each,
    /// because long chains make the search fall back to a scan.
    pub fn find(&self, fingerprint: u64, k: u32, out: &mut Vec<Candidate>) {
        if self.is_empty() {
            return;
        }
        let k = k.min(DISTANCE_MAX);
        if k == 0 && self.add_equal(fingerprint, out) {
            return;
        }
        let before = out.len();
        // Following chains is abandoned when it has cost as much as a scan, so both together cost
        // at most about twice a scan.
        let nodes = nodes_worth_a_scan(self.len()).max(NODES_MIN);
        if self.plan(k).access_path == AccessPath::Rotations
            && self.follow(fingerprint, k, nodes, out)
        {
            return;
        }
        // The scan finds all fingerprints again, so hits from the chains would be duplicates.
        out.truncate(before);
        self.scan(fingerprint, k, out);
    }

    /// Returns the number of a fingerprint, if the index contains it. If the index contains it
    /// several times, returns one of its numbers.
    ///
    /// Cost: one or two cache lines. When a chain is too long for the first time, a hash map of
    /// all fingerprints is built, for some 30 ns and 20 bytes for each.
    pub fn number_of(&mut self, fingerprint: u64) -> Option<u32> {
        if self.numbers.is_none() {
            let mut equal = Vec::new();
            // Chains are long only if many fingerprints share a block. Most indexes never need the
            // map.
            if self.follow(fingerprint, 0, NODES_MIN, &mut equal) {
                return equal.first().map(|equal| equal.ordinal);
            }
            let mut numbers = HashMap::with_capacity(self.fingerprints.capacity());
            // The map is built once from all fingerprints. Afterwards, `push` maintains it.
            for (number, known) in (0..).zip(&self.fingerprints) {
                numbers.entry(known.get()).or_insert(number);
            }
            self.numbers = Some(numbers);
        }
        self.numbers.as_ref().and_then(|numbers| numbers.get(&fingerprint).copied())
    }

    /// Appends to `out` the nearest fingerprints within `k`. If the chains are short enough, the
    /// result has all of them; otherwise the [`Completeness`] states how complete it is. In the second
    /// case every fingerprint is compared, at some 0.1 ns each, in order of arrival. Of equally
    /// near fingerprints, the first are kept. If there are more than [`Bounds::fingerprints`], and
    /// the hash map of numbers exists, only the latest fingerprints are compared; earlier
    /// fingerprints within one bit are looked up.
    #[expect(clippy::indexing_slicing, reason = "indexes are within the compared range")]
    pub fn nearest(
        &self,
        fingerprint: u64,
        k: u32,
        bounds: &Bounds,
        out: &mut Vec<Candidate>,
    ) -> Completeness {
        /// The number of nodes that may be read before all fingerprints are compared, as a multiple
        /// of the expected number.
        const PATIENCE: f64 = 3.0;
        let k = k.min(DISTANCE_MAX);
        if self.is_empty() || k == 0 && self.add_equal(fingerprint, out) {
            return Completeness::whole(k);
        }
        let before = out.len();
        let SearchPlan { access_path: way, expected } = self.plan(k);
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a number")]
        let nodes = (expected.lines * PATIENCE) as usize + NODES_MIN / 2;
        if way == AccessPath::Rotations && self.follow(fingerprint, k, nodes, out) {
            return Completeness::whole(k);
        }
        out.truncate(before);
        let kernel = SearchKernel::fastest();
        let first = self.len().saturating_sub(bounds.fingerprints as usize);
        // The map is used only if there are more fingerprints than the bound, and long chains, not
        // the plan, prevented a complete search.
        let numbers = self.distinct_numbers().filter(|_| first > 0 && way == AccessPath::Rotations);
        let crowded = numbers.is_some() && k > LOOKED_UP_MAX;
        // Without the map, all fingerprints are compared. With the map, no fingerprint is compared
        // for distance 1, since lookups find all; for larger distances the latest fingerprints are
        // compared.
        let first = numbers.map_or(0, |_| if crowded { first } else { self.len() });
        let hits = if numbers.is_some() { bounds.hits_of_crowd } else { bounds.hits };
        let (mut nearest, mut near) = (NearestCandidates::new(k, hits, out), Vec::new());
        let (mut scanned, mut certain) = (0, Some(k));
        if let Some(numbers) = numbers {
            let within = k.min(LOOKED_UP_MAX);
            certain = Some(within);
            // The scan below reports numbers from `first` on, so they are skipped here.
            for value in within_one(fingerprint).take(1 + 64 * within as usize) {
                if let Some(&number) = numbers.get(&value).filter(|n| (**n as usize) < first) {
                    nearest.add(Candidate::new(number, value, fingerprint));
                }
            }
        }
        let latest = self.fingerprints[first..].chunks(STRIDE);
        for (start, column) in (first..).step_by(STRIDE).zip(latest) {
            // The radius shrinks as hits come in, so later chunks pass fewer candidates.
            let Some(radius) = nearest.radius() else { break };
            if bounds.until.is_some_and(|until| Instant::now() >= until) {
                // The order of arrival is unrelated to distance: after an early end, even equal
                // fingerprints may be missing.
                certain = None;
                break;
            }
            kernel.near_u64(column, fingerprint, radius, &mut near);
            for index in near.drain(..) {
                let found = column[index as usize].get();
                nearest.add(Candidate::new(number_at(start) + index, found, fingerprint));
            }
            scanned += column.len();
        }
        Completeness { crowded, ..nearest.finish(certain, number_at(scanned)) }
    }

    /// Returns the number of fingerprints.
    fn count(&self) -> u32 {
        number_at(self.len())
    }

    /// Returns the plan of [`find`](Self::find) for a distance.
    #[must_use]
    pub fn plan(&self, k: u32) -> SearchPlan {
        plan_chains(self.count(), self.bits, k.min(DISTANCE_MAX))
    }

    /// Returns the numbers of all fingerprints, if the map exists and no two fingerprints are
    /// equal.
    fn distinct_numbers(&self) -> Option<&HashMap<u64, u32>> {
        self.numbers.as_ref().filter(|numbers| numbers.len() == self.len())
    }

    /// Appends the equal fingerprint, if the map exists and no two fingerprints are equal.
    fn add_equal(&self, fingerprint: u64, out: &mut Vec<Candidate>) -> bool {
        let Some(numbers) = self.distinct_numbers() else { return false };
        let number = numbers.get(&fingerprint);
        out.extend(number.map(|number| Candidate::new(*number, fingerprint, fingerprint)));
        true
    }

    /// Compares every fingerprint.
    #[expect(clippy::indexing_slicing, reason = "indices of the column that was compared")]
    pub(super) fn scan(&self, fingerprint: u64, k: u32, out: &mut Vec<Candidate>) {
        let kernel = SearchKernel::fastest();
        let mut near = Vec::new();
        for (start, column) in (0..).step_by(STRIDE).zip(self.fingerprints.chunks(STRIDE)) {
            kernel.near_u64(column, fingerprint, k, &mut near);
            for index in near.drain(..) {
                out.push(Candidate::new(start + index, column[index as usize].get(), fingerprint));
            }
        }
    }

    /// Follows the chains of the pigeonhole principle. Returns `false` if the chains have more than
    /// `nodes_left` nodes, so that the result is incomplete.
    ///
    /// Several chains are followed in turn, so that their cache lines arrive concurrently.
    pub(super) fn follow(
        &self,
        fingerprint: u64,
        k: u32,
        mut nodes_left: usize,
        out: &mut Vec<Candidate>,
    ) -> bool {
        /// The number of chains followed concurrently.
        const LANES: usize = 16;
        let reach = ProbeRadius::within(k);
        if reach.is_plain() {
            return self.follow_own(fingerprint, k, reach, nodes_left, out);
        }
        let kernel = SearchKernel::fastest();
        let mut near = Vec::new();
        let mut chains = FingerprintBlock::ALL
            .into_iter()
            .flat_map(|block| Probes::new(block, fingerprint, self.bits, reach))
            .map(|probe| (probe, prefetched(self.first(probe))));
        // Sixteen independent chains hide each other's
        // latency. Each chain alone would wait at every node.
        let mut lanes = [const { None::<(Probe, &ChainNode)> }; LANES];
        for (lane, first) in lanes.iter_mut().zip(chains.by_ref()) {
            *lane = Some(first);
        }
        loop {
            let mut nodes = 0;
            for lane in &mut lanes {
                let Some((probe, node)) = *lane else { continue };
                let Probe { block, distance, .. } = probe;
                // The probe has used up its distance, so the next block may differ by the rest that
                // the ring principle allows.
                let most = reach.slack(block, distance);
                let query = block.next().value(fingerprint);
                let run = BlockRun { blocks: node.blocks(), query, most };
                kernel.near_in_runs(&[run], &mut near);
                for NearBlock { index, .. } in near.drain(..) {
                    out.extend(self.candidate(node, index, fingerprint, k, reach, probe.block));
                }
                // The next node is prefetched now and read one round later.
                let behind = node.behind(&self.overflow).map(prefetched);
                *lane = behind.map(|node| (probe, node)).or_else(|| chains.next());
                nodes += 1;
            }
            if nodes == 0 {
                return true;
            }
            // The limit is checked once per round, without a branch per node. So at most 16 nodes
            // more than allowed are read.
            if nodes > nodes_left {
                return false;
            }
            nodes_left -= nodes;
        }
    }

    /// Follows the chain of the fingerprint's own bucket in each table that is needed, under the
    /// rules of [`follow`](Self::follow).
    fn follow_own(
        &self,
        fingerprint: u64,
        k: u32,
        reach: ProbeRadius,
        mut nodes_left: usize,
        out: &mut Vec<Candidate>,
    ) -> bool {
        let kernel = SearchKernel::fastest();
        let own = |block| prefetched(self.first(Probe::own(block, fingerprint, self.bits)));
        // All four first nodes are prefetched before the first node is read.
        let firsts = FingerprintBlock::ALL.map(|block| (reach.of(block) > 0).then(|| own(block)));
        let mut near = Vec::new();
        for (block, first) in FingerprintBlock::ALL.into_iter().zip(firsts) {
            let mut chain = first;
            while let Some(node) = chain {
                if nodes_left == 0 {
                    return false;
                }
                nodes_left -= 1;
                // The next node is prefetched before the comparison, which hides a part of the
                // wait.
                chain = node.behind(&self.overflow).map(prefetched);
                let most = reach.slack(block, 0);
                let query = block.next().value(fingerprint);
                let run = BlockRun { blocks: node.blocks(), query, most };
                kernel.near_in_runs(&[run], &mut near);
                for NearBlock { index, .. } in near.drain(..) {
                    out.extend(self.candidate(node, index, fingerprint, k, reach, block));
                }
            }
        }
        true
    }

    /// Returns an entry whose stored bits are near, if the fingerprint is near and not found
    /// before.
    #[expect(
        clippy::indexing_slicing,
        reason = "an entry of the node, which has the number of one pushed"
    )]
    fn candidate(
        &self,
        node: &ChainNode,
        index: u32,
        fingerprint: u64,
        k: u32,
        reach: ProbeRadius,
        block: FingerprintBlock,
    ) -> Option<Candidate> {
        let id = node.ids[index as usize];
        let found = self.fingerprints[id as usize].get();
        let difference = found ^ fingerprint;
        // Each fingerprint is in all four tables. Of the tables that find a fingerprint, only the
        // last reports it.
        let near = difference.count_ones() <= k && reach.last_found_by(block, difference);
        near.then(|| Candidate::new(id, found, fingerprint))
    }

    /// Returns the first node of the probed bucket.
    #[expect(clippy::indexing_slicing, reason = "there is a bucket for each value of the bits")]
    fn first(&self, probe: Probe) -> &ChainNode {
        let [first, second, third, fourth] = &self.buckets;
        let buckets = match probe.block {
            FingerprintBlock::First => first,
            FingerprintBlock::Second => second,
            FingerprintBlock::Third => third,
            FingerprintBlock::Fourth => fourth,
        };
        &buckets[probe.bucket as usize]
    }
}

/// The number of fingerprints compared before the near fingerprints are processed.
const STRIDE: usize = 8192;

/// The approximate number of bytes for a fingerprint in the map of numbers.
const NUMBER_BYTES: usize = 20;

/// The number of nodes that may always be read: a few microseconds at most.
const NODES_MIN: usize = 128;
