//! Change rates, and the value of a visit, as numbers.

use pyo3::prelude::*;
use simkeep::recrawl::{self, PriorityIndex, Pseudocounts};

use crate::convert::arg::{self, Arg};
use crate::convert::error::OrRaise;
use crate::recrawl::comparison::comparisons;

/// The indexes of a visit's value, by name.
pub(crate) const INDEXES: [(&str, PriorityIndex); 3] = [
    ("value", PriorityIndex::Value),
    ("crawl-value", PriorityIndex::CrawlValue),
    ("harmonic", PriorityIndex::Harmonic),
];

/// The half comparisons to add, by name.
const HALVES: [(&str, Pseudocounts); 3] = [
    ("none", Pseudocounts::None),
    ("unchanged", Pseudocounts::Unchanged),
    ("both", Pseudocounts::Both),
];

/// Converts an index; by default `value`.
pub(crate) fn index(given: Option<&Bound<'_, PyAny>>) -> PyResult<PriorityIndex> {
    arg::choice(Arg::new("index"), given, &INDEXES, PriorityIndex::Value)
}

/// Converts the half comparisons to add; by default half an unchanged comparison.
fn halves(given: Option<&Bound<'_, PyAny>>) -> PyResult<Pseudocounts> {
    arg::choice(Arg::new("halves"), given, &HALVES, Pseudocounts::Unchanged)
}

/// Changes a day: observed changes over observed days.
///
/// The estimate is too low if a page can change more than once between visits. Raises
/// `InvalidOptionError` if the days are not from a millisecond to 4,000,000.
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

/// The changes per interval of a page that changed in some of equal intervals.
///
/// Divide the result by the interval in days to get changes a day. `halves` adds half comparisons,
/// so that the result is neither zero nor infinite: `"none"`, `"unchanged"` for half an unchanged
/// comparison (the default), or `"both"` for half a changed comparison as well. Raises
/// `InvalidOptionError` if there are no comparisons, or more changes than comparisons.
#[pyfunction]
#[pyo3(signature = (comparisons: "int", changes: "int", halves: "_Pseudocounts | None" = None))]
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

/// Changes a day, from comparisons at any intervals: the maximum-likelihood rate.
///
/// `halves` adds half comparisons of the mean interval: `"none"`, `"unchanged"` (the default) or
/// `"both"`. Takes 64 steps, each linear in the comparisons. With `"none"`, the rate of a page that
/// never changed is 0, and the rate of a page that always changed without a date is infinite.
/// Raises `InvalidOptionError` if there is no comparison.
#[pyfunction]
#[pyo3(signature = (comparisons: "Iterable[Comparison]", halves: "_Pseudocounts | None" = None))]
pub(crate) fn irregular(
    py: Python<'_>,
    comparisons: &Bound<'_, PyAny>,
    halves: Option<&Bound<'_, PyAny>>,
) -> PyResult<f64> {
    let all = self::comparisons(Arg::new("comparisons"), comparisons)?;
    let halves = self::halves(halves)?;
    py.detach(|| recrawl::irregular(&all, halves)).or_raise(py)
}

/// Changes a day, if the time of the last change before each visit is known, for example from
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

/// The value of a visit, in days.
///
/// The value is for a page with this weight and rate, in changes a day, this many days after its
/// last visit. The index is `"value"` (the default), `"crawl-value"` or `"harmonic"`. The crawl
/// value keeps the most pages fresh if rates are constant. The harmonic index gives every page
/// visits. `"value"` is the crawl value plus a tenth of the harmonic index. Raises
/// `InvalidOptionError` if the weight or the rate is not positive and finite.
#[pyfunction]
#[pyo3(signature = (
    weight: "float", per_day: "float", days: "float", index: "_PriorityIndex | None" = None
))]
pub(crate) fn worth(
    py: Python<'_>,
    weight: &Bound<'_, PyAny>,
    per_day: &Bound<'_, PyAny>,
    days: &Bound<'_, PyAny>,
    index: Option<&Bound<'_, PyAny>>,
) -> PyResult<f64> {
    let weight = arg::float(Arg::new("weight"), weight)?;
    let per_day = arg::float(Arg::new("per_day"), per_day)?;
    let days = arg::float(Arg::new("days"), days)?;
    self::index(index)?.worth(weight, per_day, days).or_raise(py)
}

/// The days after a visit at which the next visit reaches a threshold.
///
/// The interval is for a page with this weight and rate, in changes a day. The value of a visit is
/// measured by the index `"value"` (the default), `"crawl-value"` or `"harmonic"`. `None` if the
/// value never reaches the threshold, or not within 4,000,000 days. Raises `InvalidOptionError` if
/// a number is not positive and finite.
#[pyfunction]
#[pyo3(signature = (
    weight: "float", per_day: "float", threshold: "float", index: "_PriorityIndex | None" = None
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

/// The value of a visit, in days, to a page with a reported change, for example from a sitemap.
///
/// `trust` is the probability that the report is true, `after_days` is the time from the last visit
/// to the change, and `otherwise` is the value without the hint. Raises `InvalidOptionError` if the
/// trust is not from 0 to 1, the weight is not positive and finite, or `otherwise` is negative or
/// infinite.
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
