//! Finds where a monotonic function crosses a bound.

use super::real::exp;

/// The number of bisection steps. Each halves the range of logarithms, so the last steps are below
/// the last place of the answer.
const STEPS: u32 = 64;

/// The largest logarithm to try; its negative is the least.
const LN_MAX: f64 = 700.0;

/// Returns the positive number up to which `below` holds and above which it does not.
///
/// Bisects the logarithm in 64 calls, whatever the function, and never diverges. If `below` holds
/// for all numbers or for none, the result is the largest or the least number tried.
pub(super) fn crossing(below: impl Fn(f64) -> bool) -> f64 {
    around(below).0
}

/// Returns the largest number tried for which `below` holds, and the least for which it does not.
pub(super) fn around(below: impl Fn(f64) -> bool) -> (f64, f64) {
    // The logarithm is bisected, so the relative error is the same for answers of any size.
    let (mut low, mut high) = (-LN_MAX, LN_MAX);
    for _ in 0..STEPS {
        let middle = low + (high - low) / 2.0;
        if below(exp(middle)) {
            low = middle;
        } else {
            high = middle;
        }
    }
    (exp(low), exp(high))
}
