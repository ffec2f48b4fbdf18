//! The tool `simkeep`, which is part of the package.

use std::ffi::OsString;

use pyo3::prelude::*;

/// Runs the tool with these arguments, and returns its exit code. The first argument is the name of
/// the tool.
#[pyfunction]
#[pyo3(signature = (words: "list[str]"))]
pub(crate) fn _tool(py: Python<'_>, words: Vec<OsString>) -> u8 {
    py.detach(|| simkeep_cli::run(words))
}
