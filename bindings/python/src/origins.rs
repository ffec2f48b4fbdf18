//! What makes the fingerprints of the epochs of a store.

use pyo3::prelude::*;

use crate::arg::{self, Arg};
use crate::error::OrRaise;
use crate::origin::Origin;
use crate::view::View;

#[pymethods]
impl View {
    /// What makes the fingerprints of an epoch; `None` if they are made elsewhere.
    ///
    /// Reads its table of document frequencies, if it has one.
    #[pyo3(signature = (epoch: "int"))]
    fn origin<'py>(&self, py: Python<'py>, epoch: &Bound<'py, PyAny>) -> PyResult<Option<Origin>> {
        let snapshot = self.now(py)?;
        let epoch = arg::epoch(Arg::new("epoch"), epoch)?;
        let origin = py.detach(|| simkeep::Origin::of(&snapshot, epoch)).or_raise(py)?;
        Ok(origin.map(Origin))
    }

    /// What makes the fingerprints of content that is observed now, each with the number of its
    /// epoch.
    ///
    /// At most two: of the epoch that verdicts go by first, and of the one that near-duplicates are
    /// sought by; if that is the same, of the newest other that has not ended. Epochs whose
    /// fingerprints are made elsewhere are left out. Reads and checks their tables of document
    /// frequencies, if they have some. Raises `EpochError` if the table of the first is not there,
    /// `CorruptError` if one is damaged.
    fn origins(&self, py: Python<'_>) -> PyResult<Vec<(u32, Origin)>> {
        let snapshot = self.now(py)?;
        let origins = py.detach(|| simkeep::Origin::in_use(&snapshot)).or_raise(py)?;
        Ok(origins.into_iter().map(|(epoch, origin)| (epoch.number(), Origin(origin))).collect())
    }

    /// The name of the file in the store's directory that has the table of document frequencies of
    /// an epoch.
    ///
    /// `None` if it has none, or has ended. Reads nothing.
    #[pyo3(signature = (epoch: "int"))]
    fn table_file(&self, py: Python<'_>, epoch: &Bound<'_, PyAny>) -> PyResult<Option<String>> {
        let snapshot = self.now(py)?;
        Ok(snapshot.table_file(arg::epoch(Arg::new("epoch"), epoch)?))
    }
}
