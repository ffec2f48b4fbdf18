//! Assigns pages to one of several stores.

use std::num::NonZeroU32;

use pyo3::prelude::*;

use crate::convert::arg::{self, Arg};

/// The store of a page, counted from 0, if a crawl is distributed over `stores` stores.
///
/// All pages of a host are in the same store. The result never changes. With more stores, a page
/// stays in its store or moves to a new store.
#[pyfunction]
#[pyo3(signature = (url: "str", stores: "int"))]
pub(crate) fn route(url: &Bound<'_, PyAny>, stores: &Bound<'_, PyAny>) -> PyResult<u32> {
    let url = arg::url(Arg::new("url"), url)?;
    let count = arg::u32(Arg::new("stores"), stores)?;
    let count = NonZeroU32::new(count);
    let count = count.ok_or_else(|| Arg::new("stores").value_error("at least 1", stores))?;
    Ok(simkeep::route(url, count))
}
