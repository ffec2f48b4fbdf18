//! Rules that lengthen an interval while a page is unchanged, and shorten it when it changes.
//!
//! They converge where a constant fraction of visits finds a change: the more a page changes, the
//! more visits it gets. Where rates differ widely, this keeps fewer pages fresh than equal
//! intervals for all (Cho & Garcia-Molina 2003). The rules are here for crawlers that already use
//! them.

use super::recent::Recent;

const HOUR: f64 = 1.0 / 24.0;
const MINUTE: f64 = HOUR / 60.0;

/// The state of an interval rule, and when the next visit is due.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Schedule {
    /// The interval in days that the next comparison adjusts.
    pub interval_days: f64,
    /// The days from the last visit to the next one. Only `nutch` makes it shorter than the
    /// interval.
    pub next_days: f64,
}

impl Schedule {
    /// Returns a schedule in which both are equal.
    pub(super) fn every(days: f64) -> Schedule {
        Schedule { interval_days: days, next_days: days }
    }
}

/// After `count` unchanged comparisons in a row multiplies the interval by the factor, and after
/// `count` changed ones divides it; then a new run begins.
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

/// Apache Nutch, `AdaptiveFetchSchedule`: the interval grows by a fraction if a page is unchanged,
/// and shrinks by one if it changed. A longer time since the last change replaces the interval. The
/// next visit is earlier by a fraction of that time (`sync_delta`).
///
/// The time since the last change is known only as of the last comparison, so earlier comparisons
/// do not lengthen the interval in this way.
pub(super) fn nutch(recent: &Recent, grow: f64, shrink: f64, sync: f64) -> Schedule {
    let bounded = |days: f64| days.clamp(MINUTE, 365.0);
    let next =
        |interval, changed| bounded(interval) * if changed { 1.0 - shrink } else { 1.0 + grow };
    let interval = recent.changes().fold(30.0, next);
    // For a page that was visited once this is 0, and the interval stays at 30 days.
    let quiet = recent.quiet_days();
    let interval = bounded(interval.max(quiet));
    Schedule { interval_days: interval, next_days: (interval - sync * quiet).max(MINUTE) }
}

/// StormCrawler, `AdaptiveScheduler`: half as long again if a page is unchanged, up to two weeks;
/// if it changed, halfway to the shortest interval, an hour.
pub(super) fn storm_crawler(recent: &Recent) -> Schedule {
    let days = recent.changes().fold(1.0, |interval: f64, changed| {
        if changed { 0.5 * interval + 0.5 * HOUR } else { (interval * 1.5).min(14.0) }
    });
    Schedule::every(days)
}
