//! Which calls wait: threads share commits, and readers never wait.

use std::sync::{Arc, mpsc};
use std::thread;
use std::time::Duration;

use simkeep::disk::{Disk, FileName, Meter, OpKind, SimDisk};
use simkeep::{Durability, Epoch, Observation, Progress, Query, Role, Scope, Store, Versions};
use simkeep_testing::disks::{Gate, HookDisk, PATIENCE};
use simkeep_testing::{ms, on, small};

use super::url;

/// Returns the numbers of syncs and observations when `threads` threads observe one by one on a
/// slow disk.
fn syncs_of(threads: u64, calls: u64, durability: Durability) -> (u64, u64) {
    let slow = HookDisk::new(on(&SimDisk::new()), |kind, _| {
        if kind == OpKind::Sync {
            // Long enough for each thread to run, also on a busy machine.
            thread::sleep(Duration::from_millis(5));
        }
    });
    let meter = Meter::counting(Arc::new(slow));
    let disk: Arc<dyn Disk> = Arc::new(meter.clone());
    let options = small().durability(durability).memtable_observations(100_000);
    let store = Store::create(disk, options).unwrap();
    let before = meter.counts();
    thread::scope(|scope| {
        for thread in 0..threads {
            let store = &store;
            scope.spawn(move || {
                for page in 0..calls {
                    let seen = Observation::content(
                        &url(thread, page),
                        ms(0),
                        page,
                        Epoch::from_number(0),
                    )
                    .visit;
                    store.observe(Observation::of(&url(thread, page), seen)).unwrap();
                }
            });
        }
    });
    (meter.counts().since(&before).file_syncs, threads * calls)
}

#[test]
fn concurrent_writers_share_a_commit() {
    let (syncs, observed) = syncs_of(64, 16, Durability::Each);
    assert!(syncs * 8 <= observed, "{syncs} syncs for {observed} observations");
}

#[test]
fn grouped_durability_shares_a_commit_among_more_writers() {
    let (syncs, observed) = syncs_of(64, 16, Durability::Grouped(Duration::from_millis(20)));
    assert!(syncs * 16 <= observed, "{syncs} syncs for {observed} observations");
}

/// Runs `blocked` until it waits at the gate, then `free`, which must not wait for it.
fn while_blocked(
    gate: &Gate,
    stops: fn(OpKind, Option<FileName>) -> bool,
    blocked: impl FnOnce() + Send,
    free: impl FnOnce() + Send,
) {
    thread::scope(|scope| {
        gate.close(stops);
        let blocked = scope.spawn(blocked);
        gate.await_arrival();
        let (done, is_done) = mpsc::channel();
        let free = scope.spawn(move || {
            free();
            let _ = done.send(());
        });
        let waited = is_done.recv_timeout(PATIENCE);
        gate.open();
        blocked.join().unwrap();
        free.join().unwrap();
        assert_ne!(waited, Err(mpsc::RecvTimeoutError::Timeout), "it waited");
    });
}

fn gated() -> (Gate, Store) {
    let gate = Gate::default();
    let disk = Arc::new(gate.before(on(&SimDisk::new())));
    let store = Store::create(disk, small()).unwrap();
    for page in 0..8 {
        let content = Observation::content(&url(0, page), ms(0), 5, Epoch::from_number(0)).visit;
        store.observe(Observation::of(&url(0, page), content)).unwrap();
        if page % 3 == 2 {
            store.seal().unwrap();
        }
    }
    (gate, store)
}

/// Every way to read; there are 8 pages.
fn read_everything(store: &Store) {
    let snapshot = store.snapshot();
    let query = Query::new(5, 0).epoch(Epoch::from_number(0));
    assert_eq!(snapshot.search(&query).unwrap().near.len(), 8);
    assert_eq!(store.snapshot().search(&query.versions(Versions::Ever)).unwrap().near.len(), 8);
    assert_eq!(store.snapshot().near(5, 0).unwrap().near.len(), 8);
    assert_eq!(store.snapshot().scan(None).count(), 8);
    assert_eq!(store.history(&url(0, 1)).unwrap().len(), 1);
    assert!(store.snapshot().latest(&url(0, 1)).unwrap().is_some());
    assert!(store.as_of(&url(0, 1), ms(7)).unwrap().is_some());
}

fn is_catalog_sync(kind: OpKind, name: Option<FileName>) -> bool {
    kind == OpKind::Sync && name == Some(FileName::Catalog)
}

fn is_segment_sync(kind: OpKind, name: Option<FileName>) -> bool {
    kind == OpKind::Sync && matches!(name, Some(FileName::SegmentNew(_)))
}

#[test]
fn readers_neither_wait_for_a_commit_nor_see_it_early() {
    let (gate, store) = gated();
    let page = Observation::content("https://late.example/", ms(0), 5, Epoch::from_number(0));
    let observe = || assert_eq!(store.observe(page).unwrap().near.len(), 8);
    while_blocked(&gate, is_catalog_sync, observe, || read_everything(&store));
    assert_eq!(store.snapshot().near(5, 0).unwrap().near.len(), 9);
    let forget = || assert_eq!(store.forget(Scope::Url(page.url)).unwrap().pages, 1);
    while_blocked(&gate, is_catalog_sync, forget, || {
        assert!(store.snapshot().latest(page.url).unwrap().is_some());
        assert_eq!(store.history(page.url).unwrap().len(), 1);
        assert_eq!(store.snapshot().near(5, 0).unwrap().near.len(), 9);
    });
    read_everything(&store);
}

#[test]
fn page_and_visit_counts_include_only_acknowledged_operations() {
    let (gate, store) = gated();
    let page = Observation::content("https://late.example/", ms(0), 5, Epoch::from_number(0));
    let observe = || assert_eq!(store.observe(page).unwrap().near.len(), 8);
    let numbers = || {
        let stats = store.stats().unwrap();
        (stats.pages, stats.visits, stats.unsealed_visits)
    };
    while_blocked(&gate, is_catalog_sync, observe, || assert_eq!(numbers(), (8, 8, 2)));
    assert_eq!(numbers(), (9, 9, 3));
    let forget = || assert_eq!(store.forget(Scope::Url(page.url)).unwrap().pages, 1);
    while_blocked(&gate, is_catalog_sync, forget, || assert_eq!(numbers(), (9, 9, 3)));
    assert_eq!(numbers(), (8, 8, 2));
}

#[test]
fn readers_do_not_wait_for_an_epoch_registration() {
    let (gate, store) = gated();
    let register =
        || assert_eq!(store.register_epoch("another", Role::Both).unwrap(), Epoch::from_number(1));
    while_blocked(&gate, is_catalog_sync, register, || read_everything(&store));
}

#[test]
fn neither_readers_nor_observers_wait_for_a_seal() {
    let (gate, store) = gated();
    let seal = || store.seal().unwrap();
    while_blocked(&gate, is_segment_sync, seal, || {
        read_everything(&store);
        let page = Observation::content("https://late.example/", ms(0), 5, Epoch::from_number(0));
        store.observe(page).unwrap();
        assert_eq!(store.snapshot().near(5, 0).unwrap().near.len(), 9);
        store.forget(Scope::Url(page.url)).unwrap();
        read_everything(&store);
    });
    read_everything(&store);
}

#[test]
fn neither_readers_nor_observers_nor_seals_wait_for_a_merge() {
    let (gate, store) = gated();
    // Segments 1 and 2 exist, so the merge writes number 3, and the concurrent seal number 4.
    let is_merge = |kind, name| kind == OpKind::Sync && name == Some(FileName::SegmentNew(3));
    let merge = || assert_eq!(store.merge(&Progress::default()).unwrap().inputs, 2);
    while_blocked(&gate, is_merge, merge, || {
        read_everything(&store);
        let page = Observation::content("https://late.example/", ms(0), 5, Epoch::from_number(0));
        store.observe(page).unwrap();
        store.seal().unwrap();
        assert_eq!(store.snapshot().near(5, 0).unwrap().near.len(), 9);
        store.forget(Scope::Url(page.url)).unwrap();
        read_everything(&store);
    });
    read_everything(&store);
    assert_eq!(store.stats().unwrap().segments.len(), 2);
    store.merge(&Progress::default()).unwrap();
    read_everything(&store);
}
