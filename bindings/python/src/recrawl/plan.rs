//! How a number of visits a day is spent for ever.

use pyo3::prelude::*;
use simkeep::due;

use crate::convert::arg::{self, Arg};
use crate::convert::error::OrRaise;
use crate::convert::time::Span;
use crate::convert::value::{FromRust, no_pickle, value};
use crate::recrawl::belief::Rate;

value! {
    NewPage from page: simkeep::due::NewPage {
        value: f64,
        rate: Py<Rate>,
        weight: f64,
        every: Span,
    }
}

/// How a number of visits a day is spent for ever: the threshold from which on a page is visited.
///
/// As a text, for people: "20 visits a day to 100 pages, each when it is worth 4.321: ...". It goes
/// by what was known when it was made: make one anew once a day, say.
#[pyclass(frozen, module = "simkeep")]
pub(crate) struct Plan(pub(crate) due::Plan);

#[pymethods]
impl Plan {
    /// The visits a day that were asked for.
    #[getter]
    fn per_day(&self) -> f64 {
        self.0.per_day()
    }

    /// A page is due when a visit to it is worth this. It is infinite if the visits are not enough to
    /// visit each page as soon as it must be.
    #[getter]
    fn threshold(&self) -> f64 {
        self.0.threshold()
    }

    /// The visits a day that this comes to: more than were asked for if pages must be visited more
    /// often, and less if no page may be.
    #[getter]
    fn visits_per_day(&self) -> f64 {
        self.0.visits_per_day()
    }

    /// For how much of the time a page is expected to be as it was last seen, from 0 to 1, on average
    /// over all pages.
    #[getter]
    fn freshness(&self) -> f64 {
        self.0.freshness()
    }

    /// How many pages there are; of more than a million this is estimated from a sample of them.
    #[getter]
    fn pages(&self) -> f64 {
        self.0.pages()
    }

    /// How many of them are visited less often than once in 360 days.
    #[getter]
    fn rarely_visited(&self) -> f64 {
        self.0.rarely_visited()
    }

    /// What a page is worth that nobody has visited, by its host and by its rule. Reads nothing.
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
        Err(no_pickle("Plan", "make one anew"))
    }
}
