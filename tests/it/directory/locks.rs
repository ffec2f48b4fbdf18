//! One writer at a time, whatever happens to the lock files.

use simkeep_testing::{ms, sound};
use std::fs;
use std::path::{Path, PathBuf};

use simkeep::load::LoadOptions;
use simkeep::{Error, Observation, Options, Prefix, Progress, Scope, Store};
use tempfile::TempDir;

struct LockedStore {
    _dir: TempDir,
    path: PathBuf,
    store: Store,
}

/// An open store with one page.
fn place() -> LockedStore {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("crawl.simkeep");
    let store = Store::create(&path, Options::default()).unwrap();
    store.observe(Observation::gone("http://a/", ms(0))).unwrap();
    LockedStore { _dir: dir, path, store }
}

fn refused(path: &Path) {
    let error = Store::open(path, Options::default()).unwrap_err();
    assert!(matches!(error, Error::Locked { .. }), "{error}");
}

/// The first writer stops, and the next one has all acknowledged operations.
fn stops(store: Store, file: &str, reopen: &Path) {
    let write = || store.observe(Observation::gone("http://b/", ms(0)));
    let error = write().unwrap_err();
    assert!(matches!(&error, Error::Replaced { file: found } if found == file), "{error}");
    assert!(matches!(write(), Err(Error::Poisoned(_))));
    assert!(store.seal().is_err());
    drop(store);
    let store = Store::open(reopen, Options::default()).unwrap();
    assert_eq!(store.history("http://a/").unwrap().len(), 1);
    sound(&store).unwrap();
}

#[test]
fn first_writer_stops_when_lock_was_removed() {
    let place = place();
    fs::remove_file(place.path.join("LOCK")).unwrap();
    refused(&place.path);
    stops(place.store, "LOCK", &place.path);
}

#[test]
fn first_writer_stops_when_lock_was_replaced() {
    let place = place();
    fs::copy(place.path.join("LOCK"), place.path.join("other")).unwrap();
    fs::rename(place.path.join("other"), place.path.join("LOCK")).unwrap();
    refused(&place.path);
    stops(place.store, "LOCK", &place.path);
}

#[test]
fn writer_stops_when_its_catalog_was_replaced() {
    let place = place();
    let catalog = place.path.join("catalog.redb");
    place.store.seal().unwrap();
    fs::copy(&catalog, place.path.join("other")).unwrap();
    fs::rename(place.path.join("other"), &catalog).unwrap();
    stops(place.store, "catalog.redb", &place.path);
}

#[test]
fn writer_stops_when_its_directory_was_replaced() {
    let place = place();
    let away = place.path.with_file_name("away");
    fs::rename(&place.path, &away).unwrap();
    let other = Store::create(&place.path, Options::default()).unwrap();
    other.observe(Observation::gone("http://c/", ms(0))).unwrap();
    stops(place.store, "LOCK", &away);
    other.seal().unwrap();
    sound(&other).unwrap();
    other.close().unwrap();
}

#[test]
fn second_writer_is_refused_through_another_path() {
    let place = place();
    let link = place.path.with_file_name("link");
    std::os::unix::fs::symlink(&place.path, &link).unwrap();
    refused(&link);
    refused(&place.path.join("segments/.."));
}

#[test]
fn catalog_made_by_a_purge_is_locked() {
    let place = place();
    place.store.purge(Scope::Prefix(Prefix::parse("c").unwrap()), &Progress::default()).unwrap();
    place.store.observe(Observation::gone("http://a/", ms(1))).unwrap();
    fs::remove_file(place.path.join("LOCK")).unwrap();
    refused(&place.path);
}

/// Replaces a store by another one with the given number of segments. The new store is created
/// under another name, since the first may still be creating files at its path.
fn put_another(path: &Path, segments: usize) {
    let beside = path.with_extension("new");
    let store = Store::create(&beside, Options::default()).unwrap();
    for number in 0..segments {
        store.observe(Observation::gone(&format!("http://c/{number}"), ms(0))).unwrap();
        store.seal().unwrap();
    }
    store.close().unwrap();
    fs::rename(path, path.with_extension("old")).unwrap();
    fs::rename(&beside, path).unwrap();
}

/// The replacing store still has all its data.
fn is_whole(path: &Path, segments: usize) {
    let store = Store::open(path, Options::default()).unwrap();
    for number in 0..segments {
        assert_eq!(store.history(&format!("http://c/{number}")).unwrap().len(), 1);
    }
    sound(&store).unwrap();
}

#[test]
fn close_removes_nothing_of_a_store_in_its_place() {
    let LockedStore { _dir, path, store } = place();
    store.seal().unwrap();
    store.observe(Observation::gone("http://b/", ms(0))).unwrap();
    store.seal().unwrap();
    // Removed files are kept for a while for readers of other processes.
    store.merge(&Progress::default()).unwrap();
    put_another(&path, 3);
    store.close().unwrap();
    is_whole(&path, 3);
}

#[test]
fn seal_overwrites_nothing_of_a_store_in_its_place() {
    let place = place();
    put_another(&place.path, 3);
    assert!(matches!(place.store.seal(), Err(Error::Replaced { .. })));
    drop(place.store);
    is_whole(&place.path, 3);
}

#[test]
fn merge_overwrites_nothing_of_a_store_in_its_place() {
    let LockedStore { _dir, path, store } = place();
    store.seal().unwrap();
    store.observe(Observation::gone("http://b/", ms(0))).unwrap();
    store.seal().unwrap();
    put_another(&path, 4);
    assert!(matches!(store.merge(&Progress::default()), Err(Error::Replaced { .. })));
    drop(store);
    is_whole(&path, 4);
}

#[test]
fn failed_load_removes_nothing_of_a_store_in_its_place() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("crawl.simkeep");
    let lines = (0..2).map(|number| {
        if number == 1 {
            put_another(&path, 2);
            return Err(Error::InvalidArgument("a broken line".to_owned()));
        }
        Ok(Observation::gone("http://a/", ms(0)))
    });
    let error = Store::create_from(&path, Options::default(), lines, LoadOptions::default());
    assert!(matches!(error, Err(Error::LoadRejected { nth: 2, .. })));
    is_whole(&path, 2);
}
