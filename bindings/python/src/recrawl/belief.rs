//! Beliefs about the change rate of a page.

use pyo3::prelude::*;
use simkeep::recrawl;

use crate::convert::arg::{self, Arg, optional};
use crate::convert::error::OrRaise;
use crate::convert::value::{FromRust, no_pickle, value};
use crate::recrawl::comparison::Comparison;
use crate::recrawl::rates::index;

value! {
    Rate from rate: simkeep::recrawl::Rate {
        per_day: f64,
        low: f64,
        high: f64,
    }
}

/// The probability of each of 64 rates before the visits of a page are known.
///
/// By default rates spread widely: half of the pages change more often than every two months, one
/// in six more often than every eight days, and one in six less often than every 15 months.
#[pyclass(frozen, module = "simkeep.recrawl")]
pub(crate) struct Prior(pub(crate) recrawl::Prior);

#[pymethods]
impl Prior {
    #[new]
    fn new() -> Prior {
        Prior(recrawl::Prior::default())
    }

    /// Log-normal rates.
    ///
    /// Half of the rates are above the median, in changes a day, and two thirds are within a factor
    /// of e^width of the median. Raises `InvalidOptionError` if the median is not positive and
    /// finite, or the width is not from 0.1 to 100.
    #[staticmethod]
    #[pyo3(signature = (median_per_day: "float", width: "float"))]
    fn log_normal(
        py: Python<'_>,
        median_per_day: &Bound<'_, PyAny>,
        width: &Bound<'_, PyAny>,
    ) -> PyResult<Prior> {
        let median = arg::float(Arg::new("median_per_day"), median_per_day)?;
        let width = arg::float(Arg::new("width"), width)?;
        recrawl::Prior::log_normal(median, width).or_raise(py).map(Prior)
    }

    /// The Gamma distribution with this shape and the mean shape/days.
    ///
    /// The distribution is the posterior after `shape` changes in `days` days with an uninformative
    /// prior. Raises `InvalidOptionError` if the shape is not from 0.01 to a million, or the days
    /// are not from a millisecond to 4,000,000.
    #[staticmethod]
    #[pyo3(signature = (shape: "float", days: "float"))]
    fn gamma(py: Python<'_>, shape: &Bound<'_, PyAny>, days: &Bound<'_, PyAny>) -> PyResult<Prior> {
        let shape = arg::float(Arg::new("shape"), shape)?;
        let days = arg::float(Arg::new("days"), days)?;
        recrawl::Prior::gamma(shape, days).or_raise(py).map(Prior)
    }

    fn __eq__(&self, other: &Bound<'_, PyAny>) -> bool {
        other.cast::<Prior>().is_ok_and(|other| self.0 == other.get().0)
    }

    fn __repr__(&self) -> String {
        let rate = recrawl::Belief::new(&self.0, &recrawl::Likelihood::flat()).rate();
        format!("<simkeep.recrawl.Prior of {:.4} changes a day>", rate.per_day)
    }

    fn __reduce__(&self) -> PyResult<()> {
        Err(no_pickle("Prior", "make it again"))
    }
}

/// The likelihood of each of 64 rates for the comparisons of a page, of which there may be none.
///
/// Each item is a `Comparison`, or a pair of a `Comparison` and its count. A count may combine
/// several equal comparisons, or be 0.5 for an uncertain comparison. Linear in the number of
/// comparisons. Raises `InvalidOptionError` if a count is negative, or exceeds a thousand million.
#[pyclass(frozen, module = "simkeep.recrawl")]
pub(crate) struct Likelihood(pub(crate) recrawl::Likelihood);

#[pymethods]
impl Likelihood {
    #[new]
    #[pyo3(signature = (
        comparisons: "Iterable[Comparison | tuple[Comparison, float]] | None" = None
    ))]
    fn new(py: Python<'_>, comparisons: Option<&Bound<'_, PyAny>>) -> PyResult<Likelihood> {
        let expected = "an iterable of Comparisons, or of pairs of a Comparison and its count";
        let all = optional(comparisons, |given| {
            arg::each(Arg::new("comparisons"), given, expected, |arg, one| {
                if let Ok(one) = one.cast::<Comparison>() {
                    return Ok((one.get().0, 1.0));
                }
                let pair = "a Comparison, or a pair of a Comparison and a count";
                let (of, times) = arg::pair(arg, one, pair)?;
                let of = arg::of::<Comparison>(arg, pair, &of)?.get().0;
                Ok((of, arg::float(arg, &times)?))
            })
        })?;
        let mut likelihood = recrawl::Likelihood::flat();
        for (one, times) in all.into_iter().flatten() {
            likelihood.add(one, times).or_raise(py)?;
        }
        Ok(Likelihood(likelihood))
    }

    fn __eq__(&self, other: &Bound<'_, PyAny>) -> bool {
        other.cast::<Likelihood>().is_ok_and(|other| self.0 == other.get().0)
    }

    fn __repr__(&self) -> &'static str {
        "<simkeep.recrawl.Likelihood>"
    }

    fn __reduce__(&self) -> PyResult<()> {
        Err(no_pickle("Likelihood", "make it from comparisons again"))
    }
}

/// The probability of each of 64 rates: a prior times the likelihood of the comparisons.
///
/// Few visits determine a rate only roughly, and each observed change means "one or more changes".
/// The best estimate of a visit's value is the expectation of the value over a belief.
#[pyclass(frozen, module = "simkeep.recrawl")]
pub(crate) struct Belief(pub(crate) recrawl::Belief);

#[pymethods]
impl Belief {
    #[new]
    fn new(prior: &Bound<'_, Prior>, likelihood: &Bound<'_, Likelihood>) -> Belief {
        Belief(recrawl::Belief::new(&prior.get().0, &likelihood.get().0))
    }

    /// The mean rate, in changes a day, and the central 90 %.
    #[getter]
    fn rate(&self, py: Python<'_>) -> PyResult<Rate> {
        Rate::from_rust(py, self.0.rate())
    }

    /// The value of a visit this many days after the last visit, in days.
    ///
    /// The value is the expectation of the index, `"value"` (the default), `"crawl-value"` or
    /// `"harmonic"`, for a page of this weight. Takes about a microsecond. Negative days count as
    /// zero. Raises `InvalidOptionError` if the weight is not positive and finite.
    #[pyo3(signature = (weight: "float", days: "float", index: "_PriorityIndex | None" = None))]
    fn worth(
        &self,
        py: Python<'_>,
        weight: &Bound<'_, PyAny>,
        days: &Bound<'_, PyAny>,
        index: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<f64> {
        let index = self::index(index)?;
        let weight = arg::float(Arg::new("weight"), weight)?;
        let days = arg::float(Arg::new("days"), days)?;
        self.0.worth(index, weight, days).or_raise(py)
    }

    /// The days after a visit at which the next visit reaches a threshold.
    ///
    /// The value of a visit is measured by the index `"value"` (the default), `"crawl-value"` or
    /// `"harmonic"`. `None` if the value never reaches the threshold, or not within 4,000,000 days.
    /// Takes 65 times as long as `worth`. Raises `InvalidOptionError` if the weight or the
    /// threshold is not positive and finite.
    #[pyo3(signature = (weight: "float", threshold: "float", index: "_PriorityIndex | None" = None))]
    fn interval(
        &self,
        py: Python<'_>,
        weight: &Bound<'_, PyAny>,
        threshold: &Bound<'_, PyAny>,
        index: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Option<f64>> {
        let index = self::index(index)?;
        let weight = arg::float(Arg::new("weight"), weight)?;
        let threshold = arg::float(Arg::new("threshold"), threshold)?;
        self.0.interval(index, weight, threshold).or_raise(py)
    }

    fn __eq__(&self, other: &Bound<'_, PyAny>) -> bool {
        other.cast::<Belief>().is_ok_and(|other| self.0 == other.get().0)
    }

    fn __repr__(&self) -> String {
        let recrawl::Rate { per_day, low, high } = self.0.rate();
        format!("<simkeep.recrawl.Belief of {per_day:.4} changes a day ({low:.4} to {high:.4})>")
    }

    fn __reduce__(&self) -> PyResult<()> {
        Err(no_pickle("Belief", "make it again"))
    }
}
