//! An entry of a history as it is shown.

use serde_json::{Map, Value};
use simkeep::{Entry, Epoch, EpochInfo, Error, Seen, Weight};

use super::time;

/// What was seen where no content was.
pub(super) fn seen(seen: &Seen) -> Option<&'static str> {
    match seen {
        Seen::Content(_) => None,
        Seen::NotModified { .. } => Some("not-modified"),
        Seen::Gone => Some("gone"),
        Seen::Failed => Some("failed"),
    }
}

/// An entry as `export` writes and `ingest` reads it: keys in this order, and only those that say
/// something. Content without a fingerprint has `null` in its place.
pub(super) fn object(
    url: &str,
    entry: &Entry,
    epochs: &[EpochInfo],
) -> simkeep::Result<Map<String, Value>> {
    let mut object = Map::new();
    let mut put = |key: &str, value: Value| object.insert(key.to_owned(), value);
    put("url", url.into());
    put("t", time::format(entry.time()).into());
    if let Some(content) = entry.content() {
        put("fingerprint", content.fingerprint.map(fingerprint).into());
    }
    if let Some(digest) = entry.digest() {
        put("digest", digest.to_string().into());
    }
    if let Some(content) = entry.content() {
        put("epoch", epoch(epochs, content.epoch)?.into());
    }
    if let Some(status) = entry.visit().and_then(|visit| visit.status) {
        put("status", status.into());
    }
    if let Some(modified) = entry.visit().and_then(|visit| visit.modified) {
        put("modified", time::format(modified).into());
    }
    if let Some(weight) = entry.weight() {
        put("weight", self::weight(weight));
    }
    let seen = match entry {
        Entry::Visit(visit) => seen(&visit.seen),
        Entry::Restated(_) => Some("restated"),
        Entry::Weighed(_) => None,
    };
    if let Some(seen) = seen {
        put("seen", seen.into());
    }
    Ok(object)
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
