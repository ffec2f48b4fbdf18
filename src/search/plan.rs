//! Chooses by cost: the shape of new tables, and whether a query probes the tables or scans the
//! shards.

use super::cost::{Cost, ProbeEstimate};
use super::shape::Shape;
use super::shards::DISTANCE_MAX;

impl Shape {
    /// Returns the shape with the fastest expected search of `n` fingerprints within `k`, among the
    /// shapes that take at most `bytes_max` for each fingerprint. This function is fast and pure.
    ///
    /// ```
    /// use simkeep::query::Shape;
    ///
    /// assert_eq!(Shape::choose(500, 3, 48), Shape::Column);
    /// assert!(matches!(Shape::choose(1_000_000, 3, 48), Shape::Rotations(_)));
    /// assert!(matches!(Shape::choose(100_000_000, 3, 48), Shape::Cells { .. }));
    /// // No more than the column itself.
    /// assert_eq!(Shape::choose(1_000_000, 3, 16), Shape::Column);
    /// ```
    #[must_use]
    pub fn choose(n: u32, k: u32, bytes_max: u32) -> Self {
        let fits = |shape: &Self| shape.bytes_each(n) <= f64::from(bytes_max);
        let cost = |shape: &Self| Cost::of_search(*shape, n, k).ns;
        let shapes = Self::all(n).into_iter().flatten().filter(fits);
        // `min_by` keeps the first of equal costs, and the shape without tables comes first. So
        // tables are chosen only if they are faster.
        shapes.min_by(|a, b| cost(a).total_cmp(&cost(b))).unwrap_or(Self::Column)
    }
}

/// A way to find all fingerprints within a distance. All ways give the same result.
///
/// ```
/// # use simkeep::{Observation, Options, Query, Store, Time};
/// use simkeep::query::{AccessPath, Explanation};
/// # fn main() -> simkeep::Result<()> {
/// # let dir = tempfile::tempdir().unwrap();
/// # let store = Store::create(dir.path().join("store"), Options::default())?;
/// let (url, epoch) = ("https://example.com/", store.change_epoch());
/// store.observe(Observation::content(url, Time::now(), 7, epoch))?;
/// store.seal()?;
/// for search in Explanation::of(&store.snapshot(), &Query::new(7, 3))?.components {
///     // A single fingerprint needs no tables.
///     assert_eq!(search.plan.access_path, AccessPath::Scan);
/// }
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum AccessPath {
    /// Probes the buckets of the rotations that the pigeonhole principle selects.
    Rotations,
    /// Probes the cells of all codewords within the required distance.
    Cells,
    /// Scans the shards of the canonical column whose popcount is within the distance.
    Scan,
}

/// The plan of a query and its expected cost.
///
/// ```
/// # use simkeep::{Observation, Options, Query, Store, Time};
/// use simkeep::query::Explanation;
/// # fn main() -> simkeep::Result<()> {
/// # let dir = tempfile::tempdir().unwrap();
/// # let store = Store::create(dir.path().join("store"), Options::default())?;
/// let (url, epoch) = ("https://example.com/", store.change_epoch());
/// store.observe(Observation::content(url, Time::now(), 7, epoch))?;
/// store.seal()?;
/// let explanation = Explanation::of(&store.snapshot(), &Query::new(7, 3))?;
/// let plan = explanation.components[0].plan;
/// println!("{:?}, {:.0} ns expected", plan.access_path, plan.expected.ns);
/// assert!(plan.expected.ns > 0.0);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct SearchPlan {
    /// The cheapest way.
    pub access_path: AccessPath,
    /// The expected cost of the method.
    pub expected: Cost,
}

/// Chooses a way for each query on a column, from precomputed costs.
#[derive(Clone, Debug)]
pub(super) struct Planner {
    shape: Shape,
    n: u32,
    /// For each distance, the number of fingerprints that a scan compares in the time of a search
    /// in the tables.
    worth: [f32; DISTANCE_MAX as usize + 1],
    /// For each distance, the expected nanoseconds of the tables; 0 without tables.
    tables_ns: [f32; DISTANCE_MAX as usize + 1],
}

impl Planner {
    pub(super) fn new(shape: Shape, n: u32) -> Self {
        let mut worth = [0.0; DISTANCE_MAX as usize + 1];
        let mut tables_ns = [0.0; DISTANCE_MAX as usize + 1];
        // A scan costs a fixed wait plus a constant time for each fingerprint. So the choice
        // between both ways is a single threshold per k, and a query compares two numbers instead
        // of evaluating the model.
        let each = Cost::of_scan(n, 1.0).ns - Cost::of_scan(n, 0.0).ns;
        for ((k, worth), tables_ns) in (0..).zip(&mut worth).zip(&mut tables_ns) {
            let tables = Cost::of_tables(shape, n, k);
            #[expect(clippy::cast_possible_truncation, reason = "seven digits are plenty")]
            let scanned = tables
                .map_or(0.0, |tables| (tables.ns - Cost::of_scan(n, 0.0).ns).max(0.0) / each)
                as f32;
            // Without tables for this k the threshold is infinite, and `access_path` always scans.
            *worth = if tables.is_some() { scanned } else { f32::INFINITY };
            #[expect(clippy::cast_possible_truncation, reason = "seven digits are plenty")]
            let ns = tables.map_or(0.0, |tables| tables.ns) as f32;
            *tables_ns = ns;
        }
        Self { shape, n, worth, tables_ns }
    }

    /// Returns the way for a query within `k`, at most 64, if a scan would compare `scanned`
    /// fingerprints.
    #[inline]
    #[expect(clippy::indexing_slicing, reason = "there is a worth for each distance up to 64")]
    pub(super) fn access_path(&self, k: u32, scanned: u32) -> AccessPath {
        match self.shape {
            // This arm comes first: existing tables are used only if a scan would compare more
            // fingerprints than the threshold.
            _ if scanned as f32 <= self.worth[k as usize] => AccessPath::Scan,
            Shape::Column => AccessPath::Scan,
            Shape::Rotations(_) => AccessPath::Rotations,
            Shape::Cells { .. } => AccessPath::Cells,
        }
    }

    /// Returns the expected nanoseconds of the tables within `k`, at most 64.
    #[expect(clippy::indexing_slicing, reason = "there is a figure for each distance up to 64")]
    pub(super) fn tables_ns(&self, k: u32) -> f32 {
        self.tables_ns[k as usize]
    }

    #[expect(clippy::expect_used, reason = "tables are a way only where they have a cost")]
    pub(super) fn plan(&self, k: u32, scanned: u32) -> SearchPlan {
        let way = self.access_path(k, scanned);
        let expected = match way {
            AccessPath::Scan => Cost::of_scan(self.n, scanned.into()),
            AccessPath::Rotations | AccessPath::Cells => {
                Cost::of_tables(self.shape, self.n, k).expect("the tables have a cost")
            }
        };
        SearchPlan { access_path: way, expected }
    }
}

/// Nanoseconds for a node of a chain of the index in memory: one line.
const NODE_NS: f64 = NODE_SCANS as f64 * MEMORY_SCAN_ENTRY_NS;
/// Nanoseconds for an entry of a scan of the index in memory, probably from a cache.
const MEMORY_SCAN_ENTRY_NS: f64 = 0.12;
/// The number of entries that a scan of the index in memory compares in the time of a node.
const NODE_SCANS: usize = 150;

/// Decides whether the index in memory follows its chains or compares all `n` fingerprints.
///
/// The cost model of segments is used, with `NODE_NS` for each node: one node for each bucket, and
/// one more for every nine entries.
pub(super) fn plan_chains(n: u32, bits: u32, k: u32) -> SearchPlan {
    let ProbeEstimate { probes, candidates, .. } = ProbeEstimate::of_rotations(n, bits, k);
    // A probe reads at least one node, and nodes have nine entries.
    let nodes = probes + candidates / 9.0;
    let all = f64::from(n);
    let (follow_ns, scan_ns) = (nodes * NODE_NS, all * MEMORY_SCAN_ENTRY_NS);
    if follow_ns < scan_ns {
        let expected = Cost { probes, candidates, lines: nodes, ns: follow_ns };
        SearchPlan { access_path: AccessPath::Rotations, expected }
    } else {
        let expected = Cost { probes: 0.0, candidates: all, lines: all / 8.0, ns: scan_ns };
        SearchPlan { access_path: AccessPath::Scan, expected }
    }
}

/// Returns the number of nodes that cost as much as comparing all `n` fingerprints.
pub(super) fn nodes_worth_a_scan(n: usize) -> usize {
    n / NODE_SCANS
}
