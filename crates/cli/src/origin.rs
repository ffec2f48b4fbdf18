//! The epochs of a store whose fingerprints this tool makes.

use simkeep::fingerprint::{EXTRACTOR, Recipe};
use simkeep::{Epoch, EpochInfo, Error, Options, Origin, Role, Snapshot};

use super::advice::message;
use super::exit::{Failure, say};
use simkeep_archive::escape;

/// What makes the fingerprints of texts where a store says nothing else.
pub(super) fn default() -> simkeep::Result<Origin> {
    Origin::new(Recipe::DEFAULT).extractor(EXTRACTOR)
}

/// The options of a store that this tool makes.
pub(super) fn options() -> Result<Options, Failure> {
    Ok(Options::default().epoch(default()?.name()))
}

/// What makes the fingerprints of texts: of the newest epochs of this tool's that verdicts and
/// near-duplicates go by; if one has both roles, of the one before as well, if that has not ended.
/// That by which verdicts go comes first. Of no epoch, the default. Nothing if one of those is of
/// another version of the extractor.
pub(super) fn live(snapshot: &Snapshot) -> Result<Vec<Origin>, Failure> {
    /// As many fingerprints as an observation takes.
    const MOST: usize = 2;
    let epochs = snapshot.epochs();
    if ours(epochs).next().is_none() {
        return Ok(vec![default()?]);
    }
    if other(epochs).is_some() {
        return Ok(Vec::new());
    }
    let mut taken: Vec<&EpochInfo> = Vec::new();
    for info in in_use(epochs).chain(ours(epochs).filter(|info| extractor(info) == EXTRACTOR)) {
        if !taken.contains(&info) && taken.len() < MOST {
            taken.push(info);
        }
    }
    let mut origins = Vec::new();
    for info in taken {
        match snapshot.origin(info.epoch) {
            // Without the second one there is no distance to what only that has.
            Err(e @ Error::NoTable { .. }) if !origins.is_empty() => say(&message(&e)),
            origin => origins.extend(origin?),
        }
    }
    Ok(origins)
}

/// Of the live epochs of this tool's extractor the newest that tells of changes, and the newest that
/// finds near-duplicates.
fn in_use(epochs: &[EpochInfo]) -> impl Iterator<Item = &EpochInfo> {
    let newest = |is_for: fn(Role) -> bool| ours(epochs).find(|info| is_for(info.role));
    [Role::tells_change, Role::finds_near].into_iter().filter_map(newest)
}

/// One of these that is of another version of the extractor.
fn other(epochs: &[EpochInfo]) -> Option<&EpochInfo> {
    in_use(epochs).find(|info| extractor(info) != EXTRACTOR)
}

/// The name of what made the texts of an epoch, if its name says so.
fn extractor(info: &EpochInfo) -> &str {
    info.name.split(' ').next().unwrap_or_default()
}

/// The live epochs of this tool's extractor in whatever version, the newest first.
fn ours(epochs: &[EpochInfo]) -> impl Iterator<Item = &EpochInfo> {
    let kind = |name: &'static str| name.split_inclusive('/').next().unwrap_or_default();
    let ours = move |info: &&EpochInfo| {
        !info.ended && Origin::is_name(&info.name) && extractor(info).starts_with(kind(EXTRACTOR))
    };
    epochs.iter().rev().filter(ours)
}

/// Why no fingerprints are made of texts for a store with these epochs, and what to do, where
/// [`live`] gives none.
pub(super) fn why_none(epochs: &[EpochInfo]) -> String {
    other(epochs).map_or_else(|| without_table(epochs), other_version)
}

/// Why no fingerprints are made of texts by recipes that need a table, where the names of their epochs
/// name none: whoever makes such names makes the fingerprints, too.
fn without_table(epochs: &[EpochInfo]) -> String {
    let names: Vec<&str> = ours(epochs).map(|info| info.name.as_str()).collect();
    format!(
        "no fingerprint is made of a text in {}: the recipe needs a table of document frequencies, and \
         the epoch has none; begin one that has: simkeep epoch begin --df FILE",
        escape::whole(&names.join(" and "))
    )
}

/// Why no fingerprint is made of a text in an epoch that is of another version of the extractor.
fn other_version(info: &EpochInfo) -> String {
    format!(
        "the fingerprints of {} are of texts that another version of simkeep extracted, and this one \
         extracts them by {EXTRACTOR}; they must not be compared: begin an epoch by simkeep epoch begin, \
         then simkeep ingest --restate gives it what was crawled before",
        escape::whole(&info.name)
    )
}

/// The epoch by which near-duplicates of texts are sought, if it is not named, and what makes its
/// fingerprints.
pub(super) fn of_texts(
    snapshot: &Snapshot,
    named: Option<Epoch>,
) -> Result<(Epoch, Origin), Failure> {
    let newest = || ours(snapshot.epochs()).find(|info| info.role.finds_near());
    let Some(epoch) = named.or_else(|| newest().map(|info| info.epoch)) else {
        let what = "the store has no epoch of texts; name one with --epoch";
        return Err(Failure::Usage(what.to_owned()));
    };
    let other = |info: &&EpochInfo| info.epoch == epoch && extractor(info) != EXTRACTOR;
    if let Some(info) = ours(snapshot.epochs()).find(other) {
        return Err(Failure::Usage(other_version(info)));
    }
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
