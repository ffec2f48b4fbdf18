//! What makes fingerprints that can be compared.

/// The number of an epoch: one extractor, one recipe, one document-frequency table. Fingerprints of
/// different epochs are never compared. A store hands these numbers out for names.
///
/// The low 24 bits count the epochs of a store from 0. The upper 8 say how many leading bits of its
/// fingerprints are reserved for metadata: they are no part of a distance.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Epoch(pub(crate) u32);

impl Epoch {
    /// The bits of the number that count the epochs.
    const COUNT_BITS: u32 = 24;

    /// An epoch with this count and this many reserved bits; `None` if either is too large.
    pub(crate) fn new(count: usize, reserved: u32) -> Option<Epoch> {
        let count = u32::try_from(count).ok().filter(|count| *count < 1 << Self::COUNT_BITS)?;
        (reserved <= 64).then_some(Epoch(count | reserved << Self::COUNT_BITS))
    }

    /// Whether a store can have issued this number.
    pub(crate) fn is_possible(self) -> bool {
        Epoch::new(self.count() as usize, self.0 >> Self::COUNT_BITS).is_some()
    }

    /// The epoch of a number that a store gave before, for those who keep it elsewhere. A number that
    /// the store never gave is [`Error::UnknownEpoch`](crate::Error::UnknownEpoch) to it.
    pub const fn from_number(number: u32) -> Epoch {
        Epoch(number)
    }

    /// Its number, to be kept elsewhere.
    ///
    /// ```
    /// use simkeep::Epoch;
    /// assert_eq!(Epoch::from_number(3).number(), 3);
    /// ```
    pub const fn number(self) -> u32 {
        self.0
    }

    /// How many epochs of the store are older.
    ///
    /// ```
    /// assert_eq!(simkeep::Epoch::from_number(3).count(), 3);
    /// ```
    pub fn count(self) -> u32 {
        self.0 & ((1 << Self::COUNT_BITS) - 1)
    }

    /// The bits of its fingerprints that are compared.
    ///
    /// ```
    /// assert_eq!(simkeep::Epoch::from_number(3).mask(), u64::MAX);
    /// ```
    pub fn mask(self) -> u64 {
        // All 64 may be reserved, and then none are left.
        u64::MAX.checked_shr(self.0 >> Self::COUNT_BITS).unwrap_or(0)
    }
}

/// What a store knows of an epoch.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct EpochInfo {
    /// Its number.
    pub epoch: Epoch,
    /// Its name, which no other epoch of the store has.
    pub name: String,
    /// How many visits the store knew when it began.
    pub begun: u64,
    /// Whether it has [ended](crate::Store::end_epoch): nothing is observed or searched in it any
    /// more.
    pub ended: bool,
}
