//! The lock of a store belongs to the process that opened it, and ends with that process.

use simkeep_testing::ms;
use std::time::{Duration, Instant};

use simkeep::disk::LockHolder;
use simkeep::{Error, Observation, Options, Store};

use super::child::{copy_of, end, fork, split};

#[test]
fn a_refused_open_names_the_holder_of_the_lock() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("crawl.simkeep");
    let store = Store::create(&path, Options::default()).unwrap();
    let since = Instant::now();
    let error = Store::open(&path, Options::default()).unwrap_err();
    assert!(since.elapsed() < Duration::from_secs(4), "it waits for itself");
    assert!(matches!(error, Error::Locked { holder: LockHolder::ThisProcess, .. }), "{error}");
    let said = error.to_string();
    assert!(said.contains("already open in this process") && said.contains("Reader"), "{said}");
    let parent = std::process::id();
    fork(|| {
        let since = Instant::now();
        let options = Options::default().lock_wait(Duration::ZERO);
        let error = Store::open(&path, options).unwrap_err();
        assert!(since.elapsed() < Duration::from_secs(4), "it waits longer than lock_wait");
        let Error::Locked { holder, .. } = &error else { panic!("{error}") };
        // Some file systems report other inode numbers than the list of locks.
        assert!([LockHolder::Process(parent), LockHolder::Unknown].contains(holder), "{error}");
        let said = error.to_string();
        assert!(said.contains("process") && said.contains("Reader"), "{said}");
    })
    .end("a child that is refused");
    store.close().unwrap();
    Store::open(&path, Options::default()).unwrap();
}

#[test]
fn child_that_dropped_the_store_frees_a_killed_parents_lock() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("crawl.simkeep");
    let ready = dir.path().join("ready");
    let parent = split();
    let Some(parent) = parent else {
        let store = Store::create(&path, Options::default()).unwrap();
        store.observe(Observation::gone("https://a.example/", ms(0))).unwrap();
        let grandchild = fork(|| {
            drop(copy_of(&store));
            std::fs::write(&ready, "").unwrap();
            // Longer than the test, which does not wait for the child.
            std::thread::sleep(Duration::from_secs(20));
        });
        while !ready.exists() {
            std::thread::sleep(Duration::from_millis(1));
        }
        std::mem::forget(grandchild);
        // Ends like a killed process: nothing is closed.
        end(true);
    };
    parent.end("a parent");
    let since = Instant::now();
    let store = Store::open(&path, Options::default()).unwrap();
    assert!(since.elapsed() < Duration::from_secs(4), "the lock outlived its process");
    assert_eq!(store.history("https://a.example/").unwrap().len(), 1);
}

#[test]
fn child_that_exits_or_drops_leaves_the_parents_lock() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("crawl.simkeep");
    let store = Store::create(&path, Options::default()).unwrap();
    fork(|| ()).end("a child that ends");
    fork(|| drop(copy_of(&store))).end("a child that lets go");
    let error = Store::open(&path, Options::default()).unwrap_err();
    assert!(matches!(error, Error::Locked { .. }), "{error}");
    store.observe(Observation::gone("https://a.example/", ms(0))).unwrap();
    store.close().unwrap();
}
