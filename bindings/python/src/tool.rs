//! The tool `simkeep`, which comes with the package.

use std::ffi::OsString;

use pyo3::prelude::*;

/// Runs the tool by these words, of which the first is its name, and returns its exit code.
#[pyfunction]
#[pyo3(signature = (words: "list[str]"))]
pub(crate) fn _tool(py: Python<'_>, words: Vec<OsString>) -> u8 {
    py.detach(|| simkeep_cli::run(words))
}
