//! The pages of a store as what really happened, to be crawled again in a simulation.

use std::sync::Arc;

use pyo3::prelude::*;
use simkeep::query::ReplayedPage;

use crate::arg::{self, Arg, optional};
use crate::comparison::share;
use crate::long::alone;
use crate::time::Time;
use crate::value::no_pickle;
use crate::view::View;

/// Pages of a store with their histories, for `simkeep.recrawl.crawl`.
///
/// Each version is in force from the visit that found it until the visit that found the next one.
/// `len` says how many pages there are.
#[pyclass(frozen, module = "simkeep")]
pub(crate) struct Replay {
    pub(crate) pages: Arc<[ReplayedPage]>,
    of: u64,
    first: simkeep::Time,
    last: simkeep::Time,
}

#[pymethods]
impl Replay {
    fn __len__(&self) -> usize {
        self.pages.len()
    }

    /// How many pages there are that have had content, of which these are a part.
    #[getter]
    fn of(&self) -> u64 {
        self.of
    }

    /// The time of the first visit to any of those, which is day 0; the start of 1970 if there are none.
    #[getter]
    fn first(&self) -> Time {
        Time(self.first)
    }

    /// The time of the last visit to any of those.
    #[getter]
    fn last(&self) -> Time {
        Time(self.last)
    }

    fn __repr__(&self) -> String {
        format!("<simkeep.Replay: {} of {} pages>", self.pages.len(), self.of)
    }

    fn __reduce__(&self) -> PyResult<()> {
        Err(no_pickle("Replay", "make it anew"))
    }
}

#[pymethods]
impl View {
    /// The pages that have had content, with their histories, to be crawled again in a simulation.
    ///
    /// By `simkeep.recrawl.crawl`; under a prefix, if one is given. Of more than `pages_max` (1,000,000)
    /// those are chosen whose URLs have the least hashes. A return to an earlier version counts for
    /// `return_share` of a change (0.5). Takes the time of a scan with all visits, and some 100
    /// bytes for each visit of a page that is chosen. Ctrl-C leaves it.
    #[pyo3(signature = (
        under: "str | None" = None, *, pages_max: "int | None" = None,
        return_share: "float | None" = None
    ))]
    fn replay<'py>(
        &self,
        py: Python<'py>,
        under: Option<&Bound<'py, PyAny>>,
        pages_max: Option<&Bound<'py, PyAny>>,
        return_share: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Replay> {
        let snapshot = self.now(py)?;
        let under = optional(under, |v| arg::prefix(Arg::new("under"), v))?;
        let most = optional(pages_max, |v| arg::size(Arg::new("pages_max"), v))?;
        let (most, share) = (most.unwrap_or(1_000_000), share(return_share)?);
        let replay = alone(py, move || snapshot.replay(under.as_ref(), most, share))?;
        let simkeep::query::Replay { pages, of, first, last, .. } = replay;
        Ok(Replay { pages: pages.into(), of, first, last })
    }
}
