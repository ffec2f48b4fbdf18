//! MinHash sketches of shingle sets: a few hundred bytes that estimate the resemblance of two
//! texts.

use super::shingles::Shingles;
use crate::splitmix::splitmix;

/// A MinHash: the least element of a set under each of `N` random orders (A. Z. Broder, M.
/// Charikar, A. M. Frieze, M. Mitzenmacher, *Min-wise independent permutations*, 1998). The share
/// of orders in which two sets have the same least element estimates their resemblance *r*. The
/// standard deviation of the estimate is √(r(1-r)/N): at most 0.036 for the usual 200 orders, which
/// take 800 bytes.
///
/// ```
/// use simkeep::fingerprint::{Shingles, Sketch};
/// let of = |text| Sketch::<200>::of(&Shingles::of_text(text, 2));
/// let a = of("the quick brown fox jumps over the lazy dog and runs away");
/// let b = of("the quick brown fox jumps over the lazy dog and runs home");
/// assert!(a.resemblance(&b) > 0.6);
/// ```
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Sketch<const N: usize> {
    least: [u32; N],
}

impl<const N: usize> Sketch<N> {
    /// Computes the sketch of a set. Costs some 0.2 ns for each shingle and order.
    pub fn of(shingles: &Shingles) -> Sketch<N> {
        let mut least = [u32::MAX; N];
        let orders: [(u64, u64); N] = std::array::from_fn(|n| order(n as u64));
        for hash in shingles.hashes() {
            for (least, (factor, addend)) in least.iter_mut().zip(orders) {
                // The position of the shingle in the order: the upper half of a random linear
                // function of a uniform hash.
                let place = hash.wrapping_mul(factor).wrapping_add(addend) >> 32;
                *least = (*least).min(place as u32);
            }
        }
        Sketch { least }
    }

    /// Estimates the resemblance of two sets, between 0 and 1.
    pub fn resemblance(&self, other: &Sketch<N>) -> f64 {
        let same = self.least.iter().zip(&other.least).filter(|(a, b)| a == b).count();
        if N == 0 { 0.0 } else { same as f64 / N as f64 }
    }

    /// Restores a sketch from its [least elements](Self::least), order by order.
    pub fn from_least(least: [u32; N]) -> Sketch<N> {
        Sketch { least }
    }

    /// Returns the least elements, order by order.
    ///
    /// ```
    /// use simkeep::fingerprint::{Shingles, Sketch};
    /// let sketch = Sketch::<100>::of(&Shingles::of_text("the quick brown fox jumps over dogs", 2));
    /// let kept: [u32; 100] = *sketch.least(); // in a file of your own
    /// assert_eq!(Sketch::from_least(kept).resemblance(&sketch), 1.0);
    /// ```
    pub fn least(&self) -> &[u32; N] {
        &self.least
    }
}

/// Returns the factor and the addend of the `n`-th order: two outputs of SplitMix64, with the
/// factor made odd.
fn order(n: u64) -> (u64, u64) {
    (splitmix(2 * n) | 1, splitmix(2 * n + 1))
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    pub(crate) fn texts(common: usize) -> [Shingles; 2] {
        ["a", "b"].map(|own| {
            let words = |of: &str, n| (0..n).map(|i| format!("{of}{i} ")).collect::<String>();
            Shingles::of_text(&(words("common", common) + &words(own, 500)), 1)
        })
    }

    #[test]
    fn resemblance_is_estimated_within_its_error() {
        for common in [0, 100, 500, 2000, 10_000] {
            let [a, b] = texts(common);
            let truth = a.resemblance(&b);
            let estimate = Sketch::<200>::of(&a).resemblance(&Sketch::of(&b));
            let deviation = (truth * (1.0 - truth) / 200.0).sqrt();
            assert!((estimate - truth).abs() <= 4.0 * deviation, "{estimate} for {truth}");
        }
        assert_eq!(Sketch::<4>::of(&Shingles::default()).least(), &[u32::MAX; 4]);
    }

    #[test]
    fn sketches_never_change() {
        let shingles = Shingles::of_text("the quick brown fox jumps over the lazy dog", 3);
        let sketch = Sketch::<200>::of(&shingles);
        assert_eq!(sketch.least()[..3], [882_164_094, 158_362_942, 2_341_869_582]);
        let bytes = sketch.least().map(u32::to_le_bytes);
        assert_eq!(xxhash_rust::xxh3::xxh3_64(bytes.as_flattened()), 1_387_252_615_626_578_423);
        assert_eq!(Sketch::from_least(*sketch.least()), sketch);
    }
}
