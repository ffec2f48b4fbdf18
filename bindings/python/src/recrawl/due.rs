//! Queries for the pages to visit next, and decisions about pages.

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyDictMethods, PyString};
use simkeep::Error;
use simkeep::due::{self, Due, Rule, Rules};
use simkeep::recrawl::Interval;

use crate::convert::arg::{self, Arg, optional};
use crate::convert::error::OrRaise;
use crate::convert::keywords::{each, unknown};
use crate::convert::time::{PyInterval, PyTime};
use crate::convert::value::value;
use crate::convert::word::Reason;
use crate::pages::page::Page;
use crate::recrawl::belief::Rate;
use crate::recrawl::hints::Hints;
use crate::recrawl::learned_priors::LearnedPriors;
use crate::recrawl::plan::Plan;
use crate::recrawl::policy::policy;
use crate::streams::stream::StreamItem;

value! {
    /// The decision about a page: the value of a visit, and the reason. As text, for people: "by
    /// the value of a visit; a visit is worth 12.30; 3 of 8 comparisons found a change; ...".
    Decision from decision: simkeep::due::Decision {
        page: Py<Page>,
        value: f64,
        rate: Py<Rate>,
        weight: f64,
        /// The due time by the plan of the query, which may be past; `None` without a plan.
        due: Option<PyTime>,
        /// The interval from the last visit to the due time if no visit fails; `None` without a
        /// plan.
        every: Option<PyInterval>,
        rule: Option<String> = decision.rule.as_ref().map(ToString::to_string),
        near: Option<String>,
        reason: Reason = decision.reason,
        /// The longest time between visits of an overdue page, or the minimum time between visits,
        /// if a rule postpones the visit.
        interval: Option<PyInterval> = ReasonParts::from(decision.reason).interval,
        /// The end of the wait after failed visits.
        until: Option<PyTime> = ReasonParts::from(decision.reason).until,
        /// The time when the page changed, by a hint.
        changed: Option<PyTime> = ReasonParts::from(decision.reason).changed,
        /// The decision as text for people.
        text: String = decision.to_string(),
    }
    also {
        fn __str__(&self) -> String {
            self.text.clone()
        }
    }
}

/// The parts of a reason.
#[derive(Default)]
struct ReasonParts {
    interval: Option<Interval>,
    until: Option<simkeep::Time>,
    changed: Option<simkeep::Time>,
}

impl From<due::Reason> for ReasonParts {
    fn from(reason: due::Reason) -> ReasonParts {
        let mut parts = ReasonParts::default();
        match reason {
            due::Reason::Overdue { after } => parts.interval = Some(after),
            due::Reason::NotYet { min } => parts.interval = Some(min),
            due::Reason::LeftAlone { until } => parts.until = Some(until),
            due::Reason::Hinted { changed } => parts.changed = Some(changed),
            _ => {}
        }
        parts
    }
}

impl StreamItem for due::Decision {
    type Object = Decision;
}

/// Returns the query for these keywords.
pub(crate) fn asked(
    py: Python<'_>,
    (now, budget): (&Bound<'_, PyAny>, &Bound<'_, PyAny>),
    keywords: Option<&Bound<'_, PyDict>>,
) -> PyResult<Due> {
    let now = arg::time(Arg::new("now"), now)?;
    with(py, Due::new(now, arg::limit(Arg::new("budget"), budget)?), keywords)
}

/// Sets these keywords of a query.
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
                let of = |v: &Bound<'py, PyAny>| {
                    arg::of::<LearnedPriors>(Arg::new("learned"), "LearnedPriors", v)
                };
                learned = optional(Some(value), of)?;
                asked
            }
            other => return Err(unknown(other)),
        };
        Ok(())
    })?;
    match (plan, learned) {
        (Some(_), Some(_)) => {
            let what =
                "give either plan= or learned=, not both: a plan already contains learned priors";
            Err(PyTypeError::new_err(what))
        }
        (Some(plan), None) => Ok(due.plan(&plan.get().0)),
        (None, Some(learned)) => Ok(due.learned(&learned.get().0)),
        (None, None) => Ok(due),
    }
}

/// Converts rules, which are dictionaries.
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

/// Converts a rule; `number` is its index, counted from 0.
fn rule(py: Python<'_>, given: &Bound<'_, PyAny>, number: u64) -> PyResult<Rule> {
    let place = Arg::row("the rule", number);
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
