//! File permissions of a store.

use simkeep_testing::ms;
use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use simkeep::load::LoadOptions;
use simkeep::repair::RepairOptions;
use simkeep::{Observation, Options, Prefix, Progress, Scope, Store};

/// All distinct permissions in the directory.
fn modes(path: &Path) -> Vec<u32> {
    let mut modes = vec![fs::metadata(path).unwrap().permissions().mode() & 0o7777];
    if path.is_dir() {
        for entry in fs::read_dir(path).unwrap() {
            modes.extend(self::modes(&entry.unwrap().path()));
        }
    }
    modes.sort_unstable();
    modes.dedup();
    modes
}

/// Seals, merges, and replaces the catalog.
fn work(store: &Store, from: i64) {
    for time in from..from + 3 {
        store.observe(Observation::gone("http://a/", ms(time))).unwrap();
        store.seal().unwrap();
    }
    store.merge(&Progress::default()).unwrap();
    store.purge(Scope::Prefix(Prefix::parse("b").unwrap()), &Progress::default()).unwrap();
}

#[test]
fn store_is_private_unless_file_mode_is_set() {
    let dir = tempfile::tempdir().unwrap();
    for (mode, directories) in [(0o600, 0o700), (0o640, 0o750), (0o644, 0o755), (0o660, 0o770)] {
        let path = dir.path().join(format!("{mode:o}"));
        let options = Options::default().file_mode(mode);
        let store = Store::create(&path, options).unwrap();
        work(&store, 0);
        store.close().unwrap();
        assert_eq!(modes(&path), [mode, directories]);
        // The next process does not change the permissions of an existing store.
        let store = Store::open_or_create(&path, Options::default()).unwrap();
        work(&store, 10);
        store.close().unwrap();
        assert_eq!(modes(&path), [mode, directories]);
        let loaded = dir.path().join(format!("{mode:o}.loaded"));
        let options = Options::default().file_mode(mode);
        let seen = [Ok(Observation::gone("http://a/", ms(0)))];
        let created = Store::create_from(&loaded, options, seen, LoadOptions::default());
        created.unwrap().0.close().unwrap();
        assert_eq!(modes(&loaded), [mode, directories]);
        let saved = dir.path().join(format!("{mode:o}.saved"));
        simkeep::repair::repair(&path, &saved, RepairOptions::default()).unwrap();
        assert_eq!(modes(&saved), [mode, directories]);
    }
    assert_eq!(Options::default().file_mode, 0o600);
}

#[test]
fn changed_permissions_apply_to_new_files() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("crawl.simkeep");
    let store = Store::create(&path, Options::default()).unwrap();
    for name in ["LOCK", "catalog.redb", "SNAPSHOT"] {
        fs::set_permissions(path.join(name), Permissions::from_mode(0o640)).unwrap();
    }
    work(&store, 0);
    store.close().unwrap();
    assert_eq!(modes(&path), [0o640, 0o700]);
}
