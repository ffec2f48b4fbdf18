//! The cost model of a search: probes, candidates and cache lines.

use super::binomial::choose;
use super::cells::{self, CELLS_DISTANCE_MAX, FingerprintHalf};
use super::hamming;
use super::kernel::ENTRY_BITS;
use super::probe::{BLOCK_BITS, BLOCKS, FingerprintBlock, ProbeRadius};
use super::rotation::BucketLayout;
use super::shape::Shape;
use super::shards::DISTANCE_MAX;

/// The cost of a search, expected or counted.
///
/// ```
/// use simkeep::query::{Cost, Shape};
/// // A search within 3 bits among ten million fingerprints: by tables, and by a scan of all.
/// let tables = Cost::of_search(Shape::choose(10_000_000, 3, 48), 10_000_000, 3);
/// let scan = Cost::of_scan(10_000_000, 10_000_000.0);
/// assert!(tables.ns < scan.ns && tables.lines < scan.lines);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Cost {
    /// Buckets or cells read; 0 for a scan.
    pub probes: f64,
    /// Entries compared.
    pub candidates: f64,
    /// Cache lines of 64 bytes read.
    pub lines: f64,
    /// Nanoseconds on one core with all data in memory, without the cost of hits.
    pub ns: f64,
}

// The figures are for a processor with AVX2 and slow dependent lines, fitted to measurements of
// every shape from 10,000 to ten million fingerprints and k = 0 to 12 (`search::tests::timing`).
// With AVX-512 nearly all figures shrink by the same factor, which changes no choice; exceptions
// are marked.

/// The capacities in bytes of a core's own cache and of the shared cache for tables.
const CACHES: [f64; 2] = [768e3, 24e6];

/// Nanoseconds for a line that is prefetched with others, from each cache and from memory.
const LINE_NS: [f64; 3] = [1.0, 6.0, 14.0];

/// Nanoseconds for a line that the next step depends on, from each cache and from memory.
const WAIT_NS: [f64; 3] = [22.0, 95.0, 136.0];

/// Nanoseconds for a further line of a run, including its comparison.
const NEXT_LINE_NS: [f64; 3] = [3.0, 1.0, 16.0];

/// Nanoseconds to start a probe of a rotation, and of a cell.
const PROBE_NS: [f64; 2] = [18.0, 4.0];

/// Nanoseconds to start a query in cells.
const CELLS_NS: f64 = 60.0;

/// Nanoseconds for an entry whose stored bits are near: a line of ordinals, then a line of the
/// canonical column; the reads for several entries overlap.
const SURVIVOR_NS: f64 = 46.0;

/// Nanoseconds for an entry of a scan, from each cache and from memory. The figures for caches lie
/// between the AVX2 and the AVX-512 figures: AVX-512 speeds up scans more than tables.
const SCAN_NS: [f64; 3] = [0.18, 0.2, 0.59];

/// Interpolates between the figures of caches and memory for tables of this size.
fn by_size(bytes: f64, figures: [f64; 3]) -> f64 {
    let [own, shared] = CACHES;
    let [first, second, third] = figures;
    // Lines are read at random, so a cache's share of the bytes is its share of the reads. The
    // shared cache includes the content of the core's own cache.
    let in_own = (own / bytes).min(1.0);
    let in_shared = (shared / bytes).min(1.0) - in_own;
    first * in_own + second * in_shared + third * (1.0 - in_own - in_shared)
}

impl Cost {
    /// Returns the expected cost to find everything within `k` of a fingerprint among `n` uniformly
    /// distributed fingerprints, by the shape's tables or by a scan, whichever is cheaper.
    ///
    /// ```
    /// use simkeep::query::{Cost, Shape};
    /// let of = |k| Cost::of_search(Shape::choose(10_000_000, k, 48), 10_000_000, k).ns;
    /// assert!(of(3) < of(10)); // a wide search costs more
    /// ```
    #[must_use]
    pub fn of_search(shape: Shape, n: u32, k: u32) -> Self {
        let scan = Self::of_scan(n, expected_around(n, k));
        match Self::of_tables(shape, n, k) {
            Some(tables) if tables.ns < scan.ns => tables,
            _ => scan,
        }
    }

    /// Returns the cost of a scan that compares `scanned` of `n` fingerprints.
    ///
    /// ```
    /// use simkeep::query::Cost;
    /// let cost = Cost::of_scan(1_000_000, 1_000_000.0);
    /// assert_eq!((cost.candidates, cost.probes), (1_000_000.0, 0.0));
    /// ```
    #[must_use]
    pub fn of_scan(n: u32, scanned: f64) -> Self {
        let bytes = f64::from(n) * 8.0;
        // One wait for the first line; then the processor detects the sequential reads.
        let ns = scanned * by_size(bytes, SCAN_NS) + by_size(bytes, WAIT_NS);
        Self { probes: 0.0, candidates: scanned, lines: scanned / 8.0, ns }
    }

    /// Returns the cost of the tables of a shape; `None` if the shape has no tables, or if its
    /// tables do not support the distance.
    ///
    /// The cost of P probes in rotations includes the lines of P buckets, the lines in which
    /// buckets continue, and `SURVIVOR_NS` for each entry whose stored bits are near. The cost of P
    /// probes of cells includes P lines, and the lines in which cells continue. The reads of one
    /// step overlap; each step waits once. Tables that a narrow search does not use do not compete
    /// for the caches.
    ///
    /// ```
    /// use simkeep::query::{Cost, Shape};
    /// assert!(Cost::of_tables(Shape::choose(1_000_000, 3, 48), 1_000_000, 3).is_some());
    /// assert!(Cost::of_tables(Shape::Column, 1_000_000, 3).is_none()); // only a scan
    /// ```
    #[must_use]
    pub fn of_tables(shape: Shape, n: u32, k: u32) -> Option<Self> {
        let k = k.min(DISTANCE_MAX);
        let table_bytes = (shape.bytes_each(n) - 12.0) * f64::from(n);
        match shape {
            Shape::Column => None,
            Shape::Rotations(address) => {
                let visit = ProbeEstimate::of_rotations(n, address.bits, k);
                // Up to k = 2 only the first k + 1 rotations are read, and only these rotations
                // compete for the caches.
                let used = f64::from(k + 1).min(BLOCKS as f64) / BLOCKS as f64;
                let bytes = address.bytes() as f64 * BLOCKS as f64;
                let line = |figures| by_size(bytes * used, figures);
                let going_on = visit.probes * share_going_on(n, address);
                let further = visit.probes * f64::from(address.lines.saturating_sub(1));
                let ns = visit.probes * PROBE_NS[0]
                    + (visit.probes + going_on) * line(LINE_NS)
                    + further * line(NEXT_LINE_NS)
                    + visit.survivors * SURVIVOR_NS
                    // One wait for all buckets of a round; a second wait if any bucket continues in
                    // its rest.
                    + (1.0 + going_on.min(1.0)) * line(WAIT_NS);
                let lines = visit.probes + further + going_on + 2.0 * visit.survivors;
                Some(Self { probes: visit.probes, candidates: visit.candidates, lines, ns })
            }
            Shape::Cells { count } => {
                if k > CELLS_DISTANCE_MAX {
                    return None;
                }
                let visit = ProbeEstimate::of_cells(n, count, k);
                let further = visit.probes * cells::GOING_ON;
                // For k = 0 the lower half has reach 0, so its table is not read.
                let used = if k == 0 { 0.5 } else { 1.0 };
                let line = |figures| by_size(table_bytes * used, figures);
                let ns = CELLS_NS
                    + visit.probes * PROBE_NS[1]
                    + (visit.probes + further) * line(LINE_NS)
                    + visit.survivors * SURVIVOR_NS
                    + line(WAIT_NS);
                let lines = visit.probes + further + 2.0 * visit.survivors;
                Some(Self { probes: visit.probes, candidates: visit.candidates, lines, ns })
            }
        }
    }
}

/// Returns the expected number of `n` uniformly distributed fingerprints that have a popcount
/// within `k` of the popcount of another uniformly distributed fingerprint.
fn expected_around(n: u32, k: u32) -> f64 {
    // The difference of two popcounts of 64 bits has the variance of one popcount of 128 bits,
    // which is 32. The normal distribution with this variance is accurate enough for a choice.
    let deviations = (f64::from(k) + 0.5) / 32.0_f64.sqrt();
    f64::from(n) * erf(deviations / std::f64::consts::SQRT_2)
}

/// The error function, to three digits: M. Abramowitz and I. A. Stegun, 7.1.27.
fn erf(x: f64) -> f64 {
    let t = 1.0 + x * (0.278_393 + x * (0.230_389 + x * (0.000_972 + x * 0.078_108)));
    1.0 - t.powi(-4)
}

/// The expected work in buckets or cells.
pub(super) struct ProbeEstimate {
    /// Buckets or cells.
    pub(super) probes: f64,
    /// Entries in the buckets or cells.
    pub(super) candidates: f64,
    /// Entries whose stored bits are near.
    pub(super) survivors: f64,
}

impl ProbeEstimate {
    pub(super) fn of_rotations(n: u32, bits: u32, k: u32) -> Self {
        let bits = bits.min(BLOCK_BITS);
        let k = k.min(DISTANCE_MAX);
        let reach = ProbeRadius::within(k);
        let bucket_entries = f64::from(n) / f64::from(1_u32 << bits);
        let mut visit = Self { probes: 0.0, candidates: 0.0, survivors: 0.0 };
        for block in FingerprintBlock::ALL {
            // The loops are the same as in the search itself, over counts instead of buckets.
            for distance in 0..reach.of(block).min(bits + 1) {
                let slack = reach.slack(block, distance);
                let buckets = choose(bits, distance) as f64;
                visit.probes += buckets;
                visit.candidates += buckets * bucket_entries;
                // Stored blocks are assumed random, so the share of near blocks is the share among
                // all 16-bit words. Skewed data has more near blocks, and the work limit bounds
                // their cost.
                visit.survivors += buckets * share_of_blocks(slack) * bucket_entries;
            }
        }
        visit
    }

    fn of_cells(n: u32, count: u32, k: u32) -> Self {
        let cell_entries = f64::from(n) / f64::from(count.max(1));
        let mut visit = Self { probes: 0.0, candidates: 0.0, survivors: 0.0 };
        for half in FingerprintHalf::ALL {
            let reach = half.reach(k);
            if reach == 0 {
                continue;
            }
            for weight in 0..=reach {
                let probes = hamming::expected(weight);
                visit.probes += probes;
                visit.candidates += probes * cell_entries;
                let most = cells::most_differing(k, weight);
                visit.survivors += probes * share_within(most, ENTRY_BITS) * cell_entries;
            }
        }
        visit
    }
}

/// The share of all blocks that lie within a distance of a block, by distance. Each estimate of a
/// search needs about ten of them.
static SHARE_OF_BLOCKS: [f64; BLOCK_BITS as usize + 1] = shares_of_blocks();

#[expect(clippy::indexing_slicing, reason = "evaluated at compile time, where it would not build")]
const fn shares_of_blocks() -> [f64; BLOCK_BITS as usize + 1] {
    let mut shares = [0.0; BLOCK_BITS as usize + 1];
    let mut distance = 0;
    while distance <= BLOCK_BITS {
        shares[distance as usize] = share_within(distance, BLOCK_BITS);
        distance += 1;
    }
    shares
}

/// Returns the share of all blocks that lie within `distance` of a block.
#[expect(clippy::indexing_slicing, reason = "at most the number of bits of a block")]
fn share_of_blocks(distance: u32) -> f64 {
    SHARE_OF_BLOCKS[distance.min(BLOCK_BITS) as usize]
}

/// Returns the share of all words of `bits` bits, at most 63, that lie within `distance` of a word.
const fn share_within(distance: u32, bits: u32) -> f64 {
    let (mut near, mut away) = (0, 0);
    while away <= distance && away <= bits {
        near += choose(bits, away);
        away += 1;
    }
    near as f64 / (1_u64 << bits) as f64
}

/// Returns the share of buckets with more entries than their capacity.
///
/// The numbers of entries follow a Poisson distribution, approximated by a normal distribution.
fn share_going_on(n: u32, address: BucketLayout) -> f64 {
    let average = f64::from(n) / f64::from(address.buckets());
    // The variance of a bucket's count equals its mean. The added 0.5 is the continuity correction.
    let deviations = (f64::from(address.room()) + 0.5 - average) / average.sqrt().max(1.0);
    let beyond = erf(deviations.abs() / std::f64::consts::SQRT_2).mul_add(-0.5, 0.5);
    if deviations >= 0.0 { beyond } else { 1.0 - beyond }
}
