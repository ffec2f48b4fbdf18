//! What can be asked of a store, in whatever way it is open.

use std::sync::Arc;

use pyo3::prelude::*;
use simkeep::Snapshot;

use super::open::Open;
use super::reading::Reading;
use crate::call::fork::Birth;
use crate::call::long::long;
use crate::call::progress::{self, Progress};

/// What can be asked of a store: what `Store`, `Reader` and `Snapshot` have in common.
///
/// Each question is answered from a snapshot of the moment, and waits for no writer. A page is found in
/// some microseconds, whatever the size of the store.
#[pyclass(subclass, frozen, module = "simkeep")]
pub(crate) struct View {
    source: Source,
}

/// Where snapshots come from.
pub(crate) enum Source {
    Store(Arc<Open>),
    Reader(Arc<Reading>),
    Snapshot {
        snapshot: Snapshot,
        /// The process of the store that it is of; of a reader's any will do.
        birth: Option<Birth>,
    },
}

impl View {
    pub(crate) fn new(source: Source) -> View {
        View { source }
    }

    /// What is there now.
    pub(crate) fn now(&self, py: Python<'_>) -> PyResult<Snapshot> {
        match &self.source {
            Source::Store(open) => Ok(open.store(py)?.snapshot()),
            Source::Reader(reading) => reading.snapshot(py),
            Source::Snapshot { snapshot, birth } => {
                birth.map_or(Ok(()), |birth| birth.check(py))?;
                Ok(snapshot.clone())
            }
        }
    }

    /// The process that alone may read it, if not any.
    pub(crate) fn birth(&self) -> Option<Birth> {
        match &self.source {
            Source::Store(open) => Some(open.birth),
            Source::Reader(_) => None,
            Source::Snapshot { birth, .. } => *birth,
        }
    }

    /// The process that alone may read both, if not any.
    pub(crate) fn birth_with(&self, other: &View) -> Option<Birth> {
        self.birth().or_else(|| other.birth())
    }
}

#[pymethods]
impl View {
    /// The number of the last operation that is seen.
    #[getter]
    fn sequence(&self, py: Python<'_>) -> PyResult<u64> {
        Ok(self.now(py)?.sequence())
    }

    /// Reads the fingerprint tables into memory and checks them, so that searches wait for neither.
    ///
    /// Ctrl-C ends it.
    #[pyo3(signature = (*, progress=None))]
    fn warm_up(&self, py: Python<'_>, progress: Option<&Bound<'_, Progress>>) -> PyResult<()> {
        let snapshot = self.now(py)?;
        let progress = progress::given(progress);
        long(py, &progress, || snapshot.warm_up(&progress))
    }
}
