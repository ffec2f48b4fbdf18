//! How epochs begin and end, also with a power failure or a full disk, and what is refused before and
//! after.

use std::io::ErrorKind;

use simkeep::disk::{DiskFault, FaultTarget, FileName, SimDisk};
use simkeep::load::LoadOptions;
use simkeep::query::{Explanation, StalePages};
use simkeep::{
    Epoch, Error, Observation, Origin, Progress, Query, RestateOutcome, Restatement, Role, Store,
    Versions,
};
use simkeep_testing::{choice, digest, ms, names, on, open, small, sound};

use super::{URL, create, plain, some, tables};

#[test]
fn power_loss_while_an_epoch_begins_or_ends_is_safe() {
    let origin = some();
    let (mut begun, mut ended) = (0, 0);
    for stop in 1.. {
        let disk = SimDisk::new();
        let store = create(&disk);
        store.observe(Observation::content(URL, ms(1), 7, Epoch::from_number(0))).unwrap();
        disk.fail(DiskFault {
            target: FaultTarget::Changes,
            nth: stop,
            kind: ErrorKind::Other,
            lasting: true,
        });
        let first = store.begin_epoch(&origin, Role::Both);
        let second = store.begin_epoch(&plain("strict"), Role::Both);
        let ending = first.as_ref().map(|first| store.end_epoch(*first, 0));
        for seed in 0..20 {
            let disk = disk.crash(&mut choice(stop * 100 + seed));
            let store = open(&disk, small());
            let epochs = store.snapshot().epochs().to_vec();
            assert!(first.is_err() || epochs.len() > 1, "{epochs:?}");
            assert!(second.is_err() || epochs.len() > 2, "{epochs:?}");
            assert!(epochs.len() <= 3);
            let ended_here = epochs.get(1).is_some_and(|info| info.ended);
            assert!(ended_here || !matches!(ending, Ok(Ok(()))));
            let has_table = epochs.len() > 1 && !ended_here;
            assert_eq!(tables(&disk), if has_table { vec![FileName::Df(1)] } else { vec![] });
            if has_table {
                begun += 1;
                assert!(Origin::of(&store.snapshot(), Epoch::from_number(1)).unwrap().is_some());
            }
            ended += u32::from(ended_here);
            sound(&store).unwrap();
            assert_eq!(store.snapshot().latest(URL).unwrap().unwrap().visits, 1);
        }
        if matches!(ending, Ok(Ok(()))) {
            break;
        }
    }
    assert!(begun > 100 && ended > 20, "{begun} and {ended}");
}

#[test]
fn full_disk_refuses_only_the_new_epoch() {
    let disk = SimDisk::new();
    let store = create(&disk);
    let used: u64 = disk.contents().iter().map(|(_, bytes)| bytes.len() as u64).sum();
    disk.set_capacity_bytes(Some(used + 10));
    let full = store.begin_epoch(&some(), Role::Both).unwrap_err();
    assert!(full.to_string().contains("free some disk space"), "{full}");
    disk.set_capacity_bytes(None);
    assert_eq!(names(store.snapshot().epochs()), ["one"]);
    store.observe(Observation::content(URL, ms(1), 7, Epoch::from_number(0))).unwrap();
    assert_eq!(store.begin_epoch(&some(), Role::Both).unwrap(), Epoch::from_number(1));
}

#[test]
fn ended_epoch_accepts_nothing_and_merges_drop_its_tables() {
    let disk = SimDisk::new();
    let store = create(&disk);
    let (one, two) = (Epoch::from_number(0), store.register_epoch("two", Role::Both).unwrap());
    assert!(matches!(store.end_epoch(Epoch::from_number(7), 0), Err(Error::UnknownEpoch(7))));
    let urls: Vec<String> = (0..10).map(|page| format!("{URL}{page}")).collect();
    for (time, url) in (1..).zip(&urls) {
        store.observe(Observation::content(url, ms(time), 7, one).digest(digest(1))).unwrap();
    }
    store.seal().unwrap();
    for (time, url) in (1..).zip(&urls).take(8) {
        assert_eq!(
            store.restate(Restatement::new(url, ms(time), 9, two)).unwrap(),
            RestateOutcome::Stored
        );
    }
    store.seal().unwrap();
    assert!(matches!(store.end_epoch(one, 1), Err(Error::EpochInUse { .. })));
    let near = |versions| {
        let query = Query::new(7, 0).epoch(one).versions(versions);
        store.snapshot().search(&query).map(|found| found.near.len())
    };
    // Restated content is in force in both epochs.
    assert_eq!((near(Versions::InForce).unwrap(), near(Versions::Ever).unwrap()), (10, 10));
    store.end_epoch(one, 2).unwrap();
    store.end_epoch(one, 0).unwrap();
    for refused in [near(Versions::InForce), near(Versions::Ever)] {
        assert!(matches!(refused, Err(Error::EndedEpoch(name)) if name == "one"));
    }
    let late = Observation::content(URL, ms(100), 7, one);
    assert!(matches!(store.observe(late), Err(Error::EndedEpoch(_))));
    let also = Observation::content(URL, ms(100), 7, two).also(7, one);
    assert!(matches!(store.observe(also), Err(Error::EndedEpoch(_))));
    assert!(matches!(
        store.restate(Restatement::new(&urls[0], ms(1), 7, one)),
        Err(Error::EndedEpoch(_))
    ));
    assert!(matches!(store.register_epoch("one", Role::Both), Err(Error::EndedEpoch(_))));
    sound(&store).unwrap();
    assert!(store.snapshot().fingerprints(one) > 0);
    store.merge(&Progress::default()).unwrap();
    assert_eq!((store.snapshot().fingerprints(one), store.snapshot().fingerprints(two)), (0, 1));
    sound(&store).unwrap();
    // Histories keep their fingerprints, and pages that were not restated are known to be stale.
    assert_eq!(store.history(&urls[0]).unwrap().len(), 2);
    let stale: Vec<_> = StalePages::of(&store.snapshot(), store.change_epoch(), None)
        .map(|page| page.unwrap().url)
        .collect();
    assert_eq!(stale, urls[8..]);
    assert_eq!(
        store.restate(Restatement::new(&urls[8], ms(9), 9, two)).unwrap(),
        RestateOutcome::Stored
    );
    assert_eq!(store.snapshot().near(9, 0).unwrap().near.len(), 9);
    // Its observations can be copied into another store nevertheless.
    let copy = create(&SimDisk::new());
    copy.copy_from(&store.snapshot(), LoadOptions::default().memory_bytes(8 << 20)).unwrap();
    assert_eq!(copy.history(&urls[0]).unwrap(), store.history(&urls[0]).unwrap());
    assert_eq!(names(copy.snapshot().epochs()), ["one", "two"]);
}

#[test]
fn idle_merge_removes_data_of_an_ended_epoch() {
    let disk = SimDisk::new();
    let options = small().background(true).seal_after(std::time::Duration::from_millis(50));
    let store = Store::create(on(&disk), options).unwrap();
    let two = store.register_epoch("two", Role::Both).unwrap();
    for page in 0..10 {
        store
            .observe(Observation::content(
                &format!("{URL}{page}"),
                ms(1),
                page,
                Epoch::from_number(0),
            ))
            .unwrap();
        store.restate(Restatement::new(&format!("{URL}{page}"), ms(1), page, two)).unwrap();
    }
    store.end_epoch(Epoch::from_number(0), 0).unwrap();
    let start = std::time::Instant::now();
    while store.snapshot().fingerprints(Epoch::from_number(0)) > 0 {
        assert!(start.elapsed().as_secs() < 60);
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
}

#[test]
fn unknown_epoch_is_refused() {
    let store = create(&SimDisk::new());
    let reserved = store.register_epoch("words2-sqrt-reserved8/2", Role::Both).unwrap();
    assert_eq!((reserved.count(), reserved.mask()), (1, u64::MAX >> 8));
    // The number includes which bits count, so a plain number is no valid epoch.
    for unknown in [Epoch::from_number(1), Epoch::from_number(2), Epoch::from_number(u32::MAX)] {
        let unknown_epoch = |e: Error| assert!(matches!(e, Error::UnknownEpoch(_)), "{e}");
        let seen = Observation::content(URL, ms(1), 7, unknown);
        unknown_epoch(store.observe(seen).unwrap_err());
        let also = Observation::content(URL, ms(1), 7, reserved).also(7, unknown);
        unknown_epoch(store.observe(also).unwrap_err());
        unknown_epoch(store.restate(Restatement::new(URL, ms(1), 7, unknown)).unwrap_err());
        unknown_epoch(store.snapshot().search(&Query::new(7, 0).epoch(unknown)).unwrap_err());
        unknown_epoch(
            Explanation::of(&store.snapshot(), &Query::new(7, 0).epoch(unknown)).unwrap_err(),
        );
        unknown_epoch(
            Query::new(7, 0).epoch(unknown).run_batch(&store.snapshot(), &[7]).unwrap_err(),
        );
        let loaded = store.load([Ok(seen)], LoadOptions::default());
        assert!(matches!(loaded, Err(Error::LoadRejected { nth: 1, .. })));
    }
    let twice = Observation::content(URL, ms(1), 7, reserved).also(8, reserved);
    assert!(matches!(store.observe(twice), Err(Error::InvalidArgument(_))));
    assert_eq!(store.stats().unwrap().visits, 0);
}

#[test]
fn near_distance_follows_the_recipe() {
    let store = create(&SimDisk::new());
    let begin = |origin: Origin| store.begin_epoch(&origin, Role::Both).unwrap();
    let strict = begin(plain("strict").extractor("mine/1").unwrap());
    let near = begin(plain("near"));
    let weighed = begin(some());
    let elsewhere = store.register_epoch("some of elsewhere", Role::Both).unwrap();
    let snapshot = store.snapshot();
    let of = |epoch| snapshot.near_distance(epoch);
    assert_eq!([strict, near, weighed, elsewhere].map(of), [5, 3, 2, 3]);
    assert_eq!(of(Epoch::from_number(99)), 3);
}
