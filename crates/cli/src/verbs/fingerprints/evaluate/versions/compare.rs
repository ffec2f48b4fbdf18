//! Pairs of consecutive versions, compared on all threads.

use std::sync::Arc;

use simkeep::fingerprint::{Counted, Document, Fingerprinter, Meaning, Recipe, extract};

use super::super::documents::words;
use super::edits::{Words, changed};
use super::read::{After, Run, Runs};
use super::tally::Tally;
use crate::exit::Failure;
use crate::input::pipeline::{self, Results};

/// The number of pages whose first versions give the document frequencies.
const TABLE_PAGES: u64 = 1000;

/// The result of comparing two versions.
enum Pair {
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
pub(super) struct Compared {
    pub(super) returned: u64,
    pub(super) short: u64,
    pub(super) equal: u64,
    pub(super) long: u64,
    pub(super) changed: u64,
}

/// A recipe, with document frequencies if it needs them.
pub(super) type Counting = (Recipe, Counted);

/// Compares all pairs by several recipes.
pub(super) fn compare(
    runs: Runs,
    recipes: Vec<Counting>,
    html: bool,
    threads: usize,
) -> Result<(Compared, Vec<Tally>), Failure> {
    let mut tallies: Vec<Tally> = recipes.iter().map(|(recipe, _)| Tally::new(*recipe)).collect();
    let mut compared = Compared::default();
    let recipes = Arc::new(recipes);
    let work = move || {
        let recipes = Arc::clone(&recipes);
        move |run: Run, into: &mut Results<Result<Pair, Failure>>| {
            let bytes = recipes.len() * size_of::<u32>();
            let fault = run.fault.clone();
            match pairs(run, &recipes, html) {
                Ok(pairs) => pairs.into_iter().for_each(|pair| into.push(Ok(pair), bytes)),
                Err(error) => into.push(Err(error.into()), 0),
            }
            if let Some(fault) = fault {
                into.push(Err(Failure::Broken(fault)), 0);
            }
        }
    };
    pipeline::run(Box::new(runs), threads, work, |pair| {
        let count = match pair? {
            Pair::Return => &mut compared.returned,
            Pair::Short => &mut compared.short,
            Pair::Equal => &mut compared.equal,
            Pair::Long => &mut compared.long,
            Pair::Changed(share, distances) => {
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
fn pairs(run: Run, recipes: &[Counting], html: bool) -> simkeep::Result<Vec<Pair>> {
    let mut fingerprinters = Vec::with_capacity(recipes.len());
    for (recipe, counted) in recipes {
        fingerprinters.push(Fingerprinter::with_frequencies(recipe, counted)?);
    }
    let mut known_words = Words::default();
    let mut pairs = Vec::new();
    let mut before: Option<Known> = None;
    for version in run.versions {
        let document = document(version.text, html);
        let numbers = known_words.numbers(words(document.text()).into_iter());
        let mut known = Known { document, words: numbers, fingerprints: None };
        match (&mut before, version.after) {
            (Some(before), After::Change) => {
                pairs.push(pair(before, &mut known, &mut fingerprinters, recipes)?);
            }
            (Some(_), After::Return) => pairs.push(Pair::Return),
            (_, After::Nothing) | (None, _) => {}
        }
        before = Some(known);
    }
    Ok(pairs)
}

/// A version, with its fingerprints once they were needed.
struct Known {
    document: Document,
    words: Vec<u32>,
    fingerprints: Option<Vec<u64>>,
}

impl Known {
    fn fingerprints(&mut self, by: &mut [Fingerprinter<'_>]) -> simkeep::Result<&[u64]> {
        let made = match self.fingerprints.take() {
            Some(made) => made,
            None => by.iter_mut().map(|by| by.of(&self.document)).collect::<Result<_, _>>()?,
        };
        Ok(self.fingerprints.insert(made))
    }
}

fn pair(
    before: &mut Known,
    after: &mut Known,
    by: &mut [Fingerprinter<'_>],
    recipes: &[Counting],
) -> simkeep::Result<Pair> {
    if before.words.len().min(after.words.len()) < Meaning::WORDS_MIN {
        return Ok(Pair::Short);
    }
    if before.words == after.words {
        return Ok(Pair::Equal);
    }
    let Some(share) = changed(&before.words, &after.words) else { return Ok(Pair::Long) };
    let both = before.fingerprints(by)?.iter().zip(after.fingerprints(by)?);
    let distances = both.zip(recipes).map(|((a, b), (recipe, _))| recipe.distance(*a, *b));
    Ok(Pair::Changed(share, distances.collect()))
}

fn document(text: String, html: bool) -> Document {
    if html { extract(&text) } else { Document::new(text) }
}

/// Recipes without document frequencies.
pub(super) fn uncounted(recipes: &[Recipe]) -> Vec<Counting> {
    recipes.iter().map(|recipe| (*recipe, Counted::new(recipe))).collect()
}

/// Recipes with the document frequencies of the first versions of the first pages, where needed.
pub(super) fn counted(
    runs: Runs,
    recipes: &[Recipe],
    html: bool,
) -> Result<Vec<Counting>, Failure> {
    let mut all = uncounted(recipes);
    let mut pages = 0;
    for run in runs {
        let first = run.versions.into_iter().next().filter(|_| run.begins);
        if let Some(fault) = run.fault {
            return Err(Failure::Broken(fault));
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
