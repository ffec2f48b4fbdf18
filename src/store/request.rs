//! Whether a request can be stored.

use crate::error::{Error, Result};
use crate::page::{Entry, Epoch, Request, TIME_MAX, TIME_MIN, check_url};

/// The epochs of the fingerprints of a request.
pub(super) fn of_epochs(request: &Request<'_>) -> impl Iterator<Item = Epoch> + use<> {
    let own = request.entry().content().map(|content| content.epoch);
    own.into_iter().chain(request.also().map(|also| also.epoch))
}

/// Whether a request can be stored as it is.
pub(super) fn check(request: &Request<'_>) -> Result<()> {
    check_url(request.url())?;
    let (modified, weight) = match request {
        Request::Observe(observation) => (observation.visit.modified, observation.weight),
        Request::Restate(_) => (None, None),
        Request::Give(giving) => (None, Entry::Given(giving.given).weight()),
    };
    let time = request.entry().time();
    for time in [Some(time), modified].into_iter().flatten() {
        if !(TIME_MIN..=TIME_MAX).contains(&time) {
            return Err(Error::Time(time));
        }
    }
    if weight.is_some_and(|weight| !weight.is_sound()) {
        return Err(Error::Option { name: "weight", takes: "finite and greater than 0" });
    }
    match (request.seen(), request.also()) {
        (Some(own), Some(also)) if own.epoch == also.epoch => {
            Err(Error::misuse("both fingerprints of an observation are of the same epoch"))
        }
        _ => Ok(()),
    }
}
