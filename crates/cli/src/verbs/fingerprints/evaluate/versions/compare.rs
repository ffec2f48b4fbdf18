//! Pairs of consecutive versions, compared on all threads.

use std::sync::Arc;

use simkeep::fingerprint::{
    Document, Fingerprinter, InMemoryFrequencies, Meaning, Recipe, extract,
};

use super::super::documents::words;
use super::distance_histogram::DistanceHistogram;
use super::edits::{WordNumbers, changed};
use super::read::{VersionRelation, VersionRun, VersionRunReader};
use crate::exit::VerbError;
use crate::input::pipeline::{self, ChunkResults};

/// The number of pages whose first versions give the document frequencies.
const TABLE_PAGES: u64 = 1000;

/// The result of comparing two versions.
enum VersionPair {
    /// The page returned to an earlier version.
    Return,
    /// One version has too few words for its distance to mean much.
    Short,
    /// The versions have equal words.
    Equal,
    /// Computing the difference would take too long.
    Long,
    /// The fraction of the words that changed, and the distance in bits by each recipe.
    Changed(f32, Box<[u32]>),
}

/// The number of pairs with each result.
#[derive(Default)]
pub(super) struct VersionPairCounts {
    pub(super) returned: u64,
    pub(super) short: u64,
    pub(super) equal: u64,
    pub(super) long: u64,
    pub(super) changed: u64,
}

/// A recipe, with document frequencies if it needs them.
pub(super) type RecipeFrequencies = (Recipe, InMemoryFrequencies);

/// Compares all pairs by several recipes.
pub(super) fn compare(
    runs: VersionRunReader,
    recipes: Vec<RecipeFrequencies>,
    html: bool,
    threads: usize,
) -> Result<(VersionPairCounts, Vec<DistanceHistogram>), VerbError> {
    let mut tallies: Vec<DistanceHistogram> =
        recipes.iter().map(|(recipe, _)| DistanceHistogram::new(*recipe)).collect();
    let mut compared = VersionPairCounts::default();
    let recipes = Arc::new(recipes);
    let work = move || {
        let recipes = Arc::clone(&recipes);
        move |run: VersionRun, into: &mut ChunkResults<Result<VersionPair, VerbError>>| {
            let bytes = recipes.len() * size_of::<u32>();
            let fault = run.fault.clone();
            match pairs(run, &recipes, html) {
                Ok(pairs) => pairs.into_iter().for_each(|pair| into.push(Ok(pair), bytes)),
                Err(error) => into.push(Err(error.into()), 0),
            }
            if let Some(fault) = fault {
                into.push(Err(VerbError::Broken(fault)), 0);
            }
        }
    };
    pipeline::run(Box::new(runs), threads, work, |pair| {
        let count = match pair? {
            VersionPair::Return => &mut compared.returned,
            VersionPair::Short => &mut compared.short,
            VersionPair::Equal => &mut compared.equal,
            VersionPair::Long => &mut compared.long,
            VersionPair::Changed(share, distances) => {
                let both = tallies.iter_mut().zip(distances);
                both.for_each(|(tally, distance)| tally.add(distance, share));
                &mut compared.changed
            }
        };
        *count += 1;
        Ok(())
    })?;
    Ok((compared, tallies))
}

/// The pairs of a run. Fingerprints are made only of texts in pairs that changed.
fn pairs(
    run: VersionRun,
    recipes: &[RecipeFrequencies],
    html: bool,
) -> simkeep::Result<Vec<VersionPair>> {
    let mut fingerprinters = Vec::with_capacity(recipes.len());
    for (recipe, counted) in recipes {
        fingerprinters.push(Fingerprinter::with_frequencies(recipe, counted)?);
    }
    let mut known_words = WordNumbers::default();
    let mut pairs = Vec::new();
    let mut before: Option<ComparedVersion> = None;
    for version in run.versions {
        let document = document(version.text, html);
        let numbers = known_words.numbers(words(document.text()).into_iter());
        let mut known = ComparedVersion { document, words: numbers, fingerprints: None };
        match (&mut before, version.after) {
            (Some(before), VersionRelation::Change) => {
                pairs.push(pair(before, &mut known, &mut fingerprinters, recipes)?);
            }
            (Some(_), VersionRelation::Return) => pairs.push(VersionPair::Return),
            (_, VersionRelation::Nothing) | (None, _) => {}
        }
        before = Some(known);
    }
    Ok(pairs)
}

/// A version, with its fingerprints once they were needed.
struct ComparedVersion {
    document: Document,
    words: Vec<u32>,
    fingerprints: Option<Vec<u64>>,
}

impl ComparedVersion {
    fn fingerprints(&mut self, by: &mut [Fingerprinter<'_>]) -> simkeep::Result<&[u64]> {
        let made = match self.fingerprints.take() {
            Some(made) => made,
            None => by.iter_mut().map(|by| by.of(&self.document)).collect::<Result<_, _>>()?,
        };
        Ok(self.fingerprints.insert(made))
    }
}

fn pair(
    before: &mut ComparedVersion,
    after: &mut ComparedVersion,
    by: &mut [Fingerprinter<'_>],
    recipes: &[RecipeFrequencies],
) -> simkeep::Result<VersionPair> {
    if before.words.len().min(after.words.len()) < Meaning::WORDS_MIN {
        return Ok(VersionPair::Short);
    }
    if before.words == after.words {
        return Ok(VersionPair::Equal);
    }
    let Some(share) = changed(&before.words, &after.words) else { return Ok(VersionPair::Long) };
    let both = before.fingerprints(by)?.iter().zip(after.fingerprints(by)?);
    let distances = both.zip(recipes).map(|((a, b), (recipe, _))| recipe.distance(*a, *b));
    Ok(VersionPair::Changed(share, distances.collect()))
}

fn document(text: String, html: bool) -> Document {
    if html { extract(&text) } else { Document::new(text) }
}

/// Recipes without document frequencies.
pub(super) fn uncounted(recipes: &[Recipe]) -> Vec<RecipeFrequencies> {
    recipes.iter().map(|recipe| (*recipe, InMemoryFrequencies::new(recipe))).collect()
}

/// Recipes with the document frequencies of the first versions of the first pages, where needed.
pub(super) fn counted(
    runs: VersionRunReader,
    recipes: &[Recipe],
    html: bool,
) -> Result<Vec<RecipeFrequencies>, VerbError> {
    let mut all = uncounted(recipes);
    let mut pages = 0;
    for run in runs {
        let first = run.versions.into_iter().next().filter(|_| run.begins);
        if let Some(fault) = run.fault {
            return Err(VerbError::Broken(fault));
        }
        let Some(first) = first else { continue };
        let document = document(first.text, html);
        let needing = all.iter_mut().filter(|(recipe, _)| recipe.needs_frequencies());
        needing.for_each(|(_, counted)| counted.add(document.text()));
        pages += 1;
        if pages == TABLE_PAGES {
            break;
        }
    }
    Ok(all)
}
