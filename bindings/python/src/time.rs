//! Times: milliseconds since 1970 here, aware `datetime`s in UTC in Python.

use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDateTime, PyType, PyTzInfo};

use crate::arg::{self, Arg};

/// A time in milliseconds since 1970.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Time(pub(crate) i64);

/// The first moment of 1970, in UTC.
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

    fn into_pyobject(self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        static DELTA: PyOnceLock<Py<PyType>> = PyOnceLock::new();
        let delta = DELTA.import(py, "datetime", "timedelta")?;
        start(py)?.add(delta.call1((0, 0, 0, self.0))?)
    }
}

impl<'py> FromPyObject<'_, 'py> for Time {
    type Error = PyErr;

    fn extract(given: Borrowed<'_, 'py, PyAny>) -> PyResult<Time> {
        arg::time(Arg::new("time"), &given).map(Time)
    }
}
