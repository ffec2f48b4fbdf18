//! Sketches of texts by single bits: 64 bytes that say how much two texts have in common.

use super::grams::Grams;
use super::kernel::Kernel;
use super::minwise::Minwise;
use super::recipe::Recipe;

/// Numbers of 64 bits in a sketch, each a minwise hash by a seed of its own.
const NUMBERS: usize = BitSketch::BYTES / size_of::<u64>();

/// The sketch of a text: 512 one-bit minwise hashes of the set of its runs of five words, in 64 bytes.
///
/// These are the fingerprints that the recipes `words5-minwise/1`, `words5-minwise-seed1/1`, ...,
/// `words5-minwise-seed7/1` make of the text; see [`Minwise`] for how. So bits of two sketches differ
/// with the probability (1 - *J*)/2, where *J* is the [resemblance](super::Shingles::resemblance) of the
/// texts (P. Li, A. C. König, *b-Bit minwise hashing*, WWW 2010).
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
    /// How many bytes it takes.
    pub const BYTES: usize = 64;

    /// How many bits it has.
    pub const BITS: u32 = 8 * Self::BYTES as u32;

    /// A sketch of these bytes, as [`to_bytes`](BitSketch::to_bytes) had them.
    pub fn from_bytes(bytes: [u8; Self::BYTES]) -> BitSketch {
        let numbers: [[u8; 8]; NUMBERS] = zerocopy::transmute!(bytes);
        BitSketch { numbers: numbers.map(u64::from_le_bytes) }
    }

    /// Its bytes: by the numbers of the seeds, each fingerprint little-endian.
    pub fn to_bytes(self) -> [u8; Self::BYTES] {
        zerocopy::transmute!(self.numbers.map(u64::to_le_bytes))
    }

    /// In how many bits two sketches differ.
    pub fn distance(&self, other: &BitSketch) -> u32 {
        self.numbers.iter().zip(&other.numbers).map(|(a, b)| (a ^ b).count_ones()).sum()
    }

    /// How much two texts have in common, by their sketches: 1 - 2*d*/512, where *d* is their
    /// [distance](BitSketch::distance). It is 1 of equal texts, and about 0 of texts without a run in
    /// common; then it may be less than 0.
    ///
    /// The estimate has no bias. Its standard error is √(1 - *J*²)/√512: .027 at a resemblance of 0.8.
    pub fn resemblance(&self, other: &BitSketch) -> f64 {
        Self::resemblance_at(self.distance(other))
    }

    /// The resemblance that sketches tell that differ in so many bits.
    pub(crate) fn resemblance_at(distance: u32) -> f64 {
        1.0 - 2.0 * f64::from(distance) / f64::from(Self::BITS)
    }

    /// In how many bits sketches differ at most that tell a resemblance, 0 to 1, or a greater one.
    pub(crate) fn distance_at(resemblance: f64) -> u32 {
        let is_enough = |distance: &u32| Self::resemblance_at(*distance) >= resemblance;
        (0..=Self::BITS / 2).rev().find(is_enough).unwrap_or(0)
    }
}

/// Makes sketches of texts, one after another. Takes 10 KiB.
#[derive(Clone, Debug)]
pub struct BitSketcher {
    grams: Grams,
    minwise: [Minwise; NUMBERS],
}

impl BitSketcher {
    /// Words of a run.
    pub const WORDS: u32 = 5;

    /// What makes sketches.
    pub fn new() -> BitSketcher {
        BitSketcher {
            grams: Grams::new(&Recipe::words(Self::WORDS), Kernel::fastest()),
            minwise: [0, 1, 2, 3, 4, 5, 6, 7].map(Minwise::with_seed),
        }
    }

    /// The sketch of a text. Costs some 20 ns for each of its words.
    pub fn of_text(&mut self, text: &str) -> BitSketch {
        let BitSketcher { grams, minwise } = self;
        let mut add = |features: &[u64], _: &[usize]| {
            for minwise in &mut *minwise {
                features.iter().for_each(|feature| minwise.add(*feature));
            }
        };
        grams.push(text, &mut add);
        grams.finish(&mut add);
        BitSketch { numbers: self.minwise.each_mut().map(Minwise::finish) }
    }
}

impl Default for BitSketcher {
    fn default() -> BitSketcher {
        BitSketcher::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fingerprint::Fingerprinter;

    fn words(from: u32, to: u32) -> String {
        (from..to).map(|n| format!("word{n} ")).collect()
    }

    #[test]
    fn a_sketch_is_eight_fingerprints() {
        let mut sketcher = BitSketcher::new();
        for text in [String::new(), "two words".to_owned(), words(0, 5), words(0, 5000)] {
            let sketch = sketcher.of_text(&text);
            let mut bytes = Vec::new();
            for seed in 0..8 {
                let recipe = Recipe { seed, ..Recipe::words(5).minwise() };
                let mut fingerprinter = Fingerprinter::new(&recipe).unwrap();
                bytes.extend(fingerprinter.of_text(&text).unwrap().to_le_bytes());
            }
            assert_eq!(sketch.to_bytes()[..], bytes);
            assert_eq!(BitSketch::from_bytes(sketch.to_bytes()), sketch);
            assert_eq!(sketcher.of_text(&text), sketch, "what is left of a text is in the next");
        }
    }

    #[test]
    fn the_resemblance_is_estimated_within_its_error() {
        let mut sketcher = BitSketcher::new();
        for shared in [0, 100, 500, 800, 990, 1000] {
            let (mut sum, mut squares, pairs) = (0.0, 0.0, 60);
            let runs = f64::from(1000 - BitSketcher::WORDS + 1);
            let common = (f64::from(shared) - f64::from(BitSketcher::WORDS) + 1.0).max(0.0);
            let truth = common / (2.0 * runs - common);
            for pair in 0..pairs {
                let first = pair * 10_000;
                let [a, b] = [first, first + 1000 - shared].map(|from| words(from, from + 1000));
                let of = sketcher.of_text(&a).resemblance(&sketcher.of_text(&b)) - truth;
                sum += of;
                squares += of * of;
            }
            let (error, pairs) = (((1.0 - truth * truth) / 512.0).sqrt(), f64::from(pairs));
            assert!((sum / pairs).abs() <= 4.0 * error / pairs.sqrt(), "{shared}: {}", sum / pairs);
            assert!((squares / pairs).sqrt() <= 1.4 * error, "{shared}: {squares}");
        }
    }
}
