//! A read-only directory.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use simkeep::verify::VerifyOptions;
use simkeep::{Reader, Role, Store};

use super::listing;
use simkeep_testing::compare::{check_reader, check_store};
use simkeep_testing::files::copy;
use simkeep_testing::sample::sample;
use simkeep_testing::{EPOCHS, names, small};

fn set_modes(dir: &Path, dir_mode: u32, file_mode: u32) {
    fs::set_permissions(dir, fs::Permissions::from_mode(0o755)).unwrap();
    for entry in fs::read_dir(dir).unwrap() {
        let entry = entry.unwrap();
        if entry.file_type().unwrap().is_dir() {
            set_modes(&entry.path(), dir_mode, file_mode);
        } else {
            fs::set_permissions(entry.path(), fs::Permissions::from_mode(file_mode)).unwrap();
        }
    }
    fs::set_permissions(dir, fs::Permissions::from_mode(dir_mode)).unwrap();
}

#[test]
fn read_only_copy_of_a_killed_store_is_read_unchanged() {
    let dir = tempfile::tempdir().unwrap();
    let original = dir.path().join("original");
    let store = Store::create(&original, small()).unwrap();
    store.register_epoch(EPOCHS[1], Role::Both).unwrap();
    let model = sample(&store);
    // Copied while its writer runs, between two commits, as a kill would leave it.
    let killed = dir.path().join("killed");
    copy(&original, &killed);
    store.close().unwrap();
    let closed = dir.path().join("closed");
    copy(&original, &closed);
    for path in [killed, closed] {
        fs::remove_file(path.join("LOCK")).unwrap();
        set_modes(&path, 0o555, 0o444);
        let before = listing(&path);
        let reader = Reader::open(&path).unwrap();
        let another = Reader::open(&path).unwrap();
        check_reader(&reader, &model);
        simkeep::verify::verify(&path, VerifyOptions::default()).unwrap().sound().unwrap();
        assert_eq!(names(reader.snapshot().epochs()), EPOCHS);
        check_reader(&another, &model);
        assert!(listing(&path) == before, "{} changed", path.display());
        set_modes(&path, 0o755, 0o644);
        check_store(&Store::open(&path, small()).unwrap(), &model);
    }
}
