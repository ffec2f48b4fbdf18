//! A store is recognized in whatever order its names are listed.

use simkeep_testing::ms;
use std::path::Path;
use std::sync::Arc;

use simkeep::disk::{FileName, SimDisk};
use simkeep::{Epoch, Error, Observation, Options, Store};

/// More than enough for each of a handful of names to be listed first and last.
const ORDERS: u64 = 64;

#[test]
fn store_is_recognized_in_any_listing_order() {
    let disk = SimDisk::new();
    let store = Store::create(Arc::new(disk.clone()), Options::default()).unwrap();
    store.observe(Observation::content("http://a/", ms(0), 7, Epoch::from_number(0))).unwrap();
    store.seal().unwrap();
    store.close().unwrap();
    for order in 0..ORDERS {
        disk.set_list_order(order);
        let made = Store::create(Arc::new(disk.clone()), Options::default());
        assert!(matches!(made, Err(Error::StoreExists { .. })), "{order}: {made:?}");
        let store = Store::open(Arc::new(disk.clone()), Options::default()).unwrap();
        assert_eq!(store.stats().unwrap().visits, 1);
        store.close().unwrap();
    }
}

#[test]
fn store_without_a_catalog_is_refused_in_any_listing_order() {
    let files =
        [(FileName::Lock, vec![]), (FileName::Snapshot, vec![1]), (FileName::CatalogNew, vec![])];
    let disk = SimDisk::of(files);
    for order in 0..ORDERS {
        disk.set_list_order(order);
        let error = Store::create(Arc::new(disk.clone()), Options::default()).unwrap_err();
        assert!(error.to_string().contains("restore the store from a backup"), "{order}: {error}");
    }
}

#[test]
fn store_reopens_repeatedly_on_each_file_system() {
    let memory = Path::new("/dev/shm");
    let places = [Some(std::env::temp_dir()), memory.is_dir().then(|| memory.to_owned())];
    for place in places.iter().flatten() {
        let dir = tempfile::tempdir_in(place).unwrap();
        for visits in 1..4 {
            let path = dir.path().join("crawl.simkeep");
            let store = Store::open_or_create(path, Options::default()).unwrap();
            store.observe(Observation::gone("http://a/", ms(visits))).unwrap();
            assert_eq!(store.stats().unwrap().visits, visits.cast_unsigned());
            store.seal().unwrap();
            store.close().unwrap();
        }
    }
}
