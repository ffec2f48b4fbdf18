//! How a search was planned, and what it cost.

use std::time::Duration;

use pyo3::prelude::*;
use simkeep::query::{self, Shape, Way};

use crate::matches::Matches;
use crate::typed::Tuple;
use crate::value::{FromRust, value};

value! {
    /// What a search costs, expected or counted.
    Cost {
        /// Buckets or cells looked into; 0 for a scan.
        probes: f64,
        /// Entries compared.
        candidates: f64,
        /// Memory lines of 64 bytes read.
        lines: f64,
        /// Nanoseconds on one core, from memory, without those for hits.
        ns: f64,
    }
}

value! {
    /// How one segment or memtable is searched.
    ComponentSearch {
        /// The segment's number; `None` for a memtable.
        segment: Option<u64>,
        /// How many distinct fingerprints of the epoch it has.
        fingerprints: u32,
        /// The shape of its tables: column, rotations or cells; `None` for a memtable.
        shape: Option<String>,
        /// How it is searched: rotations, cells or scan.
        way: String,
        /// What that was expected to cost.
        expected: Py<Cost>,
        /// What it met, and how long it took.
        counted: Py<Cost>,
        /// How many distinct near fingerprints were found.
        hits: usize,
        /// How many fingerprints were compared, if there was a crowd with more.
        crowded: Option<u32>,
        /// Page faults: those served from memory, and those that waited for the disk.
        faults: Option<(u64, u64)>,
    }
}

value! {
    /// What a search does and costs.
    Explanation {
        /// The instruction set that comparisons use.
        instruction_set: String,
        /// What was searched, the oldest first; memtables last.
        components: Tuple<ComponentSearch>,
        /// What it answered.
        matches: Py<Matches>,
        /// How long the whole search took, including the lookup of pages.
        took: Duration,
    }
}

impl From<query::Cost> for Cost {
    fn from(cost: query::Cost) -> Cost {
        Cost { probes: cost.probes, candidates: cost.candidates, lines: cost.lines, ns: cost.ns }
    }
}

/// The shape of fingerprint tables, as a word.
pub(crate) fn shape(shape: Shape) -> String {
    match shape {
        Shape::Column => "column".to_owned(),
        Shape::Rotations(_) => "rotations".to_owned(),
        Shape::Cells { .. } => "cells".to_owned(),
        other => format!("{other:?}").to_lowercase(),
    }
}

fn way(way: Way) -> String {
    format!("{way:?}").to_lowercase()
}

impl Explanation {
    pub(crate) fn of(py: Python<'_>, explained: query::Explanation) -> PyResult<Explanation> {
        let components = Tuple::of(py, explained.components, |component| {
            Ok(ComponentSearch {
                segment: component.segment,
                fingerprints: component.fingerprints,
                shape: component.shape.map(shape),
                way: way(component.plan.way),
                expected: Py::new(py, Cost::from(component.plan.expected))?,
                counted: Py::new(py, Cost::from(component.counted))?,
                hits: component.hits,
                crowded: component.crowded,
                faults: component.faults,
            })
        })?;
        Ok(Explanation {
            instruction_set: explained.instruction_set.to_owned(),
            components,
            matches: FromRust::from_rust(py, explained.matches)?,
            took: explained.took,
        })
    }
}
