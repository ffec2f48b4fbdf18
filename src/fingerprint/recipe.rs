//! What a fingerprint is made of.

use super::share::Share;

/// The longest n-gram.
pub(super) const GRAM_MAX: u32 = 8;

/// How a document becomes 64 bits: which features it has, how much each weighs, and how it is
/// hashed.
///
/// A recipe has a [name](Recipe::name), which says everything about it, and from which it can be
/// [parsed](std::str::FromStr): `words2-sqrt/1` means pairs of neighbouring words, each weighing
/// the square root of how often it occurs. Fingerprints of recipes with different names cannot be
/// compared. A name never changes its meaning, so a fingerprint can be made again at any time.
///
/// Some recipes also have a [short name](Recipe::PRESETS).
///
/// ```
/// use simkeep::fingerprint::{Counts, Rarity, Recipe};
/// let recipe = Recipe::words(1).counts(Counts::Sqrt).rarity(Rarity::Log);
/// assert_eq!(recipe.name(), "words1-sqrt-idf/1");
/// assert_eq!("words1-sqrt-idf/1".parse(), Ok(recipe));
/// assert_eq!("words-idf".parse(), Ok(recipe));
/// ```
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub struct Recipe {
    pub(super) unit: Unit,
    pub(super) gram: u32,
    pub(super) hash: Hash,
    pub(super) without_numbers: bool,
    pub(super) without_stop_words: bool,
    pub(super) modulo: u32,
    pub(super) counts: Counts,
    pub(super) rarity: Rarity,
    pub(super) scaling: Scaling,
    pub(super) boost: Share,
    pub(super) fields: Fields,
    pub(super) at_least: Share,
    pub(super) at_most: Share,
    pub(super) top: u32,
    pub(super) cap: u32,
    pub(super) reserved: u32,
}

/// What n-grams are made of.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub(super) enum Unit {
    Words,
    Chars,
}

/// How a feature is hashed.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, PartialEq)]
#[non_exhaustive]
pub enum Hash {
    /// XXH3-64 with seed 0.
    #[default]
    Xxh3,
    /// Jenkins' 64-bit hash of 1997: `jenkins`.
    Jenkins,
}

/// How much a feature weighs that occurs `n` times.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, PartialEq)]
#[non_exhaustive]
pub enum Counts {
    /// `n`: the bag of features; `raw`. One long list dominates a document.
    Raw,
    /// √n: `sqrt`.
    #[default]
    Sqrt,
    /// 1 + ln n: `log`.
    Log,
    /// 1: the set of features; `binary`.
    Binary,
}

/// How much a feature weighs if `df` documents have it, according to a frozen table.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, PartialEq)]
#[non_exhaustive]
pub enum Rarity {
    /// Every feature weighs the same; no table is needed.
    #[default]
    None,
    /// ln(1 + N/df), of N documents: `idf`.
    Log,
    /// 1/df: `inverse`. The rarest features are all that counts.
    Inverse,
}

/// How much an occurrence weighs by its place: the `x`-th of `length` features, counted from 0.
#[derive(Clone, Copy, Debug, Default)]
#[non_exhaustive]
pub enum Scaling {
    /// All the same.
    #[default]
    None,
    /// ln(x + 2)/(x + 2): the beginning counts; `front`.
    Front,
    /// cos(2πx/length) + 1: beginning and end count; `ends`.
    Ends,
    /// Any other function.
    By {
        /// Its name in the recipe's name, after `by:`, in lower-case letters and digits; other
        /// characters are dropped. Two functions with one name count as the same. A recipe's name
        /// with it cannot be parsed, since it does not say what the function is.
        name: &'static str,
        /// The weight of the `x`-th of `length` features, in units of 2⁻¹⁶.
        weight: fn(x: u64, length: u64) -> u64,
    },
}

impl Scaling {
    /// Its part of a recipe's name.
    pub(super) fn part_of_name(&self) -> String {
        match self {
            Scaling::None => String::new(),
            Scaling::Front => "front".to_owned(),
            Scaling::Ends => "ends".to_owned(),
            Scaling::By { name, .. } => {
                let fit = |c: &char| c.is_ascii_lowercase() || c.is_ascii_digit();
                format!("by:{}", name.chars().filter(fit).collect::<String>())
            }
        }
    }
}

impl PartialEq for Scaling {
    fn eq(&self, other: &Scaling) -> bool {
        self.part_of_name() == other.part_of_name()
    }
}

impl Eq for Scaling {}

impl std::hash::Hash for Scaling {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        self.part_of_name().hash(state);
    }
}

/// How much the fields of a document weigh.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, PartialEq)]
#[non_exhaustive]
pub enum Fields {
    /// Fields are ignored.
    #[default]
    None,
    /// Each weighs this share of the heaviest feature: `fields0.5`.
    Share(Share),
    /// Each weighs just enough to flip the bit that is nearest to flipping: `fieldsflip`.
    Flip,
}

impl Recipe {
    /// N-grams of words (1 to 8 of them), each weighing the square root of how often it occurs.
    pub const fn words(n: u32) -> Recipe {
        Recipe::grams(Unit::Words, n)
    }

    /// N-grams of characters (1 to 8 of them), taken from the words in lower case with one space
    /// between them. Each weighs the square root of how often it occurs.
    pub const fn chars(n: u32) -> Recipe {
        Recipe::grams(Unit::Chars, n)
    }

    pub(super) const fn grams(unit: Unit, n: u32) -> Recipe {
        let gram = match n {
            0 => 1,
            n if n > GRAM_MAX => GRAM_MAX,
            n => n,
        };
        Recipe {
            unit,
            gram,
            hash: Hash::Xxh3,
            without_numbers: false,
            without_stop_words: false,
            modulo: 1,
            counts: Counts::Sqrt,
            rarity: Rarity::None,
            scaling: Scaling::None,
            boost: Share::ONE,
            fields: Fields::None,
            at_least: Share::ZERO,
            at_most: Share::ONE,
            top: u32::MAX,
            cap: 1,
            reserved: 0,
        }
    }

    /// This recipe with another hash.
    #[must_use]
    pub const fn hash(mut self, hash: Hash) -> Recipe {
        self.hash = hash;
        self
    }

    /// This recipe without words that contain a numeral, and without the English names of months
    /// and weekdays that mean nothing else: `nonumbers`.
    #[must_use]
    pub const fn without_numbers(mut self) -> Recipe {
        self.without_numbers = true;
        self
    }

    /// This recipe without the commonest English words: `nostopwords`.
    #[must_use]
    pub const fn without_stop_words(mut self) -> Recipe {
        self.without_stop_words = true;
        self
    }

    /// This recipe with one in `p` features, chosen by their hashes in the same way in all
    /// documents: `mod4`.
    #[must_use]
    pub const fn modulo(mut self, p: u32) -> Recipe {
        self.modulo = if p == 0 { 1 } else { p };
        self
    }

    /// This recipe with another weight by how often a feature occurs.
    #[must_use]
    pub const fn counts(mut self, counts: Counts) -> Recipe {
        self.counts = counts;
        self
    }

    /// This recipe with weights multiplied by how rare a feature is.
    #[must_use]
    pub const fn rarity(mut self, rarity: Rarity) -> Recipe {
        self.rarity = rarity;
        self
    }

    /// This recipe with weights multiplied by the places of a feature: by the mean over its
    /// occurrences.
    #[must_use]
    pub const fn scaling(mut self, scaling: Scaling) -> Recipe {
        self.scaling = scaling;
        self
    }

    /// This recipe with occurrences in titles, headings, emphasised text and anchors weighing this
    /// many times as much: `marked1.5`. The place of an n-gram is that of its last word.
    #[must_use]
    pub const fn boost(mut self, times: Share) -> Recipe {
        self.boost = times;
        self
    }

    /// This recipe with a document's fields as features.
    #[must_use]
    pub const fn fields(mut self, fields: Fields) -> Recipe {
        self.fields = fields;
        self
    }

    /// This recipe without features that weigh less than a share of the heaviest: `from0.01`.
    #[must_use]
    pub const fn at_least(mut self, share: Share) -> Recipe {
        self.at_least = share;
        self
    }

    /// This recipe without features that weigh more than a share of the heaviest: `to0.8`.
    #[must_use]
    pub const fn at_most(mut self, share: Share) -> Recipe {
        self.at_most = share;
        self
    }

    /// This recipe with only the `n` heaviest features (of equal ones those with the lower hash):
    /// `top20`.
    #[must_use]
    pub const fn top(mut self, n: u32) -> Recipe {
        self.top = if n == 0 { 1 } else { n };
        self
    }

    /// This recipe with no feature weighing more than the `n`-th heaviest, if there is one: `cap5`.
    #[must_use]
    pub const fn cap(mut self, n: u32) -> Recipe {
        self.cap = if n == 0 { 1 } else { n };
        self
    }

    /// This recipe with the document's [metadata](super::Document::metadata) in the leading `bits`
    /// (at most 32) of a fingerprint: `reserved8`. These bits do not count in a
    /// [distance](Recipe::distance); the search of a store does not know of them and counts them.
    #[must_use]
    pub const fn reserved(mut self, bits: u32) -> Recipe {
        self.reserved = if bits > 32 { 32 } else { bits };
        self
    }

    /// The distance of two fingerprints of this recipe: how many bits differ, not counting reserved
    /// ones.
    pub const fn distance(&self, a: u64, b: u64) -> u32 {
        ((a ^ b) & self.mask()).count_ones()
    }

    /// The bits that are not reserved.
    pub const fn mask(&self) -> u64 {
        u64::MAX >> self.reserved
    }

    /// Whether it needs a table of document frequencies.
    pub fn needs_frequencies(&self) -> bool {
        self.rarity != Rarity::None
    }

    /// Whether what an occurrence weighs depends on its place.
    pub(super) fn is_placed(&self) -> bool {
        self.scaling != Scaling::None || self.boost != Share::ONE
    }

    /// Whether no weight depends on another.
    fn chooses_all(&self) -> bool {
        self.at_least == Share::ZERO
            && self.at_most >= Share::ONE
            && self.top == u32::MAX
            && self.cap == 1
    }

    /// Whether a feature's weight can be told without the others, but for the heaviest.
    pub(super) fn is_apart(&self) -> bool {
        !self.is_placed() && self.top == u32::MAX && self.cap == 1
    }

    /// Whether a feature weighs what its count says, and nothing else matters.
    pub(super) fn counts_alone(&self) -> bool {
        !self.needs_frequencies() && !self.is_placed() && self.chooses_all()
    }

    /// Whether every occurrence weighs the same, so that none needs to be found again.
    pub(super) fn is_plain(&self) -> bool {
        self.counts == Counts::Raw && self.counts_alone() && self.fields == Fields::None
    }

    /// Whether a feature is chosen. Decided by bits of a product, so that the bits of the hash
    /// itself stay evenly distributed among the chosen.
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

    pub(crate) fn any_recipe() -> impl Strategy<Value = Recipe> {
        let features = (any::<bool>(), 1u32..9, any::<[bool; 3]>(), 1u32..4);
        // Usual settings are frequent, because they have fast paths of their own.
        let share = |usual: Share| prop_oneof![2 => Just(usual), 1 => (0u32..3000).prop_map(Share::thousandths)];
        let weights =
            (0usize..4, 0usize..4, 0usize..4, share(Share::ONE), 0usize..4, share(Share::ONE));
        let top = prop_oneof![2 => Just(u32::MAX), 1 => 1u32..40];
        let cap = prop_oneof![2 => Just(1u32), 1 => 0u32..9];
        let chosen = (share(Share::ZERO), share(Share::ONE), top, cap, 0u32..40);
        (features, weights, chosen).prop_map(|(features, weights, chosen)| {
            let (words, n, [jenkins, numbers, stop_words], modulo) = features;
            let mut recipe = if words { Recipe::words(n) } else { Recipe::chars(n) };
            if jenkins {
                recipe = recipe.hash(Hash::Jenkins);
            }
            if numbers {
                recipe = recipe.without_numbers();
            }
            if stop_words {
                recipe = recipe.without_stop_words();
            }
            let (counts, rarity, scaling, boost, fields, share) = weights;
            let counts = [Counts::Raw, Counts::Sqrt, Counts::Log, Counts::Binary][counts];
            let rarity = [Rarity::None, Rarity::None, Rarity::Log, Rarity::Inverse][rarity];
            let scaling = [Scaling::None, Scaling::None, Scaling::Front, Scaling::Ends][scaling];
            let fields = [Fields::None, Fields::None, Fields::Flip, Fields::Share(share)][fields];
            let (at_least, at_most, top, cap, reserved) = chosen;
            recipe = recipe.modulo(modulo).counts(counts).rarity(rarity).scaling(scaling);
            recipe = recipe.boost(boost).fields(fields).at_least(at_least).at_most(at_most);
            recipe.top(top).cap(cap).reserved(reserved)
        })
    }

    #[test]
    fn reserved_bits_are_no_part_of_a_distance() {
        let recipe = Recipe::words(2).reserved(8);
        assert_eq!(recipe.distance(u64::MAX, 0), 56);
        assert_eq!(recipe.distance(0xff << 56, 0), 0);
        assert_eq!(Recipe::words(2).distance(0xff << 56, 1), 9);
    }
}
