//! Snapshots of pages that were purged or merged away.

use std::time::Duration;

use simkeep::disk::{FileName, SimDisk};
use simkeep::{Epoch, Prefix, Progress, Query, Scope};

use super::{MARK, check_purged, marked, marked_store};
use simkeep_testing::compare::{check_store, check_view, dump};
use simkeep_testing::model::Model;
use simkeep_testing::sample::fill;
use simkeep_testing::{create, open, small};

#[test]
fn purged_url_lives_only_as_long_as_its_snapshot() {
    let disk = SimDisk::new();
    let mut model = Model::default();
    let store = marked_store(&disk, &mut model, 2);
    let (snapshot, was) = (store.snapshot(), model.clone());
    let prefix = Prefix::parse(&format!("{MARK}.example")).unwrap();
    store.purge(Scope::Prefix(prefix), &Progress::default()).unwrap();
    model.forget(|url| url.contains(MARK));
    check_store(&store, &model);
    assert_eq!(snapshot.history(&marked(1)).unwrap().len(), 3);
    assert!(dump(&snapshot).unwrap() == was);
    let query = Query::new(5, 0).epoch(Epoch::from_number(0));
    assert_eq!(snapshot.search(&query).unwrap().near.len(), 2);
    drop(snapshot);
    check_purged(store, &disk, &model, MARK);
}

#[test]
fn old_snapshot_removes_nothing_of_a_replacing_store() {
    let disk = SimDisk::new();
    let (mut model, options) = (Model::default(), small().reader_grace(Duration::ZERO));
    let store = create(&disk, options.clone());
    for seed in 1..3 {
        fill(&store, &mut model, seed, 20);
        store.seal().unwrap();
    }
    let snapshot = store.snapshot();
    let segments = store.stats().unwrap().segments;
    let held: Vec<FileName> =
        segments.iter().map(|segment| FileName::Segment(segment.id)).collect();
    store.merge(&Progress::default()).unwrap();
    store.close().unwrap();
    let there = || disk.contents().iter().filter(|(name, _)| held.contains(name)).count();
    assert!(held.len() > 1 && there() == held.len());
    check_view(&snapshot, &model);
    drop(snapshot);
    assert_eq!(there(), held.len());
    open(&disk, options).close().unwrap();
    assert_eq!(there(), 0);
}
