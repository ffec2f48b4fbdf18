//! The on-disk format: the golden files are read for ever, by the crate and by a stranger who has
//! only the pages of `format/`.
#![cfg(not(feature = "narrow-hash"))]
#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::cast_possible_truncation,
    reason = "a test that fails is a panic"
)]

#[path = "format/bytes.rs"]
mod bytes;
#[path = "format/dumps.rs"]
mod dumps;
#[path = "format/golden.rs"]
mod golden;
#[path = "format/make.rs"]
mod make;
#[path = "format/segment.rs"]
mod segment;
#[path = "format/store.rs"]
mod store;
#[path = "format/surt.rs"]
mod surt;
#[path = "format/visits.rs"]
mod visits;

use std::path::{Path, PathBuf};

use golden::Expected;
use simkeep::{Query, Versions};
use visits::{Head, Seen, Visit};

fn golden_store() -> PathBuf {
    golden::directory().join("v1")
}

fn expected() -> Expected {
    Expected::read(&golden::directory().join("v1.jsonl"))
}

/// A visit as the crate answers it.
fn answered(visit: &simkeep::Visit) -> Visit {
    let content = visit.seen.content();
    Visit {
        time: visit.time,
        digest: visit.seen.digest().map(|d| d.0),
        fingerprint: content.map(|c| c.fingerprint),
        seen: match visit.seen {
            simkeep::Seen::Failed => Seen::Failed,
            simkeep::Seen::NotModified { .. } => Seen::NotModified,
            simkeep::Seen::Gone => Seen::Gone,
            simkeep::Seen::Content(_) => Seen::Content,
        },
        epoch: content.map(|c| c.epoch.0),
        status: visit.status,
    }
}

/// Every file of a directory, with its bytes.
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

/// Prefixes of each shape, and the keys that they begin with.
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

#[test]
fn the_golden_store_answers_as_when_it_was_made() {
    let expected = expected();
    let before = files(&golden_store());
    let store = simkeep::Store::open_read_only(golden_store()).unwrap();
    assert_eq!(store.epochs(), expected.epochs);
    assert_eq!(store.snapshot().sequence(), expected.sequence);
    let visits: usize = expected.pages.iter().map(|(_, visits)| visits.len()).sum();
    let stats = store.stats().unwrap();
    assert_eq!((stats.pages, stats.visits), (expected.pages.len() as u64, visits as u64));

    let mut scan = store.scan(None);
    for (url, visits) in &expected.pages {
        let page = scan.next().unwrap().unwrap();
        assert_eq!(page.url, *url);
        let history = store.history(url).unwrap();
        let history: Vec<Visit> = history.iter().map(|v| answered(&v.visit)).collect();
        assert_eq!(history, *visits, "{url}");
        let head = Head::of(visits).unwrap();
        assert_eq!((page.visits, page.first), (head.visits, head.first), "{url}");
        assert_eq!(answered(&page.last), head.last, "{url}");
        let content = page.content.map(|c| (c.digest.map(|d| d.0), c.fingerprint, c.epoch.0));
        assert_eq!(content, head.in_force(), "{url}");
    }
    assert!(scan.next().is_none());

    for near in &expected.near {
        let mut query = Query::new(near.fingerprint, near.k).epoch(simkeep::Epoch(near.epoch));
        if near.every_version {
            query.versions = Versions::Ever;
        }
        let found = store.search(&query.limit(10_000)).unwrap();
        assert!(found.complete);
        let found: Vec<_> =
            found.near.into_iter().map(|n| (n.url, n.distance, n.fingerprint)).collect();
        assert_eq!(found, near.pages);
    }

    for (prefix, key) in PREFIXES {
        let found = store.scan(Some(&simkeep::Prefix::parse(prefix).unwrap()));
        let found: Vec<String> = found.map(|page| page.unwrap().url).collect();
        let under = expected.pages.iter().filter(|(url, _)| surt::covers(key, &surt::key(url)));
        let under: Vec<String> = under.map(|(url, _)| url.clone()).collect();
        assert!(!under.is_empty());
        assert_eq!(found, under, "{prefix}");
    }

    let verified = store.verify().unwrap();
    assert_eq!((verified.pages, verified.files), (stats.pages, 1 + stats.segments.len()));
    drop(store);
    assert!(files(&golden_store()) == before, "a reader wrote to the golden store");
}

#[test]
fn a_stranger_reads_the_same_from_the_bytes() {
    let expected = expected();
    let store = store::Store::open(&golden_store());
    assert_eq!(store.epochs, expected.epochs);
    assert_eq!((store.settings["format"], store.settings["url_hash_bits"]), (1, 64));
    let (components, _) = store.components();
    assert_eq!(components.last().unwrap().last_sequence, expected.sequence);
    assert_eq!(store.mark(), expected.sequence);

    let mut urls: Vec<&String> = components.iter().flat_map(|c| c.pages.keys()).collect();
    urls.sort_by_cached_key(|url| (surt::key(url), *url));
    urls.dedup();
    // As of the end of each component: the heads that are carried, and the counts.
    let (mut pages, mut visits) = (0, 0);
    for (i, component) in components.iter().enumerate() {
        let so_far = &components[..=i];
        for (url, record) in &component.pages {
            let head = Head::of(&store::history(so_far, url));
            assert_eq!(record.head, head, "{url} as of component {i}");
        }
        pages += component.page_delta;
        visits += component.visit_delta;
        let histories = urls.iter().map(|url| store::history(so_far, url).len() as i64);
        let (known, known_visits) =
            histories.fold((0, 0), |(p, v), visits| (p + i64::from(visits > 0), v + visits));
        assert_eq!((pages, visits), (known, known_visits), "as of component {i}");
    }
    let histories = urls.into_iter().map(|url| (url.clone(), store::history(&components, url)));
    let histories: Vec<_> = histories.filter(|(_, visits)| !visits.is_empty()).collect();
    assert_eq!(histories, expected.pages);
}

#[test]
fn the_golden_store_shows_every_feature() {
    let store = store::Store::open(&golden_store());
    let segments = store.segments();
    assert_eq!(segments.iter().map(|s| s.id).collect::<Vec<_>>(), [3, 7, 8]);
    assert_eq!(segments.iter().map(|s| s.tier).collect::<Vec<_>>(), [1, 1, 0]);
    let [oldest, middle, newest] = &segments[..] else { panic!("three segments") };
    assert!(oldest.rotated >= 1024 && oldest.buckets > 1 && oldest.filter_blocks > 1);
    assert!(oldest.section_bytes_max > 2 * 4096 && oldest.pages.len() > 32);
    assert!(oldest.pages.iter().any(|p| p.chunks == 3 && p.carried && !p.earlier));
    assert!(oldest.tombstones.is_empty() && oldest.pages.iter().all(|p| !p.reset));
    assert_eq!(middle.epochs.len(), 2);
    for segment in [middle, newest] {
        assert_eq!(segment.tombstones.len(), 1);
        assert!(segment.pages.iter().any(|p| p.earlier && p.carried));
        assert!(segment.pages.iter().any(|p| p.reset));
        assert!(segment.lists > 0);
    }
    assert!(middle.pages.iter().any(|p| p.reset && !p.visits.is_empty()));
    assert!(newest.pages.iter().any(|p| p.reset && p.visits.is_empty()));

    let visits = || segments.iter().flat_map(|s| &s.pages).flat_map(|p| &p.visits);
    for seen in [Seen::Failed, Seen::NotModified, Seen::Gone, Seen::Content] {
        assert!(visits().any(|v| v.seen == seen));
    }
    assert!(visits().any(|v| v.seen == Seen::NotModified && v.digest.is_some()));
    assert!(visits().any(|v| v.time < 0) && visits().any(|v| v.time % 1000 != 0));
    assert!(visits().any(|v| v.seen == Seen::Content && v.status.is_none()));

    let (_, census) = store.components();
    assert!(census.frames > 1 && census.forgotten_urls > 1 && census.forgotten_prefixes > 0);
    assert!(census.visits > 1 && census.known_pages > 0);
    assert!(census.settled > 0 && census.heads > 1 && census.new_pages > census.heads);
}

#[test]
fn the_dumps_in_the_pages_are_the_golden_bytes() {
    dumps::check();
}

#[test]
fn the_keys_in_the_pages_follow_from_their_rules() {
    let text = std::fs::read_to_string(dumps::page("surt.md")).unwrap();
    let rows = text.lines().filter_map(|line| line.strip_prefix("| `")?.strip_suffix("` |"));
    let mut keys = 0;
    for (url, key) in rows.filter_map(|row| row.split_once("` | `")) {
        let mut shown = String::new();
        for byte in surt::key(url) {
            match byte {
                0x00..0x20 | 0x80.. => shown.push_str(&format!("<{byte:02X}>")),
                _ => shown.push(char::from(byte)),
            }
        }
        assert_eq!(shown, key, "{url}");
        keys += 1;
    }
    assert!(keys > 10);
}

/// Writes `format/golden` anew. Only for a format version that no release has written yet; the
/// bytes in the dumps of the pages are then put right too, as long as none moved.
#[test]
#[ignore = "writes the golden files"]
fn make_golden() {
    make::files();
    dumps::refresh();
}
