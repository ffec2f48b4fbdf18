//! Compaction: the same answers, less disk space, and a sound store after a crash.

use std::io::ErrorKind;
use std::time::Duration;

use simkeep::disk::{DiskFault, FaultTarget, FileName, SimDisk};
use simkeep::inspect::CompactionEstimate;
use simkeep::{Observation, Options, Progress, Role, Scope, Store};
use simkeep_testing::compare::dump;
use simkeep_testing::depth::{every, up_to};
use simkeep_testing::model::Model;
use simkeep_testing::{choice, create, ms, on, open, request, rerun_hint, small, sound};

fn options() -> Options {
    // A merge alone keeps its inputs for readers.
    small().merge_fanout(100).reader_grace(Duration::from_secs(600))
}

/// A store with segments, a journal, forgotten pages and an ended epoch.
fn source() -> (SimDisk, Store) {
    let disk = SimDisk::new();
    let store = create(&disk, options());
    let ended = store.register_epoch("ended", Role::Both).unwrap();
    store.observe(Observation::content("http://a/", ms(1), 5, ended)).unwrap();
    let mut choice = choice(3);
    let all: Vec<_> = (0..90).map(|time| request(&mut choice, 12, 100 + time)).collect();
    for some in all.chunks(7) {
        store.write_batch(some).unwrap();
    }
    store.register_epoch("last", Role::Both).unwrap();
    store.end_epoch(ended, u64::MAX).unwrap();
    store.forget(Scope::Url("http://a/")).unwrap();
    store.observe(Observation::gone("http://a/", ms(2_000))).unwrap();
    let stats = store.stats().unwrap();
    assert!(stats.unsealed_visits > 0 && stats.segments.len() > 3, "{stats:?}");
    (disk, store)
}

fn held(store: &Store) -> Model {
    dump(&store.snapshot()).unwrap()
}

/// The size of all files.
fn bytes(disk: &SimDisk) -> u64 {
    let mut all = 0;
    disk.read_each(|_, content| all += content.len() as u64);
    all
}

#[test]
fn compaction_leaves_one_segment_and_frees_space_at_once() {
    let (disk, store) = source();
    let before = held(&store);
    let had = bytes(&disk);
    let done = store.compact(&Progress::default()).unwrap();
    let stats = store.stats().unwrap();
    assert_eq!((stats.segments.len(), stats.unsealed_visits), (1, 0));
    assert_eq!(
        (done.segment_bytes, done.catalog_bytes),
        (stats.segment_bytes, stats.catalog_bytes)
    );
    assert_eq!(done.merged.bytes, stats.segment_bytes);
    assert!(held(&store) == before);
    sound(&store).unwrap();
    let names: Vec<FileName> = disk.contents().into_iter().map(|(name, _)| name).collect();
    let segments = names.iter().filter(|name| matches!(name, FileName::Segment(_))).count();
    assert_eq!((segments, names.len()), (1, 4), "{names:?}");
    assert!(had - bytes(&disk) >= done.freed_bytes(), "{done:?}");
    // There is nothing left to do.
    let again = store.compact(&Progress::default()).unwrap();
    assert_eq!((again.merged.inputs, again.freed_bytes()), (0, 0));
    assert_eq!(CompactionEstimate::of(&store.snapshot()).unwrap().temporary_bytes, 0);
    store.observe(Observation::gone("http://b/", ms(7))).unwrap();
    drop(store);
    assert_eq!(open(&disk, small()).history("http://b/").unwrap().len(), 1);
}

/// Forgetting a prefix frees the space of its pages.
#[test]
fn compaction_after_forget_frees_the_estimated_bytes() {
    let store = create(&SimDisk::new(), options().memtable_observations(10_000));
    for n in 0..4_000 {
        let url = format!("https://site{}.example/{n}", n % 4);
        store.observe(Observation::gone(&url, ms(0))).unwrap();
    }
    store.seal().unwrap();
    for site in 0..3 {
        let prefix = format!("site{site}.example").parse().unwrap();
        store.forget(Scope::Prefix(prefix)).unwrap();
    }
    let estimate = CompactionEstimate::of(&store.snapshot()).unwrap();
    assert!(estimate.temporary_bytes >= estimate.segment_bytes, "{estimate:?}");
    let done = store.compact(&Progress::default()).unwrap();
    let given = done.segment_bytes_before - done.segment_bytes;
    let off = estimate.reclaimable_bytes.abs_diff(given) as f64 / estimate.segment_bytes as f64;
    assert!(off < 0.15, "{estimate:?} {done:?}");
}

#[test]
fn compaction_frees_the_estimated_bytes() {
    for known in [0, 70, 100, 30, 95].into_iter().take(up_to(5).max(2)) {
        let store = create(&SimDisk::new(), options().memtable_observations(4_000));
        let (mut random, mut pages) = (choice(3), 0_u64);
        for time in 0..24_000_u64 {
            let is_known = pages > 0 && random(100) < known;
            let page = if is_known { random(pages) } else { pages };
            pages += u64::from(!is_known && pages < 4_000 * (100 - known) / 10 + 200);
            let url = format!("https://site{}.example/page/{page}", page % 97);
            let seen = choice((page << 20) | (random(2) * time))(u64::MAX);
            let (time, epoch) = (time.cast_signed() * 1000, store.change_epoch());
            store.observe(Observation::content(&url, ms(time), seen, epoch)).unwrap();
        }
        store.seal().unwrap();
        let estimate = CompactionEstimate::of(&store.snapshot()).unwrap();
        let done = store.compact(&Progress::default()).unwrap();
        assert_eq!(estimate.segment_bytes, done.segment_bytes_before);
        let part = |bytes: u64| bytes as f64 / estimate.segment_bytes as f64;
        let freed_bytes = done.segment_bytes_before.saturating_sub(done.segment_bytes);
        let (expected, found) = (part(estimate.reclaimable_bytes), part(freed_bytes));
        println!("{known} % known: expected {expected:.3}, found {found:.3}");
        assert!((expected - found).abs() < 0.15, "{known} % known: {expected:.3} {found:.3}");
    }
}

#[test]
fn compaction_without_room_does_not_start_or_harm_the_store() {
    let (disk, store) = source();
    let before = held(&store);
    disk.record();
    disk.set_capacity_bytes(Some(bytes(&disk) + 100));
    let error = store.compact(&Progress::default()).unwrap_err().to_string();
    assert!(error.starts_with("cannot compact memory: no storage space"), "{error}");
    assert!(disk.take_log().iter().all(|op| !op.kind.changes()));
    disk.set_capacity_bytes(None);
    for nth in 1.. {
        let (disk, store) = source();
        disk.fail(DiskFault {
            target: FaultTarget::Space,
            nth,
            kind: ErrorKind::StorageFull,
            lasting: true,
        });
        let done = store.compact(&Progress::default());
        assert!(held(&store) == before, "{nth}");
        if done.is_ok() {
            break;
        }
        let error = done.unwrap_err().to_string();
        assert!(error.contains("no storage space"), "{error}");
        disk.heal();
        drop(store);
        let store = open(&disk, options());
        assert!(held(&store) == before, "{nth}");
        sound(&store).unwrap();
    }
}

#[test]
fn store_works_when_the_new_catalog_does_not_fit() {
    let (disk, store) = source();
    store.seal().unwrap();
    store.merge(&Progress::default()).unwrap();
    let before = held(&store);
    // There is one segment, so only the catalog is written.
    disk.fail(DiskFault {
        target: FaultTarget::Space,
        nth: 1,
        kind: ErrorKind::StorageFull,
        lasting: true,
    });
    let error = store.compact(&Progress::default()).unwrap_err().to_string();
    assert!(error.contains("no storage space"), "{error}");
    disk.heal();
    assert!(held(&store) == before);
    store.observe(Observation::gone("http://b/", ms(7))).unwrap();
    let names: Vec<FileName> = disk.contents().into_iter().map(|(name, _)| name).collect();
    assert!(!names.contains(&FileName::CatalogNew));
    store.compact(&Progress::default()).unwrap();
}

#[test]
fn crash_during_compaction_keeps_the_store() {
    let _again = rerun_hint();
    let (disk, store) = source();
    let (before, so_far) = (held(&store), disk.changes());
    store.compact(&Progress::default()).unwrap();
    for stop in (1..=disk.changes() - so_far).step_by(every()) {
        let (disk, store) = source();
        disk.fail(DiskFault {
            target: FaultTarget::Changes,
            nth: stop,
            kind: ErrorKind::Other,
            lasting: true,
        });
        assert!(store.compact(&Progress::default()).is_err(), "change {stop}");
        let seeded = |n| disk.crash(&mut choice(stop * 10 + n));
        let mut left = vec![disk.crash_all_kept(), disk.crash_synced_only()];
        left.extend((0..4).map(seeded));
        for disk in left {
            let store = Store::open(on(&disk), options()).unwrap();
            assert!(held(&store) == before, "change {stop}");
            sound(&store).unwrap();
        }
    }
}
