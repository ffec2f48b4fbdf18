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
pub(crate) struct Time(pub(crate) simkeep::Time);

/// A time between two visits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Span(pub(crate) Interval);

/// A difference of times in milliseconds; negative for an earlier time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Elapsed(pub(crate) i64);

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

impl<'py> IntoPyObject<'py> for Time {
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

impl<'py> IntoPyObject<'py> for Span {
    type Target = PyAny;
    type Output = Bound<'py, PyAny>;
    type Error = PyErr;
    output_type!("datetime", "timedelta");

    fn into_pyobject(self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        delta(py)?.call1((0, self.0.seconds()))
    }
}

impl<'py> IntoPyObject<'py> for Elapsed {
    type Target = PyAny;
    type Output = Bound<'py, PyAny>;
    type Error = PyErr;
    output_type!("datetime", "timedelta");

    fn into_pyobject(self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        delta(py)?.call1((0, 0, 0, self.0))
    }
}

impl<'py> FromPyObject<'_, 'py> for Elapsed {
    type Error = PyErr;

    fn extract(given: Borrowed<'_, 'py, PyAny>) -> PyResult<Elapsed> {
        arg::elapsed(Arg::new("elapsed"), &given).map(Elapsed)
    }
}

impl<'py> FromPyObject<'_, 'py> for Span {
    type Error = PyErr;

    fn extract(given: Borrowed<'_, 'py, PyAny>) -> PyResult<Span> {
        arg::interval(Arg::new("interval"), &given).map(Span)
    }
}

impl<'py> FromPyObject<'_, 'py> for Time {
    type Error = PyErr;

    fn extract(given: Borrowed<'_, 'py, PyAny>) -> PyResult<Time> {
        arg::time(Arg::new("time"), &given).map(Time)
    }
}

impl FromRust<simkeep::Time> for Time {
    fn from_rust(_: Python<'_>, time: simkeep::Time) -> PyResult<Time> {
        Ok(Time(time))
    }
}

// The identity conversion.
impl FromRust<Time> for Time {
    fn from_rust(_: Python<'_>, time: Time) -> PyResult<Time> {
        Ok(time)
    }
}

impl FromRust<Interval> for Span {
    fn from_rust(_: Python<'_>, interval: Interval) -> PyResult<Span> {
        Ok(Span(interval))
    }
}

impl FromRust<i64> for Elapsed {
    fn from_rust(_: Python<'_>, ms: i64) -> PyResult<Elapsed> {
        Ok(Elapsed(ms))
    }
}
