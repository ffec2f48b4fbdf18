//! Counts by time, in as many periods of equal length as fit.

use std::collections::BTreeMap;

use super::Period;
use crate::page::Verdict;

/// Periods that are kept at most.
const PERIODS_MAX: usize = 400;

const DAY_MS: i64 = 86_400_000;

/// Visits by when they were. Periods begin with days and become longer as the time that they cover does,
/// so memory is bounded.
#[derive(Debug)]
pub(super) struct Periods {
    length: i64,
    /// By their numbers from 1970 on.
    all: BTreeMap<i64, Period>,
}

impl Default for Periods {
    fn default() -> Periods {
        Periods { length: DAY_MS, all: BTreeMap::new() }
    }
}

impl Periods {
    pub(super) fn add(&mut self, time: i64, verdict: Verdict) {
        let number = time.div_euclid(self.length);
        let new = || Period { from: number.saturating_mul(self.length), ..Period::default() };
        let period = self.all.entry(number).or_insert_with(new);
        period.found.add(verdict);
        while self.spanned() > PERIODS_MAX as i64 {
            self.lengthen();
        }
    }

    /// How many periods there are from the first to the last.
    fn spanned(&self) -> i64 {
        let ends = self.all.first_key_value().zip(self.all.last_key_value());
        ends.map_or(0, |((first, _), (last, _))| last - first + 1)
    }

    /// Makes one of two.
    fn lengthen(&mut self) {
        self.length = self.length.saturating_mul(2);
        for (_, old) in std::mem::take(&mut self.all) {
            let number = old.from.div_euclid(self.length);
            let new = || Period { from: number.saturating_mul(self.length), ..Period::default() };
            let period = self.all.entry(number).or_insert_with(new);
            period.found.join(&old.found);
        }
    }

    /// How long each is, in milliseconds, and those that have visits, in order.
    pub(super) fn finish(self) -> (i64, Vec<Period>) {
        (self.length, self.all.into_values().collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::page::{TIME_MAX, TIME_MIN};

    #[test]
    fn any_time_finds_a_period_and_no_visit_is_lost() {
        for times in [vec![TIME_MIN, TIME_MAX, 0, -1], (0..3000).map(|n| n * DAY_MS).collect()] {
            let mut periods = Periods::default();
            times.iter().for_each(|time| periods.add(*time, Verdict::New));
            let (length, all) = periods.finish();
            assert!(all.len() <= PERIODS_MAX);
            assert_eq!(all.iter().map(|period| period.found.new).sum::<u64>(), times.len() as u64);
            for time in times {
                let holds = |p: &Period| (p.from..p.from + length).contains(&time);
                assert_eq!(all.iter().filter(|period| holds(period)).count(), 1, "{time}");
            }
        }
    }
}
