//! Plans for spending a number of visits a day in the long run.

use pyo3::prelude::*;
use simkeep::due;

use crate::convert::arg::{self, Arg};
use crate::convert::error::OrRaise;
use crate::convert::time::PyInterval;
use crate::convert::value::{FromRust, no_pickle, value};
use crate::recrawl::belief::Rate;

value! {
    NewPage from page: simkeep::due::NewPage {
        value: f64,
        rate: Py<Rate>,
        weight: f64,
        every: PyInterval,
    }
}

/// A plan for spending a number of visits a day in the long run: the value threshold for a visit.
///
/// As text, for people: "20 visits a day to 100 pages, each when a visit is worth 4.321: ...". A plan
/// uses only the visits that were known when it was made, so make a new plan regularly, for example
/// once a day.
#[pyclass(frozen, module = "simkeep")]
pub(crate) struct Plan(pub(crate) due::Plan);

#[pymethods]
impl Plan {
    /// The visits a day that the plan was made for.
    #[getter]
    fn per_day(&self) -> f64 {
        self.0.per_day()
    }

    /// The value of a visit at which a page is due. The threshold is infinite if the visits do not
    /// suffice to visit all pages by their latest allowed dates.
    #[getter]
    fn threshold(&self) -> f64 {
        self.0.threshold()
    }

    /// The resulting visits a day: more than planned if pages must be visited more often, and fewer
    /// if no page may be visited more often.
    #[getter]
    fn visits_per_day(&self) -> f64 {
        self.0.visits_per_day()
    }

    /// The expected fraction of time for which a page is unchanged since its last visit, from 0 to
    /// 1, averaged over pages.
    #[getter]
    fn freshness(&self) -> f64 {
        self.0.freshness()
    }

    /// The number of pages. Above a million, the number is estimated from a sample.
    #[getter]
    fn pages(&self) -> f64 {
        self.0.pages()
    }

    /// The number of pages that are visited less often than once in 360 days.
    #[getter]
    fn rarely_visited(&self) -> f64 {
        self.0.rarely_visited()
    }

    /// The values of a page without visits, from its host and its rule. Reads no data of the store.
    #[pyo3(signature = (url: "str"))]
    fn of_new<'py>(&self, py: Python<'py>, url: &Bound<'py, PyAny>) -> PyResult<NewPage> {
        let url = arg::url(Arg::new("url"), url)?;
        NewPage::from_rust(py, self.0.of_new(url).or_raise(py)?)
    }

    fn __str__(&self) -> String {
        self.0.to_string()
    }

    fn __repr__(&self) -> String {
        format!("<simkeep.Plan: {}>", self.0)
    }

    fn __reduce__(&self) -> PyResult<()> {
        Err(no_pickle("Plan", "make it again"))
    }
}
