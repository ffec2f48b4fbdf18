//! Where a function that only falls, or only rises, crosses a bound.

use super::real::exp;

/// Steps of a bisection. Each halves what is left of the range of logarithms, so the last are below the
/// last place of the answer.
const STEPS: u32 = 64;

/// The largest logarithm that is tried, and minus the least.
const LN_MAX: f64 = 700.0;

/// The positive number up to which `below` holds and above which it does not.
///
/// Bisects its logarithm, so it takes 64 calls whatever the function, and never diverges. Where `below`
/// holds for all numbers or for none, the answer is the largest or the least that was tried.
pub(super) fn crossing(below: impl Fn(f64) -> bool) -> f64 {
    around(below).0
}

/// The last number that was found below what [`crossing`] gives, and the first one above it.
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
