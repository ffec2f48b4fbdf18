//! The results, as JSON.

use schemars::JsonSchema;
use serde::Serialize;
use simkeep::recrawl::simulate::Span;

use super::best_freshness::BestFreshness;
use super::row::{self, SimulationRow};
use super::setting::SimulationSetting;

/// A policy; with --random, also a bound on all policies.
#[derive(Serialize, JsonSchema)]
#[serde(untagged)]
pub(crate) enum SimulateLine<'a> {
    Policy(PolicyResult<'a>),
    Optimum(OptimumResult),
}

/// The freshness of simulated crawls under a policy.
#[derive(Serialize, JsonSchema)]
pub(crate) struct PolicyResult<'a> {
    policy: &'a str,
    pages: u64,
    /// The number of visits a day.
    visits_per_day: f64,
    /// The first day that is measured.
    from_day: f64,
    /// The last day that is measured.
    to_day: f64,
    /// The number of crawls over which the figures are averaged.
    crawls: usize,
    /// The fraction of the time in which the crawler's newest copy was current.
    fresh: MeanResult,
    /// The fraction of the time in which the crawler's newest copy was current, up to minor changes.
    near_fresh: MeanResult,
    /// The missed changes since the last visit, averaged over time: the first counts 1, the second
    /// 1/2, the third 1/3, and so on.
    missed: MeanResult,
    /// The fraction of the 64 bits of a fingerprint in which the newest copy differed from the
    /// current version, averaged over time.
    bits: MeanResult,
    /// The number of visits a day that were made in the measured time.
    measured_visits_per_day: f64,
    /// The difference of `fresh` from that of the first policy; null for the first policy.
    fresher: Option<MeanResult>,
}

/// A bound: the freshness of a crawler that knows all change rates.
#[derive(Serialize, JsonSchema)]
pub(crate) struct OptimumResult {
    /// The measure: "fixed_intervals", "random_times" or "few_misses".
    optimum: &'static str,
    /// The number of visits a day.
    visits_per_day: f64,
    fresh: MeanResult,
}

/// The mean over all crawls.
#[derive(Serialize, JsonSchema)]
struct MeanResult {
    mean: f64,
    /// The standard error of the mean; null for a single crawl.
    error: Option<f64>,
}

impl From<row::CrawlMean> for MeanResult {
    fn from(row::CrawlMean { mean, error }: row::CrawlMean) -> MeanResult {
        MeanResult { mean, error }
    }
}

/// A line for each row, and for each bound.
pub(super) fn lines<'a>(
    rows: &'a [SimulationRow],
    best: Option<&Vec<BestFreshness>>,
    setting: &SimulationSetting,
    (visits_per_day, span): (f64, Span),
) -> Vec<SimulateLine<'a>> {
    let of_row = |row: &'a SimulationRow| {
        let first = rows.first().filter(|first| first.name != row.name);
        SimulateLine::Policy(PolicyResult {
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
    let of_best = |best: &BestFreshness| {
        let fresh = MeanResult { mean: best.freshness, error: None };
        SimulateLine::Optimum(OptimumResult { optimum: best.key, visits_per_day, fresh })
    };
    let best = best.into_iter().flatten().map(of_best);
    rows.iter().map(of_row).chain(best).collect()
}
