//! The distinct features of a text.

use super::grams::Grams;
use super::kernel::FingerprintKernel;
use super::recipe::Recipe;

/// The number of features for which memory is kept between texts.
const FEATURES_KEPT: usize = 1 << 16;

/// Computes the distinct features of texts, which document frequencies count.
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
    /// Creates a set for the features of this recipe, regardless of their weights.
    pub fn new(recipe: &Recipe) -> FeatureSet {
        FeatureSet { grams: Grams::new(recipe, FingerprintKernel::fastest()), hashes: Vec::new() }
    }

    /// Returns the hashes of the distinct features of a text, ascending. Sorts them, with 8 bytes
    /// for each occurrence.
    ///
    /// ```
    /// use simkeep::fingerprint::{FeatureSet, Recipe};
    /// let mut pairs = FeatureSet::new(&Recipe::words(2));
    /// assert_eq!(pairs.of_text("a rose is a rose is a rose").len(), 3); // a rose, rose is, is a
    /// ```
    pub fn of_text(&mut self, text: &str) -> &[u64] {
        let FeatureSet { grams, hashes } = self;
        hashes.clear();
        // Frees the memory that one large text needed.
        hashes.shrink_to(FEATURES_KEPT);
        grams.push(text, |some, _| hashes.extend_from_slice(some));
        grams.finish(|some, _| hashes.extend_from_slice(some));
        hashes.sort_unstable();
        hashes.dedup();
        hashes
    }
}
