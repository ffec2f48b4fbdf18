//! A page that is listed, for people and for programs.

use std::io::{IsTerminal, stdout};

use serde_json::{Map, Value};
use simkeep::due::{Decision, Reason};
use simkeep::recrawl::Interval;

use super::super::{time, visit, words};
use simkeep_archive::escape;

/// What stands above the rows.
pub(super) const HEADING: &str = " value   last visit            every     URL";

/// A page in columns.
pub(super) fn row(page: &Decision) -> String {
    let mark = if matches!(page.reason, Reason::Overdue { .. }) { "!" } else { "" };
    let value = words::amount(page.value);
    let last = time::to_second(page.page.last.time);
    let every = page.every.map_or("-".into(), |every| words::span(every.seconds()));
    let url = escape::whole(&page.page.url);
    format!("{value:>6}{mark:<3}{last:<22}{every:<8}  {url}")
}

/// A URL as it is, unless a terminal would show it.
pub(super) fn url(url: &str) -> String {
    if stdout().is_terminal() { escape::whole(url) } else { url.to_owned() }
}

/// A page for programs.
pub(in super::super) fn object(page: &Decision) -> Map<String, Value> {
    let Decision { page: of, value, rate, weight, due, every, rule, near, reason, .. } = page;
    let mut object = Map::new();
    let mut put = |key: &str, value: Value| object.insert(key.to_owned(), value);
    put("url", of.url.as_str().into());
    put("value", (*value).into());
    put("last", time::format(of.last.time).into());
    put("due", due.map(time::format).into());
    put("every_seconds", every.map(Interval::seconds).into());
    put("per_day", rate.per_day.into());
    put("low", rate.low.into());
    put("high", rate.high.into());
    put("weight", visit::number(*weight));
    put("comparisons", of.changes.comparisons().into());
    put("changes", of.changes.changes().into());
    put("returns", of.changes.returns().into());
    put("reason", reason.to_string().into());
    if let Reason::Hinted { changed } = reason {
        put("hinted", time::format(*changed).into());
    }
    if let Some(leader) = near {
        put("near", leader.as_str().into());
    }
    if let Some(rule) = rule {
        put("rule", rule.to_string().into());
    }
    object
}
