//! Policies that order pages, by name.

use std::hash::{DefaultHasher, Hash, Hasher};

use pyo3::prelude::*;
use pyo3::types::{PyString, PyType};
use simkeep::recrawl::{self, PolicyInput};

use crate::convert::arg::{self, Arg, optional};
use crate::convert::error::OrRaise;
use crate::convert::value::{FromRust, value};
use crate::recrawl::belief::Belief;
use crate::recrawl::comparison::RecentComparisons;

value! {
    in "simkeep.recrawl";
    Schedule from schedule: simkeep::recrawl::Schedule {
        interval_days: f64,
        next_days: f64,
    }
}

/// A policy for the order of visits, selected by its name.
///
/// The policies are `"value"` (the default), `"crawl-value"`, `"harmonic"`, `"uniform"`,
/// `"fixed:7d"`, `"thesis:3,1.5"`, `"nutch:0.4,0.2,0.3"` and `"stormcrawler"`. The first three use
/// the value of a visit; `"uniform"` uses the time since the last visit; the other policies use this
/// time divided by an interval. The parameters above are the defaults. As text, a policy is its
/// name with all parameters. Raises `InvalidArgumentError` for an unknown name.
#[pyclass(frozen, module = "simkeep.recrawl")]
pub(crate) struct Policy(pub(crate) recrawl::Policy);

/// Converts a policy, or the name of a policy.
pub(crate) fn policy(
    py: Python<'_>,
    arg: Arg,
    given: &Bound<'_, PyAny>,
) -> PyResult<recrawl::Policy> {
    match given.cast::<Policy>() {
        Ok(policy) => Ok(policy.get().0),
        Err(_) => arg::text(arg, given)?.parse::<recrawl::Policy>().or_raise(py),
    }
}

#[pymethods]
impl Policy {
    #[new]
    #[pyo3(signature = (name: "str | Policy | None" = None))]
    fn new(py: Python<'_>, name: Option<&Bound<'_, PyAny>>) -> PyResult<Policy> {
        let named = optional(name, |name| policy(py, Arg::new("name"), name))?;
        Ok(Policy(named.unwrap_or_default()))
    }

    #[classattr]
    fn __match_args__() -> (&'static str,) {
        ("name",)
    }

    /// The name of the policy, with all parameters.
    #[getter]
    fn name(&self) -> String {
        self.0.to_string()
    }

    /// The score of a page: the page with the highest score is visited first.
    ///
    /// For `"value"`, `"crawl-value"` and `"harmonic"` the score is the weighted value of a visit,
    /// in days. For `"uniform"` the score is the number of days since the last visit. For the other
    /// policies the score is the number of days since the last visit divided by the interval, so
    /// that a page is due at 1. Raises `InvalidOptionError` if the weight is not positive and
    /// finite.
    #[pyo3(signature = (belief, recent, weight: "float", days: "float"))]
    fn score(
        &self,
        py: Python<'_>,
        belief: &Bound<'_, Belief>,
        recent: &Bound<'_, RecentComparisons>,
        weight: &Bound<'_, PyAny>,
        days: &Bound<'_, PyAny>,
    ) -> PyResult<f64> {
        let weight = arg::float(Arg::new("weight"), weight)?;
        let days = arg::float(Arg::new("days"), days)?;
        let (belief, recent) = (&belief.get().0, &recent.get().0);
        self.0.score(&PolicyInput { belief, recent, weight, days }).or_raise(py)
    }

    /// The interval of a page.
    ///
    /// `None` for `"value"`, `"crawl-value"`, `"harmonic"` and `"uniform"`, which have no intervals.
    fn schedule(
        &self,
        py: Python<'_>,
        recent: &Bound<'_, RecentComparisons>,
    ) -> PyResult<Option<Schedule>> {
        FromRust::from_rust(py, self.0.schedule(&recent.get().0))
    }

    fn __str__(&self) -> String {
        self.name()
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        let name = PyString::new(py, &self.name()).repr()?.to_string();
        Ok(format!("simkeep.recrawl.Policy({name})"))
    }

    fn __eq__(&self, other: &Bound<'_, PyAny>) -> bool {
        other.cast::<Policy>().is_ok_and(|other| self.0 == other.get().0)
    }

    fn __hash__(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        self.name().hash(&mut hasher);
        hasher.finish()
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> (Bound<'py, PyType>, (String,)) {
        (slf.get_type(), (slf.get().name(),))
    }
}
