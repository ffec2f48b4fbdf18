//! Explains the plan and the cost of a search.

use std::time::Duration;

use pyo3::prelude::*;
use simkeep::query::{AccessPath, Shape};

use crate::convert::typed::Tuple;
use crate::convert::value::{FromRust, value};
use crate::search::matches::Matches;

value! {
    Cost from cost: simkeep::query::Cost {
        probes: f64,
        candidates: f64,
        lines: f64,
        ns: f64,
    }
}

value! {
    ComponentSearch from search: simkeep::query::ComponentSearch {
        segment: Option<u64>,
        fingerprints: u32,
        shape: Option<String>,
        /// The method of the search: rotations, cells or scan.
        access_path: String = search.plan.access_path,
        /// The expected cost of the search.
        expected: Py<Cost> = search.plan.expected,
        counted: Py<Cost>,
        hits: usize,
        crowded: Option<u32>,
        faults: Option<(u64, u64)>,
    }
}

value! {
    Explanation from explanation: simkeep::query::Explanation {
        instruction_set: String,
        components: Tuple<ComponentSearch>,
        matches: Py<Matches>,
        took: Duration,
    }
}

impl FromRust<Shape> for String {
    fn from_rust(_: Python<'_>, shape: Shape) -> PyResult<String> {
        Ok(match shape {
            Shape::Column => "column".to_owned(),
            Shape::Rotations(_) => "rotations".to_owned(),
            Shape::Cells { .. } => "cells".to_owned(),
            other => format!("{other:?}").to_lowercase(),
        })
    }
}

impl FromRust<AccessPath> for String {
    fn from_rust(_: Python<'_>, path: AccessPath) -> PyResult<String> {
        Ok(format!("{path:?}").to_lowercase())
    }
}
