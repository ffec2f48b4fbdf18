//! Explains a fingerprint by its features.

use std::cmp::Reverse;
use std::collections::{HashMap, VecDeque};

use super::choices::{FieldWeight, GramUnit};
use super::document::Document;
use super::fingerprinter::{FingerprintState, Fingerprinter};
use super::frequencies::look_up;
use super::grams::{Grams, takes};
use super::kernel::FingerprintKernel;
use super::minwise::Minwise;
use super::recipe::Recipe;
use super::voting::{SimhashBuilder, hash_of_field};
use super::words::WordSplitter;
use crate::bug::OrBug;
use crate::fingerprint::error::Result;
use crate::order::sort_few_by_key;

/// The explanation of a fingerprint.
///
/// ```
/// use simkeep::fingerprint::{Document, Fingerprinter, Recipe};
/// let page = Document::new("A rose is a rose is a rose is a rose");
/// let explanation = Fingerprinter::new(&Recipe::DEFAULT)?.explain(&page, 2)?;
/// assert_eq!((explanation.features, explanation.heaviest.len()), (3, 2));
/// // The bit that flips first if the text changes.
/// let weakest = (0..64).min_by(|a, b| {
///     let margin = |bit: &usize| explanation.balance[*bit].abs();
///     margin(a).total_cmp(&margin(b))
/// });
/// println!("bit {}", weakest.unwrap());
/// # Ok::<(), simkeep::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct FingerprintExplanation {
    /// The fingerprint.
    pub fingerprint: u64,
    /// The number of distinct features in the text and, if the recipe uses them, the fields.
    pub features: usize,
    /// The number of features that vote; for a minwise recipe, the number of features that
    /// determine a bit.
    pub voting: usize,
    /// The heaviest features, the heaviest first; for a [minwise](super::Family::Minwise) recipe,
    /// the features that determine most bits.
    pub heaviest: Vec<Feature>,
    /// For each of the 64 bits, the lowest first, the margin of its vote as a share of the weight
    /// of all features: between -1 and 1, positive for a bit that is 1. The nearer to 0, the
    /// smaller a change of the document flips the bit. 0 for reserved bits. For a minwise recipe
    /// all bits have the same margin: each bit depends on one of the distinct features.
    pub balance: [f64; 64],
}

/// A feature of a document, such as two words.
///
/// ```
/// use simkeep::fingerprint::{Document, Fingerprinter, Recipe};
/// let page = Document::new("A rose is a rose is a rose is a rose");
/// let explanation = Fingerprinter::new(&Recipe::DEFAULT)?.explain(&page, 1)?;
/// let feature = &explanation.heaviest[0];
/// assert_eq!((feature.text.as_str(), feature.count), ("a rose", 4));
/// assert!(feature.share > 1.0 / 3.0); // "rose is" and "is a" occur three times each
/// # Ok::<(), simkeep::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Feature {
    /// The words or characters of the feature in lower case; the unchanged value of a field.
    pub text: String,
    /// Whether the feature has fewer words or characters than the recipe's n-grams. A text that
    /// short has a single feature. Only documents with exactly the same text share the feature.
    pub short: bool,
    /// The name of the field, if the feature is a field.
    pub field: Option<String>,
    /// The hash of the feature.
    pub hash: u64,
    /// The number of occurrences; for a field, the number of equal fields.
    pub count: u64,
    /// The number of documents with this feature, if the recipe uses document frequencies.
    pub frequency: Option<u64>,
    /// The feature's share of the weight of all features, from 0 to 1; for a minwise recipe, its
    /// share of the bits.
    pub share: f64,
}

/// A feature that votes, with its first position. Positions count the occurrences of features in
/// the text, then the fields.
struct Voter {
    hash: u64,
    /// The total weight of all occurrences of the feature.
    weight: u128,
    first: usize,
    count: u64,
}

impl Fingerprinter<'_> {
    /// Fingerprints a document, and explains the result. The result has the heaviest features, at
    /// most `limit` (ties by position), and how near each bit is to flipping.
    ///
    /// Reads the text three times, and takes some 50 bytes of memory for each distinct feature.
    ///
    /// ```
    /// use simkeep::fingerprint::{Document, Fingerprinter, Recipe};
    /// let mut fingerprinter = Fingerprinter::new(&Recipe::DEFAULT)?;
    /// let page = Document::new("The quick brown fox jumps over the lazy dog");
    /// let explanation = fingerprinter.explain(&page, 10)?;
    /// for feature in &explanation.heaviest {
    ///     println!("{:.0} % {}", 100.0 * feature.share, feature.text);
    /// }
    /// assert_eq!(explanation.fingerprint, fingerprinter.of(&page)?);
    /// # Ok::<(), simkeep::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Returns the errors of the document frequencies.
    pub fn explain(&mut self, document: &Document, limit: usize) -> Result<FingerprintExplanation> {
        let (places, occurrences) = places(&self.recipe, document.text());
        self.push(document.text());
        let taken = self.take_all(document);
        let FeatureWeights { weights, total, mut balance } = match &mut self.making {
            FingerprintState::Simhash(voting) => {
                FeatureWeights::by_vote(voting, &self.recipe, &places)
            }
            FingerprintState::Minwise(least) => {
                FeatureWeights::by_bits(&least.minwise, self.recipe.mask(), &places)
            }
        };
        let share = |weight: f64| if total == 0 { 0.0 } else { weight / total as f64 };
        // Reserved bits are metadata, for any vote.
        let reserved = balance.iter_mut().rev().take(self.recipe.reserved as usize);
        reserved.for_each(|balance| *balance = 0.0);
        let fingerprint = self.empty(document);
        let of_field = taken?;

        let mut voters: Vec<Voter> = Vec::new();
        for (&hash, &(first, count)) in &places {
            let weight = weights.get(&hash).copied();
            voters.extend(weight.map(|weight| Voter { hash, weight, first, count }));
        }
        let fields = match self.recipe.fields {
            FieldWeight::None => &[][..],
            FieldWeight::Share(_) | FieldWeight::Flip => document.fields(),
        };
        // Each of several equal fields votes, but all of them are one feature.
        let mut equal: HashMap<u64, (usize, u64)> = HashMap::new();
        for (first, (name, value)) in (occurrences..).zip(fields) {
            equal.entry(hash_of_field(self.recipe.hash, name, value)).or_insert((first, 0)).1 += 1;
        }
        let features = places.len() + equal.len();
        voters.extend(equal.into_iter().filter(|_| of_field > 0).map(|(hash, (first, count))| {
            Voter { hash, weight: u128::from(of_field) * u128::from(count), first, count }
        }));
        sort_few_by_key(&mut voters, |voter| (Reverse(voter.weight), voter.first));
        let voting = voters.len();
        voters.truncate(limit);

        let mut frequencies = Vec::new();
        if self.recipe.needs_frequencies() {
            let table = self.frequencies.or_bug("each recipe that needs a table has a table")?;
            let hashes: Vec<u64> = voters.iter().map(|voter| voter.hash).collect();
            look_up(table, &hashes, &mut frequencies)?;
        }
        let (mut texts, short) = FeatureTexts::of(&self.recipe, document.text(), &voters);
        let heaviest = voters.iter().enumerate().map(|(nth, voter)| {
            let field = voter.first.checked_sub(occurrences).and_then(|nth| fields.get(nth));
            Ok(Feature {
                text: match field {
                    Some((_, value)) => value.clone(),
                    None => texts.remove(&voter.first).or_bug("a feature has a text")?,
                },
                short: short && field.is_none(),
                field: field.map(|(name, _)| name.clone()),
                hash: voter.hash,
                count: voter.count,
                frequency: frequencies.get(nth).copied().filter(|_| field.is_none()),
                share: share(voter.weight as f64),
            })
        });
        let heaviest = heaviest.collect::<Result<_>>()?;
        Ok(FingerprintExplanation { fingerprint, features, voting, heaviest, balance })
    }
}

/// For each distinct feature of a text, the number of its first occurrence and its count.
type FeatureOccurrences = HashMap<u64, (usize, u64)>;

/// Returns the positions of features, and the number of occurrences including features that are not
/// chosen.
fn places(recipe: &Recipe, text: &str) -> (FeatureOccurrences, usize) {
    let (mut places, mut occurrences) = (FeatureOccurrences::new(), 0);
    let mut take = |hashes: &[u64]| {
        for hash in hashes {
            if recipe.chooses(*hash) {
                places.entry(*hash).or_insert((occurrences, 0)).1 += 1;
            }
            occurrences += 1;
        }
    };
    let every = Recipe { modulo: 1, ..*recipe };
    let mut grams = Grams::new(&every, FingerprintKernel::PORTABLE);
    grams.push(text, |hashes, _| take(hashes));
    grams.finish(|hashes, _| take(hashes));
    (places, occurrences)
}

/// The weights of a text's features and the margins of bits.
struct FeatureWeights {
    /// The weights of the features that vote.
    weights: HashMap<u64, u128>,
    /// The total weight, fields included.
    total: u128,
    balance: [f64; 64],
}

impl FeatureWeights {
    fn by_vote(
        voting: &mut SimhashBuilder,
        recipe: &Recipe,
        places: &FeatureOccurrences,
    ) -> FeatureWeights {
        let total = voting.vote.total();
        let share = |weight: i128| if total == 0 { 0.0 } else { weight as f64 / total as f64 };
        let counts = |(hash, (_, count)): (&u64, &(usize, u64))| match recipe.is_plain() {
            true => (*hash, u128::from(*count)),
            false => (*hash, u128::from(recipe.counts.weight(*count))),
        };
        FeatureWeights {
            weights: match recipe.counts_alone() {
                true => places.iter().map(counts).collect(),
                false => voting.weights.weighed.iter().map(|f| (f.0, f.1.into())).collect(),
            },
            total,
            balance: voting.vote.balance().map(share),
        }
    }

    /// Weighs each feature by the number of bits that it determines.
    fn by_bits(minwise: &Minwise, mask: u64, places: &FeatureOccurrences) -> FeatureWeights {
        let bits = |feature: &u64| (minwise.bits_of(*feature) & mask).count_ones();
        let given = |feature: &u64| (*feature, u128::from(bits(feature)));
        let weights: HashMap<u64, u128> =
            places.keys().map(given).filter(|(_, bits)| *bits > 0).collect();
        let each = if places.is_empty() { 0.0 } else { 1.0 / places.len() as f64 };
        let mut balance = [0.0; 64];
        for (bit, balance) in balance.iter_mut().enumerate().filter(|_| !weights.is_empty()) {
            *balance = if minwise.fingerprint() >> bit & 1 == 1 { each } else { -each };
        }
        FeatureWeights { total: weights.values().sum(), weights, balance }
    }
}

/// Recovers the text of features.
struct FeatureTexts<'r> {
    recipe: &'r Recipe,
    /// The last words or characters, and the number of words or characters read so far.
    window: VecDeque<String>,
    count: usize,
    /// The recovered texts by the number of the occurrence.
    found: HashMap<usize, String>,
}

impl FeatureTexts<'_> {
    /// Returns the texts of the first occurrences, and whether the document is shorter than a
    /// feature.
    fn of(recipe: &Recipe, text: &str, voters: &[Voter]) -> (HashMap<usize, String>, bool) {
        let found = voters.iter().map(|voter| (voter.first, String::new())).collect();
        let mut texts = FeatureTexts { recipe, window: VecDeque::new(), count: 0, found };
        let mut words =
            WordSplitter::new(FingerprintKernel::PORTABLE, recipe.unit == GramUnit::Chars);
        words.push(text, |word: &[u8], _: usize| texts.word(word));
        words.finish(|word: &[u8], _: usize| texts.word(word));
        let short = texts.count < recipe.gram as usize;
        if short {
            let whole = texts.whole();
            texts.found.insert(0, whole);
        }
        (texts.found, short)
    }

    fn word(&mut self, word: &[u8]) {
        if !takes(self.recipe, word) {
            return;
        }
        let word = String::from_utf8_lossy(word);
        match self.recipe.unit {
            GramUnit::Words => self.unit(word.into_owned()),
            GramUnit::Chars => {
                let space = (self.count > 0).then_some(' ');
                space.into_iter().chain(word.chars()).for_each(|c| self.unit(c.into()));
            }
        }
    }

    fn unit(&mut self, unit: String) {
        let gram = self.recipe.gram as usize;
        if self.window.len() == gram {
            self.window.pop_front();
        }
        self.window.push_back(unit);
        self.count += 1;
        let whole = self.count.checked_sub(gram).filter(|nth| self.found.contains_key(nth));
        if let Some(nth) = whole {
            let whole = self.whole();
            self.found.insert(nth, whole);
        }
    }

    fn whole(&self) -> String {
        let between = if self.recipe.unit == GramUnit::Words { " " } else { "" };
        self.window.iter().map(String::as_str).collect::<Vec<_>>().join(between)
    }
}

#[cfg(test)]
mod tests {
    use super::super::{CountWeight, InMemoryFrequencies, Rarity, Ratio, of_text};
    use super::*;

    fn explain(recipe: &str, text: &str) -> FingerprintExplanation {
        let recipe: Recipe = recipe.parse().unwrap();
        let mut counted = InMemoryFrequencies::new(&recipe);
        ["the cat", "the dog", "the bird sings"].iter().for_each(|text| counted.add(text));
        let mut fingerprinter = Fingerprinter::with_frequencies(&recipe, &counted).unwrap();
        let explained = fingerprinter.explain(&Document::new(text), 3).unwrap();
        assert_eq!(fingerprinter.of_text(text).unwrap(), explained.fingerprint);
        for (bit, balance) in explained.balance.iter().enumerate() {
            assert_eq!(explained.fingerprint >> bit & 1 == 1, *balance > 0.0);
            assert!(balance.abs() <= 1.0);
        }
        explained
    }

    #[test]
    fn heaviest_features_are_named_with_their_weights() {
        let text = "The cat, the CAT and the bird!";
        let explained = explain("words1-raw/2", text);
        assert_eq!((explained.features, explained.voting), (4, 4));
        let found: Vec<_> =
            explained.heaviest.iter().map(|f| (&*f.text, f.count, f.share)).collect();
        assert_eq!(found, [("the", 3, 3.0 / 7.0), ("cat", 2, 2.0 / 7.0), ("and", 1, 1.0 / 7.0)]);
        let pairs = explain("default", text);
        let longer = "The cat, the CAT and the bird! And so on.";
        assert_eq!(Some(explain("default", longer).fingerprint), of_text(longer));
        assert_eq!((&*pairs.heaviest[0].text, pairs.heaviest[0].count), ("the cat", 2));
        let rare = Recipe::words(1).counts(CountWeight::Binary).rarity(Rarity::Log).top(2);
        let rare = explain(&rare.name(), text);
        assert_eq!((rare.features, rare.voting, &*rare.heaviest[0].text), (4, 2, "cat"));
        assert_eq!(rare.heaviest[0].frequency, Some(1));
        let chars = explain("chars2-mod3-raw/2", "Abab bab");
        assert!(chars.heaviest.iter().all(|f| f.text.chars().count() == 2));
    }

    #[test]
    fn fields_are_among_the_features() {
        let recipe = Recipe::words(1).fields(FieldWeight::Share(Ratio::percent(150)));
        let mut document = Document::new("some words and some more");
        document.field("author", "Jane Doe");
        let mut fingerprinter = Fingerprinter::new(&recipe).unwrap();
        let explained = fingerprinter.explain(&document, 2).unwrap();
        assert_eq!(explained.fingerprint, fingerprinter.of(&document).unwrap());
        assert_eq!((explained.features, explained.voting), (5, 5));
        let heaviest = explained.heaviest.iter().map(|f| (f.field.as_deref(), &*f.text));
        let expected = [(Some("author"), "Jane Doe"), (None, "some")];
        assert_eq!(heaviest.collect::<Vec<_>>(), expected);
        let without = Fingerprinter::new(&Recipe::words(1)).unwrap().explain(&document, 9).unwrap();
        assert_eq!((without.features, without.heaviest.len()), (4, 4));
    }

    #[test]
    fn equal_fields_are_one_feature_with_their_total_weight() {
        let recipe = Recipe::words(1)
            .counts(CountWeight::Raw)
            .fields(FieldWeight::Share(Ratio::percent(100)));
        let mut document = Document::new("some words");
        for (name, value) in [("tag", "red"), ("tag", "red"), ("tag", "blue"), ("kind", "red")] {
            document.field(name, value);
        }
        let mut fingerprinter = Fingerprinter::new(&recipe).unwrap();
        let explained = fingerprinter.explain(&document, 9).unwrap();
        assert_eq!(explained.fingerprint, fingerprinter.of(&document).unwrap());
        assert_eq!((explained.features, explained.voting), (5, 5));
        let heaviest = explained.heaviest.iter().map(|f| (f.field.as_deref(), &*f.text, f.count));
        let expected = [
            (Some("tag"), "red", 2),
            (None, "some", 1),
            (None, "words", 1),
            (Some("tag"), "blue", 1),
            (Some("kind"), "red", 1),
        ];
        assert_eq!(heaviest.collect::<Vec<_>>(), expected);
        assert_eq!(explained.heaviest[0].share, 2.0 / 6.0);
    }

    #[test]
    fn reserved_bits_are_not_reported_as_close() {
        let recipe = Recipe::DEFAULT.reserved(8);
        let mut document = Document::new("some text of some words");
        document.set_metadata(0xff);
        let mut fingerprinter = Fingerprinter::new(&recipe).unwrap();
        let explained = fingerprinter.explain(&document, 1).unwrap();
        assert_eq!(explained.fingerprint >> 56, 0xff);
        assert!(explained.balance[56..] == [0.0; 8] && explained.balance[..56] != [0.0; 56]);
    }

    #[test]
    fn minwise_features_are_named_by_their_bits() {
        for recipe in
            ["words1-minwise/2", "words1-mod3-minwise-seed1/2", "words1-minwise-leave0.9/2"]
        {
            let explained = explain(recipe, "The cat, the CAT and the bird!");
            let given: f64 = explained.heaviest.iter().map(|feature| feature.share).sum();
            assert!(explained.voting > 0 && explained.voting <= explained.features);
            assert!(explained.voting > 3 || (given - 1.0).abs() < 1e-9, "{recipe}: {given}");
        }
        // All documents of the table contain the feature.
        let left = explain("words1-minwise-leave0.9/2", "The cat");
        assert_eq!((left.features, left.voting, &*left.heaviest[0].text), (2, 1, "cat"));
        assert_eq!((left.heaviest[0].share, left.heaviest[0].frequency), (1.0, Some(1)));
        let reserved = explain("words1-minwise-reserved8/2", "one");
        assert_eq!((reserved.voting, reserved.heaviest[0].share), (1, 1.0));
        assert_eq!(explain("near", " . ").balance, [0.0; 64]);
    }

    #[test]
    fn empty_text_can_be_explained() {
        let explained = explain("default", " . ");
        assert_eq!((explained.fingerprint, explained.features, explained.voting), (0, 0, 0));
        assert_eq!(explained.balance, [0.0; 64]);
        let short = &explain("strict", "two words").heaviest[0];
        assert_eq!((&*short.text, short.short), ("two words", true));
        assert!(!explain("default", "two words").heaviest[0].short);
    }
}
