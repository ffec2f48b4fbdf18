//! Entries, lists of them, and the head of a page: `format/README.md` and `format/segment.md`.

use std::collections::BTreeMap;

use super::bytes::Bytes;

/// What an entry says was seen: the numbers of the low two bits of a tag.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Seen {
    Failed,
    NotModified,
    Gone,
    Content,
}

/// A visit, what is restated of one, a weight, or a class. The order of the fields is that of entries.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Entry {
    pub(crate) time: i64,
    /// A class, which is failed and nothing else.
    pub(crate) class: Option<u32>,
    /// The bits of a weight, which is failed and nothing else.
    pub(crate) weight: Option<u32>,
    pub(crate) digest: Option<[u8; 16]>,
    /// Of a content that is restated, the count of its epoch.
    pub(crate) restated: Option<u32>,
    pub(crate) fingerprint: Option<u64>,
    pub(crate) seen: Seen,
    pub(crate) epoch: Option<u32>,
    pub(crate) status: Option<u16>,
    pub(crate) modified: Option<i64>,
}

/// Digest, fingerprint and epoch: what makes two contents one version.
pub(crate) type Version = (Option<[u8; 16]>, Option<u64>, u32);

/// How many epochs of the store are older than one.
pub(crate) fn count(epoch: u32) -> u32 {
    epoch & 0x00ff_ffff
}

/// The bits of its fingerprints that count.
pub(crate) fn mask(epoch: u32) -> u64 {
    let reserved = epoch >> 24;
    assert!(reserved <= 64, "{reserved} reserved bits");
    (0..64 - reserved).fold(0, |mask, bit| mask | 1 << bit)
}

impl Entry {
    pub(crate) fn weighed(time: i64, bits: u32) -> Entry {
        let (digest, restated, fingerprint, epoch) = (None, None, None, None);
        let (weight, seen, status, modified) = (Some(bits), Seen::Failed, None, None);
        let class = None;
        Entry { time, class, weight, digest, restated, fingerprint, seen, epoch, status, modified }
    }

    pub(crate) fn classed(time: i64, class: u32) -> Entry {
        Entry { class: Some(class), weight: None, ..Entry::weighed(time, 0) }
    }

    pub(crate) fn content(&self) -> Option<Version> {
        let content = (self.digest, self.fingerprint, self.epoch?);
        (self.seen == Seen::Content).then_some(content)
    }

    pub(crate) fn known(&self) -> Option<Known> {
        Some((self.time, self.content()?, self.restated.is_some()))
    }

    pub(crate) fn is_visit(&self) -> bool {
        self.restated.is_none() && self.weight.is_none() && self.class.is_none()
    }

    /// When it heard when the page was modified, and that.
    pub(crate) fn heard(&self) -> Option<(i64, i64)> {
        let is_there = matches!(self.seen, Seen::Content | Seen::NotModified);
        Some((self.time, self.modified.filter(|_| is_there)?))
    }
}

/// How many entries are visits.
pub(crate) fn visits<'e>(entries: impl IntoIterator<Item = &'e Entry>) -> u64 {
    entries.into_iter().filter(|entry| entry.is_visit()).count() as u64
}

/// A list of entries.
#[expect(clippy::too_many_lines, reason = "fields in the order of the format")]
pub(crate) fn entries(bytes: &mut Bytes<'_>, count: usize) -> Vec<Entry> {
    let mut out: Vec<Entry> = Vec::new();
    let mut content: Option<Version> = None;
    let (mut status_before, mut modified_before) = (None, None);
    for _ in 0..count {
        let mut tag = bytes.u8();
        let dated = (tag & 0x83 == 0x81).then_some(tag);
        if dated.is_some() {
            tag = bytes.u8();
            assert!(tag < 128, "what is restated was not modified");
        }
        let has = |bit: u8| tag >> bit & 1 == 1;
        let seen =
            [Seen::Failed, Seen::NotModified, Seen::Gone, Seen::Content][usize::from(tag & 3)];
        let (weighed, classed) = (tag & 0xbf == 0x80, tag & 0xbf == 0x84);
        let restated = has(7) && !weighed && !classed;
        assert!(!restated || seen == Seen::Content, "what is restated is a content");
        assert!(!restated || has(2) || !has(4), "no fingerprint, and yet bits of it");
        let before = out.last();
        let since = match before {
            None => bytes.signed(),
            Some(_) => i64::try_from(bytes.varint()).unwrap(),
        };
        let unit = if has(6) { 1000 } else { 1 };
        let time = before.map_or(0, |v| v.time) + since * unit;
        if weighed {
            let bits = bytes.u32();
            assert!(f32::from_bits(bits).is_finite() && f32::from_bits(bits) > 0.0);
            out.push(Entry::weighed(time, bits));
            continue;
        }
        if classed {
            out.push(Entry::classed(time, u32::try_from(bytes.varint()).unwrap()));
            continue;
        }
        let status = match (restated, has(2)) {
            (true, _) => None,
            (false, true) => status_before,
            (false, false) => bytes.varint().checked_sub(1).map(|s| u16::try_from(s).unwrap()),
        };
        if !restated {
            status_before = status;
        }
        let (fingerprint, epoch, digest) = (None, None, None);
        let weight = None;
        let mut entry =
            Entry { weight, digest, fingerprint, seen, epoch, status, ..Entry::weighed(time, 0) };
        if seen != Seen::Content {
            assert!(!has(3) && !has(4), "a tag of content on an entry without");
            assert!(!has(5) || seen == Seen::NotModified, "a digest of nothing");
        }
        assert!(has(4) && !restated || !(has(3) && has(5)), "the same digest, and yet another");
        let mut seen_now = None;
        if seen == Seen::Content {
            let before = || content.expect("no content before");
            let none = if restated { !has(2) } else { has(3) && has(4) };
            seen_now = Some(if none {
                (None, None, u32::try_from(bytes.varint()).unwrap())
            } else if has(3) && !restated {
                before()
            } else if has(4) {
                let (_, fingerprint, epoch) = before();
                let mut fingerprint = fingerprint.expect("no fingerprint before");
                for _ in 0..bytes.u8() {
                    let bit = bytes.u8();
                    assert!(bit < 64);
                    fingerprint ^= 1 << bit;
                }
                (None, Some(fingerprint), epoch)
            } else {
                let epoch = u32::try_from(bytes.varint()).unwrap();
                (None, Some(bytes.u64()), epoch)
            });
        }
        if has(5) {
            entry.digest = Some(bytes.take(16).try_into().unwrap());
        }
        if let Some((digest, fingerprint, epoch)) = seen_now {
            entry.digest = match (has(3), restated) {
                (true, true) => content.expect("no content before").0,
                (true, false) if !has(4) => digest,
                _ => entry.digest,
            };
            (entry.fingerprint, entry.epoch) = (fingerprint, Some(epoch));
            entry.restated = restated.then(|| self::count(epoch));
            content = Some((entry.digest, fingerprint, epoch));
        }
        if let Some(dated) = dated {
            entry.modified = Some(match dated {
                0x85 => modified_before.expect("no date before"),
                0xc1 => (time.div_euclid(1000) - bytes.signed()) * 1000,
                0x81 => time - bytes.signed(),
                _ => panic!("an unknown tag of a date: {dated:02x}"),
            });
            modified_before = entry.modified;
        }
        out.push(entry);
    }
    out
}

/// The fold over a page's entries.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Head {
    pub(crate) visits: u64,
    pub(crate) first: i64,
    pub(crate) last: Entry,
    pub(crate) settled: Option<Entry>,
    /// The latest first.
    pub(crate) versions: Vec<Known>,
    /// When it was last heard when the page was modified, and that.
    pub(crate) modified: Option<(i64, i64)>,
    /// The weight in force, behind the time when it was given; and the class.
    pub(crate) weighed: Option<(i64, u32)>,
    pub(crate) classed: Option<(i64, u32)>,
}

/// A version, with when it was last seen, and whether it was restated for that time.
pub(crate) type Known = (i64, Version, bool);

/// The contents among these, the latest first: back to the time and digest of the eighth of any epoch,
/// and 64 at most.
pub(crate) fn versions(known: impl Iterator<Item = Known>) -> Vec<Known> {
    let mut last: BTreeMap<Version, (i64, bool)> = BTreeMap::new();
    for (time, version, restated) in known {
        let at = last.entry(version).or_insert((time, restated));
        *at = (time, restated).max(*at);
    }
    let known = last.into_iter().map(|(version, (time, restated))| (time, version, restated));
    let mut versions: Vec<Known> = known.collect();
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

impl Head {
    /// By definition. `None` without visits.
    pub(crate) fn of(entries: &[Entry]) -> Option<Head> {
        let visits = || entries.iter().filter(|entry| entry.is_visit());
        Some(Head {
            visits: self::visits(entries),
            first: visits().map(|v| v.time).min()?,
            last: *visits().max()?,
            settled: visits().filter(|v| v.seen != Seen::Failed).max().copied(),
            versions: versions(entries.iter().filter_map(Entry::known)),
            modified: visits().filter_map(Entry::heard).max(),
            weighed: entries.iter().filter_map(|e| Some((e.time, e.weight?))).max(),
            classed: entries.iter().filter_map(|e| Some((e.time, e.class?))).max(),
        })
    }

    /// When the content last seen was modified, as far as was said since.
    pub(crate) fn content_modified(&self) -> Option<i64> {
        let (seen, ..) = self.versions.first()?;
        self.modified.filter(|(heard, _)| heard >= seen).map(|(_, modified)| modified)
    }

    pub(crate) fn is_gone(&self) -> bool {
        self.settled.is_some_and(|v| v.seen == Seen::Gone)
    }

    /// The contents of the greatest time and digest, one of each epoch, the newest first: of one epoch
    /// what was restated.
    pub(crate) fn in_force(&self) -> Vec<Version> {
        let first = self.versions.first().filter(|_| !self.is_gone());
        let Some((time, (digest, ..), _)) = first else {
            return Vec::new();
        };
        let last = self.versions.iter().filter(|(t, (d, ..), _)| (t, d) == (time, digest));
        let mut best: BTreeMap<u32, (bool, Option<u64>, Version)> = BTreeMap::new();
        for (_, version @ (_, fingerprint, epoch), restated) in last {
            let one = (*restated, *fingerprint, *version);
            let known = best.entry(count(*epoch)).or_insert(one);
            *known = one.max(*known);
        }
        best.into_values().rev().map(|(_, _, version)| version).collect()
    }
}

/// What a record or a journal entry carries of a head.
#[derive(Debug)]
pub(crate) struct Carried {
    visits: u64,
    first: i64,
    last: Option<Entry>,
    settled: Option<Entry>,
    modified: Option<(i64, i64)>,
    weighed: Option<(i64, u32)>,
    classed: Option<(i64, u32)>,
    versions: Vec<Known>,
}

impl Carried {
    pub(crate) fn read(bytes: &mut Bytes<'_>) -> Carried {
        let flags = bytes.u8();
        assert!(flags < 32, "an unknown flag of a carried head");
        let (count, first) = (bytes.varint(), bytes.signed());
        let modified = (flags >> 2 & 1 == 1).then(|| {
            let heard = first + bytes.signed();
            (heard, heard - bytes.signed())
        });
        let weighed = (flags >> 3 & 1 == 1).then(|| (first + bytes.signed(), bytes.u32()));
        let class = |bytes: &mut Bytes<'_>| u32::try_from(bytes.varint()).unwrap();
        let classed = (flags >> 4 == 1).then(|| (first + bytes.signed(), class(bytes)));
        let versions = bytes.len();
        assert!(versions <= 64);
        let (last, settled) = (flags & 1, flags >> 1 & 1);
        let mut run = entries(bytes, versions + usize::from(last + settled));
        let last = (last == 1).then(|| run.pop().unwrap());
        let settled = (settled == 1).then(|| run.pop().unwrap());
        assert!(last.iter().chain(&settled).all(Entry::is_visit), "no visit, and yet the last one");
        let version = |entry: Entry| {
            assert_eq!((entry.status, entry.modified), (None, None));
            entry.known().unwrap()
        };
        let versions = run.into_iter().map(version).collect();
        Carried { visits: count, first, last, settled, modified, weighed, classed, versions }
    }

    pub(crate) fn has_settled(&self) -> bool {
        self.settled.is_some()
    }

    pub(crate) fn has_modified(&self) -> bool {
        self.modified.is_some()
    }

    pub(crate) fn has_weighed(&self) -> bool {
        self.weighed.is_some()
    }

    pub(crate) fn has_classed(&self) -> bool {
        self.classed.is_some()
    }

    /// The head, with the entries that stand beside it.
    pub(crate) fn join(self, own: &[Entry]) -> Head {
        let told: Vec<Entry> = own.iter().copied().chain(self.last).chain(self.settled).collect();
        let told = Head::of(&told).unwrap();
        Head {
            visits: self.visits + visits(own),
            first: self.first.min(told.first),
            modified: self.modified.max(told.modified),
            weighed: self.weighed.max(told.weighed),
            classed: self.classed.max(told.classed),
            versions: versions(self.versions.into_iter().chain(told.versions)),
            ..told
        }
    }
}
