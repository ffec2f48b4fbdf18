//! Files of another version are not reported as damaged; damaged files affect no more than they must.

use simkeep::disk::{FileName, SimDisk};
use simkeep::verify::{VerifyOptions, verify};
use simkeep::{Epoch, Error, Observation, Reader, Store};

use simkeep_testing::compare::check_store;
use simkeep_testing::pages::URLS;
use simkeep_testing::sample::{closed_sample, file, killed_sample, segments, with};
use simkeep_testing::{create, ms, on, open, small};

/// The files of a closed store with another version in one file, whose checksum is valid.
fn of_version(name: FileName, version: u8) -> SimDisk {
    let (files, _) = closed_sample();
    let mut content = file(&files, name).to_vec();
    content[8] = version;
    let summed = if name == FileName::Snapshot { content.len() - 4 } else { 60 };
    let sum = crc32fast::hash(&content[..summed]).to_le_bytes();
    content[summed..summed + 4].copy_from_slice(&sum);
    with(&files, name, content)
}

#[test]
fn file_of_another_version_is_not_reported_as_damaged() {
    let (files, _) = closed_sample();
    for name in [segments(&files)[1], FileName::Snapshot] {
        for (version, advice) in
            [(5, "export the store with the version of simkeep"), (7, "use a newer simkeep")]
        {
            let disk = of_version(name, version);
            let writer = Store::open(on(&disk), small()).map(drop);
            let verified = verify(on(&disk), VerifyOptions::default()).map(drop);
            for opened in [writer, Reader::open(on(&disk)).map(drop), verified] {
                match opened {
                    Err(e @ Error::Version { reads: 6, .. }) => {
                        let said = e.to_string();
                        assert!(
                            said.contains(&name.to_string()) && said.contains(advice),
                            "{said}"
                        );
                    }
                    other => panic!("{other:?}"),
                }
            }
        }
    }
}

#[test]
fn catalog_of_another_version_is_not_reported_as_damaged() {
    for version in [1, 99] {
        let dir = tempfile::tempdir().unwrap();
        Store::create(dir.path(), small()).unwrap().close().unwrap();
        let settings = redb::TableDefinition::<&str, u64>::new("settings");
        let database = redb::Database::open(dir.path().join("catalog.redb")).unwrap();
        let transaction = database.begin_write().unwrap();
        {
            let mut settings = transaction.open_table(settings).unwrap();
            settings.insert("format", version).unwrap();
            // The first version had no id.
            settings.remove("store_id").unwrap();
        }
        transaction.commit().unwrap();
        drop(database);
        let writer = Store::open(dir.path(), small()).map(drop);
        for opened in [writer, Reader::open(dir.path()).map(drop)] {
            match opened {
                Err(Error::Version { file, found, reads: 6 }) => {
                    assert_eq!((file.as_str(), u64::from(found)), ("catalog.redb", version));
                }
                other => panic!("{other:?}"),
            }
        }
    }
}

#[test]
fn damaged_or_missing_lock_file_is_ignored() {
    let (files, model) = killed_sample();
    let lock = file(&files, FileName::Lock).to_vec();
    for i in 0..lock.len() {
        let mut damaged = lock.clone();
        damaged[i] ^= 0x10;
        check_store(&open(&with(&files, FileName::Lock, damaged), small()), &model);
    }
    check_store(&open(&with(&files, FileName::Lock, Vec::new()), small()), &model);
    let without = SimDisk::of(files.into_iter().filter(|(name, _)| *name != FileName::Lock));
    check_store(&open(&without, small()), &model);
}

/// The answer to an observation needs other pages. If one of them cannot be read, the observation is not
/// stored, and neither are the following ones of the batch.
#[test]
fn observation_that_needs_a_damaged_page_is_not_stored() {
    let disk = SimDisk::new();
    let store = create(&disk, small());
    for url in [URLS[0], URLS[1]] {
        store.observe(Observation::content(url, ms(0), 7, Epoch::from_number(0))).unwrap();
    }
    store.seal().unwrap();
    store.close().unwrap();
    let files = disk.contents();
    let name = FileName::Segment(1);
    let content = file(&files, name);
    let mut failed = 0;
    for offset in 0..content.len() {
        let mut damaged = content.to_vec();
        damaged[offset] ^= 1;
        let disk = with(&files, name, damaged);
        let Ok(store) = Store::open(on(&disk), small()) else { continue };
        let batch = [
            Observation::content(URLS[13], ms(5), 7, Epoch::from_number(0)),
            Observation::content(URLS[12], ms(5), 0xffff_0000, Epoch::from_number(0)),
        ];
        if store.observe_batch(&batch).is_ok() {
            continue;
        }
        failed += 1;
        let stored = |store: &Store| {
            batch.iter().filter(|o| !store.history(o.url).unwrap_or_default().is_empty()).count()
        };
        assert_eq!(stored(&store), 0, "byte {offset}");
        // It is not stored with the next observation either.
        let _ = store.observe(Observation::failed(URLS[14], ms(9)));
        assert_eq!(stored(&store), 0, "byte {offset}, later");
    }
    assert!(failed > 0);
}
