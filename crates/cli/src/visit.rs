//! An entry of a history as it is shown.

use serde_json::{Map, Value};
use simkeep::{Entry, Epoch, EpochInfo, Error, Seen, Weight};

use simkeep_archive::export;

/// What was seen where no content was.
pub(super) fn seen(seen: &Seen) -> Option<&'static str> {
    match seen {
        Seen::Content(_) => None,
        Seen::NotModified { .. } => Some("not-modified"),
        Seen::Gone => Some("gone"),
        Seen::Failed => Some("failed"),
    }
}

/// An entry as `export` writes and `load` reads it: keys in this order, and only those that say
/// something. Content without a fingerprint has `null` in its place.
#[expect(clippy::expect_used, reason = "it was written as an object a moment ago")]
pub(super) fn object(
    url: &str,
    entry: &Entry,
    epochs: &[EpochInfo],
) -> simkeep::Result<Map<String, Value>> {
    let name = entry.content().map_or(Ok(""), |content| epoch(epochs, content.epoch))?;
    let line = export::entry(url, entry, name);
    Ok(serde_json::from_str(&line).expect("an entry is written as an object"))
}

/// A weight as a number that is read as the same weight.
pub(super) fn weight(weight: Weight) -> Value {
    number(weight.to_f64())
}

/// A positive number as people write one: a whole one without decimals.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "below 2^53")]
pub(super) fn number(number: f64) -> Value {
    if number.fract() == 0.0 && number < 9e15 { (number as u64).into() } else { number.into() }
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
