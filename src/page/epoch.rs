//! Epochs, which separate fingerprints that are not comparable, and their roles.

use std::fmt;
use std::str::FromStr;

use super::content::DIGESTS;
use crate::fingerprint::Bands;

/// The number of an epoch. All fingerprints of an epoch come from one extractor, one recipe and one
/// table of document frequencies.
///
/// Fingerprints of different epochs are never compared. A store assigns a number to each epoch's
/// name.
///
/// The low 24 bits count the epochs of a store from 0. The upper 8 bits are the number of leading
/// bits that the epoch's fingerprints reserve for metadata. Reserved bits are not part of a
/// distance.
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
    /// The number of low bits that count the epochs.
    pub(super) const COUNT_BITS: u32 = 24;

    /// The epoch number stored with redirects, which belong to no epoch. The number is 0, which is
    /// also the number of an epoch.
    pub(crate) const NONE: Epoch = Epoch(0);

    /// Creates an epoch from its count and its number of reserved bits; `None` if either is too
    /// large. The largest count is the number of the tables of [digests](DIGESTS).
    pub(crate) fn new(count: usize, reserved: u32) -> Option<Epoch> {
        let count = u32::try_from(count).ok().filter(|count| *count < DIGESTS)?;
        (reserved <= 64).then_some(Epoch(count | reserved << Self::COUNT_BITS))
    }

    /// Whether a store can have issued the number.
    pub(crate) fn is_possible(self) -> bool {
        Epoch::new(self.count() as usize, self.0 >> Self::COUNT_BITS).is_some()
    }

    /// Creates an epoch from a number that a store assigned, for callers that keep the number
    /// elsewhere. A store that never assigned the number rejects the epoch with
    /// [`Error::UnknownEpoch`](crate::Error::UnknownEpoch).
    ///
    /// ```
    /// # use simkeep::{Epoch, Observation, Options, Store, Time};
    /// # fn main() -> simkeep::Result<()> {
    /// # let dir = tempfile::tempdir().unwrap();
    /// # let store = Store::create(dir.path().join("store"), Options::default())?;
    /// let kept: u32 = store.change_epoch().number(); // kept in a file of your own
    /// let epoch = Epoch::from_number(kept);
    /// store.observe(Observation::content("https://example.com/", Time::from_ms(1_000)?, 7, epoch))?;
    /// // The store never assigned this number.
    /// let other = Epoch::from_number(kept + 1);
    /// let seen = Observation::content("https://example.com/", Time::from_ms(2_000)?, 7, other);
    /// assert!(store.observe(seen).is_err());
    /// # Ok(())
    /// # }
    /// ```
    pub const fn from_number(number: u32) -> Epoch {
        Epoch(number)
    }

    /// The number, for callers that keep it elsewhere.
    ///
    /// ```
    /// use simkeep::Epoch;
    /// assert_eq!(Epoch::from_number(3).number(), 3);
    /// ```
    pub const fn number(self) -> u32 {
        self.0
    }

    /// The number of older epochs in the store.
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
        // All 64 bits may be reserved; in this case no bit is compared.
        u64::MAX.checked_shr(self.0 >> Self::COUNT_BITS).unwrap_or(0)
    }
}

/// The purpose of an epoch's fingerprints, which is set when the epoch begins and never changes.
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
    /// The fingerprints detect changes of a page: verdicts and their distances use them.
    Change,
    /// The fingerprints find near-duplicates: searches, copies and pairs use them.
    Near,
    /// The fingerprints detect changes and find near-duplicates.
    #[default]
    Both,
}

impl Role {
    /// Tests of a role, one for each of the two uses of fingerprints.
    pub(crate) const USES: [fn(Role) -> bool; 2] = [Role::detects_changes, Role::finds_near];

    /// Whether verdicts and their distances use fingerprints of an epoch with this role.
    ///
    /// ```
    /// use simkeep::Role;
    /// assert!(Role::Both.detects_changes() && Role::Change.detects_changes() &&
    /// !Role::Near.detects_changes());
    /// ```
    pub const fn detects_changes(self) -> bool {
        matches!(self, Role::Change | Role::Both)
    }

    /// Whether searches for near-duplicates and copies use fingerprints of an epoch with this role.
    ///
    /// ```
    /// use simkeep::Role;
    /// assert!(Role::Both.finds_near() && Role::Near.finds_near() && !Role::Change.finds_near());
    /// ```
    pub const fn finds_near(self) -> bool {
        matches!(self, Role::Near | Role::Both)
    }

    /// The name of the role.
    const fn name(self) -> &'static str {
        match self {
            Role::Change => "change",
            Role::Near => "near",
            Role::Both => "both",
        }
    }
}

impl fmt::Display for Role {
    /// Formats the role as `change`, `near` or `both`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Role {
    type Err = RoleError;

    /// Parses `change`, `near` or `both`.
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
    /// The number of the epoch.
    pub epoch: Epoch,
    /// The name of the epoch, unique in the store.
    pub name: String,
    /// The number of visits in the store when the epoch began.
    pub begun: u64,
    /// The purpose of the epoch's fingerprints.
    pub role: Role,
    /// The distances of minor and of moderate changes.
    pub bands: Bands,
    /// Whether the epoch has [ended](crate::Store::end_epoch). After its end, nothing is observed
    /// or searched in the epoch.
    pub ended: bool,
}

/// Looks up the description of an epoch. `epochs` are all epochs of a store in order of number.
pub(crate) fn find_epoch(epochs: &[EpochInfo], epoch: Epoch) -> Option<&EpochInfo> {
    let info = epochs.get(epoch.count() as usize);
    info.filter(|info| info.epoch == epoch)
}

/// The newest epoch that has not ended, among epochs with a role that `is_for` accepts.
pub(crate) fn in_use(epochs: &[EpochInfo], is_for: fn(Role) -> bool) -> Option<&EpochInfo> {
    epochs.iter().rev().find(|info| !info.ended && is_for(info.role))
}

/// Whether verdicts use fingerprints of the epoch; `false` for an epoch that is not in `epochs`.
pub(super) fn detects_changes(epochs: &[EpochInfo], epoch: Epoch) -> bool {
    find_epoch(epochs, epoch).is_some_and(|info| info.role.detects_changes())
}

/// The options of an epoch, set when it begins: the role of its fingerprints, and the distances of
/// minor and of moderate changes.
///
/// A [`Role`] converts to options. With these options the bands come from the recipe's
/// [calibration](crate::fingerprint::Recipe::bands). For fingerprints that are made elsewhere, the
/// bands are [`Bands::EXTERNAL`].
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
    /// The purpose of the epoch's fingerprints.
    pub role: Role,
    /// The distances of minor and of moderate changes; `None` for the default bands.
    pub bands: Option<Bands>,
}

impl EpochOptions {
    /// Sets the bands.
    ///
    /// ```
    /// use simkeep::fingerprint::Bands;
    /// use simkeep::{EpochOptions, Role};
    /// let options = EpochOptions::from(Role::Near).bands(Bands { minor: 1, moderate: 8 });
    /// assert_eq!((options.role, options.bands.unwrap().moderate), (Role::Near, 8));
    /// ```
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
    /// Returns the options with which the epoch began.
    ///
    /// ```
    /// # use simkeep::{Options, Role, Store};
    /// # fn main() -> simkeep::Result<()> {
    /// # let dir = tempfile::tempdir().unwrap();
    /// # let store = Store::create(dir.path().join("store"), Options::default())?;
    /// let mine = store.register_epoch("my own hashes", Role::Near)?;
    /// let options = store.snapshot().epochs()[1].options();
    /// // Registering the name again with the same options returns the same epoch.
    /// assert_eq!(store.register_epoch("my own hashes", options)?, mine);
    /// # Ok(())
    /// # }
    /// ```
    pub fn options(&self) -> EpochOptions {
        EpochOptions { role: self.role, bands: Some(self.bands) }
    }
}
