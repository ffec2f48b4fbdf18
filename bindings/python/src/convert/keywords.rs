//! Keywords of calls with many keywords.

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::convert::arg::{self, Arg};

/// The error for an unknown keyword.
pub(crate) fn unknown(key: &str) -> PyErr {
    PyTypeError::new_err(format!("there is no keyword {key}"))
}

/// Calls a function for each keyword and its value.
pub(crate) fn each<'py>(
    keywords: Option<&Bound<'py, PyDict>>,
    mut take: impl FnMut(&str, &Bound<'py, PyAny>) -> PyResult<()>,
) -> PyResult<()> {
    let Some(keywords) = keywords else { return Ok(()) };
    for (key, value) in keywords {
        take(arg::text(Arg::new("a keyword"), &key)?, &value)?;
    }
    Ok(())
}
