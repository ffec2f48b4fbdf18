//! When to visit again: figures from other sources, naive sums, and simulated crawls.

mod announcements;
mod beliefs;
mod fits;
mod intervals;
mod novelties;
mod optima;
mod policies;
mod rates;
mod replays;
mod simulations;
mod values;

/// Asserts that two figures agree to six digits or six decimal places.
#[track_caller]
fn assert_six(found: f64, expected: f64) {
    assert!((found - expected).abs() <= 1e-6 * expected.abs().max(0.5), "{found}, not {expected}");
}

/// Reproducible random numbers: SplitMix64.
struct SplitMix(u64);

impl SplitMix {
    /// A number between 0 and 1, exclusive.
    fn share(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mix = |x: u64, shift: u32, factor: u64| (x ^ x >> shift).wrapping_mul(factor);
        let x = mix(mix(self.0, 30, 0xbf58_476d_1ce4_e5b9), 27, 0x94d0_49bb_1331_11eb);
        ((x ^ x >> 31) >> 12) as f64 / (1u64 << 52) as f64 + f64::EPSILON / 4.0
    }

    /// A normally distributed number with mean 0 and standard deviation 1, by Box and Muller.
    fn normal(&mut self) -> f64 {
        (-2.0 * self.share().ln()).sqrt() * (std::f64::consts::TAU * self.share()).cos()
    }
}
