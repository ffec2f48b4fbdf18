//! The disk space of a store.

use std::io::ErrorKind;
use std::time::{Duration, Instant};

use simkeep::disk::{Dir, Disk, FileName, SimDisk};
use simkeep::{Digest, Epoch, Error, Observation, Progress, Scope, Store};

use simkeep_testing::disks::PATIENCE;
use simkeep_testing::{choice, ms, on, small};

/// The bytes of the segments, and of all files.
fn bytes(disk: &SimDisk) -> (u64, u64) {
    let (mut segments, mut all) = (0, 0);
    disk.read_each(|name, content| {
        all += content.len() as u64;
        if matches!(name, FileName::Segment(_)) {
            segments += content.len() as u64;
        }
    });
    (segments, all)
}

/// Visits like those of a crawl, in batches of 500: three of ten to new pages, the others to known
/// pages, half of which are unchanged.
fn crawl(store: &Store, visits: u64, after_each_batch: impl Fn(&Store)) {
    let (mut random, mut pages) = (choice(3), 0u64);
    let mut batch: Vec<(String, u64)> = Vec::new();
    for time in 0..visits {
        let page = if pages == 0 || random(10) < 3 {
            pages += 1;
            pages
        } else {
            1 + random(pages)
        };
        let version = if random(2) == 0 { 0 } else { random(1 << 20) };
        let found = choice(page << 20 | version)(u64::MAX);
        batch.push((format!("https://site{}.example/page/{page}", page % 97), found));
        if batch.len() == 500 || time + 1 == visits {
            let observations = batch.iter().zip(0u64..).map(|((url, found), n)| {
                let time = (time + n).cast_signed() * 1000;
                let digest = Digest(u128::from(*found).to_le_bytes());
                Observation::content(url, ms(time), *found, Epoch::from_number(0)).digest(digest)
            });
            let observations: Vec<_> = observations.collect();
            store.observe_batch(&observations).unwrap();
            after_each_batch(store);
            batch.clear();
        }
    }
}

#[test]
fn c8_idle_store_is_little_larger_than_fully_merged() {
    // With the maximum number of segments of each size, or almost.
    for visits in [7_500, 23_500, 63_500] {
        let disk = SimDisk::new();
        let rest = Duration::from_millis(300);
        let options = small().memtable_observations(1000).merge_fanout(8);
        let options = options.background(true).seal_after(rest);
        let store = Store::create(on(&disk), options).unwrap();
        crawl(&store, visits, |store| store.wait_idle().unwrap());
        store.seal().unwrap();
        let (busy, segments) = (bytes(&disk).0, store.stats().unwrap().segments.len());
        // A crawl leaves many pages in many segments. When the store is idle, they are merged if that
        // saves much.
        let since = Instant::now();
        let is_at_rest = || {
            let stats = store.stats().unwrap();
            let records: u64 = stats.segments.iter().map(|segment| segment.pages).sum();
            let merged = stats.segments.len() == 1 || records * 10 <= stats.pages * 13;
            // Replaced files are removed shortly after their replacement is live.
            merged && disk.list(Dir::Segments).unwrap().len() == stats.segments.len()
        };
        while !is_at_rest() {
            assert!(since.elapsed() < PATIENCE, "it does not come to rest");
            std::thread::sleep(rest / 10);
        }
        let (at_rest, all) = bytes(&disk);
        store.merge(&Progress::default()).unwrap();
        let (merged, _) = bytes(&disk);
        let times = |bytes: u64| bytes as f64 / merged as f64;
        let (ratio, while_busy) = (times(at_rest), times(busy));
        println!(
            "{visits} visits in {segments} segments take {while_busy:.2} times what they would in \
             one; at rest {ratio:.2}"
        );
        assert!(ratio < 1.3, "{visits} visits: {ratio:.2} times");
        // The catalog has space for two journals, and some more.
        let journal = all - at_rest;
        assert!(journal < 8 << 20, "{journal} bytes besides the segments");
    }
}

#[test]
fn c8_idle_store_frees_the_space_of_forgotten_pages() {
    let disk = SimDisk::new();
    let rest = Duration::from_millis(200);
    let options = small().memtable_observations(10_000).merge_fanout(8);
    let options = options.background(true).seal_after(rest);
    let store = Store::create(on(&disk), options).unwrap();
    // One page in ten has nearly all visits.
    let mut batch = Vec::new();
    for page in 0..100u64 {
        let visits = if page % 10 == 0 { 500 } else { 1 };
        let url = format!("https://{}.example/{page}", if visits == 1 { "few" } else { "many" });
        batch.extend((0..visits).map(|time| (url.clone(), time)));
    }
    let observations: Vec<_> = batch
        .iter()
        .map(|(url, time)| {
            Observation::content(
                url,
                ms(*time),
                choice(*time as u64)(u64::MAX),
                Epoch::from_number(0),
            )
        })
        .collect();
    store.observe_batch(&observations).unwrap();
    store.seal().unwrap();
    let (before, _) = bytes(&disk);
    store.forget(Scope::Prefix("many.example".parse().unwrap())).unwrap();
    store.seal().unwrap();
    let since = Instant::now();
    while bytes(&disk).0 * 5 > before {
        assert!(since.elapsed() < PATIENCE, "{:?} of {before}", bytes(&disk));
        std::thread::sleep(rest / 10);
    }
}

#[test]
fn idle_store_without_room_to_merge_is_left_unchanged() {
    let disk = SimDisk::new();
    let rest = Duration::from_millis(100);
    let options = small().memtable_observations(1000).merge_fanout(8);
    let options = options.background(true).seal_after(rest);
    let store = Store::create(on(&disk), options).unwrap();
    // One segment fewer than a merge needs to be due.
    crawl(&store, 6_500, |store| store.wait_idle().unwrap());
    store.seal().unwrap();
    let (segments, all) = bytes(&disk);
    disk.set_capacity_bytes(Some(all + segments / 2));
    let listed = store.stats().unwrap().segments.len();
    std::thread::sleep(rest * 6);
    let stats = store.stats().unwrap();
    assert_eq!((stats.segments.len(), stats.merge_error), (listed, None));
    store.wait_idle().unwrap();
    disk.set_capacity_bytes(None);
    let since = Instant::now();
    while store.stats().unwrap().segments.len() > 1 {
        assert!(since.elapsed() < PATIENCE, "it is not merged when there is room");
        std::thread::sleep(rest / 10);
    }
}

#[test]
fn new_and_rewritten_catalogs_are_small() {
    let disk = SimDisk::new();
    let store = Store::create(on(&disk), small().memtable_observations(100_000)).unwrap();
    let (_, empty) = bytes(&disk);
    crawl(&store, 20_000, |_| ());
    let (_, full) = bytes(&disk);
    store.purge(Scope::Url("https://site1.example/page/1"), &Progress::default()).unwrap();
    let (segments, all) = bytes(&disk);
    println!("{empty} bytes when empty, {full} with a journal, {} without", all - segments);
    assert!(empty < 100 << 10 && full > 1 << 20 && all - segments < 100 << 10);
}

#[test]
fn c8_merge_does_not_start_without_room() {
    let disk = SimDisk::new();
    let options = small().memtable_observations(1000);
    let store = Store::create(on(&disk), options).unwrap();
    crawl(&store, 4_000, |_| ());
    store.seal().unwrap();
    let (segments, all) = bytes(&disk);
    disk.record();
    // A merge needs as much space as its inputs, and no less suffices.
    for free in [segments / 4, segments / 2 + 1, segments * 3 / 4, segments] {
        disk.set_capacity_bytes(Some(all + free));
        check_not_begun(&store, &disk);
    }
    disk.set_capacity_bytes(Some(all + segments + (1 << 20)));
    store.wait_idle().unwrap();
    assert_eq!(store.stats().unwrap().segments.len(), 1);
}

/// Asserts that no merge starts and nothing is changed.
fn check_not_begun(store: &Store, disk: &SimDisk) {
    for tried in [store.wait_idle(), store.merge(&Progress::default()).map(drop)] {
        match tried {
            Err(Error::Io { source, .. }) => assert_eq!(source.kind(), ErrorKind::StorageFull),
            other => panic!("{other:?}"),
        }
    }
    let touched = disk.take_log().into_iter().filter(|op| op.kind.changes()).count();
    assert_eq!(touched, 0, "it was begun");
}
