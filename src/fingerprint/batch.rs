//! Many words, hashed together.

use xxhash_rust::xxh3::xxh3_64;

use super::choices::Hash;
use super::words::Span;

/// Up to each of these lengths, XXH3 takes the same code path. With mixed lengths a processor
/// mispredicts the path half of the time, which costs more than the hash.
const LENGTHS: [usize; 3] = [3, 8, 16];

/// With fewer words, sorting them by length does not pay.
const WORDS_MIN: usize = 16;

/// Sets words apart by their lengths, and hashes those of similar lengths together.
#[derive(Clone, Debug, Default)]
pub(super) struct Batch {
    /// The numbers of the words of each class of lengths.
    classes: [Vec<u32>; LENGTHS.len() + 1],
}

impl Batch {
    /// Appends the hashes of some words of a text.
    #[expect(clippy::indexing_slicing, reason = "classes have the numbers of words")]
    pub(super) fn hash(&mut self, hash: Hash, text: &[u8], words: &[Span], out: &mut Vec<u64>) {
        if hash != Hash::Xxh3 || words.len() < WORDS_MIN {
            out.extend(words.iter().map(|word| hash.of(word.of(text))));
            return;
        }
        let counts = self.classify(words);
        let before = out.len();
        out.resize(before + words.len(), 0);
        let out = &mut out[before..];
        for (class, count) in self.classes.iter().zip(counts) {
            for number in class.iter().take(count).map(|number| *number as usize) {
                out[number] = xxh3_64(words[number].of(text));
            }
        }
    }

    /// Sets the words apart by their lengths, without a branch that depends on them, and says how many
    /// there are of each class.
    #[expect(
        clippy::indexing_slicing,
        reason = "one more class than lengths, each with room for all"
    )]
    fn classify(&mut self, words: &[Span]) -> [usize; LENGTHS.len() + 1] {
        for class in &mut self.classes {
            // There is room for all in each.
            class.resize(class.len().max(words.len()), 0);
        }
        let mut counts = [0; LENGTHS.len() + 1];
        for (number, word) in (0..).zip(words) {
            let class = LENGTHS.iter().filter(|length| word.len() > **length).count();
            self.classes[class][counts[class]] = number;
            counts[class] += 1;
        }
        counts
    }
}
