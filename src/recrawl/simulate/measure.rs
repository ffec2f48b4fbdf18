//! Measures the freshness of a crawl, as sums over the time of all pages.

use super::page::SimulatedPage;

/// Averages over the discovered pages of a simulated crawl and the measured time.
///
/// ```
/// use simkeep::recrawl::Policy;
/// use simkeep::recrawl::simulate::{Budget, ChangeProcess, Decider, Rates, Span, crawl};
/// # fn main() -> simkeep::Result<()> {
/// let pages = Rates::Flat { pages: 50 }.draw(ChangeProcess::Constant, 1, 100.0)?;
/// let (by, span) = (Decider::policy(Policy::VALUE), Span::new(0.5, 30.0, 100.0)?);
/// let result = |visits| crawl(&pages, Budget::per_day(visits)?, span, by, &mut || {});
/// let (few, many) = (result(2.0)?, result(20.0)?);
/// assert!(few.freshness < many.freshness && few.staleness > many.staleness);
/// assert!((few.visits_per_day - 2.0).abs() < 0.1);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct SimulationResult {
    /// The fraction of time in which the last seen version was the current version.
    pub freshness: f64,
    /// The fraction of time in which the last seen version differed from the current version by at
    /// most a minor change.
    pub near_freshness: f64,
    /// The harmonic number of the changes missed since the last visit, 1 + ½ + ⅓ + …, averaged over
    /// time. LambdaCrawl uses this number as its penalty.
    pub staleness: f64,
    /// The fraction of the 64 bits in which the last seen version differed from the current
    /// version, averaged over time.
    pub divergence: f64,
    /// The visits a day.
    pub visits_per_day: f64,
}

/// The sums for [`SimulationResult`], in days.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct FreshnessSums {
    all: f64,
    fresh: f64,
    near: f64,
    missed: f64,
    divergence: f64,
    visits: f64,
}

impl FreshnessSums {
    /// Adds the time from one day to another for a page whose last seen version is `held`. `now` is
    /// the current version on the first day. Returns the current version on the last day.
    pub(super) fn add<P: SimulatedPage>(
        &mut self,
        page: &P,
        held: usize,
        mut now: usize,
        (mut day, end): (f64, f64),
    ) -> usize {
        let starts = page.starts();
        // Skips versions that ended before the first day.
        while starts.get(now + 1).is_some_and(|next| *next <= day) {
            now += 1;
        }
        loop {
            let next = starts.get(now + 1).copied().filter(|next| *next < end);
            let days = next.unwrap_or(end) - day;
            let difference = page.difference(held, now);
            self.all += days;
            self.fresh += if difference.same { days } else { 0.0 };
            self.near += if difference.near { days } else { 0.0 };
            self.divergence += days * difference.divergence;
            self.missed += days * harmonic_number(page.changes(now) - page.changes(held));
            match next {
                Some(next) => (now, day) = (now + 1, next),
                None => return now,
            }
        }
    }

    /// Counts a visit.
    pub(super) fn visit(&mut self) {
        self.visits += 1.0;
    }

    /// Returns the averages over `days` days.
    pub(super) fn figures(&self, days: f64) -> SimulationResult {
        SimulationResult {
            freshness: self.fresh / self.all,
            near_freshness: self.near / self.all,
            staleness: self.missed / self.all,
            divergence: self.divergence / self.all,
            visits_per_day: self.visits / days,
        }
    }
}

/// Returns 1 + ½ + … + 1/n.
fn harmonic_number(n: u64) -> f64 {
    /// The number of terms that are summed exactly. An integral continues the sum, accurate to six
    /// digits.
    const EXACT: u64 = 256;
    let sum: f64 = (1..=n.min(EXACT)).map(|i| 1.0 / i as f64).sum();
    match n {
        0..=EXACT => sum,
        _ => sum + crate::recrawl::real::ln((n as f64 + 0.5) / (EXACT as f64 + 0.5)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn harmonic_numbers_are_continuous() {
        assert_eq!([0, 1, 2].map(harmonic_number), [0.0, 1.0, 1.5]);
        let naive: f64 = (1..=10_000).map(|i| 1.0 / f64::from(i)).sum();
        assert!((harmonic_number(10_000) - naive).abs() < 1e-6);
    }
}
