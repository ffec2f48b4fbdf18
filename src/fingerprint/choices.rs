//! The options of a recipe.

use super::ratio::Ratio;

/// The elements of n-grams.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub(super) enum GramUnit {
    Words,
    Chars,
}

/// The function that turns the hashes of a document's features into bits.
///
/// ```
/// use simkeep::fingerprint::{Family, Recipe};
/// assert_eq!(Recipe::words(2).family(), Family::Simhash);
/// assert_eq!(Recipe::words(4).minwise().family(), Family::Minwise);
/// ```
#[derive(Clone, Copy, Debug, Default, Eq, Hash, PartialEq)]
#[non_exhaustive]
pub enum Family {
    /// The [simhash](super::Simhash) of the bag of features. Bits differ with the probability
    /// angle/π, where the angle is between the vectors of weights. Best at distinguishing small
    /// changes.
    #[default]
    Simhash,
    /// The [one-bit minwise hash](super::Minwise) of the set of features: `minwise`. Bits differ
    /// with the probability (1 - J)/2, where *J* is the resemblance of the sets. Finds the most
    /// near-duplicates.
    Minwise,
}

/// The hash of a feature.
///
/// ```
/// use simkeep::fingerprint::{FeatureHash, Recipe};
/// let recipe = Recipe::words(1).hash(FeatureHash::Jenkins);
/// assert_ne!(recipe.name(), Recipe::words(1).name());
/// ```
#[derive(Clone, Copy, Debug, Default, Eq, Hash, PartialEq)]
#[non_exhaustive]
pub enum FeatureHash {
    /// XXH3-64 with seed 0.
    #[default]
    Xxh3,
    /// Jenkins' 64-bit hash of 1997: `jenkins`.
    Jenkins,
}

/// The weight of a feature that occurs `n` times.
///
/// ```
/// use simkeep::fingerprint::{CountWeight, Recipe};
/// assert_eq!(Recipe::words(2).counts(CountWeight::Binary).name(), "words2-binary/2");
/// ```
#[derive(Clone, Copy, Debug, Default, Eq, Hash, PartialEq)]
#[non_exhaustive]
pub enum CountWeight {
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

/// The weight of a feature that `df` documents have, according to a frozen table.
///
/// ```
/// use simkeep::fingerprint::{Rarity, Recipe};
/// let recipe = Recipe::words(1).rarity(Rarity::Log);
/// assert!(recipe.needs_frequencies() && !Recipe::words(1).needs_frequencies());
/// ```
#[derive(Clone, Copy, Debug, Default, Eq, Hash, PartialEq)]
#[non_exhaustive]
pub enum Rarity {
    /// Every feature has the same weight; no table is needed.
    #[default]
    None,
    /// ln(1 + N/df), of N documents: `idf`.
    Log,
    /// 1/df: `inverse`. Only the rarest features have an effect.
    Inverse,
}

/// The weight of an occurrence by position: the `x`-th of `length` features, counted from 0.
///
/// ```
/// use simkeep::fingerprint::{Fingerprinter, PositionWeight, Recipe};
/// let recipe = Recipe::words(1).scaling(PositionWeight::Front);
/// let mut fingerprinter = Fingerprinter::new(&recipe)?;
/// // The first words weigh most, so their order matters.
/// let forwards = fingerprinter.of_text("fish chips salad bread butter water")?;
/// assert_ne!(fingerprinter.of_text("water butter bread salad chips fish")?, forwards);
/// # Ok::<(), simkeep::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default)]
#[non_exhaustive]
pub enum PositionWeight {
    /// All positions have the same weight.
    #[default]
    None,
    /// ln(x + 2)/(x + 2): the beginning weighs most; `front`.
    Front,
    /// cos(2πx/length) + 1: the beginning and the end weigh most; `ends`.
    Ends,
    /// Any other function.
    By {
        /// The name in the recipe's name, after `by:`, in lower-case letters and digits; other
        /// characters are dropped. Two functions with one name count as equal. The name of a recipe
        /// with such a function cannot be parsed, since the name does not define the function.
        name: &'static str,
        /// The weight of the `x`-th of `length` features, in units of 2⁻¹⁶.
        weight: fn(x: u64, length: u64) -> u64,
    },
}

impl PositionWeight {
    /// Returns the part of a recipe's name for this scaling.
    pub(super) fn part_of_name(&self) -> String {
        match self {
            PositionWeight::None => String::new(),
            PositionWeight::Front => "front".to_owned(),
            PositionWeight::Ends => "ends".to_owned(),
            PositionWeight::By { name, .. } => {
                let fit = |c: &char| c.is_ascii_lowercase() || c.is_ascii_digit();
                format!("by:{}", name.chars().filter(fit).collect::<String>())
            }
        }
    }
}

impl PartialEq for PositionWeight {
    fn eq(&self, other: &PositionWeight) -> bool {
        self.part_of_name() == other.part_of_name()
    }
}

impl Eq for PositionWeight {}

impl std::hash::Hash for PositionWeight {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        self.part_of_name().hash(state);
    }
}

/// The weight of the fields of a document.
///
/// ```
/// use simkeep::fingerprint::{Document, FieldWeight, Fingerprinter, Ratio, Recipe};
/// let mut page = Document::new("Fresh fish and chips daily");
/// page.field("author", "A. Cook");
/// let without = Fingerprinter::new(&Recipe::words(1))?.of(&page)?;
/// let recipe = Recipe::words(1).fields(FieldWeight::Share(Ratio::ONE));
/// assert_ne!(Fingerprinter::new(&recipe)?.of(&page)?, without);
/// # Ok::<(), simkeep::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, Eq, Hash, PartialEq)]
#[non_exhaustive]
pub enum FieldWeight {
    /// Fields are ignored.
    #[default]
    None,
    /// Each field has this share of the weight of the heaviest feature: `fields0.5`.
    Share(Ratio),
    /// Each field weighs just enough to flip the bit nearest to flipping: `fieldsflip`.
    Flip,
}
