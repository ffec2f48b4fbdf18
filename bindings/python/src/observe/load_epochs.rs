//! The epochs that a load adds.

use pyo3::prelude::*;
use simkeep::load;

use crate::call::fork::ForkCheck;
use crate::convert::arg::{self, Arg};
use crate::convert::error::OrRaise;
use crate::fingerprint::df::FrequencyTable;
use crate::fingerprint::epoch;
use crate::fingerprint::origin;

/// The epochs of a load. The epochs begin when the load is done, in the same commit.
///
/// The object assigns numbers to epochs, for the observations of one load. Pass the object to the
/// load as `epochs`. Epochs may be added even while the load reads its observations. If the load
/// fails, the epochs do not begin. The name of an existing epoch means the existing epoch.
#[pyclass(frozen, module = "simkeep")]
pub(crate) struct LoadEpochs {
    epochs: load::LoadEpochs,
    /// The process in which the epochs may be used. Another thread's load may hold the lock of the
    /// epochs when the process is forked.
    birth: ForkCheck,
}

impl LoadEpochs {
    /// Returns the epochs, if they may be used.
    pub(crate) fn open(&self, py: Python<'_>) -> PyResult<&load::LoadEpochs> {
        self.birth.check(py)?;
        Ok(&self.epochs)
    }
}

#[pymethods]
impl LoadEpochs {
    #[new]
    fn new() -> LoadEpochs {
        LoadEpochs { epochs: load::LoadEpochs::default(), birth: ForkCheck::now() }
    }

    /// The number in the load of the epoch with this name, for external fingerprints.
    ///
    /// A new epoch begins if the store has no epoch with this name. Raises `InvalidArgumentError`
    /// for a name that is empty or has control characters, or that was used before with other
    /// options.
    #[pyo3(signature = (
        name: "str", *, role: "_types.EpochRole | None" = None,
        bands: "_types.EpochBands | None" = None
    ))]
    fn named<'py>(
        &self,
        py: Python<'py>,
        name: &Bound<'py, PyAny>,
        role: Option<&Bound<'py, PyAny>>,
        bands: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<u32> {
        let (name, options) = (arg::text(Arg::new("name"), name)?, epoch::options(role, bands)?);
        let epochs = self.open(py)?;
        Ok(py.detach(|| epochs.named(name, options)).or_raise(py)?.number())
    }

    /// The number in the load of an epoch whose fingerprints simkeep makes.
    ///
    /// `origin` is an `Origin`, or the name of its recipe. A new epoch begins if the store has no
    /// epoch with the name of the origin. The table of
    /// document frequencies, if the origin has one, is copied into the store.
    #[pyo3(signature = (
        origin: "Origin | str", *, role: "_types.EpochRole | None" = None,
        bands: "_types.EpochBands | None" = None
    ))]
    fn origin<'py>(
        &self,
        py: Python<'py>,
        origin: &Bound<'py, PyAny>,
        role: Option<&Bound<'py, PyAny>>,
        bands: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<u32> {
        let options = epoch::options(role, bands)?;
        let (epochs, origin) = (self.open(py)?, origin::origin(Arg::new("origin"), origin)?);
        Ok(py.detach(|| epochs.origin(&origin, options)).or_raise(py)?.number())
    }

    /// The number in the load of an epoch of another store, with these properties.
    ///
    /// `reserved` is the number of leading bits of the epoch's fingerprints for metadata. The other
    /// arguments are the options of the epoch, the number of visits that the other store had when
    /// the epoch began, and whether the epoch has ended in the other store. Add the epoch's table
    /// with `table`.
    #[pyo3(signature = (
        name: "str", *, reserved: "int" = 0, role: "_types.EpochRole | None" = None,
        bands: "_types.EpochBands | None" = None, begun: "int" = 0, ended=false
    ))]
    fn described<'py>(
        &self,
        py: Python<'py>,
        name: &Bound<'py, PyAny>,
        #[pyo3(from_py_with = reserved)] reserved: u32,
        role: Option<&Bound<'py, PyAny>>,
        bands: Option<&Bound<'py, PyAny>>,
        #[pyo3(from_py_with = begun)] begun: u64,
        ended: bool,
    ) -> PyResult<u32> {
        let (name, options) = (arg::text(Arg::new("name"), name)?, epoch::options(role, bands)?);
        let epochs = self.open(py)?;
        let number = py.detach(|| epochs.described(name, reserved, options, begun, ended));
        Ok(number.or_raise(py)?.number())
    }

    /// Adds the table of document frequencies of an epoch of this load.
    ///
    /// The table is copied into the store, unless the store already has it. Raises `EpochError` for
    /// a number that this object did not assign, and `InvalidArgumentError` if the epoch's name
    /// belongs to a different table, or to no table.
    #[pyo3(signature = (epoch: "int", table))]
    fn table<'py>(
        &self,
        py: Python<'py>,
        epoch: &Bound<'py, PyAny>,
        table: &Bound<'py, FrequencyTable>,
    ) -> PyResult<()> {
        let epoch = arg::epoch(Arg::new("epoch"), epoch)?;
        let (epochs, table) = (self.open(py)?, table.get().table());
        py.detach(|| epochs.table(epoch, table)).or_raise(py)
    }

    fn __repr__(&self) -> &'static str {
        "<simkeep.LoadEpochs>"
    }
}

/// Converts the number of reserved leading bits of fingerprints.
fn reserved(given: &Bound<'_, PyAny>) -> PyResult<u32> {
    arg::u32(Arg::new("reserved"), given)
}

/// Converts the number of visits when an epoch began.
fn begun(given: &Bound<'_, PyAny>) -> PyResult<u64> {
    arg::count(Arg::new("begun"), given)
}
