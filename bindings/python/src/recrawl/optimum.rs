//! The optimal use of a budget for pages with known rates.

use pyo3::prelude::*;
use simkeep::recrawl::{self, KnownPage};

use crate::call::long::run_uncancellable;
use crate::convert::arg::{self, Arg, each};
use crate::convert::error::OrRaise;
use crate::convert::typed::Tuple;
use crate::convert::value::{FromRust, value};

value! {
    in "simkeep.recrawl";
    Optimum from optimum: simkeep::recrawl::Optimum {
        visits_per_day: Tuple<f64>,
        threshold: f64,
        freshness: f64,
    }
}

/// Computes an optimum, while checking for signals.
fn spend<'py>(
    py: Python<'py>,
    pages: &Bound<'py, PyAny>,
    visits_per_day: &Bound<'py, PyAny>,
    best: fn(&[KnownPage], f64) -> Result<recrawl::Optimum, recrawl::RecrawlError>,
) -> PyResult<Optimum> {
    let expected = "an iterable of pairs of a rate, in changes a day, and a weight";
    let pages = each(Arg::new("pages"), pages, expected, |arg, page| {
        let (rate, weight) = arg::pair(arg, page, "a pair of a rate and a weight")?;
        KnownPage::new(arg::float(arg, &rate)?, arg::float(arg, &weight)?).or_raise(py)
    })?;
    let budget = arg::float(Arg::new("visits_per_day"), visits_per_day)?;
    Optimum::from_rust(py, run_uncancellable(py, move || Ok(best(&pages, budget)?))?)
}

/// Maximizes freshness for a number of visits a day at fixed intervals.
///
/// No policy with known rates does better. Each page is a pair of its rate, in changes a day, and
/// its weight. Takes some 4,000 exponentials for each page; Ctrl-C abandons the call. Raises
/// `InvalidOptionError` if there are no pages, or a number is not from 1e-100 to 1e100.
#[pyfunction]
#[pyo3(signature = (pages: "Iterable[tuple[float, float]]", visits_per_day: "float"))]
pub(crate) fn fixed_intervals<'py>(
    py: Python<'py>,
    pages: &Bound<'py, PyAny>,
    visits_per_day: &Bound<'py, PyAny>,
) -> PyResult<Optimum> {
    spend(py, pages, visits_per_day, recrawl::fixed_intervals)
}

/// Maximizes freshness for a number of visits a day at random times.
///
/// Each page is a pair of its rate, in changes a day, and its weight. Sorts the pages; Ctrl-C
/// abandons the call. Raises `InvalidOptionError` if there are no pages, or a number is not from
/// 1e-100 to 1e100.
#[pyfunction]
#[pyo3(signature = (pages: "Iterable[tuple[float, float]]", visits_per_day: "float"))]
pub(crate) fn random_times<'py>(
    py: Python<'py>,
    pages: &Bound<'py, PyAny>,
    visits_per_day: &Bound<'py, PyAny>,
) -> PyResult<Optimum> {
    spend(py, pages, visits_per_day, recrawl::random_times)
}

/// Minimizes the penalty for missed changes, where each further missed change has a smaller penalty
/// than the previous one.
///
/// Visits are at random times, and every page gets some visits. Each page is a pair of its rate, in
/// changes a day, and its weight. Takes 64 square roots for each page; Ctrl-C abandons the call.
/// Raises `InvalidOptionError` if there are no pages, or a number is not from 1e-100 to 1e100.
#[pyfunction]
#[pyo3(signature = (pages: "Iterable[tuple[float, float]]", visits_per_day: "float"))]
pub(crate) fn few_misses<'py>(
    py: Python<'py>,
    pages: &Bound<'py, PyAny>,
    visits_per_day: &Bound<'py, PyAny>,
) -> PyResult<Optimum> {
    spend(py, pages, visits_per_day, recrawl::few_misses)
}
