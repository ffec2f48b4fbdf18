//! A page that is listed, for people and for programs.

use serde_json::{Map, Value};
use simkeep::due::{Decision, Reason};
use simkeep::recrawl::Interval;

use super::super::table::{Table, left, right};
use super::super::time::{self, Clock};
use super::super::{visit, words};
use simkeep_archive::escape;

/// The table of pages.
pub(super) fn table(clock: &Clock) -> Table {
    let columns = [right("value "), left(clock.heading("last visit")), left("every"), left("URL")];
    Table::new(columns)
}

/// A page in columns.
pub(super) fn row(page: &Decision, clock: &Clock) -> [String; 4] {
    let mark = if matches!(page.reason, Reason::Overdue { .. }) { '!' } else { ' ' };
    [
        format!("{}{mark}", words::amount(page.value)),
        clock.show(page.page.last.time),
        page.every.map_or("-".into(), |every| words::span(every.seconds())),
        escape::whole(&page.page.url),
    ]
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
