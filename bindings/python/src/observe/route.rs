//! Which of several stores a page belongs to.

use std::num::NonZeroU32;

use pyo3::prelude::*;

use crate::convert::arg::{self, Arg};

/// Which of so many stores a page belongs to, counted from 0, where a crawl is shared out among several.
///
/// All pages of a host belong to the same one. The answer never changes; with more stores than before, a
/// page stays where it was or goes to a new one.
#[pyfunction]
#[pyo3(signature = (url: "str", stores: "int"))]
pub(crate) fn route(url: &Bound<'_, PyAny>, stores: &Bound<'_, PyAny>) -> PyResult<u32> {
    let url = arg::url(Arg::new("url"), url)?;
    let count = arg::u32(Arg::new("stores"), stores)?;
    let count = NonZeroU32::new(count);
    let count = count.ok_or_else(|| Arg::new("stores").value_error("at least 1", stores))?;
    Ok(simkeep::route(url, count))
}
