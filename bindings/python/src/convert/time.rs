//! Converts times to aware `datetime`s in UTC, and intervals to `timedelta`s.

use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDateTime, PyType, PyTzInfo};
use simkeep::recrawl::Interval;

use crate::convert::arg::{self, Arg};
use crate::convert::typed::output_type;
use crate::convert::value::FromRust;

/// A time, in whole milliseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct PyTime(pub(crate) simkeep::Time);

/// A time between two visits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct PyInterval(pub(crate) Interval);

/// A difference of times in milliseconds; negative for an earlier time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct PyElapsed(pub(crate) i64);

/// Returns the first moment of 1970, in UTC.
pub(crate) fn start(py: Python<'_>) -> PyResult<&Bound<'_, PyAny>> {
    static START: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    let start = START.get_or_try_init(py, || {
        let utc = PyTzInfo::utc(py)?;
        let start = PyDateTime::new(py, 1970, 1, 1, 0, 0, 0, 0, Some(&utc.to_owned()))?;
        PyResult::Ok(start.into_any().unbind())
    })?;
    Ok(start.bind(py))
}

impl<'py> IntoPyObject<'py> for PyTime {
    type Target = PyAny;
    type Output = Bound<'py, PyAny>;
    type Error = PyErr;
    output_type!("datetime", "datetime");

    fn into_pyobject(self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        start(py)?.add(delta(py)?.call1((0, 0, 0, self.0.as_ms()))?)
    }
}

/// Returns the class `timedelta`.
fn delta(py: Python<'_>) -> PyResult<&Bound<'_, PyType>> {
    static DELTA: PyOnceLock<Py<PyType>> = PyOnceLock::new();
    DELTA.import(py, "datetime", "timedelta")
}

impl<'py> IntoPyObject<'py> for PyInterval {
    type Target = PyAny;
    type Output = Bound<'py, PyAny>;
    type Error = PyErr;
    output_type!("datetime", "timedelta");

    fn into_pyobject(self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        delta(py)?.call1((0, self.0.seconds()))
    }
}

impl<'py> IntoPyObject<'py> for PyElapsed {
    type Target = PyAny;
    type Output = Bound<'py, PyAny>;
    type Error = PyErr;
    output_type!("datetime", "timedelta");

    fn into_pyobject(self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        delta(py)?.call1((0, 0, 0, self.0))
    }
}

impl<'py> FromPyObject<'_, 'py> for PyElapsed {
    type Error = PyErr;

    fn extract(given: Borrowed<'_, 'py, PyAny>) -> PyResult<PyElapsed> {
        arg::elapsed(Arg::new("elapsed"), &given).map(PyElapsed)
    }
}

impl<'py> FromPyObject<'_, 'py> for PyInterval {
    type Error = PyErr;

    fn extract(given: Borrowed<'_, 'py, PyAny>) -> PyResult<PyInterval> {
        arg::interval(Arg::new("interval"), &given).map(PyInterval)
    }
}

impl<'py> FromPyObject<'_, 'py> for PyTime {
    type Error = PyErr;

    fn extract(given: Borrowed<'_, 'py, PyAny>) -> PyResult<PyTime> {
        arg::time(Arg::new("time"), &given).map(PyTime)
    }
}

impl FromRust<simkeep::Time> for PyTime {
    fn from_rust(_: Python<'_>, time: simkeep::Time) -> PyResult<PyTime> {
        Ok(PyTime(time))
    }
}

// The identity conversion.
impl FromRust<PyTime> for PyTime {
    fn from_rust(_: Python<'_>, time: PyTime) -> PyResult<PyTime> {
        Ok(time)
    }
}

impl FromRust<Interval> for PyInterval {
    fn from_rust(_: Python<'_>, interval: Interval) -> PyResult<PyInterval> {
        Ok(PyInterval(interval))
    }
}

impl FromRust<i64> for PyElapsed {
    fn from_rust(_: Python<'_>, ms: i64) -> PyResult<PyElapsed> {
        Ok(PyElapsed(ms))
    }
}
