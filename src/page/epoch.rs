//! Epochs: which fingerprints are comparable, and their roles.

use std::fmt;
use std::str::FromStr;

use crate::fingerprint::Bands;

/// The number of an epoch: one extractor, one recipe, one table of document frequencies.
///
/// Fingerprints of different epochs are never compared. A store assigns a number to each epoch's
/// name.
///
/// The low 24 bits count the epochs of a store from 0. The upper 8 bits say how many leading bits
/// of its fingerprints are reserved for metadata. Reserved bits are not part of a distance.
///
/// ```
/// # use simkeep::{Epoch, Options, Store};
/// # fn main() -> simkeep::Result<()> {
/// # let dir = tempfile::tempdir().unwrap();
/// # let store = Store::create(dir.path().join("store"), Options::default())?;
/// let epoch = store.change_epoch();
/// let kept: u32 = epoch.number(); // in a file of your own
/// assert_eq!(Epoch::from_number(kept), epoch);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Epoch(pub(crate) u32);

impl Epoch {
    /// The bits of the number that count the epochs.
    const COUNT_BITS: u32 = 24;

    /// The epoch number stored with redirects, which belong to no epoch. It is 0, also the number
    /// of an epoch.
    pub(crate) const NONE: Epoch = Epoch(0);

    /// An epoch with this count and this many reserved bits; `None` if either is too large.
    pub(crate) fn new(count: usize, reserved: u32) -> Option<Epoch> {
        let count = u32::try_from(count).ok().filter(|count| *count < 1 << Self::COUNT_BITS)?;
        (reserved <= 64).then_some(Epoch(count | reserved << Self::COUNT_BITS))
    }

    /// Whether a store can have issued this number.
    pub(crate) fn is_possible(self) -> bool {
        Epoch::new(self.count() as usize, self.0 >> Self::COUNT_BITS).is_some()
    }

    /// Creates an epoch from a number that a store assigned, for callers that keep the number
    /// elsewhere. Calls of a store that never assigned it fail with
    /// [`Error::UnknownEpoch`](crate::Error::UnknownEpoch).
    pub const fn from_number(number: u32) -> Epoch {
        Epoch(number)
    }

    /// The number, to be kept elsewhere.
    ///
    /// ```
    /// use simkeep::Epoch;
    /// assert_eq!(Epoch::from_number(3).number(), 3);
    /// ```
    pub const fn number(self) -> u32 {
        self.0
    }

    /// The number of older epochs of the store.
    ///
    /// ```
    /// assert_eq!(simkeep::Epoch::from_number(3).count(), 3);
    /// ```
    pub fn count(self) -> u32 {
        self.0 & ((1 << Self::COUNT_BITS) - 1)
    }

    /// The mask of the fingerprint bits that are compared.
    ///
    /// ```
    /// assert_eq!(simkeep::Epoch::from_number(3).mask(), u64::MAX);
    /// ```
    pub fn mask(self) -> u64 {
        // All 64 may be reserved; then no bit is compared.
        u64::MAX.checked_shr(self.0 >> Self::COUNT_BITS).unwrap_or(0)
    }
}

/// The purpose of an epoch's fingerprints. It is set when the epoch begins, and never changes.
///
/// ```
/// # use simkeep::{Options, Role, Store};
/// # fn main() -> simkeep::Result<()> {
/// # let dir = tempfile::tempdir().unwrap();
/// # let store = Store::create(dir.path().join("store"), Options::default())?;
/// let near = store.register_epoch("images", Role::Near)?;
/// assert_eq!(store.snapshot().near_epoch(), near);
/// assert_ne!(store.change_epoch(), near);
/// assert_eq!("near".parse(), Ok(Role::Near));
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Role {
    /// They detect changes of a page: verdicts and their distances use them.
    Change,
    /// They find near-duplicates: searches, copies and pairs use them.
    Near,
    /// Both.
    #[default]
    Both,
}

impl Role {
    /// Tests a role for each of the two uses.
    pub(crate) const USES: [fn(Role) -> bool; 2] = [Role::tells_change, Role::finds_near];

    /// Whether verdicts and their distances use fingerprints of such an epoch.
    ///
    /// ```
    /// use simkeep::Role;
    /// assert!(Role::Both.tells_change() && Role::Change.tells_change() && !Role::Near.tells_change());
    /// ```
    pub const fn tells_change(self) -> bool {
        matches!(self, Role::Change | Role::Both)
    }

    /// Whether searches for near-duplicates and copies use fingerprints of such an epoch.
    ///
    /// ```
    /// use simkeep::Role;
    /// assert!(Role::Both.finds_near() && Role::Near.finds_near() && !Role::Change.finds_near());
    /// ```
    pub const fn finds_near(self) -> bool {
        matches!(self, Role::Near | Role::Both)
    }

    /// Its name.
    const fn name(self) -> &'static str {
        match self {
            Role::Change => "change",
            Role::Near => "near",
            Role::Both => "both",
        }
    }
}

impl fmt::Display for Role {
    /// `change`, `near` or `both`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Role {
    type Err = RoleError;

    /// Reads `change`, `near` or `both`.
    fn from_str(text: &str) -> Result<Role, RoleError> {
        let roles = [Role::Change, Role::Near, Role::Both];
        roles.into_iter().find(|role| role.name() == text).ok_or(RoleError(()))
    }
}

/// The error of parsing a text that is not the name of a [`Role`].
///
/// ```
/// use simkeep::Role;
/// assert!("nearby".parse::<Role>().is_err());
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RoleError(());

impl fmt::Display for RoleError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a role is change, near or both")
    }
}

impl std::error::Error for RoleError {}

/// The description of an epoch in a store.
///
/// ```
/// # use simkeep::{Options, Role, Store};
/// # fn main() -> simkeep::Result<()> {
/// # let dir = tempfile::tempdir().unwrap();
/// # let store = Store::create(dir.path().join("store"), Options::default())?;
/// store.register_epoch("images", Role::Near)?;
/// let names: Vec<_> = store.snapshot().epochs().iter().map(|info| info.name.clone()).collect();
/// assert_eq!(names[1], "images");
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct EpochInfo {
    /// Its number.
    pub epoch: Epoch,
    /// Its name, unique in the store.
    pub name: String,
    /// The number of visits in the store when it began.
    pub begun: u64,
    /// What its fingerprints are for.
    pub role: Role,
    /// The distances of minor and of moderate changes.
    pub bands: Bands,
    /// Whether it has [ended](crate::Store::end_epoch): nothing is observed or searched in it any
    /// more.
    pub ended: bool,
}

/// The description of an epoch, among those of a store in order of number.
pub(crate) fn known(epochs: &[EpochInfo], epoch: Epoch) -> Option<&EpochInfo> {
    let info = epochs.get(epoch.count() as usize);
    info.filter(|info| info.epoch == epoch)
}

/// The newest epoch that has not ended, among those with such a role.
pub(crate) fn in_use(epochs: &[EpochInfo], is_for: fn(Role) -> bool) -> Option<&EpochInfo> {
    epochs.iter().rev().find(|info| !info.ended && is_for(info.role))
}

/// Whether verdicts use fingerprints of this epoch. They do not if the catalog does not list it.
pub(super) fn tells_change(epochs: &[EpochInfo], epoch: Epoch) -> bool {
    known(epochs, epoch).is_some_and(|info| info.role.tells_change())
}

/// The options of an epoch, set when it begins: the role of its fingerprints, and the distances of
/// minor and of moderate changes.
///
/// A [`Role`] converts to options. The bands then come from the recipe's
/// [calibration](crate::fingerprint::Recipe::bands), or are [`Bands::EXTERNAL`] for fingerprints
/// that are made elsewhere.
///
/// ```
/// use simkeep::fingerprint::{Band, Bands};
/// use simkeep::{Options, Role, Store, EpochOptions};
///
/// # fn main() -> simkeep::Result<()> {
/// # let dir = tempfile::tempdir().unwrap();
/// let store = Store::create(dir.path().join("crawl.simkeep"), Options::default())?;
/// let options = EpochOptions::from(Role::Near).bands(Bands { minor: 1, moderate: 8 });
/// let epoch = store.register_epoch("mine/1", options)?;
/// assert_eq!(store.snapshot().meaning(epoch, 2).band, Band::Moderate);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct EpochOptions {
    /// What its fingerprints are for.
    pub role: Role,
    /// Which distances are minor, and which moderate, if that is not left to the recipe.
    pub bands: Option<Bands>,
}

impl EpochOptions {
    /// Sets the bands.
    #[must_use]
    pub const fn bands(mut self, bands: Bands) -> EpochOptions {
        self.bands = Some(bands);
        self
    }
}

impl From<Role> for EpochOptions {
    fn from(role: Role) -> EpochOptions {
        EpochOptions { role, bands: None }
    }
}

impl EpochInfo {
    /// Returns the options that it began with.
    pub fn options(&self) -> EpochOptions {
        EpochOptions { role: self.role, bands: Some(self.bands) }
    }
}
