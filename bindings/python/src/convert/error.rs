//! The crate's errors as exceptions.
//!
//! The classes are in `simkeep/_errors.py`. Here is which kind of error has which class, and what its
//! exception knows beside its message.

use std::collections::BTreeMap;

use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyModule;
use simkeep::{Error, ErrorKind, Holder};

/// The name of the class of a kind; `None` if it was given none yet.
fn class(kind: ErrorKind) -> Option<&'static str> {
    Some(match kind {
        ErrorKind::Io => "IoError",
        ErrorKind::Corrupt => "CorruptError",
        ErrorKind::NotAStore => "NotAStoreError",
        ErrorKind::Unfinished => "UnfinishedError",
        ErrorKind::NotATable => "NotATableError",
        ErrorKind::AlreadyExists | ErrorKind::StoreExists | ErrorKind::NotABackup => {
            "AlreadyExistsError"
        }
        ErrorKind::Version | ErrorKind::UrlHash => "VersionError",
        ErrorKind::Locked => "LockedError",
        ErrorKind::Forked => "ForkedError",
        ErrorKind::Poisoned | ErrorKind::Replaced => "PoisonedError",
        ErrorKind::Closed => "ClosedError",
        ErrorKind::Bug => "BugError",
        ErrorKind::Url => "UrlError",
        ErrorKind::Prefix => "PrefixError",
        ErrorKind::Time | ErrorKind::InTheFuture => "TimeError",
        ErrorKind::UnknownEpoch
        | ErrorKind::EndedEpoch
        | ErrorKind::NoTable
        | ErrorKind::EpochInUse => "EpochError",
        ErrorKind::LoadRejected => "LoadRejectedError",
        ErrorKind::Input => "InputError",
        ErrorKind::Cancelled => "CancelledError",
        ErrorKind::AmbiguousRepair => "AmbiguousRepairError",
        ErrorKind::InvalidOption => "InvalidOptionError",
        ErrorKind::Limit => "LimitError",
        ErrorKind::InvalidArgument => "InvalidArgumentError",
        ErrorKind::Catalog => "CatalogError",
        _ => return None,
    })
}

/// The names of all kinds of errors, each with that of its class. For the tests.
#[pyfunction]
#[pyo3(signature = () -> "dict[str, str | None]")]
pub(crate) fn _error_classes() -> BTreeMap<&'static str, Option<&'static str>> {
    ErrorKind::ALL.iter().map(|kind| (kind.name(), class(*kind))).collect()
}

/// The module that has the classes.
fn module(py: Python<'_>) -> PyResult<&Bound<'_, PyModule>> {
    static MODULE: PyOnceLock<Py<PyModule>> = PyOnceLock::new();
    let module = MODULE.get_or_try_init(py, || py.import("simkeep._errors").map(Bound::unbind))?;
    Ok(module.bind(py))
}

/// The exception of an error.
pub(crate) fn raise(py: Python<'_>, error: Error) -> PyErr {
    exception(py, &error).unwrap_or_else(|e| e)
}

fn exception(py: Python<'_>, error: &Error) -> PyResult<PyErr> {
    let class = module(py)?.getattr(class(error.kind()).unwrap_or("Error"))?;
    let message = error.to_string();
    let made = match error {
        Error::Io { file, source, .. } => class.call1((source.raw_os_error(), message, file))?,
        _ => class.call1((message,))?,
    };
    let raised = PyErr::from_value(made.clone());
    match error {
        Error::Corrupt(flaw) => {
            made.setattr("file", &flaw.file)?;
            made.setattr("offset", flaw.offset)?;
        }
        Error::Locked { holder, .. } => {
            made.setattr(
                "pid",
                match holder {
                    Holder::ThisProcess => Some(std::process::id()),
                    Holder::Process(pid) => Some(*pid),
                    _ => None,
                },
            )?;
        }
        Error::Version { found, reads, .. } => {
            made.setattr("found", *found)?;
            made.setattr("reads", *reads)?;
        }
        Error::LoadRejected { nth, cause } => {
            made.setattr("nth", *nth)?;
            raised.set_cause(py, Some(exception(py, cause)?));
        }
        Error::Poisoned(cause) => raised.set_cause(py, Some(exception(py, cause)?)),
        _ => {}
    }
    Ok(raised)
}

/// An exception of a class of `simkeep._errors` that the crate has no error for.
pub(crate) fn of_class(py: Python<'_>, class: &str, message: String) -> PyErr {
    let made = module(py).and_then(|module| module.getattr(class)?.call1((message,)));
    made.map_or_else(|e| e, PyErr::from_value)
}

/// An exception that says in its message which row of a batch it is of, counted from 0.
pub(crate) fn in_row(py: Python<'_>, raised: PyErr, row: usize) -> PyErr {
    let value = raised.value(py);
    let named = value.str().and_then(|said| value.setattr("args", (format!("row {row}: {said}"),)));
    named.map_or_else(|e| e, |()| raised)
}

/// Results of the crate as those of Python.
pub(crate) trait OrRaise<T> {
    /// The value, or the exception of the error.
    fn or_raise(self, py: Python<'_>) -> PyResult<T>;
}

impl<T, E: Into<Error>> OrRaise<T> for Result<T, E> {
    fn or_raise(self, py: Python<'_>) -> PyResult<T> {
        self.map_err(|error| raise(py, error.into()))
    }
}
