//! Interval rules, which lengthen an interval while a page is unchanged, and shorten it when the
//! page changes.
//!
//! Interval rules converge to a constant fraction of visits that find a change: the more a page
//! changes, the more visits it gets. If rates differ widely, interval rules keep fewer pages fresh
//! than equal intervals for all pages (Cho & Garcia-Molina 2003). The rules are here for crawlers
//! that already use them.

use super::recent::RecentComparisons;

const HOUR: f64 = 1.0 / 24.0;
const MINUTE: f64 = HOUR / 60.0;

/// The state of an interval rule, with the time until the next visit.
///
/// ```
/// use simkeep::recrawl::{Policy, RecentComparisons};
/// # fn main() -> simkeep::Result<()> {
/// let recent = RecentComparisons::default();
/// // The initial interval of this policy is 7 days.
/// let schedule = "thesis".parse::<Policy>()?.schedule(&recent).unwrap();
/// assert_eq!((schedule.interval_days, schedule.next_days), (7.0, 7.0));
/// assert!(Policy::VALUE.schedule(&recent).is_none());
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Schedule {
    /// The interval in days that the next comparison adjusts.
    pub interval_days: f64,
    /// The days from the last visit to the next visit. Only `nutch` makes it shorter than the
    /// interval.
    pub next_days: f64,
}

impl Schedule {
    /// Returns a schedule with two equal numbers of days.
    pub(super) fn every(days: f64) -> Schedule {
        Schedule { interval_days: days, next_days: days }
    }
}

/// Multiplies the interval by the factor after `count` unchanged comparisons in a row, and divides
/// it after `count` changed comparisons in a row. A new run begins after each adjustment.
pub(super) fn thesis(recent: &RecentComparisons, count: u32, factor: f64) -> Schedule {
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

/// The rule of `AdaptiveFetchSchedule` in Apache Nutch. The interval grows by a fraction `grow` if
/// a page is unchanged, and shrinks by a fraction `shrink` if the page changed. If the time since
/// the last change is longer than the interval, it replaces the interval. The next visit is earlier
/// by a fraction `sync` of the time since the last change (`sync_delta`).
///
/// The time since the last change is known only as of the last comparison, so it does not replace
/// the interval at earlier comparisons.
pub(super) fn nutch(recent: &RecentComparisons, grow: f64, shrink: f64, sync: f64) -> Schedule {
    let bounded = |days: f64| days.clamp(MINUTE, 365.0);
    let next =
        |interval, changed| bounded(interval) * if changed { 1.0 - shrink } else { 1.0 + grow };
    let interval = recent.changes().fold(30.0, next);
    // For a page that was visited only once, the time since the last change is 0, and the interval
    // stays at 30 days.
    let quiet = recent.quiet_days();
    let interval = bounded(interval.max(quiet));
    Schedule { interval_days: interval, next_days: (interval - sync * quiet).max(MINUTE) }
}

/// The rule of `AdaptiveScheduler` in StormCrawler. If a page is unchanged, the interval grows by
/// half, up to two weeks. If the page changed, the interval shrinks to the middle between the
/// interval and an hour, which is the minimum.
pub(super) fn storm_crawler(recent: &RecentComparisons) -> Schedule {
    let days = recent.changes().fold(1.0, |interval: f64, changed| {
        if changed { 0.5 * interval + 0.5 * HOUR } else { (interval * 1.5).min(14.0) }
    });
    Schedule::every(days)
}
