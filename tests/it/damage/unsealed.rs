//! `repair` of a catalog that holds a whole unsealed store.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};

use redb::{Database, ReadableDatabase, ReadableTable, TableDefinition};
use simkeep::disk::{FileName, SimDisk};
use simkeep::{Observation, Options};

use super::check::each;
use super::saved::{RepairCounts, check};
use super::stores::SoundStore;
use simkeep_testing::depth::deep;
use simkeep_testing::{choice, create, ms, rerun_hint, small};

const JOURNALS: [TableDefinition<'_, (u64, u32), &[u8]>; 2] =
    [TableDefinition::new("journal_a"), TableDefinition::new("journal_b")];

/// An unsealed store, and the URL of each operation.
struct UnsealedStore {
    sound: SoundStore,
    urls: Vec<String>,
    frames: Vec<FrameRange>,
}

/// A frame: its operations, and the places of its bytes in the catalog, part by part.
struct FrameRange {
    operations: Range<u64>,
    parts: Vec<Range<usize>>,
}

fn options() -> Options {
    small().memtable_observations(1 << 20)
}

impl UnsealedStore {
    /// Pages that are observed in batches, and again after some time.
    fn of(what: &'static str, pages: u64, batch: usize, url_bytes: usize) -> UnsealedStore {
        let disk = SimDisk::new();
        let store = create(&disk, options());
        let epoch = store.change_epoch();
        let name = |n: u64| {
            let path = "x".repeat(url_bytes);
            format!("https://site{}.example/page/{n}?{path}", n % 17)
        };
        let mut urls = Vec::new();
        for n in 0..pages {
            urls.push(name(n));
            if n % 3 == 0 {
                urls.push(name(n / 2));
            }
        }
        let observed = urls.iter().zip(1..).map(|(url, time)| {
            Observation::content(
                url,
                ms(1_000 * time),
                (time as u64).wrapping_mul(0x9e37_79b9),
                epoch,
            )
        });
        let observed: Vec<Observation<'_>> = observed.collect();
        observed.chunks(batch).for_each(|batch| drop(store.observe_batch(batch).unwrap()));
        let files = disk.contents();
        let sound = SoundStore::of(what, files);
        let frames = frames(sound.file(FileName::Catalog));
        assert!(sound.segments().is_empty() && !frames.is_empty());
        UnsealedStore { sound, urls, frames }
    }

    /// The URLs whose first operation is in an intact frame.
    fn intact(&self, damaged: &[u8]) -> Vec<&str> {
        let was = self.sound.file(FileName::Catalog);
        let is_there = |part: &Range<usize>| damaged.get(part.clone()) == Some(&was[part.clone()]);
        let mut seen = BTreeMap::new();
        for frame in &self.frames {
            let is_intact = frame.parts.iter().all(is_there);
            for operation in frame.operations.clone() {
                let url = self.urls[usize::try_from(operation - 1).unwrap()].as_str();
                seen.entry(url).or_insert(is_intact);
            }
        }
        seen.into_iter().filter(|(_, is_intact)| *is_intact).map(|(url, _)| url).collect()
    }
}

/// The frames of a catalog, as redb reads them.
fn frames(catalog: &[u8]) -> Vec<FrameRange> {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("catalog.redb");
    std::fs::write(&path, catalog).unwrap();
    let database = Database::open(&path).unwrap();
    let read = database.begin_read().unwrap();
    let mut parts: BTreeMap<(u64, u32), Vec<u8>> = BTreeMap::new();
    for table in JOURNALS {
        let Ok(table) = read.open_table(table) else { continue };
        for row in table.iter().unwrap() {
            let (key, value) = row.unwrap();
            parts.insert(key.value(), value.value().to_vec());
        }
    }
    let mut frames: Vec<FrameRange> = Vec::new();
    for ((first, part), bytes) in parts {
        // It is unknown which copy of a row is the newest; if any is intact, the frame is.
        let at = place(catalog, &bytes);
        if part == 0 {
            let count = u32::from_le_bytes(bytes[8..12].try_into().unwrap());
            frames.push(FrameRange {
                operations: first..first + u64::from(count),
                parts: Vec::new(),
            });
        }
        frames.last_mut().unwrap().parts.push(at..at + bytes.len());
    }
    frames
}

/// The places of these bytes in a file.
fn place(file: &[u8], bytes: &[u8]) -> usize {
    let start = &bytes[..bytes.len().min(24)];
    let mut at = 0;
    loop {
        let found = file[at..].windows(start.len()).position(|window| window == start);
        at += found.expect("a row is in the file");
        if file[at..].starts_with(bytes) {
            return at;
        }
        at += 1;
    }
}

/// Truncates a catalog, flips bits, or damages its header.
fn damaged(content: &[u8], choice: &mut impl FnMut(u64) -> u64) -> Vec<u8> {
    let mut content = content.to_vec();
    let len = content.len() as u64;
    let mut at = |most: u64| usize::try_from(choice(most)).unwrap();
    match at(6) {
        0 => content.truncate(at(len)),
        1 => content.truncate(content.len() - 1 - at(4096)),
        2 => content[at(320)] ^= 1 << at(8),
        3 => {
            let from = at(4096);
            content[..4096][from..].fill(0);
            content[at(64)] ^= 0xff;
        }
        4 => {
            let from = at(len - 8);
            content[from..from + 8].fill(0xa5);
        }
        _ => (0..=at(6)).for_each(|_| content[at(len)] ^= 1 << at(8)),
    }
    content
}

#[test]
fn intact_journal_frames_are_saved_and_losses_are_named() {
    let _again = rerun_hint();
    let (counts, saved, all) = (RepairCounts::default(), AtomicU64::new(0), AtomicU64::new(0));
    for young in [
        UnsealedStore::of("one by one", 400, 1, 10),
        UnsealedStore::of("in batches", 3_000, 40, 10),
        UnsealedStore::of("in large batches", 900, 150, 1_500),
    ] {
        let what = |n: usize| format!("damage {n} of the store made {}", young.sound.what);
        each(usize::try_from(deep(200)).unwrap(), what, |n| {
            let content = damaged(young.sound.file(FileName::Catalog), &mut choice(n as u64));
            let intact = young.intact(&content);
            let disk = young.sound.with(FileName::Catalog, content);
            let (_, store) = check(&disk, &young.sound, &counts);
            let found = store.snapshot();
            let there = |url: &&&str| found.latest(url).unwrap().is_some();
            let there = intact.iter().filter(there).count() as u64;
            saved.fetch_add(there, Ordering::Relaxed);
            all.fetch_add(intact.len() as u64, Ordering::Relaxed);
        });
    }
    let (saved, all) = (saved.into_inner(), all.into_inner());
    println!("{saved} of {all} pages of intact frames were saved");
    assert!(all > 0 && saved as f64 >= 0.99 * all as f64, "{saved} of {all}");
}
