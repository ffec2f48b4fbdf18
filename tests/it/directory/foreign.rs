//! User files, links and pipes with names of store files: refused, and left unchanged.

use simkeep_testing::ms;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use simkeep::df::{FrequencyCounter, FrequencyTable};
use simkeep::fingerprint::Recipe;
use simkeep::repair::RepairOptions;
use simkeep::verify::VerifyOptions;
use simkeep::{Epoch, Error, Observation, Options, Progress, Reader, Result, Store};
use tempfile::TempDir;

/// Nothing here takes longer, unless it blocks.
const SOON: Duration = Duration::from_secs(4);

/// All names of store files.
const NAMES: [&str; 13] = [
    "LOCK",
    "catalog.redb",
    "catalog.redb.new",
    "SNAPSHOT",
    "SNAPSHOT.new",
    "0000000001.df",
    "0000000001.df.new",
    "0000000001.df.00.tmp",
    "segments",
    "segments/0000000001.seg",
    "segments/0000000002.seg",
    "segments/0000000002.seg.new",
    "segments/0000000002.00.tmp",
];

/// The contents of a user file that must survive.
const VICTIM: &[u8] = b"of somebody else";

/// A directory for a store, and a file next to it.
struct SharedDirectory {
    dir: TempDir,
}

impl SharedDirectory {
    fn new() -> SharedDirectory {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join("victim"), VICTIM).unwrap();
        fs::create_dir(dir.path().join("s")).unwrap();
        fs::create_dir(dir.path().join("victims")).unwrap();
        fs::write(dir.path().join("victims/0000000001.seg"), VICTIM).unwrap();
        SharedDirectory { dir }
    }

    /// A directory with a store that has a segment and a journal.
    fn with_store() -> SharedDirectory {
        let place = SharedDirectory::new();
        let store = Store::create(place.store(), Options::default()).unwrap();
        store.observe(Observation::content("http://a/", ms(0), 7, Epoch::from_number(0))).unwrap();
        store.seal().unwrap();
        store.observe(Observation::content("http://b/", ms(0), 8, Epoch::from_number(0))).unwrap();
        store.close().unwrap();
        place
    }

    fn store(&self) -> PathBuf {
        self.dir.path().join("s")
    }

    /// Removes a name from the store's directory, and returns its path.
    fn cleared(&self, name: &str) -> PathBuf {
        let path = self.store().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        let _ = fs::remove_file(&path);
        let _ = fs::remove_dir_all(&path);
        path
    }

    fn check_victims(&self, what: &str) {
        for victim in ["victim", "victims/0000000001.seg"] {
            assert_eq!(fs::read(self.dir.path().join(victim)).unwrap(), VICTIM, "{what}");
        }
        let names = fs::read_dir(self.dir.path().join("victims")).unwrap();
        assert_eq!(names.count(), 1, "{what}: something was made where a link leads");
        let names = fs::read_dir(self.dir.path()).unwrap();
        assert_eq!(names.count(), 3, "{what}: something was made where a link leads");
    }
}

/// Creates or opens a store, and performs a few operations of each kind.
fn work(path: &Path) -> Result<()> {
    let store = Store::open_or_create(path, Options::default())?;
    for url in ["http://c/", "http://d/"] {
        store.observe(Observation::content(url, ms(0), 9, Epoch::from_number(0)))?;
        store.seal()?;
    }
    store.merge(&Progress::default())?;
    store.close()
}

#[test]
fn symlinks_with_store_names_are_refused_outside_a_store() {
    for name in NAMES {
        for target in ["victim", "none", "victims"] {
            let place = SharedDirectory::new();
            let path = place.cleared(name);
            symlink(place.dir.path().join(target), &path).unwrap();
            let error = work(&place.store()).unwrap_err().to_string();
            place.check_victims(&format!("{name} to {target}: {error}"));
            assert!(path.is_symlink(), "{name} to {target}: {error}");
        }
    }
}

#[test]
fn symlinks_with_store_names_are_not_followed() {
    for name in NAMES {
        for target in ["victim", "none", "victims"] {
            let place = SharedDirectory::with_store();
            symlink(place.dir.path().join(target), place.cleared(name)).unwrap();
            let worked = work(&place.store());
            place.check_victims(&format!("{name} to {target}: {worked:?}"));
            let needed = ["LOCK", "catalog.redb", "segments", "segments/0000000001.seg"];
            assert_eq!(worked.is_err(), needed.contains(&name), "{name} to {target}: {worked:?}");
        }
    }
}

#[test]
fn user_files_with_store_names_are_refused_and_kept() {
    for name in NAMES.into_iter().filter(|name| *name != "segments") {
        let place = SharedDirectory::new();
        let path = place.cleared(name);
        fs::write(&path, VICTIM).unwrap();
        let error = work(&place.store()).unwrap_err();
        assert_eq!(fs::read(&path).unwrap(), VICTIM, "{name}: {error}");
    }
}

#[test]
fn leftovers_of_an_interrupted_create_are_removed() {
    let place = SharedDirectory::new();
    // As an early crash leaves it, before anything was written.
    for lock in [&b""[..], &[0; 28]] {
        fs::write(place.cleared("LOCK"), lock).unwrap();
        work(&place.store()).unwrap();
        fs::remove_dir_all(place.store()).unwrap();
    }
    // During the creation of its catalog.
    work(&place.store()).unwrap();
    fs::rename(place.store().join("catalog.redb"), place.store().join("catalog.redb.new")).unwrap();
    fs::remove_dir_all(place.store().join("segments")).unwrap();
    fs::remove_file(place.store().join("SNAPSHOT")).unwrap();
    work(&place.store()).unwrap();
    assert!(!place.store().join("catalog.redb.new").exists());
}

#[test]
fn special_files_in_a_store_are_errors_and_never_block() {
    let pipe = |path: &Path| assert!(Command::new("mkfifo").arg(path).status().unwrap().success());
    let folder = |path: &Path| fs::create_dir(path).unwrap();
    let device = |path: &Path| symlink("/dev/zero", path).unwrap();
    let kinds: [&dyn Fn(&Path); 3] = [&pipe, &folder, &device];
    for name in ["LOCK", "catalog.redb", "SNAPSHOT", "segments/0000000001.seg"] {
        for (kind, make) in kinds.iter().enumerate() {
            let place = SharedDirectory::with_store();
            make(&place.cleared(name));
            let since = Instant::now();
            let read = Reader::open(place.store()).map(drop);
            let verified = simkeep::verify::verify(place.store(), VerifyOptions::default());
            let to = place.dir.path().join("saved");
            let options = RepairOptions::default().keep_forgotten(true);
            let repaired = simkeep::repair::repair(place.store(), &to, options);
            let worked = work(&place.store());
            assert!(since.elapsed() < SOON, "{name} {kind}: it waits");
            // Only readers of a store with a writer need `SNAPSHOT`.
            let needed = name != "SNAPSHOT";
            assert_eq!(read.is_err(), needed, "{name} {kind}: {read:?}");
            assert_eq!(worked.is_err() && needed, needed, "{name} {kind}: {worked:?}");
            assert!(verified.map_or(true, |verified| !verified.is_sound()), "{name} {kind}");
            assert!(repaired.is_ok(), "{name} {kind}: {repaired:?}");
        }
    }
}

#[test]
fn symlinked_store_and_hard_linked_segments_are_sound() {
    let place = SharedDirectory::with_store();
    let link = place.dir.path().join("link");
    symlink(place.store(), &link).unwrap();
    let segment = place.store().join("segments/0000000001.seg");
    fs::hard_link(&segment, place.dir.path().join("backup")).unwrap();
    simkeep::verify::verify(&link, VerifyOptions::default()).unwrap().sound().unwrap();
    assert_eq!(Reader::open(&link).unwrap().snapshot().history("http://a/").unwrap().len(), 1);
    work(&link).unwrap();
}

fn count(path: &Path) -> Result<FrequencyTable> {
    let mut counter =
        FrequencyCounter::new(&"words-idf".parse::<Recipe>().unwrap(), path, 1 << 20)?;
    counter.add("some text of a page")?;
    counter.freeze(1)
}

#[test]
fn table_file_replaces_only_other_tables() {
    let place = SharedDirectory::with_store();
    let at = |name: &str| place.dir.path().join(name);
    count(&at("t.df")).unwrap();
    let table = count(&at("t.df")).unwrap();
    symlink(at("t.df"), at("link.df")).unwrap();
    assert_eq!(FrequencyTable::open(at("link.df")).unwrap().id(), table.id());
    fs::write(at("empty"), "").unwrap();
    fs::copy(at("t.df"), place.store().join("0000000003.df")).unwrap();
    let names = ["victim", "empty", "link.df", "s/catalog.redb", "s/LOCK", "s/0000000003.df"];
    let more = ["s/0000000004.df", "s/segments/0000000001.seg", "s/segments/0000000009.seg"];
    for name in names.into_iter().chain(more) {
        let before = fs::read(at(name)).ok();
        let tables = std::slice::from_ref(&table);
        let errors = [count(&at(name)), simkeep::df::merge(tables, at(name), 2)];
        for error in errors {
            assert!(matches!(error, Err(Error::AlreadyExists { .. })), "{name}: {error:?}");
        }
        assert!(fs::read(at(name)).ok() == before, "{name}");
    }
    assert!(at("link.df").is_symlink());
    work(&place.store()).unwrap();
}

#[test]
fn repair_does_not_write_into_a_store() {
    let place = SharedDirectory::with_store();
    let names = |path: &Path| -> Vec<_> {
        let mut names: Vec<_> =
            fs::read_dir(path).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        names.sort();
        names
    };
    for without_catalog in [false, true] {
        if without_catalog {
            fs::remove_file(place.store().join("catalog.redb")).unwrap();
        }
        let before = names(&place.store());
        fs::create_dir_all(place.store().join("segments")).unwrap();
        let own = ["segments", "sub", "segments/deep/er", "sub/../segments/x", "../s/sub"];
        let own = own.map(|to| place.store().join(to));
        // The path goes up from a folder that does not exist yet.
        let name = place.store().file_name().unwrap().to_owned();
        let back = place.dir.path().join("none/deep/../..").join(name).join("segments/x");
        for to in own.into_iter().chain([back]) {
            let error =
                simkeep::repair::repair(place.store(), &to, RepairOptions::default()).unwrap_err();
            assert!(error.to_string().contains("lies in the store"), "{error}");
        }
        assert_eq!(names(&place.store()), before);
        let to = place.dir.path().join(format!("saved{without_catalog}"));
        let options = RepairOptions::default().keep_forgotten(true);
        let repaired = simkeep::repair::repair(place.store(), &to, options).unwrap();
        assert_eq!(repaired.is_whole(), !without_catalog);
    }
}
