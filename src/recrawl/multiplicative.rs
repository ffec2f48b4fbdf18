//! Rules by which an interval grows while a page stays as it is, and shrinks when it changes.
//!
//! They settle where a constant share of visits finds a change: the more a page changes, the more
//! visits it gets. For freshness that is worse than to visit all pages equally often, where rates
//! differ much (Cho & Garcia-Molina 2003). They are here for crawlers that go by them already.

use super::recent::Recent;

const HOUR: f64 = 1.0 / 24.0;
const MINUTE: f64 = HOUR / 60.0;

/// An interval as a rule has it, and when it wants the next visit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Schedule {
    /// The interval, in days, from which the next comparison goes on.
    pub interval_days: f64,
    /// The days from the last visit to the next one. Only of `nutch` it is less than the interval.
    pub next_days: f64,
}

impl Schedule {
    /// A schedule without a difference between the two.
    pub(super) fn every(days: f64) -> Schedule {
        Schedule { interval_days: days, next_days: days }
    }
}

/// After `count` comparisons without a change in a row the interval is multiplied by the factor, after
/// as many with one it is divided by it; then a fresh run begins.
pub(super) fn thesis(recent: &Recent, count: u32, factor: f64) -> Schedule {
    let (mut interval, mut run, mut before) = (7.0, 0, false);
    for changed in recent.changes() {
        run = if changed == before { run + 1 } else { 1 };
        before = changed;
        if run == count {
            interval = if changed { interval / factor } else { interval * factor };
            interval = f64::clamp(interval, HOUR, 365.0);
            run = 0;
        }
    }
    Schedule::every(interval)
}

/// Apache Nutch, `AdaptiveFetchSchedule`: the interval grows by a share where a page is unchanged, and
/// shrinks by one where it changed. It becomes the time since the last change if that is longer, and
/// the next visit comes sooner by a share of that time (`sync_delta`).
///
/// That time is known as of the last comparison only, so that earlier ones did not make the interval
/// longer in this way.
pub(super) fn nutch(recent: &Recent, grow: f64, shrink: f64, sync: f64) -> Schedule {
    let bounded = |days: f64| days.clamp(MINUTE, 365.0);
    let next =
        |interval, changed| bounded(interval) * if changed { 1.0 - shrink } else { 1.0 + grow };
    let interval = recent.changes().fold(30.0, next);
    // Of a page that was visited once this is 0, and the interval stays at 30 days.
    let quiet = recent.quiet_days();
    let interval = bounded(interval.max(quiet));
    Schedule { interval_days: interval, next_days: (interval - sync * quiet).max(MINUTE) }
}

/// StormCrawler, `AdaptiveScheduler`: half as long again where a page is unchanged, up to two weeks;
/// where it changed, halfway to the shortest interval, an hour.
pub(super) fn storm_crawler(recent: &Recent) -> Schedule {
    let days = recent.changes().fold(1.0, |interval: f64, changed| {
        if changed { 0.5 * interval + 0.5 * HOUR } else { (interval * 1.5).min(14.0) }
    });
    Schedule::every(days)
}
