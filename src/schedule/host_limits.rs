//! Limits of visits a day: the hosts that have one, and the visits that they still allow.

use std::collections::HashMap;
use std::sync::Arc;

use xxhash_rust::xxh3::xxh3_64_with_seed;

use super::rows::{part_of, parts};
use super::rules::Rule;
use super::score::DAY_SECONDS;
use super::sources::sources;
use crate::bug::OrBug;
use crate::engine::snapshot::Snapshot;
use crate::error::Result;
use crate::page::{Prefix, surt};
use crate::recrawl::VisitAllowance;
use crate::segment::{host_slot_of, seconds};
use crate::threads;
use crate::time::Time;

/// The number of hosts from which no further host gets a visit, so that memory is bounded. The last
/// call may add as many hosts as it leases pages. Takes up to 50 MB.
const KEPT_MAX: usize = 1 << 19;

/// The number of kept hosts from which allowances that are full again are dropped.
const KEPT_MIN: usize = 1 << 10;

/// The number of host slots in rows.
const SLOTS: usize = 1 << 16;

/// A host under a rule with a limit of visits a day. Each such rule counts the visits of a host
/// separately.
#[derive(Clone, Copy, Debug)]
pub(super) struct HostLimit {
    /// The hash of the host and the prefix of the rule.
    pub(super) hash: u64,
    slot: u16,
    pub(super) per_day: f64,
}

impl HostLimit {
    /// Returns the limit for the host of a page, given the rule of the page; `None` without a limit.
    pub(super) fn of(url: &str, rule: &Rule, seed: u64) -> Option<HostLimit> {
        let per_day = rule.visits_per_day?;
        let mut host = Vec::with_capacity(64);
        surt::host(url, &mut host);
        let slot = host_slot_of(&host, seed);
        if let Some((start, _)) = rule.under.as_ref().map(Prefix::range) {
            host.push(surt::END);
            host.extend_from_slice(start);
        }
        Some(HostLimit { hash: xxh3_64_with_seed(&host, seed), slot, per_day })
    }
}

/// The visits that hosts with limits allow, while a store is open.
///
/// Only hosts that have leased a page lately are kept. The allowance of any other host has accrued
/// since the first call.
#[derive(Clone, Debug)]
pub(super) struct HostAllowances {
    /// The day of the first call. Leases before this day are unknown.
    start: f64,
    /// The days from the last visit to a page of each host slot to `start`; infinite without a visit.
    idle: Arc<[f32]>,
    kept: HashMap<u64, KeptAllowance>,
    /// The number of kept hosts at which full allowances are dropped.
    drop_at: usize,
}

/// The time by which a clock may be set back without an effect, in days.
const SET_BACK_DAYS: f64 = 1.0;

/// The allowance of a host, and its limit at the last lease.
#[derive(Clone, Copy, Debug)]
struct KeptAllowance {
    allowance: VisitAllowance,
    per_day: f64,
}

impl HostAllowances {
    /// Reads the last visit to each host slot from all rows.
    pub(super) fn new(snapshot: &Snapshot, now: Time) -> Result<HostAllowances> {
        let sources = sources(snapshot, None)?;
        let (now_seconds, threads) = (seconds(now), threads::up_to(usize::MAX));
        let of_part = |(): &mut (), part: usize| -> Result<Vec<u64>> {
            let mut idle = vec![u64::MAX; SLOTS];
            let (first, last) = part_of(u64::MAX, part, threads);
            for range in parts(&sources, first, last) {
                for (_, rows) in range?.rows() {
                    for at in 0..rows.len() {
                        let row = rows.row(at)?;
                        let idle = idle.get_mut(usize::from(row.host));
                        // Visits to forgotten pages were visits, too.
                        idle.into_iter().filter(|_| row.known).for_each(|idle| {
                            *idle = row.seconds_since(now_seconds).min(*idle);
                        });
                    }
                }
            }
            Ok(idle)
        };
        let mut idle = vec![u64::MAX; SLOTS];
        for part in threads::run_jobs(0..threads, threads, || (), of_part) {
            idle.iter_mut().zip(part?).for_each(|(all, part)| *all = part.min(*all));
        }
        #[expect(clippy::cast_possible_truncation, reason = "the error is a ten-millionth")]
        let days = |seconds: u64| match seconds {
            u64::MAX => f32::INFINITY,
            seconds => (seconds as f64 / DAY_SECONDS) as f32,
        };
        Ok(HostAllowances {
            start: day(now),
            idle: idle.into_iter().map(days).collect(),
            kept: HashMap::new(),
            drop_at: KEPT_MIN,
        })
    }

    /// Prepares for a call. Between two calls of this function, the answers for a time depend only on
    /// the visits that are taken.
    pub(super) fn start(&mut self, now: Time) {
        let day = day(now);
        // A clock that was ahead by more than a day at the first call was wrong.
        if day < self.start - SET_BACK_DAYS {
            self.start = day;
        }
        if self.kept.len() >= self.drop_at {
            self.drop_full(now);
        }
    }

    /// Returns the number of visits that a host allows now.
    pub(super) fn visits(&self, host: &HostLimit, now: Time) -> Result<u32> {
        // A host whose allowance cannot be kept waits.
        if self.kept.len() >= KEPT_MAX && !self.kept.contains_key(&host.hash) {
            return Ok(0);
        }
        Ok(self.allowance(host, now)?.whole_visits())
    }

    /// Takes a visit of a host.
    pub(super) fn take(&mut self, host: &HostLimit, now: Time) -> Result<()> {
        let mut allowance = self.allowance(host, now)?;
        allowance
            .take()
            .then_some(())
            .or_bug("only pages of hosts that allow a visit are leased")?;
        self.kept.insert(host.hash, KeptAllowance { allowance, per_day: host.per_day });
        Ok(())
    }

    fn allowance(&self, host: &HostLimit, now: Time) -> Result<VisitAllowance> {
        let mut allowance = match self.kept.get(&host.hash) {
            Some(kept) => {
                // Another limit does not act on the past.
                let mut allowance = kept.allowance;
                allowance.accrue(day(now), kept.per_day)?;
                allowance
            }
            None => {
                let idle = self.idle.get(usize::from(host.slot));
                let idle = f64::from(*idle.or_bug("there is a number for each slot")?);
                // An empty allowance would starve a host of a visit a week in a process that starts
                // every day, and a full one would allow half a day's visits at each start.
                VisitAllowance::new(self.start, (idle * host.per_day).min(1.0))?
            }
        };
        allowance.accrue(day(now), host.per_day)?;
        Ok(allowance)
    }

    /// Drops the allowances that are full again, as those of hosts without leases are.
    fn drop_full(&mut self, now: Time) {
        let day = day(now);
        self.kept.retain(|_, KeptAllowance { allowance, per_day }| {
            allowance.accrue(day, *per_day).is_err()
                || allowance.visits() < VisitAllowance::visits_max(*per_day)
        });
        self.drop_at = (2 * self.kept.len()).clamp(KEPT_MIN, KEPT_MAX);
    }
}

/// Returns a time in days since 1970.
fn day(time: Time) -> f64 {
    time.as_ms() as f64 / (1000.0 * DAY_SECONDS)
}

#[cfg(all(test, not(shuttle)))]
mod tests {
    use super::*;

    const DAY_MS: i64 = 86_400_000;

    fn allowances(idle_days: f32) -> HostAllowances {
        HostAllowances {
            start: 100.0,
            idle: vec![idle_days; SLOTS].into(),
            kept: HashMap::new(),
            drop_at: KEPT_MIN,
        }
    }

    fn at(days: f64) -> Time {
        #[expect(clippy::cast_possible_truncation, reason = "some days")]
        Time::from_ms_unchecked((days * DAY_MS as f64) as i64)
    }

    #[expect(clippy::unwrap_used, reason = "the rule has a limit")]
    fn host(number: usize, per_day: f64) -> HostLimit {
        let rule = Rule::everywhere().visits_per_day(per_day);
        HostLimit::of(&format!("https://h{number}.example/"), &rule, 7).unwrap()
    }

    #[test]
    fn host_without_leases_has_what_accrued_since_its_last_visit() {
        for (idle, per_day, expected) in [
            (f32::INFINITY, 100.0, 1), // never visited
            (0.0, 100.0, 0),
            (0.02, 100.0, 1),
            (3.0, 100.0, 1),
            (3.0, 0.2, 0),
            (6.0, 0.2, 1),
        ] {
            let found = allowances(idle).visits(&host(1, per_day), at(100.0)).unwrap();
            assert_eq!(found, expected, "{per_day} a day, idle for {idle} days");
        }
        // It accrues up to a day's visits and one more.
        assert_eq!(allowances(0.0).visits(&host(1, 100.0), at(100.1)).unwrap(), 10);
        assert_eq!(allowances(0.0).visits(&host(1, 100.0), at(200.0)).unwrap(), 101);
    }

    #[test]
    fn each_rule_counts_a_host_separately() {
        let url = "https://h.example/news/today";
        let limit = |rule: Rule| HostLimit::of(url, &rule.visits_per_day(1.0), 7).unwrap().hash;
        let under = |text: &str| Rule::under(Prefix::parse(text).unwrap());
        let hashes = [
            limit(Rule::everywhere()),
            limit(under("h.example")),
            limit(under("h.example/news")),
            limit(under("example")),
        ];
        for (nth, one) in hashes.iter().enumerate() {
            assert!(!hashes[..nth].contains(one));
        }
        assert!(HostLimit::of(url, &Rule::everywhere(), 7).is_none());
    }

    #[test]
    fn full_allowances_are_dropped() {
        let mut all = allowances(f32::INFINITY);
        for number in 0..10 * KEPT_MIN {
            // A visit an hour, and a host each minute.
            let now = at(100.0 + number as f64 / 1440.0);
            let host = host(number, 24.0);
            all.start(now);
            assert!(all.visits(&host, now).unwrap() > 0);
            all.take(&host, now).unwrap();
            // On the first day, no allowance is full.
            assert!(all.kept.len() <= 2 * KEPT_MIN, "{}", all.kept.len());
        }
        // Dropped hosts allow as much as before.
        assert_eq!(all.visits(&host(0, 24.0), at(110.0)).unwrap(), 25);
    }

    #[test]
    fn another_limit_does_not_act_on_the_past() {
        let mut all = allowances(f32::INFINITY);
        all.take(&host(1, 1.0), at(100.0)).unwrap();
        assert_eq!(all.visits(&host(1, 100.0), at(100.5)).unwrap(), 0);
        all.kept.clear();
        all.take(&host(1, 100.0), at(100.0)).unwrap();
        assert_eq!(all.visits(&host(1, 0.1), at(100.5)).unwrap(), 1);
    }

    #[test]
    fn clock_that_was_ahead_at_the_first_call_starts_again() {
        let mut all = allowances(0.0);
        for (now, expected) in [(99.5, 0), (90.0, 0), (90.5, 12)] {
            all.start(at(now));
            assert_eq!(all.visits(&host(1, 24.0), at(now)).unwrap(), expected, "{now}");
        }
    }

    #[test]
    fn hosts_beyond_the_largest_number_wait() {
        let mut all = allowances(f32::INFINITY);
        let kept =
            KeptAllowance { allowance: VisitAllowance::new(100.0, 0.0).unwrap(), per_day: 1.0 };
        all.kept.extend((0..KEPT_MAX as u64).map(|number| (number, kept)));
        all.start(at(100.5));
        assert_eq!(all.visits(&host(1, 1.0), at(100.5)).unwrap(), 0);
        // The others allow a day's visits and one more again.
        all.start(at(102.5));
        assert_eq!(all.visits(&host(1, 1.0), at(102.5)).unwrap(), 2);
    }
}
