//! The features of a text: n-grams of its words or characters, as hashes.

use xxhash_rust::xxh3::xxh3_64;

use super::classes::has_numeral;
use super::jenkins::jenkins;
use super::kernel::Kernel;
use super::recipe::{GRAM_MAX, Hash, Recipe, Unit};
use super::stop::{is_date_word, is_stop_word};
use super::words::Words;

impl Hash {
    #[inline]
    pub(super) fn of(self, bytes: &[u8]) -> u64 {
        match self {
            Hash::Xxh3 => xxh3_64(bytes),
            Hash::Jenkins => jenkins(bytes),
        }
    }
}

impl Recipe {
    /// Whether a feature is one of those that are chosen: by bits of a product, so that the hash's own
    /// bits are as even among the chosen as among all.
    #[inline]
    pub(super) fn chooses(&self, hash: u64) -> bool {
        let bits = hash.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32;
        self.modulo == 1 || bits.is_multiple_of(u64::from(self.modulo))
    }

    /// Whether a word in lower case is not left out.
    #[inline]
    pub(super) fn takes(&self, word: &[u8]) -> bool {
        !(self.without_numbers && (has_numeral(word) || is_date_word(word)))
            && !(self.without_stop_words && is_stop_word(word))
    }
}

/// Takes the features from a text that comes in pieces.
///
/// - An n-gram of words has the hash of its words' hashes in a row, little-endian; for n = 1 it is
///   the word's own. A text of fewer words than n has all of them as its only feature.
/// - An n-gram of characters has the hash of its UTF-8; it is cut from the words in lower case with
///   one space between two. A text of fewer characters has all of them as its only feature.
///
/// Where a recipe leaves words out, those beside one become neighbours.
#[derive(Clone, Debug)]
pub(super) struct Grams {
    words: Words,
    window: Window,
}

/// What the next features are made from.
#[derive(Clone, Debug)]
struct Window {
    recipe: Recipe,
    /// The hashes of the last words.
    hashes: [[u8; 8]; GRAM_MAX as usize],
    /// The last characters.
    chars: Vec<u8>,
    /// How many words or characters there were so far.
    count: u64,
    /// Where the last word begins in the text.
    last_at: usize,
}

impl Grams {
    pub(super) fn new(recipe: &Recipe, kernel: Kernel) -> Grams {
        Grams {
            words: Words::new(kernel, recipe.unit == Unit::Chars),
            window: Window {
                recipe: *recipe,
                hashes: Default::default(),
                chars: Vec::new(),
                count: 0,
                last_at: 0,
            },
        }
    }

    /// Takes the next piece, and gives the hash of each feature that ends in it and the offset in
    /// the whole text of the word that ends it.
    #[inline]
    pub(super) fn push(&mut self, text: &str, mut feature: impl FnMut(u64, usize)) {
        let Grams { words, window } = self;
        words.push(text, |word, at| window.take(word, at, &mut feature));
    }

    /// Gives what is left, and begins anew.
    pub(super) fn finish(&mut self, mut feature: impl FnMut(u64, usize)) {
        let Grams { words, window } = self;
        words.finish(|word, at| window.take(word, at, &mut feature));
        window.finish(&mut feature);
    }
}

impl Window {
    #[inline]
    fn take(&mut self, word: &[u8], at: usize, feature: &mut impl FnMut(u64, usize)) {
        if !self.recipe.takes(word) {
            return;
        }
        let recipe = self.recipe;
        let Recipe { unit, gram, hash, .. } = recipe;
        self.last_at = at;
        let mut feature = |hash: u64| {
            if recipe.chooses(hash) {
                feature(hash, at);
            }
        };
        match (unit, gram) {
            (Unit::Words, 1) => {
                self.count += 1;
                feature(hash.of(word));
            }
            (Unit::Words, n) => {
                self.count += 1;
                let n = n as usize;
                let Some(last) = self.hashes.get_mut(..n) else { return };
                last.copy_within(1.., 0);
                if let Some(newest) = last.last_mut() {
                    *newest = hash.of(word).to_le_bytes();
                }
                if self.count >= n as u64 {
                    feature(hash.of(last.as_flattened()));
                }
            }
            (Unit::Chars, n) => {
                let word = String::from_utf8_lossy(word);
                let space = (self.count > 0).then_some(' ');
                for c in space.into_iter().chain(word.chars()) {
                    self.chars.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
                    self.count += 1;
                    if self.count > u64::from(n) {
                        let rest = self.chars.iter().skip(1);
                        let next = rest.take_while(|byte| (0x80..0xC0).contains(*byte)).count() + 1;
                        self.chars.drain(..next);
                    }
                    if self.count >= u64::from(n) {
                        feature(hash.of(&self.chars));
                    }
                }
            }
        }
    }

    fn finish(&mut self, feature: &mut impl FnMut(u64, usize)) {
        let Recipe { unit, gram, hash, .. } = self.recipe;
        if self.count > 0 && self.count < u64::from(gram) {
            let whole = match unit {
                // The words stand at the end of the window.
                Unit::Words => {
                    let first = u64::from(gram).saturating_sub(self.count);
                    let words = self.hashes.get(..gram as usize).unwrap_or_default();
                    let words =
                        words.get(usize::try_from(first).unwrap_or(0)..).unwrap_or_default();
                    match words {
                        [one] => u64::from_le_bytes(*one),
                        several => hash.of(several.as_flattened()),
                    }
                }
                Unit::Chars => hash.of(&self.chars),
            };
            if self.recipe.chooses(whole) {
                feature(whole, self.last_at);
            }
        }
        self.chars.clear();
        self.count = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn grams(recipe: &Recipe, text: &str) -> Vec<(u64, usize)> {
        let mut grams = Grams::new(recipe, Kernel::fastest());
        let mut found = Vec::new();
        for _ in 0..2 {
            found.clear();
            grams.push(text, |hash, at| found.push((hash, at)));
            grams.finish(|hash, at| found.push((hash, at)));
        }
        found
    }

    fn of_words(words: &[&str]) -> u64 {
        let hashes = words.iter().flat_map(|word| xxh3_64(word.as_bytes()).to_le_bytes());
        if words.len() == 1 {
            xxh3_64(words[0].as_bytes())
        } else {
            xxh3_64(&hashes.collect::<Vec<_>>())
        }
    }

    #[test]
    fn word_grams_are_hashes_of_hashes() {
        let text = "One two, THREE!";
        let (one, two, three) = ("one", "two", "three");
        let expected = [
            vec![(of_words(&[one]), 0), (of_words(&[two]), 4), (of_words(&[three]), 9)],
            vec![(of_words(&[one, two]), 4), (of_words(&[two, three]), 9)],
            vec![(of_words(&[one, two, three]), 9)],
            vec![(of_words(&[one, two, three]), 9)],
        ];
        for (n, expected) in (1..).zip(expected) {
            assert_eq!(grams(&Recipe::words(n), text), expected, "{n}");
        }
        assert_eq!(grams(&Recipe::words(8), "One!"), [(of_words(&[one]), 0)]);
        assert_eq!(grams(&Recipe::words(2), " — "), []);
        let jenkins_of_two = grams(&Recipe::words(2).hash(Hash::Jenkins), "a b");
        let both = [jenkins(b"a").to_le_bytes(), jenkins(b"b").to_le_bytes()].concat();
        assert_eq!(jenkins_of_two, [(jenkins(&both), 2)]);
    }

    #[test]
    fn character_grams_are_of_words_with_one_space_between_them() {
        let of = |gram: &str| xxh3_64(gram.as_bytes());
        let expected = ["é b", " be", "bee"].map(of).to_vec();
        let found: Vec<u64> = grams(&Recipe::chars(3), "É ... Bee").iter().map(|f| f.0).collect();
        assert_eq!(found, expected);
        assert_eq!(grams(&Recipe::chars(3), "Éa"), [(of("éa"), 0)]);
        assert_eq!(grams(&Recipe::chars(2), "北京会"), [(of("北京"), 0), (of("京会"), 0)]);
        assert_eq!(grams(&Recipe::chars(1), ""), []);
    }

    #[test]
    fn words_that_are_left_out_make_their_neighbours_neighbours() {
        let text = "Updated on Monday the 3rd of May 2024: new terms";
        let without = Recipe::words(2).without_numbers();
        let all = [["updated", "on"], ["on", "the"], ["the", "of"], ["of", "may"], ["may", "new"]];
        let all = all.map(|two| of_words(&two));
        let found: Vec<u64> = grams(&without, text).iter().map(|f| f.0).collect();
        assert_eq!(found[..5], all);
        let bare = without.without_stop_words();
        let found: Vec<u64> = grams(&bare, text).iter().map(|f| f.0).collect();
        assert_eq!(found[0], of_words(&["updated", "may"]));
    }

    #[test]
    fn features_are_chosen_by_their_hashes() {
        let text: String = (0..400).map(|n| format!("w{n} ")).collect();
        let all = grams(&Recipe::words(1), &text);
        let chosen = grams(&Recipe::words(1).modulo(4), &text);
        assert!((60..140).contains(&chosen.len()));
        assert!(chosen.iter().all(|feature| all.contains(feature)));
        // Wherever they stand, and none of their bits is always the same.
        let one = grams(&Recipe::words(1).modulo(4), "other words, and w7");
        assert_eq!(one.contains(&(of_words(&["w7"]), 16)), chosen.contains(&all[7]));
        let (some, every) = chosen.iter().fold((0, u64::MAX), |(o, a), f| (o | f.0, a & f.0));
        assert_eq!((some, every), (u64::MAX, 0));
    }
}
