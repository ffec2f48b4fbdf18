//! The options of a search, as keywords.

use std::convert::Infallible;

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use simkeep::query::PairQuery;
use simkeep::{Query, Snapshot, Versions};

use crate::convert::arg::{self, Arg};
use crate::convert::keywords::{each, unknown};

/// Returns the distance `k`, or the distance of near-duplicates by default.
pub(crate) fn distance(k: Option<&Bound<'_, PyAny>>, snapshot: &Snapshot) -> PyResult<u32> {
    let k = arg::optional(k, |k| arg::distance(Arg::new("k"), k))?;
    Ok(k.unwrap_or_else(|| snapshot.near_distance(snapshot.near_epoch())))
}

/// The value of a keyword that was passed. The value may be `None`.
#[derive(Default)]
pub(crate) struct Keyword<'py>(pub(crate) Option<Bound<'py, PyAny>>);

impl<'py> FromPyObject<'_, 'py> for Keyword<'py> {
    type Error = Infallible;

    fn extract(given: Borrowed<'_, 'py, PyAny>) -> Result<Keyword<'py>, Infallible> {
        Ok(Keyword(Some(given.to_owned())))
    }
}

/// The keywords of a search.
#[derive(Default)]
pub(crate) struct SearchKeywords<'py> {
    pub(crate) limit: Keyword<'py>,
    pub(crate) under: Keyword<'py>,
    pub(crate) exclude: Keyword<'py>,
    pub(crate) classes: Keyword<'py>,
    pub(crate) epoch: Keyword<'py>,
    pub(crate) at: Keyword<'py>,
    pub(crate) seen: Keyword<'py>,
    pub(crate) ever: Keyword<'py>,
    pub(crate) budget: Keyword<'py>,
    pub(crate) fingerprints: Keyword<'py>,
    pub(crate) threads: Keyword<'py>,
}

impl SearchKeywords<'_> {
    /// Sets these keywords of a query.
    pub(crate) fn of(&self, mut query: Query) -> PyResult<Query> {
        if let Some(limit) = &self.limit.0 {
            query.limit = arg::limit(Arg::new("limit"), limit)?;
        }
        if let Some(fingerprints) = &self.fingerprints.0 {
            query.fingerprints = arg::u32(Arg::new("fingerprints"), fingerprints)?;
        }
        if let Some(threads) = self.threads.value_or_none(|v| arg::size(Arg::new("threads"), v))? {
            query.threads = threads;
        }
        let exclude =
            |exclude: &Bound<'_, PyAny>| arg::url(Arg::new("exclude"), exclude).map(str::to_owned);
        query.exclude = self.exclude.value_or_none(exclude)?;
        query.under = self.under.value_or_none(|under| arg::prefix(Arg::new("under"), under))?;
        query.classes =
            self.classes.value_or_none(|classes| arg::classes(Arg::new("classes"), classes))?;
        query.epoch = self.epoch.value_or_none(|epoch| arg::epoch(Arg::new("epoch"), epoch))?;
        query.budget = self.budget.value_or_none(|time| arg::duration(Arg::new("budget"), time))?;
        let at = self.at.value_or_none(|at| arg::time(Arg::new("at"), at).map(Versions::At))?;
        let seen = self.seen.value_or_none(|times| {
            let seen = Arg::new("seen");
            let (from, to) = arg::pair(seen, times, "a pair of times")?;
            Ok(Versions::Seen(arg::time(seen, &from)?, arg::time(seen, &to)?))
        })?;
        let ever = match &self.ever.0 {
            Some(ever) => arg::flag(Arg::new("ever"), ever)?.then_some(Versions::Ever),
            None => None,
        };
        match (at, seen, ever) {
            (None, None, None) => {}
            (Some(one), None, None) | (None, Some(one), None) | (None, None, Some(one)) => {
                query.versions = one;
            }
            _ => return Err(PyTypeError::new_err("at, seen and ever exclude each other")),
        }
        Ok(query)
    }
}

impl<'py> Keyword<'py> {
    /// Returns the value of the keyword. A keyword with the value `None` is treated as missing.
    fn value_or_none<T>(
        &self,
        take: impl FnOnce(&Bound<'py, PyAny>) -> PyResult<T>,
    ) -> PyResult<Option<T>> {
        arg::optional(self.0.as_ref(), take)
    }
}

/// Returns a query with these keywords.
pub(crate) fn with(query: Query, keywords: Option<&Bound<'_, PyDict>>) -> PyResult<Query> {
    let mut all = SearchKeywords::default();
    each(keywords, |key, value| {
        let keyword = match key {
            "limit" => &mut all.limit,
            "under" => &mut all.under,
            "exclude" => &mut all.exclude,
            "classes" => &mut all.classes,
            "epoch" => &mut all.epoch,
            "at" => &mut all.at,
            "seen" => &mut all.seen,
            "ever" => &mut all.ever,
            "budget" => &mut all.budget,
            "fingerprints" => &mut all.fingerprints,
            "threads" => &mut all.threads,
            other => return Err(unknown(other)),
        };
        *keyword = Keyword(Some(value.clone()));
        Ok(())
    })?;
    all.of(query)
}

/// Returns the query for pairs of pages with these keywords.
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
            "pages_per_fingerprint" => {
                query.pages_per_fingerprint = arg::limit(Arg::new("pages_per_fingerprint"), value)?;
                if query.pages_per_fingerprint == 0 {
                    return Err(
                        Arg::new("pages_per_fingerprint").value_error("at least 1, or None", value)
                    );
                }
            }
            other => return Err(unknown(other)),
        }
        Ok(())
    })?;
    Ok(query)
}

/// The error for a call that takes exactly one of several keywords.
pub(crate) fn one_of(call: &str, keywords: &str) -> PyErr {
    PyTypeError::new_err(format!("{call} takes exactly one of {keywords}"))
}
