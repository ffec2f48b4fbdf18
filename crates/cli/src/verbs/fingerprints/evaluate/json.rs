//! The results, as JSON.

use schemars::JsonSchema;
use serde::Serialize;

use super::documents::EvaluatedDocuments;
use super::ground_truth::GroundTruth;
use super::row::{MeanScores, RecipeScores, SeedMean};
use super::versions;

/// A recipe or signature; with --versions, the meaning of a recipe's distances.
#[derive(Serialize, JsonSchema)]
#[serde(untagged)]
pub(crate) enum EvaluateLine<'a> {
    Recipe(&'a RecipeResult<'a>),
    Versions(&'a versions::VersionsResult<'a>),
}

/// The quality of a recipe or signature for finding near-duplicates.
#[derive(Serialize, JsonSchema)]
pub(crate) struct RecipeResult<'a> {
    /// The name of the recipe or signature, as the user named it.
    name: &'a str,
    /// The full name of the recipe, or a description of the signature.
    recipe: &'a str,
    /// The number of documents that are compared.
    documents: usize,
    /// The documents that are not compared.
    left_out: ExcludedDocuments,
    /// The number of pairs that are near.
    near_pairs: NearPairs,
    /// The number of hash seeds over which the figures are averaged.
    seeds: usize,
    /// The figures for each distance, from 0.
    by_distance: Vec<DistanceScore>,
    /// The figures at the advised distance; null if none is advised.
    advised: Option<DistanceScore>,
    /// The figures at the distance with the highest F1; null if no pair is found at any distance.
    best: Option<DistanceScore>,
}

/// The numbers of documents that are not compared: empty, too short, or equal to another document.
#[derive(Serialize, JsonSchema)]
struct ExcludedDocuments {
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
struct DistanceScore {
    /// The distance in bits.
    k: usize,
    #[serde(flatten)]
    figures: ScoreFigures,
    /// The standard deviation of each figure; null for a single hash seed.
    deviation: Option<ScoreFigures>,
}

/// Precision, recall and F1, and the number of pairs.
#[derive(Serialize, JsonSchema)]
struct ScoreFigures {
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

impl<'a> RecipeResult<'a> {
    /// The JSON form of a row, given the documents and pairs on which it was measured.
    pub(super) fn of(
        row: &'a RecipeScores,
        documents: &EvaluatedDocuments,
        truth: &GroundTruth,
    ) -> RecipeResult<'a> {
        let at = |k: usize| row.at.get(k).map(|figures| DistanceScore::of(k, figures));
        let left_out = documents.left_out;
        RecipeResult {
            name: &row.name,
            recipe: &row.recipe,
            documents: documents.compared.len(),
            left_out: ExcludedDocuments {
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

impl DistanceScore {
    fn of(k: usize, figures: &MeanScores) -> DistanceScore {
        let deviation = |mean: SeedMean| mean.deviation;
        let is_known = figures.pairs.deviation.is_some();
        DistanceScore {
            k,
            figures: ScoreFigures::of(figures, |mean| Some(mean.mean)),
            deviation: is_known.then(|| ScoreFigures::of(figures, deviation)),
        }
    }
}

impl ScoreFigures {
    fn of(figures: &MeanScores, what: impl Fn(SeedMean) -> Option<f64>) -> ScoreFigures {
        let MeanScores { pairs, lenient, strict, recall, f1 } = *figures;
        ScoreFigures {
            pairs: what(pairs),
            lenient: lenient.and_then(&what),
            strict: strict.and_then(&what),
            recall: recall.and_then(&what),
            f1: f1.and_then(&what),
        }
    }
}
