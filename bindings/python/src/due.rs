//! Which pages to visit next: what is asked, and what is decided.

use pyo3::prelude::*;
use pyo3::types::{PyDict, PyDictMethods, PyString};
use simkeep::due::{Due, Rule, Rules};
use simkeep::recrawl::Policy;
use simkeep::{Error, due};

use crate::arg::{self, Arg, optional};
use crate::error::OrRaise;
use crate::page::Page;
use crate::query::{each, unknown};
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
        /// For people.
        text: String,
    }
    also {
        fn __str__(&self) -> String {
            self.text.clone()
        }
    }
}

impl Decision {
    pub(crate) fn of(py: Python<'_>, decision: due::Decision) -> PyResult<Decision> {
        let text = decision.to_string();
        let due::Decision { page, value, rate, weight, rule, near, reason, .. } = decision;
        let (interval, until) = match reason {
            due::Reason::Overdue { after } => (Some(Span(after)), None),
            due::Reason::NotYet { min } => (Some(Span(min)), None),
            due::Reason::LeftAlone { until } => (None, Some(Time(until))),
            _ => (None, None),
        };
        let simkeep::recrawl::Rate { per_day, low, high } = rate;
        Ok(Decision {
            page: Py::new(py, Page::of(py, page)?)?,
            value,
            rate: Py::new(py, Rate { per_day, low, high })?,
            weight,
            rule: rule.map(|rule| rule.to_string()),
            near,
            reason: reason.into(),
            interval,
            until,
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
    let mut due = Due::new(now, arg::limit(Arg::new("budget"), budget)?);
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
            other => return Err(unknown(other)),
        };
        Ok(())
    })?;
    Ok(due)
}

fn policy(py: Python<'_>, arg: Arg, given: &Bound<'_, PyAny>) -> PyResult<Policy> {
    arg::text(arg, given)?.parse::<Policy>().or_raise(py)
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
