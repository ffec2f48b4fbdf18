//! Readers at any moment of a writer, of its end, and of a recovery.

use std::fs;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use simkeep::disk::{Access, FileName, OpKind, SimDisk};
use simkeep::verify::{VerifyOptions, verify};
use simkeep::{Progress, Reader, Store};

use super::{check_beginning, crawl, numbered};
use simkeep_testing::compare::dump;
use simkeep_testing::disks::HookDisk;
use simkeep_testing::{create, on, open, small};

#[test]
fn reader_of_a_killed_store_sees_all_acknowledged_operations() {
    let disk = SimDisk::new();
    let store = create(&disk, small());
    crawl(&store, 1, 30);
    let killed = disk.crash_all_kept();
    let before = killed.contents();
    let reader = Reader::open(on(&killed)).unwrap();
    assert_eq!((reader.snapshot().sequence(), reader.written()), (29, None));
    check_beginning(&reader);
    assert_eq!(dump(&reader.snapshot()).unwrap(), dump(&store.snapshot()).unwrap());
    drop(reader);
    assert!(killed.contents() == before, "a reader wrote");
    assert!(before.iter().any(|(name, _)| *name == FileName::Snapshot));
}

/// The file that a reader falls back to exists.
fn check_published(disk: &SimDisk) {
    let published = disk.contents().iter().any(|(name, _)| *name == FileName::Snapshot);
    if published {
        verify(on(disk), VerifyOptions::default()).unwrap().sound().unwrap();
    }
}

#[test]
fn reader_always_sees_all_crash_proof_operations() {
    let disk = SimDisk::new();
    drop(create(&disk, small()));
    let (at_work, looks) = (disk.clone(), Arc::new(AtomicU64::new(0)));
    let counter = Arc::clone(&looks);
    let hooked = HookDisk::new(on(&disk), move |kind, _| {
        if !kind.changes() {
            return;
        }
        let reader = Reader::open(on(&at_work)).unwrap();
        if reader.written().is_some() {
            check_beginning(&reader);
            assert!(!reader.fell_back());
            let after = |crash: SimDisk| open(&crash, small()).snapshot().sequence();
            let seen = reader.snapshot().sequence();
            // Acknowledged operations are synced; at most one operation is unsynced, and survives a
            // crash that keeps written data.
            let synced = after(at_work.crash_synced_only());
            assert!((synced..=synced + 1).contains(&seen), "{seen}, of {synced}");
            assert_eq!(after(at_work.crash_all_kept()), seen);
            check_published(&at_work);
            counter.fetch_add(1, Ordering::Relaxed);
        }
    });
    let store = Store::open(Arc::new(hooked), small()).unwrap();
    for round in 0..3 {
        crawl(&store, 1 + 20 * round, 21 + 20 * round);
        store.seal().unwrap();
    }
    store.merge(&Progress::default()).unwrap();
    crawl(&store, 61, 70);
    store.seal().unwrap();
    store.close().unwrap();
    assert!(looks.load(Ordering::Relaxed) > 100);
}

#[test]
fn reader_opens_at_every_moment_of_a_recovery() {
    let disk = SimDisk::new();
    drop(create(&disk, small()));
    // Killed between the commit of a merge and writing the `SNAPSHOT` without its inputs.
    let (at_work, killed) = (disk.clone(), Arc::new(Mutex::new(None)));
    let seen = Arc::clone(&killed);
    let hooked = HookDisk::new(on(&disk), move |kind, name| {
        if kind == OpKind::Open(Access::Create) && name == Some(FileName::SnapshotNew) {
            *seen.lock().unwrap() = Some(at_work.crash_all_kept());
        }
    });
    let store = Store::open(Arc::new(hooked), small()).unwrap();
    crawl(&store, 1, 41);
    store.seal().unwrap();
    store.merge(&Progress::default()).unwrap();
    let killed = killed.lock().unwrap().take().unwrap();
    let (read_from, removed) = (killed.clone(), Arc::new(AtomicU64::new(0)));
    let counter = Arc::clone(&removed);
    let hooked = HookDisk::new(on(&killed), move |kind, name| {
        if kind.changes() {
            check_beginning(&Reader::open(on(&read_from)).unwrap());
            check_published(&read_from);
            let segment = matches!(name, Some(FileName::Segment(_)));
            counter.fetch_add(u64::from(kind == OpKind::Remove && segment), Ordering::Relaxed);
        }
    });
    let recovered = Store::open(Arc::new(hooked), small()).unwrap();
    assert!(removed.load(Ordering::Relaxed) > 1, "the inputs were not there any more");
    check_beginning(&Reader::open(on(&killed)).unwrap());
    drop(recovered);
}

#[test]
fn reader_of_a_killed_store_does_not_block_a_writer() {
    let disk = SimDisk::new();
    let store = create(&disk, small());
    crawl(&store, 1, 20);
    let killed = disk.crash_all_kept();
    let reader = Reader::open(on(&killed)).unwrap();
    let writer = Store::open(on(&killed), small()).unwrap();
    crawl(&writer, 20, 60);
    writer.merge(&Progress::default()).unwrap();
    check_beginning(&reader);
    assert_eq!(reader.snapshot().sequence(), 19);
}

#[test]
fn successive_readers_do_not_block_a_writer() {
    let dir = tempfile::tempdir().unwrap();
    let [path, killed] = ["store", "killed"].map(|name| dir.path().join(name));
    let unsealed = small().memtable_observations(1 << 20);
    let store = Store::create(&path, unsealed.clone()).unwrap();
    for from in (0..20_000).step_by(1000) {
        let urls: Vec<String> = (from..from + 1000).map(|n| format!("http://h/{n}")).collect();
        let observations = (from..).zip(&urls).map(|(n, url)| numbered(url, n)).collect::<Vec<_>>();
        store.observe_batch(&observations).unwrap();
    }
    fs::create_dir_all(killed.join("segments")).unwrap();
    for name in ["LOCK", "catalog.redb"] {
        fs::copy(path.join(name), killed.join(name)).unwrap();
    }
    let (alone, ended) = (AtomicU64::new(0), AtomicBool::new(false));
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                while !ended.load(Ordering::Relaxed) {
                    // Once there is a writer, it may have nothing to show yet.
                    let Ok(reader) = Reader::open(&killed) else { continue };
                    alone.fetch_add(u64::from(reader.written().is_none()), Ordering::Relaxed);
                }
            });
        }
        while alone.load(Ordering::Relaxed) < 8 {
            std::thread::yield_now();
        }
        let writer = Store::open(&killed, unsealed);
        ended.store(true, Ordering::Relaxed);
        assert_eq!(writer.unwrap().snapshot().sequence(), 20_000);
    });
}
