//! The results for programs.

use schemars::JsonSchema;
use serde::Serialize;

use super::documents::Documents;
use super::row::{Figures, Mean, Row};
use super::truth::Truth;
use super::versions;

/// A recipe or signature; or with --versions, what the distances of a recipe mean.
#[derive(Serialize, JsonSchema)]
#[serde(untagged)]
pub(crate) enum Line<'a> {
    Recipe(&'a OfRecipe<'a>),
    Versions(&'a versions::Answer<'a>),
}

/// How well a recipe or signature tells near-duplicates.
#[derive(Serialize, JsonSchema)]
pub(crate) struct OfRecipe<'a> {
    /// As it was called.
    name: &'a str,
    /// The name that says all of it.
    recipe: &'a str,
    /// How many documents are compared.
    documents: usize,
    /// How many take no part.
    left_out: LeftOut,
    /// How many pairs are near.
    near_pairs: NearPairs,
    /// How many hashes the figures are the means of.
    seeds: usize,
    /// By distance, from 0 on.
    by_distance: Vec<Score>,
    /// At the distance that is advised.
    advised: Option<Score>,
    /// At the distance with the highest F1.
    best: Option<Score>,
}

/// Documents that take no part, as they are empty, too short to tell, or equal to another.
#[derive(Serialize, JsonSchema)]
struct LeftOut {
    empty_documents: u64,
    short_documents: u64,
    equal_documents: u64,
}

/// How many pairs are near by each measure.
#[derive(Serialize, JsonSchema)]
struct NearPairs {
    lenient: u64,
    strict: u64,
}

/// What fingerprints within a distance get right; null where that is nothing of nothing.
#[derive(Serialize, JsonSchema)]
struct Score {
    /// The distance.
    k: usize,
    #[serde(flatten)]
    figures: Scores,
    /// The standard deviation of each figure, of several hashes.
    deviation: Option<Scores>,
}

/// The figures.
#[derive(Serialize, JsonSchema)]
struct Scores {
    /// Pairs within the distance.
    pairs: Option<f64>,
    /// The share of them that is near by the lenient measure.
    lenient: Option<f64>,
    /// The share of them that is near by the strict measure.
    strict: Option<f64>,
    /// The share of all that are near by the strict measure.
    recall: Option<f64>,
    /// The harmonic mean of recall and of precision by the strict measure.
    f1: Option<f64>,
}

impl<'a> OfRecipe<'a> {
    /// A row, and what it was measured on.
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
