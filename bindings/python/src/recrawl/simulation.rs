//! Simulates policies on pages with known changes.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;

use pyo3::prelude::*;
use pyo3::types::{PyString, PyTuple};
use simkeep::Progress;
use simkeep::recrawl::simulate::{
    self, Budget, ChangeProcess, Learning, RandomPage, Rates, SimulatedPage, Span,
    VersionDifference,
};
use simkeep::recrawl::{self, RecrawlError};

use crate::call::long::run_uncancellable;
use crate::convert::arg::{self, Arg, optional};
use crate::convert::error::OrRaise;
use crate::convert::typed::Tuple;
use crate::convert::value::{FromRust, no_pickle, value};
use crate::recrawl::policy::policy;
use crate::recrawl::rates::{INDEXES, index};
use crate::recrawl::replay::Replay;
use crate::search::query::one_of;

/// The sources of a crawler's prior, by name.
const LEARNINGS: [(&str, Learning); 3] =
    [("nothing", Learning::Nothing), ("pages", Learning::Pages), ("hosts", Learning::Hosts)];

value! {
    in "simkeep.recrawl";
    SimulationResult from figures: simkeep::recrawl::simulate::SimulationResult {
        freshness: f64,
        near_freshness: f64,
        staleness: f64,
        divergence: f64,
        visits_per_day: f64,
    }
}

/// Pages with random changes, at random rates that stay the same.
///
/// A seed determines the pages, equally on every machine. `len` is the number of pages. The pages
/// take 8 bytes for each change.
#[pyclass(frozen, module = "simkeep.recrawl")]
pub(crate) struct RandomPages(Arc<[RandomPage]>);

impl RandomPages {
    fn draw(
        py: Python<'_>,
        rates: Rates,
        seed: Option<&Bound<'_, PyAny>>,
        days: &Bound<'_, PyAny>,
    ) -> PyResult<RandomPages> {
        let seed = optional(seed, |v| arg::count(Arg::new("seed"), v))?.unwrap_or(1);
        let days = arg::float(Arg::new("days"), days)?;
        let draw = move || Ok(rates.draw(ChangeProcess::Constant, seed, days)?);
        Ok(RandomPages(run_uncancellable(py, draw)?.into()))
    }
}

#[pymethods]
impl RandomPages {
    /// Draws pages with their changes up to a day.
    ///
    /// Rates are log-uniform from one change in 400 days to one change in about eight hours. The
    /// seed is 1 by default. Raises `InvalidOptionError` if there are no pages, or more than 100
    /// million changes are expected. Ctrl-C abandons the call.
    #[staticmethod]
    #[pyo3(signature = (pages: "int", *, days: "float", seed: "int | None" = None))]
    fn flat(
        py: Python<'_>,
        pages: &Bound<'_, PyAny>,
        days: &Bound<'_, PyAny>,
        seed: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<RandomPages> {
        let pages = arg::u32(Arg::new("pages"), pages)?;
        RandomPages::draw(py, Rates::Flat { pages }, seed, days)
    }

    /// Draws the pages of hosts, with their changes up to a day: `pages` pages of each host.
    ///
    /// The rates of hosts are log-normal around the `median`, in changes a day, with the width
    /// `between`. The rates of pages are log-normal around the rate of their host, with the width
    /// `within`. The seed is 1 by default. Raises `InvalidOptionError` if a number is not positive,
    /// or more than 100 million changes are expected. Ctrl-C abandons the call.
    #[staticmethod]
    #[pyo3(signature = (
        hosts: "int", pages: "int", *, median: "float", between: "float", within: "float",
        days: "float", seed: "int | None" = None
    ))]
    fn by_host(
        py: Python<'_>,
        hosts: &Bound<'_, PyAny>,
        pages: &Bound<'_, PyAny>,
        median: &Bound<'_, PyAny>,
        between: &Bound<'_, PyAny>,
        within: &Bound<'_, PyAny>,
        days: &Bound<'_, PyAny>,
        seed: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<RandomPages> {
        let rates = Rates::ByHost {
            hosts: arg::u32(Arg::new("hosts"), hosts)?,
            pages: arg::u32(Arg::new("pages"), pages)?,
            median: arg::float(Arg::new("median"), median)?,
            between: arg::float(Arg::new("between"), between)?,
            within: arg::float(Arg::new("within"), within)?,
        };
        RandomPages::draw(py, rates, seed, days)
    }

    fn __len__(&self) -> usize {
        self.0.len()
    }

    /// The rate of each page, in changes a day.
    #[getter]
    fn rates(&self, py: Python<'_>) -> PyResult<Tuple<f64>> {
        Tuple::new(py, self.0.iter().filter_map(RandomPage::per_day).collect::<Vec<_>>())
    }

    fn __repr__(&self) -> String {
        format!("<simkeep.recrawl.RandomPages: {}>", self.0.len())
    }

    fn __reduce__(&self) -> PyResult<()> {
        Err(no_pickle("RandomPages", "draw them again"))
    }
}

/// The order in which a simulated crawler visits pages.
///
/// A decider is a policy, selected by its name (`"value"`), or a baseline for policies. As text, a
/// decider is its name in a table of results. `learning` is the source of the decider's prior. With
/// `"hosts"` (the default), the prior is learned from all pages, and for each page from the other
/// pages of its host, as in a store. With `"pages"`, the prior is learned from all pages; with
/// `"nothing"`, from no pages.
#[pyclass(frozen, module = "simkeep.recrawl")]
pub(crate) struct Decider(simulate::Decider);

#[pymethods]
impl Decider {
    #[new]
    #[pyo3(signature = (
        policy: "str | Policy | None" = None,
        learning: "Literal['nothing', 'pages', 'hosts'] | None" = None
    ))]
    fn new(
        py: Python<'_>,
        policy: Option<&Bound<'_, PyAny>>,
        learning: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Decider> {
        let named = optional(policy, |v| self::policy(py, Arg::new("policy"), v))?;
        let arg = Arg::new("learning");
        let learning = arg::choice(arg, learning, &LEARNINGS, Learning::Hosts)?;
        Ok(Decider(simulate::Decider::Policy(named.unwrap_or_default(), learning)))
    }

    /// An index, `"value"` (the default), `"crawl-value"` or `"harmonic"`, at the estimated rate of
    /// a page.
    ///
    /// The decider has no belief.
    #[staticmethod]
    #[pyo3(signature = (index: "_PriorityIndex | None" = None))]
    fn estimated(index: Option<&Bound<'_, PyAny>>) -> PyResult<Decider> {
        Ok(Decider(simulate::Decider::Estimated(self::index(index)?)))
    }

    /// An index, `"value"` (the default), `"crawl-value"` or `"harmonic"`, at the true rate.
    ///
    /// The decider requires pages with known rates. The rates of a store's pages are unknown.
    #[staticmethod]
    #[pyo3(signature = (index: "_PriorityIndex | None" = None))]
    fn known(index: Option<&Bound<'_, PyAny>>) -> PyResult<Decider> {
        Ok(Decider(simulate::Decider::Known(self::index(index)?)))
    }

    /// The default deciders to compare.
    ///
    /// The deciders are the policies, `"value"` without hosts, and `"value"` without a belief. If the
    /// rates are known, the crawl value at the true rates is added.
    #[staticmethod]
    #[pyo3(signature = (*, rates_known=false))]
    fn all(rates_known: bool) -> Vec<Decider> {
        simulate::Decider::all(rates_known).into_iter().map(Decider).collect()
    }

    fn __str__(&self) -> String {
        self.0.to_string()
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        let written = |text: &str| PyResult::Ok(PyString::new(py, text).repr()?.to_string());
        Ok(match self.0 {
            simulate::Decider::Policy(policy, learning) => {
                let policy = written(&policy.to_string())?;
                let learning = written(name(&LEARNINGS, learning))?;
                format!("simkeep.recrawl.Decider({policy}, {learning})")
            }
            simulate::Decider::Estimated(index) => {
                format!("simkeep.recrawl.Decider.estimated({})", written(name(&INDEXES, index))?)
            }
            simulate::Decider::Known(index) => {
                format!("simkeep.recrawl.Decider.known({})", written(name(&INDEXES, index))?)
            }
        })
    }

    fn __eq__(&self, other: &Bound<'_, PyAny>) -> bool {
        other.cast::<Decider>().is_ok_and(|other| self.0 == other.get().0)
    }

    fn __hash__(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        self.0.to_string().hash(&mut hasher);
        hasher.finish()
    }

    fn __reduce__<'py>(
        slf: &Bound<'py, Self>,
    ) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyTuple>)> {
        let (py, class) = (slf.py(), slf.get_type());
        match slf.get().0 {
            simulate::Decider::Policy(policy, learning) => {
                let of = (policy.to_string(), name(&LEARNINGS, learning));
                Ok((class.into_any(), of.into_pyobject(py)?))
            }
            simulate::Decider::Estimated(index) => {
                Ok((class.getattr("estimated")?, (name(&INDEXES, index),).into_pyobject(py)?))
            }
            simulate::Decider::Known(index) => {
                Ok((class.getattr("known")?, (name(&INDEXES, index),).into_pyobject(py)?))
            }
        }
    }
}

/// Returns the word for a choice.
fn name<T: PartialEq>(choices: &[(&'static str, T)], chosen: T) -> &'static str {
    choices.iter().find(|(_, choice)| *choice == chosen).map_or("", |(name, _)| *name)
}

/// A page of a simulation that can be stopped. After the stop, visits to the page fail.
struct StoppablePage<'p, P> {
    page: &'p P,
    stop: &'p Progress,
}

impl<P: SimulatedPage> SimulatedPage for StoppablePage<'_, P> {
    type VisitNotes = P::VisitNotes;

    fn host(&self) -> u32 {
        self.page.host()
    }

    fn per_day(&self) -> Option<f64> {
        self.page.per_day()
    }

    fn starts(&self) -> &[f64] {
        self.page.starts()
    }

    fn difference(&self, held: usize, now: usize) -> VersionDifference {
        self.page.difference(held, now)
    }

    fn changes(&self, version: usize) -> u64 {
        self.page.changes(version)
    }

    fn found(&self, day: f64, version: usize) -> P::VisitNotes {
        self.page.found(day, version)
    }

    fn visited(
        &self,
        notes: &mut P::VisitNotes,
        day: f64,
        version: usize,
    ) -> Result<(), RecrawlError> {
        if self.stop.is_cancelled() {
            return Err(RecrawlError::Cancelled);
        }
        self.page.visited(notes, day, version)
    }
}

/// Crawls pages, and abandons the crawl when a signal raises an exception. The crawl ends at its
/// next visit.
fn crawled<P: SimulatedPage + Send + 'static>(
    py: Python<'_>,
    pages: Arc<[P]>,
    budget: Budget,
    span: Span,
    by: simulate::Decider,
) -> PyResult<simulate::SimulationResult> {
    let stop = Progress::default();
    let stopped = stop.clone();
    let crawled = run_uncancellable(py, move || {
        let stop = &stopped;
        let pages: Vec<_> = pages.iter().map(|page| StoppablePage { page, stop }).collect();
        Ok(simulate::crawl(&pages, budget, span, by, &mut || {})?)
    });
    crawled.inspect_err(|_| stop.cancel())
}

/// Simulates a crawl, and measures the freshness of the pages.
///
/// `by` is a `Decider`, or the name of a policy (`"value"`). From day 0 to the day `end`, in steps
/// of `step_days`, the crawler visits as many pages as the budget allows, in the order of the
/// decider. The crawler uses only the results of its visits. Measurement starts on the day `start`.
/// The budget is either `visits_per_day`, or an average of one visit per `every` days for each
/// known page. Pages that were not visited for `largest_interval` (365 days) come first.
///
/// Takes 1 to 3 KiB for each page; a step takes some 50 nanoseconds for each page, and some 10
/// microseconds for each visit. Other threads run meanwhile, and Ctrl-C abandons the simulation.
/// Raises `InvalidOptionError` if there are no pages before the end, or if the decider needs rates
/// that are unknown.
#[pyfunction]
#[pyo3(signature = (
    pages: "Replay | RandomPages", by: "Decider | Policy | str | None" = None, *,
    step_days: "float", start: "float", end: "float", visits_per_day: "float | None" = None,
    every: "float | None" = None, largest_interval: "float | timedelta | None" = None
))]
pub(crate) fn crawl<'py>(
    py: Python<'py>,
    pages: &Bound<'py, PyAny>,
    by: Option<&Bound<'py, PyAny>>,
    step_days: &Bound<'py, PyAny>,
    start: &Bound<'py, PyAny>,
    end: &Bound<'py, PyAny>,
    visits_per_day: Option<&Bound<'py, PyAny>>,
    every: Option<&Bound<'py, PyAny>>,
    largest_interval: Option<&Bound<'py, PyAny>>,
) -> PyResult<SimulationResult> {
    let by = optional(by, |given| match given.cast::<Decider>() {
        Ok(by) => Ok(by.get().0),
        Err(_) => policy(py, Arg::new("by"), given).map(simulate::Decider::policy),
    })?;
    let by = by.unwrap_or_else(|| simulate::Decider::policy(recrawl::Policy::VALUE));
    let step_days = arg::float(Arg::new("step_days"), step_days)?;
    let start = arg::float(Arg::new("start"), start)?;
    let end = arg::float(Arg::new("end"), end)?;
    let span = Span::new(step_days, start, end).or_raise(py)?;
    let visits = optional(visits_per_day, |v| arg::float(Arg::new("visits_per_day"), v))?;
    let every = optional(every, |v| arg::float(Arg::new("every"), v))?;
    let budget = match (visits, every) {
        (Some(visits), None) => Budget::per_day(visits),
        (None, Some(days)) => Budget::every(days),
        _ => return Err(one_of("crawl", "visits_per_day and every")),
    };
    let largest = optional(largest_interval, |v| arg::interval(Arg::new("largest_interval"), v))?;
    let budget = budget.or_raise(py)?;
    let budget = largest.map_or(budget, |largest| budget.largest_interval(largest));
    let figures = if let Ok(replay) = pages.cast::<Replay>() {
        crawled(py, Arc::clone(&replay.get().pages), budget, span, by)
    } else if let Ok(drawn) = pages.cast::<RandomPages>() {
        crawled(py, Arc::clone(&drawn.get().0), budget, span, by)
    } else {
        Err(Arg::new("pages").type_error("a Replay or RandomPages", pages))
    }?;
    SimulationResult::from_rust(py, figures)
}
