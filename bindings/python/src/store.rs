//! A store that is open for writing, and queries that any open store supports.
//!
//! The types of arguments and results are in the modules of their subjects, which do not depend on
//! stores.

mod clusters;
mod diff;
mod due;
mod epochs;
mod inspect;
mod load;
mod maintain;
mod near;
mod observe;
mod open;
mod pages;
mod pairs;
mod reader;
mod reading;
mod sites;
mod subject;
mod view;

use std::path::PathBuf;
use std::sync::Arc;

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};
use simkeep::Options;

use self::open::{OpenHandle, shown};
use self::view::SnapshotSource;
use crate::convert::error::OrRaise;
use crate::convert::value::no_pickle;
use crate::maintain::options::{options, options_prose};

pub(crate) use self::reader::{Reader, Snapshot};
pub(crate) use self::view::View;

/// A store that is open for writing.
///
/// Threads may share a store; their concurrent observations become durable together. A store
/// belongs to the process that opened it; in a forked process every call raises `ForkedError`.
/// Close the store, or use it in a `with` statement.
#[pyclass(frozen, extends = View, module = "simkeep")]
pub(crate) struct Store {
    open: Arc<OpenHandle>,
}

impl Store {
    fn opened(
        py: Python<'_>,
        path: PathBuf,
        keywords: Option<&Bound<'_, PyDict>>,
        opens: fn(PathBuf, Options) -> simkeep::Result<simkeep::Store>,
    ) -> PyResult<Py<Store>> {
        let options = options(keywords)?;
        let store = py.detach(|| opens(path.clone(), options)).or_raise(py)?;
        Store::of(py, store, path)
    }

    fn of(py: Python<'_>, store: simkeep::Store, path: PathBuf) -> PyResult<Py<Store>> {
        let open = Arc::new(OpenHandle::new(store, path));
        let view = View::new(SnapshotSource::Store(Arc::clone(&open)));
        Py::new(py, PyClassInitializer::from(view).add_subclass(Store { open }))
    }

    /// Runs a call on the store while other Python threads may run.
    fn call<T: Send>(
        &self,
        py: Python<'_>,
        call: impl FnOnce(&simkeep::Store) -> simkeep::Result<T> + Send,
    ) -> PyResult<T> {
        let store = self.open.store(py)?;
        py.detach(|| {
            let answer = call(&store);
            // This handle may be the last, if another thread has closed the store.
            drop(store);
            answer
        })
        .or_raise(py)
    }
}

#[pymethods]
impl Store {
    /// Raises an error that names the ways to open a store.
    #[new]
    #[pyo3(signature = (*_args: "Never", **_options: "Never"))]
    fn new(
        _args: &Bound<'_, PyTuple>,
        _options: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<PyClassInitializer<Store>> {
        let what =
            "simkeep.Store is not called: use Store.open, Store.create or Store.open_or_create";
        Err(PyTypeError::new_err(what))
    }

    /// Opens the store in a directory for writing.
    ///
    /// Costs the time to read the journal, at most a second, for any size of the store. Raises
    /// `NotAStoreError` if there is no store, and `LockedError` if another process has it open.
    ///
    /// Takes the options of `open_or_create`.
    #[staticmethod]
    #[pyo3(signature = (path, **options: "Unpack[_types.Options]"))]
    fn open(
        py: Python<'_>,
        path: PathBuf,
        options: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Py<Store>> {
        Store::opened(py, path, options, simkeep::Store::open)
    }

    /// Creates a store in a new or empty directory, and opens it.
    ///
    /// Raises `AlreadyExistsError` if there is already a store. Takes the options of
    /// `open_or_create`.
    #[staticmethod]
    #[pyo3(signature = (path, **options: "Unpack[_types.Options]"))]
    fn create(
        py: Python<'_>,
        path: PathBuf,
        options: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Py<Store>> {
        Store::opened(py, path, options, simkeep::Store::create)
    }

    /// Opens the store, or creates it if there is no store.
    ///
    #[doc = options_prose!()]
    #[staticmethod]
    #[pyo3(signature = (path, **options: "Unpack[_types.Options]"))]
    fn open_or_create(
        py: Python<'_>,
        path: PathBuf,
        options: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Py<Store>> {
        Store::opened(py, path, options, simkeep::Store::open_or_create)
    }

    /// A snapshot of the store: later changes do not affect it.
    fn snapshot(&self, py: Python<'_>) -> PyResult<Py<Snapshot>> {
        let store = self.open.store(py)?;
        Snapshot::of(py, store.snapshot(), Some(self.open.birth))
    }

    /// The path of the store.
    #[getter]
    fn path(&self) -> PathBuf {
        self.open.path.clone()
    }

    /// Whether the store was closed.
    #[getter]
    fn closed(&self) -> bool {
        self.open.is_closed()
    }

    /// Makes all observations durable, ends the background work and releases the lock. May be
    /// called twice.
    fn close(&self, py: Python<'_>) -> PyResult<()> {
        self.open.close(py)
    }

    fn __enter__(slf: Bound<'_, Self>) -> Bound<'_, Self> {
        slf
    }

    #[pyo3(signature = (
        _class: "type[BaseException] | None" = None, raised: "BaseException | None" = None,
        _traceback: "TracebackType | None" = None
    ))]
    fn __exit__<'py>(
        &self,
        py: Python<'py>,
        _class: Option<&Bound<'py, PyAny>>,
        raised: Option<&Bound<'py, PyAny>>,
        _traceback: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<()> {
        self.open.leave(py, raised.filter(|raised| !raised.is_none()))
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        let path = shown(py, &self.open.path)?;
        let state = if self.open.is_closed() { " closed" } else { "" };
        Ok(format!("<simkeep.Store {path}{state}>"))
    }

    fn __reduce__(&self) -> PyResult<()> {
        Err(no_pickle("Store", "pickle a Reader of its path"))
    }
}
