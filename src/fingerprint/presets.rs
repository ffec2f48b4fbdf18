//! Recipes that have names of their own.

use super::choices::{Counts, Fields, Hash, Rarity, Scaling};
use super::recipe::Recipe;
use super::share::Share;

/// The tf-idf of Seshasai's thesis. Its other variants differ from this one in one thing each. The
/// thesis defines idf once as 1/df and once as a logarithm; the ranking in its table 6.1 is that of
/// the logarithm.
const THESIS: Recipe = Recipe::words(1).hash(Hash::Jenkins).counts(Counts::Raw).rarity(Rarity::Log);

impl Recipe {
    /// The recipe that is used unless another is chosen. Its name is `words2-sqrt/1`.
    pub const DEFAULT: Recipe = Recipe::words(2);

    /// Recipes with a short name: the name, what the recipe is for, and the recipe. The historic
    /// ones are from M. S. Charikar, *Similarity estimation techniques from rounding algorithms*,
    /// STOC 2002, and S. Seshasai, *Efficient near duplicate document detection for specialized
    /// corpora*, MIT 2009.
    pub const PRESETS: &'static [(&'static str, &'static str, Recipe)] = &[
        ("default", "Pairs of words; near is k = 3 to 6", Recipe::DEFAULT),
        ("strict", "Triples of words; near is k = 7 or 8", Recipe::words(3)),
        (
            "words-idf",
            "Words by how rare they are, with a table of document frequencies",
            Recipe::words(1).rarity(Rarity::Log),
        ),
        (
            "charikar",
            "Words by how often they occur, as first published",
            Recipe::words(1).hash(Hash::Jenkins).counts(Counts::Raw),
        ),
        ("thesis-original", "Seshasai 2009: tf-idf", THESIS),
        (
            "thesis-metadata",
            "Seshasai 2009: fields as heavy as the heaviest word",
            THESIS.fields(Fields::Share(Share::ONE)),
        ),
        ("thesis-numbers", "Seshasai 2009: without numbers and dates", THESIS.without_numbers()),
        (
            "thesis-low",
            "Seshasai 2009: without words below 0.01 of the heaviest",
            THESIS.at_least(Share::percent(1)),
        ),
        (
            "thesis-high",
            "Seshasai 2009: without words below 0.5 of the heaviest",
            THESIS.at_least(Share::percent(50)),
        ),
        (
            "thesis-position",
            "Seshasai 2009: the beginning weighs more, by log(x)/x",
            THESIS.scaling(Scaling::Front),
        ),
        (
            "thesis-function",
            "Seshasai 2009: beginning and end weigh more, by a cosine",
            THESIS.scaling(Scaling::Ends),
        ),
        (
            "thesis-tagged",
            "Seshasai 2009: titles, headings, emphasis and anchors weigh 1.5 times as much",
            THESIS.boost(Share::thousandths(1500)),
        ),
    ];
}
