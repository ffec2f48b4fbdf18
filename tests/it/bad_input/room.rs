//! A full disk.

use std::io::ErrorKind;

use simkeep::disk::SimDisk;
use simkeep::{Error, Observation, Progress, Reader, Store};

use simkeep_testing::compare::{check_store, dump};
use simkeep_testing::model::Model;
use simkeep_testing::pages::URLS;
use simkeep_testing::sample::{fill, sample};
use simkeep_testing::{choice, create, ms, on, open, request, small, sound};

#[test]
fn full_disk_loses_nothing_acknowledged_and_allows_reads() {
    for room in [0, 1, 100, 600, 2_000, 5_000, 20_000, 60_000] {
        let disk = SimDisk::new();
        let store = create(&disk, small());
        let mut model = sample(&store);
        let used: usize = disk.contents().iter().map(|(_, content)| content.len()).sum();
        disk.set_capacity_bytes(Some((used + room) as u64));
        let mut choice = choice(room as u64);
        let mut failed = None;
        let mut maybe = model.clone();
        for time in 10_000..14_000 {
            let request = request(&mut choice, 16, time);
            maybe = model.clone();
            maybe.request(&request, 3);
            let done = store.write_batch(&[request]).map(drop).and_then(|()| match time % 50 {
                // A merge that does not fit does not start, or leaves everything unchanged.
                0 => store.merge(&Progress::default()).map(drop).or_else(|e| match e {
                    Error::Io { ref source, .. } if source.kind() == ErrorKind::StorageFull => {
                        Ok(())
                    }
                    e => Err(e),
                }),
                _ => Ok(()),
            });
            if let Err(error) = done {
                failed = Some(error);
                break;
            }
            model = maybe.clone();
        }
        let what = format!("{room} bytes of room");
        let error = failed.unwrap_or_else(|| panic!("{what}: the disk was never full"));
        assert!(error.to_string().contains("free some disk space"), "{what}: {error}");
        assert!(
            matches!(&error, Error::Io { source, .. } if source.kind() == ErrorKind::StorageFull)
        );
        let states = [model, maybe];
        let found = dump(&store.snapshot()).unwrap();
        assert!(states.contains(&found), "{what}: reading on");
        // Refused with the reason, until there is space and the store is opened again.
        match store.observe(Observation::gone(URLS[0], ms(0))) {
            Err(Error::Poisoned(cause)) => assert!(matches!(*cause, Error::Io { .. }), "{what}"),
            other => panic!("{what}: {other:?}"),
        }
        drop(store.close());
        // Still full: opening, reading and closing need no space.
        for disk in [disk.clone(), disk.crash_synced_only()] {
            let reader = Reader::open(on(&disk)).unwrap();
            let found = dump(&reader.snapshot()).unwrap();
            assert!(states.contains(&found), "{what}: read only");
            let store = Store::open(on(&disk), small())
                .unwrap_or_else(|e| panic!("{what}: opening on the full disk: {e}"));
            check_store(&store, &found);
            sound(&store).unwrap();
            store.close().unwrap_or_else(|e| panic!("{what}: closing on the full disk: {e}"));
        }
        disk.set_capacity_bytes(None);
        let store = open(&disk, small());
        let mut model = dump(&store.snapshot()).unwrap();
        fill(&store, &mut model, 50, 40);
        store.merge(&Progress::default()).unwrap();
        check_store(&store, &model);
    }
}

#[test]
fn store_is_created_once_the_full_disk_has_room() {
    for room in [0, 1, 4_096, 100_000, 500_000] {
        let disk = SimDisk::new();
        disk.set_capacity_bytes(Some(room));
        let error = Store::create(on(&disk), small()).unwrap_err();
        assert!(error.to_string().contains("free some disk space"), "{error}");
        assert!(matches!(Store::open(on(&disk), small()), Err(Error::NotAStore { .. })));
        disk.set_capacity_bytes(None);
        check_store(&Store::create(on(&disk), small()).unwrap(), &Model::default());
    }
}
