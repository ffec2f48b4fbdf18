//! The definition of a fingerprint.

use xxhash_rust::xxh3::xxh3_64_with_seed;

use super::choices::{
    CountWeight, Family, FeatureHash, FieldWeight, GramUnit, PositionWeight, Rarity,
};
use super::ratio::Ratio;

/// The longest n-gram.
pub(super) const GRAM_MAX: u32 = 8;

/// Defines how a document becomes 64 bits: its features, their weights, and the hash.
///
/// A recipe has a [name](Recipe::name), which specifies it completely and can be
/// [parsed](std::str::FromStr): `words2-sqrt/2` means pairs of neighbouring words, each weighing
/// the square root of its number of occurrences. Fingerprints of recipes with different names are
/// not comparable. A name never changes its meaning, so a fingerprint can be recomputed at any
/// time.
///
/// Some recipes also have a [short name](Recipe::PRESETS).
///
/// ```
/// use simkeep::fingerprint::{CountWeight, Rarity, Recipe};
/// let recipe = Recipe::words(1).counts(CountWeight::Sqrt).rarity(Rarity::Log);
/// assert_eq!(recipe.name(), "words1-sqrt-idf/2");
/// assert_eq!("words1-sqrt-idf/2".parse(), Ok(recipe));
/// assert_eq!("words-idf".parse(), Ok(recipe));
/// ```
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub struct Recipe {
    pub(super) unit: GramUnit,
    pub(super) gram: u32,
    pub(super) hash: FeatureHash,
    pub(super) without_numbers: bool,
    pub(super) without_stop_words: bool,
    pub(super) modulo: u32,
    pub(super) family: Family,
    pub(super) leave_out: Option<Ratio>,
    pub(super) counts: CountWeight,
    pub(super) rarity: Rarity,
    pub(super) scaling: PositionWeight,
    pub(super) boost: Ratio,
    pub(super) fields: FieldWeight,
    pub(super) at_least: Ratio,
    pub(super) at_most: Ratio,
    pub(super) top: u32,
    pub(super) cap: u32,
    pub(super) seed: u32,
    pub(super) reserved: u32,
}

impl Recipe {
    /// N-grams of words (1 to 8 of them), each weighing the square root of its number of
    /// occurrences.
    ///
    /// ```
    /// use simkeep::fingerprint::Recipe;
    /// assert_eq!(Recipe::words(2), Recipe::DEFAULT);
    /// ```
    pub const fn words(n: u32) -> Recipe {
        Recipe::grams(GramUnit::Words, n)
    }

    /// N-grams of characters (1 to 8 of them), taken from the words in lower case with one space
    /// between them. Each weighs the square root of its number of occurrences.
    ///
    /// ```
    /// use simkeep::fingerprint::Recipe;
    /// assert_eq!(Recipe::chars(4).name(), "chars4-sqrt/2");
    /// ```
    pub const fn chars(n: u32) -> Recipe {
        Recipe::grams(GramUnit::Chars, n)
    }

    pub(super) const fn grams(unit: GramUnit, n: u32) -> Recipe {
        let gram = match n {
            0 => 1,
            n if n > GRAM_MAX => GRAM_MAX,
            n => n,
        };
        Recipe {
            unit,
            gram,
            hash: FeatureHash::Xxh3,
            without_numbers: false,
            without_stop_words: false,
            modulo: 1,
            family: Family::Simhash,
            leave_out: None,
            counts: CountWeight::Sqrt,
            rarity: Rarity::None,
            scaling: PositionWeight::None,
            boost: Ratio::ONE,
            fields: FieldWeight::None,
            at_least: Ratio::ZERO,
            at_most: Ratio::ONE,
            top: u32::MAX,
            cap: 1,
            seed: 0,
            reserved: 0,
        }
    }

    /// Sets the hash.
    ///
    /// ```
    /// use simkeep::fingerprint::{FeatureHash, Recipe};
    /// assert_eq!(Recipe::words(1).hash(FeatureHash::Xxh3), Recipe::words(1)); // the default
    /// ```
    #[must_use]
    pub const fn hash(mut self, hash: FeatureHash) -> Recipe {
        self.hash = hash;
        self
    }

    /// Leaves out words that contain a numeral, and the English names of months and weekdays that
    /// have no other meaning: `nonumbers`.
    ///
    /// ```
    /// use simkeep::fingerprint::{Fingerprinter, Recipe};
    /// let mut fingerprinter = Fingerprinter::new(&Recipe::words(2).without_numbers())?;
    /// let today = fingerprinter.of_text("Last updated 12 February 2024: nothing has happened")?;
    /// assert_eq!(fingerprinter.of_text("Last updated 3 September 2025: nothing has happened")?, today);
    /// # Ok::<(), simkeep::Error>(())
    /// ```
    #[must_use]
    pub const fn without_numbers(mut self) -> Recipe {
        self.without_numbers = true;
        self
    }

    /// Leaves out the commonest English words: `nostopwords`.
    ///
    /// ```
    /// use simkeep::fingerprint::{Fingerprinter, Recipe};
    /// let mut fingerprinter = Fingerprinter::new(&Recipe::words(1).without_stop_words())?;
    /// let title = fingerprinter.of_text("The history of the fish and of the chips")?;
    /// assert_eq!(fingerprinter.of_text("history of fish and chips")?, title);
    /// # Ok::<(), simkeep::Error>(())
    /// ```
    #[must_use]
    pub const fn without_stop_words(mut self) -> Recipe {
        self.without_stop_words = true;
        self
    }

    /// Keeps one in `p` features, chosen by their hashes in the same way in all documents: `mod4`.
    ///
    /// ```
    /// use simkeep::fingerprint::{FeatureSet, Recipe};
    /// let text: String = (0..1_000).map(|n| format!("word{n} ")).collect();
    /// let mut quarter = FeatureSet::new(&Recipe::words(1).modulo(4));
    /// assert!((200..300).contains(&quarter.of_text(&text).len())); // about 250 of 1,000 words
    /// ```
    #[must_use]
    pub const fn modulo(mut self, p: u32) -> Recipe {
        self.modulo = if p == 0 { 1 } else { p };
        self
    }

    /// Uses the one-bit [minwise hash](super::Minwise) of the set of features instead of the
    /// simhash: `minwise`. Features of a minwise hash have no weights, so options for weights and
    /// fields are invalid with `minwise`.
    ///
    /// ```
    /// use simkeep::fingerprint::Recipe;
    /// let recipe = Recipe::words(4).minwise();
    /// assert_eq!(recipe.preset().map(|preset| preset.name), Some("near"));
    /// ```
    #[must_use]
    pub const fn minwise(mut self) -> Recipe {
        self.family = Family::Minwise;
        self
    }

    /// Leaves out features that at least a share of the documents of a frozen table have, for
    /// minwise hashes: `leave0.2`. A table of 30 to 200 pages of a site identifies its template.
    /// The share is more than 0 and at most 1, and refers to all documents of the table: in a table
    /// of ten sites no site's template has a share of .2. A feature that is not in the table is
    /// kept. A page that consists only of the template has no features left, and has the
    /// fingerprint 0.
    ///
    /// ```
    /// use simkeep::fingerprint::{Fingerprinter, InMemoryFrequencies, Ratio, Recipe};
    /// let recipe = Recipe::words(1).minwise().leave_out(Ratio::percent(60));
    /// // The pages of a site share a menu.
    /// let pages = ["home shop contact fresh fish", "home shop contact hot chips"];
    /// let mut counted = InMemoryFrequencies::new(&recipe);
    /// pages.iter().for_each(|page| counted.add(page));
    /// let mut fingerprinter = Fingerprinter::with_frequencies(&recipe, &counted)?;
    /// assert_eq!(fingerprinter.of_text(pages[0])?, fingerprinter.of_text("fresh fish")?);
    /// # Ok::<(), simkeep::Error>(())
    /// ```
    #[must_use]
    pub const fn leave_out(mut self, share: Ratio) -> Recipe {
        self.leave_out = Some(share);
        self
    }

    /// Sets the weight of a feature by its number of occurrences.
    ///
    /// ```
    /// use simkeep::fingerprint::{CountWeight, Fingerprinter, Recipe};
    /// let recipe = Recipe::words(1).counts(CountWeight::Binary);
    /// let mut fingerprinter = Fingerprinter::new(&recipe)?;
    /// // It does not matter how often a word occurs.
    /// assert_eq!(fingerprinter.of_text("fish fish fish chips")?, fingerprinter.of_text("fish chips")?);
    /// # Ok::<(), simkeep::Error>(())
    /// ```
    #[must_use]
    pub const fn counts(mut self, counts: CountWeight) -> Recipe {
        self.counts = counts;
        self
    }

    /// Multiplies weights by the rarity of features.
    ///
    /// ```
    /// use simkeep::fingerprint::{Rarity, Recipe};
    /// assert_eq!("words-idf".parse(), Ok(Recipe::words(1).rarity(Rarity::Log)));
    /// ```
    #[must_use]
    pub const fn rarity(mut self, rarity: Rarity) -> Recipe {
        self.rarity = rarity;
        self
    }

    /// Multiplies weights by the positions of a feature: by the mean over its occurrences.
    ///
    /// ```
    /// use simkeep::fingerprint::{PositionWeight, Recipe};
    /// let recipe = Recipe::words(2).scaling(PositionWeight::Front);
    /// assert!(recipe.name().contains("front"));
    /// ```
    #[must_use]
    pub const fn scaling(mut self, scaling: PositionWeight) -> Recipe {
        self.scaling = scaling;
        self
    }

    /// Multiplies the weight of occurrences in titles, headings, emphasised text and anchors:
    /// `marked1.5`. The position of an n-gram is the position of its last word.
    ///
    /// ```
    /// use simkeep::fingerprint::{Ratio, Recipe};
    /// let recipe = Recipe::words(2).boost(Ratio::thousandths(1_500));
    /// assert!(recipe.name().contains("marked1.5"));
    /// ```
    #[must_use]
    pub const fn boost(mut self, times: Ratio) -> Recipe {
        self.boost = times;
        self
    }

    /// Uses a document's fields as features.
    ///
    /// ```
    /// use simkeep::fingerprint::{FieldWeight, Ratio, Recipe};
    /// let recipe = Recipe::words(2).fields(FieldWeight::Share(Ratio::percent(50)));
    /// assert!(recipe.name().contains("fields0.5"));
    /// ```
    #[must_use]
    pub const fn fields(mut self, fields: FieldWeight) -> Recipe {
        self.fields = fields;
        self
    }

    /// Leaves out features that weigh less than a share of the heaviest: `from0.01`.
    ///
    /// ```
    /// use simkeep::fingerprint::{CountWeight, Fingerprinter, Ratio, Recipe};
    /// let recipe = Recipe::words(1).counts(CountWeight::Raw).at_least(Ratio::percent(50));
    /// let mut fingerprinter = Fingerprinter::new(&recipe)?;
    /// // "salad" weighs a third of "fish".
    /// let text = "fish fish fish chips chips salad";
    /// assert_eq!(fingerprinter.of_text(text)?, fingerprinter.of_text("fish fish fish chips chips")?);
    /// # Ok::<(), simkeep::Error>(())
    /// ```
    #[must_use]
    pub const fn at_least(mut self, share: Ratio) -> Recipe {
        self.at_least = share;
        self
    }

    /// Leaves out features that weigh more than a share of the heaviest: `to0.8`.
    #[must_use]
    pub const fn at_most(mut self, share: Ratio) -> Recipe {
        self.at_most = share;
        self
    }

    /// Keeps only the `n` heaviest features (ties go to the lower hash): `top20`.
    ///
    /// ```
    /// use simkeep::fingerprint::{Fingerprinter, Recipe};
    /// let mut fingerprinter = Fingerprinter::new(&Recipe::words(1).top(1))?;
    /// let text = "fish fish chips"; // the heaviest word alone counts
    /// assert_eq!(fingerprinter.of_text(text)?, fingerprinter.of_text("fish")?);
    /// # Ok::<(), simkeep::Error>(())
    /// ```
    #[must_use]
    pub const fn top(mut self, n: u32) -> Recipe {
        self.top = if n == 0 { 1 } else { n };
        self
    }

    /// Caps the weight of features at the weight of the `n`-th heaviest feature, if the document
    /// has that many: `cap5`.
    ///
    /// ```
    /// use simkeep::fingerprint::{Fingerprinter, Recipe};
    /// let mut fingerprinter = Fingerprinter::new(&Recipe::words(1).cap(2))?;
    /// // "fish" weighs no more than "chips", the second heaviest word.
    /// let capped = fingerprinter.of_text("fish fish fish fish chips")?;
    /// assert_eq!(capped, fingerprinter.of_text("fish chips")?);
    /// # Ok::<(), simkeep::Error>(())
    /// ```
    #[must_use]
    pub const fn cap(mut self, n: u32) -> Recipe {
        self.cap = if n == 0 { 1 } else { n };
        self
    }

    /// Uses other hashes of the same features, for a nonzero seed: `seed1`. The quality of a recipe
    /// is partly due to chance in its hashes: compare the mean over several seeds.
    ///
    /// ```
    /// use simkeep::fingerprint::{Fingerprinter, Recipe};
    /// let text = "The quick brown fox jumps over the lazy dog";
    /// let of = |recipe: &Recipe| Fingerprinter::new(recipe)?.of_text(text);
    /// assert_ne!(of(&Recipe::DEFAULT)?, of(&Recipe::DEFAULT.seed(1))?);
    /// # Ok::<(), simkeep::Error>(())
    /// ```
    #[must_use]
    pub const fn seed(mut self, n: u32) -> Recipe {
        self.seed = n;
        self
    }

    /// Puts the document's [metadata](super::Document::metadata) into the leading `bits` (at
    /// most 32) of a fingerprint: `reserved8`. A [distance](Recipe::distance) ignores these bits. The
    /// search of a store has no option for reserved bits: it includes them in distances.
    ///
    /// ```
    /// use simkeep::fingerprint::{Document, Fingerprinter, Recipe};
    /// let recipe = Recipe::DEFAULT.reserved(8);
    /// let mut fingerprinter = Fingerprinter::new(&recipe)?;
    /// let [english, french] = [1, 2].map(|language| {
    ///     let mut page = Document::new("Fresh fish and chips daily");
    ///     page.set_metadata(language);
    ///     page
    /// });
    /// let (english, french) = (fingerprinter.of(&english)?, fingerprinter.of(&french)?);
    /// assert_eq!((english >> 56, french >> 56), (1, 2));
    /// assert_eq!(recipe.distance(english, french), 0);
    /// # Ok::<(), simkeep::Error>(())
    /// ```
    #[must_use]
    pub const fn reserved(mut self, bits: u32) -> Recipe {
        self.reserved = if bits > 32 { 32 } else { bits };
        self
    }

    /// Returns the distance of two fingerprints of this recipe: the number of differing bits,
    /// without reserved bits.
    ///
    /// ```
    /// use simkeep::fingerprint::Recipe;
    /// assert_eq!(Recipe::DEFAULT.distance(0b0011, 0b0110), 2);
    /// ```
    pub const fn distance(&self, a: u64, b: u64) -> u32 {
        ((a ^ b) & self.mask()).count_ones()
    }

    /// Returns the bits that are not reserved.
    ///
    /// ```
    /// use simkeep::fingerprint::Recipe;
    /// assert_eq!(Recipe::DEFAULT.mask(), u64::MAX);
    /// assert_eq!(Recipe::DEFAULT.reserved(8).mask(), u64::MAX >> 8);
    /// ```
    pub const fn mask(&self) -> u64 {
        u64::MAX >> self.reserved
    }

    /// Whether the recipe needs a table of document frequencies.
    ///
    /// ```
    /// use simkeep::fingerprint::Recipe;
    /// let by_rarity: Recipe = "words-idf".parse()?;
    /// assert!(by_rarity.needs_frequencies() && !Recipe::DEFAULT.needs_frequencies());
    /// # Ok::<(), simkeep::fingerprint::RecipeError>(())
    /// ```
    pub fn needs_frequencies(&self) -> bool {
        self.rarity != Rarity::None || self.leave_out.is_some()
    }

    /// Returns the family.
    pub const fn family(&self) -> Family {
        self.family
    }

    /// Returns the reason why this recipe is invalid; `None` for a valid recipe.
    pub(super) fn invalid_reason(&self) -> Option<String> {
        if let Some(share) =
            self.leave_out.filter(|share| *share == Ratio::ZERO || *share > Ratio::ONE)
        {
            return Some(format!("the share of leave{share} must be above 0 and at most 1"));
        }
        match self.family {
            Family::Simhash => self.leave_out.map(|share| {
                format!(
                    "leave{share} works only in minwise recipes; use idf and at most in a simhash \
                     recipe"
                )
            }),
            Family::Minwise => self
                .weighs()
                .map(|part| format!("a minwise hash ignores weights, but {part} needs weights")),
        }
    }

    /// Returns an option of this recipe that needs weights, if any.
    fn weighs(&self) -> Option<&'static str> {
        let parts = [
            (self.counts != CountWeight::Sqrt, "another weight by counts"),
            (self.rarity != Rarity::None, "a weight by rarity"),
            (self.depends_on_position(), "a weight by place or mark"),
            (self.fields != FieldWeight::None, "a field"),
            (!self.chooses_all() || self.at_most != Ratio::ONE, "a choice by weight"),
        ];
        parts.iter().find(|(is_set, _)| *is_set).map(|(_, part)| *part)
    }

    /// Whether the weight of an occurrence depends on its position.
    pub(super) fn depends_on_position(&self) -> bool {
        self.scaling != PositionWeight::None || self.boost != Ratio::ONE
    }

    /// Whether no weight depends on another.
    fn chooses_all(&self) -> bool {
        self.at_least == Ratio::ZERO
            && self.at_most >= Ratio::ONE
            && self.top == u32::MAX
            && self.cap == 1
    }

    /// Whether a feature's weight is independent of the other features, except for the heaviest.
    pub(super) fn has_independent_weights(&self) -> bool {
        !self.depends_on_position() && self.top == u32::MAX && self.cap == 1
    }

    /// Whether a feature's weight depends on its count only.
    pub(super) fn counts_alone(&self) -> bool {
        !self.needs_frequencies() && !self.depends_on_position() && self.chooses_all()
    }

    /// Whether every occurrence has the same weight, so that occurrences need not be counted.
    pub(super) fn is_plain(&self) -> bool {
        self.counts == CountWeight::Raw && self.counts_alone() && self.fields == FieldWeight::None
    }

    /// Returns the hash of a feature that votes.
    #[inline]
    pub(super) fn voting(&self, feature: u64) -> u64 {
        match self.seed {
            0 => feature,
            seed => xxh3_64_with_seed(&feature.to_le_bytes(), seed.into()),
        }
    }

    /// Whether a feature is chosen. The choice uses bits of a product, so that the bits of the hash
    /// itself stay uniformly distributed among the chosen features.
    #[inline]
    pub(super) fn chooses(&self, hash: u64) -> bool {
        let bits = hash.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32;
        self.modulo == 1 || bits.is_multiple_of(u64::from(self.modulo))
    }
}

#[cfg(test)]
pub(super) use tests::any_recipe;

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn simhash_recipe() -> impl Strategy<Value = Recipe> {
        let features = (any::<bool>(), 1u32..9, any::<[bool; 3]>(), 1u32..4);
        // Usual settings are generated often, because they have separate fast paths.
        let share = |usual: Ratio| prop_oneof![2 => Just(usual), 1 => (0u32..3000).prop_map(Ratio::thousandths)];
        let weights =
            (0usize..4, 0usize..4, 0usize..4, share(Ratio::ONE), 0usize..4, share(Ratio::ONE));
        let top = prop_oneof![2 => Just(u32::MAX), 1 => 1u32..40];
        let cap = prop_oneof![2 => Just(1u32), 1 => 0u32..9];
        let seed = prop_oneof![3 => Just(0u32), 1 => any::<u32>()];
        let chosen = (share(Ratio::ZERO), share(Ratio::ONE), top, cap, seed, 0u32..40);
        (features, weights, chosen).prop_map(|(features, weights, chosen)| {
            let (words, n, [jenkins, numbers, stop_words], modulo) = features;
            let mut recipe = if words { Recipe::words(n) } else { Recipe::chars(n) };
            if jenkins {
                recipe = recipe.hash(FeatureHash::Jenkins);
            }
            if numbers {
                recipe = recipe.without_numbers();
            }
            if stop_words {
                recipe = recipe.without_stop_words();
            }
            let (counts, rarity, scaling, boost, fields, share) = weights;
            let counts =
                [CountWeight::Raw, CountWeight::Sqrt, CountWeight::Log, CountWeight::Binary]
                    [counts];
            let rarity = [Rarity::None, Rarity::None, Rarity::Log, Rarity::Inverse][rarity];
            let scaling = [
                PositionWeight::None,
                PositionWeight::None,
                PositionWeight::Front,
                PositionWeight::Ends,
            ][scaling];
            let fields = [
                FieldWeight::None,
                FieldWeight::None,
                FieldWeight::Flip,
                FieldWeight::Share(share),
            ][fields];
            let (at_least, at_most, top, cap, seed, reserved) = chosen;
            recipe = recipe.modulo(modulo).counts(counts).rarity(rarity).scaling(scaling);
            recipe = recipe.boost(boost).fields(fields).at_least(at_least).at_most(at_most);
            recipe.top(top).cap(cap).seed(seed).reserved(reserved)
        })
    }

    fn minwise_recipe() -> impl Strategy<Value = Recipe> {
        let share = (1u32..=1000).prop_map(Ratio::thousandths);
        (simhash_recipe(), prop::option::of(share)).prop_map(|(features, leave_out)| Recipe {
            unit: features.unit,
            hash: features.hash,
            without_numbers: features.without_numbers,
            without_stop_words: features.without_stop_words,
            modulo: features.modulo,
            leave_out,
            seed: features.seed,
            reserved: features.reserved,
            ..Recipe::words(features.gram).minwise()
        })
    }

    pub(crate) fn any_recipe() -> impl Strategy<Value = Recipe> {
        prop_oneof![3 => simhash_recipe(), 1 => minwise_recipe()]
    }

    #[test]
    fn reserved_bits_do_not_count_in_a_distance() {
        let recipe = Recipe::words(2).reserved(8);
        assert_eq!(recipe.distance(u64::MAX, 0), 56);
        assert_eq!(recipe.distance(0xff << 56, 0), 0);
        assert_eq!(Recipe::words(2).distance(0xff << 56, 1), 9);
    }
}
