//! How a search was planned, and what it cost.

use std::ffi::{CString, c_char};
use std::ptr;

use simkeep::query::{ComponentSearch, Shape, Way};

use crate::abi;
use crate::call::{done, free, getters, make};
use crate::failure::Failure;
use crate::open::snapshot::{self, SnapshotHandle};
use crate::read::matches::MatchColumns;
use crate::read::query::{self, Query};
use crate::structure::{bits, code, structure};

code! {
    /// How a segment finds fingerprints.
    pub enum ShapeCode from Option<Shape> {
        /// It is no segment: a memtable.
        Nothing = 0 of None,
        /// It has no tables: the shards of its column are scanned.
        Column = 1 of Some(Shape::Column),
        /// Four rotations.
        Rotations = 2 of Some(Shape::Rotations(_)),
        /// Two tables of cells.
        Cells = 3 of Some(Shape::Cells { .. }),
        /// Something that this version of the header does not name.
        Other = 4 of Some(_),
    }
}

code! {
    /// What a search does in a segment or a memtable.
    pub enum WayCode from Way {
        /// It probes buckets of the rotations.
        Rotations = 1 of Way::Rotations,
        /// It probes cells.
        Cells = 2 of Way::Cells,
        /// It scans.
        Scan = 3 of Way::Scan,
        /// Something that this version of the header does not name.
        Other = 4 of _,
    }
}

/// `has`: it is a segment, and has a number.
pub const SIMKEEP_COMPONENT_HAS_SEGMENT: u32 = 1;
/// `has`: there was a crowd, of which not all fingerprints were compared.
pub const SIMKEEP_COMPONENT_HAS_CROWDED: u32 = 2;
/// `has`: the system tells of page faults.
pub const SIMKEEP_COMPONENT_HAS_FAULTS: u32 = 4;

structure! {
    /// How one segment or memtable was searched.
    pub struct Component, up to major_faults, from of: &ComponentSearch {
        /// The number of the segment.
        segment: u64 = of.segment.unwrap_or(0),
        fingerprints: u32,
        /// How it finds them, a `simkeep_shape`.
        shape: i32 = ShapeCode::of(of.shape) as i32,
        /// What the search does there, a `simkeep_way`.
        way: i32 = WayCode::of(of.plan.way) as i32,
        /// Which of the others there are: `SIMKEEP_COMPONENT_HAS_...`.
        has: u32 = bits(&[
            (of.segment.is_some(), SIMKEEP_COMPONENT_HAS_SEGMENT),
            (of.crowded.is_some(), SIMKEEP_COMPONENT_HAS_CROWDED),
            (of.faults.is_some(), SIMKEEP_COMPONENT_HAS_FAULTS),
        ]),
        /// Buckets or cells that were expected to be looked into; 0 for a scan.
        expected_probes: f64 = of.plan.expected.probes,
        /// Entries that were expected to be compared.
        expected_candidates: f64 = of.plan.expected.candidates,
        /// Memory lines of 64 bytes that were expected to be read.
        expected_lines: f64 = of.plan.expected.lines,
        /// Nanoseconds that were expected, on one core, from memory, without those for hits.
        expected_ns: f64 = of.plan.expected.ns,
        /// Buckets or cells that were looked into.
        probes: f64 = of.counted.probes,
        /// Entries that were compared.
        candidates: f64 = of.counted.candidates,
        /// Memory lines that were read.
        lines: f64 = of.counted.lines,
        /// Nanoseconds that it took.
        ns: f64 = of.counted.ns,
        /// How many distinct near fingerprints were found.
        hits: u64 = of.hits as u64,
        /// How many fingerprints of a crowd were compared.
        crowded: u64 = of.crowded.unwrap_or(0).into(),
        /// Page faults that were served from memory.
        minor_faults: u64 = of.faults.map_or(0, |(minor, _)| minor),
        /// Page faults that waited for the disk.
        major_faults: u64 = of.faults.map_or(0, |(_, major)| major),
    }
}

/// How a search was planned, and what it cost and found. Nothing changes it: any thread may read it.
#[derive(Debug)]
pub struct Explanation {
    instruction_set: CString,
    components: Vec<Component>,
    matches: MatchColumns,
    took_ns: u64,
}

/// Searches as `simkeep_snapshot_search` does, and says how that was planned and what it cost. The
/// caller frees what it gets with `simkeep_explanation_free`. Any thread. Costs a search, in one segment
/// after another.
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
            components: of.components.iter().map(Component::new).collect(),
            matches: MatchColumns::new(&[of.matches]),
            took_ns: u64::try_from(of.took.as_nanos()).unwrap_or(u64::MAX),
        })
    })
}

getters! {
    explanation: Explanation;

    /// How many segments and memtables were searched; 0 for NULL. Any thread; costs nothing.
    fn simkeep_explanation_count -> usize = explanation.components.len();
}

/// Copies how segment or memtable `nth` was searched, from 0, to where `component` points: the oldest
/// first, memtables last. `size` is `sizeof(simkeep_component)`. Any thread; costs nothing.
#[unsafe(no_mangle)]
pub extern "C" fn simkeep_explanation_get(
    explanation: *const Explanation,
    nth: usize,
    component: *mut Component,
    size: usize,
    error: *mut *mut Failure,
) -> i32 {
    done("simkeep_explanation_get", error, || {
        let found = abi::handle(explanation, "explanation")?.components.get(nth);
        let found = found.ok_or_else(|| Failure::argument("nth", "there are not so many"))?;
        abi::put_structure(component, size, found, "component")
    })
}

getters! {
    explanation: Explanation;

    /// What the search found. It belongs to the explanation, and lives as long; NULL for NULL. Any
    /// thread; costs nothing.
    fn simkeep_explanation_matches -> *const MatchColumns = ptr::from_ref(&explanation.matches);
    /// How many nanoseconds the whole search took, with the lookup of pages; 0 for NULL. Any thread;
    /// costs nothing.
    fn simkeep_explanation_took_ns -> u64 = explanation.took_ns;
    /// The instruction set that comparisons use: `avx512`, `avx2`, `popcnt` or `portable`, which ends
    /// with a NUL. It lives as long as the explanation; NULL for NULL. Any thread; costs nothing.
    fn simkeep_explanation_instruction_set -> *const c_char = explanation.instruction_set.as_ptr();
}

/// Frees an explanation, and what it found. Does nothing for NULL. Any thread.
#[unsafe(no_mangle)]
pub extern "C" fn simkeep_explanation_free(explanation: Option<Box<Explanation>>) {
    free("simkeep_explanation_free", explanation);
}
