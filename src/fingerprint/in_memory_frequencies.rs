//! Document frequencies in memory.

use std::collections::HashMap;

use super::feature_set::FeatureSet;
use super::frequencies::Frequencies;
use super::recipe::Recipe;
use crate::fingerprint::error::Result;

/// Document frequencies in memory, for small collections and for tests.
///
/// ```
/// use simkeep::fingerprint::{InMemoryFrequencies, Fingerprinter, Recipe};
/// let recipe: Recipe = "words-idf".parse()?;
/// let mut counted = InMemoryFrequencies::new(&recipe);
/// ["the red house", "the green house", "the blue car"].iter().for_each(|text| counted.add(text));
/// let mut fingerprinter = Fingerprinter::with_frequencies(&recipe, &counted)?;
/// assert_ne!(fingerprinter.of_text("the red car")?, 0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct InMemoryFrequencies {
    name: String,
    features: FeatureSet,
    documents: u64,
    frequencies: HashMap<u64, u64>,
}

impl InMemoryFrequencies {
    /// Creates an empty count for the features of this recipe.
    pub fn new(recipe: &Recipe) -> InMemoryFrequencies {
        InMemoryFrequencies {
            name: recipe.features(),
            features: FeatureSet::new(recipe),
            documents: 0,
            frequencies: HashMap::new(),
        }
    }

    /// Counts a document.
    ///
    /// ```
    /// use simkeep::fingerprint::{Frequencies, InMemoryFrequencies, Recipe};
    /// let mut counted = InMemoryFrequencies::new(&Recipe::words(1));
    /// counted.add("the red house");
    /// counted.add("the blue car");
    /// assert_eq!(counted.documents(), 2);
    /// ```
    pub fn add(&mut self, text: &str) {
        count(&mut self.documents, &mut self.frequencies, self.features.of_text(text));
    }

    /// Counts a document by its distinct features, as [`FeatureSet::of_text`] returns them for the
    /// recipe.
    pub fn add_features(&mut self, features: &[u64]) {
        count(&mut self.documents, &mut self.frequencies, features);
    }
}

fn count(documents: &mut u64, frequencies: &mut HashMap<u64, u64>, features: &[u64]) {
    *documents += 1;
    for hash in features {
        *frequencies.entry(*hash).or_default() += 1;
    }
}

impl Frequencies for InMemoryFrequencies {
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
