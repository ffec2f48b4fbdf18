//! When to visit again: figures that were computed elsewhere, and naive sums.

mod beliefs;
mod optima;
mod policies;
mod rates;
mod values;

/// Whether a figure is another one, to six digits or six places.
#[track_caller]
fn assert_six(found: f64, expected: f64) {
    assert!((found - expected).abs() <= 1e-6 * expected.abs().max(0.5), "{found}, not {expected}");
}
