//! Loads that are refused, cancelled, or fail with the disk or the power: nothing of them is stored.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use simkeep::disk::{Dir, Disk, DiskFault, FaultTarget, SimDisk};
use simkeep::load::{LoadOptions, Loaded};
use simkeep::{Entry, Epoch, Error, Observation, Operation, Progress, Result, Store};
use simkeep_testing::TIME_MAX;

use super::{LITTLE, little, load, many, some};
use simkeep_testing::compare::{check_counts, dump};
use simkeep_testing::disks::HookDisk;
use simkeep_testing::pages::URLS;
use simkeep_testing::{choice, create, ms, on, open, small, sound};

#[test]
fn one_invalid_operation_rejects_the_whole_load() {
    let disk = SimDisk::new();
    let store = create(&disk, small());
    let good = some(1, 60, 0);
    store.write_batch(&good[..10]).unwrap();
    let before = dump(&store.snapshot()).unwrap();
    let sound = |n: usize| good[n % good.len()].clone();
    let long = "x".repeat(9000);
    for (bad, why) in [
        (Operation::from(Observation::gone("", ms(0))), "the URL is empty"),
        (Observation::gone(&long, ms(0)).into(), "the URL has 9000 bytes"),
        (Observation::gone(URLS[0], ms(TIME_MAX + 1)).into(), "the time 253402300800000"),
        (
            Observation::content(URLS[0], ms(0), 0, Epoch::from_number(2)).into(),
            "epoch 2 is not registered",
        ),
    ] {
        for place in [0, 700, 1999] {
            let all = (0..2000).map(|n| Ok(if n == place { bad.clone() } else { sound(n) }));
            let error = store.load(all, little()).unwrap_err();
            let Error::LoadRejected { nth, cause } = &error else { panic!("{error}") };
            assert!(*nth == place as u64 + 1 && cause.to_string().starts_with(why), "{error}");
            assert!(error.to_string().starts_with(&format!("observation {nth} ")), "{error}");
        }
    }
    let lost = std::io::Error::other("the cable was pulled");
    let mut lost = Some(Error::input(lost));
    let all = (0..500).map(|n| if n == 400 { Err(lost.take().unwrap()) } else { Ok(sound(n)) });
    let error = store.load(all, little()).unwrap_err();
    assert_eq!(
        error.to_string(),
        "observation 401 of the load: the cable was pulled; nothing was stored"
    );
    assert!(dump(&store.snapshot()).unwrap() == before);
    // The store keeps working.
    load(&store, &good).unwrap();
    store.write_batch(&good[..1]).unwrap();
    assert!(
        disk.list(Dir::Segments).unwrap().iter().all(|n| n.to_str().unwrap().ends_with(".seg"))
    );
}

#[test]
fn load_cancelled_at_any_moment_stores_nothing() {
    let all = many(4000, 0);
    // Runs a load that is cancelled at disk operation number `stop`. Returns also the number of
    // disk operations.
    let load = |stop: u64| {
        let disk = SimDisk::new();
        drop(create(&disk, small()));
        let (progress, operations) = (Progress::default(), Arc::new(AtomicU64::new(0)));
        let (cancelled, counter) = (progress.clone(), Arc::clone(&operations));
        let hooked = HookDisk::new(on(&disk), move |_, _| {
            if counter.fetch_add(1, Ordering::Relaxed) + 1 == stop {
                cancelled.cancel();
            }
        });
        let store = Store::open(Arc::new(hooked), small()).unwrap();
        store.observe(Observation::gone(URLS[0], ms(5))).unwrap();
        operations.store(0, Ordering::Relaxed);
        let loaded = store.load(all.iter().map(Ok), little().progress(progress));
        (disk, store, loaded, operations.load(Ordering::Relaxed))
    };
    let (_, _, loaded, operations) = load(u64::MAX);
    let pages = 1 + loaded.unwrap().new_pages;
    let (mut stopped, mut whole) = (0, 0);
    for stop in 1..=operations {
        let (disk, store, loaded, _) = load(stop);
        match loaded {
            Err(Error::Cancelled) => {
                stopped += 1;
                assert_eq!(store.stats().unwrap().pages, 1);
                let names = disk.list(Dir::Segments).unwrap();
                assert!(names.len() <= 1, "after {stop}: {names:?}");
            }
            // The segment was live by then.
            loaded => {
                whole += 1;
                loaded.unwrap();
                assert_eq!(store.stats().unwrap().pages, pages);
            }
        }
        // Writers no longer wait.
        store.observe(Observation::gone(URLS[1], ms(5))).unwrap();
        sound(&store).unwrap();
    }
    assert!(stopped > 2 * whole && stopped >= 10, "{stopped} of {operations}");
}

#[test]
fn invalid_load_options_are_refused() {
    let store = create(&SimDisk::new(), small());
    let none = || std::iter::empty::<Result<Observation<'_>>>();
    for options in [
        LoadOptions::default().memory_bytes(LITTLE - 1),
        LoadOptions::default().segment_pages(0),
        LoadOptions::default().segment_pages((1 << 29) + 1),
    ] {
        assert!(matches!(store.load(none(), options), Err(Error::InvalidOption { .. })));
    }
    assert_eq!(store.load(none(), LoadOptions::default()).unwrap(), Loaded::default());
}

fn power_failure(nth: u64) -> DiskFault {
    DiskFault { target: FaultTarget::Changes, nth, kind: std::io::ErrorKind::Other, lasting: true }
}

fn owned(requests: &[Operation<'_>]) -> Vec<(String, Entry)> {
    requests.iter().map(|r| (r.url().to_owned(), r.entry())).collect()
}

#[test]
fn crash_during_a_load_leaves_all_or_nothing() {
    let observed = some(8, 40, 0);
    let loaded: Vec<_> = many(700, 0).into_iter().chain(owned(&some(9, 200, 30))).collect();
    let options = || little().segment_pages(300);
    let before = |disk: &SimDisk| {
        let store = create(disk, small());
        store.write_batch(&observed).unwrap();
        store
    };
    let (changes, expected) = {
        let disk = SimDisk::new();
        let store = before(&disk);
        let (changes, old) = (disk.changes(), dump(&store.snapshot()).unwrap());
        assert_eq!(store.load(loaded.iter().map(Ok), options()).unwrap().segments, 3);
        let new = dump(&store.snapshot()).unwrap();
        (disk.changes() - changes, [old, new])
    };
    let (mut nothing, mut all) = (0, 0);
    for stop in 1..=changes {
        let disk = SimDisk::new();
        let store = before(&disk);
        disk.fail(power_failure(stop));
        let done = store.load(loaded.iter().map(Ok), options());
        // Two threads write, so the order of operations may differ between runs.
        let acknowledged = done.is_ok();
        let mut disks = vec![disk.crash_all_kept(), disk.crash_synced_only()];
        disks.extend((0..3).map(|seed| disk.crash(&mut choice(stop * 10 + seed))));
        for crashed in disks {
            let store = open(&crashed, small());
            let found = dump(&store.snapshot()).unwrap();
            assert!(expected.contains(&found), "change {stop}: some of it");
            let is_new = found == expected[1];
            assert!(is_new || !acknowledged, "change {stop}: lost");
            *if is_new { &mut all } else { &mut nothing } += 1;
            check_counts(&store, &found);
            sound(&store).unwrap();
            let live = store.stats().unwrap().segments.len();
            assert_eq!(crashed.list(Dir::Segments).unwrap().len(), live, "orphans are left");
            // The store keeps working.
            store.load(loaded.iter().map(Ok), options()).unwrap();
            assert!(dump(&store.snapshot()).unwrap() == expected[1]);
        }
    }
    assert!(nothing > 0 && all > 0, "{nothing} {all}");
}

#[test]
fn intermittent_disk_failures_lose_nothing() {
    let observed = some(10, 30, 0);
    let loaded = many(600, 0);
    for nth in (1..60).chain((60..400).step_by(13)) {
        let disk = SimDisk::new();
        let store = create(&disk, small());
        store.write_batch(&observed).unwrap();
        let before = dump(&store.snapshot()).unwrap();
        disk.fail_after(nth, std::io::ErrorKind::StorageFull);
        let done = store.load(loaded.iter().map(Ok), little());
        let found = dump(&store.snapshot()).unwrap();
        drop(store);
        let store = open(&disk.crash_all_kept(), small());
        let recovered = dump(&store.snapshot()).unwrap();
        if done.is_ok() {
            assert!(found == recovered, "{nth}");
            assert_eq!(found.page_count(), before.page_count() + 600);
        } else {
            assert!(found == before, "{nth}: some of it is seen");
            assert!(recovered == before || recovered.page_count() == before.page_count() + 600);
        }
        sound(&store).unwrap();
    }
}
