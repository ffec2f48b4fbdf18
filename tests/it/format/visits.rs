//! Entries of a page and their fold, the head: `format/README.md`.

use std::collections::{BTreeMap, BTreeSet};

/// The kind of an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum DecodedSeen {
    Failed,
    NotModified,
    Gone,
    Content,
}

/// A visit, a restatement or a property. The order of the fields is that of entries.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct DecodedEntry {
    pub(crate) time: i64,
    /// The target, in an entry that sets one, which is otherwise an empty failed visit: the number of
    /// bytes that it shares with the URL of the page, and its other bytes.
    pub(crate) target: Option<(usize, String)>,
    /// The entity tag, in an entry that sets one.
    pub(crate) etag: Option<Vec<u8>>,
    /// The class, in an entry that sets one.
    pub(crate) class: Option<u32>,
    /// The bits of the weight, in an entry that sets one.
    pub(crate) weight: Option<u32>,
    pub(crate) digest: Option<[u8; 16]>,
    /// The epoch count of a restated content.
    pub(crate) restated: Option<u32>,
    pub(crate) fingerprint: Option<u64>,
    pub(crate) seen: DecodedSeen,
    pub(crate) epoch: Option<u32>,
    pub(crate) status: Option<u16>,
    pub(crate) modified: Option<i64>,
    pub(crate) bytes: Option<u64>,
    pub(crate) conditional: bool,
}

/// Digest, fingerprint and epoch, which identify a version.
pub(crate) type VersionKey = (Option<[u8; 16]>, Option<u64>, u32);

/// The number of older epochs of the store.
pub(crate) fn count(epoch: u32) -> u32 {
    epoch & 0x00ff_ffff
}

/// A mask of the compared bits of the epoch's fingerprints.
pub(crate) fn mask(epoch: u32) -> u64 {
    let reserved = epoch >> 24;
    assert!(reserved <= 64, "{reserved} reserved bits");
    (0..64 - reserved).fold(0, |mask, bit| mask | 1 << bit)
}

impl DecodedEntry {
    /// A failed visit without any other fields.
    pub(crate) fn failed(time: i64) -> DecodedEntry {
        DecodedEntry {
            time,
            target: None,
            etag: None,
            class: None,
            weight: None,
            digest: None,
            restated: None,
            fingerprint: None,
            seen: DecodedSeen::Failed,
            epoch: None,
            status: None,
            modified: None,
            bytes: None,
            conditional: false,
        }
    }

    pub(crate) fn with_weight(time: i64, bits: u32) -> DecodedEntry {
        DecodedEntry { weight: Some(bits), ..DecodedEntry::failed(time) }
    }

    pub(crate) fn with_class(time: i64, class: u32) -> DecodedEntry {
        DecodedEntry { class: Some(class), ..DecodedEntry::failed(time) }
    }

    pub(crate) fn with_etag(time: i64, etag: &[u8]) -> DecodedEntry {
        DecodedEntry { etag: Some(etag.to_vec()), ..DecodedEntry::failed(time) }
    }

    pub(crate) fn with_target(time: i64, shared: usize, rest: &str) -> DecodedEntry {
        DecodedEntry { target: Some((shared, rest.to_owned())), ..DecodedEntry::failed(time) }
    }

    pub(crate) fn content(&self) -> Option<VersionKey> {
        let content = (self.digest, self.fingerprint, self.epoch?);
        (self.seen == DecodedSeen::Content).then_some(content)
    }

    pub(crate) fn known(&self) -> Option<DatedVersion> {
        Some((self.time, self.content()?, self.restated.is_some()))
    }

    pub(crate) fn is_visit(&self) -> bool {
        let is_property = self.weight.is_some()
            || self.class.is_some()
            || self.etag.is_some()
            || self.target.is_some();
        self.restated.is_none() && !is_property
    }

    /// The modification date that it reports, and when.
    pub(crate) fn heard(&self) -> Option<(i64, i64)> {
        let is_there = matches!(self.seen, DecodedSeen::Content | DecodedSeen::NotModified);
        Some((self.time, self.modified.filter(|_| is_there)?))
    }
}

/// The number of visits among entries.
pub(crate) fn visits<'e>(entries: impl IntoIterator<Item = &'e DecodedEntry>) -> u64 {
    entries.into_iter().filter(|entry| entry.is_visit()).count() as u64
}

/// The fold over the entries of a page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct DecodedHead {
    pub(crate) visits: u64,
    pub(crate) first: i64,
    pub(crate) last: DecodedEntry,
    pub(crate) settled: Option<DecodedEntry>,
    /// The latest version first.
    pub(crate) versions: Vec<DatedVersion>,
    /// The last reported modification date, and when it was reported.
    pub(crate) modified: Option<(i64, i64)>,
    /// The time when the weight in force was set, and the weight. `classed` is the same for the
    /// class.
    pub(crate) weighed: Option<(i64, u32)>,
    pub(crate) classed: Option<(i64, u32)>,
    /// The last entity tag and the last target of the content last seen, each with its time.
    pub(crate) tagged: Option<(i64, Vec<u8>)>,
    pub(crate) pointing: Option<(i64, (usize, String))>,
}

/// A version, when it was last seen, and whether it was restated for that time.
pub(crate) type DatedVersion = (i64, VersionKey, bool);

/// The distinct contents among these, the latest first: at most 64, and back to the time and digest
/// of the eighth of any epoch.
pub(crate) fn versions(known: impl Iterator<Item = DatedVersion>) -> Vec<DatedVersion> {
    let mut last: BTreeMap<VersionKey, (i64, bool)> = BTreeMap::new();
    for (time, version, restated) in known {
        let at = last.entry(version).or_insert((time, restated));
        *at = (time, restated).max(*at);
    }
    let known = last.into_iter().map(|(version, (time, restated))| (time, version, restated));
    let mut versions: Vec<DatedVersion> = known.collect();
    versions.sort_by_key(|(time, (digest, fingerprint, epoch), restated)| {
        std::cmp::Reverse((*time, *digest, count(*epoch), *restated, *fingerprint))
    });
    versions.truncate(64);
    let epoch = |at: usize| {
        let (_, (_, _, epoch), _) = versions[at];
        epoch
    };
    let of_epoch = |upto: usize| (0..=upto).filter(|at| epoch(*at) == epoch(upto)).count();
    let last = (0..versions.len()).find(|at| of_epoch(*at) == 8).map(|at| versions[at]);
    versions.retain(|(time, (digest, ..), _)| {
        last.is_none_or(|(last_time, (last_digest, ..), _)| {
            (*time, *digest) >= (last_time, last_digest)
        })
    });
    versions
}

impl DecodedHead {
    /// Computes the head by its definition. Returns `None` without visits.
    pub(crate) fn of(entries: &[DecodedEntry]) -> Option<DecodedHead> {
        let visits = || entries.iter().filter(|entry| entry.is_visit());
        let versions = versions(entries.iter().filter_map(DecodedEntry::known));
        let seen = versions.first().map(|(time, ..)| *time);
        // `None` is less than any time: without content there is nothing that could end these.
        let of_content = || entries.iter().filter(|entry| Some(entry.time) >= seen);
        Some(DecodedHead {
            visits: self::visits(entries),
            first: visits().map(|v| v.time).min()?,
            last: visits().max()?.clone(),
            settled: visits().filter(|v| v.seen != DecodedSeen::Failed).max().cloned(),
            tagged: of_content().filter_map(|e| Some((e.time, e.etag.clone()?))).max(),
            pointing: of_content().filter_map(|e| Some((e.time, e.target.clone()?))).max(),
            versions,
            modified: visits().filter_map(DecodedEntry::heard).max(),
            weighed: entries.iter().filter_map(|e| Some((e.time, e.weight?))).max(),
            classed: entries.iter().filter_map(|e| Some((e.time, e.class?))).max(),
        })
    }

    /// The modification time of the content last seen, if it was reported then or later.
    pub(crate) fn content_modified(&self) -> Option<i64> {
        let (seen, ..) = self.versions.first()?;
        self.modified.filter(|(heard, _)| heard >= seen).map(|(_, modified)| modified)
    }

    pub(crate) fn is_gone(&self) -> bool {
        self.settled.as_ref().is_some_and(|v| v.seen == DecodedSeen::Gone)
    }

    /// Whether a content is in force.
    pub(crate) fn is_in_force(&self) -> bool {
        !self.versions.is_empty() && !self.is_gone()
    }

    /// The contents at the greatest time and digest, one of each epoch, the newest first; a restatement
    /// wins within an epoch.
    pub(crate) fn in_force(&self) -> Vec<VersionKey> {
        let first = self.versions.first().filter(|_| !self.is_gone());
        let Some((time, (digest, ..), _)) = first else {
            return Vec::new();
        };
        let last = self.versions.iter().filter(|(t, (d, ..), _)| (t, d) == (time, digest));
        let mut best: BTreeMap<u32, (bool, Option<u64>, VersionKey)> = BTreeMap::new();
        for (_, version @ (_, fingerprint, epoch), restated) in last {
            let one = (*restated, *fingerprint, *version);
            let known = best.entry(count(*epoch)).or_insert(one);
            *known = one.max(*known);
        }
        best.into_values().rev().map(|(_, _, version)| version).collect()
    }
}

/// Removes the entity tags that a later entity tag or later content supersedes.
pub(crate) fn drop_superseded(entries: &mut BTreeSet<DecodedEntry>) {
    let last = entries.iter().filter_map(|e| Some((e.time, e.etag.clone()?))).max();
    let seen = entries.iter().filter(|e| e.content().is_some()).map(|e| e.time).max();
    entries.retain(|entry| match &entry.etag {
        Some(etag) => last == Some((entry.time, etag.clone())) && Some(entry.time) >= seen,
        None => true,
    });
}
