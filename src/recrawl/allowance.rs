//! The visits that a host with a limit allows now.

use super::check;
use crate::recrawl::error::Result;

/// The time by which a clock may be set back without an effect, in days. A clock that differs more was
/// wrong before.
const SET_BACK_DAYS: f64 = 1.0;

/// The error of sums of times, in visits.
const ROUNDING: f64 = 1e-9;

/// The visits that a host with a limit of visits a day allows now: a token bucket.
///
/// Visits accrue evenly, up to a day's visits and one more. So a host gets at most
/// `(d + 1) · per_day + 1` visits in `d` days, and a crawler that comes once a day can use the whole
/// limit. Takes 16 bytes.
///
/// ```
/// use simkeep::recrawl::VisitAllowance;
/// # fn main() -> simkeep::Result<()> {
/// let per_day = 24.0; // a visit an hour
/// let mut host = VisitAllowance::new(0.0, 1.0)?;
/// assert!(host.take() && !host.take());
/// host.accrue(0.5 / 24.0, per_day)?; // half an hour later
/// assert!(!host.take());
/// host.accrue(100.0, per_day)?;
/// assert_eq!(host.visits(), 25.0);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct VisitAllowance {
    day: f64,
    visits: f64,
}

impl VisitAllowance {
    /// Creates an allowance of a number of visits on a day, which is counted from any origin.
    ///
    /// # Errors
    ///
    /// [`RecrawlError::Value`](super::RecrawlError::Value) if `visits` is not from 0 to 1e9, or `day`
    /// is not a number from -4,000,000 to 4,000,000.
    pub fn new(day: f64, visits: f64) -> Result<VisitAllowance> {
        let day = check::day("day", day)?;
        Ok(VisitAllowance { day, visits: check::times("visits", visits)? })
    }

    /// Returns the largest number of visits that accrue: a day's visits and one more. Without the one
    /// more, a crawler that comes once a day would lose fractions of visits.
    pub fn visits_max(per_day: f64) -> f64 {
        per_day + 1.0
    }

    /// Adds the visits that have accrued up to a day.
    ///
    /// An earlier day adds nothing, and the time in between does not accrue again: several crawlers may
    /// have clocks that differ by up to a day. After a clock was set back by more than a day, visits
    /// accrue from the new time.
    ///
    /// # Errors
    ///
    /// [`RecrawlError::Value`](super::RecrawlError::Value) if `per_day` is not from 1e-6 to 1e9, or
    /// `day` is not a number from -4,000,000 to 4,000,000.
    pub fn accrue(&mut self, day: f64, per_day: f64) -> Result<()> {
        let per_day = check::visits_per_day("per_day", per_day)?;
        let passed = check::day("day", day)? - self.day;
        // Also after a negative time, because the limit may be lower than before.
        self.visits =
            (self.visits + passed.max(0.0) * per_day).min(VisitAllowance::visits_max(per_day));
        if !(-SET_BACK_DAYS..=0.0).contains(&passed) {
            self.day = day;
        }
        Ok(())
    }

    /// Returns the visits allowed at the time of the last [`accrue`](VisitAllowance::accrue).
    pub fn visits(&self) -> f64 {
        self.visits
    }

    /// Returns the whole visits allowed.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "at most 1e9")]
    pub fn whole_visits(&self) -> u32 {
        (self.visits + ROUNDING) as u32
    }

    /// Takes a visit. Returns whether a visit was allowed.
    pub fn take(&mut self) -> bool {
        let is_allowed = self.whole_visits() > 0;
        if is_allowed {
            self.visits = (self.visits - 1.0).max(0.0);
        }
        is_allowed
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn no_period_has_more_visits_than_its_limit(
            steps in prop::collection::vec((0u32..400_000, 1u32..5), 1..200),
            per_day in prop::sample::select(vec![0.01, 0.7, 1.0, 3.0, 24.0, 1000.0]),
        ) {
            let (mut day, mut taken) = (10.0, Vec::new());
            let mut host = VisitAllowance::new(day, 0.0).unwrap();
            for (seconds, tries) in steps {
                day += f64::from(seconds) / 86_400.0;
                host.accrue(day, per_day).unwrap();
                taken.extend((0..tries).filter(|_| host.take()).map(|_| day));
            }
            for (nth, from) in taken.iter().enumerate() {
                for (count, to) in (1..).zip(&taken[nth..]) {
                    let most = (to - from) * per_day + VisitAllowance::visits_max(per_day);
                    prop_assert!(f64::from(count) <= most + 1e-6, "{} in {}", count, to - from);
                }
            }
        }
    }

    #[test]
    fn steady_crawler_uses_the_whole_limit() {
        let cases =
            [(0.1, 24), (0.7, 1), (2.5, 1), (3.0, 2), (3.0, 3), (5.0, 2), (24.0, 24), (100.0, 1)];
        for (per_day, calls_a_day) in cases {
            let mut host = VisitAllowance::new(0.0, 0.0).unwrap();
            let mut taken = 0;
            for call in 1..=1000 * calls_a_day {
                host.accrue(f64::from(call) / f64::from(calls_a_day), per_day).unwrap();
                while host.take() {
                    taken += 1;
                }
            }
            let most = 1000.0 * per_day;
            assert!(
                (f64::from(taken) - most).abs() <= 1.0,
                "{taken} of {most} in {calls_a_day} calls"
            );
        }
    }

    #[test]
    fn clock_that_is_set_back_allows_nothing_twice() {
        let mut host = VisitAllowance::new(10.0, 0.0).unwrap();
        host.accrue(10.5, 4.0).unwrap();
        assert!(host.take() && host.take() && !host.take());
        for _ in 0..100 {
            host.accrue(10.0, 4.0).unwrap();
            host.accrue(10.5, 4.0).unwrap();
        }
        assert!(!host.take());
        // A clock that was ten years ahead does not block the host for ten years.
        host.accrue(3660.0, 4.0).unwrap();
        assert_eq!((0..9).filter(|_| host.take()).count(), 5);
        host.accrue(11.0, 4.0).unwrap();
        assert!(!host.take());
        host.accrue(11.25, 4.0).unwrap();
        assert!(host.take() && !host.take());
    }

    #[test]
    fn lower_limit_holds_at_once() {
        let mut host = VisitAllowance::new(0.0, 500.0).unwrap();
        host.accrue(0.0, 10.0).unwrap();
        assert_eq!(host.visits(), 11.0);
    }

    #[test]
    fn invalid_numbers_are_refused() {
        assert!(VisitAllowance::new(f64::NAN, 0.0).is_err());
        assert!(VisitAllowance::new(0.0, -1.0).is_err());
        let mut host = VisitAllowance::new(0.0, 0.0).unwrap();
        for per_day in [0.0, -1.0, f64::NAN, f64::INFINITY, 1e-7, 1e10] {
            assert!(host.accrue(1.0, per_day).is_err(), "{per_day}");
        }
        assert!(host.accrue(f64::NAN, 1.0).is_err());
        assert_eq!(host, VisitAllowance::new(0.0, 0.0).unwrap());
    }
}
