//! Visits, lists of them, and the head of a page: `format/README.md` and `format/segment.md`.

use std::collections::BTreeMap;

use super::bytes::Bytes;

/// What a visit found: the numbers of the low two bits of a tag.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Seen {
    Failed,
    NotModified,
    Gone,
    Content,
}

/// One visit. The order of the fields is the order of visits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Visit {
    pub(crate) time: i64,
    pub(crate) digest: Option<[u8; 16]>,
    pub(crate) fingerprint: Option<u64>,
    pub(crate) seen: Seen,
    pub(crate) epoch: Option<u32>,
    pub(crate) status: Option<u16>,
}

/// Digest, fingerprint and epoch: what makes two contents one version.
pub(crate) type Version = (Option<[u8; 16]>, u64, u32);

impl Visit {
    pub(crate) fn content(&self) -> Option<Version> {
        let content = (self.digest, self.fingerprint?, self.epoch?);
        (self.seen == Seen::Content).then_some(content)
    }
}

/// A list of visits.
pub(crate) fn visits(bytes: &mut Bytes<'_>, count: usize) -> Vec<Visit> {
    let mut out: Vec<Visit> = Vec::new();
    let mut content: Option<Version> = None;
    for _ in 0..count {
        let tag = bytes.u8();
        let has = |bit: u8| tag >> bit & 1 == 1;
        assert!(!has(7), "an unknown bit in the tag of a visit");
        let seen =
            [Seen::Failed, Seen::NotModified, Seen::Gone, Seen::Content][usize::from(tag & 3)];
        let before = out.last();
        let since = match before {
            None => bytes.signed(),
            Some(_) => i64::try_from(bytes.varint()).unwrap(),
        };
        let unit = if has(6) { 1000 } else { 1 };
        let time = before.map_or(0, |v| v.time) + since * unit;
        let status = if has(2) {
            before.and_then(|v| v.status)
        } else {
            bytes.varint().checked_sub(1).map(|s| u16::try_from(s).unwrap())
        };
        let mut visit = Visit { time, digest: None, fingerprint: None, seen, epoch: None, status };
        if seen != Seen::Content {
            assert!(!has(3) && !has(4), "a tag of content on a visit without");
            assert!(!has(5) || seen == Seen::NotModified, "a digest of nothing");
        }
        if has(3) {
            assert!(!has(4) && !has(5), "the same content, and yet another");
        } else {
            if seen == Seen::Content && has(4) {
                let (_, mut fingerprint, epoch) = content.expect("no content before");
                for _ in 0..bytes.u8() {
                    let bit = bytes.u8();
                    assert!(bit < 64);
                    fingerprint ^= 1 << bit;
                }
                content = Some((None, fingerprint, epoch));
            } else if seen == Seen::Content {
                let epoch = u32::try_from(bytes.varint()).unwrap();
                content = Some((None, bytes.u64(), epoch));
            }
            if has(5) {
                visit.digest = Some(bytes.take(16).try_into().unwrap());
            }
        }
        if seen == Seen::Content {
            let (digest, fingerprint, epoch) = content.expect("no content before");
            let digest = if has(3) { digest } else { visit.digest };
            content = Some((digest, fingerprint, epoch));
            (visit.digest, visit.fingerprint, visit.epoch) =
                (digest, Some(fingerprint), Some(epoch));
        }
        out.push(visit);
    }
    out
}

/// The fold over a page's visits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Head {
    pub(crate) visits: u64,
    pub(crate) first: i64,
    pub(crate) last: Visit,
    pub(crate) settled: Option<Visit>,
    /// With when each was last seen, the latest first.
    pub(crate) versions: Vec<(i64, Version)>,
}

/// The versions of some visits, and when each was last seen: the latest eight, the latest first.
fn versions(seen: impl Iterator<Item = (i64, Version)>) -> Vec<(i64, Version)> {
    let mut last: BTreeMap<Version, i64> = BTreeMap::new();
    for (time, version) in seen {
        let at = last.entry(version).or_insert(time);
        *at = time.max(*at);
    }
    let mut versions: Vec<_> = last.into_iter().map(|(version, time)| (time, version)).collect();
    versions.sort_by(|a, b| b.cmp(a));
    versions.truncate(8);
    versions
}

impl Head {
    /// By definition. `None` without visits.
    pub(crate) fn of(visits: &[Visit]) -> Option<Head> {
        Some(Head {
            visits: visits.len() as u64,
            first: visits.iter().map(|v| v.time).min()?,
            last: *visits.iter().max()?,
            settled: visits.iter().filter(|v| v.seen != Seen::Failed).max().copied(),
            versions: versions(visits.iter().filter_map(|v| Some((v.time, v.content()?)))),
        })
    }

    pub(crate) fn in_force(&self) -> Option<Version> {
        let gone = self.settled.is_some_and(|v| v.seen == Seen::Gone);
        self.versions.first().filter(|_| !gone).map(|(_, version)| *version)
    }
}

/// What a record or a journal entry carries of a head.
#[derive(Debug)]
pub(crate) struct Carried {
    visits: u64,
    first: i64,
    last: Option<Visit>,
    settled: Option<Visit>,
    versions: Vec<(i64, Version)>,
}

impl Carried {
    pub(crate) fn read(bytes: &mut Bytes<'_>) -> Carried {
        let flags = bytes.u8();
        assert!(flags < 4, "an unknown flag of a carried head");
        let (count, first, versions) = (bytes.varint(), bytes.signed(), bytes.len());
        assert!(versions <= 8);
        let (last, settled) = (flags & 1, flags >> 1);
        let mut run = visits(bytes, versions + usize::from(last + settled));
        let last = (last == 1).then(|| run.pop().unwrap());
        let settled = (settled == 1).then(|| run.pop().unwrap());
        let version = |visit: Visit| {
            assert_eq!(visit.status, None);
            (visit.time, visit.content().unwrap())
        };
        let versions = run.into_iter().map(version).collect();
        Carried { visits: count, first, last, settled, versions }
    }

    pub(crate) fn has_settled(&self) -> bool {
        self.settled.is_some()
    }

    /// The head, with the visits that stand beside it.
    pub(crate) fn join(self, own: &[Visit]) -> Head {
        let told: Vec<Visit> = own.iter().copied().chain(self.last).chain(self.settled).collect();
        let told = Head::of(&told).unwrap();
        Head {
            visits: self.visits + own.len() as u64,
            first: self.first.min(told.first),
            versions: versions(self.versions.into_iter().chain(told.versions)),
            ..told
        }
    }
}
