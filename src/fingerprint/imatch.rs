//! Digests of the words of a text that are neither common nor rare.

use xxhash_rust::xxh3::{xxh3_64_with_seed, xxh3_128};

use super::feature_set::FeatureSet;
use super::lexicon::Lexicon;
use super::recipe::Recipe;
use crate::fingerprint::error::Result;

/// I-Match digests: hashes of the set of a text's words that are in a [`Lexicon`] (A. Chowdhury, O.
/// Frieder, D. Grossman, M. C. McCabe, *Collection statistics for fast duplicate document
/// detection*, 2002). Texts with equal digests are near-duplicates.
///
/// Adding or removing a single word of the lexicon changes the digest. Therefore `N` may exceed 1:
/// each further digest uses a lexicon without a third of the words. Texts are near-duplicates if
/// one of the digests [agrees](Self::agrees) (A. Kołcz, A. Chowdhury, J. Alspector, *Improved
/// robustness of signature-based near-replica detection via lexicon randomization*, 2004).
///
/// Words are represented by their hashes, 64 bits each, as in all recipes. A digest is the XXH3-128
/// of the distinct hashes in ascending order, little-endian, so the order and the repetition of
/// words have no effect. Digest number 0 uses the whole lexicon. Digest number *n* leaves out each
/// word whose hash, as eight bytes little-endian, has an XXH3-64 with the seed *n* that is a
/// multiple of three. A digest takes 16 bytes.
///
/// ```
/// use simkeep::fingerprint::{InMemoryFrequencies, IMatch, Lexicon, Recipe, Ratio};
/// let mut counted = InMemoryFrequencies::new(&Recipe::words(1));
/// ["the red house", "the blue house", "the car", "the dog"].iter().for_each(|text| counted.add(text));
/// // "the" is too common, and "red" too rare.
/// let lexicon = Lexicon::new(&counted, Ratio::percent(10)..=Ratio::percent(90))?;
/// let of = |text| IMatch::<1>::of(text, &lexicon);
/// assert!(of("The red house")?.agrees(&of("A blue house!")?));
/// assert!(!of("the dog")?.agrees(&of("the dog")?));
/// # Ok::<(), simkeep::Error>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct IMatch<const N: usize> {
    digests: [Option<u128>; N],
}

impl<const N: usize> IMatch<N> {
    /// Computes the digests of a text. Costs a table look-up for each distinct word, and for each
    /// digest a hash of each word in the lexicon.
    ///
    /// # Errors
    ///
    /// Returns the errors of the lexicon's table.
    pub fn of(text: &str, lexicon: &Lexicon<'_>) -> Result<IMatch<N>> {
        let mut set = FeatureSet::new(&Recipe::words(1));
        // The words are ascending and distinct, regardless of their order in the text.
        let words = lexicon.of_words(set.of_text(text))?;
        Ok(IMatch { digests: std::array::from_fn(|n| digest(&words, n as u64)) })
    }

    /// Whether at least one digest is equal in both. A text without words in the lexicon agrees
    /// with no text, not even with itself.
    pub fn agrees(&self, other: &IMatch<N>) -> bool {
        self.digests.iter().zip(&other.digests).any(|(a, b)| a.is_some() && a == b)
    }

    /// Restores the digests of a text from stored [digests](Self::digests).
    pub fn from_digests(digests: [Option<u128>; N]) -> IMatch<N> {
        IMatch { digests }
    }

    /// Returns the digests, the first by the whole lexicon. The digest of no words is `None`, and
    /// is not comparable.
    ///
    /// ```
    /// use simkeep::fingerprint::{IMatch, InMemoryFrequencies, Lexicon, Ratio, Recipe};
    /// let mut counted = InMemoryFrequencies::new(&Recipe::words(1));
    /// ["the red house", "the blue house", "the car", "the dog"].iter().for_each(|text| counted.add(text));
    /// let lexicon = Lexicon::new(&counted, Ratio::percent(10)..=Ratio::percent(90))?;
    /// let house = IMatch::<1>::of("The red house", &lexicon)?;
    /// let kept: [Option<u128>; 1] = *house.digests(); // in a file of your own
    /// assert!(IMatch::from_digests(kept).agrees(&house));
    /// # Ok::<(), simkeep::Error>(())
    /// ```
    pub fn digests(&self) -> &[Option<u128>; N] {
        &self.digests
    }
}

/// Computes the digest of this number.
fn digest(words: &[u64], n: u64) -> Option<u128> {
    let is_left = |word: &[u8; 8]| n == 0 || !xxh3_64_with_seed(word, n).is_multiple_of(3);
    let left: Vec<[u8; 8]> = words.iter().map(|word| word.to_le_bytes()).filter(is_left).collect();
    (!left.is_empty()).then(|| xxh3_128(left.as_flattened()))
}

#[cfg(test)]
mod tests {
    use super::super::{InMemoryFrequencies, Ratio};
    use super::*;

    /// Counts 60 documents; `n` of them contain the word with number `n`.
    fn counted() -> InMemoryFrequencies {
        let mut counted = InMemoryFrequencies::new(&Recipe::words(1));
        for document in 0..60 {
            counted.add(&text(document + 1..=60));
        }
        counted
    }

    fn text(words: impl IntoIterator<Item = u32>) -> String {
        words.into_iter().map(|word| format!("w{word} ")).collect()
    }

    #[test]
    fn only_the_set_of_lexicon_words_matters() {
        let counted = counted();
        // Words in 7.7 to 39.8 of the 60 documents.
        let lexicon = Lexicon::new(&counted, Ratio::percent(10)..=Ratio::percent(50)).unwrap();
        let of = |text: &str| *IMatch::<4>::of(text, &lexicon).unwrap().digests();
        let some = of(&text(10..30));
        assert_eq!(some, of(&text((10..30).rev())));
        assert_eq!(some, of(&(text(10..30) + &text(10..20))));
        assert_eq!(some, of(&text((10..30).chain(45..60).chain(0..5))));
        assert_eq!(some, of(&(text(10..30).to_uppercase() + "and others")));
        assert_ne!(some[0], of(&text(10..29))[0]);
        assert!(some.iter().all(Option::is_some));
        assert_eq!(some.iter().collect::<std::collections::HashSet<_>>().len(), 4);
    }

    #[test]
    fn texts_without_lexicon_words_agree_with_nothing() {
        let counted = counted();
        let lexicon = Lexicon::new(&counted, Ratio::ZERO..=Ratio::ONE).unwrap();
        for text in ["", "and others", "w61 w0"] {
            let nothing = IMatch::<4>::of(text, &lexicon).unwrap();
            assert!(nothing.digests() == &[None; 4] && !nothing.agrees(&nothing));
        }
    }

    #[test]
    fn more_lexicons_tolerate_more_changes() {
        let counted = counted();
        let lexicon = Lexicon::new(&counted, Ratio::ZERO..=Ratio::ONE).unwrap();
        let of = |words: &mut dyn Iterator<Item = u32>| {
            IMatch::<10>::of(&text(words), &lexicon).unwrap()
        };
        let whole = of(&mut (1..=60));
        let without = |word: u32| of(&mut (1..=60).filter(|other| *other != word));
        let agreeing = (1..=60).filter(|word| whole.agrees(&without(*word))).count();
        // One of nine lexicons leaves a word out with the probability 1 - (2/3)^9 = .97.
        assert!(agreeing >= 54, "{agreeing}");
        assert!((1..=60).all(|word| whole.digests()[0] != without(word).digests()[0]));
    }

    #[test]
    fn digests_never_change() {
        let counted = counted();
        let lexicon = Lexicon::new(&counted, Ratio::percent(10)..=Ratio::percent(50)).unwrap();
        let found = IMatch::<3>::of(&text(1..=60), &lexicon).unwrap();
        let expected = [
            0xdf06_44a4_cf77_f58b_5340_d4df_5de8_6f3a,
            0x9d14_628f_6a0b_bb0f_0bf6_2196_a44e_1c6c,
            0x1576_a442_5ca1_88fe_6c71_665d_5543_d559,
        ];
        assert_eq!(found.digests(), &expected.map(Some), "{found:#x?}");
        assert!(IMatch::from_digests(expected.map(Some)).agrees(&found));
    }
}
