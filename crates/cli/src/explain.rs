//! How a search went, for `near --explain`.

use serde_json::{Value, json};
use simkeep::explain::{ComponentSearch, Explanation};
use simkeep::explain::{Shape, Way};

use super::exit::Failure;
use super::output::Output;
use super::table::{Table, left, right};
use super::words;

/// The name of a shape.
pub(super) fn shape(shape: Shape) -> &'static str {
    match shape {
        Shape::Column => "column",
        Shape::Rotations(_) => "rotations",
        Shape::Cells { .. } => "cells",
        _ => "other",
    }
}

/// What finds the fingerprints of a component.
fn shape_of(component: &ComponentSearch) -> &'static str {
    component.shape.map_or("chains", shape)
}

fn way(component: &ComponentSearch) -> &'static str {
    match (component.plan.way, component.shape) {
        (Way::Scan, _) => "scan",
        (Way::Rotations, None) => "chains",
        (Way::Rotations, Some(_)) => "rotations",
        (Way::Cells, _) => "cells",
        _ => "other",
    }
}

fn name(component: &ComponentSearch) -> String {
    component.segment.map_or_else(|| "memtable".to_owned(), |id| format!("segment {id}"))
}

/// The explanation as JSON.
pub(super) fn object(explanation: &Explanation) -> Value {
    let components = explanation.components.iter().map(|component| {
        let (expected, counted) = (component.plan.expected, component.counted);
        json!({
            "segment": component.segment,
            "fingerprints": component.fingerprints,
            "shape": shape_of(component),
            "way": way(component),
            "expected": {
                "probes": expected.probes,
                "candidates": expected.candidates,
                "lines": expected.lines,
                "ns": expected.ns,
            },
            "counted": {
                "probes": counted.probes,
                "candidates": counted.candidates,
                "lines": counted.lines,
                "ns": counted.ns,
            },
            "hits": component.hits,
            "faults": component.faults.map(|(minor, major)| json!({ "minor": minor, "major": major })),
        })
    });
    json!({
        "instruction_set": explanation.instruction_set,
        "took_ns": u64::try_from(explanation.took.as_nanos()).unwrap_or(u64::MAX),
        "components": components.collect::<Vec<_>>(),
    })
}

/// The explanation as a table: for each part of the store what the search met, and below it what was
/// expected.
pub(super) fn print(explanation: &Explanation, output: &mut Output) -> Result<(), Failure> {
    let numbers = ["probes", "candidates", "lines", "microseconds", "hits", "faults"].map(right);
    let columns = [left("searched"), right("fingerprints"), left("shape"), left("way")];
    let mut table = Table::new(columns.into_iter().chain(numbers));
    for component in &explanation.components {
        let (expected, counted) = (component.plan.expected, component.counted);
        let faults = component.faults.map_or_else(String::new, |(minor, major)| match major {
            0 => words::count(minor),
            _ => format!("{}, {major} of a disk", words::count(minor + major)),
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
    output.line(&format!("the whole search took {took:.1} microseconds, with {with}"))?;
    Ok(())
}

/// A number of things, some of which are expected in part.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "counts")]
fn rounded(number: f64) -> String {
    words::count(number.round() as u64)
}
