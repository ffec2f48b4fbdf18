//! A store's directory with exchanged files: removed, emptied, doubled, swapped, linked under other
//! names, or restored from another time, from a diverged copy, or from another store. Everything
//! that is read belongs to one of these stores at one time, or is an error. This also holds after a
//! write and after a repair.
//!
//! The first byte is the initial state. Each following three bytes are a change: the action, the
//! file, and the state or file to take.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use simkeep::disk::{FileName, LockMode, SimDisk};
use simkeep::repair::{RepairOptions, repair};
use simkeep::verify::{Verified, VerifyOptions, verify};
use simkeep::{Error, Observation, Progress, Reader, Role, Scope, Snapshot, Store};

use crate::compare::dump;
use crate::disks::changing_catalog_disk;
use crate::fuzz::ask::{FINGERPRINTS, NamedAnswers, questions};
use crate::fuzz::input::FuzzInput;
use crate::fuzz::store::{on, open, options};
use crate::model::Model;
use crate::pages::URLS;
use crate::{choice, ms, observation, sound};

/// The maximum number of changes in an input.
const CHANGES_MAX: usize = 8;

type DirectoryFiles = Vec<(FileName, Vec<u8>)>;

/// A store as its writer left it.
struct WrittenStore {
    files: DirectoryFiles,
    model: Model,
    answers: NamedAnswers,
    /// The answers of a reader that cannot follow an active writer.
    sealed: NamedAnswers,
}

/// The states, and the names of all their files.
static STATES: LazyLock<(Vec<WrittenStore>, Vec<FileName>)> = LazyLock::new(|| {
    let first = begun(1);
    let second = continued_store(&first, 2, 2);
    let third = continued_store(&second, 3, 3);
    // A copy of the second state that diverged, with files of the same numbers.
    let copy = continued_store(&second, 4, 4);
    let other = begun(5);
    let other_second = continued_store(&other, 6, 2);
    let states = vec![first, second, third, copy, other, other_second];
    let names = states.iter().flatten().map(|(name, _)| *name);
    let names: BTreeSet<FileName> =
        names.chain([FileName::CatalogNew, FileName::SnapshotNew]).collect();
    (states.into_iter().map(state).collect(), names.into_iter().collect())
});

/// A new store with a segment and a journal.
fn begun(seed: u64) -> DirectoryFiles {
    let disk = SimDisk::new();
    disk.set_seed(seed);
    let store = Store::create(on(&disk), options()).unwrap();
    store.register_epoch("another", Role::Both).unwrap();
    fill(&store, seed);
    store.seal().unwrap();
    fill(&store, seed + 100);
    store.close().unwrap();
    disk.contents()
}

/// A later state of a store. The salt determines the new data.
fn continued_store(files: &DirectoryFiles, seed: u64, salt: u64) -> DirectoryFiles {
    let disk = SimDisk::of(files.iter().cloned());
    disk.set_seed(seed);
    let store = open(&disk).unwrap();
    fill(&store, salt);
    store.seal().unwrap();
    store.forget(Scope::Url(URLS[usize::try_from(salt).unwrap() % 8])).unwrap();
    fill(&store, salt + 200);
    store.close().unwrap();
    disk.contents()
}

fn fill(store: &Store, seed: u64) {
    let mut choice = choice(seed);
    for time in 0..6 {
        let seen = observation(&mut choice, 8, seed.cast_signed() * 10 + time);
        store.observe(seen).unwrap();
    }
}

fn ask(view: &Snapshot) -> NamedAnswers {
    let urls: Vec<String> = URLS[..8].iter().map(|url| (*url).to_owned()).collect();
    // Sizes are not compared.
    questions(view, Err(Error::Closed), &urls, &FINGERPRINTS[..2])
}

fn state(files: DirectoryFiles) -> WrittenStore {
    let disk = SimDisk::of(files.iter().cloned());
    let reader = Reader::open(on(&disk)).unwrap();
    let (model, answers) = (dump(&reader.snapshot()).unwrap(), ask(&reader.snapshot()));
    let _writer = on(&disk).lock(FileName::Lock, LockMode::Exclusive).unwrap();
    let sealed = ask(&Reader::open(changing_catalog_disk(&disk)).unwrap().snapshot());
    WrittenStore { files, model, answers, sealed }
}

/// Changes files as an input says.
fn change(files: &mut DirectoryFiles, input: &mut FuzzInput<'_>) {
    let (states, names) = &*STATES;
    let action = input.u8() % 8;
    let (name, argument) = (names[input.below(names.len())], input.u8());
    let of = |files: &DirectoryFiles, name| {
        files.iter().find(|(n, _)| *n == name).map(|(_, bytes)| bytes.clone())
    };
    let put = |files: &mut DirectoryFiles, name, bytes: Option<Vec<u8>>| {
        files.retain(|(n, _)| *n != name);
        files.extend(bytes.map(|bytes| (name, bytes)));
    };
    let mut bytes = of(files, name);
    match action {
        0 => bytes = None,
        1 => bytes = bytes.map(|_| Vec::new()),
        2 => bytes = bytes.map(|bytes| bytes.repeat(2)),
        // From another time, a diverged copy, or another store.
        3 | 4 => bytes = of(&states[usize::from(argument) % states.len()].files, name),
        5 => {
            let other = names[usize::from(argument) % names.len()];
            let theirs = of(files, other);
            put(files, other, bytes);
            bytes = theirs;
        }
        6 => bytes = of(files, names[usize::from(argument) % names.len()]),
        _ => bytes = bytes.map(|bytes| bytes[..bytes.len() / 2].to_vec()),
    }
    put(files, name, bytes);
}

/// Checks that all answers are of one state. If some are missing, the store must be damaged.
fn check(
    found: &NamedAnswers,
    of: impl Fn(&WrittenStore) -> &NamedAnswers,
    sound: bool,
    what: &str,
) {
    let right = |state: &&WrittenStore| {
        found.iter().zip(of(state)).all(|((_, found), (_, expected))| match (found, expected) {
            (Ok(found), Ok(expected)) => found == expected,
            (Ok(_), Err(_)) => false,
            (Err(_), Ok(_)) => !sound,
            (Err(_), Err(_)) => true,
        })
    };
    let states = STATES.0.iter();
    assert!(states.filter(right).count() > 0, "{what}: answers of no state, sound: {sound}");
}

/// The files that must remain if a store is refused. redb may have changed the catalog when it was
/// opened.
fn kept(disk: &SimDisk) -> DirectoryFiles {
    let mut files = disk.contents();
    files.retain(|(name, _)| {
        matches!(name, FileName::Catalog | FileName::Segment(_) | FileName::Df(_))
    });
    let catalogs = files.iter_mut().filter(|(name, _)| *name == FileName::Catalog);
    catalogs.for_each(|(_, bytes)| bytes.clear());
    files
}

/// Runs one input.
pub fn run(data: &[u8]) {
    let mut input = FuzzInput(data);
    let states = &STATES.0;
    let mut files = states[input.below(states.len())].files.clone();
    for _ in 0..CHANGES_MAX {
        if input.is_empty() {
            break;
        }
        change(&mut files, &mut input);
    }
    let disk = || SimDisk::of(files.iter().cloned());

    let reads = disk();
    let verified = verify(on(&reads), VerifyOptions::default()).and_then(Verified::sound);
    if let Ok(reader) = Reader::open(on(&reads)) {
        check(&ask(&reader.snapshot()), |state| &state.answers, verified.is_ok(), "a reader");
    } else {
        assert!(verified.is_err(), "what is sound can be read");
    }
    {
        let _writer = on(&reads).lock(FileName::Lock, LockMode::Exclusive).unwrap();
        let what = "a reader beside a writer";
        if let Ok(reader) = Reader::open(on(&reads)) {
            check(&ask(&reader.snapshot()), |state| &state.answers, verified.is_ok(), what);
        } else {
            assert!(verified.is_err(), "what is sound can be read");
        }
        // Without a SNAPSHOT, the reader would wait for one.
        if files.iter().any(|(name, _)| *name == FileName::Snapshot)
            && let Ok(reader) = Reader::open(changing_catalog_disk(&reads))
        {
            let verified = verify(on(&reads), VerifyOptions::default());
            let sound = verified.and_then(Verified::sound).is_ok();
            check(&ask(&reader.snapshot()), |state| &state.sealed, sound, what);
        }
    }

    check_repair(&reads);

    let writes = disk();
    let before = kept(&writes);
    let Ok(store) = open(&writes) else {
        assert_eq!(kept(&writes), before, "a store that is refused lost a file");
        return;
    };
    check(&ask(&store.snapshot()), |state| &state.answers, verified.is_ok(), "a writer");
    let seen = Observation::gone(URLS[0], ms(1_000_000_000_000));
    let done = store
        .observe(seen)
        .and_then(|_| store.seal())
        .and_then(|()| store.merge(&Progress::default()));
    if verified.is_ok() {
        done.unwrap();
        sound(&store).unwrap();
        assert!(store.snapshot().latest(URLS[0]).unwrap().unwrap().gone);
    }
}

/// Checks a repair. If it reports that everything was recovered, the result is one of the states.
/// Otherwise it has only entries of some state, unless forgotten data may come back.
fn check_repair(from: &SimDisk) {
    for keep_forgotten in [false, true] {
        let to = SimDisk::new();
        let options = RepairOptions::default().keep_forgotten(keep_forgotten);
        let Ok(repaired) = repair(on(from), on(&to), options) else { continue };
        let store = open(&to).unwrap();
        sound(&store).unwrap();
        let saved = dump(&store.snapshot()).unwrap();
        let mut states = STATES.0.iter().map(|state| &state.model);
        if repaired.is_whole() {
            assert!(states.any(|model| *model == saved), "a repair that is whole");
        } else if !keep_forgotten && repaired.unnamed_epochs.is_empty() {
            let models: Vec<&Model> = states.collect();
            for (place, visits) in saved.pages() {
                for visit in visits {
                    let seen = models.iter().any(|model| model.has(place, visit));
                    assert!(seen, "{visit:?} was never seen, or was forgotten");
                }
            }
        }
    }
}
