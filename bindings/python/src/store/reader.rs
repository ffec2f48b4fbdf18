//! Readers of a store, and snapshots.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use pyo3::prelude::*;
use pyo3::types::PyType;

use super::open::shown;
use super::reading::{OpenReader, ReaderKind};
use super::view::{SnapshotSource, View};
use crate::convert::arg::{self, Arg};
use crate::convert::time::PyTime;
use crate::convert::value::{FromRust, no_pickle};
use crate::maintain::publishing::IncompleteGeneration;
use crate::maintain::stats::Stats;

/// The data to reopen a reader: its class, its path, whether it uses plain reads, whether the store
/// is published, and the number of the generation.
type ReaderReduce<'py> = (Bound<'py, PyType>, PathBuf, bool, bool, Option<u64>);

/// A read-only view of a store, which another process may have open for writing. Needs no write
/// permission.
///
/// A reader sees all operations that were acknowledged before it was opened or refreshed, and does
/// not write to the store's directory. For a published store, `Reader` opens the newest complete
/// generation; `Reader.published` opens a generation by its number. A reader may be used in a
/// forked process, and is pickled as its path, and reopened. With `plain_reads=True` segments are
/// read whole into memory instead of being mapped.
#[pyclass(frozen, extends = View, module = "simkeep")]
pub(crate) struct Reader {
    reading: Arc<OpenReader>,
}

impl Reader {
    fn of(
        py: Python<'_>,
        path: &Path,
        plain: bool,
        of: ReaderKind,
    ) -> PyResult<PyClassInitializer<Reader>> {
        let reading = Arc::new(OpenReader::open(py, path, plain, of)?);
        let view = View::new(SnapshotSource::Reader(Arc::clone(&reading)));
        Ok(PyClassInitializer::from(view).add_subclass(Reader { reading }))
    }
}

#[pymethods]
impl Reader {
    #[new]
    #[pyo3(signature = (path, *, plain_reads=false))]
    fn new(py: Python<'_>, path: PathBuf, plain_reads: bool) -> PyResult<PyClassInitializer<Self>> {
        Reader::of(py, &path, plain_reads, ReaderKind::Store)
    }

    /// Opens a published generation in a directory: the generation with a number, or the newest.
    ///
    /// Takes no lock, and needs only the files of the generation. `refresh` advances to the newest
    /// generation if the reader was opened without a number; otherwise `refresh` does nothing.
    #[staticmethod]
    #[pyo3(signature = (path, generation: "int | None" = None, *, plain_reads=false))]
    fn published(
        py: Python<'_>,
        path: PathBuf,
        generation: Option<&Bound<'_, PyAny>>,
        plain_reads: bool,
    ) -> PyResult<Py<Reader>> {
        let number = |given: &Bound<'_, PyAny>| arg::count(Arg::new("generation"), given);
        let of = ReaderKind::Published(arg::optional(generation, number)?);
        Py::new(py, Reader::of(py, &path, plain_reads, of)?)
    }

    /// The number of the generation; `None` for a store.
    #[getter]
    fn generation(&self, py: Python<'_>) -> PyResult<Option<u64>> {
        self.reading.with(py, |reader| Ok(reader.generation()))
    }

    /// The newest generation in the directory, if it is incomplete and an older generation is read.
    ///
    /// An incomplete generation is still being copied, or one of its files was truncated. `None`
    /// for a store.
    #[getter]
    fn incomplete(&self, py: Python<'_>) -> PyResult<Option<IncompleteGeneration>> {
        let newer = self.reading.with(py, |reader| Ok(reader.incomplete().cloned()))?;
        FromRust::from_rust(py, newer)
    }

    /// Advances to the newest state, and returns whether the state changed.
    fn refresh(&self, py: Python<'_>) -> PyResult<bool> {
        self.reading.with(py, |reader| reader.refresh())
    }

    /// A snapshot of the current view, which does not change when the reader is refreshed.
    fn snapshot(&self, py: Python<'_>) -> PyResult<Py<Snapshot>> {
        Snapshot::of(py, self.reading.snapshot(py)?, None)
    }

    /// The number of acknowledged operations that this reader does not see.
    ///
    /// Costs one small read.
    fn behind(&self, py: Python<'_>) -> PyResult<u64> {
        self.reading.with(py, |reader| Ok(reader.behind()))
    }

    /// The time when this state was the newest, if a writer was active at that time. For a
    /// generation, the time when it was published.
    ///
    /// `None` if there was no writer.
    #[getter]
    fn written(&self, py: Python<'_>) -> PyResult<Option<PyTime>> {
        let written = self.reading.with(py, |reader| Ok(reader.written()))?;
        Ok(written.map(|written| PyTime(written.into())))
    }

    /// Whether commits followed each other too fast to read the journal, so that only sealed
    /// operations are visible.
    #[getter]
    fn fell_back(&self, py: Python<'_>) -> PyResult<bool> {
        self.reading.with(py, |reader| Ok(reader.fell_back()))
    }

    /// Sizes of the reader's view. Reads no table.
    fn stats(&self, py: Python<'_>) -> PyResult<Stats> {
        let stats = self.reading.with(py, |reader| reader.stats())?;
        Stats::from_rust(py, stats)
    }

    /// The path of the store.
    #[getter]
    fn path(&self) -> PathBuf {
        self.reading.path.clone()
    }

    /// Whether the reader was closed.
    #[getter]
    fn closed(&self) -> bool {
        self.reading.is_closed()
    }

    /// Releases the files. May be called twice.
    fn close(&self, py: Python<'_>) {
        self.reading.close(py);
    }

    fn __enter__(slf: Bound<'_, Self>) -> Bound<'_, Self> {
        slf
    }

    #[pyo3(signature = (*_raised: "object"))]
    fn __exit__(&self, py: Python<'_>, _raised: &Bound<'_, PyAny>) {
        self.close(py);
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        let path = shown(py, &self.reading.path)?;
        let plain = if self.reading.plain { ", plain_reads=True" } else { "" };
        Ok(match self.reading.of {
            ReaderKind::Store => format!("simkeep.Reader({path}{plain})"),
            ReaderKind::Published(None) => format!("simkeep.Reader.published({path}{plain})"),
            ReaderKind::Published(Some(number)) => {
                format!("simkeep.Reader.published({path}, {number}{plain})")
            }
        })
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<(Bound<'py, PyAny>, ReaderReduce<'py>)> {
        let open = slf.py().import("simkeep._words")?.getattr("_reader")?;
        let reading = &slf.get().reading;
        let (published, generation) = match reading.of {
            ReaderKind::Store => (false, None),
            ReaderKind::Published(generation) => (true, generation),
        };
        let path = reading.path.clone();
        Ok((open, (slf.get_type(), path, reading.plain, published, generation)))
    }
}

/// A snapshot of a store: later observations, merges and forgets do not affect it.
///
/// The files of a snapshot are kept until it is released.
#[pyclass(frozen, extends = View, module = "simkeep")]
pub(crate) struct Snapshot {
    shown: String,
}

impl Snapshot {
    pub(crate) fn of(
        py: Python<'_>,
        snapshot: simkeep::Snapshot,
        birth: Option<crate::call::fork::ForkCheck>,
    ) -> PyResult<Py<Snapshot>> {
        let shown = format!("<simkeep.{snapshot:?}>");
        let view = View::new(SnapshotSource::Snapshot { snapshot, birth });
        Py::new(py, PyClassInitializer::from(view).add_subclass(Snapshot { shown }))
    }
}

#[pymethods]
impl Snapshot {
    fn __repr__(&self) -> &str {
        &self.shown
    }

    fn __reduce__(&self) -> PyResult<()> {
        Err(no_pickle("Snapshot", "pickle a Reader"))
    }
}
