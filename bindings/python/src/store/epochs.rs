//! The epochs of a store, and the origins of their fingerprints.

use pyo3::prelude::*;
use simkeep::query::count_without_fingerprint;

use super::Store;
use super::view::View;
use crate::convert::arg::{self, Arg};
use crate::convert::error::OrRaise;
use crate::convert::typed::Tuple;
use crate::convert::value::FromRust;
use crate::fingerprint::epoch::{self, EpochInfo};
use crate::fingerprint::origin::{self, Origin};
use crate::pages::outcome::Meaning;

#[pymethods]
impl View {
    /// All epochs, by number.
    fn epochs(&self, py: Python<'_>) -> PyResult<Vec<EpochInfo>> {
        FromRust::from_rust(py, self.now(py)?.epochs().to_vec())
    }

    /// The number of the epoch of verdicts and their distances.
    #[getter]
    fn change_epoch(&self, py: Python<'_>) -> PyResult<u32> {
        Ok(self.now(py)?.change_epoch().number())
    }

    /// The number of the epoch of near-duplicates.
    #[getter]
    fn near_epoch(&self, py: Python<'_>) -> PyResult<u32> {
        Ok(self.now(py)?.near_epoch().number())
    }

    /// The distance of near-duplicates in an epoch.
    ///
    /// The default is the epoch of near-duplicates.
    #[pyo3(signature = (epoch: "int | None" = None))]
    fn near_distance(&self, py: Python<'_>, epoch: Option<&Bound<'_, PyAny>>) -> PyResult<u32> {
        let snapshot = self.now(py)?;
        let epoch = arg::optional(epoch, |epoch| arg::epoch(Arg::new("epoch"), epoch))?;
        Ok(snapshot.near_distance(epoch.unwrap_or_else(|| snapshot.near_epoch())))
    }

    /// The meaning of a distance in an epoch; the default is the epoch of verdicts.
    #[pyo3(signature = (distance: "int", *, epoch: "int | None" = None))]
    fn meaning<'py>(
        &self,
        py: Python<'py>,
        distance: &Bound<'py, PyAny>,
        epoch: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Meaning> {
        let snapshot = self.now(py)?;
        let distance = arg::distance(Arg::new("distance"), distance)?;
        let epoch = arg::optional(epoch, |epoch| arg::epoch(Arg::new("epoch"), epoch))?;
        let epoch = epoch.unwrap_or_else(|| snapshot.change_epoch());
        FromRust::from_rust(py, snapshot.meaning(epoch, distance))
    }

    /// The numbers of the epochs in which the text of a page gets a fingerprint, at most two.
    ///
    /// The page may be HTML or visible text. If there is no such epoch, raises
    /// `InvalidArgumentError` with the name of the store's epoch, and with the name of the epoch to
    /// begin. Reads no data of the store.
    fn text_epochs(&self, py: Python<'_>) -> PyResult<Tuple<u32>> {
        let epochs = simkeep::Origin::text_epochs(&self.now(py)?).or_raise(py)?;
        Tuple::new(py, epochs.iter().map(|epoch| epoch.number()))
    }

    /// The origin of an epoch's fingerprints; `None` if the fingerprints are external.
    ///
    /// Reads the epoch's table of document frequencies, if the epoch has a table.
    #[pyo3(signature = (epoch: "int"))]
    fn origin<'py>(&self, py: Python<'py>, epoch: &Bound<'py, PyAny>) -> PyResult<Option<Origin>> {
        let snapshot = self.now(py)?;
        let epoch = arg::epoch(Arg::new("epoch"), epoch)?;
        let origin = py.detach(|| simkeep::Origin::of(&snapshot, epoch)).or_raise(py)?;
        Ok(origin.map(Origin))
    }

    /// The origins of the fingerprints of new observations, each with the number of its epoch.
    ///
    /// Returns at most two origins: the origin of the epoch of verdicts, then the origin of the
    /// epoch of near-duplicates. If both are the same epoch, the second origin belongs to the
    /// newest other epoch that has not ended. Epochs of external fingerprints are left out. Reads
    /// and checks the tables of document frequencies of the returned epochs. Raises `EpochError` if
    /// the table of the first epoch is missing, and `CorruptError` if a table is damaged.
    fn origins(&self, py: Python<'_>) -> PyResult<Vec<(u32, Origin)>> {
        let snapshot = self.now(py)?;
        let origins = py.detach(|| simkeep::Origin::in_use(&snapshot)).or_raise(py)?;
        Ok(origins.into_iter().map(|(epoch, origin)| (epoch.number(), Origin(origin))).collect())
    }

    /// The name of the file in the store's directory with the table of document frequencies of an
    /// epoch.
    ///
    /// `None` if the epoch has no table, or has ended. Reads no data of the store.
    #[pyo3(signature = (epoch: "int"))]
    fn table_file(&self, py: Python<'_>, epoch: &Bound<'_, PyAny>) -> PyResult<Option<String>> {
        let snapshot = self.now(py)?;
        Ok(snapshot.table_file(arg::epoch(Arg::new("epoch"), epoch)?))
    }

    /// The number of pages with current content that searches of an epoch do not find. Costs a
    /// scan.
    #[pyo3(signature = (epoch: "int", *, classes: "Iterable[int | None] | None" = None))]
    fn count_without_fingerprint<'py>(
        &self,
        py: Python<'py>,
        epoch: &Bound<'py, PyAny>,
        classes: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<u64> {
        let snapshot = self.now(py)?;
        let epoch = arg::epoch(Arg::new("epoch"), epoch)?;
        let classes = arg::optional(classes, |v| arg::classes(Arg::new("classes"), v))?;
        py.detach(|| count_without_fingerprint(&snapshot, epoch, classes.as_ref())).or_raise(py)
    }

    /// The number of distinct searchable fingerprints of an epoch.
    ///
    /// A fingerprint counts once for each segment or memtable that has it. Reads no table.
    #[pyo3(signature = (epoch: "int"))]
    fn fingerprints(&self, py: Python<'_>, epoch: &Bound<'_, PyAny>) -> PyResult<u64> {
        let snapshot = self.now(py)?;
        Ok(snapshot.fingerprints(arg::epoch(Arg::new("epoch"), epoch)?))
    }
}

#[pymethods]
impl Store {
    /// Registers an epoch of external fingerprints by name, and returns its number.
    ///
    /// A known name changes nothing, and costs nothing.
    #[pyo3(signature = (
        name: "str", *, role: "_types.EpochRole | None" = None,
        bands: "_types.EpochBands | None" = None
    ))]
    fn register_epoch<'py>(
        &self,
        py: Python<'py>,
        name: &Bound<'py, PyAny>,
        role: Option<&Bound<'py, PyAny>>,
        bands: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<u32> {
        let (name, options) = (arg::text(Arg::new("name"), name)?, epoch::options(role, bands)?);
        Ok(self.call(py, |store| store.register_epoch(name, options))?.number())
    }

    /// Begins an epoch of fingerprints that simkeep makes, and returns its number.
    ///
    /// `origin` is an `Origin`, or the name of its recipe. The new epoch becomes the newest of its
    /// role. The table of document frequencies of the epoch
    /// is copied into the store.
    #[pyo3(signature = (
        origin: "Origin | str", *, role: "_types.EpochRole | None" = None,
        bands: "_types.EpochBands | None" = None
    ))]
    fn begin_epoch<'py>(
        &self,
        py: Python<'py>,
        origin: &Bound<'py, PyAny>,
        role: Option<&Bound<'py, PyAny>>,
        bands: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<u32> {
        let origin = origin::origin(Arg::new("origin"), origin)?;
        let options = epoch::options(role, bands)?;
        Ok(self.call(py, |store| store.begin_epoch(&origin, options))?.number())
    }

    /// Ends an epoch permanently.
    ///
    /// Fails if more than `left` pages would have no comparable fingerprint; `None` means no limit.
    #[pyo3(signature = (epoch: "int", *, left: "int | None" = 0))]
    fn end_epoch<'py>(
        &self,
        py: Python<'py>,
        epoch: &Bound<'py, PyAny>,
        #[pyo3(from_py_with = left)] left: u64,
    ) -> PyResult<()> {
        let epoch = arg::epoch(Arg::new("epoch"), epoch)?;
        self.call(py, |store| store.end_epoch(epoch, left))
    }
}

/// Converts the number of pages that may be left without a fingerprint; `None` means no limit.
fn left(given: &Bound<'_, PyAny>) -> PyResult<u64> {
    if given.is_none() { Ok(u64::MAX) } else { arg::count(Arg::new("left"), given) }
}
