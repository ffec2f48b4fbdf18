//! The one-bit minwise hash of a set.

use xxhash_rust::xxh3::xxh3_64_with_seed;

use crate::splitmix::splitmix;

/// The seed of the hash that orders features. The ordering hash differs from all other hashes of a
/// feature.
pub(super) const SEED: u64 = 0x6d69_6e77_6973_6531;

/// The number of bits of a fingerprint, each from one bin.
const BINS: usize = 64;

/// For each bin, the other bins in the order in which the bin searches them for a non-empty bin.
/// The order follows the hashes of (bin, attempt), without repeated bins. So the order equals the
/// order of unlimited attempts, but is finite.
static OTHERS: [[u8; BINS - 1]; BINS] = others();

/// The minwise fingerprint of a set of features, which estimates the resemblance of two sets. Bits
/// of two fingerprints differ with the probability (1 - J)/2, where *J* is the resemblance, the
/// share of the union of the sets that is in both sets (their Jaccard index).
///
/// The fingerprint is a *b*-bit minwise hash with *b* = 1 (P. Li, A. C. König, *b-Bit minwise
/// hashing*, WWW 2010), computed in one pass (A. Shrivastava, P. Li, *Densifying one permutation
/// hashing via rotation for fast near neighbor search*, ICML 2014):
///
/// - The hash *h* of a feature is the XXH3-64 of its eight bytes, little-endian, with the seed
///   `0x6d696e7769736531`.
/// - The highest six bits of *h* select one of 64 **bins**. Each bin keeps its least *h*.
/// - An **empty** bin takes the least *h* of another bin. The choice depends on the number of the
///   bin alone, not on the set: each bin has its own order of other bins, and uses the first
///   non-empty bin (A. Shrivastava, *Optimal densification for fast and accurate minwise hashing*,
///   ICML 2017). The order of bin *b* is the order of the highest six bits of the outputs of
///   SplitMix64, with the seed 0, from number *b* · 2³² on, counted from 0. So fingerprints of
///   small sets differ as often as they should.
/// - **Bit** *b* of the fingerprint is bit *b* of output number *h* of SplitMix64, where *h* is the
///   hash that bin *b* keeps or takes. So bins with the same *h*, as in small sets, still have
///   independent bits. An empty set has the fingerprint 0.
///
/// A distance *d* gives the unbiased estimate 1 - 2*d*/64 of the resemblance. The standard error of
/// the estimate is √(1 - J²)/8: each bit differs with the probability *p* = (1 - J)/2, and √(p(1 -
/// p)/64) is doubled. For sets with few features the error is up to a sixth larger.
///
/// Adding a feature takes a nanosecond or two. The order and the repetition of features have no
/// effect. A set takes 512 bytes.
///
/// ```
/// use simkeep::fingerprint::Minwise;
/// let of = |features: std::ops::Range<u64>| {
///     let mut minwise = Minwise::new();
///     features.for_each(|feature| minwise.add(feature));
///     minwise.finish()
/// };
/// let distance = (of(0..1000) ^ of(100..1100)).count_ones();
/// // These have 900 of 1,100 features in common.
/// assert!((1..12).contains(&distance));
/// ```
#[derive(Clone, Debug)]
pub struct Minwise {
    seed: u64,
    /// The least hash of each bin; `EMPTY` for an empty bin.
    least: [u64; BINS],
}

/// The value of an empty bin. A feature with this hash would be ignored.
pub(super) const EMPTY: u64 = u64::MAX;

impl Minwise {
    /// Creates an empty set.
    pub const fn new() -> Minwise {
        Minwise::with_seed(0)
    }

    /// Creates an empty set for recipes with a nonzero [seed](super::Recipe::seed), which is added
    /// to the seed of the ordering hash.
    pub(super) const fn with_seed(seed: u32) -> Minwise {
        Minwise { seed: SEED.wrapping_add(seed as u64), least: [EMPTY; BINS] }
    }

    /// Adds a feature, represented by a hash or a number.
    #[inline]
    pub fn add(&mut self, feature: u64) {
        let hash = self.hash(feature);
        let least = self.least_of(hash);
        *least = hash.min(*least);
    }

    /// Whether adding this feature would change anything.
    #[inline]
    pub(super) fn wants(&mut self, feature: u64) -> bool {
        let hash = self.hash(feature);
        hash < *self.least_of(hash)
    }

    #[inline]
    fn hash(&self, feature: u64) -> u64 {
        xxh3_64_with_seed(&feature.to_le_bytes(), self.seed)
    }

    /// Returns the least hash of the bin that `hash` belongs to.
    #[inline]
    #[expect(clippy::indexing_slicing, reason = "six bits are the number of a bin")]
    fn least_of(&mut self, hash: u64) -> &mut u64 {
        &mut self.least[(hash >> 58) as usize]
    }

    /// Whether no feature was added.
    pub(super) fn is_empty(&self) -> bool {
        self.least == [EMPTY; BINS]
    }

    /// Returns the fingerprint, and empties the set.
    ///
    /// ```
    /// use simkeep::fingerprint::Minwise;
    /// let of = |features: &[u64]| {
    ///     let mut set = Minwise::new();
    ///     features.iter().for_each(|feature| set.add(*feature));
    ///     set.finish()
    /// };
    /// assert_eq!(of(&[1, 2, 3]), of(&[3, 1, 2, 1])); // order and repetition have no effect
    /// assert_eq!(of(&[]), 0);
    /// ```
    pub fn finish(&mut self) -> u64 {
        let bits = self.fingerprint();
        self.least = [EMPTY; BINS];
        bits
    }

    /// Returns the fingerprint of the features added so far.
    pub(super) fn fingerprint(&self) -> u64 {
        let filled = self.filled();
        let bits =
            (0..64u8).map(|bin| source(bin, filled).map_or(0, |of| self.bit(bin, of)) << bin);
        bits.fold(0, |bits, bit| bits | bit)
    }

    /// Returns the bits of the fingerprint that this feature determines.
    pub(super) fn bits_of(&self, feature: u64) -> u64 {
        let (hash, filled) = (self.hash(feature), self.filled());
        let own = Some((hash >> 58) as u8).filter(|_| self.least.contains(&hash));
        let given = (0..64u8).filter(|bin| own.is_some() && source(*bin, filled) == own);
        given.fold(0, |bits, bin| bits | 1 << bin)
    }

    /// Returns the non-empty bins as bits.
    fn filled(&self) -> u64 {
        let filled = (0..).zip(&self.least).map(|(bin, least)| u64::from(*least != EMPTY) << bin);
        filled.fold(0, |bins, bin| bins | bin)
    }

    /// Returns the bit of a bin, from the least hash of bin `source`.
    #[expect(clippy::indexing_slicing, reason = "the number of a bin")]
    fn bit(&self, bin: u8, source: u8) -> u64 {
        splitmix(self.least[usize::from(source)]) >> bin & 1
    }
}

/// Returns the bin whose least hash `bin` uses: `bin` itself, unless it is empty. `None` if all
/// bins are empty.
#[inline]
#[expect(clippy::indexing_slicing, reason = "the number of a bin")]
fn source(bin: u8, filled: u64) -> Option<u8> {
    let is_filled = |bin: &u8| filled >> bin & 1 == 1;
    let others = &OTHERS[usize::from(bin)];
    if is_filled(&bin) { Some(bin) } else { others.iter().copied().find(is_filled) }
}

impl Default for Minwise {
    fn default() -> Minwise {
        Minwise::new()
    }
}

#[expect(clippy::indexing_slicing, reason = "bin numbers, which are below the number of bins")]
const fn others() -> [[u8; BINS - 1]; BINS] {
    let mut all = [[0; BINS - 1]; BINS];
    let mut bin = 0;
    while bin < BINS {
        let (mut seen, mut count, mut attempt) = (1u64 << bin, 0, 0);
        while count < BINS - 1 {
            let other = (splitmix((bin as u64) << 32 | attempt) >> 58) as u8;
            if seen >> other & 1 == 0 {
                seen |= 1 << other;
                all[bin][count] = other;
                count += 1;
            }
            attempt += 1;
        }
        bin += 1;
    }
    all
}

#[cfg(test)]
pub(super) mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    /// Computes the fingerprint by its definition.
    pub(crate) fn naive(features: &BTreeSet<u64>, seed: u32) -> u64 {
        let hash =
            |f: &u64| xxh3_64_with_seed(&f.to_le_bytes(), 0x6d69_6e77_6973_6531 + u64::from(seed));
        let hashes: BTreeSet<u64> = features.iter().map(hash).collect();
        let least = |bin: u64| hashes.iter().find(|hash| *hash >> 58 == bin);
        let attempts = |bin: u64| (0..).map(move |attempt| splitmix(bin << 32 | attempt) >> 58);
        let filled = |bin| least(bin).or_else(|| attempts(bin).find_map(least));
        let bit = |bin: u64| splitmix(*filled(bin).unwrap()) & 1 << bin;
        (0..64).filter(|_| !hashes.is_empty()).map(bit).sum()
    }

    fn of(features: impl IntoIterator<Item = u64>) -> u64 {
        let mut minwise = Minwise::new();
        features.into_iter().for_each(|feature| minwise.add(feature));
        let bits = minwise.finish();
        assert_eq!(minwise.finish(), 0, "it is not empty again");
        bits
    }

    #[test]
    fn fingerprints_of_sets_never_change() {
        let of = [0, 1, 2, 10, 100, 10_000].map(|count| of(0..count));
        let expected = [
            0,
            0x26ef_c9ac_2c10_cc25,
            0x1aaf_819c_8281_c079,
            0x5f4a_93b2_5907_d009,
            0xd820_f9e3_62bd_f948,
            0xfead_f60c_ad97_c7a0,
        ];
        assert_eq!(of, expected, "{of:#018x?}");
    }

    #[test]
    fn each_bin_visits_every_other_bin_once() {
        for (bin, others) in (0..).zip(OTHERS) {
            let all: BTreeSet<u8> = others.into_iter().chain([bin]).collect();
            assert!(all.len() == BINS && all.last() == Some(&63));
        }
    }

    #[test]
    fn disjoint_small_sets_are_not_near() {
        for features in [1, 2, 3, 5, 8] {
            let near = (0..20_000_u64).filter(|pair| {
                let set = |first: u64| of((0..features).map(|n| splitmix(first << 8 | n)));
                (set(2 * pair) ^ set(2 * pair + 1)).count_ones() <= 5
            });
            // With evenly distributed bits, one pair in two million is near.
            assert!(near.count() <= 1, "{features} features");
        }
    }

    #[test]
    fn each_bit_comes_from_one_feature() {
        for features in [0, 1, 2, 30, 1000_u64] {
            let mut minwise = Minwise::new();
            (0..features).for_each(|feature| minwise.add(feature));
            let given = (0..features).map(|feature| minwise.bits_of(feature));
            let all = given.fold(0, |all, bits| {
                assert_eq!(all & bits, 0);
                all | bits
            });
            assert_eq!(all, if features == 0 { 0 } else { u64::MAX });
            assert_eq!(minwise.bits_of(features), 0);
        }
    }

    proptest! {
        #[test]
        fn fingerprints_match_the_definition(
            features in prop::collection::vec(any::<u64>(), 0..300),
            few in prop::collection::vec(any::<u64>(), 0..9),
        ) {
            for features in [features, few] {
                let set: BTreeSet<u64> = features.iter().copied().collect();
                let expected = naive(&set, 0);
                prop_assert_eq!(of(features.iter().copied()), expected);
                prop_assert_eq!(of(features.iter().chain(&features).rev().copied()), expected);
            }
        }
    }
}
