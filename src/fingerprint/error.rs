//! Errors of fingerprinting.

use std::fmt;
use std::sync::Arc;

use crate::bug::Bug;

/// The reason why no fingerprint could be made.
///
/// ```
/// use simkeep::fingerprint::{FingerprintError, Fingerprinter, Rarity, Recipe};
/// // The recipe needs a table of document frequencies.
/// let recipe = Recipe::words(1).rarity(Rarity::Log);
/// assert!(matches!(Fingerprinter::new(&recipe), Err(FingerprintError::Invalid(_))));
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum FingerprintError {
    /// A recipe, a table or a text is invalid, or the recipe and the table do not match.
    Invalid(String),
    /// A source of document frequencies failed. See [`Frequencies`](super::Frequencies).
    Frequencies(Arc<dyn std::error::Error + Send + Sync>),
    /// An invariant of simkeep does not hold. Please report the bug.
    Bug(Bug),
}

/// The result type of this module.
pub(crate) type Result<T, E = FingerprintError> = std::result::Result<T, E>;

impl fmt::Display for FingerprintError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            FingerprintError::Invalid(what) => f.write_str(what),
            FingerprintError::Frequencies(e) => write!(f, "{e}"),
            FingerprintError::Bug(bug) => write!(f, "{bug}"),
        }
    }
}

impl std::error::Error for FingerprintError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            FingerprintError::Invalid(_) => None,
            FingerprintError::Frequencies(e) => Some(&**e),
            FingerprintError::Bug(bug) => Some(bug),
        }
    }
}

impl From<Bug> for FingerprintError {
    fn from(bug: Bug) -> Self {
        FingerprintError::Bug(bug)
    }
}
