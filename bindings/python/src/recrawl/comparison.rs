//! Comparisons of visits, which show how a page changes.

use std::hash::{DefaultHasher, Hash, Hasher};

use pyo3::prelude::*;
use pyo3::types::PyType;
use simkeep::recrawl::{self, Change};

use crate::convert::arg::{self, Arg, optional};
use crate::convert::error::OrRaise;
use crate::convert::typed::Tuple;
use crate::convert::value::no_pickle;

/// The comparison of two consecutive visits.
///
/// The visits are `days` apart: from a millisecond to 4,000,000 days. If the page `changed`,
/// `days_ago` is the time from the last change to the later visit; `None` if unknown. Raises
/// `InvalidOptionError` if the visits are closer or farther apart, or the change was not between
/// them.
#[pyclass(frozen, module = "simkeep.recrawl")]
pub(crate) struct Comparison(pub(crate) recrawl::Comparison);

#[pymethods]
impl Comparison {
    #[new]
    #[pyo3(signature = (
        days: "float", changed: "bool | None" = None, days_ago: "float | None" = None
    ))]
    fn new(
        py: Python<'_>,
        days: &Bound<'_, PyAny>,
        changed: Option<&Bound<'_, PyAny>>,
        days_ago: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Comparison> {
        let days = arg::float(Arg::new("days"), days)?;
        let changed = optional(changed, |v| arg::flag(Arg::new("changed"), v))?.unwrap_or(false);
        let ago = optional(days_ago, |v| arg::float(Arg::new("days_ago"), v))?;
        let change = match (changed, ago) {
            (false, None) => Change::None,
            (true, None) => Change::Undated,
            (true, Some(ago)) => Change::DaysAgo(ago),
            (false, Some(_)) => {
                return Err(Arg::new("days_ago").wrong("is only for a page that changed"));
            }
        };
        recrawl::Comparison::new(days, change).or_raise(py).map(Comparison)
    }

    #[classattr]
    fn __match_args__() -> (&'static str, &'static str, &'static str) {
        ("days", "changed", "days_ago")
    }

    /// The days between the two visits.
    #[getter]
    fn days(&self) -> f64 {
        self.0.days()
    }

    /// Whether the page changed between the visits.
    #[getter]
    fn changed(&self) -> bool {
        self.0.change() != Change::None
    }

    /// The days from the last change to the later visit; `None` without a change, or if the time is
    /// unknown.
    #[getter]
    fn days_ago(&self) -> Option<f64> {
        match self.0.change() {
            Change::DaysAgo(ago) => Some(ago),
            _ => None,
        }
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        let fields = self.fields().into_pyobject(py)?;
        Ok(format!("simkeep.recrawl.Comparison{}", fields.repr()?))
    }

    fn __eq__(&self, other: &Bound<'_, PyAny>) -> bool {
        other.cast::<Comparison>().is_ok_and(|other| self.0 == other.get().0)
    }

    fn __hash__(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        // Days are above 0, and a change 0 days ago equals a change -0 days ago.
        let (days, changed, ago) = self.fields();
        (days.to_bits(), changed, ago.map(|ago| (ago + 0.0).to_bits())).hash(&mut hasher);
        hasher.finish()
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> (Bound<'py, PyType>, (f64, bool, Option<f64>)) {
        (slf.get_type(), slf.get().fields())
    }
}

impl Comparison {
    fn fields(&self) -> (f64, bool, Option<f64>) {
        (self.days(), self.changed(), self.days_ago())
    }
}

/// Converts comparisons.
pub(crate) fn comparisons(
    arg: Arg,
    given: &Bound<'_, PyAny>,
) -> PyResult<Vec<recrawl::Comparison>> {
    arg::each(arg, given, "an iterable of Comparisons", |arg, one| {
        Ok(arg::of::<Comparison>(arg, "a Comparison", one)?.get().0)
    })
}

/// The last 64 comparisons of a page in order, for policies that depend on the order.
#[pyclass(frozen, module = "simkeep.recrawl")]
pub(crate) struct RecentComparisons(pub(crate) recrawl::RecentComparisons);

#[pymethods]
impl RecentComparisons {
    #[new]
    #[pyo3(signature = (comparisons: "Iterable[Comparison] | None" = None))]
    fn new(comparisons: Option<&Bound<'_, PyAny>>) -> PyResult<RecentComparisons> {
        let all = optional(comparisons, |v| self::comparisons(Arg::new("comparisons"), v))?;
        let mut recent = recrawl::RecentComparisons::default();
        all.into_iter().flatten().for_each(|one| recent.push(one));
        Ok(RecentComparisons(recent))
    }

    /// Whether each comparison found a change, the oldest first.
    #[getter]
    fn changes(&self, py: Python<'_>) -> PyResult<Tuple<bool>> {
        Tuple::new(py, self.0.changes().collect::<Vec<_>>())
    }

    /// The days from the last known change to the last visit; without a change, from the first
    /// visit.
    #[getter]
    fn quiet_days(&self) -> f64 {
        self.0.quiet_days()
    }

    fn __eq__(&self, other: &Bound<'_, PyAny>) -> bool {
        other.cast::<RecentComparisons>().is_ok_and(|other| self.0 == other.get().0)
    }

    fn __repr__(&self) -> String {
        let changes = self.0.changes().filter(|changed| *changed).count();
        let all = self.0.changes().count();
        format!("<simkeep.recrawl.RecentComparisons: {changes} of {all} found a change>")
    }

    fn __reduce__(&self) -> PyResult<()> {
        Err(no_pickle("RecentComparisons", "make it from comparisons again"))
    }
}

/// Converts the weight of a return to an earlier version: half a change by default.
pub(crate) fn share(return_share: Option<&Bound<'_, PyAny>>) -> PyResult<f64> {
    let arg = Arg::new("return_share");
    let Some(given) = return_share.filter(|given| !given.is_none()) else {
        return Ok(simkeep::Changes::RETURN_SHARE);
    };
    let share = arg::float(arg, given)?;
    if !(0.0..=1.0).contains(&share) {
        return Err(arg.value_error("a number from 0 to 1", given));
    }
    Ok(share)
}
