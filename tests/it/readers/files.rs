//! Files of an open reader that are removed, truncated or damaged, and a full disk.

use std::fs;
use std::io::ErrorKind;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use simkeep::disk::{OpKind, SimDisk};
use simkeep::verify::{VerifyOptions, verify};
use simkeep::{Error, Location, Progress, Reader, Scope, Store};

use super::{check_beginning, crawl, page};
use simkeep_testing::compare::dump;
use simkeep_testing::disks::{HookDisk, PATIENCE};
use simkeep_testing::{create, on, small};

#[test]
fn reader_survives_merges_and_purges_of_its_files() {
    let dir = tempfile::tempdir().unwrap();
    let store = Store::create(dir.path(), small()).unwrap();
    crawl(&store, 1, 101);
    store.seal().unwrap();
    let mut reader = Reader::open(dir.path()).unwrap();
    let files = |dir: &Path| fs::read_dir(dir.join("segments")).unwrap().count();
    assert!(files(dir.path()) > 3);
    store.merge(&Progress::default()).unwrap();
    assert_eq!(files(dir.path()), 1);
    check_beginning(&reader);
    assert!(reader.refresh().unwrap());
    check_beginning(&reader);
    store.purge(Scope::Url(&page(1)), &Progress::default()).unwrap();
    check_beginning(&reader);
    let purged = Reader::open(dir.path()).unwrap();
    assert!(purged.snapshot().history(&page(1)).unwrap().is_empty());
}

#[test]
fn removed_files_are_kept_during_the_reader_grace() {
    let dir = tempfile::tempdir().unwrap();
    let grace = Duration::from_millis(300);
    let options = small().reader_grace(grace).background(true);
    let options = options.merge_fanout(100);
    let store = Store::create(dir.path(), options).unwrap();
    crawl(&store, 1, 20);
    store.seal().unwrap();
    crawl(&store, 20, 25);
    store.seal().unwrap();
    let segments = dir.path().join("segments");
    let files = || fs::read_dir(&segments).unwrap().count();
    let (before, since) = (files(), Instant::now());
    store.merge(&Progress::default()).unwrap();
    if since.elapsed() < grace {
        assert_eq!(files(), before + 1);
    }
    while files() > 1 {
        assert!(since.elapsed() < PATIENCE, "they are never removed");
        std::thread::sleep(Duration::from_millis(10));
    }
    assert!(since.elapsed() >= grace);
    // A purge and a close do not wait.
    crawl(&store, 25, 30);
    store.seal().unwrap();
    store.purge(Scope::Url(&page(1)), &Progress::default()).unwrap();
    store.merge(&Progress::default()).unwrap();
    store.close().unwrap();
    assert_eq!(files(), 1);
}

#[test]
fn opening_reader_retries_when_a_file_is_removed() {
    let disk = SimDisk::new();
    let store = create(&disk, small());
    crawl(&store, 1, 41);
    store.seal().unwrap();
    let merged = AtomicBool::new(false);
    let writer = store.clone();
    let under_its_feet = HookDisk::new(on(&disk), move |kind, _| {
        if kind == OpKind::Map && !merged.swap(true, Ordering::Relaxed) {
            writer.merge(&Progress::default()).unwrap();
        }
    });
    let reader = Reader::open(Arc::new(under_its_feet)).unwrap();
    assert_eq!(reader.stats().unwrap().segments.len(), 1);
    check_beginning(&reader);
}

#[test]
fn damaged_snapshot_file_harms_neither_writers_nor_readers() {
    let dir = tempfile::tempdir().unwrap();
    let store = Store::create(dir.path(), small()).unwrap();
    crawl(&store, 1, 20);
    store.seal().unwrap();
    let path = dir.path().join("SNAPSHOT");
    let sound = fs::read(&path).unwrap();
    for at in 0..sound.len() {
        let mut damaged = sound.clone();
        damaged[at] ^= 0x10;
        fs::write(&path, damaged).unwrap();
        let reader = Reader::open(dir.path()).unwrap();
        assert_eq!((reader.snapshot().sequence(), reader.fell_back()), (19, false));
        let flaws = verify(dir.path(), VerifyOptions::default()).unwrap().flaws;
        assert_eq!(flaws[0].file, "SNAPSHOT");
    }
    crawl(&store, 20, 25);
    store.seal().unwrap();
    check_beginning(&Reader::open(dir.path()).unwrap());
}

#[test]
fn snapshot_file_that_does_not_fit_blocks_nobody() {
    let mut kept_out = 0;
    for room in (0..12_000).step_by(256) {
        let disk = SimDisk::new();
        let store = create(&disk, small());
        crawl(&store, 1, 33);
        store.seal().unwrap();
        let used: usize = disk.contents().iter().map(|(_, content)| content.len()).sum();
        disk.set_capacity_bytes(Some(used as u64 + room));
        // The old files are removed first, if their removal cannot be recorded otherwise.
        let merged = match store.merge(&Progress::default()) {
            Ok(_) => true,
            Err(Error::Io { source, .. }) => {
                assert_eq!(source.kind(), ErrorKind::StorageFull);
                false
            }
            Err(e) => panic!("{e}"),
        };
        let reader = Reader::open(on(&disk)).unwrap();
        check_beginning(&reader);
        assert_eq!(reader.stats().unwrap().segments.len() == 1, merged, "{room}");
        kept_out += u32::from(!merged);
        drop(store);
        let reader = Reader::open(on(&disk)).unwrap();
        check_beginning(&reader);
        assert_eq!(reader.snapshot().sequence(), 32);
        // No byte of the disk is free, and the store still opens.
        let used: usize = disk.contents().iter().map(|(_, content)| content.len()).sum();
        disk.set_capacity_bytes(Some(used as u64));
        drop(Store::open(on(&disk), small()).unwrap());
    }
    assert!(kept_out > 0);
}

#[test]
fn plain_reads_are_unaffected_by_truncated_files() {
    let dir = tempfile::tempdir().unwrap();
    let store = Store::create(dir.path(), small()).unwrap();
    crawl(&store, 1, 40);
    store.seal().unwrap();
    store.close().unwrap();
    let plain = Location::from(dir.path()).plain_reads();
    let store = Store::open(plain.clone(), small()).unwrap();
    let reader = Reader::open(plain).unwrap();
    for file in fs::read_dir(dir.path().join("segments")).unwrap() {
        fs::File::options().write(true).open(file.unwrap().path()).unwrap().set_len(0).unwrap();
    }
    check_beginning(&reader);
    assert_eq!(dump(&store.snapshot()).unwrap(), dump(&reader.snapshot()).unwrap());
    // A new open reports the damage.
    drop(store);
    let cut = Store::open(dir.path(), small()).unwrap_err();
    assert!(matches!(&cut, Error::Corrupt(found) if found.file.starts_with("segments/")), "{cut}");
}
