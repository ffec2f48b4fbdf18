//! The tables of a set of fingerprints, and the search in these tables.

use super::candidate::{Candidate, HitSink};
use super::cells::Cells;
use super::column::{Column, scan};
use super::cost::Cost;
use super::line::CacheLine;
use super::lookup::{
    CellContext, CellLookup, RotationContext, RotationLookup, SingleProbe, WorkLimit,
};
use super::nearest::{Bounds, Completeness};
use super::outward::OutwardSearch;
use super::plan::{AccessPath, Planner, SearchPlan};
use super::probe::{FingerprintBlock, ProbeRadius, Probes};
use super::rotation::Rotations;
use super::shape::{INDEXED_MAX, Shape};
use super::shards::{DISTANCE_MAX, Shards};

/// The index of a column, with the columns of its [`Shape`].
#[derive(Clone, Debug)]
pub enum Index<C> {
    /// No tables, only the column itself.
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

/// A set of distinct fingerprints in canonical order, and the tables to search it.
///
/// Memory: the handles of the columns, 264 bytes of shards and as many for planning. Tables can be
/// shared between threads if the columns can.
#[derive(Clone, Debug)]
pub struct Tables<C> {
    /// Distinct fingerprints in canonical order: little-endian `u64`.
    pub(super) fingerprints: C,
    pub(super) shards: Shards,
    pub(super) index: Index<C>,
    planner: Planner,
}

impl<C> Tables<C> {
    /// Returns these tables with other columns, for example with borrowed columns that are faster
    /// to read.
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
    /// Creates the tables of a set from its columns. Reads no columns: damage is reported when a
    /// damaged part is read.
    ///
    /// # Errors
    ///
    /// Returns an error if the rotations are addressed by more than the 16 bits of a block, or if
    /// their buckets have no lines or more than 2^26; if there are no cells; or if there are more
    /// fingerprints than the 2^31 - 1 that tables support.
    pub fn new(fingerprints: C, shards: Shards, index: Index<C>) -> Result<Self, C::Error> {
        // These numbers come from the file. The numbers are checked here once, so that no search
        // overflows a place or an entry number.
        if let Index::Rotations(Rotations { address, .. }) = &index
            && !address.is_possible()
        {
            return Err(fingerprints.damaged(
                0,
                "the address of its tables is impossible for its number of fingerprints",
            ));
        }
        // `cell_of` would return cell 0, which does not exist.
        if matches!(&index, Index::Cells(cells) if cells.count == 0) {
            return Err(fingerprints.damaged(0, "it has a table without cells"));
        }
        if !matches!(index, Index::None) && shards.fingerprints() > INDEXED_MAX {
            return Err(
                fingerprints.damaged(0, "it has more fingerprints than its tables can contain")
            );
        }
        let planner = Planner::new(index.shape(), shards.fingerprints());
        Ok(Self { fingerprints, shards, index, planner })
    }

    /// Returns the number of fingerprints.
    #[must_use]
    pub fn len(&self) -> u32 {
        self.shards.fingerprints()
    }

    /// Whether there are no fingerprints.
    #[cfg(feature = "internals")]
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the shape of the index.
    #[must_use]
    pub fn shape(&self) -> Shape {
        self.index.shape()
    }

    /// Returns the plan of [`find`](Self::find). Reads nothing.
    #[must_use]
    pub fn plan(&self, fingerprint: u64, k: u32) -> SearchPlan {
        let k = k.min(DISTANCE_MAX);
        let scanned = self.shards.around(fingerprint.count_ones(), k);
        self.planner.plan(k, scanned.end - scanned.start)
    }

    fn access_path(&self, fingerprint: u64, k: u32) -> AccessPath {
        let scanned = self.shards.around(fingerprint.count_ones(), k);
        self.planner.access_path(k, scanned.end - scanned.start)
    }

    /// Passes every fingerprint within distance `k` of `fingerprint` to `finds`, each once, in no
    /// particular order, with place 0. Exact for every `k`; a `k` of 64 or more finds all
    /// fingerprints.
    ///
    /// Cost: the cost that [`plan`](Self::plan) expects, plus 10 to 30 ns for each hit. In the
    /// worst case, for any fingerprints, a search reads each column once; in damaged tables, each
    /// probe may read each column once. Allocates only if an entry is near.
    ///
    /// # Errors
    ///
    /// Returns an error if a column cannot be read or contradicts itself; some hits may have been
    /// passed on before.
    pub fn find(&self, fingerprint: u64, k: u32, finds: &mut dyn HitSink) -> Result<(), C::Error> {
        let k = k.min(DISTANCE_MAX);
        // The way depends on the fingerprint, too: popcounts in
        // the middle have the largest shards, so scans cost more.
        let way = self.access_path(fingerprint, k);
        // Up to k = 3: four buckets at most, without rounds and their buffers.
        if let Some(ground) = self.single_probe_context(way, k) {
            let mut own = SingleProbe::new(ground, fingerprint);
            own.begin();
            own.go_on()?;
            return own.finish(finds, WorkLimit::endless).map(drop);
        }
        self.find_by(way, 0, &[fingerprint], k, finds)
    }

    /// Finds fingerprints like [`find`](Self::find), but only through the tables, and within
    /// `bounds`. Returns whether the result is complete. If the result is incomplete, drop it and
    /// call [`nearest`](Self::nearest).
    ///
    /// # Errors
    ///
    /// Returns the errors of [`find`](Self::find).
    #[inline]
    pub fn find_within(
        &self,
        fingerprint: u64,
        k: u32,
        bounds: &Bounds,
        finds: &mut dyn HitSink,
    ) -> Result<bool, C::Error> {
        let k = k.min(DISTANCE_MAX);
        let way = self.access_path(fingerprint, k);
        if let Some(ground) = self.single_probe_context(way, k) {
            let mut own = SingleProbe::new(ground, fingerprint);
            own.begin();
            own.go_on()?;
            return own.finish(finds, || self.work_limit(k, bounds));
        }
        // `nearest` has the better scan: outward from the query, and no farther than needed.
        if way == AccessPath::Scan {
            return Ok(false);
        }
        let patience = self.work_limit(k, bounds);
        Ok(self.find_through(way, 0, &[fingerprint], k, patience, finds)?.is_empty())
    }

    /// Returns a [`find`](Self::find) in steps, to search several sets concurrently: memory
    /// accesses of one set overlap with work on others.
    #[inline]
    pub(crate) fn steps(&self, fingerprint: u64, k: u32) -> SearchSteps<'_, C> {
        let k = k.min(DISTANCE_MAX);
        let way = self.access_path(fingerprint, k);
        // Only plain searches of rotations have steps. Other searches have many lines in flight by
        // themselves.
        let own =
            self.single_probe_context(way, k).map(|ground| SingleProbe::new(ground, fingerprint));
        SearchSteps { tables: self, fingerprint, k, way, single_probe: own }
    }

    /// Runs [`find_within`](Self::find_within) for many queries. Returns the indexes of the queries
    /// with incomplete results, which must be dropped.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`find`](Self::find).
    #[expect(clippy::indexing_slicing, reason = "queries that are alike are one at least")]
    pub fn find_in_tables(
        &self,
        queries: &[u64],
        k: u32,
        bounds: &Bounds,
        finds: &mut dyn HitSink,
    ) -> Result<Vec<usize>, C::Error> {
        let k = k.min(DISTANCE_MAX);
        // One query has no neighbour to interleave with, and the path for a single query is
        // shorter.
        if let [query] = queries {
            let all = self.find_within(*query, k, bounds, finds)?;
            return Ok(if all { Vec::new() } else { vec![0] });
        }
        let mut others = Vec::new();
        let mut start = 0;
        // Queries of a batch may be answered in different ways, since shards differ in size.
        // Consecutive queries with the same way are answered together, which keeps the order of
        // places.
        for alike in queries.chunk_by(|a, b| self.access_path(*a, k) == self.access_path(*b, k)) {
            let way = self.access_path(alike[0], k);
            if way == AccessPath::Scan {
                others.extend(start..start + alike.len());
            } else {
                // The limit applies to each query, so one instance is enough for the whole run.
                let patience = self.work_limit(k, bounds);
                others.append(&mut self.find_through(way, start, alike, k, patience, finds)?);
            }
            start += alike.len();
        }
        Ok(others)
    }

    /// Appends to `out` the nearest fingerprints within `k`, by a scan that stops as early as
    /// possible. The [`Completeness`] states how complete the result is. If
    /// [`find_in_tables`](Self::find_in_tables) gave up, only [`Bounds::fingerprints`] are
    /// compared, and values within one bit are looked up. In all other cases the result is
    /// complete.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`find`](Self::find).
    pub fn nearest(
        &self,
        fingerprint: u64,
        k: u32,
        bounds: &Bounds,
        out: &mut Vec<Candidate>,
    ) -> Result<Completeness, C::Error> {
        let k = k.min(DISTANCE_MAX);
        let Self { fingerprints, shards, .. } = self;
        // If the model prefers the tables, a scan of all shards costs more than a search may cost.
        // In this case `bounds.fingerprints` limits the scan.
        let crowded = self.access_path(fingerprint, k) != AccessPath::Scan;
        OutwardSearch { fingerprints, shards, query: fingerprint, k }.find(bounds, crowded, out)
    }

    /// Returns the work limit of a query within `k` on dense buckets: one looked-up entry for every
    /// two nanoseconds of the tables' expected time, plus a number that depends on the bounds.
    fn work_limit(&self, k: u32, bounds: &Bounds) -> WorkLimit {
        /// The number of fingerprints that a scan compares in the time of one look-up.
        const SCANNED: usize = 16;
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a duration")]
        // Uniformly distributed data should not reach the limit, so the model's expectation is
        // added to the bounds.
        let expected = self.planner.tables_ns(k) as usize / 2;
        WorkLimit::of(bounds.fingerprints as usize / SCANNED + expected)
    }

    /// Passes all fingerprints within distance `k` of each query to `finds`, with the index of the
    /// query. Exact, like [`find`](Self::find).
    ///
    /// Memory accesses of one query overlap with comparisons of other queries. So each query costs
    /// between a third and all of the time of a single query, less for narrower distances.
    /// Allocates only if an entry is near.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`find`](Self::find).
    #[expect(clippy::indexing_slicing, reason = "queries that are alike are one at least")]
    pub fn find_each(
        &self,
        queries: &[u64],
        k: u32,
        finds: &mut dyn HitSink,
    ) -> Result<(), C::Error> {
        let k = k.min(DISTANCE_MAX);
        // Consecutive queries mostly have the same way. The queries of each run with the same way
        // are interleaved.
        let mut start = 0;
        for alike in queries.chunk_by(|a, b| self.access_path(*a, k) == self.access_path(*b, k)) {
            self.find_by(self.access_path(alike[0], k), start, alike, k, finds)?;
            start += alike.len();
        }
        Ok(())
    }

    /// Finds all fingerprints within `k` of each query by the way `access_path`, which may not be
    /// the best way. Scans if there are no tables for this way. The indexes of queries are counted
    /// from
    /// `start`.
    pub(super) fn find_by(
        &self,
        way: AccessPath,
        start: usize,
        queries: &[u64],
        k: u32,
        finds: &mut dyn HitSink,
    ) -> Result<(), C::Error> {
        self.find_through(way, start, queries, k, WorkLimit::endless(), finds).map(drop)
    }

    /// Finds all near fingerprints by the way `access_path`, within a work limit. Returns the
    /// queries that exceeded the limit. The results of these queries are incomplete.
    fn find_through(
        &self,
        way: AccessPath,
        start: usize,
        queries: &[u64],
        k: u32,
        patience: WorkLimit,
        finds: &mut dyn HitSink,
    ) -> Result<Vec<usize>, C::Error> {
        let places = (start..).zip(queries);
        match (way, &self.index) {
            // Queries stay in flight until `finish`: the lines of one query arrive while the lines
            // of the next queries are prefetched.
            (AccessPath::Rotations, Index::Rotations(rotations)) => {
                let ground = self.rotation_context(rotations, k);
                let mut lookup = RotationLookup::new(ground, patience, finds);
                for (place, query) in places {
                    lookup.query(place, *query)?;
                }
                lookup.finish()
            }
            (AccessPath::Cells, Index::Cells(cells)) => {
                let mut lookup = CellLookup::new(self.cell_context(cells, k), patience, finds);
                for (place, query) in places {
                    lookup.query(place, *query)?;
                }
                lookup.finish()
            }
            _ => {
                for (place, query) in places {
                    self.scan(*query, k, &mut |candidate| finds.hit(place, candidate))?;
                }
                Ok(Vec::new())
            }
        }
    }

    /// Returns the rotations to probe, if only the query's own bucket of each is needed.
    #[inline]
    fn single_probe_context(&self, way: AccessPath, k: u32) -> Option<RotationContext<'_, C>> {
        let (AccessPath::Rotations, Index::Rotations(rotations)) = (way, &self.index) else {
            return None;
        };
        // Beyond k = 3 some rotation has reach 2, so a search probes more buckets than the query's
        // own.
        Some(self.rotation_context(rotations, k)).filter(|ground| ground.reach.is_plain())
    }

    #[inline]
    fn rotation_context<'c>(
        &'c self,
        rotations: &'c Rotations<C>,
        k: u32,
    ) -> RotationContext<'c, C> {
        let (fingerprints, shards, n) = (&self.fingerprints, &self.shards, self.len());
        RotationContext { fingerprints, shards, n, rotations, k, reach: ProbeRadius::within(k) }
    }

    fn cell_context<'c>(&'c self, cells: &'c Cells<C>, k: u32) -> CellContext<'c, C> {
        CellContext { fingerprints: &self.fingerprints, n: self.len(), cells, k }
    }

    /// Counts the work of [`find`](Self::find), without time: probes, candidates (including empty
    /// places of buckets and cells, which are compared, too), and cache lines except the lines of
    /// looked-up entries. Costs about as much as the search.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`find`](Self::find).
    pub fn count(&self, fingerprint: u64, k: u32) -> Result<Cost, C::Error> {
        let k = k.min(DISTANCE_MAX);
        let mut cost = Cost::default();
        match (self.access_path(fingerprint, k), &self.index) {
            (AccessPath::Rotations, Index::Rotations(rotations)) => {
                let ground = self.rotation_context(rotations, k);
                let bits = rotations.address.bits;
                let probes = |block| Probes::new(block, fingerprint, bits, ground.reach);
                for probe in FingerprintBlock::ALL.into_iter().flat_map(probes) {
                    cost.probes += 1.0;
                    // The bytes of the bucket, and of its part of the rest if the bucket continues
                    // there.
                    for bytes in ground.bytes(probe)?.into_iter().filter(|b| !b.is_empty()) {
                        cost.candidates += bytes.len() as f64 / 2.0;
                        cost.lines += lines_of(bytes) as f64;
                    }
                }
            }
            (AccessPath::Cells, Index::Cells(cells)) => {
                cost = self.cell_context(cells, k).count(fingerprint)?;
            }
            _ => {
                let scanned = self.shards.around(fingerprint.count_ones(), k);
                cost.candidates = f64::from(scanned.end - scanned.start);
                cost.lines = (cost.candidates / 8.0).ceil();
            }
        }
        Ok(cost)
    }

    /// Checks that each table has every fingerprint exactly once, in its place. Reads all columns.
    ///
    /// # Errors
    ///
    /// Returns an error if a column cannot be read, or an entry is invalid.
    pub fn check(&self) -> Result<(), C::Error> {
        match &self.index {
            Index::None => Ok(()),
            Index::Rotations(rotations) => rotations.check(&self.fingerprints, self.len()),
            Index::Cells(cells) => cells.check(&self.fingerprints, self.len()),
        }
    }

    /// Compares all fingerprints whose popcount is near enough.
    pub(super) fn scan(
        &self,
        fingerprint: u64,
        k: u32,
        found: &mut dyn FnMut(Candidate),
    ) -> Result<(), C::Error> {
        let around = self.shards.around(fingerprint.count_ones(), k);
        scan(&self.fingerprints, around, fingerprint, k, found)
    }
}

/// A search in three steps, each called once: [`begin`](Self::begin), [`go_on`](Self::go_on),
/// [`finish`](Self::finish). Each step prefetches the cache lines that the next step reads.
pub(crate) struct SearchSteps<'c, C> {
    tables: &'c Tables<C>,
    fingerprint: u64,
    k: u32,
    way: AccessPath,
    /// The search, if it has steps; other searches run entirely in the last step.
    single_probe: Option<SingleProbe<'c, C>>,
}

impl<C: Column> SearchSteps<'_, C> {
    /// Runs the first step.
    #[inline]
    pub(crate) fn begin(&mut self) {
        // No error is possible yet: a prefetch reads nothing.
        if let Some(own) = &mut self.single_probe {
            own.begin();
        }
    }

    /// Runs the second step.
    #[inline]
    pub(crate) fn go_on(&mut self) -> Result<(), C::Error> {
        self.single_probe.as_mut().map_or(Ok(()), SingleProbe::go_on)
    }

    /// Runs the last step, and passes on the hits.
    #[inline]
    pub(crate) fn finish(&mut self, finds: &mut dyn HitSink) -> Result<(), C::Error> {
        match &mut self.single_probe {
            Some(own) => own.finish(finds, WorkLimit::endless).map(drop),
            None => self.tables.find_by(self.way, 0, &[self.fingerprint], self.k, finds),
        }
    }

    /// Runs the last step within bounds. Returns whether the result is complete, as in
    /// [`find_within`](Tables::find_within).
    #[inline]
    pub(crate) fn finish_within(
        &mut self,
        bounds: &Bounds,
        finds: &mut dyn HitSink,
    ) -> Result<bool, C::Error> {
        let &mut Self { tables, fingerprint, k, way, single_probe: ref mut own } = self;
        if way == AccessPath::Scan {
            return Ok(false);
        }
        // The limit is a closure, since most searches find nothing near and never compute it.
        let patience = || tables.work_limit(k, bounds);
        match own {
            Some(own) => own.finish(finds, patience),
            None => {
                let queries = &[fingerprint];
                Ok(tables.find_through(way, 0, queries, k, patience(), finds)?.is_empty())
            }
        }
    }
}

/// Returns the number of cache lines that contain `bytes`.
fn lines_of(bytes: &[u8]) -> usize {
    // Buckets are aligned to lines within their column. The rest is not aligned, so its bytes may
    // touch one line more.
    let start = bytes.as_ptr().addr() % size_of::<CacheLine>();
    (start + bytes.len()).div_ceil(size_of::<CacheLine>())
}
