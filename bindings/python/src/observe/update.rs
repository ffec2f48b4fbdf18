//! Updates of a page without a visit: fingerprints in another epoch, a weight, a class.

use pyo3::prelude::*;
use simkeep::{PropertyUpdate, Restatement};

use crate::convert::arg::{self, Arg, optional};
use crate::search::query;

/// A page and a time, as arguments.
type PageAndTime<'a, 'py> = (&'a Bound<'py, PyAny>, &'a Bound<'py, PyAny>);

fn of<'a>((url, at): PageAndTime<'a, '_>) -> PyResult<(&'a str, simkeep::Time)> {
    Ok((arg::url(Arg::new("url"), url)?, arg::time(Arg::new("at"), at)?))
}

/// Converts a fingerprint in another epoch.
pub(crate) fn restatement<'a>(
    page: PageAndTime<'a, '_>,
    (fingerprint, epoch): (&Bound<'_, PyAny>, &Bound<'_, PyAny>),
    digest: Option<&Bound<'_, PyAny>>,
) -> PyResult<Restatement<'a>> {
    let (url, at) = of(page)?;
    let fingerprint =
        optional(Some(fingerprint), |v| arg::fingerprint(Arg::new("fingerprint"), v))?;
    let epoch = arg::epoch(Arg::new("epoch"), epoch)?;
    let digest = optional(digest, |v| arg::digest(Arg::new("digest"), v))?;
    let mut restatement = Restatement::new(url, at, fingerprint, epoch);
    restatement.restated.digest = digest;
    Ok(restatement)
}

/// Converts a weight or a class.
pub(crate) fn property_update<'a>(
    page: PageAndTime<'a, '_>,
    weight: Option<&Bound<'_, PyAny>>,
    class: Option<&Bound<'_, PyAny>>,
) -> PyResult<PropertyUpdate<'a>> {
    let (url, at) = of(page)?;
    let weight = optional(weight, |v| arg::weight(Arg::new("weight"), v))?;
    let class = optional(class, |v| arg::u32(Arg::new("class_"), v))?;
    match (weight, class) {
        (Some(weight), None) => Ok(PropertyUpdate::weight(url, at, weight)),
        (None, Some(class)) => Ok(PropertyUpdate::class(url, at, class)),
        _ => Err(query::one_of("set_property", "weight and class_")),
    }
}
