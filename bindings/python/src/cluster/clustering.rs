//! The options for clustering, as keywords.

use pyo3::prelude::*;
use pyo3::types::PyDict;
use simkeep::cluster::Clustering;

use crate::convert::arg::{self, Arg, optional};
use crate::convert::keywords::{each, unknown};

/// Returns the options for these keywords. `with_at` allows a time.
pub(crate) fn asked(
    k: Option<&Bound<'_, PyAny>>,
    keywords: Option<&Bound<'_, PyDict>>,
    with_at: bool,
) -> PyResult<Clustering> {
    let mut asked = Clustering::default();
    asked.k = optional(k, |k| arg::distance(Arg::new("k"), k))?;
    each(keywords, |key, value| {
        let given = Some(value);
        match key {
            "epoch" => asked.epoch = optional(given, |v| arg::epoch(Arg::new("epoch"), v))?,
            "rule" if value.is_none() => {}
            "rule" => asked.ranking = arg::ranking(Arg::new("rule"), value)?,
            "at" if with_at => asked.at = optional(given, |v| arg::time(Arg::new("at"), v))?,
            "under" => asked.under = optional(given, |v| arg::prefix(Arg::new("under"), v))?,
            "classes" => {
                asked.classes = optional(given, |v| arg::classes(Arg::new("classes"), v))?;
            }
            "memory_bytes" => {
                asked.memory_bytes = optional(given, |v| arg::size(Arg::new("memory_bytes"), v))?;
            }
            "scratch" => asked.scratch = optional(given, |v| arg::path(Arg::new("scratch"), v))?,
            other => return Err(unknown(other)),
        }
        Ok(())
    })?;
    Ok(asked)
}
