//! Counts over time, in periods of equal length.

use std::collections::BTreeMap;

use super::Period;
use super::verdict_counts::VerdictCounts;
use crate::page::Verdict;
use crate::time::Time;

/// The maximum number of periods of a census, from the first period to the last.
const SPANNED_MAX: usize = 400;
/// The maximum number of non-empty periods while counting. The number exceeds `SPANNED_MAX`, so
/// that a few visits with wrong times do not lengthen all periods.
const KEPT_MAX: usize = 4096;
/// One visit in `OUTSIDE` may lie outside of the periods at either end; or one visit, if there are
/// at least `OUTSIDE_VISITS_MIN` visits.
const OUTSIDE: u64 = 1000;
const OUTSIDE_VISITS_MIN: u64 = 20;

const DAY_MS: i64 = 86_400_000;

/// Counts of visits over time. A period is a day at first. The length of periods doubles when there
/// are too many, so memory is bounded.
#[derive(Debug)]
pub(super) struct Periods {
    length: i64,
    /// The non-empty periods by their numbers. Period 0 begins in 1970.
    all: BTreeMap<i64, Period>,
}

impl Default for Periods {
    fn default() -> Periods {
        Periods { length: DAY_MS, all: BTreeMap::new() }
    }
}

impl Periods {
    pub(super) fn add(&mut self, time: Time, verdict: Verdict) {
        let number = time.as_ms().div_euclid(self.length);
        let new = || Period {
            from: Time::from_ms_unchecked(number.saturating_mul(self.length)),
            ..Period::default()
        };
        let period = self.all.entry(number).or_insert_with(new);
        period.verdicts.add(verdict);
        while self.all.len() > KEPT_MAX {
            self.lengthen();
        }
    }

    /// The number of periods from the first non-empty one to the last.
    fn spanned(&self) -> i64 {
        let ends = self.all.first_key_value().zip(self.all.last_key_value());
        ends.map_or(0, |((first, _), (last, _))| last - first + 1)
    }

    /// Joins periods in pairs.
    fn lengthen(&mut self) {
        self.length = self.length.saturating_mul(2);
        for (_, old) in std::mem::take(&mut self.all) {
            let number = old.from.as_ms().div_euclid(self.length);
            let new = || Period {
                from: Time::from_ms_unchecked(number.saturating_mul(self.length)),
                ..Period::default()
            };
            let period = self.all.entry(number).or_insert_with(new);
            period.verdicts.join(&old.verdicts);
        }
    }

    /// Removes the few visits at the beginning and at the end that are far from all other visits.
    fn take_outside(&mut self) -> VerdictCounts {
        let all: u64 = self.all.values().map(|period| period.verdicts.visits()).sum();
        let least = u64::from(all >= OUTSIDE_VISITS_MIN);
        let (mut outside, allowed) = (VerdictCounts::default(), (all / OUTSIDE).max(least));
        // One round for each end: after a cut at one end, the other end may need a cut.
        for _ in 0..2 {
            let before = cut(self.all.iter().map(|(at, period)| (*at, period)), allowed);
            let after = cut(self.all.iter().rev().map(|(at, period)| (*at, period)), allowed);
            let (gap, is_before, at) = match (before, after) {
                (Some((gap, at)), None) => (gap, true, at),
                (None, Some((gap, at))) => (gap, false, at),
                (Some((gap, at)), Some((other, _))) if gap >= other => (gap, true, at),
                (_, Some((gap, at))) => (gap, false, at),
                (None, None) => break,
            };
            // A cut needs all other visits to take up at most half of the time axis.
            if gap < self.spanned() / 2 {
                break;
            }
            let (kept, taken): (BTreeMap<_, _>, BTreeMap<_, _>) = std::mem::take(&mut self.all)
                .into_iter()
                .partition(|(number, _)| if is_before { *number >= at } else { *number <= at });
            self.all = kept;
            taken.values().for_each(|period| outside.join(&period.verdicts));
        }
        outside
    }

    /// Returns the length of the periods in milliseconds, the non-empty periods in order, and the
    /// results of the visits outside of all periods.
    pub(super) fn finish(mut self) -> (i64, Vec<Period>, VerdictCounts) {
        let outside = self.take_outside();
        while self.spanned() > SPANNED_MAX as i64 {
            self.lengthen();
        }
        (self.length, self.all.into_values().collect(), outside)
    }
}

/// Returns the best cut at one end of some periods: the cut at the widest gap that removes at most
/// `allowed` visits. A cut is the width of the gap, and the number of the first period to keep.
fn cut<'p>(periods: impl Iterator<Item = (i64, &'p Period)>, allowed: u64) -> Option<(i64, i64)> {
    let (mut cut_off, mut widest, mut last) = (0, None, None);
    for (number, period) in periods {
        if let Some(last) = last {
            let gap = i64::abs(number - last);
            if widest.is_none_or(|(before, _)| gap > before) {
                widest = Some((gap, number));
            }
        }
        cut_off += period.verdicts.visits();
        if cut_off > allowed {
            break;
        }
        last = Some(number);
    }
    widest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_time_has_a_period_and_no_visit_is_lost() {
        for times in [vec![0, -1], (0..3000).map(|n| n * DAY_MS).collect()] {
            let mut periods = Periods::default();
            times.iter().for_each(|time| periods.add(Time::from_ms_unchecked(*time), Verdict::New));
            let (length, all, outside) = periods.finish();
            assert!(all.len() <= SPANNED_MAX);
            assert_eq!(outside.visits(), 0);
            assert_eq!(
                all.iter().map(|period| period.verdicts.new).sum::<u64>(),
                times.len() as u64
            );
            for time in times {
                let holds = |p: &Period| (p.from.as_ms()..p.from.as_ms() + length).contains(&time);
                assert_eq!(all.iter().filter(|period| holds(period)).count(), 1, "{time}");
            }
        }
    }

    /// Counts visits on the given days. Returns the first day, the last day, and the number of
    /// visits outside of all periods.
    fn of_days(days: &[(i64, u64)]) -> (i64, i64, u64) {
        let mut periods = Periods::default();
        for (day, visits) in days {
            (0..*visits)
                .for_each(|_| periods.add(Time::from_ms_unchecked(day * DAY_MS), Verdict::Failed));
        }
        let (_, all, outside) = periods.finish();
        let day = |period: Option<&Period>| period.map_or(0, |period| period.from.as_ms() / DAY_MS);
        assert_eq!(outside.visits(), outside.failed);
        let inside: u64 = all.iter().map(|period| period.verdicts.failed).sum();
        assert_eq!(inside + outside.failed, days.iter().map(|day| day.1).sum::<u64>());
        (day(all.first()), day(all.last()), outside.failed)
    }

    #[test]
    fn few_visits_at_wrong_times_do_not_stretch_periods() {
        let year: Vec<(i64, u64)> = (20_000..20_365).map(|day| (day, 5)).collect();
        let with = |more: &[(i64, u64)]| of_days(&[&year[..], more].concat());
        assert_eq!(with(&[]), (20_000, 20_364, 0));
        let last = Time::MAX.as_ms() / DAY_MS;
        for more in [&[(0, 1)][..], &[(last, 1)], &[(0, 1), (last, 1)], &[(-700_000, 1), (last, 1)]]
        {
            assert_eq!(with(more), (20_000, 20_364, more.len() as u64), "{more:?}");
        }
        // Visits at a smaller distance, or more than a few visits, are not outside.
        assert_eq!(with(&[(19_800, 1)]).2, 0);
        assert_eq!(with(&[(0, 50)]).2, 0);
        // With too few visits, no visit is an outlier. With twenty, one visit may be.
        assert_eq!(of_days(&[(0, 1), (1, 1), (9000, 1)]).2, 0);
        assert_eq!(of_days(&[(0, 1), (9000, 19)]), (9000, 9000, 1));
        // Many visits over a long time make the periods longer, and memory stays bounded.
        let all: Vec<(i64, u64)> = (0..20_000).map(|n| (n * 100, 1)).collect();
        assert_eq!(of_days(&all).2, 0);
    }
}
