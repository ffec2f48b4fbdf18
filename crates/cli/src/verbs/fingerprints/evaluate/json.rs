//! The results, as JSON.

use schemars::JsonSchema;
use serde::Serialize;

use super::documents::Documents;
use super::row::{Figures, Mean, Row};
use super::truth::Truth;
use super::versions;

/// A recipe or signature; with --versions, the meaning of a recipe's distances.
#[derive(Serialize, JsonSchema)]
#[serde(untagged)]
pub(crate) enum Line<'a> {
    Recipe(&'a OfRecipe<'a>),
    Versions(&'a versions::Answer<'a>),
}

/// The quality of a recipe or signature for finding near-duplicates.
#[derive(Serialize, JsonSchema)]
pub(crate) struct OfRecipe<'a> {
    /// The name of the recipe or signature, as the user named it.
    name: &'a str,
    /// The full name of the recipe, or a description of the signature.
    recipe: &'a str,
    /// The number of documents that are compared.
    documents: usize,
    /// The documents that are not compared.
    left_out: LeftOut,
    /// The number of pairs that are near.
    near_pairs: NearPairs,
    /// The number of hash seeds over which the figures are averaged.
    seeds: usize,
    /// The figures for each distance, from 0.
    by_distance: Vec<Score>,
    /// The figures at the advised distance; null if none is advised.
    advised: Option<Score>,
    /// The figures at the distance with the highest F1; null if no pair is found at any distance.
    best: Option<Score>,
}

/// The numbers of documents that are not compared: empty, too short, or equal to another document.
#[derive(Serialize, JsonSchema)]
struct LeftOut {
    empty_documents: u64,
    short_documents: u64,
    equal_documents: u64,
}

/// The numbers of pairs that are near by each measure.
#[derive(Serialize, JsonSchema)]
struct NearPairs {
    lenient: u64,
    strict: u64,
}

/// The figures at one distance. Null means 0 / 0.
#[derive(Serialize, JsonSchema)]
struct Score {
    /// The distance in bits.
    k: usize,
    #[serde(flatten)]
    figures: Scores,
    /// The standard deviation of each figure; null for a single hash seed.
    deviation: Option<Scores>,
}

/// Precision, recall and F1, and the number of pairs.
#[derive(Serialize, JsonSchema)]
struct Scores {
    /// The number of pairs within the distance.
    pairs: Option<f64>,
    /// The fraction of these pairs that are near by the lenient measure.
    lenient: Option<f64>,
    /// The fraction of these pairs that are near by the strict measure.
    strict: Option<f64>,
    /// The fraction of all strictly near pairs that are within the distance.
    recall: Option<f64>,
    /// The harmonic mean of recall and strict precision.
    f1: Option<f64>,
}

impl<'a> OfRecipe<'a> {
    /// The JSON form of a row, given the documents and pairs on which it was measured.
    pub(super) fn of(row: &'a Row, documents: &Documents, truth: &Truth) -> OfRecipe<'a> {
        let at = |k: usize| row.at.get(k).map(|figures| Score::of(k, figures));
        let left_out = documents.left_out;
        OfRecipe {
            name: &row.name,
            recipe: &row.recipe,
            documents: documents.compared.len(),
            left_out: LeftOut {
                empty_documents: left_out.empty,
                short_documents: left_out.short,
                equal_documents: left_out.equal,
            },
            near_pairs: NearPairs { lenient: truth.lenient(), strict: truth.strict() },
            seeds: row.seeds,
            by_distance: (0..row.at.len()).filter_map(at).collect(),
            advised: row.advised.and_then(at),
            best: row.best().and_then(at),
        }
    }
}

impl Score {
    fn of(k: usize, figures: &Figures) -> Score {
        let deviation = |mean: Mean| mean.deviation;
        let is_known = figures.pairs.deviation.is_some();
        Score {
            k,
            figures: Scores::of(figures, |mean| Some(mean.mean)),
            deviation: is_known.then(|| Scores::of(figures, deviation)),
        }
    }
}

impl Scores {
    fn of(figures: &Figures, what: impl Fn(Mean) -> Option<f64>) -> Scores {
        let Figures { pairs, lenient, strict, recall, f1 } = *figures;
        Scores {
            pairs: what(pairs),
            lenient: lenient.and_then(&what),
            strict: strict.and_then(&what),
            recall: recall.and_then(&what),
            f1: f1.and_then(&what),
        }
    }
}
