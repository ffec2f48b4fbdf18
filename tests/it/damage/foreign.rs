//! Files of another store, of a diverged copy, or of another time: errors that say which, and none of
//! their data in an answer.

use std::fs;
use std::path::Path;

use simkeep::disk::{Access, Disk, FileName, SimDisk};
use simkeep::load::LoadOptions;
use simkeep::repair::{RepairOptions, Repaired, repair};
use simkeep::verify::{Verified, VerifyOptions, verify};
use simkeep::{Epoch, Error, Observation, Progress, Reader, Role, Store};

use simkeep_testing::compare::dump;
use simkeep_testing::model::Model;
use simkeep_testing::sample::{file, with};
use simkeep_testing::{ms, on, open, small};

type ForeignFiles = Vec<(FileName, Vec<u8>)>;

/// Pages that are equal for each `salt` except for their fingerprints, so that files have equal lengths.
fn load(store: &Store, from: u64, to: u64, salt: u64) {
    let urls: Vec<String> = (from..to).map(|n| format!("https://h{}.example/{n}", n % 7)).collect();
    let observations = (from..to).zip(&urls).map(|(n, url)| {
        // The same number of bits in each, so that only their values differ.
        let fingerprint = (0xff << (n % 40)) | 1 << (41 + salt);
        Ok(Observation::content(url, ms(n.cast_signed()), fingerprint, Epoch::from_number(0)))
    });
    store.load(observations, LoadOptions::default()).unwrap();
}

fn made(seed: u64) -> (SimDisk, Store) {
    let disk = SimDisk::new();
    disk.set_seed(seed);
    let store = Store::create(on(&disk), small()).unwrap();
    (disk, store)
}

/// A closed store whose segments come from loads.
fn store_of(seed: u64, salts: &[u64]) -> ForeignFiles {
    let (disk, store) = made(seed);
    salts
        .iter()
        .zip((0..).step_by(50))
        .for_each(|(salt, from)| load(&store, from, from + 50, *salt));
    store.close().unwrap();
    disk.contents()
}

/// A copy of a store that diverges by another load.
fn gone_on(files: &ForeignFiles, seed: u64, salt: u64) -> ForeignFiles {
    let disk = SimDisk::of(files.iter().cloned());
    disk.set_seed(seed);
    let store = open(&disk, small());
    load(&store, 50, 100, salt);
    store.close().unwrap();
    disk.contents()
}

fn newest(files: &ForeignFiles) -> FileName {
    let segments = files.iter().map(|(name, _)| *name);
    segments.filter(|name| matches!(name, FileName::Segment(_))).max().unwrap()
}

/// Changes the number of a segment.
fn renumbered(segment: &[u8], id: u64) -> Vec<u8> {
    let mut segment = segment.to_vec();
    let trailer = segment.len() - 64;
    // The places of its parts that contain the number, and of their checksums.
    for (start, number, sum) in [(0, 16, 60), (trailer, trailer + 8, trailer + 60)] {
        segment[number..number + 8].copy_from_slice(&id.to_le_bytes());
        let checksum = crc32fast::hash(&segment[start..sum]).to_le_bytes();
        segment[sum..sum + 4].copy_from_slice(&checksum);
    }
    segment
}

/// The store id in a segment.
fn id_of(segment: &[u8]) -> String {
    format!("{:016x}", u64::from_le_bytes(segment[24..32].try_into().unwrap()))
}

fn verified(disk: &SimDisk) -> Verified {
    verify(on(disk), VerifyOptions::default()).unwrap()
}

fn saved(disk: &SimDisk) -> (Repaired, Model) {
    let to = SimDisk::new();
    let options = RepairOptions::default().keep_forgotten(true);
    let repaired = repair(on(disk), on(&to), options).unwrap();
    let model = dump(&Reader::open(on(&to)).unwrap().snapshot()).unwrap();
    (repaired, model)
}

fn held(files: &ForeignFiles) -> Model {
    dump(&Reader::open(on(&SimDisk::of(files.iter().cloned()))).unwrap().snapshot()).unwrap()
}

/// Asserts that it is refused for writing and reading with errors that contain these texts, and that
/// nothing is removed. `verify` and `repair` report the same.
fn is_refused(disk: &SimDisk, name: FileName, says: &[&str]) -> Repaired {
    let names = |disk: &SimDisk| disk.contents().into_iter().map(|(n, _)| n).collect::<Vec<_>>();
    let before = names(disk);
    let check = |flaw: &simkeep::Corruption| {
        assert_eq!(flaw.file, name.to_string(), "{flaw}");
        assert!(says.iter().all(|says| flaw.what.contains(says)), "{says:?}: {flaw}");
    };
    for opened in [Store::open(on(disk), small()).map(drop), Reader::open(on(disk)).map(drop)] {
        match opened {
            Err(Error::Corrupt(flaw)) => check(&flaw),
            other => panic!("{other:?}"),
        }
    }
    assert_eq!(names(disk), before);
    let flaws = verified(disk).flaws;
    assert!(!flaws.is_empty());
    flaws.iter().for_each(check);
    let (repaired, _) = saved(disk);
    repaired.flaws.iter().find(|flaw| flaw.file == name.to_string()).map(check).unwrap();
    repaired
}

#[test]
fn segment_of_another_store_is_refused_naming_both() {
    let (own, other) = (store_of(1, &[1, 2]), store_of(2, &[3, 4]));
    let name = newest(&own);
    let (here, there) = (file(&own, name), file(&other, name));
    assert_eq!((here.len(), newest(&other)), (there.len(), name));
    let ids = [&*id_of(here), &*id_of(there)];
    let disk = with(&own, name, there.to_vec());
    let repaired = is_refused(&disk, name, &ids);
    assert_eq!((repaired.pages, repaired.lost.len()), (50, 1));
    // One of the two segments belongs to the store.
    assert_eq!(saved(&disk).1.pages().count(), 50);
}

/// The checksum of its trailer is the listed one; only the head names the store.
#[test]
fn segment_head_that_names_another_store_is_refused() {
    let own = store_of(1, &[1]);
    let name = newest(&own);
    let mut segment = file(&own, name).to_vec();
    segment[24] ^= 1;
    let sum = crc32fast::hash(&segment[..60]).to_le_bytes();
    segment[60..64].copy_from_slice(&sum);
    let ids = [&*id_of(file(&own, name)), &*id_of(&segment)];
    is_refused(&with(&own, name, segment.clone()), name, &ids);
}

#[test]
fn segment_of_a_diverged_copy_is_refused_naming_both() {
    let both = store_of(1, &[1]);
    let (own, other) = (gone_on(&both, 2, 2), gone_on(&both, 3, 3));
    let name = newest(&own);
    let (here, there) = (file(&own, name), file(&other, name));
    assert_eq!((here.len(), id_of(here)), (there.len(), id_of(there)));
    let sums = [here, there].map(|file| {
        format!("{:08x}", u32::from_le_bytes(file[file.len() - 4..].try_into().unwrap()))
    });
    let disk = with(&own, name, there.to_vec());
    let repaired = is_refused(&disk, name, &[&sums[0], &sums[1]]);
    assert_eq!((repaired.pages, repaired.lost.len()), (50, 1));
    // Without a catalog, `SNAPSHOT` has the checksum.
    let left = disk.contents().into_iter().filter(|(name, _)| *name != FileName::Catalog);
    let (repaired, model) = saved(&SimDisk::of(left));
    assert_eq!(model.pages().count(), 50);
    assert!(repaired.lost.iter().any(|loss| loss.file == name.to_string()), "{repaired:#?}");
}

/// Both have equal data, so that only the nonces differ.
#[test]
fn head_and_body_of_different_copies_are_damage() {
    let both = store_of(1, &[1]);
    let (own, other) = (gone_on(&both, 2, 2), gone_on(&both, 3, 2));
    let name = newest(&own);
    let mut segment = file(&own, name).to_vec();
    segment[..64].copy_from_slice(&file(&other, name)[..64]);
    is_refused(&with(&own, name, segment), name, &["belong to different files"]);
}

#[test]
fn reader_during_writing_rejects_a_swapped_segment() {
    let both = store_of(1, &[1]);
    let (own, other) = (gone_on(&both, 2, 2), gone_on(&both, 3, 3));
    let name = newest(&own);
    let disk = SimDisk::of(own.iter().cloned());
    let writer = open(&disk, small());
    let mut follows = Reader::open(on(&disk)).unwrap();
    assert_eq!(follows.stats().unwrap().pages, 100);
    disk.remove(name).unwrap();
    disk.open(name, Access::Create).unwrap().write_at(0, file(&other, name)).unwrap();
    let is_named = |e: Error| matches!(e, Error::Corrupt(flaw) if flaw.file == name.to_string());
    assert!(is_named(Reader::open(on(&disk)).unwrap_err()));
    let flaws = verified(&disk).flaws;
    assert!(matches!(&flaws[..], [flaw] if flaw.file == name.to_string()), "{flaws:?}");
    // Open files are the right ones.
    assert!(!follows.refresh().unwrap());
    assert!(dump(&follows.snapshot()).unwrap() == held(&own));
    drop(writer);
}

/// Replaces all files of a directory with those of another.
fn put(from: &Path, to: &Path) {
    for dir in [from.to_owned(), from.join("segments")] {
        for entry in fs::read_dir(dir).unwrap() {
            let path = entry.unwrap().path();
            let into = to.join(path.strip_prefix(from).unwrap());
            if path.is_dir() {
                fs::create_dir_all(into).unwrap();
            } else {
                // A reader may have it mapped.
                let _ = fs::remove_file(&into);
                fs::copy(path, into).unwrap();
            }
        }
    }
}

#[test]
fn following_reader_sees_all_of_a_replacing_copy() {
    let dir = tempfile::tempdir().unwrap();
    let path = |name: &str| dir.path().join(name);
    let options = || small().background(false);
    let store = Store::create(path("one"), options()).unwrap();
    load(&store, 0, 50, 1);
    store.close().unwrap();
    for (copy, salt) in [("two", 2), ("three", 3)] {
        put(&path("one"), &path(copy));
        let store = Store::open(path(copy), options()).unwrap();
        load(&store, 50, 100, salt);
        store.close().unwrap();
    }
    put(&path("two"), &path("here"));
    let mut reader = Reader::open(path("here")).unwrap();
    put(&path("three"), &path("here"));
    assert!(reader.refresh().unwrap());
    let there = Reader::open(path("three")).unwrap();
    assert!(dump(&reader.snapshot()).unwrap() == dump(&there.snapshot()).unwrap());
}

#[test]
fn unlisted_segment_of_another_store_is_not_removed() {
    let (own, other) = (store_of(1, &[1]), store_of(2, &[3]));
    let stray = FileName::Segment(77);
    let segment = renumbered(file(&other, newest(&other)), 77);
    let ids = [&*id_of(file(&own, newest(&own))), &*id_of(&segment)];
    let disk = with(&own, stray, segment);
    let error = Store::open(on(&disk), small()).unwrap_err().to_string();
    assert!(ids.iter().all(|id| error.contains(id)), "{error}");
    assert!(disk.contents().iter().any(|(name, _)| *name == stray));
    let flaws = verified(&disk).flaws;
    assert!(matches!(&flaws[..], [flaw] if flaw.file == stray.to_string()), "{flaws:?}");
    let (repaired, model) = saved(&disk);
    assert!(model == held(&own) && repaired.flaws[0].file == stray.to_string());
}

#[test]
fn repair_without_a_catalog_uses_segments_of_one_store() {
    let (own, other) = (store_of(1, &[1, 2]), store_of(2, &[3]));
    let mut files: ForeignFiles =
        own.iter().filter(|(n, _)| *n != FileName::Catalog).cloned().collect();
    // With a number above all others, so that it would be tried first.
    let (foreign, stray) = (FileName::Segment(200), file(&other, newest(&other)));
    let (id, stray) = (id_of(stray), renumbered(stray, 200));
    files.push((foreign, stray));
    for snapshot in [true, false] {
        files.retain(|(name, _)| snapshot || *name != FileName::Snapshot);
        let (repaired, model) = saved(&SimDisk::of(files.iter().cloned()));
        assert!(model == held(&own), "{repaired:#?}");
        let named = |file: &str| file == foreign.to_string();
        assert!(repaired.lost.iter().any(|loss| named(&loss.file) && loss.why.contains(&id)));
        assert!(repaired.flaws.iter().any(|flaw| named(&flaw.file)));
    }
}

/// A store at two times: its files and its contents.
fn older_and_newer() -> (ForeignFiles, ForeignFiles) {
    let older = store_of(1, &[1]);
    (older.clone(), gone_on(&older, 2, 2))
}

/// Replaces some files of one time with those of the other.
fn mixed(files: &ForeignFiles, others: &ForeignFiles, names: &[FileName]) -> SimDisk {
    let kept = files.iter().filter(|(name, _)| !names.contains(name));
    let put = others.iter().filter(|(name, _)| names.contains(name));
    SimDisk::of(kept.chain(put).cloned())
}

#[test]
fn catalog_older_than_snapshot_is_refused_and_nothing_removed() {
    let (older, newer) = older_and_newer();
    let disk = mixed(&newer, &older, &[FileName::Catalog, FileName::Lock]);
    let repaired = is_refused(&disk, FileName::Catalog, &["SNAPSHOT", "older copy"]);
    // The data of the newer segments is certain.
    assert_eq!(repaired.pages, 100);
    assert!(saved(&disk).1 == held(&newer));
    assert!(repaired.lost.iter().any(|loss| loss.operations == Some((101, None))), "{repaired:#?}");
    let to = SimDisk::new();
    let doubtful = repair(on(&disk), on(&to), RepairOptions::default());
    let says = |what: &str| what.contains("older than SNAPSHOT");
    assert!(matches!(doubtful, Err(Error::AmbiguousRepair { what }) if says(&what)));
    // The mark alone does not matter, and the catalog alone is detected by the mark as well.
    let disk = mixed(&newer, &older, &[FileName::Lock]);
    assert!(verified(&disk).is_sound());
    drop(open(&disk, small()));
    let disk = mixed(&newer, &older, &[FileName::Catalog]);
    let error = Reader::open(on(&disk)).unwrap_err();
    assert!(matches!(error, Error::Corrupt(flaw) if flaw.file == "catalog.redb"));
}

/// If the journal of the catalog may not belong to the segments that `SNAPSHOT` names, it is not joined
/// to them.
#[test]
fn journal_of_an_older_catalog_is_not_joined_to_segments() {
    let both = store_of(1, &[1]);
    let disk = SimDisk::of(both.clone());
    let store = open(&disk, small());
    for n in 0..10 {
        let url = format!("https://apart.example/{n}");
        store.observe(Observation::gone(&url, ms(500 + n))).unwrap();
    }
    drop(store);
    let apart = disk.contents();
    // The segments of this store end where a frame of that journal begins.
    let disk = SimDisk::of(both);
    disk.set_seed(2);
    let store = open(&disk, small());
    [50, 52].into_iter().for_each(|from| load(&store, from, from + 2, 2));
    drop(store);
    let newer = disk.contents();
    let disk = mixed(&newer, &apart, &[FileName::Catalog, FileName::Lock]);
    let (repaired, model) = saved(&disk);
    assert!(model == held(&newer), "{repaired:#?}");
}

#[test]
fn snapshot_of_a_diverged_copy_is_refused() {
    let both = store_of(1, &[1]);
    let other = gone_on(&both, 2, 2);
    // Epochs are changes as well, but do not use segment numbers.
    let disk = SimDisk::of(both.clone());
    let store = open(&disk, small());
    for name in ["two", "three", "four"] {
        store.register_epoch(name, Role::Both).unwrap();
    }
    store.close().unwrap();
    let own = disk.contents();
    let mixed = mixed(&other, &own, &[FileName::Catalog, FileName::Lock]);
    let repaired = is_refused(&mixed, FileName::Snapshot, &["diverged copies of the store"]);
    assert_eq!(repaired.pages, 50);
    assert!(saved(&mixed).1 == held(&own));
}

#[test]
fn snapshot_of_another_store_is_refused_naming_both() {
    let (own, other) = (store_of(1, &[1]), store_of(2, &[3]));
    let ids = [&own, &other].map(|files| id_of(file(files, newest(files))));
    let disk = mixed(&own, &other, &[FileName::Snapshot]);
    is_refused(&disk, FileName::Snapshot, &[&ids[0], &ids[1]]);
    assert!(saved(&disk).1 == held(&own));
}

#[test]
fn older_or_missing_snapshot_is_ignored() {
    let (older, newer) = older_and_newer();
    let without = newer.iter().filter(|(name, _)| *name != FileName::Snapshot).cloned();
    for disk in [mixed(&newer, &older, &[FileName::Snapshot]), SimDisk::of(without)] {
        assert!(verified(&disk).is_sound());
        assert!(dump(&Reader::open(on(&disk)).unwrap().snapshot()).unwrap() == held(&newer));
        let store = open(&disk, small());
        assert!(dump(&store.snapshot()).unwrap() == held(&newer));
    }
}

#[test]
fn flipped_snapshot_version_is_damage_and_checking_continues() {
    let own = store_of(1, &[1]);
    for at in 8..12 {
        let mut snapshot = file(&own, FileName::Snapshot).to_vec();
        snapshot[at] ^= 2;
        let name = newest(&own);
        let mut segment = file(&own, name).to_vec();
        segment[64] ^= 1;
        let disk = SimDisk::of(own.iter().map(|(of, content)| match of {
            FileName::Snapshot => (*of, snapshot.clone()),
            of if *of == name => (*of, segment.clone()),
            _ => (*of, content.clone()),
        }));
        let mut named: Vec<String> = verified(&disk).flaws.into_iter().map(|f| f.file).collect();
        named.sort();
        assert_eq!(named, ["SNAPSHOT".to_owned(), name.to_string()]);
    }
}

#[test]
fn backup_of_hard_links_is_sound_and_independent() {
    let dir = tempfile::tempdir().unwrap();
    let (here, backup) = (dir.path().join("here"), dir.path().join("backup"));
    let store = Store::create(&here, small()).unwrap();
    load(&store, 0, 50, 1);
    store.close().unwrap();
    fs::create_dir_all(backup.join("segments")).unwrap();
    for name in ["catalog.redb", "LOCK", "SNAPSHOT"] {
        fs::copy(here.join(name), backup.join(name)).unwrap();
    }
    for entry in fs::read_dir(here.join("segments")).unwrap() {
        let path = entry.unwrap().path();
        fs::hard_link(&path, backup.join("segments").join(path.file_name().unwrap())).unwrap();
    }
    for (path, salt) in [(&here, 2), (&backup, 3)] {
        let store = Store::open(path, small()).unwrap();
        load(&store, 50, 100, salt);
        store.merge(&Progress::default()).unwrap();
        store.close().unwrap();
        let verified = simkeep::verify::verify(path, VerifyOptions::default()).unwrap();
        assert!(verified.is_sound() && verified.pages == 100, "{verified:?}");
    }
}

#[test]
fn copying_by_loading_makes_another_store() {
    let (from, store) = made(1);
    load(&store, 0, 50, 1);
    let (to, copy) = made(2);
    copy.copy_from(&store.snapshot(), LoadOptions::default()).unwrap();
    let ids = [&from, &to].map(|disk| {
        let files = disk.contents();
        id_of(file(&files, newest(&files)))
    });
    assert_ne!(ids[0], ids[1]);
}
