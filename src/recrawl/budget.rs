//! The threshold by which a number of visits a day is spent.

use std::array;
use std::f64::consts::LN_2;

use super::real::exp;

/// Thresholds are looked for from 2⁻⁶⁰ to 2⁶⁰.
const OCTAVES: f64 = 60.0;

/// Thresholds that are tried at once, and how often. What is left is a few millionths of it.
pub(crate) const TRIED: usize = 16;
const ROUNDS: usize = 6;

/// The least threshold that takes no more visits a day than these; none if the largest that is looked
/// for takes more. `visits` says how many each of some thresholds takes: the higher it is, the fewer.
pub(crate) fn spend(per_day: f64, visits: impl Fn(&[f64; TRIED]) -> [f64; TRIED]) -> Option<f64> {
    let at = |octaves: f64| exp(octaves * LN_2);
    let (mut from, mut to) = (-OCTAVES, OCTAVES);
    for _ in 0..ROUNDS {
        let step = (to - from) / (TRIED + 1) as f64;
        let tried = array::from_fn(|n| at(from + (n + 1) as f64 * step));
        let above = visits(&tried).iter().take_while(|visits| **visits > per_day).count();
        let end = if above == TRIED { to } else { from + (above + 1) as f64 * step };
        (from, to) = (from + above as f64 * step, end);
    }
    (to < OCTAVES).then(|| at(to))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn a_threshold_takes_as_many_visits_as_there_are(
            per_day in 1e-9f64..1e9,
            pages in 1e-3f64..1e6,
        ) {
            // An interval in proportion to the threshold.
            let found = spend(per_day, |tried| tried.map(|threshold| pages / threshold)).unwrap();
            let taken = pages / found;
            prop_assert!(taken <= per_day && taken > per_day * 0.99999, "{} of {}", taken, per_day);
        }
    }

    #[test]
    fn what_must_be_visited_anyway_has_no_threshold() {
        assert_eq!(spend(1.0, |tried| tried.map(|_| 2.0)), None);
        // And what nobody may visit more often has the least.
        assert!(spend(3.0, |tried| tried.map(|_| 2.0)).unwrap() < 1e-17);
    }
}
