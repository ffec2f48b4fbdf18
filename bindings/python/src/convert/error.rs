//! Converts the crate's errors to exceptions.
//!
//! The classes are in `simkeep/_errors.py`. This file maps each kind of error to its class, and
//! sets the attributes of the exception.

use std::collections::BTreeMap;

use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyModule;
use simkeep::{Error, ErrorKind, LockHolder};

/// Returns the name of the class of a kind; `None` if the kind has no class yet.
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

/// Returns the names of all kinds of errors, each with its class. For the tests.
#[pyfunction]
#[pyo3(signature = () -> "dict[str, str | None]")]
pub(crate) fn _error_classes() -> BTreeMap<&'static str, Option<&'static str>> {
    ErrorKind::ALL.iter().map(|kind| (kind.name(), class(*kind))).collect()
}

/// Returns the module with the classes.
fn module(py: Python<'_>) -> PyResult<&Bound<'_, PyModule>> {
    static MODULE: PyOnceLock<Py<PyModule>> = PyOnceLock::new();
    let module = MODULE.get_or_try_init(py, || py.import("simkeep._errors").map(Bound::unbind))?;
    Ok(module.bind(py))
}

/// Creates the exception for an error.
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
                    LockHolder::ThisProcess => Some(std::process::id()),
                    LockHolder::Process(pid) => Some(*pid),
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

/// Creates an exception of a class in `simkeep._errors` without a kind of error in the crate.
pub(crate) fn of_class(py: Python<'_>, class: &str, message: String) -> PyErr {
    let made = module(py).and_then(|module| module.getattr(class)?.call1((message,)));
    made.map_or_else(|e| e, PyErr::from_value)
}

/// Adds the row of a batch, counted from 0, to the message of an exception.
pub(crate) fn in_row(py: Python<'_>, raised: PyErr, row: usize) -> PyErr {
    let value = raised.value(py);
    let named = value.str().and_then(|said| value.setattr("args", (format!("row {row}: {said}"),)));
    named.map_or_else(|e| e, |()| raised)
}

/// Converts results of the crate to results with Python exceptions.
pub(crate) trait OrRaise<T> {
    /// Returns the value, or the exception for the error.
    fn or_raise(self, py: Python<'_>) -> PyResult<T>;
}

impl<T, E: Into<Error>> OrRaise<T> for Result<T, E> {
    fn or_raise(self, py: Python<'_>) -> PyResult<T> {
        self.map_err(|error| raise(py, error.into()))
    }
}
