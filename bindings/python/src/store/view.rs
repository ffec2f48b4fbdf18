//! Queries on a store that is open for reading or for writing.

use std::sync::Arc;

use pyo3::prelude::*;
use simkeep::Snapshot;

use super::open::OpenHandle;
use super::reading::OpenReader;
use crate::call::fork::ForkCheck;
use crate::call::long::long;
use crate::call::progress::{self, Progress};

/// The queries on a store: the common methods of `Store`, `Reader` and `Snapshot`.
///
/// Each query uses a snapshot of the current state, and does not wait for a writer. Finding a page
/// takes some microseconds, for any size of the store.
#[pyclass(subclass, frozen, module = "simkeep")]
pub(crate) struct View {
    source: SnapshotSource,
}

/// The source of snapshots.
pub(crate) enum SnapshotSource {
    Store(Arc<OpenHandle>),
    Reader(Arc<OpenReader>),
    Snapshot {
        snapshot: Snapshot,
        /// The process of the store; `None` for a reader, which works in any process.
        birth: Option<ForkCheck>,
    },
}

impl View {
    pub(crate) fn new(source: SnapshotSource) -> View {
        View { source }
    }

    /// Returns a snapshot of the current state.
    pub(crate) fn now(&self, py: Python<'_>) -> PyResult<Snapshot> {
        match &self.source {
            SnapshotSource::Store(open) => Ok(open.store(py)?.snapshot()),
            SnapshotSource::Reader(reading) => reading.snapshot(py),
            SnapshotSource::Snapshot { snapshot, birth } => {
                birth.map_or(Ok(()), |birth| birth.check(py))?;
                Ok(snapshot.clone())
            }
        }
    }

    /// Returns the process that may read the view; `None` if every process may read it.
    pub(crate) fn birth(&self) -> Option<ForkCheck> {
        match &self.source {
            SnapshotSource::Store(open) => Some(open.birth),
            SnapshotSource::Reader(_) => None,
            SnapshotSource::Snapshot { birth, .. } => *birth,
        }
    }

    /// Returns the process that may read both views; `None` if every process may read them.
    pub(crate) fn birth_with(&self, other: &View) -> Option<ForkCheck> {
        self.birth().or_else(|| other.birth())
    }
}

#[pymethods]
impl View {
    /// The number of the last visible operation.
    #[getter]
    fn sequence(&self, py: Python<'_>) -> PyResult<u64> {
        Ok(self.now(py)?.sequence())
    }

    /// Reads the fingerprint tables into memory and checks them, so that searches do not need to.
    ///
    /// Ctrl-C ends the call.
    #[pyo3(signature = (*, progress=None))]
    fn warm_up(&self, py: Python<'_>, progress: Option<&Bound<'_, Progress>>) -> PyResult<()> {
        let snapshot = self.now(py)?;
        let progress = progress::or_default(progress);
        long(py, &progress, || snapshot.warm_up(&progress))
    }
}
