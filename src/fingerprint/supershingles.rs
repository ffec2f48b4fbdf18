//! Hashes of groups of minhashes: near-duplicates share whole groups.

use xxhash_rust::xxh3::xxh3_64;

use super::shingles::Shingles;
use super::sketch::Sketch;

/// Six hashes of fourteen minhashes each. Texts with two of the six hashes in common are
/// near-duplicates (D. Fetterly, M. Manasse, M. Najork, *On the evolution of clusters of
/// near-duplicate web pages*, 2003). Takes 48 bytes.
///
/// ```
/// use simkeep::fingerprint::{Shingles, SuperShingles};
/// let a = SuperShingles::of(&Shingles::of_text("the same text twice", 3));
/// assert_eq!(a.common(&a), 6);
/// ```
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct SuperShingles(pub [u64; 6]);

impl SuperShingles {
    /// Computes the supershingles of a set.
    pub fn of(shingles: &Shingles) -> SuperShingles {
        let sketch = Sketch::<84>::of(shingles);
        let mut hashes = [0; 6];
        for (hash, group) in hashes.iter_mut().zip(sketch.least().as_chunks::<14>().0) {
            *hash = xxh3_64(group.map(u32::to_le_bytes).as_flattened());
        }
        SuperShingles(hashes)
    }

    /// Returns the number of equal hashes. Two equal hashes mean near-duplicates.
    ///
    /// ```
    /// use simkeep::fingerprint::{Shingles, SuperShingles};
    /// let of = |text| SuperShingles::of(&Shingles::of_text(text, 3));
    /// let terms = of("You may use this site if you behave well, and as long as you like.");
    /// let other = of("Our offices are closed on public holidays and open otherwise.");
    /// assert_eq!((terms.common(&terms), terms.common(&other)), (6, 0));
    /// ```
    pub fn common(&self, other: &SuperShingles) -> usize {
        self.0.iter().zip(&other.0).filter(|(a, b)| a == b).count()
    }
}

#[cfg(test)]
mod tests {
    use super::super::sketch::tests::texts;
    use super::*;

    #[test]
    fn supershingles_separate_near_duplicates_from_others() {
        let of = |common| texts(common).map(|text| SuperShingles::of(&text));
        let [a, b] = of(200_000);
        assert!(a.common(&b) >= 2);
        let [a, b] = of(500);
        assert!(a.common(&b) < 2);
    }

    #[test]
    fn supershingles_never_change() {
        let shingles = Shingles::of_text("the quick brown fox jumps over the lazy dog", 3);
        let expected = [
            15_422_418_080_196_661_479,
            13_264_517_663_275_390_422,
            18_012_908_323_862_637_699,
            5_933_329_208_907_029_834,
            970_505_916_076_600_511,
            4_730_921_720_446_914_962,
        ];
        assert_eq!(SuperShingles::of(&shingles).0, expected);
    }
}
