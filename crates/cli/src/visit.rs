//! An entry of a history as it is shown.

use simkeep::{Epoch, EpochInfo, Error, Seen};

/// What was seen where no content was.
pub(super) fn seen(seen: &Seen) -> Option<&'static str> {
    match seen {
        Seen::Content(_) => None,
        Seen::NotModified { .. } => Some("not-modified"),
        Seen::Gone => Some("gone"),
        Seen::Failed => Some("failed"),
    }
}

/// A fingerprint in 16 digits.
pub(super) fn fingerprint(fingerprint: u64) -> String {
    format!("{fingerprint:016x}")
}

/// The name of an epoch. A store names every epoch that it has fingerprints of, unless it is damaged.
pub(super) fn epoch(epochs: &[EpochInfo], epoch: Epoch) -> simkeep::Result<&str> {
    let info = epochs.iter().find(|info| info.epoch == epoch);
    info.map(|info| info.name.as_str()).ok_or(Error::UnknownEpoch(epoch.number()))
}
