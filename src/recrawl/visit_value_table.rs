//! Tables of the value of visits, for many pages in a few nanoseconds each.

use std::sync::OnceLock;

use super::belief::Belief;
use super::grid::{Grid, dot, rates};
use super::real::exp_m1;
use super::value::PriorityIndex;

/// The number of steps in an octave of time, as a power of two.
const STEPS: u32 = 3;

/// The range of the tables, in seconds: 4,000,000 days, more than from the earliest possible time
/// of a visit to the latest.
const SECONDS_MAX: u64 = 4_000_000 * 86_400;

/// The value of a visit at each rate, for times in steps of an eighth of an octave. Values in
/// between are interpolated, with an error of some thousandths.
///
/// The table takes 160 KB.
#[derive(Debug)]
pub(crate) struct VisitValueTable {
    steps: Vec<Grid>,
}

impl VisitValueTable {
    /// Returns the table of an index, built on first use.
    pub(crate) fn of(index: PriorityIndex) -> &'static VisitValueTable {
        static VALUE: OnceLock<VisitValueTable> = OnceLock::new();
        static CRAWL_VALUE: OnceLock<VisitValueTable> = OnceLock::new();
        static HARMONIC: OnceLock<VisitValueTable> = OnceLock::new();
        let worths = match index {
            PriorityIndex::Value => &VALUE,
            PriorityIndex::CrawlValue => &CRAWL_VALUE,
            PriorityIndex::Harmonic => &HARMONIC,
        };
        worths.get_or_init(|| VisitValueTable::new(|rate, days| index.at(rate, days)))
    }

    /// Returns the table of freshness instead of values: the fraction of time that a page visited
    /// at equal intervals is fresh, (1 - e^{-λτ})/λτ (Cho & Garcia-Molina 2003).
    pub(crate) fn freshness() -> &'static VisitValueTable {
        static FRESHNESS: OnceLock<VisitValueTable> = OnceLock::new();
        let fresh = |changes: f64| if changes == 0.0 { 1.0 } else { -exp_m1(-changes) / changes };
        FRESHNESS.get_or_init(|| VisitValueTable::new(|rate, days| fresh(rate * days)))
    }

    fn new(of: impl Fn(f64, f64) -> f64) -> VisitValueTable {
        let (last, _, _) = place(SECONDS_MAX);
        let at = |step: u64| {
            let seconds = seconds_of(step);
            rates().map(|rate| of(rate, seconds as f64 / 86_400.0))
        };
        // One step more than the range, so that `at` can interpolate up to the largest time.
        VisitValueTable { steps: (0..=last + 1).map(at).collect() }
    }

    /// Returns the value of a visit to a page of weight 1, `seconds` after the last visit.
    #[inline]
    #[expect(
        clippy::indexing_slicing,
        reason = "a step of time, up to the largest, and the next one"
    )]
    #[expect(clippy::cast_possible_truncation, reason = "there are some hundred steps")]
    pub(crate) fn at(&self, belief: &Belief, seconds: u64) -> f64 {
        let (step, rest, width) = place(seconds.min(SECONDS_MAX));
        let step = step as usize;
        let low = dot(belief.probabilities(), &self.steps[step]);
        // At a step the value is exact, so the second sum of 64 products is not needed.
        if rest == 0 {
            return low;
        }
        let high = dot(belief.probabilities(), &self.steps[step + 1]);
        low + (high - low) * (rest as f64 / width as f64)
    }

    /// Returns the number of seconds after the last visit at which a visit to a page of weight 1
    /// has the value `worth`; `None` if the value stays below `worth` for 4,000,000 days.
    pub(crate) fn reach(&self, belief: &Belief, worth: f64) -> Option<u64> {
        let at = |step: &Grid| dot(belief.probabilities(), step);
        reach(self.steps.len(), |step| self.steps.get(step).map_or(f64::MAX, at), worth)
    }

    /// Returns the value of a visit at each step of time.
    pub(crate) fn curve(&self, belief: &Belief) -> ValueCurve {
        ValueCurve(self.steps.iter().map(|step| dot(belief.probabilities(), step)).collect())
    }
}

/// The value of a visit to one page, as a function of the time since the last visit. Takes 2.5 KB.
#[derive(Debug)]
pub(crate) struct ValueCurve(Vec<f64>);

impl ValueCurve {
    /// Returns the number of seconds after the last visit at which a visit has the value `worth`;
    /// `None` if the value stays below `worth`.
    pub(crate) fn reach(&self, worth: f64) -> Option<u64> {
        reach(self.0.len(), |step| self.0.get(step).copied().unwrap_or(f64::MAX), worth)
    }
}

/// Returns the number of seconds at which a value that never falls, known at steps of time, reaches
/// `worth`; `None` if the value stays below `worth`.
fn reach(steps: usize, at: impl Fn(usize) -> f64, worth: f64) -> Option<u64> {
    let (mut low, mut high) = (0, steps);
    while low < high {
        let middle = usize::midpoint(low, high);
        if at(middle) < worth {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    if low == steps {
        return None;
    }
    // `less < worth <= enough`, so the divisor is positive.
    let Some(before) = low.checked_sub(1) else { return Some(0) };
    let (from, to) = (seconds_of(before as u64), seconds_of(low as u64));
    let (less, enough) = (at(before), at(low));
    let part = (worth - less) / (enough - less) * (to - from) as f64;
    // Rounded up, and at least one second after the step whose value is below `worth`.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "bounded")]
    Some((from + part.ceil() as u64).clamp(from + 1, to))
}

/// Returns the seconds at a step.
fn seconds_of(step: u64) -> u64 {
    // Computes the inverse of `place`.
    let shift = (step >> STEPS).saturating_sub(1);
    if shift == 0 { step } else { (step - (shift << STEPS)) << shift }
}

/// Returns the step at or before a number of seconds, the seconds since this step, and the seconds
/// from this step to the next step.
fn place(seconds: u64) -> (u64, u64, u64) {
    // The step is a float with three bits of mantissa: below 16 seconds each second is a step, and
    // above there are eight steps in an octave.
    let Some(shift) = seconds.checked_ilog2().and_then(|top| top.checked_sub(STEPS)) else {
        return (seconds, 0, 1);
    };
    let step = (u64::from(shift) << STEPS) + (seconds >> shift);
    (step, seconds & ((1 << shift) - 1), 1 << shift)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::{Change, Comparison, Likelihood, Prior};
    use super::*;

    proptest! {
        #[test]
        fn table_matches_a_belief_within_one_percent(
            days in 0.01f64..1000.0,
            seconds in 0u64..=SECONDS_MAX,
            shift in 0u32..40,
        ) {
            let seconds = seconds >> shift;
            let seen = [Comparison::new(days, Change::Undated).unwrap()];
            let belief = Belief::new(&Prior::default(), &Likelihood::of(&seen));
            for index in [PriorityIndex::Value, PriorityIndex::CrawlValue, PriorityIndex::Harmonic] {
                let worths = VisitValueTable::of(index);
                let exact = belief.worth(index, 1.0, seconds as f64 / 86_400.0).unwrap();
                let found = worths.at(&belief, seconds);
                prop_assert!((found - exact).abs() <= exact / 100.0, "{} is not {}", found, exact);
                prop_assert!(worths.at(&belief, seconds + 1) >= found * (1.0 - 1e-12));
                let reached = worths.reach(&belief, found);
                prop_assert_eq!(worths.curve(&belief).reach(found), reached);
                let reached = reached.unwrap();
                prop_assert!(reached <= seconds + 1 + seconds / 1_000_000_000);
                prop_assert!(worths.at(&belief, reached) >= found * (1.0 - 1e-9));
                let before = worths.at(&belief, reached.saturating_sub(1));
                prop_assert!(reached == 0 || before < found * (1.0 + 1e-9));
            }
        }
    }
}
