//! Tables of document frequencies.

use std::path::PathBuf;
use std::sync::Arc;

use parking_lot::Mutex;
use pyo3::prelude::*;
use simkeep::df;
use simkeep::fingerprint::Frequencies;

use crate::call::fork::ForkCheck;
use crate::convert::arg::{self, Arg};
use crate::convert::error::{OrRaise, of_class};
use crate::convert::value::{FromRust, value};
use crate::fingerprint::origin::recipe;

/// A frozen table of document frequencies: a memory-mapped file. Opening a table reads and checks
/// the whole file.
#[pyclass(frozen, module = "simkeep")]
pub(crate) struct FrequencyTable(Arc<df::FrequencyTable>);

impl FrequencyTable {
    pub(crate) fn table(&self) -> Arc<df::FrequencyTable> {
        Arc::clone(&self.0)
    }
}

#[pymethods]
impl FrequencyTable {
    #[new]
    fn new(py: Python<'_>, path: PathBuf) -> PyResult<FrequencyTable> {
        let table = py.detach(|| df::FrequencyTable::open(path)).or_raise(py)?;
        Ok(FrequencyTable(Arc::new(table)))
    }

    /// The identity of the table: its checksum.
    #[getter]
    fn id(&self) -> u64 {
        self.0.id()
    }

    /// The number of counted documents.
    #[getter]
    fn documents(&self) -> u64 {
        self.0.documents()
    }

    /// The number of features in the table.
    #[getter]
    fn terms(&self) -> u64 {
        self.0.terms()
    }

    /// The kind of features: the first part of the names of the recipes that can use the table.
    #[getter]
    fn features(&self) -> &str {
        self.0.features()
    }

    /// The minimum number of documents of a feature in the table, and the number of rarer features
    /// that were left out.
    #[getter]
    fn left_out(&self) -> (u32, u64) {
        self.0.left_out()
    }

    /// The length of the file in bytes.
    #[getter]
    fn bytes(&self) -> u64 {
        self.0.bytes()
    }

    fn __repr__(&self) -> String {
        let (id, terms, documents) = (self.0.id(), self.0.terms(), self.0.documents());
        format!("<simkeep.df.FrequencyTable {id:016x}: {terms} terms in {documents} documents>")
    }
}

/// Counts the documents with each feature, for a new table in a file.
///
/// Counts that do not fit into `memory_bytes` (64 MiB by default) go to a scratch file next to the
/// table.
#[pyclass(frozen, module = "simkeep")]
pub(crate) struct FrequencyCounter {
    /// `None` once the counter was frozen or closed, or while a thread counts.
    counter: Mutex<Option<df::FrequencyCounter>>,
    birth: ForkCheck,
}

impl FrequencyCounter {
    fn take(&self, py: Python<'_>) -> PyResult<df::FrequencyCounter> {
        self.birth.check(py)?;
        let message = "the counter was frozen or closed, or another thread is using it";
        let taken = self.counter.lock().take();
        taken.ok_or_else(|| of_class(py, "InvalidArgumentError", message.to_owned()))
    }
}

#[pymethods]
impl FrequencyCounter {
    #[new]
    #[pyo3(signature = (path, recipe: "str | None" = None, *, memory_bytes: "int | None" = None))]
    fn new<'py>(
        py: Python<'py>,
        path: PathBuf,
        recipe: Option<&Bound<'py, PyAny>>,
        memory_bytes: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<FrequencyCounter> {
        let recipe = self::recipe(Arg::new("recipe"), recipe)?;
        let bytes = arg::optional(memory_bytes, |v| arg::size(Arg::new("memory_bytes"), v))?;
        let bytes = bytes.unwrap_or(64 << 20);
        let counter = py.detach(|| df::FrequencyCounter::new(&recipe, path, bytes)).or_raise(py)?;
        Ok(FrequencyCounter { counter: Mutex::new(Some(counter)), birth: ForkCheck::now() })
    }

    /// Counts a document.
    #[pyo3(signature = (text: "str"))]
    fn add<'py>(&self, py: Python<'py>, text: &Bound<'py, PyAny>) -> PyResult<()> {
        let text = arg::content(Arg::new("text"), text)?;
        let mut counter = self.take(py)?;
        let (added, counter) = py.detach(|| {
            let added = counter.add(&text);
            (added, counter)
        });
        *self.counter.lock() = Some(counter);
        added.or_raise(py)
    }

    /// Writes the table, without features of fewer than `least` documents, and opens it.
    #[pyo3(signature = (least: "int" = 1))]
    fn freeze(&self, py: Python<'_>, least: u32) -> PyResult<FrequencyTable> {
        let counter = self.take(py)?;
        let table = py.detach(|| counter.freeze(least)).or_raise(py)?;
        Ok(FrequencyTable(Arc::new(table)))
    }

    /// Discards the counts, and leaves no file, unless the table was frozen. May be called twice.
    fn close(&self, py: Python<'_>) {
        let taken = self.counter.lock().take();
        py.detach(|| drop(taken));
    }

    fn __enter__(slf: Bound<'_, Self>) -> Bound<'_, Self> {
        slf
    }

    #[pyo3(signature = (*_raised: "object"))]
    fn __exit__(&self, py: Python<'_>, _raised: &Bound<'_, PyAny>) {
        self.close(py);
    }
}

/// Converts the minimum number of documents of a feature.
fn least(given: &Bound<'_, PyAny>) -> PyResult<u32> {
    arg::u32(Arg::new("least"), given)
}

/// Adds up the tables in some files, and writes the sum to another file.
///
/// Leaves out features of fewer than `least` documents.
#[pyfunction]
#[pyo3(signature = (tables: "list[str | PathLike[str]]", path, least: "int" = 1))]
pub(crate) fn merge(
    py: Python<'_>,
    tables: Vec<PathBuf>,
    path: PathBuf,
    #[pyo3(from_py_with = least)] least: u32,
) -> PyResult<FrequencyTable> {
    let merged = py.detach(|| {
        let tables =
            tables.iter().map(df::FrequencyTable::open).collect::<simkeep::Result<Vec<_>>>()?;
        df::merge(&tables, path, least)
    });
    Ok(FrequencyTable(Arc::new(merged.or_raise(py)?)))
}

value! {
    in "simkeep.df";
    /// The differences between the weights by two tables for the same pages.
    TableComparison from comparison: simkeep::df::TableComparison {
        common: u64,
        first_only: u64,
        second_only: u64,
        known: f64,
        difference: f64,
        idf: f64,
    }
}

/// Compares two tables of document frequencies, to explain why fingerprints by these tables differ.
/// Reads both tables once.
#[pyfunction]
pub(crate) fn compare(
    py: Python<'_>,
    first: &Bound<'_, FrequencyTable>,
    second: &Bound<'_, FrequencyTable>,
) -> PyResult<TableComparison> {
    let (first, second) = (first.get().table(), second.get().table());
    TableComparison::from_rust(py, py.detach(|| df::TableComparison::of(&first, &second)))
}
