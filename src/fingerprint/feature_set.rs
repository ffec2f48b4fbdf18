//! The distinct features of a text.

use super::grams::Grams;
use super::kernel::Kernel;
use super::recipe::Recipe;

/// Memory is kept for this many features between texts.
const FEATURES_KEPT: usize = 1 << 16;

/// Finds the distinct features of texts, one after another: what document frequencies count.
///
/// ```
/// use simkeep::fingerprint::{FeatureSet, Recipe};
/// let mut set = FeatureSet::new(&Recipe::words(1));
/// assert_eq!(set.of_text("to be, or not to be").len(), 4);
/// ```
#[derive(Clone, Debug)]
pub struct FeatureSet {
    grams: Grams,
    hashes: Vec<u64>,
}

impl FeatureSet {
    /// Finds the features of this recipe, whatever they weigh.
    pub fn new(recipe: &Recipe) -> FeatureSet {
        FeatureSet { grams: Grams::new(recipe, Kernel::fastest()), hashes: Vec::new() }
    }

    /// The hashes of the distinct features of a text, ascending. Sorts them: 8 bytes for each
    /// occurrence.
    pub fn of_text(&mut self, text: &str) -> &[u64] {
        let FeatureSet { grams, hashes } = self;
        hashes.clear();
        // Gives back the memory that one large text took.
        hashes.shrink_to(FEATURES_KEPT);
        grams.push(text, |some, _| hashes.extend_from_slice(some));
        grams.finish(|some, _| hashes.extend_from_slice(some));
        hashes.sort_unstable();
        hashes.dedup();
        hashes
    }
}
