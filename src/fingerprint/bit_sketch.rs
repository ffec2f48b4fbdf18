//! Bit sketches of texts: 64 bytes that estimate the resemblance of two texts.

use super::grams::Grams;
use super::kernel::FingerprintKernel;
use super::minwise::{EMPTY, SEED};
use super::recipe::Recipe;
use crate::splitmix::splitmix;
use xxhash_rust::xxh3::xxh3_64_with_seed;

/// The number of 64-bit words in a sketch.
const NUMBERS: usize = BitSketch::BYTES / size_of::<u64>();
/// The number of bits of a sketch, each from one bin.
const BINS: usize = BitSketch::BITS as usize;

/// The sketch of a text: 512 one-bit minwise hashes of the set of its runs of five words, in 64
/// bytes.
///
/// Bits of two sketches differ with the probability (1 - *J*)/2, where *J* is the
/// [resemblance](super::Shingles::resemblance) of the texts (P. Li, A. C. König, *b-Bit minwise
/// hashing*, WWW 2010). The algorithm is the one-pass hashing of [`Minwise`](super::Minwise), with
/// 512 bins instead of 64:
///
/// - The hash *h* of a run is the XXH3-64 of its feature by the recipe `words5-raw/2`, eight bytes
///   little-endian, with the seed `0x6d696e7769736531`.
/// - The highest nine bits of *h* select one of 512 **bins**. Each bin keeps its least *h*.
/// - An **empty** bin *b* takes the least *h* of another bin. The candidates are the highest nine
///   bits of the outputs of SplitMix64 with the seed 0, from number *b* · 2³² on. The bin uses the
///   first candidate that is not empty.
/// - **Bit** *b* of the sketch is bit *b* mod 64 of output number *h* of SplitMix64, where *h* is
///   the least hash of bin *b*. The sketch of a text without words is 0.
///
/// ```
/// use simkeep::fingerprint::BitSketcher;
///
/// let words = |from: u32, to: u32| (from..to).map(|n| format!("word{n} ")).collect::<String>();
/// let mut sketcher = BitSketcher::new();
/// let [a, b] = [words(0, 1000), words(100, 1100)].map(|text| sketcher.of_text(&text));
/// // 896 of 1,096 runs are in both: 0.82.
/// assert!((a.resemblance(&b) - 0.82).abs() < 0.08);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BitSketch {
    numbers: [u64; NUMBERS],
}

impl BitSketch {
    /// The length in bytes.
    pub const BYTES: usize = 64;

    /// The length in bits.
    pub const BITS: u32 = 512;

    /// Restores a sketch from the bytes of [`to_bytes`](BitSketch::to_bytes).
    pub fn from_bytes(bytes: [u8; Self::BYTES]) -> BitSketch {
        let numbers: [[u8; 8]; NUMBERS] = zerocopy::transmute!(bytes);
        BitSketch { numbers: numbers.map(u64::from_le_bytes) }
    }

    /// Returns the bytes: bit *b* is bit *b* mod 8 of byte *b* / 8.
    ///
    /// ```
    /// use simkeep::fingerprint::{BitSketch, BitSketcher};
    ///
    /// let sketch = BitSketcher::new().of_text("The quick brown fox jumps over the lazy dog");
    /// let kept: [u8; 64] = sketch.to_bytes(); // in a file of your own
    /// assert_eq!(BitSketch::from_bytes(kept), sketch);
    /// ```
    pub fn to_bytes(self) -> [u8; Self::BYTES] {
        zerocopy::transmute!(self.numbers.map(u64::to_le_bytes))
    }

    /// Returns the number of bits in which two sketches differ.
    pub fn distance(&self, other: &BitSketch) -> u32 {
        self.numbers.iter().zip(&other.numbers).map(|(a, b)| (a ^ b).count_ones()).sum()
    }

    /// Estimates the resemblance of two texts: 1 - 2*d*/512, where *d* is the
    /// [distance](BitSketch::distance) of their sketches. The estimate is 1 for equal texts, and
    /// about 0 for texts without a common run. An estimate near 0 may be negative. Texts without
    /// words are equal.
    ///
    /// The estimate has no bias. The standard error of the estimate is √(1 - *J*²)/√512: .027 at a
    /// resemblance of 0.8.
    ///
    /// ```
    /// use simkeep::fingerprint::BitSketcher;
    ///
    /// let mut sketcher = BitSketcher::new();
    /// let [fox, also_fox, other] = [
    ///     "The quick brown fox jumps over the lazy dog, and then runs away into the forest",
    ///     "The quick brown fox jumps over the lazy dog, and then runs away into the woods",
    ///     "Our offices are closed on public holidays and open from nine to five otherwise",
    /// ]
    /// .map(|text| sketcher.of_text(text));
    /// assert!(fox.resemblance(&also_fox) > 0.6 && fox.resemblance(&other) < 0.2);
    /// ```
    pub fn resemblance(&self, other: &BitSketch) -> f64 {
        Self::resemblance_at(self.distance(other))
    }

    /// Returns the estimated resemblance for a distance.
    pub(crate) fn resemblance_at(distance: u32) -> f64 {
        1.0 - 2.0 * f64::from(distance) / f64::from(Self::BITS)
    }

    /// Returns the largest distance whose estimated resemblance is at least `resemblance`, from 0
    /// to 1.
    pub(crate) fn distance_at(resemblance: f64) -> u32 {
        let is_enough = |distance: &u32| Self::resemblance_at(*distance) >= resemblance;
        // Distances start at 1, so the number of suitable distances is the largest suitable
        // distance.
        (1..=Self::BITS / 2).take_while(is_enough).map(|_| 1).sum()
    }
}

/// Computes the sketches of texts, one after another. Takes some 10 KiB.
///
/// ```
/// use simkeep::fingerprint::BitSketcher;
///
/// let mut sketcher = BitSketcher::new(); // for all texts
/// let terms = sketcher.of_text("You may use this site if you behave well, and as long as you like.");
/// let copy = sketcher.of_text("You may use this site, if you behave well and as long as you like!");
/// assert_eq!(terms.distance(&copy), 0); // the same words
/// ```
#[derive(Clone, Debug)]
pub struct BitSketcher {
    grams: Grams,
    /// The least hash of each bin.
    least: Box<[u64; BINS]>,
}

impl BitSketcher {
    /// The number of words in a run.
    pub const WORDS: u32 = 5;

    /// Creates a sketcher.
    pub fn new() -> BitSketcher {
        BitSketcher {
            grams: Grams::new(&Recipe::words(Self::WORDS), FingerprintKernel::fastest()),
            least: Box::new([EMPTY; BINS]),
        }
    }

    /// Computes the sketch of a text. Costs some 6 ns for each word, and a microsecond; up to a
    /// quarter of a millisecond if the text has very few different runs.
    ///
    /// ```
    /// use simkeep::fingerprint::BitSketcher;
    ///
    /// let mut sketcher = BitSketcher::new();
    /// let sketch = sketcher.of_text("The quick brown fox jumps over the lazy dog");
    /// assert_eq!(sketch.resemblance(&sketch), 1.0);
    /// ```
    #[expect(clippy::indexing_slicing, reason = "the number of a bin")]
    pub fn of_text(&mut self, text: &str) -> BitSketch {
        let BitSketcher { grams, least } = self;
        let mut add = |features: &[u64], _: &[usize]| {
            for feature in features {
                let hash = xxh3_64_with_seed(&feature.to_le_bytes(), SEED);
                let least = &mut least[bin_of(hash)];
                *least = hash.min(*least);
            }
        };
        grams.push(text, &mut add);
        grams.finish(&mut add);
        self.finish()
    }

    /// Returns the sketch of the added runs, and resets.
    #[expect(clippy::indexing_slicing, reason = "numbers of bins")]
    fn finish(&mut self) -> BitSketch {
        let mut sketch = BitSketch::default();
        let least = &mut *self.least;
        if *least != [EMPTY; BINS] {
            for bin in 0..BINS {
                let mut attempts = (bin as u64) << 32..;
                let mut hash = least[bin];
                while hash == EMPTY {
                    hash = attempts.next().map_or(hash, |number| least[bin_of(splitmix(number))]);
                }
                sketch.numbers[bin / 64] |= splitmix(hash) & 1 << (bin % 64);
            }
        }
        *least = [EMPTY; BINS];
        sketch
    }
}

/// Returns the bin that the highest nine bits select.
#[expect(clippy::cast_possible_truncation, reason = "nine bits")]
fn bin_of(hash: u64) -> usize {
    (hash >> (u64::BITS - BINS.ilog2())) as usize
}

impl Default for BitSketcher {
    fn default() -> BitSketcher {
        BitSketcher::new()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::fingerprint::FeatureSet;

    fn words(from: u32, to: u32) -> String {
        (from..to).map(|n| format!("word{n} ")).collect()
    }

    /// Computes a sketch by its definition.
    fn naive(features: &[u64]) -> [u8; 64] {
        let hash = |f: &u64| xxh3_64_with_seed(&f.to_le_bytes(), 0x6d69_6e77_6973_6531);
        let hashes: BTreeSet<u64> = features.iter().map(hash).collect();
        let least = |bin: u64| hashes.iter().find(|hash| *hash >> 55 == bin);
        let attempts = |bin: u64| (0..).map(move |attempt| splitmix(bin << 32 | attempt) >> 55);
        let filled = |bin| least(bin).or_else(|| attempts(bin).find_map(least));
        let bit = |bin: u64| splitmix(*filled(bin).unwrap()) >> (bin % 64) & 1 == 1;
        let mut bytes = [0; 64];
        for bin in (0..512_u16).filter(|bin| !hashes.is_empty() && bit((*bin).into())) {
            bytes[usize::from(bin / 8)] |= 1 << (bin % 8);
        }
        bytes
    }

    #[test]
    fn sketch_matches_the_definition() {
        let mut sketcher = BitSketcher::new();
        for text in
            [String::new(), "two words".to_owned(), words(0, 5), words(0, 9), words(0, 5000)]
        {
            let features = FeatureSet::new(&Recipe::words(5)).of_text(&text).to_vec();
            let sketch = sketcher.of_text(&text);
            assert_eq!(sketch.to_bytes(), naive(&features));
            assert_eq!(BitSketch::from_bytes(sketch.to_bytes()), sketch);
            assert_eq!(sketcher.of_text(&text), sketch, "a text leaks into the next sketch");
        }
    }

    #[test]
    fn sketches_never_change() {
        let mut sketcher = BitSketcher::new();
        let bytes = [8, 100, 10_000].map(|count| sketcher.of_text(&words(0, count)).to_bytes());
        assert_eq!(xxhash_rust::xxh3::xxh3_64(bytes.as_flattened()), 4_227_697_392_513_555_035);
    }

    #[test]
    fn resemblance_is_estimated_within_its_error() {
        let mut sketcher = BitSketcher::new();
        for (words_each, shared) in [0, 50, 80, 90, 98]
            .into_iter()
            .flat_map(|share| [20, 100, 1000, 5000].map(|words| (words, words * share / 100)))
        {
            let (mut sum, mut squares, pairs) = (0.0, 0.0, 60);
            let runs = f64::from(words_each - BitSketcher::WORDS + 1);
            let common = (f64::from(shared) - f64::from(BitSketcher::WORDS) + 1.0).max(0.0);
            let truth = common / (2.0 * runs - common);
            for pair in 0..pairs {
                let first = pair * 10_000;
                let from = [first, first + words_each - shared];
                let [a, b] = from.map(|from| words(from, from + words_each));
                let of = sketcher.of_text(&a).resemblance(&sketcher.of_text(&b)) - truth;
                sum += of;
                squares += of * of;
            }
            let (error, pairs) = (((1.0 - truth * truth) / 512.0).sqrt(), f64::from(pairs));
            assert!(
                (sum / pairs).abs() <= 4.0 * error / pairs.sqrt(),
                "{words_each}, {shared}: {}",
                sum / pairs
            );
            assert!((squares / pairs).sqrt() <= 1.4 * error, "{words_each}, {shared}: {squares}");
        }
    }
}
