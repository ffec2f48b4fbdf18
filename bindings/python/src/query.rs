//! What is asked of a search, as keywords.

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use simkeep::{PairQuery, Query, Snapshot, Versions};

use crate::arg::{self, Arg};

/// That a call has no such keyword.
pub(crate) fn unknown(key: &str) -> PyErr {
    PyTypeError::new_err(format!("there is no keyword {key}"))
}

/// Each keyword that was given, with its value.
pub(crate) fn each<'py>(
    keywords: Option<&Bound<'py, PyDict>>,
    mut take: impl FnMut(&str, &Bound<'py, PyAny>) -> PyResult<()>,
) -> PyResult<()> {
    let Some(keywords) = keywords else { return Ok(()) };
    for (key, value) in keywords {
        take(arg::text(Arg::new("a keyword"), &key)?, &value)?;
    }
    Ok(())
}

/// The distance that was given, or that within which near-duplicates differ.
pub(crate) fn distance(k: Option<&Bound<'_, PyAny>>, snapshot: &Snapshot) -> PyResult<u32> {
    let k = arg::optional(k, |k| arg::distance(Arg::new("k"), k))?;
    Ok(k.unwrap_or_else(|| snapshot.near_distance(snapshot.near_epoch())))
}

/// A query with these keywords.
pub(crate) fn with(mut query: Query, keywords: Option<&Bound<'_, PyDict>>) -> PyResult<Query> {
    let mut versions = Vec::new();
    each(keywords, |key, value| {
        match key {
            "epoch" if value.is_none() => {}
            "epoch" => query.epoch = Some(arg::epoch(Arg::new("epoch"), value)?),
            "limit" => query.limit = arg::limit(Arg::new("limit"), value)?,
            "fingerprints" => query.fingerprints = arg::u32(Arg::new("fingerprints"), value)?,
            "under" => {
                query.under =
                    arg::optional(Some(value), |value| arg::prefix(Arg::new("under"), value))?;
            }
            "but" => {
                let but =
                    |value: &Bound<'_, PyAny>| arg::url(Arg::new("but"), value).map(str::to_owned);
                query.except = arg::optional(Some(value), but)?;
            }
            "classes" => {
                query.classes =
                    arg::optional(Some(value), |value| arg::classes(Arg::new("classes"), value))?;
            }
            "budget" => {
                query.budget =
                    arg::optional(Some(value), |value| arg::duration(Arg::new("budget"), value))?;
            }
            "at" | "seen" if value.is_none() => {}
            "at" => versions.push(Versions::At(arg::time(Arg::new("at"), value)?)),
            "seen" => {
                let seen = Arg::new("seen");
                let (from, to) = arg::pair(seen, value, "a pair of times")?;
                versions.push(Versions::Seen(arg::time(seen, &from)?, arg::time(seen, &to)?));
            }
            "ever" => {
                if arg::flag(Arg::new("ever"), value)? {
                    versions.push(Versions::Ever);
                }
            }
            other => return Err(unknown(other)),
        }
        Ok(())
    })?;
    match versions[..] {
        [] => {}
        [one] => query.versions = one,
        _ => return Err(PyTypeError::new_err("at, seen and ever exclude each other")),
    }
    Ok(query)
}

/// Which pairs of pages, with these keywords.
pub(crate) fn pairs(k: u32, keywords: Option<&Bound<'_, PyDict>>) -> PyResult<PairQuery> {
    let mut query = PairQuery::within(k);
    each(keywords, |key, value| {
        match key {
            "epoch" if value.is_none() => {}
            "epoch" => query.epoch = Some(arg::epoch(Arg::new("epoch"), value)?),
            "under" => {
                query.under =
                    arg::optional(Some(value), |value| arg::prefix(Arg::new("under"), value))?;
            }
            "classes" => {
                query.classes =
                    arg::optional(Some(value), |value| arg::classes(Arg::new("classes"), value))?;
            }
            "equal" => query.equal = arg::flag(Arg::new("equal"), value)?,
            "each" => {
                query.each = arg::limit(Arg::new("each"), value)?;
                if query.each == 0 {
                    return Err(Arg::new("each").value_error("at least 1, or None", value));
                }
            }
            other => return Err(unknown(other)),
        }
        Ok(())
    })?;
    Ok(query)
}

/// That a call takes one of several keywords.
pub(crate) fn one_of(call: &str, keywords: &str) -> PyErr {
    PyTypeError::new_err(format!("{call} takes one of {keywords}"))
}
