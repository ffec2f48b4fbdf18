//! How many documents have a feature.

use std::collections::HashMap;

use crate::error::Result;

/// Document frequencies, which recipes with a [rarity](super::Rarity) weigh features by. They must
/// not change while there are fingerprints that were made with them.
pub trait Frequencies: Send + Sync {
    /// What the features are: [`Recipe::features`](super::Recipe::features) of the recipes that these
    /// serve.
    fn features(&self) -> &str;

    /// How many documents were counted: *N*.
    fn documents(&self) -> u64;

    /// Appends to `out`, for each feature's hash, how many documents have it; 0 for an unknown one.
    ///
    /// # Errors
    /// Those of whatever the frequencies are read from.
    fn frequencies(&self, hashes: &[u64], out: &mut Vec<u64>) -> Result<()>;
}

/// Frequencies in memory, for small collections and for tests.
///
/// ```
/// use simkeep::fingerprint::{Counted, Fingerprinter, Recipe};
/// let recipe: Recipe = "words-idf".parse()?;
/// let mut counted = Counted::new(&recipe);
/// ["the red house", "the green house", "the blue car"].iter().for_each(|text| counted.add(text));
/// let mut fingerprinter = Fingerprinter::with_frequencies(&recipe, &counted)?;
/// assert_ne!(fingerprinter.of_text("the red car")?, 0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Counted {
    name: String,
    features: super::FeatureSet,
    documents: u64,
    frequencies: HashMap<u64, u64>,
}

impl Counted {
    /// No documents yet, of whose features this recipe says what they are.
    pub fn new(recipe: &super::Recipe) -> Counted {
        Counted {
            name: recipe.features(),
            features: super::FeatureSet::new(recipe),
            documents: 0,
            frequencies: HashMap::new(),
        }
    }

    /// Counts a document.
    pub fn add(&mut self, text: &str) {
        self.documents += 1;
        for hash in self.features.of_text(text) {
            *self.frequencies.entry(*hash).or_default() += 1;
        }
    }
}

impl Frequencies for Counted {
    fn features(&self) -> &str {
        &self.name
    }

    fn documents(&self) -> u64 {
        self.documents
    }

    fn frequencies(&self, hashes: &[u64], out: &mut Vec<u64>) -> Result<()> {
        out.extend(hashes.iter().map(|hash| self.frequencies.get(hash).copied().unwrap_or(0)));
        Ok(())
    }
}
