//! The histories of a store's pages, to simulate crawls.

use std::sync::Arc;

use pyo3::prelude::*;
use simkeep::query::{self, ReplayedPage};

use crate::convert::time::PyTime;
use crate::convert::value::no_pickle;

/// Pages of a store with their histories, for `simkeep.recrawl.crawl`.
///
/// Each version is current from the visit that found it until the visit that found the next
/// version. `len` is the number of pages.
#[pyclass(frozen, module = "simkeep")]
pub(crate) struct Replay {
    pub(crate) pages: Arc<[ReplayedPage]>,
    of: u64,
    first: simkeep::Time,
    last: simkeep::Time,
}

impl From<query::Replay> for Replay {
    fn from(replay: query::Replay) -> Replay {
        let query::Replay { pages, of, first, last, .. } = replay;
        Replay { pages: pages.into(), of, first, last }
    }
}

#[pymethods]
impl Replay {
    fn __len__(&self) -> usize {
        self.pages.len()
    }

    /// The number of pages with content from which the pages were selected.
    #[getter]
    fn of(&self) -> u64 {
        self.of
    }

    /// The time of the first visit to any page with content, which is day 0; the start of 1970 if
    /// there are no pages.
    #[getter]
    fn first(&self) -> PyTime {
        PyTime(self.first)
    }

    /// The time of the last visit to any page with content.
    #[getter]
    fn last(&self) -> PyTime {
        PyTime(self.last)
    }

    fn __repr__(&self) -> String {
        format!("<simkeep.Replay: {} of {} pages>", self.pages.len(), self.of)
    }

    fn __reduce__(&self) -> PyResult<()> {
        Err(no_pickle("Replay", "make it again"))
    }
}
