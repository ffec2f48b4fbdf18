//! The features of a text: n-grams of its words or characters, as hashes.

use xxhash_rust::xxh3::xxh3_64;

use super::batch::WordBatch;
use super::choices::{FeatureHash, GramUnit};
use super::classes::has_numeral;
use super::jenkins::jenkins;
use super::kernel::FingerprintKernel;
use super::recipe::{GRAM_MAX, Recipe};
use super::stop::{is_date_word, is_stop_word};
use super::words::{TextOffsets, WordSink, WordSpan, WordSplitter};

impl FeatureHash {
    #[inline]
    pub(super) fn of(self, bytes: &[u8]) -> u64 {
        match self {
            FeatureHash::Xxh3 => xxh3_64(bytes),
            FeatureHash::Jenkins => jenkins(bytes),
        }
    }
}

/// Whether the recipe leaves out no words.
fn takes_all(recipe: &Recipe) -> bool {
    !recipe.without_numbers && !recipe.without_stop_words
}

/// Whether the recipe keeps a word, which is in lower case.
#[inline]
pub(super) fn takes(recipe: &Recipe, word: &[u8]) -> bool {
    !(recipe.without_numbers && (has_numeral(word) || is_date_word(word)))
        && !(recipe.without_stop_words && is_stop_word(word))
}

/// Extracts the features of a text in pieces.
///
/// - The hash of an n-gram of words is the hash of the concatenated word hashes, little-endian; for
///   n = 1 the hash of the n-gram is the word's hash. A text of fewer words than n has a single
///   feature: all its words.
/// - The hash of an n-gram of characters is the hash of its UTF-8. The characters are the words in
///   lower case with one space between two words. A text of fewer than n characters has a single
///   feature: all its characters.
///
/// If a recipe leaves words out, the words around them become neighbours.
#[derive(Clone, Debug)]
pub(super) struct Grams {
    words: WordSplitter,
    window: GramWindow,
}

/// The input of the next features.
#[derive(Clone, Debug)]
struct GramWindow {
    recipe: Recipe,
    placed: bool,
    batch: WordBatch,
    /// The words of this piece that the recipe keeps.
    kept: Vec<WordSpan>,
    /// The hashes of the last words, fewer than a feature has, and of the new words.
    hashes: Vec<u64>,
    /// The last characters, fewer than a feature has, and the new characters.
    chars: String,
    /// The start of each word of `hashes`, or the start of the word of each character of `chars`,
    /// if positions matter.
    starts: Vec<usize>,
    /// The number of words or characters so far.
    count: u64,
    /// The next features and their positions.
    features: Vec<u64>,
    places: Vec<usize>,
}

impl Grams {
    pub(super) fn new(recipe: &Recipe, kernel: FingerprintKernel) -> Grams {
        Grams {
            words: WordSplitter::new(kernel, recipe.unit == GramUnit::Chars),
            window: GramWindow {
                recipe: *recipe,
                placed: recipe.depends_on_position(),
                batch: WordBatch::default(),
                kept: Vec::new(),
                hashes: Vec::new(),
                chars: String::new(),
                starts: Vec::new(),
                count: 0,
                features: Vec::new(),
                places: Vec::new(),
            },
        }
    }

    /// Takes the next piece, and passes on the hashes of the features that end in it, in batches.
    /// If positions matter to the recipe, also passes the offset in the whole text of the last word
    /// of each feature.
    pub(super) fn push(&mut self, text: &str, give: impl FnMut(&[u64], &[usize])) {
        let Grams { words, window } = self;
        words.push(text, GramEmitter { window, give });
    }

    /// Passes on the remaining features, and resets.
    pub(super) fn finish(&mut self, mut give: impl FnMut(&[u64], &[usize])) {
        let Grams { words, window } = self;
        words.finish(GramEmitter { window, give: &mut give });
        window.finish(&mut give);
    }
}

/// Makes features from words.
struct GramEmitter<'w, F> {
    window: &'w mut GramWindow,
    give: F,
}

impl<F: FnMut(&[u64], &[usize])> WordSink for GramEmitter<'_, F> {
    fn word(&mut self, word: &[u8], at: usize) {
        if takes(&self.window.recipe, word) {
            self.window.add(word, at);
            self.window.emit(&mut self.give);
        }
    }

    fn words(&mut self, text: &[u8], words: &[WordSpan], places: TextOffsets) {
        let GramEmitter { window, give } = self;
        if takes_all(&window.recipe) {
            window.add_all(text, words, places);
        } else {
            let mut kept = std::mem::take(&mut window.kept);
            kept.clear();
            kept.extend(words.iter().filter(|word| takes(&window.recipe, word.of(text))));
            window.add_all(text, &kept, places);
            window.kept = kept;
        }
        window.emit(give);
    }
}

impl GramWindow {
    fn add(&mut self, word: &[u8], at: usize) {
        match self.recipe.unit {
            GramUnit::Words => {
                self.hashes.push(self.recipe.hash.of(word));
                self.count += 1;
                if self.placed {
                    self.starts.push(at);
                }
            }
            GramUnit::Chars => {
                let before = self.chars.len();
                if self.count > 0 {
                    self.chars.push(' ');
                }
                self.chars.push_str(&String::from_utf8_lossy(word));
                let added = &self.chars[before..];
                let added = if added.is_ascii() { added.len() } else { added.chars().count() };
                self.count += added as u64;
                if self.placed {
                    self.starts.extend(std::iter::repeat_n(at, added));
                }
            }
        }
    }

    fn add_all(&mut self, text: &[u8], words: &[WordSpan], places: TextOffsets) {
        match self.recipe.unit {
            GramUnit::Words => {
                self.batch.hash(self.recipe.hash, text, words, &mut self.hashes);
                self.count += words.len() as u64;
                if self.placed {
                    self.starts.extend(words.iter().map(|word| places.of(*word)));
                }
            }
            GramUnit::Chars => {
                words.iter().for_each(|word| self.add(word.of(text), places.of(*word)));
            }
        }
    }

    /// Passes on complete features, and keeps the start of the next features.
    fn emit(&mut self, give: &mut impl FnMut(&[u64], &[usize])) {
        let GramWindow { recipe, hashes, chars, starts, features, places, .. } = self;
        let gram = recipe.gram as usize;
        features.clear();
        match recipe.unit {
            GramUnit::Words if gram == 1 => std::mem::swap(features, hashes),
            GramUnit::Words => {
                recipe.hash.grams(gram, hashes, features);
                hashes.drain(..hashes.len().saturating_sub(gram - 1));
            }
            GramUnit::Chars => {
                let passed = chars_grams(recipe.hash, gram, chars, features);
                chars.drain(..passed);
            }
        }
        // The place of a feature is the place of its last word.
        places.clear();
        places.extend(starts.iter().skip(gram - 1));
        starts.drain(..starts.len().saturating_sub(gram - 1));
        if recipe.modulo != 1 {
            if self.placed {
                assert_eq!(places.len(), features.len(), "a feature has its place");
                let mut chosen = features.iter().map(|feature| recipe.chooses(*feature));
                places.retain(|_| chosen.next() == Some(true));
            }
            features.retain(|feature| recipe.chooses(*feature));
        }
        if !features.is_empty() {
            give(features, places);
        }
    }

    /// Passes on the only feature of a text that is shorter than a full feature.
    fn finish(&mut self, give: &mut impl FnMut(&[u64], &[usize])) {
        let Recipe { unit, gram, hash, .. } = self.recipe;
        if self.count > 0 && self.count < u64::from(gram) {
            let whole = match (unit, &self.hashes[..]) {
                (GramUnit::Words, [one]) => *one,
                (GramUnit::Words, several) => {
                    let bytes: Vec<u8> = several.iter().flat_map(|h| h.to_le_bytes()).collect();
                    hash.of(&bytes)
                }
                (GramUnit::Chars, _) => hash.of(self.chars.as_bytes()),
            };
            if self.recipe.chooses(whole) {
                let last = self.starts.last();
                give(&[whole], last.map_or(&[], std::slice::from_ref));
            }
        }
        self.hashes.clear();
        self.chars.clear();
        self.starts.clear();
        self.count = 0;
    }
}

impl FeatureHash {
    /// Appends the hashes of all runs of `gram` words.
    fn grams(self, gram: usize, words: &[u64], out: &mut Vec<u64>) {
        match gram {
            2 => self.grams_of::<2>(words, out),
            3 => self.grams_of::<3>(words, out),
            4 => self.grams_of::<4>(words, out),
            5 => self.grams_of::<5>(words, out),
            6 => self.grams_of::<6>(words, out),
            7 => self.grams_of::<7>(words, out),
            _ => self.grams_of::<{ GRAM_MAX as usize }>(words, out),
        }
    }

    /// With a constant length, the hash compiles to a few instructions.
    fn grams_of<const N: usize>(self, words: &[u64], out: &mut Vec<u64>) {
        let grams = words.array_windows::<N>();
        out.extend(grams.map(|gram| self.of(gram.map(u64::to_le_bytes).as_flattened())));
    }
}

/// Appends the hashes of all runs of `gram` characters, and returns the byte offset of the next
/// feature.
#[expect(clippy::indexing_slicing, reason = "the range starts and ends at characters")]
fn chars_grams(hash: FeatureHash, gram: usize, chars: &str, out: &mut Vec<u64>) -> usize {
    if chars.is_ascii() {
        out.extend(chars.as_bytes().windows(gram).map(|gram| hash.of(gram)));
        return chars.len().saturating_sub(gram - 1);
    }
    let ends = chars.char_indices().map(|(at, c)| at + c.len_utf8());
    let mut passed = 0;
    for ((start, first), end) in chars.char_indices().zip(ends.skip(gram - 1)) {
        out.push(hash.of(&chars.as_bytes()[start..end]));
        passed = start + first.len_utf8();
    }
    passed
}

#[cfg(test)]
mod tests {
    use super::super::Ratio;
    use super::*;

    fn grams(recipe: &Recipe, text: &str) -> Vec<(u64, usize)> {
        // Makes the recipe record places.
        let mut grams = Grams::new(&recipe.boost(Ratio::ZERO), FingerprintKernel::fastest());
        let mut found = Vec::new();
        for _ in 0..2 {
            found.clear();
            let mut add = |hashes: &[u64], places: &[usize]| {
                assert_eq!(hashes.len(), places.len());
                found.extend(hashes.iter().copied().zip(places.iter().copied()));
            };
            grams.push(text, &mut add);
            grams.finish(add);
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
        let jenkins_of_two = grams(&Recipe::words(2).hash(FeatureHash::Jenkins), "a b");
        let both = [jenkins(b"a").to_le_bytes(), jenkins(b"b").to_le_bytes()].concat();
        assert_eq!(jenkins_of_two, [(jenkins(&both), 2)]);
    }

    #[test]
    fn character_grams_span_words_with_one_space() {
        let of = |gram: &str| xxh3_64(gram.as_bytes());
        let expected = ["é b", " be", "bee"].map(of).to_vec();
        let found: Vec<u64> = grams(&Recipe::chars(3), "É ... Bee").iter().map(|f| f.0).collect();
        assert_eq!(found, expected);
        assert_eq!(grams(&Recipe::chars(3), "Éa"), [(of("éa"), 0)]);
        assert_eq!(grams(&Recipe::chars(2), "北京会"), [(of("北京"), 0), (of("京会"), 0)]);
        assert_eq!(grams(&Recipe::chars(1), ""), []);
    }

    #[test]
    fn omitted_words_make_their_neighbours_adjacent() {
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
    fn features_are_selected_by_hash() {
        let text: String = (0..400).map(|n| format!("w{n} ")).collect();
        let all = grams(&Recipe::words(1), &text);
        let chosen = grams(&Recipe::words(1).modulo(4), &text);
        assert!((60..140).contains(&chosen.len()));
        assert!(chosen.iter().all(|feature| all.contains(feature)));
        // Words with these hashes are found at any position, and none of their bits is always the
        // same.
        let one = grams(&Recipe::words(1).modulo(4), "other words, and w7");
        assert_eq!(one.contains(&(of_words(&["w7"]), 16)), chosen.contains(&all[7]));
        let (some, every) = chosen.iter().fold((0, u64::MAX), |(o, a), f| (o | f.0, a & f.0));
        assert_eq!((some, every), (u64::MAX, 0));
    }
}
