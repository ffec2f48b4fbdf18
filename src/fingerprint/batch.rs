//! Hashes many words together.

use xxhash_rust::xxh3::xxh3_64;

use super::choices::FeatureHash;
use super::words::{WORD_BYTES_MAX, WordSpan};

/// The number of classes of word lengths, one for each code path of XXH3. With mixed lengths a
/// processor mispredicts the path half of the time, which costs more than the hash. Words of
/// exactly [`PAIR`] bytes are a separate class, because with a constant length the compiler
/// resolves the whole path.
const CLASSES: usize = 5;

/// The length of two ideographs, kana or other characters of three bytes each.
const PAIR: usize = 6;

/// The class of words of [`PAIR`] bytes.
const OF_PAIRS: u8 = 2;

/// The class of each word length.
const CLASS: [u8; WORD_BYTES_MAX + 1] = {
    let mut classes = [4; WORD_BYTES_MAX + 1];
    let mut len = 0;
    while len <= 16 {
        #[expect(clippy::indexing_slicing, reason = "bounded by the loop, at compile time")]
        {
            classes[len] = match len {
                PAIR => OF_PAIRS,
                0..=3 => 0,
                4..=8 => 1,
                _ => 3,
            };
        }
        len += 1;
    }
    classes
};

/// The minimum number of words for sorting by length to pay.
const WORDS_MIN: usize = 16;

/// Groups words by length, and hashes words of similar length together.
#[derive(Clone, Debug, Default)]
pub(super) struct WordBatch {
    /// The indexes of the words in each class.
    classes: [Vec<u32>; CLASSES],
}

impl WordBatch {
    /// Appends the hashes of words of a text, in order.
    #[expect(clippy::indexing_slicing, reason = "classes have the numbers of words")]
    pub(super) fn hash(
        &mut self,
        hash: FeatureHash,
        text: &[u8],
        words: &[WordSpan],
        out: &mut Vec<u64>,
    ) {
        if hash != FeatureHash::Xxh3 || words.len() < WORDS_MIN {
            out.extend(words.iter().map(|word| hash.of(word.of(text))));
            return;
        }
        let counts = self.classify(words);
        let before = out.len();
        out.resize(before + words.len(), 0);
        let out = &mut out[before..];
        for (class, (numbers, count)) in self.classes.iter().zip(counts).enumerate() {
            let numbers = numbers.iter().take(count).map(|number| *number as usize);
            if class == usize::from(OF_PAIRS) {
                numbers.for_each(|number| {
                    let word = words[number].of(text).first_chunk::<PAIR>();
                    out[number] = word.map_or(0, |word| xxh3_64(word));
                });
            } else {
                numbers.for_each(|number| out[number] = xxh3_64(words[number].of(text)));
            }
        }
    }

    /// Groups the words by class without data-dependent branches, and returns the number of words
    /// in each class.
    #[expect(clippy::indexing_slicing, reason = "no word is longer; each class has room for all")]
    fn classify(&mut self, words: &[WordSpan]) -> [usize; CLASSES] {
        for class in &mut self.classes {
            // Each class has space for all words.
            class.resize(class.len().max(words.len()), 0);
        }
        let mut counts = [0; CLASSES];
        for (number, word) in (0..).zip(words) {
            let class = usize::from(CLASS[word.len()]);
            self.classes[class][counts[class]] = number;
            counts[class] += 1;
        }
        counts
    }
}
