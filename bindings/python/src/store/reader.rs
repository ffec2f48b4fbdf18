//! A store that is read beside its writer, and a moment of a store.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use pyo3::prelude::*;
use pyo3::types::PyType;

use super::open::shown;
use super::reading::{Of, Reading};
use super::view::{Source, View};
use crate::convert::arg::{self, Arg};
use crate::convert::time::Time;
use crate::convert::value::{FromRust, no_pickle};
use crate::maintain::publishing::Incomplete;
use crate::maintain::stats::Stats;

/// What opens a reader again: its class, its path, whether it reads plainly, whether what is published,
/// and which generation of that.
type Call<'py> = (Bound<'py, PyType>, PathBuf, bool, bool, Option<u64>);

/// A read-only view of a store, also beside a writer in another process, and without permission to
/// write.
///
/// It sees everything that was acknowledged before it was opened or refreshed, and writes nothing to
/// the store's directory. Where a store is published it opens the newest generation that is whole;
/// `Reader.published` opens one by its number. A reader may be used in
/// a forked process, and is pickled as its path, and opened anew. With `plain_reads=True` segments are
/// read whole into memory instead of being mapped.
#[pyclass(frozen, extends = View, module = "simkeep")]
pub(crate) struct Reader {
    reading: Arc<Reading>,
}

impl Reader {
    fn of(
        py: Python<'_>,
        path: &Path,
        plain: bool,
        of: Of,
    ) -> PyResult<PyClassInitializer<Reader>> {
        let reading = Arc::new(Reading::open(py, path, plain, of)?);
        let view = View::new(Source::Reader(Arc::clone(&reading)));
        Ok(PyClassInitializer::from(view).add_subclass(Reader { reading }))
    }
}

#[pymethods]
impl Reader {
    #[new]
    #[pyo3(signature = (path, *, plain_reads=false))]
    fn new(py: Python<'_>, path: PathBuf, plain_reads: bool) -> PyResult<PyClassInitializer<Self>> {
        Reader::of(py, &path, plain_reads, Of::Store)
    }

    /// Opens a generation that is published in a directory: the one of a number, or the newest.
    ///
    /// Takes no lock, and needs nothing but the files that the generation names. `refresh` moves on to
    /// the newest generation if no number was given, and else to nothing.
    #[staticmethod]
    #[pyo3(signature = (path, generation: "int | None" = None, *, plain_reads=false))]
    fn published(
        py: Python<'_>,
        path: PathBuf,
        generation: Option<&Bound<'_, PyAny>>,
        plain_reads: bool,
    ) -> PyResult<Py<Reader>> {
        let number = |given: &Bound<'_, PyAny>| arg::count(Arg::new("generation"), given);
        let of = Of::Published(arg::optional(generation, number)?);
        Py::new(py, Reader::of(py, &path, plain_reads, of)?)
    }

    /// The number of the generation that this is; `None` if it reads a store.
    #[getter]
    fn generation(&self, py: Python<'_>) -> PyResult<Option<u64>> {
        self.reading.with(py, |reader| Ok(reader.generation()))
    }

    /// The newest generation in the directory, if it is not whole and an older one is read.
    ///
    /// It is being carried there still, or a file of it was cut. `None` if it reads a store.
    #[getter]
    fn incomplete(&self, py: Python<'_>) -> PyResult<Option<Incomplete>> {
        let newer = self.reading.with(py, |reader| Ok(reader.incomplete().cloned()))?;
        FromRust::from_rust(py, newer)
    }

    /// Moves on to the newest state, and says whether anything changed.
    fn refresh(&self, py: Python<'_>) -> PyResult<bool> {
        self.reading.with(py, |reader| reader.refresh())
    }

    /// What is seen now, which does not change when the reader is refreshed.
    fn snapshot(&self, py: Python<'_>) -> PyResult<Py<Snapshot>> {
        Snapshot::of(py, self.reading.snapshot(py)?, None)
    }

    /// How many operations have been acknowledged by now that this reader does not see.
    ///
    /// Costs one small read.
    fn behind(&self, py: Python<'_>) -> PyResult<u64> {
        self.reading.with(py, |reader| Ok(reader.behind()))
    }

    /// When this was the newest state, if a writer was at work then; of a generation, when it was
    /// published.
    ///
    /// `None` if there was no writer.
    #[getter]
    fn written(&self, py: Python<'_>) -> PyResult<Option<Time>> {
        let written = self.reading.with(py, |reader| Ok(reader.written()))?;
        Ok(written.map(|written| Time(written.into())))
    }

    /// Whether the writer's commits followed one another too fast, so that this is only what was
    /// sealed.
    #[getter]
    fn fell_back(&self, py: Python<'_>) -> PyResult<bool> {
        self.reading.with(py, |reader| Ok(reader.fell_back()))
    }

    /// Sizes of what is seen. Reads no table.
    fn stats(&self, py: Python<'_>) -> PyResult<Stats> {
        let stats = self.reading.with(py, |reader| reader.stats())?;
        Stats::from_rust(py, stats)
    }

    /// Where the store is.
    #[getter]
    fn path(&self) -> PathBuf {
        self.reading.path.clone()
    }

    /// Whether it was closed.
    #[getter]
    fn closed(&self) -> bool {
        self.reading.is_closed()
    }

    /// Lets go of the files. May be called twice.
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
            Of::Store => format!("simkeep.Reader({path}{plain})"),
            Of::Published(None) => format!("simkeep.Reader.published({path}{plain})"),
            Of::Published(Some(number)) => {
                format!("simkeep.Reader.published({path}, {number}{plain})")
            }
        })
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<(Bound<'py, PyAny>, Call<'py>)> {
        let open = slf.py().import("simkeep._words")?.getattr("_reader")?;
        let reading = &slf.get().reading;
        let (published, generation) = match reading.of {
            Of::Store => (false, None),
            Of::Published(generation) => (true, generation),
        };
        let path = reading.path.clone();
        Ok((open, (slf.get_type(), path, reading.plain, published, generation)))
    }
}

/// A moment of a store: it does not change, whatever is observed, merged or forgotten later.
///
/// The files that it needs stay until it is gone.
#[pyclass(frozen, extends = View, module = "simkeep")]
pub(crate) struct Snapshot {
    shown: String,
}

impl Snapshot {
    pub(crate) fn of(
        py: Python<'_>,
        snapshot: simkeep::Snapshot,
        birth: Option<crate::call::fork::Birth>,
    ) -> PyResult<Py<Snapshot>> {
        let shown = format!("<simkeep.{snapshot:?}>");
        let view = View::new(Source::Snapshot { snapshot, birth });
        Py::new(py, PyClassInitializer::from(view).add_subclass(Snapshot { shown }))
    }
}

#[pymethods]
impl Snapshot {
    fn __repr__(&self) -> &str {
        &self.shown
    }

    fn __reduce__(&self) -> PyResult<()> {
        Err(no_pickle("Snapshot", "open a Reader instead"))
    }
}
