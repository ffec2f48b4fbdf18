//! Validation of requests.

use crate::engine::epochs::check_live;
use crate::engine::snapshot::Snapshot;
use crate::error::{Error, Result};
use crate::page::{ETag, Epoch, EpochInfo, Observation, Operation, Property, PropertyUpdate};
use crate::time::TimeError;
use crate::url::check_url;

impl Operation<'_> {
    /// Checks that a request can be stored: that [`write_batch`](crate::Store::write_batch) would
    /// accept its URL, times, weight and epochs. The error of a failed batch does not say which
    /// request is invalid; this check finds the request.
    ///
    /// Costs a pass over the URL, about 10 ns, and reads no file.
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
    /// The reason why the request is invalid: [`Error::Url`], [`Error::Time`],
    /// [`Error::InvalidOption`], [`Error::UnknownEpoch`], [`Error::EndedEpoch`], or
    /// [`Error::InvalidArgument`] if both of its fingerprints belong to one epoch, or its entity tag
    /// cannot be sent.
    pub fn check(&self, snapshot: &Snapshot) -> Result<()> {
        check_in(snapshot.epochs(), self)
    }
}

/// Checks that a request can be stored in a store with the epochs `epochs`.
pub(crate) fn check_in(epochs: &[EpochInfo], operation: &Operation<'_>) -> Result<()> {
    // The checks that need no store come first, then the check that the epochs exist and have not
    // ended.
    check(operation)?;
    of_epochs(operation).try_for_each(|epoch| check_live(epochs, epoch))
}

/// The epochs of the fingerprints of an operation.
pub(crate) fn of_epochs(operation: &Operation<'_>) -> impl Iterator<Item = Epoch> + use<> {
    let own = operation.epoch();
    own.into_iter().chain(operation.also().map(|also| also.epoch))
}

/// Checks that a request is valid in any store.
pub(crate) fn check(operation: &Operation<'_>) -> Result<()> {
    check_url(operation.url())?;
    let (modified, weight) = match operation {
        Operation::Observe(observation) => (observation.visit.modified, observation.weight),
        Operation::Restate(_) => (None, None),
        Operation::SetProperty(PropertyUpdate { entry, .. }) => match entry.property {
            Property::Weight(weight) => (None, Some(weight)),
            _ => (None, None),
        },
    };
    let time = operation.time();
    // Times outside of the years 1 to 9999 are rejected here, so that no difference of times
    // overflows later.
    for time in [Some(time), modified].into_iter().flatten() {
        if !time.is_storable() {
            return Err(TimeError::OutOfRange(time.as_ms()).into());
        }
    }
    if weight.is_some_and(|weight| !weight.is_sound()) {
        return Err(Error::InvalidOption { name: "weight", takes: "finite and greater than 0" });
    }
    if let Operation::Observe(Observation { etag: Some(etag), .. }) = operation
        && !ETag::is_sendable(etag)
    {
        return Err(Error::invalid_argument(
            "the entity tag has a line end or a NUL, which no header has; pass the value of the \
             header alone",
        ));
    }
    match (operation.seen(), operation.also()) {
        // One content has one fingerprint in an epoch. With two fingerprints, chance would decide
        // which of them counts.
        (Some(own), Some(also)) if own.epoch == also.epoch => Err(Error::invalid_argument(
            "both fingerprints of an observation belong to the same epoch; give each observation \
             one fingerprint of an epoch",
        )),
        _ => Ok(()),
    }
}
