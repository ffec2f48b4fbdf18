//! What an epoch is given when it begins.

use super::{EpochInfo, Role};
use crate::fingerprint::Bands;

/// What an epoch is given when it begins, and keeps: what its fingerprints are for, and which of their
/// distances are minor changes and which moderate ones.
///
/// A [`Role`] alone will do. The bands are then those that the recipe is
/// [calibrated](crate::fingerprint::Recipe::bands) to, and [`Bands::READY_MADE`] for fingerprints that
/// are made elsewhere.
///
/// ```
/// use simkeep::fingerprint::{Band, Bands};
/// use simkeep::{Options, Role, Store, Terms};
///
/// # fn main() -> simkeep::Result<()> {
/// # let dir = tempfile::tempdir().unwrap();
/// let store = Store::create(dir.path().join("crawl.simkeep"), Options::default())?;
/// let terms = Terms::from(Role::Near).bands(Bands { minor: 1, moderate: 8 });
/// let epoch = store.register_epoch("mine/1", terms)?;
/// assert_eq!(store.snapshot().meaning(epoch, 2).band, Band::Moderate);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Terms {
    /// What its fingerprints are for.
    pub role: Role,
    /// Which distances are minor, and which moderate, if that is not left to the recipe.
    pub bands: Option<Bands>,
}

impl Terms {
    /// These terms, with such bands.
    #[must_use]
    pub const fn bands(mut self, bands: Bands) -> Terms {
        self.bands = Some(bands);
        self
    }
}

impl From<Role> for Terms {
    fn from(role: Role) -> Terms {
        Terms { role, bands: None }
    }
}

impl EpochInfo {
    /// What it was given when it began.
    pub fn terms(&self) -> Terms {
        Terms { role: self.role, bands: Some(self.bands) }
    }
}
