//! Which pages to visit next: what is asked, and what is decided.

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyDictMethods, PyString};
use simkeep::due::{Due, Rule, Rules};
use simkeep::{Error, due};

use crate::arg::{self, Arg, optional};
use crate::error::OrRaise;
use crate::hints::Hints;
use crate::learned::Learned;
use crate::page::Page;
use crate::plan::Plan;
use crate::policy::policy;
use crate::query::{each, unknown};
use crate::store::Store;
use crate::time::{Span, Time};
use crate::value::value;
use crate::word::Reason;

value! {
    /// How often a page is believed to change, and how sure that is.
    Rate {
        /// Changes a day.
        per_day: f64,
        /// The rate is below this with a probability of 5 %.
        low: f64,
        /// The rate is above this with a probability of 5 %.
        high: f64,
    }
}

value! {
    /// What is decided about a page: what a visit to it is worth, and why. As a text, for people: "by
    /// what a visit is worth; a visit is worth 12.30; 3 of 8 comparisons found it changed; ...".
    Decision {
        /// The page, with its last visit, and with what its visits tell of how it changes.
        page: Py<Page>,
        /// What the policy makes of it now: by the crawl value what a visit is worth, the days for which
        /// it makes the page fresh, times its weight.
        value: f64,
        /// How often it is believed to change.
        rate: Py<Rate>,
        /// How much it matters: its weight, with the factor of its rule.
        weight: f64,
        /// When it is due by the plan that was given, which may be past; `None` without one.
        due: Option<Time>,
        /// How long after its last visit that is, if no visit fails; `None` without a plan.
        every: Option<Span>,
        /// The prefix of the rule that it goes by, if it is not one for all pages.
        rule: Option<String>,
        /// The page that leads it, if one near it had its content first.
        near: Option<String>,
        /// What decides.
        reason: Reason,
        /// How long it may be left unvisited, if it is overdue, or must be, if its rule says not yet.
        interval: Option<Span>,
        /// Until when it is left alone, because its last visits failed.
        until: Option<Time>,
        /// When it changed, if a hint says that it did.
        changed: Option<Time>,
        /// For people.
        text: String,
    }
    also {
        fn __str__(&self) -> String {
            self.text.clone()
        }
    }
}

impl From<simkeep::recrawl::Rate> for Rate {
    fn from(rate: simkeep::recrawl::Rate) -> Rate {
        let simkeep::recrawl::Rate { per_day, low, high } = rate;
        Rate { per_day, low, high }
    }
}

impl Decision {
    pub(crate) fn of(py: Python<'_>, decision: due::Decision) -> PyResult<Decision> {
        let text = decision.to_string();
        let due::Decision { page, value, rate, weight, due, every, rule, near, reason, .. } =
            decision;
        let (mut interval, mut until, mut changed) = (None, None, None);
        match reason {
            due::Reason::Overdue { after } => interval = Some(Span(after)),
            due::Reason::NotYet { min } => interval = Some(Span(min)),
            due::Reason::LeftAlone { until: time } => until = Some(Time(time)),
            due::Reason::Hinted { changed: time } => changed = Some(Time(time)),
            _ => {}
        }
        Ok(Decision {
            page: Py::new(py, Page::of(py, page)?)?,
            value,
            rate: Py::new(py, Rate::from(rate))?,
            weight,
            due: due.map(Time),
            every: every.map(Span),
            rule: rule.map(|rule| rule.to_string()),
            near,
            reason: reason.into(),
            interval,
            until,
            changed,
            text,
        })
    }
}

/// What is asked, with these keywords.
pub(crate) fn asked(
    py: Python<'_>,
    (now, budget): (&Bound<'_, PyAny>, &Bound<'_, PyAny>),
    keywords: Option<&Bound<'_, PyDict>>,
) -> PyResult<Due> {
    let now = arg::time(Arg::new("now"), now)?;
    with(py, Due::new(now, arg::limit(Arg::new("budget"), budget)?), keywords)
}

/// A question with these keywords.
pub(crate) fn with<'py>(
    py: Python<'py>,
    mut due: Due,
    keywords: Option<&Bound<'py, PyDict>>,
) -> PyResult<Due> {
    let (mut plan, mut learned) = (None, None);
    each(keywords, |key, value| {
        let asked = due.clone();
        due = match key {
            "policy" => asked.policy(policy(py, Arg::new("policy"), value)?),
            "under" if value.is_none() => asked,
            "under" => asked.under(arg::prefix(Arg::new("under"), value)?),
            "per_host" => asked.per_host(arg::limit(Arg::new("per_host"), value)?),
            "largest_interval" => {
                asked.largest_interval(arg::interval(Arg::new("largest_interval"), value)?)
            }
            "rules" => asked.rules(&rules(py, value)?),
            "memory_bytes" => asked.memory_bytes(arg::size(Arg::new("memory_bytes"), value)?),
            "hints" if value.is_none() => asked,
            "hints" => asked.hints(&arg::of::<Hints>(Arg::new("hints"), "Hints", value)?.get().0),
            "plan" => {
                plan = optional(Some(value), |v| arg::of::<Plan>(Arg::new("plan"), "a Plan", v))?;
                asked
            }
            "learned" => {
                let of =
                    |v: &Bound<'py, PyAny>| arg::of::<Learned>(Arg::new("learned"), "Learned", v);
                learned = optional(Some(value), of)?;
                asked
            }
            other => return Err(unknown(other)),
        };
        Ok(())
    })?;
    match (plan, learned) {
        (Some(_), Some(_)) => {
            let what = "plan and learned exclude each other: a plan has what it has learned";
            Err(PyTypeError::new_err(what))
        }
        (Some(plan), None) => Ok(due.plan(&plan.get().0)),
        (None, Some(learned)) => Ok(due.learned(&learned.get().0)),
        (None, None) => Ok(due),
    }
}

/// Rules, which are dictionaries.
fn rules(py: Python<'_>, given: &Bound<'_, PyAny>) -> PyResult<Rules> {
    let expected = "an iterable of dictionaries with under, min, max, weight, per_host or policy";
    let wrong = || Arg::new("rules").type_error(expected, given);
    if given.is_instance_of::<PyString>() || given.is_instance_of::<PyDict>() {
        return Err(wrong());
    }
    let mut rules = Vec::new();
    for (number, given) in (0..).zip(given.try_iter().map_err(|_| wrong())?) {
        rules.push(rule(py, &given?, number)?);
    }
    Rules::new(rules).map_err(Error::from).or_raise(py)
}

/// A rule; `number` is its place, counted from 0.
fn rule(py: Python<'_>, given: &Bound<'_, PyAny>, number: u64) -> PyResult<Rule> {
    let place = Arg::row("each of rules", number);
    let keys = given.cast::<PyDict>().map_err(|_| place.type_error("a dictionary", given))?;
    let mut rule = Rule::everywhere();
    for (key, value) in keys.iter() {
        let some = Some(&value);
        match arg::text(place, &key)? {
            "under" => rule.under = optional(some, |v| arg::prefix(place.and("under"), v))?,
            "min" => rule.min = optional(some, |v| arg::interval(place.and("min"), v))?,
            "max" => rule.max = optional(some, |v| arg::interval(place.and("max"), v))?,
            "weight" => rule.weight = arg::float(place.and("weight"), &value)?,
            "per_host" => rule.per_host = optional(some, |v| arg::size(place.and("per_host"), v))?,
            "policy" => rule.policy = optional(some, |v| policy(py, place.and("policy"), v))?,
            _ => return Err(place.wrong(format!("has an unknown key: {}", arg::shown(&key)))),
        }
    }
    Ok(rule)
}

#[pymethods]
impl Store {
    /// Hands out the pages of which a visit is worth most: those of `due`, whose keywords it takes.
    ///
    /// Those that are out already are left out, and those that a visit is worth nothing of. A page
    /// is out until it is observed in any way or handed back, or until the `lease` is over by the
    /// `now` of a later call. Threads may take at once. Leases are in memory only: when the store
    /// is opened again, all pages can be taken. At most `leases_max` are out.
    #[pyo3(signature = (
        now: "Time", budget: "int | None", lease: "_types.Seconds", **like: "Unpack[_types.Due]"
    ))]
    fn take_due<'py>(
        &self,
        py: Python<'py>,
        now: &Bound<'py, PyAny>,
        budget: &Bound<'py, PyAny>,
        lease: &Bound<'py, PyAny>,
        like: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Vec<Decision>> {
        let asked = asked(py, (now, budget), like)?;
        let lease = arg::interval(Arg::new("lease"), lease)?;
        let taken = self.call(py, |store| store.take_due(&asked, lease))?;
        taken.into_iter().map(|decision| Decision::of(py, decision)).collect()
    }

    /// Ends the lease of a page that was not visited, so that it can be taken again.
    ///
    /// Returns whether it had one.
    #[pyo3(signature = (url: "str"))]
    fn hand_back(&self, py: Python<'_>, url: &Bound<'_, PyAny>) -> PyResult<bool> {
        let url = arg::url(Arg::new("url"), url)?;
        self.call(py, |store| store.hand_back(url))
    }
}
