//! Epochs: what a store knows of them, and on what terms they begin.

use pyo3::prelude::*;
use simkeep::Terms;

use crate::arg::{self, Arg, optional};
use crate::value::value;
use crate::word::Role;

value! {
    /// Which distances are minor changes, and which moderate ones.
    Bands {
        /// The greatest distance of a minor change.
        minor: u32,
        /// The greatest distance of a moderate change.
        moderate: u32,
    }
}

value! {
    /// What a store knows of an epoch.
    EpochInfo {
        /// Its number.
        epoch: u32,
        /// Its name, which no other epoch of the store has.
        name: String,
        /// How many visits the store knew when it began.
        begun: u64,
        /// What its fingerprints are for.
        role: Role,
        /// Which of their distances are minor changes, and which moderate ones.
        bands: Py<Bands>,
        /// Whether it has ended.
        ended: bool,
    }
}

impl From<simkeep::fingerprint::Bands> for Bands {
    fn from(bands: simkeep::fingerprint::Bands) -> Bands {
        Bands { minor: bands.minor, moderate: bands.moderate }
    }
}

impl From<&Bands> for simkeep::fingerprint::Bands {
    fn from(bands: &Bands) -> simkeep::fingerprint::Bands {
        simkeep::fingerprint::Bands { minor: bands.minor, moderate: bands.moderate }
    }
}

impl EpochInfo {
    pub(crate) fn of(py: Python<'_>, info: &simkeep::EpochInfo) -> PyResult<EpochInfo> {
        Ok(EpochInfo {
            epoch: info.epoch.number(),
            name: info.name.clone(),
            begun: info.begun,
            role: info.role.into(),
            bands: Py::new(py, Bands::from(info.bands))?,
            ended: info.ended,
        })
    }
}

/// Bands, as they are given.
pub(crate) fn bands(arg: Arg, given: &Bound<'_, PyAny>) -> PyResult<simkeep::fingerprint::Bands> {
    let expected =
        "Bands, or a pair of ints: the greatest minor and the greatest moderate distance";
    if let Ok(bands) = given.cast::<Bands>() {
        return Ok(bands.get().into());
    }
    let (minor, moderate) = arg::pair(arg, given, expected)?;
    let (minor, moderate) = (arg::distance(arg, &minor)?, arg::distance(arg, &moderate)?);
    Ok(simkeep::fingerprint::Bands { minor, moderate })
}

/// The terms of an epoch, as they are given.
pub(crate) fn terms(
    role: Option<&Bound<'_, PyAny>>,
    given: Option<&Bound<'_, PyAny>>,
) -> PyResult<Terms> {
    let role = optional(role, |role| Role::take(Arg::new("role"), role))?;
    let terms = Terms::from(role.map_or(simkeep::Role::Both, simkeep::Role::from));
    let bands = optional(given, |given| bands(Arg::new("bands"), given))?;
    Ok(bands.map_or(terms, |bands| terms.bands(bands)))
}
