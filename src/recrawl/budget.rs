//! Finds the threshold that spends a number of visits a day.

use std::array;
use std::f64::consts::LN_2;

use super::real::{exp, scaled};

/// The range of thresholds: 2⁻⁶⁴⁰ to 2⁶⁴⁰. The product of a page's weight and its rule's weight is
/// from 10⁻¹⁴⁵ to 10¹³⁹.
const OCTAVES: i64 = 640;
/// The distance in octaves between the first trials.
const FIRST_STEP: i64 = 8;

/// The number of thresholds per call of `visits`. The octave is divided by this number `ROUNDS`
/// times, so the result is accurate to a hundred thousandth of an octave.
pub(crate) const TRIED: usize = 16;
const ROUNDS: usize = 4;

/// Returns the least threshold that takes at most `per_day` visits a day; `None` if the largest
/// threshold takes more. `visits` returns the visits a day for each threshold, and falls with the
/// threshold. `visits` is called six times if the result is from 2⁻⁶⁰ to 2⁶⁰, and otherwise seven
/// times.
///
/// The octave of the result is found first. So all thresholds tried in the octave scale exactly: if
/// all weights change by the same power of two, the plan is the same to the last bit.
pub(crate) fn spend(per_day: f64, visits: impl Fn(&[f64; TRIED]) -> [f64; TRIED]) -> Option<f64> {
    let above =
        // Visits fall with the threshold, so the thresholds with too many visits are the first
        // ones.
        |tried: &[f64; TRIED]| visits(tried).iter().take_while(|visits| **visits > per_day).count();
    let octave = octave(|octaves| above(&octaves.map(|octave| scaled(1.0, octave))))?;
    let at = |part: f64| scaled(exp(part * LN_2), octave - 1);
    let (mut from, mut to) = (0.0, 1.0);
    for _ in 0..ROUNDS {
        // A search in 17 parts: one pass over all kinds of pages tries 16 thresholds.
        let step = (to - from) / (TRIED + 1) as f64;
        let tried = array::from_fn(|n| at(from + (n + 1) as f64 * step));
        let above = above(&tried);
        let end = if above == TRIED { to } else { from + (above + 1) as f64 * step };
        (from, to) = (from + above as f64 * step, end);
    }
    Some(at(to))
}

/// Returns the least power of two that takes at most the allowed visits, if there is one. `above`
/// returns how many of the given powers take more visits.
#[expect(clippy::cast_possible_wrap, reason = "16 are tried")]
fn octave(above: impl Fn(&[i64; TRIED]) -> usize) -> Option<i64> {
    const TRIES: i64 = TRIED as i64;
    let first = -FIRST_STEP * (TRIES - 1) / 2;
    let (mut from, mut to) = match above(&array::from_fn(|n| first + n as i64 * FIRST_STEP)) as i64
    {
        0 => (-OCTAVES, first),
        TRIES => (-first, OCTAVES),
        above => (first + (above - 1) * FIRST_STEP, first + above * FIRST_STEP),
    };
    // The bounds are integers, so `tried` is exact, and the range shrinks to one octave.
    while to - from > 1 {
        let (low, width) = (from, to - from);
        let tried = |n: i64| low + width * n / (TRIES + 1);
        let above = above(&array::from_fn(|n| tried(n as i64 + 1))) as i64;
        (from, to) = (tried(above), tried(above + 1));
    }
    (to < OCTAVES).then_some(to)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn threshold_spends_exactly_the_visits(
            per_day in 1e-9f64..1e9,
            pages in 1e-3f64..1e6,
        ) {
            // The visits are inversely proportional to the threshold.
            let found = spend(per_day, |tried| tried.map(|threshold| pages / threshold)).unwrap();
            let taken = pages / found;
            prop_assert!(taken <= per_day && taken > per_day * 0.99999, "{} of {}", taken, per_day);
        }
    }

    #[test]
    fn threshold_is_the_same_in_any_unit() {
        let visits = |unit: f64| {
            spend(7.3, |tried| tried.map(|threshold| 1234.5 / (threshold / unit).sqrt())).unwrap()
        };
        let one = visits(1.0);
        for octaves in [-480, -61, -60, -59, -1, 1, 5, 59, 60, 61, 480] {
            let unit = scaled(1.0, octaves);
            assert_eq!(visits(unit) / unit, one, "2^{octaves}");
        }
    }

    #[test]
    fn pages_with_forced_visits_have_no_threshold() {
        assert_eq!(spend(1.0, |tried| tried.map(|_| 2.0)), None);
        // If pages cannot be visited more often, the result is the least threshold.
        assert!(spend(3.0, |tried| tried.map(|_| 2.0)).unwrap() < 1e-17);
    }
}
