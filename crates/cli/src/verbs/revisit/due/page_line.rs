//! A listed page, as a table row and as JSON.

use std::borrow::Cow;

use schemars::JsonSchema;
use serde::Serialize;
use simkeep::due::{Decision, Reason};
use simkeep::recrawl::{Interval, Rate};

use crate::output::json::{JsonNumber, RequestHeaders, Time};
use crate::output::table::{TextTable, left, right};
use crate::output::words;
use crate::time::{self, TimeFormat};
use simkeep_formats::escape;

/// The table of pages.
pub(super) fn table(clock: &TimeFormat) -> TextTable {
    let columns = [right("value "), left(clock.heading("last visit")), left("every"), left("URL")];
    TextTable::new(columns)
}

/// A page as a table row.
pub(super) fn row(page: &Decision, clock: &TimeFormat) -> [String; 4] {
    let mark = if matches!(page.reason, Reason::Overdue { .. }) { '!' } else { ' ' };
    [
        format!("{}{mark}", words::amount(page.value)),
        clock.show(page.page.last.time),
        page.every.map_or("-".into(), |every| time::span(every.seconds())),
        escape::escape_untruncated(&page.page.url),
    ]
}

/// A page to visit.
#[derive(Serialize, JsonSchema)]
pub(crate) struct DuePageLine<'a> {
    pub(crate) url: Cow<'a, str>,
    /// The value of a visit now, by the policy.
    pub(crate) value: f64,
    /// The time of the last visit; null if the page is unknown.
    pub(crate) last: Option<Time>,
    /// The time from which the page is due; null if it is never due, or without a plan.
    pub(crate) due: Option<Time>,
    /// The interval between visits in seconds; null without a plan.
    pub(crate) every_seconds: Option<u64>,
    pub(crate) changes_per_day: ChangeRateEstimate,
    /// The weight (importance) of the page, times the factor of its rule.
    pub(crate) weight: JsonNumber,
    /// The number of comparisons of two visits.
    pub(crate) comparisons: u32,
    /// The number of comparisons that found a change.
    pub(crate) changes: u32,
    /// The number of comparisons that found an earlier version.
    pub(crate) returns: u32,
    /// The reason for the position of the page, in words.
    pub(crate) reason: Cow<'a, str>,
    /// The time of a change that a hint reports; null if no hint decides.
    pub(crate) hinted: Option<Time>,
    /// The page that leads it, which had nearly the same content first; null if there is none.
    pub(crate) leader: Option<&'a str>,
    /// The prefix of the rule for the page; null if it has no such rule.
    pub(crate) rule: Option<String>,
    /// The headers that make the next request conditional; empty if no validators are known.
    pub(crate) headers: RequestHeaders,
}

/// The estimated number of changes per day of a page.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "ChangesPerDay")]
pub(crate) struct ChangeRateEstimate {
    mean: f64,
    /// The lower bound of the 90 % interval of the rate.
    low: f64,
    /// The upper bound of the 90 % interval of the rate.
    high: f64,
}

impl From<Rate> for ChangeRateEstimate {
    fn from(Rate { per_day, low, high }: Rate) -> ChangeRateEstimate {
        ChangeRateEstimate { mean: per_day, low, high }
    }
}

impl<'a> From<&'a Decision> for DuePageLine<'a> {
    fn from(page: &'a Decision) -> DuePageLine<'a> {
        let Decision { page: of, value, rate, weight, due, every, rule, near, reason, .. } = page;
        DuePageLine {
            url: of.url.as_str().into(),
            value: *value,
            last: Some(Time(of.last.time)),
            due: due.map(Time),
            every_seconds: every.map(Interval::seconds),
            changes_per_day: ChangeRateEstimate::from(*rate),
            weight: JsonNumber(*weight),
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
            headers: RequestHeaders::conditional(of),
        }
    }
}
