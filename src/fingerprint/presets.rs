//! Recipes with short names.

use super::choices::{CountWeight, FeatureHash, FieldWeight, PositionWeight, Rarity};
use super::meaning::Bands;
use super::ratio::Ratio;
use super::recipe::Recipe;

/// A recipe with a short name.
///
/// ```
/// use simkeep::fingerprint::Recipe;
/// for preset in Recipe::PRESETS {
///     println!("{}: {}", preset.name, preset.description);
/// }
/// let default = Recipe::DEFAULT.preset().unwrap();
/// assert_eq!((default.name, default.near, default.bands.minor), ("default", Some(3), 2));
/// ```
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Preset {
    /// The short name.
    pub name: &'static str,
    /// A description of its purpose.
    pub description: &'static str,
    /// The recipe.
    pub recipe: Recipe,
    /// The recommended distance for near-duplicates: the largest at which 97 % of the pairs have a
    /// resemblance of at least .8 (the Jaccard index of runs of five words), measured on versions
    /// of terms of service. `None` if no distance qualifies.
    pub near: Option<u32>,
    /// The largest distance that still indicates near-duplicates: 92 % of the pairs are
    /// near-duplicates. `None` if no distance qualifies.
    pub holds: Option<u32>,
    /// The largest distances of minor and of moderate changes of a page.
    pub bands: Bands,
    /// The share of changes that distance 0 hides: the share of consecutive, different versions of
    /// a page with the same fingerprint. Measured on terms of service fetched twice a day, which
    /// mostly change by a few words. A digest detects changes that distance 0 hides.
    pub hidden: f32,
    /// The exponent that converts a share of features to a share of words: *c* of
    /// [`Meaning`](super::Meaning).
    pub(super) exponent: f64,
}

/// The measurements of a recipe on versions of pages.
struct PresetMeasurements {
    bands: (u32, u32),
    hidden: f32,
    exponent: f64,
}

/// The tf-idf of Seshasai's thesis. Each other variant of the thesis differs from this recipe in
/// one respect. The thesis defines idf once as 1/df and once as a logarithm; the ranking in its
/// table 6.1 uses the logarithm.
const THESIS: Recipe =
    Recipe::words(1).hash(FeatureHash::Jenkins).counts(CountWeight::Raw).rarity(Rarity::Log);

const fn historic(
    name: &'static str,
    what: &'static str,
    recipe: Recipe,
    measured: PresetMeasurements,
) -> Preset {
    let PresetMeasurements { bands: (minor, moderate), hidden, exponent } = measured;
    let bands = Bands { minor, moderate };
    Preset { name, description: what, recipe, near: None, holds: None, bands, hidden, exponent }
}

const fn useful(
    name: &'static str,
    what: &'static str,
    recipe: Recipe,
    (near, holds): (u32, u32),
    measured: PresetMeasurements,
) -> Preset {
    Preset { near: Some(near), holds: Some(holds), ..historic(name, what, recipe, measured) }
}

impl Recipe {
    /// The default recipe. The name of the default recipe is `words2-sqrt/2`.
    pub const DEFAULT: Recipe = Recipe::words(2);

    /// The recipes with a short name. The historic recipes are from M. S. Charikar, *Similarity
    /// estimation techniques from rounding algorithms*, STOC 2002, and S. Seshasai, *Efficient near
    /// duplicate document detection for specialized corpora*, MIT 2009.
    pub const PRESETS: &'static [Preset] = &[
        useful(
            "default",
            "Distinguishes small changes from big ones: pairs of words",
            Recipe::DEFAULT,
            (3, 5),
            PresetMeasurements { bands: (2, 9), hidden: 0.22, exponent: 0.90 },
        ),
        useful(
            "near",
            "Finds most near-duplicates: the set of runs of four words, minwise",
            Recipe::words(4).minwise(),
            (3, 5),
            PresetMeasurements { bands: (1, 8), hidden: 0.52, exponent: 0.53 },
        ),
        useful(
            "strict",
            "Is seldom wrong, but finds fewer near-duplicates: triples of words",
            Recipe::words(3),
            (5, 7),
            PresetMeasurements { bands: (3, 11), hidden: 0.17, exponent: 0.65 },
        ),
        useful(
            "templated",
            "For pages of one template: triples of words by rarity, with a table of 30 to 200 such \
             pages",
            Recipe::words(3).rarity(Rarity::Log),
            (6, 8),
            PresetMeasurements { bands: (3, 11), hidden: 0.16, exponent: 0.60 },
        ),
        useful(
            "words-idf",
            "Weighs words by rarity, with a table of document frequencies",
            Recipe::words(1).rarity(Rarity::Log),
            (2, 4),
            PresetMeasurements { bands: (3, 9), hidden: 0.22, exponent: 0.80 },
        ),
        historic(
            "charikar",
            "Weighs words by the number of occurrences, as first published",
            Recipe::words(1).hash(FeatureHash::Jenkins).counts(CountWeight::Raw),
            PresetMeasurements { bands: (1, 5), hidden: 0.60, exponent: 6.50 },
        ),
        historic(
            "thesis-original",
            "Seshasai 2009: tf-idf",
            THESIS,
            PresetMeasurements { bands: (2, 8), hidden: 0.47, exponent: 2.40 },
        ),
        historic(
            "thesis-metadata",
            "Seshasai 2009: each field weighs as much as the heaviest word",
            THESIS.fields(FieldWeight::Share(Ratio::ONE)),
            PresetMeasurements { bands: (2, 8), hidden: 0.47, exponent: 2.40 },
        ),
        historic(
            "thesis-numbers",
            "Seshasai 2009: without numbers and dates",
            THESIS.without_numbers(),
            PresetMeasurements { bands: (1, 8), hidden: 0.60, exponent: 4.00 },
        ),
        historic(
            "thesis-low",
            "Seshasai 2009: without words below 0.01 of the weight of the heaviest",
            THESIS.at_least(Ratio::percent(1)),
            PresetMeasurements { bands: (2, 8), hidden: 0.47, exponent: 2.40 },
        ),
        historic(
            "thesis-high",
            "Seshasai 2009: without words below 0.5 of the weight of the heaviest",
            THESIS.at_least(Ratio::percent(50)),
            PresetMeasurements { bands: (1, 14), hidden: 0.87, exponent: 8.00 },
        ),
        historic(
            "thesis-position",
            "Seshasai 2009: the beginning weighs more, by log(x)/x",
            THESIS.scaling(PositionWeight::Front),
            PresetMeasurements { bands: (3, 12), hidden: 0.46, exponent: 2.50 },
        ),
        historic(
            "thesis-function",
            "Seshasai 2009: beginning and end weigh more, by a cosine",
            THESIS.scaling(PositionWeight::Ends),
            PresetMeasurements { bands: (2, 9), hidden: 0.46, exponent: 2.00 },
        ),
        historic(
            "thesis-tagged",
            "Seshasai 2009: titles, headings, emphasis and anchors weigh 1.5 times as much",
            THESIS.boost(Ratio::thousandths(1500)),
            PresetMeasurements { bands: (2, 8), hidden: 0.47, exponent: 2.40 },
        ),
    ];

    /// Returns the recommended distance for near-duplicates: the distance of the recipe's
    /// [preset](Self::PRESETS), ignoring seed, reserved bits and left-out features. Returns 3 for
    /// other recipes, and for presets without a recommendation.
    ///
    /// ```
    /// use simkeep::fingerprint::Recipe;
    /// let strict: Recipe = "strict".parse()?;
    /// assert_eq!((Recipe::DEFAULT.near_distance(), strict.seed(1).near_distance()), (3, 5));
    /// # Ok::<(), simkeep::fingerprint::RecipeError>(())
    /// ```
    pub fn near_distance(&self) -> u32 {
        /// The distance of Manku, Jain and Das Sarma: *Detecting near-duplicates for web crawling*,
        /// WWW 2007.
        const USUAL: u32 = 3;
        self.preset().and_then(|preset| preset.near).unwrap_or(USUAL)
    }

    /// Returns the [preset](Self::PRESETS) of this recipe, ignoring seed, reserved bits and
    /// left-out features; `None` for other recipes.
    ///
    /// ```
    /// use simkeep::fingerprint::Recipe;
    /// assert_eq!(Recipe::DEFAULT.seed(1).preset().map(|preset| preset.name), Some("default"));
    /// assert!(Recipe::words(7).preset().is_none());
    /// ```
    pub fn preset(&self) -> Option<&'static Preset> {
        let plain = self.plain();
        Recipe::PRESETS.iter().find(|preset| preset.recipe == plain)
    }

    /// Returns this recipe without the options that do not change its preset.
    pub(super) fn plain(&self) -> Recipe {
        Recipe { seed: 0, reserved: 0, leave_out: None, ..*self }
    }
}
