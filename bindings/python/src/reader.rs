//! A store that is read beside its writer, and a moment of a store.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::UNIX_EPOCH;

use pyo3::prelude::*;
use pyo3::types::PyType;

use crate::reading::Reading;
use crate::stats::Stats;
use crate::time::Time;
use crate::value::no_pickle;
use crate::view::{Source, View};

/// What opens a reader again: its class, its path, and whether it reads plainly.
type Call<'py> = (Bound<'py, PyType>, PathBuf, bool);

/// A read-only view of a store, also beside a writer in another process, and without permission to
/// write.
///
/// It sees everything that was acknowledged before it was opened or refreshed, and writes nothing
/// to the store's directory. It may be used in a forked process, and is pickled as its path, and
/// opened anew. With `plain_reads=True` segments are read whole into memory instead of being
/// mapped.
#[pyclass(frozen, extends = View, module = "simkeep")]
pub(crate) struct Reader {
    reading: Arc<Reading>,
}

#[pymethods]
impl Reader {
    #[new]
    #[pyo3(signature = (path, *, plain_reads=false))]
    fn new(py: Python<'_>, path: PathBuf, plain_reads: bool) -> PyResult<PyClassInitializer<Self>> {
        let reading = Arc::new(Reading::open(py, &path, plain_reads)?);
        let view = View::new(Source::Reader(Arc::clone(&reading)));
        Ok(PyClassInitializer::from(view).add_subclass(Reader { reading }))
    }

    /// Moves on to the newest state, and says whether anything changed.
    fn refresh(&self, py: Python<'_>) -> PyResult<bool> {
        self.reading.with(py, |reader| reader.refresh())
    }

    /// What is seen now, which does not change when the reader is refreshed.
    fn snapshot(&self, py: Python<'_>) -> PyResult<Py<Snapshot>> {
        Snapshot::of(py, self.reading.snapshot(py)?, None)
    }

    /// How many operations have been acknowledged by now that this reader does not see. Costs one small
    /// read.
    fn behind(&self, py: Python<'_>) -> PyResult<u64> {
        self.reading.with(py, |reader| Ok(reader.behind()))
    }

    /// When this was the newest state of the store, if a writer was at work then; `None` if there
    /// was none.
    #[getter]
    fn written(&self, py: Python<'_>) -> PyResult<Option<Time>> {
        let written = self.reading.with(py, |reader| Ok(reader.written()))?;
        let since = written.and_then(|written| written.duration_since(UNIX_EPOCH).ok());
        Ok(since.and_then(|since| i64::try_from(since.as_millis()).ok()).map(Time))
    }

    /// Whether the writer's commits followed one another too fast, so that this is only what it had
    /// sealed.
    #[getter]
    fn fell_back(&self, py: Python<'_>) -> PyResult<bool> {
        self.reading.with(py, |reader| Ok(reader.fell_back()))
    }

    /// Sizes of what is seen. Reads no table.
    fn stats(&self, py: Python<'_>) -> PyResult<Stats> {
        let stats = self.reading.with(py, |reader| reader.stats())?;
        Stats::of(py, stats)
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

    #[pyo3(signature = (*_raised))]
    fn __exit__(&self, py: Python<'_>, _raised: &Bound<'_, PyAny>) {
        self.close(py);
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        let path = crate::open::shown(py, &self.reading.path)?;
        Ok(format!(
            "simkeep.Reader({path}{})",
            if self.reading.plain { ", plain_reads=True" } else { "" }
        ))
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<(Bound<'py, PyAny>, Call<'py>)> {
        let open = slf.py().import("simkeep._words")?.getattr("_reader")?;
        let reading = &slf.get().reading;
        Ok((open, (slf.get_type(), reading.path.clone(), reading.plain)))
    }
}

/// A moment of a store: it does not change, whatever is observed, merged or forgotten later. The
/// files that it needs stay until it is gone.
#[pyclass(frozen, extends = View, module = "simkeep")]
pub(crate) struct Snapshot {
    shown: String,
}

impl Snapshot {
    pub(crate) fn of(
        py: Python<'_>,
        snapshot: simkeep::Snapshot,
        birth: Option<crate::fork::Birth>,
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
