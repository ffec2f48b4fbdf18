//! Whether a operation can be stored.

use crate::engine::epochs::check_live;
use crate::engine::snapshot::Snapshot;
use crate::error::{Error, Result};
use crate::page::{Entry, Epoch, EpochInfo, Operation};
use crate::time::TimeError;
use crate::url::check_url;

impl Operation<'_> {
    /// Whether a operation can be stored: whether its URL, its times, its weight and its epochs are such
    /// that [`write_batch`](crate::Store::write_batch) takes it. That says only that one of many is
    /// not; this finds which one.
    ///
    /// Costs a look at the URL, some 10 ns, and reads nothing.
    ///
    /// ```
    /// # fn main() -> simkeep::Result<()> {
    /// # use simkeep::{Observation, Options, Operation, Store, Time};
    /// # let dir = tempfile::tempdir().unwrap();
    /// # let store = Store::create(dir.path().join("store"), Options::default())?;
    /// let visits = ["https://example.com/", ""].map(|url| Observation::gone(url, Time::now()));
    /// assert!(store.observe_batch(&visits).is_err());
    /// let view = store.snapshot();
    /// let wrong = visits.iter().position(|visit| Operation::from(*visit).check(&view).is_err());
    /// assert_eq!(wrong, Some(1));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// What is wrong with it: [`Error::Url`], [`Error::Time`], [`Error::InvalidOption`],
    /// [`Error::UnknownEpoch`], [`Error::EndedEpoch`], or [`Error::InvalidArgument`] if both of its
    /// fingerprints are of the same epoch.
    pub fn check(&self, snapshot: &Snapshot) -> Result<()> {
        check_in(snapshot.epochs(), self)
    }
}

/// Whether a operation can be stored where there are these epochs.
pub(crate) fn check_in(epochs: &[EpochInfo], operation: &Operation<'_>) -> Result<()> {
    // First what depends on no store, then whether the epochs exist and have not ended.
    check(operation)?;
    of_epochs(operation).try_for_each(|epoch| check_live(epochs, epoch))
}

/// The epochs of the fingerprints of a operation.
pub(crate) fn of_epochs(operation: &Operation<'_>) -> impl Iterator<Item = Epoch> + use<> {
    let own = operation.entry().epoch();
    own.into_iter().chain(operation.also().map(|also| also.epoch))
}

/// Whether a operation can be stored as it is.
pub(crate) fn check(operation: &Operation<'_>) -> Result<()> {
    check_url(operation.url())?;
    let (modified, weight) = match operation {
        Operation::Observe(observation) => (observation.visit.modified, observation.weight),
        Operation::Restate(_) => (None, None),
        Operation::SetProperty(update) => (None, Entry::Property(update.entry).weight()),
    };
    let time = operation.entry().time();
    // Times beyond the years 1 to 9999 are refused here, so that no difference of times overflows later.
    for time in [Some(time), modified].into_iter().flatten() {
        if !time.is_storable() {
            return Err(TimeError::OutOfRange(time.as_ms()).into());
        }
    }
    if weight.is_some_and(|weight| !weight.is_sound()) {
        return Err(Error::InvalidOption { name: "weight", takes: "finite and greater than 0" });
    }
    match (operation.seen(), operation.also()) {
        // One content has one fingerprint in an epoch. Two would make one of them count by chance.
        (Some(own), Some(also)) if own.epoch == also.epoch => Err(Error::invalid_argument(
            "both fingerprints of an observation are of the same epoch",
        )),
        _ => Ok(()),
    }
}
