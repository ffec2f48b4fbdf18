//! A crash during a load or a repair leaves the old state or the complete new one.

use simkeep::disk::{Dir, Disk as _, DiskFault, FaultTarget, FileName, SimDisk};
use simkeep::fingerprint::Recipe;
use simkeep::load::{LoadEpochs, LoadOptions, Loaded};
use simkeep::repair::{RepairOptions, repair};
use simkeep::verify::{VerifyOptions, verify};
use simkeep::{EpochInfo, Error, Observation, Operation, Origin, Reader, Result, Role, Store};
use simkeep_testing::compare::{check_counts, dump};
use simkeep_testing::depth::every;
use simkeep_testing::model::Model;
use simkeep_testing::pages::URLS;
use simkeep_testing::{choice, create, ms, names, on, open, request, small, sound};

fn power_failure(nth: u64) -> DiskFault {
    DiskFault { target: FaultTarget::Changes, nth, kind: std::io::ErrorKind::Other, lasting: true }
}

/// The states that a crash may leave.
fn crashes(disk: &SimDisk, seed: u64) -> Vec<SimDisk> {
    let mut disks = vec![disk.crash_all_kept(), disk.crash_synced_only()];
    disks.extend((0..6).map(|n| disk.crash(&mut choice(seed * 10 + n))));
    disks
}

fn some(seed: u64, count: i64) -> Vec<Operation<'static>> {
    let mut choice = choice(seed);
    (0..count).map(|time| request(&mut choice, 12, time)).collect()
}

/// The tables of document frequencies on a disk.
fn tables(disk: &SimDisk) -> Vec<FileName> {
    let names = disk.contents().into_iter().map(|(name, _)| name);
    names.filter(|name| matches!(name, FileName::Df(_) | FileName::DfNew(_))).collect()
}

/// An origin with its own table.
fn with_weight() -> Origin {
    let recipe: Recipe = "words-idf".parse().unwrap();
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("words.df");
    let mut counter = simkeep::df::FrequencyCounter::new(&recipe, &path, 1 << 20).unwrap();
    ["the red house", "the blue car"].iter().for_each(|text| counter.add(text).unwrap());
    counter.freeze(1).unwrap();
    Origin::new(recipe).table(simkeep::df::FrequencyTable::open(&path).unwrap()).unwrap()
}

/// A store with an ended epoch, an epoch with a table, and an epoch that is only a name.
fn source(origin: &Origin) -> Store {
    let store = create(&SimDisk::new(), small());
    store.write_batch(&some(1, 60)).unwrap();
    let ended = store.register_epoch("ended", Role::Both).unwrap();
    let weighed = store.begin_epoch(origin, Role::Both).unwrap();
    let last = store.register_epoch("last", Role::Both).unwrap();
    for (time, epoch) in [(900, ended), (901, weighed), (902, last)] {
        store.observe(Observation::content(URLS[0], ms(time), 5, epoch)).unwrap();
    }
    store.end_epoch(ended, u64::MAX).unwrap();
    store
}

/// The contents of a store: its visits and its epochs.
fn held(store: &Store) -> (Model, Vec<EpochInfo>) {
    (dump(&store.snapshot()).unwrap(), store.snapshot().epochs().to_vec())
}

/// A load that names an epoch, and a load of a store with more epochs.
fn loads(store: &Store, other: &Store) -> [Result<Loaded>; 2] {
    let epochs = LoadEpochs::default();
    let named = (0..40).map(|n: u8| {
        let epoch = epochs.named(if n.is_multiple_of(3) { "named" } else { "one" }, Role::Both)?;
        let url = URLS[usize::from(n % 12)];
        Ok(Observation::content(url, ms(700 + i64::from(n)), u64::from(n), epoch))
    });
    let options = || LoadOptions::default().memory_bytes(64 << 10);
    let first = store.load(named, options().epochs(epochs.clone()));
    [first, store.copy_from(&other.snapshot(), options())]
}

#[test]
fn crash_of_a_load_keeps_its_epochs_with_its_pages() {
    let origin = with_weight();
    let other = source(&origin);
    let begin = || {
        let disk = SimDisk::new();
        let store = create(&disk, small());
        store.write_batch(&some(2, 30)).unwrap();
        (disk, store)
    };
    let (disk, store) = begin();
    let (before, mut states) = (disk.changes(), vec![held(&store)]);
    let empty = create(&SimDisk::new(), small());
    assert!(loads(&store, &empty).iter().all(Result::is_ok));
    states.push(held(&store));
    let (disk, store) = begin();
    assert!(loads(&store, &other).iter().all(Result::is_ok));
    states.push(held(&store));
    let changes = disk.changes() - before;
    let epochs = states[2].1.clone();
    assert_eq!(names(&epochs), ["one", "two", "named", "ended", &origin.name(), "last"]);
    assert!(epochs[3].ended && tables(&disk) == [FileName::Df(4)]);
    let mut found = [0; 3];
    for stop in (1..=changes).rev().step_by(every()) {
        let (disk, store) = begin();
        disk.fail(power_failure(stop));
        let done = loads(&store, &other).iter().take_while(|done| done.is_ok()).count();
        for disk in crashes(&disk, stop) {
            let reader = Reader::open(on(&disk)).unwrap().snapshot();
            let store = open(&disk, small());
            let state = held(&store);
            let at = states.iter().position(|expected| *expected == state);
            let at = at.unwrap_or_else(|| panic!("change {stop}: {:?}", state.1));
            assert!(at >= done, "change {stop}: {done} loads were done, {at} are there");
            assert_eq!(reader.epochs(), state.1);
            let table: &[FileName] = if at == 2 { &[FileName::Df(4)] } else { &[] };
            assert_eq!(tables(&disk), table, "change {stop}");
            check_counts(&store, &state.0);
            sound(&store).unwrap();
            found[at] += 1;
        }
    }
    assert!(found.iter().all(|count| *count > 50 / every()), "{found:?}");
}

/// Creates stores on a disk whose power fails at each change in turn. Each crash leaves no store, so
/// that one can be created, or the complete store.
fn made(make: impl Fn(&SimDisk) -> Result<()>) {
    let whole = SimDisk::new();
    make(&whole).unwrap();
    let expected = held(&open(&whole, small()));
    assert!(expected.0.page_count() > 5);
    let (mut none, mut unfinished, mut all) = (0, 0, 0);
    for stop in (1..=whole.changes()).step_by(every()) {
        let disk = SimDisk::new();
        disk.fail(power_failure(stop));
        let done = make(&disk).is_ok();
        for disk in crashes(&disk, stop) {
            let what = format!("change {stop}");
            match Store::open(on(&disk), small()) {
                Ok(store) => {
                    assert!(held(&store) == expected, "{what}: some of it");
                    sound(&store).unwrap();
                    all += 1;
                    continue;
                }
                Err(Error::NotAStore { .. }) => none += 1,
                Err(Error::Unfinished { .. }) => unfinished += 1,
                Err(e) => panic!("{what}: {e}"),
            }
            assert!(!done, "{what}: lost");
            Reader::open(on(&disk)).map(drop).unwrap_err();
            verify(on(&disk), VerifyOptions::default()).map(drop).unwrap_err();
            // The store can be created again, and so can another one in its place.
            let other = SimDisk::of(disk.contents());
            make(&disk).unwrap_or_else(|e| panic!("{what}: {e}"));
            let store = open(&disk, small());
            assert!(held(&store) == expected, "{what}: made anew");
            sound(&store).unwrap();
            let files = disk.list(Dir::Segments).unwrap().len();
            assert_eq!(files, store.stats().unwrap().segments.len(), "{what}");
            let store = Store::create(on(&other), small()).unwrap();
            assert_eq!(
                (store.stats().unwrap().pages, names(store.snapshot().epochs())),
                (0, vec!["one"])
            );
            drop(store);
            drop(open(&other, small()));
            assert_eq!(other.list(Dir::Segments).unwrap().len(), 0, "{what}");
        }
    }
    let least = |n: usize| n / every();
    assert!(
        none > least(20) && unfinished > least(50) && all > least(20),
        "{none} {unfinished} {all}"
    );
}

#[test]
fn crash_of_a_repair_leaves_no_store_or_all() {
    let origin = with_weight();
    let from = SimDisk::new();
    {
        let store = create(&from, small());
        store.copy_from(&source(&origin).snapshot(), LoadOptions::default()).unwrap();
    }
    made(|disk| {
        let repaired = repair(on(&from), on(disk), RepairOptions::default())?;
        assert!(repaired.is_whole());
        Ok(())
    });
}

#[test]
fn crash_of_a_creating_load_leaves_no_store_or_all() {
    let other = source(&with_weight()).snapshot();
    made(|disk| {
        let epochs = LoadEpochs::default();
        let observations = other.observations(None).renumbered(epochs.of(&other)?);
        let options = LoadOptions::default().epochs(epochs.clone()).segment_pages(5);
        Store::create_from(on(disk), small(), observations, options).map(drop)
    });
}
