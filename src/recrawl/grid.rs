//! The grid of rates of a belief.

use std::array;
use std::f64::consts::{LN_2, SQRT_2};

/// The number of rates.
pub(super) const RATES: usize = 64;

/// A number for each rate.
pub(super) type Grid = [f64; RATES];

/// Returns the rates, half an octave apart: from 2⁻²⁰ a day (one change in three thousand years) to
/// 2^11.5 a day (one change in half a minute).
///
/// Some functions are smooth over some octaves, for example beliefs and values. The sum of such a
/// function at these steps is hardly less accurate than an integral. A belief narrower than a step
/// has the mean of its neighbouring rates.
pub(super) fn rates() -> Grid {
    let mut octave = 1.0 / 1_048_576.0;
    array::from_fn(|i| {
        // Doubling is exact, and each half octave is computed from its octave, so no error
        // accumulates.
        if i % 2 == 0 {
            octave
        } else {
            octave *= 2.0;
            octave / 2.0 * SQRT_2
        }
    })
}

/// Returns the logarithms of the rates.
pub(super) fn logarithms() -> Grid {
    array::from_fn(|i| (i as f64 / 2.0 - 20.0) * LN_2)
}

/// Applies a function to the numbers of two grids at each rate.
pub(super) fn both(a: &Grid, b: &Grid, of: impl Fn(f64, f64) -> f64) -> Grid {
    let mut made = *a;
    made.iter_mut().zip(b).for_each(|(a, b)| *a = of(*a, *b));
    made
}

/// Returns the sum of products of two grids, added in an order that is equal for all vector widths.
#[inline]
pub(super) fn dot(a: &Grid, b: &Grid) -> f64 {
    sum_of(a, b, |a, b| a * b)
}

/// Returns the sum of a grid's numbers.
#[inline]
pub(super) fn sum(of: &Grid) -> f64 {
    sum_of(of, of, |one, _| one)
}

#[inline]
#[expect(clippy::indexing_slicing, reason = "as many sums as figures of a chunk")]
fn sum_of(a: &Grid, b: &Grid, of: impl Fn(f64, f64) -> f64) -> f64 {
    // Eight separate sums: no addition waits for the previous addition, and vectors of any width
    // have the same result. With factorials computed in advance, learning from ten million pages
    // takes 0.21 s, without them 0.63 s.
    let mut sums = [0.0; 8];
    let (a, b) = (a.as_chunks::<8>().0, b.as_chunks::<8>().0);
    for (a, b) in a.iter().zip(b) {
        for i in 0..8 {
            sums[i] += of(a[i], b[i]);
        }
    }
    let [a, b, c, d, e, f, g, h] = sums;
    ((a + b) + (c + d)) + ((e + f) + (g + h))
}
