//! The on-disk format: the golden files are read for ever, by the crate and by a stranger who has
//! only the pages of `format/`.

#![expect(clippy::cast_possible_truncation, reason = "golden files are small")]

mod bytes;
mod changes;
mod df;
mod dumps;
mod features;
mod golden;
mod make;
mod published;
mod segment;
mod store;
mod surt;
mod tables;
mod visits;

use std::collections::{BTreeSet, HashMap};
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use simkeep::integrity::VerifyOptions;
use simkeep::search::{self, Address, Part, Resources, canonical_key};
use simkeep::{Digest, Epoch, Observation, Options, Origin, Query, Time, Versions};
use simkeep_testing::depth::up_to;
use simkeep_testing::{ms, sound};

use changes::Changes;
use golden::Expected;
use tables::{Shape, Tables};
use visits::{Entry, Head, Seen, count, mask, visits};

fn golden_store() -> PathBuf {
    golden::directory().join("v5")
}

fn expected() -> Expected {
    Expected::read(&golden::directory().join("v5.jsonl"))
}

/// An entry, as the crate answers it.
fn answered(entry: &simkeep::Entry) -> Entry {
    let content = entry.content();
    Entry {
        time: entry.time().as_ms(),
        digest: entry.digest().map(|d| d.0),
        restated: content.filter(|_| entry.is_restated()).map(|c| count(c.epoch.number())),
        fingerprint: content.and_then(|c| c.fingerprint),
        seen: match entry.visit().map(|visit| visit.seen) {
            Some(simkeep::Seen::Failed) => Seen::Failed,
            Some(simkeep::Seen::NotModified { .. }) => Seen::NotModified,
            Some(simkeep::Seen::Gone) => Seen::Gone,
            Some(simkeep::Seen::Content(_)) => Seen::Content,
            None if entry.is_restated() => Seen::Content,
            None => Seen::Failed,
        },
        weight: entry.weight().map(|weight| weight.get().to_bits()),
        class: entry.class(),
        epoch: content.map(|c| c.epoch.number()),
        status: entry.visit().and_then(|visit| visit.status),
        modified: entry.visit().and_then(|visit| visit.modified).map(Time::as_ms),
    }
}

/// What the crate answers of an epoch.
fn answered_epoch(info: &simkeep::EpochInfo) -> store::Epoch {
    let (number, name, begun) = (info.epoch.number(), info.name.clone(), info.begun);
    let role = match info.role {
        simkeep::Role::Both => "both",
        simkeep::Role::Change => "change",
        simkeep::Role::Near => "near",
    };
    let bands = (info.bands.minor, info.bands.moderate);
    store::Epoch { number, name, begun, role, bands, ended: info.ended }
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
        let history: Vec<Entry> = history.iter().map(|e| answered(&e.entry())).collect();
        assert_eq!(history, *entries, "{url}");
        let head = Head::of(entries).unwrap();
        assert_eq!((page.visits, page.first.as_ms()), (head.visits, head.first), "{url}");
        assert_eq!(answered(&page.last.into()), head.last, "{url}");
        let contents = page.contents.iter();
        let contents = contents.map(|c| (c.digest.map(|d| d.0), c.fingerprint, c.epoch.number()));
        assert_eq!(contents.collect::<Vec<_>>(), head.in_force(), "{url}");
        assert_eq!(page.modified.map(Time::as_ms), head.content_modified(), "{url}");
        let weight = head.weighed.map_or(1_f32.to_bits(), |(_, bits)| bits);
        assert_eq!(page.weight.get().to_bits(), weight, "{url}");
        assert_eq!(page.class, head.classed.map(|(_, class)| class), "{url}");
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

    let verified = simkeep::integrity::verify(golden_store(), VerifyOptions::default()).unwrap();
    assert!(verified.is_sound());
    // The catalog, `SNAPSHOT` and a table of document frequencies.
    assert_eq!((verified.pages, verified.files), (stats.pages, 3 + stats.segments.len()));
    drop(store);
    assert!(files(&golden_store()) == before, "a reader wrote to the golden store");
}

#[test]
fn a_stranger_reads_the_same_from_the_bytes() {
    let expected = expected();
    let store = store::Store::open(&golden_store());
    assert_eq!(store.epochs, expected.epochs);
    assert_eq!((store.settings["format"], store.settings["url_hash_bits"]), (5, 64));
    let (components, _) = store.components();
    assert_eq!(components.last().unwrap().last_sequence, expected.sequence);
    assert_eq!(store.mark(), (expected.sequence, store.settings["changes"]));
    let store::Told { store: id, changes, seed, rows, epochs } = store.snapshot();
    assert_eq!((id, seed), (store.settings["store_id"], store.settings["url_seed"]));
    // The two newest epochs came after the last change of the segments.
    assert_eq!(changes + 2, store.settings["changes"]);
    // One that began since has fingerprints in no segment yet.
    assert_eq!(epochs, expected.epochs[..epochs.len()]);
    let sealed = store.segments().into_iter().flat_map(|segment| segment.epochs.into_keys());
    assert!(sealed.into_iter().all(|number| epochs.iter().any(|epoch| epoch.number == number)));
    let listed: Vec<&[u8]> = store.segment_rows.values().map(|row| &row[..36]).collect();
    assert_eq!(rows, listed);

    let mut urls: Vec<&String> = components.iter().flat_map(|c| c.pages.keys()).collect();
    urls.sort_by_cached_key(|url| (surt::key(url), *url));
    urls.dedup();
    // As of the end of each component: the heads that are carried, and the counts.
    let mut deltas = [0; 4];
    for (i, component) in components.iter().enumerate() {
        let so_far = &components[..=i];
        for (url, record) in &component.pages {
            let head = Head::of(&store::history(so_far, url));
            assert_eq!(record.head, head, "{url} as of component {i}");
        }
        deltas.iter_mut().zip(component.deltas).for_each(|(sum, delta)| *sum += delta);
        let mut found = [0; 4];
        for url in &urls {
            let history = store::history(so_far, url);
            found[1] += visits(&history).cast_signed();
            store::tally(&mut found, Head::of(&history).as_ref(), 1);
        }
        assert_eq!(deltas, found, "as of component {i}");
    }
    // The newest segment that has a page, if no journal has it.
    let reader = simkeep::Reader::open(golden_store()).unwrap().snapshot();
    for url in &urls {
        let newest = components.iter().rev().find_map(|component| component.pages.get(*url));
        if let Some(changes) = newest.and_then(|record| record.changes.as_ref()) {
            let page = reader.latest(url).unwrap().unwrap();
            assert_eq!(Changes::told(&page.changes), changes.figures(), "{url}");
            let last = changes.last.map(|(time, bits, _)| (time, bits.map(u32::from)));
            assert_eq!(
                page.changes.last_change().map(|last| (last.time.as_ms(), last.distance)),
                last
            );
        }
    }
    let histories = urls.into_iter().map(|url| (url.clone(), store::history(&components, url)));
    let histories: Vec<_> = histories.filter(|(_, entries)| !entries.is_empty()).collect();
    assert_eq!(histories, expected.pages);

    let tables = store.tables();
    let named = store.epochs.iter().filter(|epoch| !epoch.ended).filter_map(store::Epoch::table);
    let read = tables.values().map(|file| df::Read::of(file).id);
    assert_eq!(named.collect::<Vec<_>>(), read.collect::<Vec<_>>());
    assert!(tables.keys().all(|count| store.epochs[*count].table().is_some()));
}

/// Numbers that look random, the same everywhere: SplitMix64.
fn random(seed: u64) -> u64 {
    let mut z = seed.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ z >> 31
}

/// Distinct fingerprints, and crowds among them: in a cell, in a bucket, around each other.
fn crowded(n: usize) -> Vec<u64> {
    let crowd = |i: u64| match i % 64 {
        0 => random(1) & !0xffff_ffff | random(i) >> 32,
        1 => random(2) & 0xffff_ffff | random(i) << 32,
        2 => random(3) ^ 1 << (random(i) % 64) ^ 1 << (random(i) / 64 % 64),
        3 => random(4) & 0xffff << 32 | random(i) & !(0xffff << 32),
        _ => random(i),
    };
    let mut all: Vec<u64> = (0..)
        .map(crowd)
        .scan(BTreeSet::new(), |seen, fingerprint| Some((seen.insert(fingerprint), fingerprint)))
        .filter_map(|(new, fingerprint)| new.then_some(fingerprint))
        .take(n)
        .collect();
    all.sort_unstable_by_key(|fingerprint| canonical_key(*fingerprint));
    all
}

/// Searching the tables finds what comparing with everything does.
fn check_finds(tables: &Tables) {
    let mut found = 0;
    let every = (tables.column.len() / 150).max(1);
    for (i, fingerprint) in (0..).zip(tables.column.iter().step_by(every)) {
        let bits = [random(i), random(i + 1), random(i + 2)].map(|bit| bit % 64);
        let query = bits.iter().take(i as usize % 4).fold(*fingerprint, |q, bit| q ^ 1 << bit);
        for k in 0..=3 {
            let near = |f: &u64| (f ^ query).count_ones() <= k;
            let all = tables.column.iter().zip(0u32..).filter(|(f, _)| near(f)).map(|(_, o)| o);
            let all: BTreeSet<u32> = all.collect();
            assert_eq!(tables.find(query, k), all, "{query:016x} within {k}");
            found += all.len();
        }
    }
    assert!(found >= tables.column.len().min(150));
}

/// Tables as they are built, by kind and part of their sections.
#[derive(Default)]
struct Built(Mutex<HashMap<(u16, u16), Vec<u8>>>);

fn kind_and_part(part: Part) -> (u16, u16) {
    let (kind, table) = match part {
        Part::Buckets(table) => (14, table),
        Part::Rest(table) => (15, table),
        Part::Cells(table) => (16, table),
        Part::Further(table) => (17, table),
        Part::Ordinals(table) => (18, table),
    };
    (kind, table as u16)
}

impl search::Sink for Built {
    type Error = ();

    fn place(&self, part: Part, _: u64) -> Result<(), ()> {
        self.0.lock().unwrap().insert(kind_and_part(part), Vec::new());
        Ok(())
    }

    fn write(&self, part: Part, bytes: &[u8]) -> Result<(), ()> {
        self.0.lock().unwrap().get_mut(&kind_and_part(part)).unwrap().extend_from_slice(bytes);
        Ok(())
    }

    fn changed(&self) {}
}

/// The tables of a shape, as the crate builds them and the stranger reads them.
fn built(shape: search::Shape, column: &[u64]) -> Tables {
    let sink = Built::default();
    let resources = Resources { memory_bytes: 1 << 20, threads: 1 };
    let read = |start: u32, out: &mut [u64]| {
        let start = start as usize;
        out.copy_from_slice(&column[start..start + out.len()]);
        Ok(())
    };
    search::build_index(shape, column.len() as u32, resources, &read, &sink).unwrap();
    let sections = sink.0.into_inner().unwrap();
    let shape = match shape {
        search::Shape::Column => Shape::Column,
        search::Shape::Rotations(Address { bits, lines }) => Shape::Rotations { bits, lines },
        search::Shape::Cells { count } => Shape::Cells { count },
        shape => panic!("{shape:?} is not known here"),
    };
    Tables::read(column.to_vec(), shape, |kind, part| &sections[&(kind, part)])
}

#[test]
fn a_stranger_finds_what_is_near_in_tables_of_every_shape() {
    for n in [3_000, 1, 0, 20].into_iter().take(up_to(4)) {
        let column = crowded(n);
        for (bits, lines) in [(0, 1), (0, 200), (4, 3), (7, 1), (9, 1), (16, 1)] {
            let shape = search::Shape::Rotations(Address { bits, lines });
            let tables = built(shape, &column);
            check_finds(&tables);
            let tables::Census { empty_buckets, full_buckets, overfull_buckets, rest_max, .. } =
                tables.census;
            assert!(n < 3_000 || (bits, lines) != (4, 3) || rest_max > 3 * 32);
            let at_the_edge = full_buckets > 0 && overfull_buckets > 0 && rest_max > 26;
            assert!(n < 3_000 || bits != 7 || at_the_edge);
            assert!(bits < 16 || empty_buckets > 4 * 60_000);
        }
        for count in [1, 2, 285, 9_001] {
            let tables = built(search::Shape::Cells { count }, &column);
            check_finds(&tables);
            // Long rows of lines, and cells with nothing.
            assert!(n < 3_000 || tables.census.lines_max > 2);
            assert!(count < 9_001 || tables.census.empty_cells > 2 * 5_000);
        }
        check_finds(&built(search::Shape::Column, &column));
    }
}

#[test]
fn a_stranger_finds_what_is_near_in_the_cells_of_a_segment() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("store");
    // Room for cells, and not for rotations.
    let options = Options::default().fingerprint_bytes(36).background(false);
    let store = simkeep::Store::create(&path, options).unwrap();
    let column = crowded(70_000);
    let urls: Vec<String> =
        (0..column.len()).map(|i| format!("https://site.example/{i}")).collect();
    // Every hundredth page has what the one before it has, half of them with another digest.
    let observations = urls.iter().zip(&column).enumerate().map(|(i, (url, fingerprint))| {
        let fingerprint = if i % 100 == 99 { column[i - 1] } else { *fingerprint };
        let digest = i / 200 + if i % 200 == 199 { 1_000_000 } else { 0 };
        let digest = Digest(u128::from(random(digest as u64)).to_le_bytes());
        Observation::content(url, ms(1_000), fingerprint, Epoch::from_number(0)).digest(digest)
    });
    let observations: Vec<Observation<'_>> = observations.collect();
    for batch in observations.chunks(10_000) {
        store.observe_batch(batch).unwrap();
    }
    store.seal().unwrap();
    sound(&store).unwrap();
    store.close().unwrap();

    let segments = store::Store::open(&path).segments();
    let [segment] = &segments[..] else { panic!("one segment") };
    assert_eq!((segment.lists, segment.tags), (700, 1_400));
    let tables = &segment.epochs[&0];
    assert_eq!(tables.column.len(), 69_300);
    assert_eq!(tables.shape, Shape::Cells { count: 4_950 });
    let census = &tables.census;
    assert!(census.full_cells > 0 && census.overfull_cells > 0 && census.lines_max > 3);
    check_finds(tables);
}

#[test]
fn the_dumps_in_the_pages_are_the_golden_bytes() {
    dumps::check();
}

/// Writes the dumps on the pages of `format/` anew, as they are printed.
#[test]
#[ignore = "writes pages of format/"]
fn make_dumps() {
    dumps::refresh();
}

#[test]
fn a_dump_has_all_bytes_of_a_segment_and_nothing_damaged() {
    let store = store::Store::open(&golden_store());
    for id in store.segment_rows.keys() {
        let bytes = std::fs::read(store.path.join(format!("segments/{id:010}.seg"))).unwrap();
        let mut at = 0;
        for line in dumps::printed(&store.path, *id) {
            assert_eq!((line.offset, line.damaged), (at, false), "{id}: {line}");
            at += line.len;
            let shown = &bytes[line.offset as usize..at as usize];
            assert_eq!(line.bytes.as_deref(), Some(shown), "{id}: {line}");
        }
        assert_eq!(at, bytes.len() as u64);
    }
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

#[test]
fn the_stores_in_the_pages_follow_from_their_rules() {
    let text = std::fs::read_to_string(dumps::page("surt.md")).unwrap();
    let mut rows = 0;
    for row in text.lines().filter_map(|line| line.strip_prefix("| `")?.split_once("` | ")) {
        let (url, stores) = row;
        let shown: Vec<u64> = stores.split('|').filter_map(|of| of.trim().parse().ok()).collect();
        if shown.len() == 4 {
            assert_eq!([2, 3, 16, 1000].map(|of| surt::store_of(url, of)), shown[..], "{url}");
            let of = |of| simkeep::route(url, std::num::NonZeroU32::new(of).unwrap());
            assert_eq!([2, 3, 16, 1000].map(|count| u64::from(of(count))), shown[..], "{url}");
            rows += 1;
        }
    }
    assert!(rows > 5);
}

#[test]
fn the_example_of_buckets_follows_from_its_rules() {
    let shown = [(0xc3a, 0xc85c), (0xc85, 0x97cb), (0x97c, 0x3127), (0x312, 0xc3a5)];
    assert_eq!([0, 1, 2, 3].map(|j| tables::bucket(j, 12, 0xc3a5_c85c_97cb_3127)), shown);
    let text = std::fs::read_to_string(dumps::page("segment.md")).unwrap();
    for (bucket, entry) in shown {
        assert!(text.contains(&format!("{bucket:03x}")) && text.contains(&format!("{entry:04x}")));
    }
}

#[test]
fn the_example_of_a_cell_follows_from_its_rules() {
    let text = std::fs::read_to_string(dumps::page("segment.md")).unwrap();
    assert!(text.contains("c3a5c85c97cb3127"));
    let entries = [0x97cb_3127u32, 0xc3a5_c85c].map(|other| other & 0xff_ffff);
    assert!(text.contains(&format!("| entry | `{:06x}` | `{:06x}` |", entries[0], entries[1])));
    for (half, cell, shown) in [(0xc3a5_c85c, 981, "| 981 |"), (0x97cb_3127, 6_299, "| 6,299 |")] {
        assert_eq!(tables::cell(half, 6_600), cell);
        assert!(text.contains(shown));
    }
}

/// Writes `format/golden` anew. Only for a format version that no release has written yet; the
/// bytes in the dumps of the pages are then put right too, as long as none moved.
#[test]
#[ignore = "writes the golden files"]
fn make_golden() {
    df::make();
    make::files();
    dumps::refresh();
}
