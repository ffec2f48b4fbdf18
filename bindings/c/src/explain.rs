//! How a search was planned, and what it cost.

use std::ffi::{CString, c_char};
use std::ptr;

use simkeep::query::{ComponentSearch, Shape, Way};

use crate::abi::{self, plain};
use crate::call::{done, free, make, quiet};
use crate::failure::Failure;
use crate::matches::MatchColumns;
use crate::query::{self, Query};
use crate::snapshot::{self, SnapshotHandle};

/// How a segment finds fingerprints.
#[derive(Clone, Copy, Debug)]
#[repr(i32)]
pub enum ShapeCode {
    /// It is no segment: a memtable.
    Nothing = 0,
    /// It has no tables: the shards of its column are scanned.
    Column = 1,
    /// Four rotations.
    Rotations = 2,
    /// Two tables of cells.
    Cells = 3,
    /// Something that this version of the header does not name.
    Other = 4,
}

/// What a search does in a segment or a memtable.
#[derive(Clone, Copy, Debug)]
#[repr(i32)]
pub enum WayCode {
    /// It probes buckets of the rotations.
    Rotations = 1,
    /// It probes cells.
    Cells = 2,
    /// It scans.
    Scan = 3,
    /// Something that this version of the header does not name.
    Other = 4,
}

/// `has`: it is a segment, and has a number.
pub const SIMKEEP_COMPONENT_HAS_SEGMENT: u32 = 1;
/// `has`: there was a crowd, of which not all fingerprints were compared.
pub const SIMKEEP_COMPONENT_HAS_CROWDED: u32 = 2;
/// `has`: the system tells of page faults.
pub const SIMKEEP_COMPONENT_HAS_FAULTS: u32 = 4;

/// How one segment or memtable was searched.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Component {
    /// The number of the segment.
    pub segment: u64,
    /// How many distinct fingerprints of the epoch it has.
    pub fingerprints: u32,
    /// How it finds them, a `simkeep_shape`.
    pub shape: i32,
    /// What the search does there, a `simkeep_way`.
    pub way: i32,
    /// Which of the others there are: `SIMKEEP_COMPONENT_HAS_...`.
    pub has: u32,
    /// Buckets or cells that were expected to be looked into; 0 for a scan.
    pub expected_probes: f64,
    /// Entries that were expected to be compared.
    pub expected_candidates: f64,
    /// Memory lines of 64 bytes that were expected to be read.
    pub expected_lines: f64,
    /// Nanoseconds that were expected, on one core, from memory, without those for hits.
    pub expected_ns: f64,
    /// Buckets or cells that were looked into.
    pub probes: f64,
    /// Entries that were compared.
    pub candidates: f64,
    /// Memory lines that were read.
    pub lines: f64,
    /// Nanoseconds that it took.
    pub ns: f64,
    /// How many distinct near fingerprints were found.
    pub hits: u64,
    /// How many fingerprints of a crowd were compared.
    pub crowded: u64,
    /// Page faults that were served from memory.
    pub minor_faults: u64,
    /// Page faults that waited for the disk.
    pub major_faults: u64,
}

plain!(Component, up to major_faults);

/// How a search was planned, and what it cost and found. Nothing changes it: any thread may read it.
#[derive(Debug)]
pub struct Explanation {
    instruction_set: CString,
    components: Vec<Component>,
    matches: MatchColumns,
    took_ns: u64,
}

impl Component {
    fn new(of: &ComponentSearch) -> Component {
        let shape = match of.shape {
            None => ShapeCode::Nothing,
            Some(Shape::Column) => ShapeCode::Column,
            Some(Shape::Rotations(_)) => ShapeCode::Rotations,
            Some(Shape::Cells { .. }) => ShapeCode::Cells,
            Some(_) => ShapeCode::Other,
        };
        let way = match of.plan.way {
            Way::Rotations => WayCode::Rotations,
            Way::Cells => WayCode::Cells,
            Way::Scan => WayCode::Scan,
            _ => WayCode::Other,
        };
        let bits = [
            (of.segment.is_some(), SIMKEEP_COMPONENT_HAS_SEGMENT),
            (of.crowded.is_some(), SIMKEEP_COMPONENT_HAS_CROWDED),
            (of.faults.is_some(), SIMKEEP_COMPONENT_HAS_FAULTS),
        ];
        let (minor_faults, major_faults) = of.faults.unwrap_or((0, 0));
        let (expected, counted) = (&of.plan.expected, &of.counted);
        Component {
            segment: of.segment.unwrap_or(0),
            fingerprints: of.fingerprints,
            shape: shape as i32,
            way: way as i32,
            has: bits.iter().filter(|(is_there, _)| *is_there).map(|(_, bit)| bit).sum(),
            expected_probes: expected.probes,
            expected_candidates: expected.candidates,
            expected_lines: expected.lines,
            expected_ns: expected.ns,
            probes: counted.probes,
            candidates: counted.candidates,
            lines: counted.lines,
            ns: counted.ns,
            hits: of.hits as u64,
            crowded: of.crowded.unwrap_or(0).into(),
            minor_faults,
            major_faults,
        }
    }
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

/// What an explanation says, if there is one.
fn told<T>(
    name: &'static str,
    none: T,
    explanation: *const Explanation,
    tell: impl FnOnce(&Explanation) -> T,
) -> T {
    quiet(name, none, || abi::handle(explanation, "explanation").map(tell))
}

/// How many segments and memtables were searched; 0 for NULL. Any thread; costs nothing.
#[unsafe(no_mangle)]
pub extern "C" fn simkeep_explanation_count(explanation: *const Explanation) -> usize {
    told("simkeep_explanation_count", 0, explanation, |of| of.components.len())
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

/// What the search found. It belongs to the explanation, and lives as long; NULL for NULL. Any thread;
/// costs nothing.
#[unsafe(no_mangle)]
pub extern "C" fn simkeep_explanation_matches(
    explanation: *const Explanation,
) -> *const MatchColumns {
    told("simkeep_explanation_matches", ptr::null(), explanation, |of| ptr::from_ref(&of.matches))
}

/// How many nanoseconds the whole search took, with the lookup of pages; 0 for NULL. Any thread; costs
/// nothing.
#[unsafe(no_mangle)]
pub extern "C" fn simkeep_explanation_took_ns(explanation: *const Explanation) -> u64 {
    told("simkeep_explanation_took_ns", 0, explanation, |of| of.took_ns)
}

/// The instruction set that comparisons use: `avx512`, `avx2`, `popcnt` or `portable`, which ends with a
/// NUL. It lives as long as the explanation; NULL for NULL. Any thread; costs nothing.
#[unsafe(no_mangle)]
pub extern "C" fn simkeep_explanation_instruction_set(
    explanation: *const Explanation,
) -> *const c_char {
    told("simkeep_explanation_instruction_set", ptr::null(), explanation, |of| {
        of.instruction_set.as_ptr()
    })
}

/// Frees an explanation, and what it found. Does nothing for NULL. Any thread.
#[unsafe(no_mangle)]
pub extern "C" fn simkeep_explanation_free(explanation: Option<Box<Explanation>>) {
    free("simkeep_explanation_free", explanation);
}
