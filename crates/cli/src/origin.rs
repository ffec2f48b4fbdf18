//! The epochs of a store whose fingerprints this tool makes.

use simkeep::fingerprint::{EXTRACTOR, Recipe};
use simkeep::{Epoch, EpochInfo, Error, Options, Origin, Snapshot};

use super::advice::message;
use super::exit::{Failure, say};

/// What makes the fingerprints of texts where a store says nothing else.
pub(super) fn default() -> simkeep::Result<Origin> {
    Origin::new(Recipe::DEFAULT).extractor(EXTRACTOR)
}

/// The options of a store that this tool makes.
pub(super) fn options() -> Result<Options, Failure> {
    Ok(Options::default().epoch(default()?.name()))
}

/// What makes the fingerprints of texts: of the newest epoch that is one of this tool's, and of the
/// one before, if that has not ended. Of no epoch, the default.
pub(super) fn live(snapshot: &Snapshot) -> Result<Vec<Origin>, Failure> {
    /// As many fingerprints as an observation takes.
    const MOST: usize = 2;
    let mut origins = Vec::new();
    for info in snapshot.epochs().iter().rev().filter(|info| is_ours(info)) {
        match snapshot.origin(info.epoch) {
            // Without the second one there is no distance to what only that has.
            Err(e @ Error::NoTable { .. }) if !origins.is_empty() => say(&message(&e)),
            origin => origins.extend(origin?),
        }
        if origins.len() == MOST {
            break;
        }
    }
    if origins.is_empty() {
        origins.push(default()?);
    }
    Ok(origins)
}

/// Whether the epoch is live and of this tool's extractor.
fn is_ours(info: &EpochInfo) -> bool {
    !info.ended && info.name.split(' ').next() == Some(EXTRACTOR)
}

/// The epoch of texts, if it is not named, and what makes their fingerprints.
pub(super) fn of_texts(
    snapshot: &Snapshot,
    named: Option<Epoch>,
) -> Result<(Epoch, Origin), Failure> {
    let ours = || snapshot.epochs().iter().rev().find(|info| is_ours(info));
    let Some(epoch) = named.or_else(|| ours().map(|info| info.epoch)) else {
        let what = "the store has no epoch of texts; name one with --epoch";
        return Err(Failure::Usage(what.to_owned()));
    };
    let origin = snapshot.origin(epoch)?.ok_or_else(|| {
        let what = "the fingerprints of this epoch are made elsewhere; name a fingerprint instead";
        Failure::Usage(what.to_owned())
    })?;
    Ok((epoch, origin))
}

/// The epoch of this name.
pub(super) fn named(epochs: &[EpochInfo], name: &str) -> Result<Epoch, Failure> {
    let found = epochs.iter().find(|info| info.name == name);
    found.map(|info| info.epoch).ok_or_else(|| {
        let known: Vec<&str> = epochs.iter().map(|info| info.name.as_str()).collect();
        let known = known.join(", ");
        Failure::Usage(format!("the store has no epoch {name}; name one with --epoch: {known}"))
    })
}
