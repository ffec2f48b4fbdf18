//! Words that are neither common nor rare.

use std::fmt;
use std::ops::RangeInclusive;

use super::fixed;
use super::frequencies::{Frequencies, look_up};
use super::ratio::Ratio;
use super::recipe::Recipe;
use crate::fingerprint::error::{FingerprintError, Result};

/// The words of a frozen table whose rarity lies in a range, for [`IMatch`](super::IMatch).
///
/// The rarity of a word is ln(*N*/df) / ln *N*, where df of the table's *N* documents contain the
/// word: 0 for a word in all documents, and 1 for a word in a single document. The range includes
/// both ends. Logarithms are rounded, so a word within 5·10⁻⁵ / ln *N* of an end counts as
/// included. A word that is not in the table is in no lexicon.
///
/// ```
/// use simkeep::fingerprint::{InMemoryFrequencies, FeatureSet, Lexicon, Recipe, Ratio};
/// let words = Recipe::words(1);
/// let mut counted = InMemoryFrequencies::new(&words);
/// ["the red house", "the blue house", "the car", "the dog"].iter().for_each(|text| counted.add(text));
/// // "the" has the rarity 0, "house" 0.5, and the others 1.
/// let lexicon = Lexicon::new(&counted, Ratio::percent(25)..=Ratio::percent(75))?;
/// let mut set = FeatureSet::new(&words);
/// assert_eq!(lexicon.of_words(set.of_text("the house of the dog"))?, set.of_text("house"));
/// # Ok::<(), simkeep::Error>(())
/// ```
#[derive(Clone, Copy)]
pub struct Lexicon<'t> {
    table: &'t dyn Frequencies,
    least: Ratio,
    most: Ratio,
}

/// The tolerance, in units of 2⁻¹⁶, when comparing a difference of two logarithms with a share of a
/// logarithm: each of the three logarithms is rounded.
const ROUNDED: u64 = 3;

impl<'t> Lexicon<'t> {
    /// Selects the words of this table with a rarity in this range.
    ///
    /// # Errors
    ///
    /// Returns [`FingerprintError::Invalid`] if the features of the table are not single words
    /// (`words1`), or of fewer than two documents. Also returns it if the range is empty or
    /// exceeds 1.
    pub fn new(table: &'t dyn Frequencies, rarity: RangeInclusive<Ratio>) -> Result<Lexicon<'t>> {
        let (words, of, documents) =
            (Recipe::words(1).features(), table.features(), table.documents());
        if of != words || documents < 2 {
            let what = format!(
                "a lexicon needs document frequencies of the features {words} from at least two \
                 documents, but the table has the features {of} of {documents} documents"
            );
            return Err(FingerprintError::Invalid(what));
        }
        let (least, most) = rarity.into_inner();
        if least > most || most > Ratio::ONE {
            let what = format!(
                "the range of rarities of a lexicon must ascend and be within 0 to 1, but it is \
                 {least} to {most}"
            );
            return Err(FingerprintError::Invalid(what));
        }
        Ok(Lexicon { table, least, most })
    }

    /// Returns the words that are in the lexicon, in the same order. Words are represented by their
    /// hashes, as [`FeatureSet::of_text`](super::FeatureSet::of_text) returns them for `words1`.
    /// Costs a table look-up for each word.
    ///
    /// # Errors
    ///
    /// Returns the errors of the table.
    pub fn of_words(&self, words: &[u64]) -> Result<Vec<u64>> {
        let mut frequencies = Vec::new();
        look_up(self.table, words, &mut frequencies)?;
        let found = words.iter().zip(frequencies).filter(|(_, df)| self.has(*df));
        Ok(found.map(|(word, _)| *word).collect())
    }

    /// Whether words that `df` documents contain are in the lexicon.
    fn has(&self, df: u64) -> bool {
        let all = fixed::ln(self.table.documents());
        let rarity = all.saturating_sub(fixed::ln(df.max(1)));
        let is_there =
            self.least.is_reached(rarity + ROUNDED, all) && rarity <= self.most.of(all) + ROUNDED;
        df > 0 && is_there
    }
}

impl fmt::Debug for Lexicon<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Lexicon { table, least, most } = self;
        write!(f, "Lexicon({least}..={most} of {} documents)", table.documents())
    }
}

#[cfg(test)]
mod tests {
    use super::super::InMemoryFrequencies;
    use super::*;

    /// Counts 100 documents; `n` of them contain the word `n`.
    fn counted() -> InMemoryFrequencies {
        let mut counted = InMemoryFrequencies::new(&Recipe::words(1));
        for document in 0..100 {
            counted.add_features(&(document + 1..=100).collect::<Vec<u64>>());
        }
        counted
    }

    #[test]
    fn lexicon_excludes_common_rare_and_unknown_words() {
        let counted = counted();
        let of = |rarity| {
            let words: Vec<u64> = (0..=101).collect();
            let found = Lexicon::new(&counted, rarity).unwrap().of_words(&words).unwrap();
            assert!(found.is_sorted());
            (found.first().copied(), found.last().copied(), found.len())
        };
        assert_eq!(of(Ratio::ZERO..=Ratio::ONE), (Some(1), Some(100), 100));
        assert_eq!(of(Ratio::ZERO..=Ratio::ZERO), (Some(100), Some(100), 1));
        assert_eq!(of(Ratio::ONE..=Ratio::ONE), (Some(1), Some(1), 1));
        // 100^(1-.75) = 3.2 and 100^(1-.25) = 31.6 documents.
        assert_eq!(of(Ratio::percent(25)..=Ratio::percent(75)), (Some(4), Some(31), 28));
    }

    /// Among n² documents, a word in n of them has rarity 1/2.
    #[test]
    fn range_of_a_lexicon_includes_both_ends() {
        let mut counted = InMemoryFrequencies::new(&Recipe::words(1));
        for n in 1..=40u64 {
            for document in (n - 1) * (n - 1)..n * n {
                // The word `m` in the first m documents.
                counted.add_features(&(document + 1..=40).collect::<Vec<u64>>());
            }
            let half = Ratio::percent(50);
            for rarity in [Ratio::ZERO..=half, half..=Ratio::ONE, half..=half] {
                let lexicon = (n > 1).then(|| Lexicon::new(&counted, rarity.clone()).unwrap());
                let found = lexicon.is_none_or(|l| l.of_words(&[n]).unwrap() == [n]);
                assert!(found, "{n} of {} by {rarity:?}", n * n);
                let beside =
                    lexicon.is_some_and(|l| l.of_words(&[n - 1, n + 1]).unwrap().len() == 2);
                assert!(!beside || rarity.start() != rarity.end(), "beside {n}");
            }
        }
    }

    #[test]
    fn unsuitable_tables_and_ranges_are_refused() {
        let refused = |counted: &InMemoryFrequencies, rarity| {
            Lexicon::new(counted, rarity).unwrap_err().to_string()
        };
        let all = Ratio::ZERO..=Ratio::ONE;
        assert!(
            refused(&InMemoryFrequencies::new(&Recipe::words(1)), all.clone())
                .contains("features words1 of 0 documents")
        );
        assert!(
            refused(&InMemoryFrequencies::new(&Recipe::words(2)), all)
                .contains("features words2 of 0 documents")
        );
        let counted = counted();
        assert!(refused(&counted, Ratio::ZERO..=Ratio::percent(101)).contains("it is 0 to 1.01"));
        assert!(
            refused(&counted, Ratio::percent(6)..=Ratio::percent(5)).contains("it is 0.06 to 0.05")
        );
        let debug = format!("{:?}", Lexicon::new(&counted, Ratio::ZERO..=Ratio::ONE).unwrap());
        assert_eq!(debug, "Lexicon(0..=1 of 100 documents)");
    }
}
