//! How many documents have a feature.

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
