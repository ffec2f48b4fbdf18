//! Finds the number at which a monotonic condition changes.

use super::real::exp;

/// The number of bisection steps. Each step halves the range of logarithms, so the last steps
/// change less than the last place of the answer.
const STEPS: u32 = 64;

/// The largest logarithm to try; its negative is the least logarithm to try.
const LN_MAX: f64 = 700.0;

/// Returns the positive number up to which `below` is true and above which it is false.
///
/// Bisects the logarithm in 64 calls, whatever the function, and never diverges. If `below` is true
/// for all numbers or for none, the result is the largest or the least number tried.
pub(super) fn crossing(below: impl Fn(f64) -> bool) -> f64 {
    around(below).0
}

/// Returns the largest number tried for which `below` is true, and the least number tried for which
/// it is false.
pub(super) fn around(below: impl Fn(f64) -> bool) -> (f64, f64) {
    // The bisected variable is the logarithm, so the relative error is the same for answers of any
    // size.
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
