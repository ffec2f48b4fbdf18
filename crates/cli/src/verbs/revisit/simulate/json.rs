//! The results for programs.

use schemars::JsonSchema;
use serde::Serialize;
use simkeep::recrawl::simulate::Span;

use super::best::Best;
use super::row::{self, Row};
use super::setting::Setting;

/// A policy; or, at random, what would have been best.
#[derive(Serialize, JsonSchema)]
#[serde(untagged)]
pub(crate) enum Line<'a> {
    Policy(OfPolicy<'a>),
    Optimum(Optimum),
}

/// How fresh crawls would have been under a policy.
#[derive(Serialize, JsonSchema)]
pub(crate) struct OfPolicy<'a> {
    policy: &'a str,
    pages: u64,
    /// How many visits there are in a day.
    visits_per_day: f64,
    /// The first day that is measured.
    from_day: f64,
    /// The last day.
    to_day: f64,
    /// How many crawls the figures are the means of.
    crawls: usize,
    /// The share of the time in which what the crawler saw last was in force.
    fresh: Mean,
    /// The share of the time in which it was in force up to minor changes.
    near_fresh: Mean,
    /// Changes since the last visit, where each further one counts less.
    missed: Mean,
    /// The share of the 64 bits that differed.
    bits: Mean,
    /// How many visits a day were made.
    measured_visits_per_day: f64,
    /// By how much more of the time pages were fresh than under the first policy.
    fresher: Option<Mean>,
}

/// What crawlers could reach that know all rates.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Optimum {
    /// "fixed_intervals", "random_times" or "few_misses".
    optimum: &'static str,
    /// How many visits there are in a day.
    visits_per_day: f64,
    fresh: Mean,
}

/// The mean over all crawls.
#[derive(Serialize, JsonSchema)]
struct Mean {
    mean: f64,
    /// Its standard error, of several crawls.
    error: Option<f64>,
}

impl From<row::Mean> for Mean {
    fn from(row::Mean { mean, error }: row::Mean) -> Mean {
        Mean { mean, error }
    }
}

/// A line for each row, and for each that would have been best.
pub(super) fn lines<'a>(
    rows: &'a [Row],
    best: Option<&Vec<Best>>,
    setting: &Setting,
    (visits_per_day, span): (f64, Span),
) -> Vec<Line<'a>> {
    let of_row = |row: &'a Row| {
        let first = rows.first().filter(|first| first.name != row.name);
        Line::Policy(OfPolicy {
            policy: &row.name,
            pages: setting.pages,
            visits_per_day,
            from_day: span.from(),
            to_day: span.to(),
            crawls: row.figures.len(),
            fresh: row.mean(|figures| figures.freshness).into(),
            near_fresh: row.mean(|figures| figures.near_freshness).into(),
            missed: row.mean(|figures| figures.staleness).into(),
            bits: row.mean(|figures| figures.divergence).into(),
            measured_visits_per_day: row.mean(|figures| figures.visits_per_day).mean
                / setting.sample,
            fresher: first.map(|first| row.fresher_than(first).into()),
        })
    };
    let of_best = |best: &Best| {
        let fresh = Mean { mean: best.freshness, error: None };
        Line::Optimum(Optimum { optimum: best.key, visits_per_day, fresh })
    };
    let best = best.into_iter().flatten().map(of_best);
    rows.iter().map(of_row).chain(best).collect()
}
