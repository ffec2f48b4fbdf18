//! Epochs: their information, and the options of new epochs.

use pyo3::prelude::*;
use simkeep::EpochOptions;

use crate::convert::arg::{self, Arg, optional};
use crate::convert::value::value;
use crate::convert::word::Role;

value! {
    Bands from bands: simkeep::fingerprint::Bands {
        minor: u32,
        moderate: u32,
    }
}

value! {
    EpochInfo from info: simkeep::EpochInfo {
        epoch: u32,
        name: String,
        begun: u64,
        role: Role,
        bands: Py<Bands>,
        ended: bool,
    }
}

impl From<&Bands> for simkeep::fingerprint::Bands {
    fn from(bands: &Bands) -> simkeep::fingerprint::Bands {
        simkeep::fingerprint::Bands { minor: bands.minor, moderate: bands.moderate }
    }
}

/// Converts bands.
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

/// Converts the options of an epoch.
pub(crate) fn options(
    role: Option<&Bound<'_, PyAny>>,
    given: Option<&Bound<'_, PyAny>>,
) -> PyResult<EpochOptions> {
    let role = optional(role, |role| Role::take(Arg::new("role"), role))?;
    let options = EpochOptions::from(role.map_or(simkeep::Role::Both, simkeep::Role::from));
    let bands = optional(given, |given| bands(Arg::new("bands"), given))?;
    Ok(bands.map_or(options, |bands| options.bands(bands)))
}
