//! The plans and costs of a search, for `near --explain`.

use schemars::JsonSchema;
use serde::Serialize;
use simkeep::query::{AccessPath, ComponentSearch, Explanation, Shape};

use crate::exit::VerbError;
use crate::output::Output;
use crate::output::table::{TextTable, left, right};
use crate::output::words;

/// The name of a search structure.
pub(crate) fn shape(shape: Shape) -> &'static str {
    match shape {
        Shape::Column => "column",
        Shape::Rotations(_) => "rotations",
        Shape::Cells { .. } => "cells",
        _ => "other",
    }
}

/// The name of the search structure of a component.
fn shape_of(component: &ComponentSearch) -> &'static str {
    component.shape.map_or("chains", shape)
}

fn way(component: &ComponentSearch) -> &'static str {
    match (component.plan.access_path, component.shape) {
        (AccessPath::Scan, _) => "scan",
        (AccessPath::Rotations, None) => "chains",
        (AccessPath::Rotations, Some(_)) => "rotations",
        (AccessPath::Cells, _) => "cells",
        _ => "other",
    }
}

fn name(component: &ComponentSearch) -> String {
    component.segment.map_or_else(|| "memtable".to_owned(), |id| format!("segment {id}"))
}

/// The plans and costs of a search.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Explanation")]
pub(crate) struct SearchExplanation<'a> {
    /// The instruction set of the processor that the search used.
    instruction_set: &'a str,
    elapsed_seconds: f64,
    /// The searched components of the store, the oldest first.
    components: Vec<ComponentExplanation>,
}

/// The plan and costs of a search in one component: a segment or a memtable.
#[derive(Serialize, JsonSchema)]
struct ComponentExplanation {
    /// The number of the segment; null for a memtable.
    segment: Option<u64>,
    fingerprints: u32,
    /// The search structure of its fingerprints.
    shape: &'static str,
    /// The plan that was chosen.
    way: &'static str,
    expected: CostEstimate,
    counted: CostEstimate,
    /// The number of fingerprints found.
    hits: usize,
    faults: Option<PageFaultCounts>,
}

/// The cost of a search.
#[derive(Serialize, JsonSchema)]
struct CostEstimate {
    probes: f64,
    candidates: f64,
    /// The number of cache lines read.
    lines: f64,
    elapsed_seconds: f64,
}

/// Page faults during the search.
#[derive(Serialize, JsonSchema)]
struct PageFaultCounts {
    minor_faults: u64,
    /// The number of page faults that read from the disk.
    major_faults: u64,
}

impl From<simkeep::query::Cost> for CostEstimate {
    fn from(cost: simkeep::query::Cost) -> CostEstimate {
        let simkeep::query::Cost { probes, candidates, lines, ns, .. } = cost;
        CostEstimate { probes, candidates, lines, elapsed_seconds: ns / 1e9 }
    }
}

impl<'a> From<&'a Explanation> for SearchExplanation<'a> {
    fn from(explanation: &'a Explanation) -> SearchExplanation<'a> {
        let components = explanation.components.iter().map(|component| ComponentExplanation {
            segment: component.segment,
            fingerprints: component.fingerprints,
            shape: shape_of(component),
            way: way(component),
            expected: component.plan.expected.into(),
            counted: component.counted.into(),
            hits: component.hits,
            faults: component
                .faults
                .map(|(minor_faults, major_faults)| PageFaultCounts { minor_faults, major_faults }),
        });
        SearchExplanation {
            instruction_set: explanation.instruction_set,
            elapsed_seconds: explanation.took.as_secs_f64(),
            components: components.collect(),
        }
    }
}

/// Prints the explanation as a table: for each component, a row with the actual cost, and a row
/// with the expected cost below it.
pub(crate) fn print(explanation: &Explanation, output: &mut Output) -> Result<(), VerbError> {
    let numbers =
        ["probes", "candidates", "cache lines", "microseconds", "hits", "page faults"].map(right);
    let columns = [left("searched"), right("fingerprints"), left("shape"), left("access path")];
    let mut table = TextTable::new(columns.into_iter().chain(numbers));
    for component in &explanation.components {
        let (expected, counted) = (component.plan.expected, component.counted);
        let faults = component.faults.map_or_else(String::new, |(minor, major)| match major {
            0 => words::count(minor),
            _ => format!("{}, {major} from disk", words::count(minor + major)),
        });
        table.row(
            [
                name(component),
                words::count(component.fingerprints.into()),
                shape_of(component).to_owned(),
                way(component).to_owned(),
                rounded(counted.probes),
                rounded(counted.candidates),
                rounded(counted.lines),
                format!("{:.1}", counted.ns / 1e3),
                words::count(component.hits as u64),
                faults,
            ],
            output,
        )?;
        let none = String::new;
        table.row(
            [
                "  expected".to_owned(),
                none(),
                none(),
                none(),
                rounded(expected.probes),
                rounded(expected.candidates),
                rounded(expected.lines),
                format!("{:.1}", expected.ns / 1e3),
                none(),
                none(),
            ],
            output,
        )?;
    }
    table.end(output)?;
    let took = explanation.took.as_secs_f64() * 1e6;
    let with = explanation.instruction_set;
    output.line(&format!(
        "the whole search took {took:.1} microseconds with the instruction set {with}"
    ))?;
    Ok(())
}

/// A rounded count. Expected values may be fractional.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "counts")]
fn rounded(number: f64) -> String {
    words::count(number.round() as u64)
}
