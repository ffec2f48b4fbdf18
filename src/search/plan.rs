//! Which way a query runs: a cost model in memory lines and candidates.

use super::probe::{BLOCK_BITS, Block, Reach};
use super::shards::DISTANCE_MAX;

/// One way to find everything within a distance; all of them give the same answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// Look into the buckets of the rotations that the pigeonhole principle names.
    Rotations,
    /// Scan the shards of the canonical column whose popcount is near enough.
    Shards,
}

/// What a query will do, and what that is expected to cost.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Plan {
    /// The cheaper way.
    pub way: Way,
    /// Buckets to look into; 0 when scanning.
    pub probes: u32,
    /// Entries to compare, as expected of evenly spread fingerprints.
    pub candidates: f64,
    /// Nanoseconds without those for the hits themselves.
    pub cost_ns: f64,
}

/// Nanoseconds for one bucket: a line of the directory, and the first line of the run.
const PROBE_NS: f64 = 28.0;
/// Nanoseconds for one more entry of a bucket's run: 4 bytes, compared 16 at a time.
const RUN_ENTRY_NS: f64 = 0.5;
/// Nanoseconds for an entry whose stored 32 bits are near enough: a line of ordinals, and then one
/// of the canonical column; those of its neighbours come at the same time.
const SURVIVOR_NS: f64 = 45.0;
/// Nanoseconds for one entry of a scan: 8 bytes in sequence, half from memory, half cached.
const SCAN_ENTRY_NS: f64 = 0.2;
/// Nanoseconds for a node of a chain of the index in memory: one line.
const NODE_NS: f64 = NODE_SCANS as f64 * MEMORY_SCAN_ENTRY_NS;
/// Nanoseconds for one entry of a scan of the index in memory, which is likely in the cache.
const MEMORY_SCAN_ENTRY_NS: f64 = 0.12;
/// Entries that a scan of the index in memory compares in the time of a node.
const NODE_SCANS: usize = 150;

/// Chooses between the rotations and a scan for one query.
///
/// `n` fingerprints are in the column, `bits` bits address the rotations (`None` if there are
/// none), and `scanned` of them have a popcount within `k` of the query's.
///
/// With `c = n / 2^bits` entries in a bucket, r the radius of each rotation, and B(b, r) the number
/// of words of b bits within distance r, the rotations cost
///
/// > sum over the rotations of B(bits, r) * (`PROBE_NS` + c * `RUN_ENTRY_NS`) + survivors *
/// > `SURVIVOR_NS`,
///
/// where an entry of a bucket at distance d survives with probability B(32, k - d) / 2^32. A scan
/// costs `scanned * SCAN_ENTRY_NS`. The constants are measured, the shape of the formula is that
/// of a count of lines touched; evenly spread fingerprints are assumed.
#[must_use]
pub fn plan(n: u32, bits: Option<u32>, k: u32, scanned: u32) -> Plan {
    let scan = Plan {
        way: Way::Shards,
        probes: 0,
        candidates: f64::from(scanned),
        cost_ns: f64::from(scanned) * SCAN_ENTRY_NS,
    };
    let Some(bits) = bits else { return scan };
    let visit = Visit::expected(n, bits, k);
    let cost_ns = f64::from(visit.probes) * PROBE_NS
        + visit.candidates * RUN_ENTRY_NS
        + visit.survivors * SURVIVOR_NS;
    if cost_ns < scan.cost_ns {
        let Visit { probes, candidates, .. } = visit;
        Plan { way: Way::Rotations, probes, candidates, cost_ns }
    } else {
        scan
    }
}

/// Whether the index in memory should follow its chains rather than compare all `n` fingerprints.
///
/// The same formula as [`plan`]'s, with `NODE_NS` for each node: one for each bucket, and one more
/// for every seven entries.
pub(super) fn follow_chains(n: u32, bits: u32, k: u32) -> bool {
    let visit = Visit::expected(n, bits, k);
    (f64::from(visit.probes) + visit.candidates / 7.0) * NODE_NS
        < f64::from(n) * MEMORY_SCAN_ENTRY_NS
}

/// The number of nodes that cost as much as comparing all `n` fingerprints.
pub(super) fn nodes_worth_a_scan(n: usize) -> usize {
    n / NODE_SCANS
}

/// What looking into the buckets is expected to meet.
struct Visit {
    /// Buckets.
    probes: u32,
    /// Entries in them.
    candidates: f64,
    /// Entries whose stored 32 bits are near enough.
    survivors: f64,
}

impl Visit {
    fn expected(n: u32, bits: u32, k: u32) -> Self {
        let (bits, k) = (bits.min(BLOCK_BITS), k.min(DISTANCE_MAX));
        let reach = Reach::within(k);
        let bucket_entries = f64::from(n) / f64::from(1_u32 << bits);
        let mut probes = 0;
        let mut nearness = 0.0;
        for block in Block::ALL {
            for distance in 0..reach.of(block).min(bits + 1) {
                let buckets = choose(bits, distance);
                probes += buckets;
                nearness += f64::from(buckets) * share_within(k - distance);
            }
        }
        Self {
            probes,
            candidates: f64::from(probes) * bucket_entries,
            survivors: nearness * bucket_entries,
        }
    }
}

/// Binomial coefficients up to those of 32.
static CHOOSE: [[u32; 33]; 33] = pascal();

/// The number of ways to choose `count` of `from` things; 0 beyond 32.
fn choose(from: u32, count: u32) -> u32 {
    CHOOSE.get(from as usize).and_then(|row| row.get(count as usize)).copied().unwrap_or(0)
}

/// The share of all words of 32 bits that lie within `distance` of one.
fn share_within(distance: u32) -> f64 {
    SHARE_WITHIN.get(distance as usize).copied().unwrap_or(1.0)
}

/// Pascal's triangle.
#[expect(clippy::indexing_slicing, reason = "evaluated at compile time, where it would not build")]
const fn pascal() -> [[u32; 33]; 33] {
    let mut rows = [[0; 33]; 33];
    let mut from = 0;
    while from < 33 {
        rows[from][0] = 1;
        let mut count = 1;
        while count <= from {
            rows[from][count] = rows[from - 1][count - 1] + rows[from - 1][count];
            count += 1;
        }
        from += 1;
    }
    rows
}

/// See [`share_within`].
static SHARE_WITHIN: [f64; 33] = shares();

#[expect(clippy::indexing_slicing, reason = "evaluated at compile time, where it would not build")]
const fn shares() -> [f64; 33] {
    let last = pascal()[32];
    let mut shares = [0.0; 33];
    let mut words = 0_u64;
    let mut distance = 0;
    while distance < 33 {
        words += last[distance] as u64;
        shares[distance] = words as f64 / (1_u64 << 32) as f64;
        distance += 1;
    }
    shares
}
