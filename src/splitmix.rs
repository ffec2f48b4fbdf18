//! SplitMix64: numbers that look random and are equal on every machine.
//!
//! A counter grows by [`STEP`], and [`mix`] turns it into a number (G. L. Steele, D. Lea, C. H. Flood,
//! *Fast splittable pseudorandom number generators*, OOPSLA 2014).

/// The increment of the counter: 2⁶⁴ over the golden ratio.
pub(crate) const STEP: u64 = 0x9e37_79b9_7f4a_7c15;

/// Returns the number for a counter. Each bit of the number depends on all bits of the counter.
pub(crate) const fn mix(counter: u64) -> u64 {
    let mut x = counter;
    x = (x ^ x >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ x >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ x >> 31
}

/// Returns the `n`-th number from the seed 0.
pub(crate) const fn splitmix(n: u64) -> u64 {
    mix(n.wrapping_add(1).wrapping_mul(STEP))
}

/// Returns a number between 0 and 1, both exclusive, from 64 random bits.
pub(crate) fn uniform(bits: u64) -> f64 {
    const TWO_TO_53: f64 = 9_007_199_254_740_992.0;
    // The numerator is an odd number of at most 53 bits, so that the division is exact.
    (bits >> 11 | 1) as f64 / TWO_TO_53
}
