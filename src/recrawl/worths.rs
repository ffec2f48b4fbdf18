//! What visits to many pages are worth, in a few nanoseconds each.

use std::sync::OnceLock;

use super::belief::Belief;
use super::grid::{Grid, rates};
use super::value::Index;

/// Steps of an octave of time, as a power of two.
const STEPS: u32 = 3;

/// Seconds that are told apart: 4,000,000 days, more than from the first time of a visit to the last.
const SECONDS_MAX: u64 = 4_000_000 * 86_400;

/// What a visit is worth at each rate, for times in steps of an eighth of an octave. In between it is
/// interpolated, which is off by some thousandths.
///
/// 160 KB.
#[derive(Debug)]
pub(crate) struct Worths {
    steps: Vec<Grid>,
}

impl Worths {
    /// Those of an index, which are made when they are first asked for.
    pub(crate) fn of(index: Index) -> &'static Worths {
        static VALUE: OnceLock<Worths> = OnceLock::new();
        static HARMONIC: OnceLock<Worths> = OnceLock::new();
        let worths = match index {
            Index::Value => &VALUE,
            Index::Harmonic => &HARMONIC,
        };
        worths.get_or_init(|| Worths::new(index))
    }

    fn new(index: Index) -> Worths {
        let (last, _, _) = place(SECONDS_MAX);
        let at = |step: u64| {
            // The inverse of `place`.
            let shift = (step >> STEPS).saturating_sub(1);
            let seconds = if shift == 0 { step } else { (step - (shift << STEPS)) << shift };
            rates().map(|rate| index.at(rate, seconds as f64 / 86_400.0))
        };
        Worths { steps: (0..=last + 1).map(at).collect() }
    }

    /// What a visit is worth to a page of weight 1, so many seconds after the last one.
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
        if rest == 0 {
            return low;
        }
        let high = dot(belief.probabilities(), &self.steps[step + 1]);
        low + (high - low) * (rest as f64 / width as f64)
    }
}

/// The step at or before a number of seconds, how many seconds after it that is, and the seconds from
/// this step to the next.
fn place(seconds: u64) -> (u64, u64, u64) {
    let Some(shift) = seconds.checked_ilog2().and_then(|top| top.checked_sub(STEPS)) else {
        return (seconds, 0, 1);
    };
    let step = (u64::from(shift) << STEPS) + (seconds >> shift);
    (step, seconds & ((1 << shift) - 1), 1 << shift)
}

/// The sum of products, in an order that processors of any width take.
#[inline]
#[expect(clippy::indexing_slicing, reason = "as many sums as figures of a chunk")]
fn dot(a: &Grid, b: &Grid) -> f64 {
    let mut sums = [0.0; 8];
    let (a, b) = (a.as_chunks::<8>().0, b.as_chunks::<8>().0);
    for (a, b) in a.iter().zip(b) {
        for i in 0..8 {
            sums[i] += a[i] * b[i];
        }
    }
    let [a, b, c, d, e, f, g, h] = sums;
    ((a + b) + (c + d)) + ((e + f) + (g + h))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::{Change, Comparison, Likelihood, Prior};
    use super::*;

    proptest! {
        #[test]
        fn it_is_what_a_belief_says_within_a_hundredth(
            days in 0.01f64..1000.0,
            seconds in 0u64..=SECONDS_MAX,
            shift in 0u32..40,
        ) {
            let seconds = seconds >> shift;
            let seen = [Comparison::new(days, Change::Undated).unwrap()];
            let belief = Belief::new(&Prior::default(), &Likelihood::of(&seen));
            for index in [Index::Value, Index::Harmonic] {
                let worths = Worths::of(index);
                let exact = belief.worth(index, 1.0, seconds as f64 / 86_400.0).unwrap();
                let found = worths.at(&belief, seconds);
                prop_assert!((found - exact).abs() <= exact / 100.0, "{} is not {}", found, exact);
                prop_assert!(worths.at(&belief, seconds + 1) >= found * (1.0 - 1e-12));
            }
        }
    }
}
