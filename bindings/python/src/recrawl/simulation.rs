//! Trying policies on pages whose changes are known.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;

use pyo3::prelude::*;
use pyo3::types::{PyString, PyTuple};
use simkeep::Progress;
use simkeep::recrawl::simulate::{
    self, Budget, Difference, Learning, Page, PoissonPage, Rates, Span,
};
use simkeep::recrawl::{self, RecrawlError};

use crate::call::long::alone;
use crate::convert::arg::{self, Arg, optional};
use crate::convert::error::OrRaise;
use crate::convert::typed::Tuple;
use crate::convert::value::{FromRust, no_pickle, value};
use crate::recrawl::policy::policy;
use crate::recrawl::rates::{INDEXES, index};
use crate::recrawl::replay::Replay;
use crate::search::query::one_of;

/// From what a crawler may learn what to expect of pages, with its name.
const LEARNINGS: [(&str, Learning); 3] =
    [("nothing", Learning::Nothing), ("pages", Learning::Pages), ("hosts", Learning::Hosts)];

value! {
    in "simkeep.recrawl";
    Figures from figures: simkeep::recrawl::simulate::Figures {
        freshness: f64,
        near_freshness: f64,
        staleness: f64,
        divergence: f64,
        visits_per_day: f64,
    }
}

/// Pages whose changes are random, at rates that are drawn.
///
/// A seed names them, on every machine. `len` says how many there are. They take 8 bytes for each
/// change.
#[pyclass(frozen, module = "simkeep.recrawl")]
pub(crate) struct PoissonPages(Arc<[PoissonPage]>);

impl PoissonPages {
    fn draw(
        py: Python<'_>,
        rates: Rates,
        seed: Option<&Bound<'_, PyAny>>,
        days: &Bound<'_, PyAny>,
    ) -> PyResult<PoissonPages> {
        let seed = optional(seed, |v| arg::count(Arg::new("seed"), v))?.unwrap_or(1);
        let days = arg::float(Arg::new("days"), days)?;
        Ok(PoissonPages(alone(py, move || Ok(rates.draw(seed, days)?))?.into()))
    }
}

#[pymethods]
impl PoissonPages {
    /// Draws so many pages, with their changes up to a day.
    ///
    /// All octaves from a change in 400 days to one every eight hours or so are equally likely. The
    /// seed is 1 by default. Raises `InvalidOptionError` if there are no pages, or more than 100 million
    /// changes are to be expected. Ctrl-C leaves it.
    #[staticmethod]
    #[pyo3(signature = (pages: "int", *, days: "float", seed: "int | None" = None))]
    fn flat(
        py: Python<'_>,
        pages: &Bound<'_, PyAny>,
        days: &Bound<'_, PyAny>,
        seed: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<PoissonPages> {
        let pages = arg::u32(Arg::new("pages"), pages)?;
        PoissonPages::draw(py, Rates::Flat { pages }, seed, days)
    }

    /// Draws pages of hosts, with their changes up to a day: so many hosts of so many `pages` each.
    ///
    /// The rates of hosts are log-normal around the `median`, in changes a day, with the width
    /// `between`; those of pages around that of their host, with the width `within`. The seed is 1
    /// by default. Raises `InvalidOptionError` if a number is not positive, or more than 100 million
    /// changes are to be expected. Ctrl-C leaves it.
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
    ) -> PyResult<PoissonPages> {
        let rates = Rates::ByHost {
            hosts: arg::u32(Arg::new("hosts"), hosts)?,
            pages: arg::u32(Arg::new("pages"), pages)?,
            median: arg::float(Arg::new("median"), median)?,
            between: arg::float(Arg::new("between"), between)?,
            within: arg::float(Arg::new("within"), within)?,
        };
        PoissonPages::draw(py, rates, seed, days)
    }

    fn __len__(&self) -> usize {
        self.0.len()
    }

    /// The rate of each page, in changes a day.
    #[getter]
    fn rates(&self, py: Python<'_>) -> PyResult<Tuple<f64>> {
        Tuple::new(py, self.0.iter().map(PoissonPage::rate).collect::<Vec<_>>())
    }

    fn __repr__(&self) -> String {
        format!("<simkeep.recrawl.PoissonPages: {}>", self.0.len())
    }

    fn __reduce__(&self) -> PyResult<()> {
        Err(no_pickle("PoissonPages", "draw them anew"))
    }
}

/// By what a simulated crawler puts pages in order.
///
/// That is a policy, given by its name (`"value"`), or what policies are compared with. As a text
/// it is what a table of results calls it. `learning` says from what it learns what to expect of
/// pages: `"hosts"` (the default), from all pages and for each page from others of its host, as a
/// store does; `"pages"`, from all pages; `"nothing"`.
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

    /// An index, `"value"` (the default) or `"harmonic"`, at the rate that the comparisons of a
    /// page give.
    ///
    /// It has no belief.
    #[staticmethod]
    #[pyo3(signature = (index: "_Index | None" = None))]
    fn estimated(index: Option<&Bound<'_, PyAny>>) -> PyResult<Decider> {
        Ok(Decider(simulate::Decider::Estimated(self::index(index)?)))
    }

    /// An index, `"value"` (the default) or `"harmonic"`, at the true rate.
    ///
    /// Only pages whose rate is known can be simulated so, which those of a store are not.
    #[staticmethod]
    #[pyo3(signature = (index: "_Index | None" = None))]
    fn known(index: Option<&Bound<'_, PyAny>>) -> PyResult<Decider> {
        Ok(Decider(simulate::Decider::Known(self::index(index)?)))
    }

    /// All that are worth comparing.
    ///
    /// These are the policies, the crawl value without hosts and without a belief, and, if the
    /// rates are known, at the true rates.
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

/// The word for one of some choices.
fn name<T: PartialEq>(choices: &[(&'static str, T)], chosen: T) -> &'static str {
    choices.iter().find(|(_, choice)| *choice == chosen).map_or("", |(name, _)| *name)
}

/// A page of a simulation that can be stopped: visits to it fail from then on.
struct Stoppable<'p, P> {
    page: &'p P,
    stop: &'p Progress,
}

impl<P: Page> Page for Stoppable<'_, P> {
    type Notes = P::Notes;

    fn host(&self) -> u32 {
        self.page.host()
    }

    fn per_day(&self) -> Option<f64> {
        self.page.per_day()
    }

    fn starts(&self) -> &[f64] {
        self.page.starts()
    }

    fn difference(&self, held: usize, now: usize) -> Difference {
        self.page.difference(held, now)
    }

    fn changes(&self, version: usize) -> u64 {
        self.page.changes(version)
    }

    fn found(&self, day: f64, version: usize) -> P::Notes {
        self.page.found(day, version)
    }

    fn visited(&self, notes: &mut P::Notes, day: f64, version: usize) -> Result<(), RecrawlError> {
        if self.stop.is_cancelled() {
            return Err(RecrawlError::Cancelled);
        }
        self.page.visited(notes, day, version)
    }
}

/// Crawls pages, and leaves the crawl when a signal raises an exception: it ends at its next visit.
fn crawled<P: Page + Send + 'static>(
    py: Python<'_>,
    pages: Arc<[P]>,
    budget: Budget,
    span: Span,
    by: simulate::Decider,
) -> PyResult<simulate::Figures> {
    let stop = Progress::default();
    let stopped = stop.clone();
    let crawled = alone(py, move || {
        let stop = &stopped;
        let pages: Vec<_> = pages.iter().map(|page| Stoppable { page, stop }).collect();
        Ok(simulate::crawl(&pages, budget, span, by, &mut || {})?)
    });
    crawled.inspect_err(|_| stop.cancel())
}

/// Crawls pages in a simulation, and says how fresh they were.
///
/// `by` is a `Decider`, or the name of a policy (`"value"`). From day 0 to the day `end`, in steps
/// of `step_days`, the crawler visits as many pages as the budget allows, those first that the
/// decider puts first, and knows nothing but what its visits found. What is measured is from the
/// day `start` on. The budget is either `visits_per_day`, or a visit for each page that is known
/// `every` so many days, on average.
///
/// Takes 1 to 3 KiB for each page; a step takes some 50 nanoseconds for each page, and some 10
/// microseconds for each visit. Other threads run meanwhile, and Ctrl-C leaves it. Raises
/// `InvalidOptionError` if there are no pages before the end, or rates are wanted that are not known.
#[pyfunction]
#[pyo3(signature = (
    pages: "Replay | PoissonPages", by: "Decider | Policy | str | None" = None, *,
    step_days: "float", start: "float", end: "float", visits_per_day: "float | None" = None,
    every: "float | None" = None
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
) -> PyResult<Figures> {
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
    let budget = budget.or_raise(py)?;
    let figures = if let Ok(replay) = pages.cast::<Replay>() {
        crawled(py, Arc::clone(&replay.get().pages), budget, span, by)
    } else if let Ok(drawn) = pages.cast::<PoissonPages>() {
        crawled(py, Arc::clone(&drawn.get().0), budget, span, by)
    } else {
        Err(Arg::new("pages").type_error("a Replay or PoissonPages", pages))
    }?;
    Figures::from_rust(py, figures)
}
