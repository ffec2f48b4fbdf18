//! Paths without a store, with another store, or with other files.

use std::fs;
use std::path::Path;

use simkeep::{Error, NotStore, Observation, Reader, Role, Store};

use super::listing;
use simkeep_testing::compare::check_store;
use simkeep_testing::pages::URLS;
use simkeep_testing::sample::sample;
use simkeep_testing::{EPOCHS, ms, small};

fn expect_no_store(path: &Path, expected: NotStore, why: &str) {
    for opened in [Store::open(path, small()).map(drop), Reader::open(path).map(drop)] {
        match opened {
            Err(ref error @ Error::NotAStore { found, .. }) => {
                assert_eq!(found, expected);
                let text = error.to_string();
                assert!(text.contains(&path.display().to_string()), "{text}");
                assert!(text.contains(why), "{text}");
            }
            other => panic!("{}: {other:?}", path.display()),
        }
    }
}

#[test]
fn path_without_a_store_is_named_and_left_unchanged() {
    let dir = tempfile::tempdir().unwrap();
    expect_no_store(&dir.path().join("nothing"), NotStore::Nothing, "does not exist");
    assert_eq!(listing(dir.path()), []);
    let file = dir.path().join("file");
    fs::write(&file, "text").unwrap();
    expect_no_store(&file, NotStore::Nothing, "not a directory");
    let foreign = dir.path().join("foreign");
    fs::create_dir(&foreign).unwrap();
    expect_no_store(&foreign, NotStore::Nothing, "catalog.redb");
    fs::write(foreign.join("letter.txt"), "dear").unwrap();
    fs::create_dir(foreign.join("segments")).unwrap();
    fs::write(foreign.join("segments/0000000001.seg"), "mine").unwrap();
    let before = listing(dir.path());
    expect_no_store(&foreign, NotStore::Segments(1), "catalog.redb");
    assert_eq!(listing(dir.path()), before);
}

#[test]
fn store_is_not_created_among_other_files() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("letter.txt"), "dear").unwrap();
    for made in [Store::create(dir.path(), small()), Store::open_or_create(dir.path(), small())] {
        let error = made.unwrap_err();
        assert!(matches!(error, Error::NotAStore { found: NotStore::Other, .. }), "{error}");
        assert!(error.to_string().contains("letter.txt"), "{error}");
    }
    assert_eq!(fs::read(dir.path().join("letter.txt")).unwrap(), b"dear");
    assert!(!dir.path().join("catalog.redb").exists());
}

/// `SNAPSHOT` lists the segments of a store that may be elsewhere.
#[test]
fn store_is_not_created_over_a_leftover_snapshot_file() {
    let dir = tempfile::tempdir().unwrap();
    let store = Store::create(dir.path(), small()).unwrap();
    store.observe(Observation::gone(URLS[0], ms(1))).unwrap();
    store.seal().unwrap();
    store.close().unwrap();
    fs::remove_file(dir.path().join("catalog.redb")).unwrap();
    fs::remove_dir_all(dir.path().join("segments")).unwrap();
    let before = listing(dir.path());
    let error = Store::create(dir.path(), small()).unwrap_err();
    assert!(matches!(error, Error::NotAStore { found: NotStore::Other, .. }), "{error}");
    assert!(error.to_string().contains("restore the store from a backup"), "{error}");
    assert_eq!(listing(dir.path()), before);
}

#[test]
fn store_is_not_created_over_another() {
    let dir = tempfile::tempdir().unwrap();
    let store = Store::create(dir.path(), small()).unwrap();
    store.register_epoch(EPOCHS[1], Role::Both).unwrap();
    let model = sample(&store);
    store.close().unwrap();
    assert!(matches!(Store::create(dir.path(), small()), Err(Error::StoreExists { .. })));
    check_store(&Store::open_or_create(dir.path(), small()).unwrap(), &model);
}

#[test]
fn own_leftovers_are_removed_and_other_files_are_kept() {
    let dir = tempfile::tempdir().unwrap();
    let store = Store::create(dir.path(), small()).unwrap();
    store.register_epoch(EPOCHS[1], Role::Both).unwrap();
    let model = sample(&store);
    store.close().unwrap();
    let foreign = ["notes.txt", "segments/1.seg", "segments/0000000001.seg.bak", "segments/x.tmp"];
    let ours = [
        "catalog.redb.new",
        "segments/0000000099.seg",
        "segments/0000000098.seg.new",
        "segments/0000000097.03.tmp",
    ];
    for name in foreign.iter().chain(&ours) {
        fs::write(dir.path().join(name), "something").unwrap();
    }
    drop(Reader::open(dir.path()).unwrap());
    assert!(ours.iter().all(|name| dir.path().join(name).exists()), "a reader removed something");
    let store = Store::open(dir.path(), small()).unwrap();
    check_store(&store, &model);
    for name in foreign {
        assert_eq!(fs::read(dir.path().join(name)).unwrap(), b"something", "{name}");
    }
    for name in ours {
        assert!(!dir.path().join(name).exists(), "{name} is still there");
    }
}

#[test]
fn second_writer_is_refused_until_the_first_closes() {
    let dir = tempfile::tempdir().unwrap();
    let first = Store::create(dir.path(), small()).unwrap();
    let refused = Store::open(dir.path(), small()).unwrap_err();
    assert!(matches!(refused, Error::Locked { .. }), "{refused}");
    assert!(refused.to_string().contains(&dir.path().display().to_string()), "{refused}");
    first.observe(Observation::gone(URLS[0], ms(0))).unwrap();
    let handle = first.clone();
    let snapshot = first.snapshot();
    first.close().unwrap();
    let second = Store::open(dir.path(), small()).unwrap();
    assert!(matches!(handle.observe(Observation::gone(URLS[0], ms(1))), Err(Error::Closed)));
    assert_eq!(handle.history(URLS[0]).unwrap(), snapshot.history(URLS[0]).unwrap());
    drop(second);
    drop(Store::open(dir.path(), small()).unwrap());
}

#[test]
fn store_is_created_where_only_a_lock_file_remains() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("store");
    let create = || {
        let store = Store::create(&path, small()).unwrap();
        store.register_epoch(EPOCHS[1], Role::Both).unwrap();
        store
    };
    let store = create();
    sample(&store);
    store.close().unwrap();
    fs::remove_dir_all(path.join("segments")).unwrap();
    for name in ["catalog.redb", "SNAPSHOT"] {
        fs::remove_file(path.join(name)).unwrap();
    }
    let store = create();
    let model = sample(&store);
    store.close().unwrap();
    check_store(&Store::open(&path, small()).unwrap(), &model);
}
