//! Epochs: beginning with their tables, restatements, comparisons, and their end.

mod comparisons;
mod frequencies;
mod lifetime;
mod loads;
mod meanings;
mod origins;
mod restatements;
mod roles;

use simkeep::df::{FrequencyCounter, FrequencyTable};
use simkeep::disk::{FileName, SimDisk};
use simkeep::fingerprint::Recipe;
use simkeep::{Origin, Store};

use simkeep_testing::{on, small};

const URL: &str = "https://example.com/";

fn create(disk: &SimDisk) -> Store {
    Store::create(on(disk), small()).unwrap()
}

/// An origin with a table of these texts.
fn with_weight(texts: &[&str]) -> Origin {
    let recipe: Recipe = "words-idf".parse().unwrap();
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("words.df");
    let mut counter = FrequencyCounter::new(&recipe, &path, 1 << 20).unwrap();
    texts.iter().for_each(|text| counter.add(text).unwrap());
    counter.freeze(1).unwrap();
    Origin::new(recipe).table(FrequencyTable::open(&path).unwrap()).unwrap()
}

fn some() -> Origin {
    with_weight(&["the red house", "the green house", "the blue car"])
}

fn plain(recipe: &str) -> Origin {
    Origin::new(recipe.parse().unwrap())
}

/// The tables of document frequencies on a disk.
fn tables(disk: &SimDisk) -> Vec<FileName> {
    let of_tables = |name: &FileName| {
        matches!(name, FileName::Df(_) | FileName::DfNew(_) | FileName::DfScratch(..))
    };
    disk.contents().into_iter().map(|(name, _)| name).filter(of_tables).collect()
}
