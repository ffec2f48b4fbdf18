//! The on-disk format: the golden files stay readable for ever, and the pages of `format/` show their
//! bytes.
//!
//! `format/kaitai` and `format/check` contain a reader that is written only from the pages. The parts
//! that it lacks are written here from the pages: keys, generations, tables of document frequencies.

#![expect(clippy::cast_possible_truncation, reason = "golden files are small")]

mod bytes;
mod catalog;
mod changes;
mod df;
mod dumps;
mod golden;
mod make;
mod published;
mod surt;
mod visits;

use std::path::{Path, PathBuf};

use simkeep::verify::VerifyOptions;
use simkeep::{Origin, Query, Time, Versions};

use golden::{GoldenEpoch, GoldenStore};
use visits::{DecodedEntry, DecodedHead, DecodedSeen, count, mask, visits};

fn golden_store() -> PathBuf {
    golden::directory().join("v6")
}

fn expected() -> GoldenStore {
    GoldenStore::read(&golden::directory().join("v6.jsonl"))
}

/// The number of bytes that a target shares with the URL of its page, and its other bytes.
fn parts_of(page: &str, target: &str) -> (usize, String) {
    let alike = page.bytes().zip(target.bytes()).take_while(|(a, b)| a == b).count();
    let shared = (0..=alike).rev().find(|at| target.is_char_boundary(*at)).unwrap();
    (shared, target[shared..].to_owned())
}

/// An entry in the answers of the crate.
fn answered(url: &str, entry: &simkeep::Entry) -> DecodedEntry {
    let content = entry.content();
    DecodedEntry {
        time: entry.time().as_ms(),
        digest: entry.digest().map(|d| d.0),
        restated: content.filter(|_| entry.is_restated()).map(|c| count(c.epoch.number())),
        fingerprint: content.and_then(|c| c.fingerprint),
        seen: match entry.visit().map(|visit| visit.seen) {
            Some(simkeep::Seen::Failed) => DecodedSeen::Failed,
            Some(simkeep::Seen::NotModified { .. }) => DecodedSeen::NotModified,
            Some(simkeep::Seen::Gone) => DecodedSeen::Gone,
            Some(simkeep::Seen::Content(_)) => DecodedSeen::Content,
            None if entry.is_restated() => DecodedSeen::Content,
            None => DecodedSeen::Failed,
        },
        weight: entry.weight().map(|weight| weight.get().to_bits()),
        class: entry.class(),
        etag: entry.etag().map(|etag| etag.as_bytes().to_vec()),
        target: entry.target().map(|target| parts_of(url, &target.resolve(url).unwrap())),
        epoch: content.map(|c| c.epoch.number()),
        status: entry.visit().and_then(|visit| visit.status),
        modified: entry.visit().and_then(|visit| visit.modified).map(Time::as_ms),
        bytes: entry.visit().and_then(|visit| visit.bytes),
        conditional: entry.visit().is_some_and(|visit| visit.conditional),
    }
}

/// The answer of the crate about an epoch.
fn answered_epoch(info: &simkeep::EpochInfo) -> GoldenEpoch {
    let (number, name, begun) = (info.epoch.number(), info.name.clone(), info.begun);
    let role = match info.role {
        simkeep::Role::Both => "both",
        simkeep::Role::Change => "change",
        simkeep::Role::Near => "near",
    };
    let bands = (info.bands.minor, info.bands.moderate);
    GoldenEpoch { number, name, begun, role, bands, ended: info.ended }
}

/// All files of a directory, with their bytes.
fn files(directory: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files.extend(self::files(&path));
        } else {
            let bytes = std::fs::read(&path).unwrap();
            files.push((path, bytes));
        }
    }
    files.sort();
    files
}

/// Prefixes of each form, and the keys of their ranges.
const PREFIXES: &[(&str, &[u8])] = &[
    ("example.com", b"com\x02example\x01"),
    ("example.com/", b"com\x02example\x01\x01\x04"),
    ("example.com:8443", b"com\x02example\x018443\x01\x04"),
    ("example.com/docs", b"com\x02example\x01\x01\x04docs"),
    ("example.com/docs/", b"com\x02example\x01\x01\x04docs\x04"),
    ("site3.example", b"example\x02site3\x01"),
    ("example", b"example\x01"),
    ("file:///home", b"\xfffile\x01\x04\x04\x04home"),
    ("urn:isbn", b"\xffurn\x01isbn"),
];

/// Asserts that a page has the properties of its decoded head.
fn check_properties(page: &simkeep::Page, head: &DecodedHead) {
    let url = page.url.as_str();
    let weight = head.weighed.map_or(1_f32.to_bits(), |(_, bits)| bits);
    assert_eq!(page.weight.get().to_bits(), weight, "{url}");
    assert_eq!(page.class, head.classed.map(|(_, class)| class), "{url}");
    let tagged = head.tagged.as_ref().filter(|_| head.is_in_force());
    let etag = page.etag.as_ref().map(|etag| etag.as_bytes());
    assert_eq!(etag, tagged.map(|(_, etag)| etag.as_slice()), "{url}");
    let pointing = head.pointing.as_ref().filter(|_| head.is_in_force());
    let target = page.target.as_ref().map(|target| parts_of(url, target));
    assert_eq!(target.as_ref(), pointing.map(|(_, target)| target), "{url}");
}

#[test]
fn golden_store_answers_as_when_it_was_made() {
    let expected = expected();
    let before = files(&golden_store());
    let store = simkeep::Reader::open(golden_store()).unwrap();
    let epochs: Vec<_> = store.snapshot().epochs().iter().map(answered_epoch).collect();
    assert_eq!(epochs, expected.epochs);
    for (info, epoch) in store.snapshot().epochs().iter().zip(&expected.epochs) {
        assert_eq!(info.epoch.mask(), mask(epoch.number));
        let origin = Origin::of(&store.snapshot(), info.epoch);
        assert_eq!(origin.is_err(), epoch.ended);
        let table = origin.ok().flatten().and_then(|o| o.frequencies().map(|table| table.id()));
        assert_eq!(table, epoch.table());
    }
    assert_eq!(store.snapshot().sequence(), expected.sequence);
    let visits = visits(expected.pages.iter().flat_map(|(_, entries)| entries));
    let stats = store.stats().unwrap();
    assert_eq!((stats.pages, stats.visits), (expected.pages.len() as u64, visits));

    let mut scan = store.snapshot().scan(None);
    for (url, entries) in &expected.pages {
        let page = scan.next().unwrap().unwrap();
        assert_eq!(page.url, *url);
        let history = store.snapshot().history(url).unwrap();
        let history: Vec<DecodedEntry> =
            history.iter().map(|e| answered(url, &e.entry())).collect();
        assert_eq!(history, *entries, "{url}");
        let head = DecodedHead::of(entries).unwrap();
        assert_eq!((page.visits, page.first.as_ms()), (head.visits, head.first), "{url}");
        assert_eq!(answered(url, &page.last.into()), head.last, "{url}");
        let contents = page.contents.iter();
        let contents = contents.map(|c| (c.digest.map(|d| d.0), c.fingerprint, c.epoch.number()));
        assert_eq!(contents.collect::<Vec<_>>(), head.in_force(), "{url}");
        assert_eq!(page.modified.map(Time::as_ms), head.content_modified(), "{url}");
        check_properties(&page, &head);
        let entries: Vec<_> = store.snapshot().history(url).unwrap();
        let entries: Vec<_> = entries.iter().map(|entry| entry.entry()).collect();
        let changes = simkeep::Changes::of(&entries, store.snapshot().epochs());
        assert_eq!(page.changes, changes, "{url}");
    }
    assert!(scan.next().is_none());

    for near in &expected.near {
        let mut query =
            Query::new(near.fingerprint, near.k).epoch(simkeep::Epoch::from_number(near.epoch));
        if near.every_version {
            query.versions = Versions::Ever;
        }
        let found = store.snapshot().search(&query.limit(10_000)).unwrap();
        assert!(found.complete);
        let found: Vec<_> =
            found.near.into_iter().map(|n| (n.url, n.distance, n.fingerprint)).collect();
        assert_eq!(found, near.pages);
    }

    for (prefix, key) in PREFIXES {
        let found = store.snapshot().scan(Some(&simkeep::Prefix::parse(prefix).unwrap()));
        let found: Vec<String> = found.map(|page| page.unwrap().url).collect();
        let under = expected.pages.iter().filter(|(url, _)| surt::covers(key, &surt::key(url)));
        let under: Vec<String> = under.map(|(url, _)| url.clone()).collect();
        assert!(!under.is_empty());
        assert_eq!(found, under, "{prefix}");
    }

    let verified = simkeep::verify::verify(golden_store(), VerifyOptions::default()).unwrap();
    assert!(verified.is_sound());
    // The catalog, `SNAPSHOT` and a table of document frequencies.
    assert_eq!((verified.pages, verified.files), (stats.pages, 3 + stats.segments.len()));
    drop(store);
    assert!(files(&golden_store()) == before, "a reader wrote to the golden store");
}

/// Rewrites the dumps on the pages of `format/` as they are printed.
#[test]
#[ignore = "writes pages of format/"]
fn make_dumps() {
    dumps::refresh();
}

/// Rewrites `format/golden`. Only for a format version that no release has written yet; the bytes in the
/// dumps of the pages are then corrected too, as long as none moved.
#[test]
#[ignore = "writes the golden files"]
fn make_golden() {
    df::make();
    make::files();
    dumps::refresh();
}
