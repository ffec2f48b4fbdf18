//! How often a page changes, and what a visit to it is worth, as numbers.

use pyo3::prelude::*;
use simkeep::recrawl::{self, Halves, Index};

use crate::convert::arg::{self, Arg};
use crate::convert::error::OrRaise;
use crate::recrawl::comparison::comparisons;

/// By what a visit may be worth, with its name.
pub(crate) const INDEXES: [(&str, Index); 2] =
    [("value", Index::Value), ("harmonic", Index::Harmonic)];

/// What may be added to comparisons, with its name.
const HALVES: [(&str, Halves); 3] =
    [("none", Halves::None), ("unchanged", Halves::Unchanged), ("both", Halves::Both)];

/// By what a visit is worth: the crawl value, unless it is given.
pub(crate) fn index(given: Option<&Bound<'_, PyAny>>) -> PyResult<Index> {
    arg::choice(Arg::new("index"), given, &INDEXES, Index::Value)
}

/// What is added to comparisons: half an unchanged one, unless it is given.
fn halves(given: Option<&Bound<'_, PyAny>>) -> PyResult<Halves> {
    arg::choice(Arg::new("halves"), given, &HALVES, Halves::Unchanged)
}

/// Changes seen, over the days in which they were seen, in changes a day.
///
/// That is too low where a page may change more than once between visits. Raises `InvalidOptionError` if
/// the days are not from a millisecond to 4,000,000.
#[pyfunction]
#[pyo3(signature = (changes: "int", days: "float"))]
pub(crate) fn naive(
    py: Python<'_>,
    changes: &Bound<'_, PyAny>,
    days: &Bound<'_, PyAny>,
) -> PyResult<f64> {
    let changes = arg::u32(Arg::new("changes"), changes)?;
    recrawl::naive(changes, arg::float(Arg::new("days"), days)?).or_raise(py)
}

/// The changes in an interval, of a page that changed in so many of equal intervals.
///
/// Divide by the interval in days to have changes a day. `halves` says what is added, so that the
/// answer is neither zero nor infinite: `"none"`, `"unchanged"` for half an unchanged comparison
/// (the default), or `"both"` for half a changed one as well. Raises `InvalidOptionError` if there are no
/// comparisons, or more changes than comparisons.
#[pyfunction]
#[pyo3(signature = (comparisons: "int", changes: "int", halves: "_Halves | None" = None))]
pub(crate) fn regular(
    py: Python<'_>,
    comparisons: &Bound<'_, PyAny>,
    changes: &Bound<'_, PyAny>,
    halves: Option<&Bound<'_, PyAny>>,
) -> PyResult<f64> {
    let comparisons = arg::u32(Arg::new("comparisons"), comparisons)?;
    let changes = arg::u32(Arg::new("changes"), changes)?;
    recrawl::regular(comparisons, changes, self::halves(halves)?).or_raise(py)
}

/// Changes a day, from comparisons at any intervals: the rate that makes them most likely.
///
/// With the halves of the mean interval added that `halves` says: `"none"`, `"unchanged"` (the
/// default) or `"both"`. Takes 64 steps, each in proportion to the comparisons. With `"none"` the
/// rate of a page that never changed is 0, and of one that always did, without a date, infinite.
/// Raises `InvalidOptionError` if there is no comparison.
#[pyfunction]
#[pyo3(signature = (comparisons: "Iterable[Comparison]", halves: "_Halves | None" = None))]
pub(crate) fn irregular(
    py: Python<'_>,
    comparisons: &Bound<'_, PyAny>,
    halves: Option<&Bound<'_, PyAny>>,
) -> PyResult<f64> {
    let all = self::comparisons(Arg::new("comparisons"), comparisons)?;
    let halves = self::halves(halves)?;
    py.detach(|| recrawl::irregular(&all, halves)).or_raise(py)
}

/// Changes a day, where the time of the last change before each visit is known, as by
/// `Last-Modified`.
///
/// Raises `InvalidOptionError` if there is no comparison, and `InvalidArgumentError` if a change
/// has no date.
#[pyfunction]
#[pyo3(signature = (comparisons: "Iterable[Comparison]"))]
pub(crate) fn last_modified(py: Python<'_>, comparisons: &Bound<'_, PyAny>) -> PyResult<f64> {
    let all = self::comparisons(Arg::new("comparisons"), comparisons)?;
    py.detach(|| recrawl::last_modified(&all)).or_raise(py)
}

/// The crawl value of a visit, in days.
///
/// That is what it is worth to a page of this weight, which changes so many times a day, so many
/// days after its last visit. Visits to what is worth most keep the most pages fresh. Raises
/// `InvalidOptionError` if the weight or the rate is not positive and finite.
#[pyfunction]
#[pyo3(signature = (weight: "float", per_day: "float", days: "float"))]
pub(crate) fn value(
    py: Python<'_>,
    weight: &Bound<'_, PyAny>,
    per_day: &Bound<'_, PyAny>,
    days: &Bound<'_, PyAny>,
) -> PyResult<f64> {
    let (weight, per_day, days) = three(weight, per_day, days)?;
    recrawl::value(weight, per_day, days).or_raise(py)
}

/// The harmonic index of a visit, in days.
///
/// That is what it is worth to a page of this weight, which changes so many times a day, so many
/// days after its last visit, if each further change that is missed counts less. It leaves no page
/// alone. Raises `InvalidOptionError` if the weight or the rate is not positive and finite.
#[pyfunction]
#[pyo3(signature = (weight: "float", per_day: "float", days: "float"))]
pub(crate) fn harmonic(
    py: Python<'_>,
    weight: &Bound<'_, PyAny>,
    per_day: &Bound<'_, PyAny>,
    days: &Bound<'_, PyAny>,
) -> PyResult<f64> {
    let (weight, per_day, days) = three(weight, per_day, days)?;
    recrawl::harmonic(weight, per_day, days).or_raise(py)
}

fn three(
    weight: &Bound<'_, PyAny>,
    per_day: &Bound<'_, PyAny>,
    days: &Bound<'_, PyAny>,
) -> PyResult<(f64, f64, f64)> {
    let weight = arg::float(Arg::new("weight"), weight)?;
    let per_day = arg::float(Arg::new("per_day"), per_day)?;
    Ok((weight, per_day, arg::float(Arg::new("days"), days)?))
}

/// The days after a visit from which on the next one is worth a threshold.
///
/// To a page of this weight that changes so many times a day, by the index `"value"` (the default)
/// or `"harmonic"`; `None` if it never is, or not within 4,000,000 days. Raises `InvalidOptionError` if a
/// number is not positive and finite.
#[pyfunction]
#[pyo3(signature = (
    weight: "float", per_day: "float", threshold: "float", index: "_Index | None" = None
))]
pub(crate) fn interval(
    py: Python<'_>,
    weight: &Bound<'_, PyAny>,
    per_day: &Bound<'_, PyAny>,
    threshold: &Bound<'_, PyAny>,
    index: Option<&Bound<'_, PyAny>>,
) -> PyResult<Option<f64>> {
    let index = self::index(index)?;
    let weight = arg::float(Arg::new("weight"), weight)?;
    let per_day = arg::float(Arg::new("per_day"), per_day)?;
    let threshold = arg::float(Arg::new("threshold"), threshold)?;
    recrawl::interval(index, weight, per_day, threshold).or_raise(py)
}

/// What a visit is worth, in days, to a page that somebody says has changed, as a sitemap does.
///
/// `trust` is the probability that this is true, `after_days` how long after the last visit the
/// change was, and `otherwise` what a visit is worth without the hint. Raises `InvalidOptionError`
/// if the trust is not from 0 to 1, the weight is not positive and finite, or the worth is negative
/// or infinite.
#[pyfunction]
#[pyo3(signature = (trust: "float", weight: "float", after_days: "float", otherwise: "float"))]
pub(crate) fn hinted(
    py: Python<'_>,
    trust: &Bound<'_, PyAny>,
    weight: &Bound<'_, PyAny>,
    after_days: &Bound<'_, PyAny>,
    otherwise: &Bound<'_, PyAny>,
) -> PyResult<f64> {
    let trust = arg::float(Arg::new("trust"), trust)?;
    let weight = arg::float(Arg::new("weight"), weight)?;
    let after = arg::float(Arg::new("after_days"), after_days)?;
    let otherwise = arg::float(Arg::new("otherwise"), otherwise)?;
    recrawl::hinted(trust, weight, after, otherwise).or_raise(py)
}
