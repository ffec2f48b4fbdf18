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
        page.page.as_ref().map_or_else(|| "never".to_owned(), |page| clock.show(page.last.time)),
        page.every.map_or("-".into(), |every| time::span(every.seconds())),
        escape::escape_untruncated(&page.url),
    ]
}

/// A page to visit.
#[derive(Serialize, JsonSchema)]
pub(crate) struct DuePageLine<'a> {
    pub(crate) url: Cow<'a, str>,
    /// The value of a visit now, by the policy.
    pub(crate) value: f64,
    /// The time of the last visit; null for a URL that nobody has visited.
    pub(crate) last: Option<Time>,
    /// The time at which the URL was found, if nobody has visited it; otherwise null.
    pub(crate) found: Option<Time>,
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
    /// The value at which the pages of its host are due, if the host gets as many visits a day as its
    /// rule allows; null without a plan, or if the latest allowed dates alone take more visits.
    pub(crate) price: Option<f64>,
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
        let Decision { url, page: of, value, rate, weight, due, every, rule, near, reason, .. } =
            page;
        let changes = of.as_ref().map(|of| of.changes).unwrap_or_default();
        DuePageLine {
            url: url.as_str().into(),
            value: *value,
            last: of.as_ref().map(|of| Time(of.last.time)),
            found: match reason {
                Reason::Found { time } => Some(Time(*time)),
                _ => None,
            },
            due: due.map(Time),
            every_seconds: every.map(Interval::seconds),
            changes_per_day: ChangeRateEstimate::from(*rate),
            weight: JsonNumber(*weight),
            comparisons: changes.comparisons(),
            changes: changes.changes(),
            returns: changes.returns(),
            reason: reason.to_string().into(),
            hinted: match reason {
                Reason::Hinted { changed } => Some(Time(*changed)),
                _ => None,
            },
            leader: near.as_deref(),
            price: page.price.filter(|price| price.is_finite()),
            rule: rule.as_ref().map(ToString::to_string),
            headers: of.as_ref().map(RequestHeaders::conditional).unwrap_or_default(),
        }
    }
}
