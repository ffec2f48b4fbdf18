//! What visits found, counted.

use pyo3::prelude::*;
use simkeep::inspect;

use crate::value::value;

value! {
    /// How many visits found what.
    Found {
        /// Visits that saw the first content of their page.
        new: u64,
        /// Visits that saw what was there before.
        same: u64,
        /// Visits that saw other content.
        changed: u64,
        /// Visits that saw content of before.
        reverted: u64,
        /// Visits that found the page gone.
        gone: u64,
        /// Visits that failed.
        failed: u64,
        /// Visits that tell nothing: they came late, or found a page unmodified of which no content was
        /// ever seen.
        other: u64,
        /// All of them together.
        visits: u64,
    }
}

impl Found {
    pub(crate) fn of(py: Python<'_>, found: &inspect::Found) -> PyResult<Py<Found>> {
        let visits = found.visits();
        let inspect::Found { new, same, changed, reverted, gone, failed, other, .. } = *found;
        Py::new(py, Found { new, same, changed, reverted, gone, failed, other, visits })
    }
}
