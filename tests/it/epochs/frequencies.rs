//! Tables of document frequencies: each lives as long as its epoch. Calls that need a lost or damaged
//! table return an error that names it.

use simkeep::disk::{Disk as _, FileName, SimDisk};
use simkeep::fingerprint::Frequencies as _;
use simkeep::load::LoadOptions;
use simkeep::repair::{RepairOptions, repair};
use simkeep::{
    Epoch, Error, Observation, Origin, Reader, RestateOutcome, Restatement, Role, Store,
};
use simkeep_testing::{ms, on, open, small, sound};

use super::{URL, create, plain, some, tables, with_weight};

#[test]
fn table_lives_as_long_as_its_epoch() {
    let disk = SimDisk::new();
    let store = create(&disk);
    let origin = some();
    let id = origin.frequencies().unwrap().id();
    let epoch = store.begin_epoch(&origin, Role::Both).unwrap();
    assert_eq!((epoch, store.change_epoch()), (Epoch::from_number(1), Epoch::from_number(1)));
    assert_eq!(store.begin_epoch(&origin, Role::Both).unwrap(), epoch);
    assert_eq!(store.snapshot().epochs()[1].name, format!("html/3 words1-sqrt-idf/2 df:{id:016x}"));
    assert_eq!(tables(&disk), [FileName::Df(1)]);
    // The store has its own copy of the table, which makes the same fingerprints.
    let found = Origin::of(&store.snapshot(), epoch).unwrap().unwrap();
    assert_eq!(found.frequencies().unwrap().documents(), 3);
    let of = |origin: &Origin| origin.fingerprinter().unwrap().of_text("the red car").unwrap();
    let fingerprint = of(&origin);
    assert_eq!(of(&found), fingerprint);
    assert_eq!(
        Origin::of(&store.snapshot(), Epoch::from_number(0)).unwrap().map(|origin| origin.name()),
        None
    );

    store.observe(Observation::content(URL, ms(1), fingerprint, epoch)).unwrap();
    store.seal().unwrap();
    let reader = Reader::open(on(&disk)).unwrap();
    assert_eq!(of(&Origin::of(&reader.snapshot(), epoch).unwrap().unwrap()), fingerprint);
    store.close().unwrap();
    let store = open(&disk, small());
    assert_eq!(tables(&disk), [FileName::Df(1)]);
    assert_eq!(of(&Origin::of(&store.snapshot(), epoch).unwrap().unwrap()), fingerprint);

    let next = store.begin_epoch(&plain("strict"), Role::Both).unwrap();
    let Err(Error::EpochInUse { url, .. }) = store.end_epoch(epoch, 0) else { panic!() };
    assert_eq!(url, URL);
    assert_eq!(
        store.restate(Restatement::new(URL, ms(1), 7, next)).unwrap(),
        RestateOutcome::Stored
    );
    store.end_epoch(epoch, 0).unwrap();
    assert_eq!(tables(&disk), []);
    assert!(matches!(Origin::of(&store.snapshot(), epoch), Err(Error::EndedEpoch(_))));
    assert!(matches!(store.begin_epoch(&origin, Role::Both), Err(Error::EndedEpoch(_))));
    sound(&store).unwrap();
    store.close().unwrap();
    let store = open(&disk, small());
    assert!(store.snapshot().epochs()[1].ended);
    sound(&store).unwrap();
}

#[test]
fn ended_epoch_is_not_given_another_stores_table() {
    let (disk, origin) = (SimDisk::new(), some());
    let (store, other) = (create(&disk), create(&SimDisk::new()));
    let ended = store.begin_epoch(&origin, Role::Both).unwrap();
    store.register_epoch("after", Role::Both).unwrap();
    store.end_epoch(ended, 0).unwrap();
    other.begin_epoch(&origin, Role::Both).unwrap();
    let before = store.snapshot().epochs().to_vec();
    let loaded = store.copy_from(&other.snapshot(), LoadOptions::default()).unwrap();
    assert_eq!((store.snapshot().epochs().to_vec(), loaded.begun), (before, vec![]));
    assert_eq!(tables(&disk), []);
    // An epoch that has not ended gets its table.
    let disk = SimDisk::new();
    let copy = create(&disk);
    let loaded = copy.copy_from(&other.snapshot(), LoadOptions::default()).unwrap();
    assert_eq!(loaded.begun, other.snapshot().epochs()[1..]);
    assert_eq!(tables(&disk), [FileName::Df(1)]);
}

#[test]
fn lost_table_is_reported_and_can_be_supplied_again() {
    let disk = SimDisk::new();
    let store = create(&disk);
    let (one, other) = (some(), with_weight(&["a boat", "the boat"]));
    let epoch = store.begin_epoch(&one, Role::Both).unwrap();
    disk.remove(FileName::Df(1)).unwrap();
    sound(&store).unwrap();
    assert!(matches!(Origin::of(&store.snapshot(), epoch), Err(Error::NoTable { .. })));
    let why = Origin::of(&store.snapshot(), epoch).unwrap_err().to_string();
    assert!(why.contains("0000000001.df") && why.contains("begin the epoch again"), "{why}");
    assert_eq!(store.begin_epoch(&one, Role::Both).unwrap(), epoch);
    assert!(Origin::of(&store.snapshot(), epoch).unwrap().is_some());
    // Another table under its name is rejected.
    store.begin_epoch(&other, Role::Both).unwrap();
    let contents = disk.contents();
    let bytes = |wanted| contents.iter().find(|(name, _)| *name == wanted).unwrap().1.clone();
    sound(&store).unwrap();
    let files = contents.iter().filter(|(name, _)| *name != FileName::Df(1)).cloned();
    let swapped = SimDisk::of(files.chain([(FileName::Df(1), bytes(FileName::Df(2)))]));
    store.close().unwrap();
    let reader = Reader::open(on(&swapped)).unwrap();
    assert!(matches!(Origin::of(&reader.snapshot(), epoch), Err(Error::Corrupt(_))));
    let verified = simkeep::verify::verify(on(&swapped), Default::default()).unwrap();
    assert_eq!(verified.flaws.len(), 1, "{verified:?}");
    assert_eq!(verified.flaws[0].file, "0000000001.df");
}

#[test]
fn epoch_with_a_table_is_due_after_epoch_visits() {
    let options = small().epoch_visits(10);
    let store = Store::create(on(&SimDisk::new()), options).unwrap();
    let observe = |epoch, times: std::ops::Range<i64>| {
        for time in times {
            store.observe(Observation::content(URL, ms(time), 7, epoch)).unwrap();
        }
        let stats = store.stats().unwrap();
        (stats.epoch_visits, stats.epoch_due)
    };
    // A recipe without a table has nothing to renew.
    assert_eq!(observe(Epoch::from_number(0), 0..20), (20, false));
    let epoch = store.begin_epoch(&some(), Role::Both).unwrap();
    assert_eq!(observe(epoch, 20..29), (9, false));
    assert_eq!(observe(epoch, 29..30), (10, true));
}

#[test]
fn copying_and_repairing_report_a_damaged_table() {
    let (disk, to) = (SimDisk::new(), SimDisk::new());
    let store = create(&disk);
    store.begin_epoch(&some(), Role::Both).unwrap();
    store.observe(Observation::content(URL, ms(1), 7, Epoch::from_number(1))).unwrap();
    store.close().unwrap();
    let mut files = disk.contents();
    let table = files.iter_mut().find(|(name, _)| *name == FileName::Df(1)).unwrap();
    table.1[100] ^= 1;
    let disk = SimDisk::of(files);
    let reader = Reader::open(on(&disk)).unwrap();
    let copied = create(&SimDisk::new()).copy_from(&reader.snapshot(), LoadOptions::default());
    assert!(matches!(copied, Err(Error::Corrupt(flaw)) if flaw.file == "0000000001.df"));
    let repaired = repair(on(&disk), on(&to), RepairOptions::default()).unwrap();
    assert!(!repaired.is_whole() && repaired.lost[0].file == "0000000001.df", "{repaired:?}");
    assert_eq!((repaired.pages, tables(&to)), (1, vec![]));
}
