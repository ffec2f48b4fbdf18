//! A page that is listed, for people and for programs.

use std::borrow::Cow;

use schemars::JsonSchema;
use serde::Serialize;
use simkeep::due::{Decision, Reason};
use simkeep::recrawl::{Interval, Rate};

use crate::output::json::{Number, Time};
use crate::output::table::{Table, left, right};
use crate::output::words;
use crate::time::{self, Clock};
use simkeep_formats::escape;

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
        page.every.map_or("-".into(), |every| time::span(every.seconds())),
        escape::whole(&page.page.url),
    ]
}

/// A page, for programs.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Page<'a> {
    pub(crate) url: Cow<'a, str>,
    /// What a visit is worth now, by the policy.
    pub(crate) value: f64,
    /// When its last visit was.
    pub(crate) last: Option<Time>,
    /// From when on it is due; null if that is never, or it is not known how many visits there are.
    pub(crate) due: Option<Time>,
    /// How often it is to be visited.
    pub(crate) every_seconds: Option<u64>,
    pub(crate) changes_per_day: Changes,
    /// How important it is, with the factor of its rule.
    pub(crate) weight: Number,
    /// Comparisons of two of its visits.
    pub(crate) comparisons: u32,
    /// Those that found it changed.
    pub(crate) changes: u32,
    /// Those that found it back at an earlier version.
    pub(crate) returns: u32,
    /// Why it stands where it stands, in words.
    pub(crate) reason: Cow<'a, str>,
    /// When a hint says that it changed.
    pub(crate) hinted: Option<Time>,
    /// The page that leads it: one with nearly the same content that had it first.
    pub(crate) leader: Option<&'a str>,
    /// The prefix of its rule.
    pub(crate) rule: Option<String>,
}

/// How often a page is believed to change.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "ChangesPerDay")]
pub(crate) struct Changes {
    mean: f64,
    /// From where on the rate is, with a probability of 90 %.
    low: f64,
    /// Up to where the rate is, with the same probability.
    high: f64,
}

impl From<Rate> for Changes {
    fn from(Rate { per_day, low, high }: Rate) -> Changes {
        Changes { mean: per_day, low, high }
    }
}

impl<'a> From<&'a Decision> for Page<'a> {
    fn from(page: &'a Decision) -> Page<'a> {
        let Decision { page: of, value, rate, weight, due, every, rule, near, reason, .. } = page;
        Page {
            url: of.url.as_str().into(),
            value: *value,
            last: Some(Time(of.last.time)),
            due: due.map(Time),
            every_seconds: every.map(Interval::seconds),
            changes_per_day: Changes::from(*rate),
            weight: Number(*weight),
            comparisons: of.changes.comparisons(),
            changes: of.changes.changes(),
            returns: of.changes.returns(),
            reason: reason.to_string().into(),
            hinted: match reason {
                Reason::Hinted { changed } => Some(Time(*changed)),
                _ => None,
            },
            leader: near.as_deref(),
            rule: rule.as_ref().map(ToString::to_string),
        }
    }
}
