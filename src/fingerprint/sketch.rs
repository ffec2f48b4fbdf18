//! Sketches of shingle sets: a few hundred bytes that tell how much two texts have in common.

use super::shingles::Shingles;

/// The least of a set under each of `N` random orders (A. Z. Broder, M. Charikar, A. M. Frieze, M.
/// Mitzenmacher, *Min-wise independent permutations*, 1998). The share of orders in which two sets
/// have the same least element estimates their resemblance *r*, with a standard deviation of
/// √(r(1-r)/N): at most 0.036 for the usual 200 orders, 800 bytes.
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
    /// The sketch of a set. Some 0.2 ns for each shingle and order.
    pub fn of(shingles: &Shingles) -> Sketch<N> {
        let mut least = [u32::MAX; N];
        let orders: [(u64, u64); N] = std::array::from_fn(|n| order(n as u64));
        for hash in shingles.hashes() {
            for (least, (factor, addend)) in least.iter_mut().zip(orders) {
                // The upper half of what a random linear function makes of a uniform hash.
                let place = hash.wrapping_mul(factor).wrapping_add(addend) >> 32;
                *least = (*least).min(place as u32);
            }
        }
        Sketch { least }
    }

    /// What two sets have in common, estimated: between 0 and 1.
    pub fn resemblance(&self, other: &Sketch<N>) -> f64 {
        let same = self.least.iter().zip(&other.least).filter(|(a, b)| a == b).count();
        if N == 0 { 0.0 } else { same as f64 / N as f64 }
    }

    /// The least elements, order by order.
    pub fn least(&self) -> &[u32; N] {
        &self.least
    }
}

/// Six hashes of fourteen minhashes each: texts that have two of them in common are near-duplicates
/// (D. Fetterly, M. Manasse, M. Najork, *On the evolution of clusters of near-duplicate web pages*,
/// 2003). 48 bytes.
///
/// ```
/// use simkeep::fingerprint::{Shingles, SuperShingles};
/// let a = SuperShingles::of(&Shingles::of_text("the same text twice", 3));
/// assert_eq!(a.common(&a), 6);
/// ```
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct SuperShingles(pub [u64; 6]);

impl SuperShingles {
    /// Those of a set.
    pub fn of(shingles: &Shingles) -> SuperShingles {
        let sketch = Sketch::<84>::of(shingles);
        let mut hashes = [0; 6];
        for (hash, group) in hashes.iter_mut().zip(sketch.least.as_chunks::<14>().0) {
            *hash = xxhash_rust::xxh3::xxh3_64(group.map(u32::to_le_bytes).as_flattened());
        }
        SuperShingles(hashes)
    }

    /// How many are the same; two of six tell near-duplicates.
    pub fn common(&self, other: &SuperShingles) -> usize {
        self.0.iter().zip(&other.0).filter(|(a, b)| a == b).count()
    }
}

/// The factor and the addend of the `n`-th order: two outputs of SplitMix64, of which the factor is
/// made odd.
fn order(n: u64) -> (u64, u64) {
    (splitmix(2 * n) | 1, splitmix(2 * n + 1))
}

fn splitmix(n: u64) -> u64 {
    let mut x = (n + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    x = (x ^ x >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ x >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ x >> 31
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(common: usize) -> [Shingles; 2] {
        ["a", "b"].map(|own| {
            let words = |of: &str, n| (0..n).map(|i| format!("{of}{i} ")).collect::<String>();
            Shingles::of_text(&(words("common", common) + &words(own, 500)), 1)
        })
    }

    #[test]
    fn the_resemblance_is_estimated_within_its_error() {
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
    fn supershingles_tell_near_duplicates_from_others() {
        let of = |common| texts(common).map(|text| SuperShingles::of(&text));
        let [a, b] = of(200_000);
        assert!(a.common(&b) >= 2);
        let [a, b] = of(500);
        assert!(a.common(&b) < 2);
    }

    #[test]
    fn sketches_never_change() {
        let shingles = Shingles::of_text("the quick brown fox jumps over the lazy dog", 3);
        assert_eq!(Sketch::<3>::of(&shingles).least(), &[882_164_094, 158_362_942, 2_341_869_582]);
        assert_eq!(SuperShingles::of(&shingles).0[0], 15_422_418_080_196_661_479);
    }
}
