//! Loads of a store: of observations, and of other stores.

use std::path::PathBuf;

use pyo3::prelude::*;
use pyo3::types::PyDict;

use super::Store;
use super::view::View;
use crate::call::item_feed::feed_items;
use crate::call::long::long;
use crate::call::progress::Progress;
use crate::convert::arg::{Arg, optional};
use crate::convert::error::OrRaise;
use crate::convert::value::FromRust;
use crate::fingerprint::origin;
use crate::maintain::options;
use crate::maintain::stats::Loaded;
use crate::observe::load::{self, NAME};
use crate::observe::load_epochs::LoadEpochs;
use crate::observe::table::VisitColumnNames;

#[pymethods]
impl Store {
    /// Loads an existing corpus: any number of observations in any order, in the form that
    /// `observe_batch` takes.
    ///
    /// A load runs no searches, and memory is bounded. Either all observations are stored, or none.
    /// If observations have fingerprints, a load is some four times as fast as `observe_batch`.
    /// Readers are not blocked. `epochs` are the epochs that the load adds. Ctrl-C ends the call.
    ///
    /// For a table, `url`, `text`, `html` and `at` name the columns of URLs, texts, pages and
    /// times, if they have other names; `at` may also be a single time for all visits. Other
    /// columns are ignored.
    ///
    /// Raises `LoadRejectedError` with the number of the first observation that the store rejects,
    /// counted from 1, and exceptions of the iterable.
    #[pyo3(signature = (
        observations: "_types.Rows", *, url: "str | None" = None, text: "str | None" = None,
        html: "str | None" = None, at: "Time | str | None" = None, epochs=None,
        memory_bytes: "int | None" = None, segment_pages: "int | None" = None, progress=None
    ))]
    fn load<'py>(
        &self,
        py: Python<'py>,
        observations: &Bound<'py, PyAny>,
        url: Option<&Bound<'py, PyAny>>,
        text: Option<&Bound<'py, PyAny>>,
        html: Option<&Bound<'py, PyAny>>,
        at: Option<&Bound<'py, PyAny>>,
        epochs: Option<&Bound<'py, LoadEpochs>>,
        memory_bytes: Option<&Bound<'py, PyAny>>,
        segment_pages: Option<&Bound<'py, PyAny>>,
        progress: Option<&Bound<'py, Progress>>,
    ) -> PyResult<Loaded> {
        let store = self.open.store(py)?;
        let columns = VisitColumnNames::new(url, text, html, at)?;
        let mut options = load::options(memory_bytes, segment_pages, progress)?;
        if let Some(epochs) = epochs {
            options = options.epochs(epochs.get().open(py)?.clone());
        }
        let makers = py.detach(|| self.open.makers.of(&store.snapshot())).or_raise(py)?;
        let _giving = self.open.begin_feeding(py)?;
        Loaded::from_rust(py, load::load(py, &store, &makers, observations, columns, options)?)
    }

    /// Loads all entries of another store, with its epochs and their tables. Ctrl-C ends the call.
    #[pyo3(signature = (
        other, *, memory_bytes: "int | None" = None, segment_pages: "int | None" = None,
        progress=None
    ))]
    fn copy_from<'py>(
        &self,
        py: Python<'py>,
        other: &Bound<'py, View>,
        memory_bytes: Option<&Bound<'py, PyAny>>,
        segment_pages: Option<&Bound<'py, PyAny>>,
        progress: Option<&Bound<'py, Progress>>,
    ) -> PyResult<Loaded> {
        let (store, other) = (self.open.store(py)?, other.get().now(py)?);
        self.open.check_not_feeding(py)?;
        let options = load::options(memory_bytes, segment_pages, progress)?;
        let progress = options.progress.clone();
        Loaded::from_rust(py, long(py, &progress, || store.copy_from(&other, options))?)
    }

    /// Creates a store from a load, and returns the open store and the counts of the load.
    ///
    /// The result is a pair: `store, loaded = Store.create_from(path, observations)`. The store is
    /// created with all observations, or not at all.
    ///
    /// Takes the arguments of `load` and `create`. `origin`, an `Origin` or the name of a recipe,
    /// makes the fingerprints of texts among the observations, instead of the default recipe; the
    /// first epoch of the store is the epoch of `origin`. No file is created before the first
    /// observation arrives. Ctrl-C ends the call, and leaves at most empty directories.
    ///
    /// Raises `AlreadyExistsError` if there is already a store, and the errors of `load`.
    #[staticmethod]
    #[pyo3(signature = (
        path, observations: "_types.Rows", *, url: "str | None" = None, text: "str | None" = None,
        html: "str | None" = None, at: "Time | str | None" = None,
        origin: "Origin | str | None" = None, epochs=None, memory_bytes: "int | None" = None,
        segment_pages: "int | None" = None, progress=None,
        **options: "Unpack[_types.Options]"
    ))]
    fn create_from<'py>(
        py: Python<'py>,
        path: PathBuf,
        observations: &Bound<'py, PyAny>,
        url: Option<&Bound<'py, PyAny>>,
        text: Option<&Bound<'py, PyAny>>,
        html: Option<&Bound<'py, PyAny>>,
        at: Option<&Bound<'py, PyAny>>,
        origin: Option<&Bound<'py, PyAny>>,
        epochs: Option<&Bound<'py, LoadEpochs>>,
        memory_bytes: Option<&Bound<'py, PyAny>>,
        segment_pages: Option<&Bound<'py, PyAny>>,
        progress: Option<&Bound<'py, Progress>>,
        options: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<(Py<Store>, Loaded)> {
        let mut new = options::options(options)?;
        let named = match options {
            Some(options) => options.get_item("epoch")?.is_some_and(|epoch| !epoch.is_none()),
            None => false,
        };
        let origin = optional(origin, |v| origin::origin(Arg::new("origin"), v))?;
        if origin.is_some() && named {
            let what = "origin and epoch exclude each other: an origin names its epoch";
            return Err(pyo3::exceptions::PyTypeError::new_err(what));
        }
        let epochs = match epochs {
            Some(epochs) => epochs.get().open(py)?.clone(),
            None => simkeep::load::LoadEpochs::default(),
        };
        let makers = load::makers(&mut new, origin.as_ref(), &epochs).or_raise(py)?;
        let load = load::options(memory_bytes, segment_pages, progress)?.epochs(epochs);
        let columns = VisitColumnNames::new(url, text, html, at)?;
        let (rows, progress) = (load::each(observations, columns)?, load.progress.clone());
        let dir = path.clone();
        let (store, loaded) = feed_items(py, NAME, rows, &progress, |rows| {
            simkeep::Store::create_from(dir, new, rows.map(|row| makers.ready(row?)), load)
        })?;
        Ok((Store::of(py, store, path)?, Loaded::from_rust(py, loaded)?))
    }
}

#[pymethods]
impl LoadEpochs {
    /// The numbers of another store's epochs in this load, in the order of the epochs.
    ///
    /// The tables of the epochs are included. An epoch that has ended in the other store also ends
    /// in this store, unless pages of this store use it.
    fn of(&self, py: Python<'_>, other: &Bound<'_, View>) -> PyResult<Vec<u32>> {
        let other = other.get().now(py)?;
        let epochs = self.open(py)?;
        let numbers = py.detach(|| epochs.of(&other)).or_raise(py)?;
        Ok(numbers.into_iter().map(simkeep::Epoch::number).collect())
    }
}
