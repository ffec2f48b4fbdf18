//! How a search went, for `near --explain`.

use serde_json::{Value, json};
use simkeep::explain::{ComponentSearch, Explanation};
use simkeep::explain::{Shape, Way};

use super::exit::Failure;
use super::output::Output;
use super::words;

/// The name of a shape.
fn shape(component: &ComponentSearch) -> &'static str {
    match component.shape {
        None => "chains",
        Some(Shape::Column) => "column",
        Some(Shape::Rotations(_)) => "rotations",
        Some(Shape::Cells { .. }) => "cells",
        Some(_) => "other",
    }
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
            "shape": shape(component),
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

/// The explanation as a table: for each figure, what was met and what was expected.
pub(super) fn print(explanation: &Explanation, output: &mut Output) -> Result<(), Failure> {
    output.line(&format!(
        "{:<16} {:>14} {:<17} {:<9} {:>17} {:>23} {:>19} {:>23} {:>6} {:>11}",
        "searched",
        "fingerprints",
        "shape",
        "way",
        "probes",
        "candidates",
        "lines",
        "microseconds",
        "hits",
        "faults"
    ))?;
    for component in &explanation.components {
        let (expected, counted) = (component.plan.expected, component.counted);
        let pair = |met: f64, expected: f64| format!("{met:.0} of {expected:.0}");
        let faults = component
            .faults
            .map_or_else(String::new, |(minor, major)| format!("{} ({major} disk)", minor + major));
        output.line(&format!(
            "{:<16} {:>14} {:<17} {:<9} {:>17} {:>23} {:>19} {:>23} {:>6} {:>11}",
            name(component),
            words::count(component.fingerprints.into()),
            shape(component),
            way(component),
            pair(counted.probes, expected.probes),
            pair(counted.candidates, expected.candidates),
            pair(counted.lines, expected.lines),
            format!("{:.1} of {:.1}", counted.ns / 1e3, expected.ns / 1e3),
            component.hits,
            faults,
        ))?;
    }
    let took = explanation.took.as_secs_f64() * 1e6;
    let with = explanation.instruction_set;
    output.line(&format!("the whole search took {took:.1} microseconds, with {with}; \"12 of 10\" is met and expected"))?;
    Ok(())
}
