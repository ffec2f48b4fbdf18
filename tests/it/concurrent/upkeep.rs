//! When the store seals and merges by itself, and how many segments that leaves.

use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use simkeep::disk::SimDisk;
use simkeep::{Epoch, Observation};

use super::{busy, url};
use simkeep_testing::disks::PATIENCE;
use simkeep_testing::{create, ms, open, small};

/// Waits until a condition becomes true.
fn eventually(what: &str, mut is_true: impl FnMut() -> bool) {
    let since = Instant::now();
    while !is_true() {
        assert!(since.elapsed() < PATIENCE, "never: {what}");
        thread::sleep(Duration::from_millis(1));
    }
}

#[test]
fn memtable_is_sealed_after_its_delay() {
    let options = busy().seal_after(Duration::from_millis(20));
    let store = create(&SimDisk::new(), options);
    for page in 0..3 {
        let content = Observation::content(&url(0, page), ms(0), 5, Epoch::from_number(0)).visit;
        store.observe(Observation::of(&url(0, page), content)).unwrap();
        eventually("it is sealed", || store.stats().unwrap().unsealed_visits == 0);
    }
    assert_eq!(store.stats().unwrap().visits, 3);
}

#[test]
fn few_long_urls_fill_a_memtable_by_bytes() {
    let options = small().memtable_bytes(64 << 10).memtable_observations(100_000);
    let store = create(&SimDisk::new(), options);
    for page in 0..40 {
        let url = format!("https://example.com/{page}/{}", "x".repeat(8_000));
        store.observe(Observation::content(&url, ms(0), page, Epoch::from_number(0))).unwrap();
    }
    let stats = store.stats().unwrap();
    assert!(stats.segments.len() > 3 && stats.unsealed_visits < 10, "{stats:?}");
}

#[test]
fn batch_does_not_exceed_the_memtable_limit() {
    let options = small().memtable_observations(10).background(false);
    let store = create(&SimDisk::new(), options);
    let urls: Vec<String> = (0..95).map(|page| url(page % 3, page)).collect();
    let new = |url, time| Observation::content(url, ms(time), 7, Epoch::from_number(0));
    // Every third observation is already known and needs no space.
    let batch = urls.iter().flat_map(|url| [new(url, 0), new(url, 1), new(url, 1)]);
    store.observe_batch(&batch.collect::<Vec<_>>()).unwrap();
    let stats = store.stats().unwrap();
    assert_eq!((stats.visits, stats.unsealed_visits), (190, 0));
    let sealed: Vec<u64> = stats.segments.iter().map(|segment| segment.visits).collect();
    assert_eq!(sealed, [10; 19]);
}

#[test]
fn background_merges_keep_segments_few() {
    let store = create(&SimDisk::new(), busy());
    for page in 0..6_400 {
        let content =
            Observation::content(&url(page, page), ms(0), page, Epoch::from_number(0)).visit;
        store.observe(Observation::of(&url(page, page), content)).unwrap();
        if page % 100 == 0 {
            assert!(store.stats().unwrap().segments.len() <= 10);
        }
    }
    store.wait_idle().unwrap();
    // At most one of each size, each twice the previous one.
    assert!(store.stats().unwrap().segments.len() <= 8, "{:?}", store.stats());
    assert_eq!(store.stats().unwrap().pages, 6_400);
}

/// A merge needs disk space in addition to its inputs. Without it the merge does not start, `wait_idle`
/// returns the error, and everything else works.
#[test]
fn merge_without_room_does_not_start_and_is_reported() {
    let disk = SimDisk::new();
    let store = create(&disk, busy().background(false));
    for page in 0..640 {
        let content =
            Observation::content(&url(page, page), ms(0), page, Epoch::from_number(0)).visit;
        store.observe(Observation::of(&url(page, page), content)).unwrap();
    }
    store.seal().unwrap();
    let segments = store.stats().unwrap().segments.len();
    assert!(segments > 4);
    drop(store);
    let used: usize = disk.contents().iter().map(|(_, content)| content.len()).sum();
    disk.set_capacity_bytes(Some(used as u64 + 100));
    let store = open(&disk, busy());
    let (done, is_done) = mpsc::channel();
    thread::spawn({
        let store = store.clone();
        move || done.send(store.wait_idle())
    });
    let rest = is_done.recv_timeout(PATIENCE);
    assert!(matches!(rest, Ok(Err(simkeep::Error::Io { .. }))), "{rest:?}");
    assert!(store.stats().unwrap().merge_error.is_some());
    assert_eq!(store.stats().unwrap().segments.len(), segments);
    assert_eq!(store.stats().unwrap().pages, 640);
    store.close().unwrap();
}
