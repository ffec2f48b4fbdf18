//! Hints: times when pages changed, from sitemaps and feeds.

use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString};
use simkeep::due;

use crate::convert::arg::{self, Arg};
use crate::convert::error::OrRaise;
use crate::convert::time::PyTime;
use crate::convert::value::no_pickle;

/// Times when pages of a store changed, from sitemaps or feeds: for the keyword `hints` of `due`.
///
/// A page with a hint after its last visit is stale with the probability `trust`. Takes 16 bytes
/// for each change, at most 100,000,000 of them. Hints are valid only for the store that made them.
#[pyclass(frozen, module = "simkeep")]
pub(crate) struct Hints(pub(crate) due::Hints);

#[pymethods]
impl Hints {
    /// The first change of the page after its last visit, in whole seconds; `None` without such a
    /// change.
    ///
    /// Changes after `now` are ignored.
    #[pyo3(signature = (url: "str", last: "Time", now: "Time"))]
    fn changed_after<'py>(
        &self,
        url: &Bound<'py, PyAny>,
        last: &Bound<'py, PyAny>,
        now: &Bound<'py, PyAny>,
    ) -> PyResult<Option<PyTime>> {
        let url = arg::url(Arg::new("url"), url)?;
        let last = arg::time(Arg::new("last"), last)?;
        let now = arg::time(Arg::new("now"), now)?;
        Ok(self.0.changed_after(url, last, now).map(PyTime))
    }

    /// The value of a visit to a page of some weight, in days. `otherwise` is the value of the
    /// visit without a hint.
    ///
    /// Raises `InvalidOptionError` if the weight is not positive and finite, or `otherwise` is negative
    /// or infinite.
    #[pyo3(signature = (
        url: "str", weight: "float", last: "Time", now: "Time", otherwise: "float"
    ))]
    fn worth<'py>(
        &self,
        py: Python<'py>,
        url: &Bound<'py, PyAny>,
        weight: &Bound<'py, PyAny>,
        last: &Bound<'py, PyAny>,
        now: &Bound<'py, PyAny>,
        otherwise: &Bound<'py, PyAny>,
    ) -> PyResult<f64> {
        let url = arg::url(Arg::new("url"), url)?;
        let weight = arg::float(Arg::new("weight"), weight)?;
        let last = arg::time(Arg::new("last"), last)?;
        let now = arg::time(Arg::new("now"), now)?;
        let otherwise = arg::float(Arg::new("otherwise"), otherwise)?;
        self.0.worth(url, weight, last, now, otherwise).or_raise(py)
    }

    fn __repr__(&self) -> &'static str {
        "<simkeep.Hints>"
    }

    fn __reduce__(&self) -> PyResult<()> {
        Err(no_pickle("Hints", "make them again"))
    }
}

/// Converts changes one after another.
pub(crate) fn each<'py>(
    given: &Bound<'py, PyAny>,
) -> PyResult<impl Iterator<Item = PyResult<(String, simkeep::Time)>> + use<'py>> {
    let arg = Arg::new("changes");
    let expected = "an iterable of pairs of a URL and a time";
    if given.is_instance_of::<PyString>() || given.is_instance_of::<PyDict>() {
        return Err(arg.type_error(expected, given));
    }
    let all = given.try_iter().map_err(|_| arg.type_error(expected, given))?;
    Ok((0..).zip(all).map(move |(row, pair)| {
        let arg = arg.at(row);
        let (url, time) = arg::pair(arg, &pair?, "a pair of a URL and a time")?;
        Ok((arg::url(arg, &url)?.to_owned(), arg::time(arg, &time)?))
    }))
}
