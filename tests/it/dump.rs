//! The bytes of a segment with their meanings: all of them, once, with any damage.

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use simkeep::inspect::{DumpLine, DumpQuery, SegmentView};
use simkeep::{Digest, Epoch, Observation, Options, Reader, Store};
use simkeep_testing::depth::deep;
use simkeep_testing::{EPOCHS, choice, ms, request, small};

/// The printed lines of a segment.
fn dump(store: &Path, id: u64, asked: &DumpQuery) -> Vec<DumpLine> {
    let (reader, mut lines) = (Reader::open(store).unwrap(), Vec::new());
    let there = asked.run(&reader.snapshot(), id, |line| {
        lines.push(line);
        ControlFlow::Continue(())
    });
    assert!(there.unwrap());
    lines
}

fn file(store: &Path, id: u64) -> PathBuf {
    store.join(format!("segments/{id:010}.seg"))
}

/// Checks that lines show a file without a gap.
fn check_all(lines: &[DumpLine], bytes: &[u8]) {
    let mut at = 0;
    for line in lines {
        assert_eq!(line.offset, at, "{line}");
        at += line.len;
        let shown = &bytes[usize::try_from(line.offset).unwrap()..usize::try_from(at).unwrap()];
        assert!(line.bytes.as_deref().is_none_or(|bytes| bytes == shown), "{line}");
        assert!(line.bytes.is_some() || line.damaged, "{line}");
    }
    assert_eq!(at, bytes.len() as u64);
}

/// A store of a few pages with long histories of every kind, in one segment.
fn histories(path: &Path, seed: u64) -> u64 {
    let store = Store::create(path, small().memtable_observations(1 << 20)).unwrap();
    store.register_epoch(EPOCHS[1], simkeep::Role::Both).unwrap();
    let mut choice = choice(seed);
    for batch in 0..20 {
        let times = batch * 100..(batch + 1) * 100;
        let requests = times.map(|at| request(&mut choice, 16, 1_700_000_000_000 + at * 777));
        store.write_batch(&requests.collect::<Vec<_>>()).unwrap();
        if batch == 8 {
            store.seal().unwrap();
        }
    }
    store.forget(simkeep::Scope::Prefix("example.org".parse().unwrap())).unwrap();
    store.seal().unwrap();
    let id = store.stats().unwrap().segments.last().unwrap().id;
    store.close().unwrap();
    id
}

/// Creates a store of `count` pages in one segment. Every tenth page has the fingerprint of
/// another.
fn pages(path: &Path, count: u64, options: Options) -> u64 {
    let store = Store::create(path, options.background(false)).unwrap();
    let mut choice = choice(count);
    let urls: Vec<String> = (0..count).map(|n| format!("https://h{}.example/{n}", n % 7)).collect();
    let seen = |(n, url)| {
        let n: u64 = n;
        let fingerprint = if n % 10 == 9 { n % 100 } else { choice(u64::MAX) };
        let digest = Digest(u128::from(n % 30).to_le_bytes());
        let seen = Observation::content(url, ms(5), fingerprint, Epoch::from_number(0));
        seen.digest(digest)
    };
    let all: Vec<Observation<'_>> = (0..).zip(urls.iter().map(String::as_str)).map(seen).collect();
    for batch in all.chunks(10_000) {
        store.observe_batch(batch).unwrap();
    }
    store.seal().unwrap();
    let id = store.stats().unwrap().segments[0].id;
    store.close().unwrap();
    id
}

/// Returns the number of attempts: `most` at depth 1, or a tenth of that for a large file.
fn tries(bytes: &[u8], most: u64) -> u64 {
    if bytes.len() < 1 << 20 { deep(most) } else { deep(most / 10) }
}

/// Stores with sections of every kind: without tables, with rotations, and with cells.
fn stores(directory: &Path) -> Vec<(PathBuf, u64)> {
    let mut stores = Vec::new();
    for seed in 0..3 {
        let path = directory.join(format!("histories-{seed}"));
        let id = histories(&path, seed);
        stores.push((path, id));
    }
    for (name, count, options) in [
        ("rotations", 20_000, Options::default()),
        ("cells", 77_000, Options::default().fingerprint_bytes(36)),
    ] {
        let path = directory.join(name);
        let id = pages(&path, count, options);
        stores.push((path, id));
    }
    stores
}

#[test]
fn dump_covers_every_byte_once_from_any_offset() {
    let directory = tempfile::tempdir().unwrap();
    let mut kinds = std::collections::BTreeSet::new();
    for (path, id) in stores(directory.path()) {
        let bytes = std::fs::read(file(&path, id)).unwrap();
        let all = dump(&path, id, &DumpQuery::all());
        check_all(&all, &bytes);
        let damaged =
            all.iter().find(|line| line.damaged || line.meaning.starts_with("not decoded"));
        assert!(damaged.is_none(), "{}", damaged.unwrap());
        let snapshot = Reader::open(&path).unwrap().snapshot();
        let segment = SegmentView::of(&snapshot, id).unwrap().unwrap();
        let count = |what: &str| all.iter().filter(|l| l.meaning.starts_with(what)).count() as u64;
        assert_eq!(count("record of page "), segment.pages);
        // Restatements and weights are also entries.
        assert!(count("tag: ") >= segment.visits, "{} tags", count("tag: "));
        for section in &segment.sections {
            kinds.extend((section.bytes > 0).then_some(section.kind));
            let mut asked = DumpQuery::all().section(section.kind).part(section.part);
            if section.epoch.is_none() || section.bytes == 0 {
                continue;
            }
            asked.epoch = section.epoch;
            if !["buckets", "rest", "cells", "further", "ordinals"].contains(&section.kind) {
                asked.part = None;
            }
            let of_section = section.offset..section.offset + section.bytes;
            let expected: Vec<_> =
                all.iter().filter(|line| of_section.contains(&line.offset)).cloned().collect();
            assert!(dump(&path, id, &asked) == expected, "{}", section.kind);
        }
        let mut choice = choice(id);
        for _ in 0..tries(&bytes, 200) {
            let from = choice(bytes.len() as u64);
            let expected = all.iter().filter(|line| line.offset + line.len > from);
            let found = dump(&path, id, &DumpQuery::all().from(from));
            assert!(found.iter().eq(expected), "from {from:04x}");
        }
    }
    assert_eq!(kinds.len(), 19, "{kinds:?}");
}

#[test]
fn dump_marks_damage_and_decodes_the_rest() {
    let directory = tempfile::tempdir().unwrap();
    let (mut tried, mut found) = (0, 0);
    for (path, id) in stores(directory.path()) {
        let sound = std::fs::read(file(&path, id)).unwrap();
        let all = dump(&path, id, &DumpQuery::all());
        let mut choice = choice(id + 1);
        for round in 0..tries(&sound, 300) {
            tried += 1;
            let mut bytes = sound.clone();
            // Half of the flips are in the pages section.
            let most = if round % 2 == 0 { sound.len() } else { sound.len() / 4 };
            let at = choice(most as u64);
            bytes[usize::try_from(at).unwrap()] ^= 1 << choice(8);
            std::fs::write(file(&path, id), &bytes).unwrap();
            // The parts that make a segment live are checked when the store is opened.
            let Ok(reader) = Reader::open(&path) else { continue };
            drop(reader);
            let lines = dump(&path, id, &DumpQuery::all());
            check_all(&lines, &bytes);
            let has = |line: &&DumpLine| (line.offset..line.offset + line.len).contains(&at);
            let damaged = lines.iter().find(has).unwrap();
            let is_sum = damaged.meaning.starts_with("block ") && damaged.len == 4;
            assert!(damaged.damaged || is_sum, "byte {at:04x}: {damaged}");
            // All lines but those of some blocks are unchanged.
            let same =
                |line: &&DumpLine| all.binary_search_by_key(&line.offset, |l| l.offset).is_ok();
            let others: u64 = lines.iter().filter(|line| !same(line)).map(|line| line.len).sum();
            let unclear = lines.iter().filter(|l| l.meaning.starts_with("not decoded"));
            let unclear: u64 = unclear.map(|line| line.len).sum();
            assert!(others <= 16 << 10, "byte {at:04x}: {others}");
            assert!(unclear <= 16 << 10, "byte {at:04x}: {unclear} bytes are not decoded");
            found += 1;
        }
        std::fs::write(file(&path, id), &sound).unwrap();
    }
    assert!(found * 2 > tried, "{found} of {tried}");
}
