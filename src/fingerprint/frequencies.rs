//! Document frequencies of features.

use crate::fingerprint::error::{FingerprintError, Result};

/// Document frequencies. Recipes with a [rarity](super::Rarity) weigh features by them, and some
/// recipes [leave features out](super::Recipe::leave_out). The frequencies must not change while
/// fingerprints computed with them are in use.
///
/// ```
/// use simkeep::fingerprint::{FingerprintError, Fingerprinter, Frequencies, Rarity, Recipe};
///
/// /// Frequencies of another system: all words are equally rare.
/// struct Flat;
///
/// impl Frequencies for Flat {
///     fn features(&self) -> &str {
///         "words1"
///     }
///
///     fn documents(&self) -> u64 {
///         1_000
///     }
///
///     fn frequencies(&self, hashes: &[u64], out: &mut Vec<u64>) -> Result<(), FingerprintError> {
///         out.extend(hashes.iter().map(|_| 10));
///         Ok(())
///     }
/// }
///
/// let recipe = Recipe::words(1).rarity(Rarity::Log);
/// assert_eq!(recipe.features(), Flat.features());
/// let fingerprint = Fingerprinter::with_frequencies(&recipe, &Flat)?.of_text("fish and chips")?;
/// assert_ne!(fingerprint, 0);
/// # Ok::<(), simkeep::Error>(())
/// ```
pub trait Frequencies: Send + Sync {
    /// Returns the kind of features: the [`Recipe::features`](super::Recipe::features) of the
    /// recipes that can use these frequencies.
    fn features(&self) -> &str;

    /// Returns the number of counted documents: *N*.
    fn documents(&self) -> u64;

    /// Appends to `out`, for each hash of a feature, the number of documents with the feature; 0
    /// for an unknown feature.
    ///
    /// # Errors
    ///
    /// Returns [`FingerprintError::Frequencies`] if the source of the frequencies fails.
    fn frequencies(&self, hashes: &[u64], out: &mut Vec<u64>) -> Result<()>;
}

/// Writes to `out`, for each hash of a feature, the number of documents with the feature.
pub(super) fn look_up(table: &dyn Frequencies, hashes: &[u64], out: &mut Vec<u64>) -> Result<()> {
    out.clear();
    table.frequencies(hashes, out)?;
    if out.len() != hashes.len() {
        let (given, asked) = (out.len(), hashes.len());
        let what = format!(
            "the table of document frequencies returned {given} frequencies for {asked} features"
        );
        return Err(FingerprintError::Invalid(what));
    }
    Ok(())
}
