//! Explains the plan and the cost of a search.

use std::ffi::{CString, c_char};
use std::ptr;

use simkeep::query::{AccessPath, Shape};

use crate::abi;
use crate::call::{done, free, getters, make};
use crate::failure::Failure;
use crate::open::snapshot::{self, SnapshotHandle};
use crate::read::matches::MatchColumns;
use crate::read::query::{self, Query};
use crate::structure::{bits, code, structure};

code! {
    /// The index of a segment.
    pub enum ShapeCode from Option<Shape> {
        /// No index, for a memtable.
        Nothing = 0 of None,
        /// No tables: searches scan the shards of the column.
        Column = 1 of Some(Shape::Column),
        /// Four rotations.
        Rotations = 2 of Some(Shape::Rotations(_)),
        /// Two tables of cells.
        Cells = 3 of Some(Shape::Cells { .. }),
        /// A value that this version of the header does not name.
        Other = 4 of Some(_),
    }
}

code! {
    /// The method of a search in a segment or a memtable.
    pub enum AccessPathCode from AccessPath {
        /// The search probes buckets of the rotations.
        Rotations = 1 of AccessPath::Rotations,
        /// The search probes cells.
        Cells = 2 of AccessPath::Cells,
        /// The search scans.
        Scan = 3 of AccessPath::Scan,
        /// A value that this version of the header does not name.
        Other = 4 of _,
    }
}

/// `has`: the component is a segment, with a number.
pub const SIMKEEP_COMPONENT_SEARCH_HAS_SEGMENT: u32 = 1;
/// `has`: a dense region was not fully compared.
pub const SIMKEEP_COMPONENT_SEARCH_HAS_CROWDED: u32 = 2;
/// `has`: the system reports page faults.
pub const SIMKEEP_COMPONENT_SEARCH_HAS_FAULTS: u32 = 4;

structure! {
    /// The search in a single segment or memtable.
    pub struct ComponentSearch, up to major_faults, from of: &simkeep::query::ComponentSearch {
        /// The number of the segment.
        segment: u64 = of.segment.unwrap_or(0),
        fingerprints: u32,
        /// The index, a `simkeep_shape`.
        shape: i32 = ShapeCode::of(of.shape) as i32,
        /// The method of the search, a `simkeep_access_path`.
        access_path: i32 = AccessPathCode::of(of.plan.access_path) as i32,
        /// The optional fields that are set: `SIMKEEP_COMPONENT_SEARCH_HAS_...`.
        has: u32 = bits(&[
            (of.segment.is_some(), SIMKEEP_COMPONENT_SEARCH_HAS_SEGMENT),
            (of.crowded.is_some(), SIMKEEP_COMPONENT_SEARCH_HAS_CROWDED),
            (of.faults.is_some(), SIMKEEP_COMPONENT_SEARCH_HAS_FAULTS),
        ]),
        /// The expected number of buckets or cells to read; 0 for a scan.
        expected_probes: f64 = of.plan.expected.probes,
        /// The expected number of entries to compare.
        expected_candidates: f64 = of.plan.expected.candidates,
        /// The expected number of cache lines of 64 bytes to read.
        expected_lines: f64 = of.plan.expected.lines,
        /// The expected nanoseconds on one core with all data in memory, without the cost of hits.
        expected_ns: f64 = of.plan.expected.ns,
        /// The number of buckets or cells read.
        probes: f64 = of.counted.probes,
        /// The number of entries compared.
        candidates: f64 = of.counted.candidates,
        /// The number of cache lines read.
        lines: f64 = of.counted.lines,
        /// The time taken in nanoseconds.
        ns: f64 = of.counted.ns,
        /// The number of distinct near fingerprints found.
        hits: u64 = of.hits as u64,
        /// The number of fingerprints compared in a dense region.
        crowded: u64 = of.crowded.unwrap_or(0).into(),
        /// Page faults that were served from memory.
        minor_faults: u64 = of.faults.map_or(0, |(minor, _)| minor),
        /// Page faults that waited for the disk.
        major_faults: u64 = of.faults.map_or(0, |(_, major)| major),
    }
}

/// The plan of a search, its cost and its result. Immutable, so any thread may read it.
#[derive(Debug)]
pub struct Explanation {
    instruction_set: CString,
    components: Vec<ComponentSearch>,
    matches: MatchColumns,
    took_ns: u64,
}

/// Searches like `simkeep_snapshot_search`, and reports the plan and the cost. Free the result with
/// `simkeep_explanation_free`. Any thread. Costs a search, in one segment after another.
#[unsafe(no_mangle)]
pub extern "C" fn simkeep_snapshot_explain(
    snapshot: *const SnapshotHandle,
    query: *const Query,
    error: *mut *mut Failure,
) -> Option<Box<Explanation>> {
    make("simkeep_snapshot_explain", error, || {
        let snapshot = snapshot::open(snapshot)?.0;
        let of = simkeep::query::Explanation::of(snapshot, &query::read(query)?)?;
        Ok(Explanation {
            instruction_set: CString::new(of.instruction_set).unwrap_or_default(),
            components: of.components.iter().map(ComponentSearch::new).collect(),
            matches: MatchColumns::new(&[of.matches]),
            took_ns: u64::try_from(of.took.as_nanos()).unwrap_or(u64::MAX),
        })
    })
}

getters! {
    explanation: Explanation;

    /// Returns the number of segments and memtables searched; 0 for NULL. Any thread; costs
    /// nothing.
    fn simkeep_explanation_count -> usize = explanation.components.len();
}

/// Copies the search in segment or memtable `nth`, from 0, to where `component` points: the oldest
/// first, memtables last. `size` is `sizeof(simkeep_component_search)`. Any thread; costs nothing.
#[unsafe(no_mangle)]
pub extern "C" fn simkeep_explanation_get(
    explanation: *const Explanation,
    nth: usize,
    component: *mut ComponentSearch,
    size: usize,
    error: *mut *mut Failure,
) -> i32 {
    done("simkeep_explanation_get", error, || {
        let found = abi::handle(explanation, "explanation")?.components.get(nth);
        let found = found.ok_or_else(|| {
            Failure::argument("nth", "it must be less than the number of components")
        })?;
        abi::put_structure(component, size, found, "component")
    })
}

getters! {
    explanation: Explanation;

    /// Returns the result of the search. The result belongs to the explanation, and is valid as
    /// long as the explanation; NULL for NULL. Any thread; costs nothing.
    fn simkeep_explanation_matches -> *const MatchColumns = ptr::from_ref(&explanation.matches);
    /// Returns the nanoseconds of the whole search, including the lookup of pages; 0 for NULL. Any
    /// thread; costs nothing.
    fn simkeep_explanation_took_ns -> u64 = explanation.took_ns;
    /// Returns the instruction set of comparisons: `avx512`, `avx2`, `popcnt` or `portable`,
    /// NUL-terminated. Valid as long as the explanation; NULL for NULL. Any thread; costs nothing.
    fn simkeep_explanation_instruction_set -> *const c_char = explanation.instruction_set.as_ptr();
}

/// Frees an explanation and its result. Does nothing for NULL. Any thread.
#[unsafe(no_mangle)]
pub extern "C" fn simkeep_explanation_free(explanation: Option<Box<Explanation>>) {
    free("simkeep_explanation_free", explanation);
}
