//! The state that a reader sees. A reader writes nothing.

use std::sync::Arc;
use std::time::Duration;

use simkeep::disk::{Disk, SimDisk};
use simkeep::verify::{VerifyOptions, verify};
use simkeep::{Location, Reader, Scope};

use super::{check_beginning, crawl};
use simkeep_testing::compare::check_reader;
use simkeep_testing::disks::HookDisk;
use simkeep_testing::model::Model;
use simkeep_testing::{choice, create, on, open, request, small};

#[test]
fn reader_reports_how_far_behind_it_is() {
    let disk = SimDisk::new();
    let store = create(&disk, small());
    let mut reader = Reader::open(on(&disk)).unwrap();
    assert_eq!((reader.snapshot().sequence(), reader.behind()), (0, 0));
    assert_eq!(reader.stats().unwrap().pages, 0);
    crawl(&store, 1, 11);
    assert_eq!((reader.snapshot().sequence(), reader.behind()), (0, 10));
    assert!(reader.refresh().unwrap());
    assert!(!reader.refresh().unwrap(), "nothing came");
    check_beginning(&reader);
    crawl(&store, 11, 14);
    assert_eq!((reader.snapshot().sequence(), reader.behind()), (10, 3));
    store.seal().unwrap();
    assert!(reader.refresh().unwrap());
    assert!(reader.written().unwrap().elapsed().unwrap() < Duration::from_secs(60));
    assert_eq!((reader.snapshot().sequence(), reader.behind()), (13, 0));
    assert!(!reader.fell_back());
    check_beginning(&reader);
    assert_eq!(reader.snapshot().epochs(), store.snapshot().epochs());
    verify(on(&disk), VerifyOptions::default()).unwrap().sound().unwrap();
    // Without a writer, it sees everything.
    store.close().unwrap();
    assert!(!reader.refresh().unwrap(), "it saw all of it");
    assert_eq!((reader.snapshot().sequence(), reader.behind(), reader.written()), (13, 0, None));
    check_beginning(&reader);
    // A new operation is not seen, but counted.
    crawl(&open(&disk, small()), 14, 16);
    assert_eq!(reader.behind(), 2);
}

#[test]
fn reader_sees_all_kinds_of_operations() {
    let disk = SimDisk::new();
    let store = create(&disk, small());
    let (mut model, mut random) = (Model::default(), choice(5));
    for time in 0..60 {
        let request = request(&mut random, 12, time);
        store.write_batch(std::slice::from_ref(&request)).unwrap();
        model.request(&request, 3);
        if time % 25 == 24 {
            let url = simkeep_testing::pages::URLS[usize::try_from(time).unwrap() % 7];
            store.forget(Scope::Url(url)).unwrap();
            model.forget(|u| u == url);
        }
    }
    check_reader(&Reader::open(on(&disk)).unwrap(), &model);
    store.seal().unwrap();
    check_reader(&Reader::open(on(&disk)).unwrap(), &model);
    check_reader(&Reader::open(Location::from(on(&disk)).plain_reads()).unwrap(), &model);
}

#[test]
fn readers_write_nothing() {
    let disk = SimDisk::new();
    let store = create(&disk, small());
    crawl(&store, 1, 30);
    let readers: Arc<dyn Disk> = Arc::new(HookDisk::new(on(&disk), |kind, name| {
        assert!(!kind.changes(), "a reader does {kind:?} to {name:?}");
    }));
    check_beginning(&Reader::open(Arc::clone(&readers)).unwrap());
    store.close().unwrap();
    check_beginning(&Reader::open(readers).unwrap());
}
