//! Random numbers that are equal on every machine.

use crate::recrawl::real::ln;
use crate::splitmix::{STEP, mix, uniform};

/// A [SplitMix64](crate::splitmix) generator.
pub(super) struct Random(u64);

impl Random {
    /// Creates a generator from a seed and the number of a stream. Streams are independent of each
    /// other.
    pub(super) fn new(seed: u64, stream: u64) -> Random {
        Random(mix(mix(seed.wrapping_mul(STEP)).wrapping_add(stream.wrapping_mul(STEP))))
    }

    /// Returns a number between 0 and 1, both exclusive.
    fn share(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(STEP);
        uniform(mix(self.0))
    }

    /// Returns a uniformly distributed number.
    pub(super) fn uniform(&mut self, from: f64, to: f64) -> f64 {
        from + (to - from) * self.share()
    }

    /// Returns an exponentially distributed number with mean 1.
    pub(super) fn exponential(&mut self) -> f64 {
        -ln(self.share())
    }

    /// Returns a normally distributed number with mean 0 and width 1: G. Marsaglia's polar method,
    /// which needs no sine.
    pub(super) fn normal(&mut self) -> f64 {
        loop {
            let (x, y) = (self.uniform(-1.0, 1.0), self.uniform(-1.0, 1.0));
            let square = x * x + y * y;
            if square < 1.0 {
                return x * (-2.0 * ln(square) / square).sqrt();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distributions_have_their_mean_and_variance() {
        let mut random = Random::new(1, 2);
        let of = |draw: &mut dyn FnMut() -> f64| {
            let drawn: Vec<f64> = (0..100_000).map(|_| draw()).collect();
            let mean = drawn.iter().sum::<f64>() / 1e5;
            (mean, drawn.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / 1e5)
        };
        let near = |(mean, variance): (f64, f64), (m, v): (f64, f64)| {
            assert!((mean - m).abs() < 0.02 && (variance - v).abs() < 0.03, "{mean} {variance}");
        };
        near(of(&mut || random.normal()), (0.0, 1.0));
        near(of(&mut || random.exponential()), (1.0, 1.0));
        near(of(&mut || random.uniform(2.0, 3.0)), (2.5, 1.0 / 12.0));
    }

    #[test]
    fn streams_of_one_seed_differ() {
        let first = |seed, stream| Random::new(seed, stream).share();
        let all = [first(0, 0), first(0, 1), first(1, 0), first(1, 1)];
        assert!(
            all.iter().enumerate().all(|(i, a)| all.iter().skip(i + 1).all(|b| a != b)),
            "{all:?}"
        );
    }
}
