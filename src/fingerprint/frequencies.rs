//! How many documents have a feature.

use crate::fingerprint::error::{FingerprintError, Result};

/// Document frequencies, by which recipes with a [rarity](super::Rarity) weigh features, and others
/// [leave features out](super::Recipe::leave_out). They must not change as long
/// as there are fingerprints made with them.
pub trait Frequencies: Send + Sync {
    /// What the features are: the [`Recipe::features`](super::Recipe::features) of the recipes that
    /// can use these frequencies.
    fn features(&self) -> &str;

    /// How many documents were counted: *N*.
    fn documents(&self) -> u64;

    /// Appends to `out`, for each hash of a feature, how many documents have it; 0 if it is
    /// unknown.
    ///
    /// # Errors
    ///
    /// [`FingerprintError::Frequencies`] if the source of the frequencies fails.
    fn frequencies(&self, hashes: &[u64], out: &mut Vec<u64>) -> Result<()>;
}

/// Puts into `out`, for each hash of a feature, how many documents have it.
pub(super) fn look_up(table: &dyn Frequencies, hashes: &[u64], out: &mut Vec<u64>) -> Result<()> {
    out.clear();
    table.frequencies(hashes, out)?;
    if out.len() != hashes.len() {
        let (given, asked) = (out.len(), hashes.len());
        let what = format!("a table gave {given} frequencies for {asked} features");
        return Err(FingerprintError::Invalid(what));
    }
    Ok(())
}
