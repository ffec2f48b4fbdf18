//! Directories that a backup refuses, and stores that cannot be backed up.

use super::*;
use simkeep_testing::ms;

/// Returns why a directory is refused; asserts that it is unchanged.
fn refused(from: &SimDisk, to: &SimDisk) -> String {
    let before = to.contents();
    let error = back_up(from, to).unwrap_err();
    // A lock file may be created, and nothing else.
    let mut after = to.contents();
    after.retain(|(name, _)| before.iter().any(|(other, _)| other == name));
    assert!(after == before, "{error}");
    match error {
        Error::NotABackup { why, .. } => why,
        other => panic!("{other}"),
    }
}

#[test]
fn backup_of_another_store_is_refused() {
    let (from, _store) = source();
    let other = SimDisk::new();
    other.set_seed(7);
    drop(create(&other, small()));
    assert_eq!(refused(&from, &other), "it belongs to another store");
    let to = SimDisk::new();
    back_up(&from, &to).unwrap();
    assert_eq!(refused(&other, &to), "it belongs to another store");
}

#[test]
fn backup_that_was_written_to_is_refused() {
    let (from, store) = source();
    let written = "it was opened for writing after the backup, so it is a separate store now";
    let to = SimDisk::new();
    back_up(&from, &to).unwrap();
    // Reading it is harmless.
    verify(on(&to), VerifyOptions::default()).unwrap().sound().unwrap();
    Reader::open(on(&to)).unwrap();
    back_up(&from, &to).unwrap();
    let own = open(&to, small());
    own.observe(Observation::gone(URLS[0], ms(5))).unwrap();
    own.close().unwrap();
    // Also when the store has continued.
    crawl(&store, 5, 60);
    assert_eq!(refused(&from, &to), written);
    // As if `SNAPSHOT` had not fit on the disk.
    to.remove(FileName::Snapshot).unwrap();
    assert_eq!(refused(&from, &to), written);
    // A copy of the store made by other means is treated alike.
    store.close().unwrap();
    assert_eq!(refused(&from, &SimDisk::of(from.contents())), written);
}

#[test]
fn newer_or_diverged_backup_is_refused() {
    let (from, store) = source();
    let to = SimDisk::new();
    let older = from.crash_all_kept();
    store.observe(Observation::gone(URLS[0], ms(5))).unwrap();
    back_up(&from, &to).unwrap();
    let last = store.snapshot().sequence();
    let why = refused(&older, &to);
    assert_eq!(
        why,
        format!(
            "its last operation is {last}, but the last operation of the store is {}",
            last - 1
        )
    );
    // The same operations in another segment with the same number.
    older.set_seed(5);
    let other = open(&older, small());
    other.observe(Observation::gone(URLS[2], ms(6))).unwrap();
    other.seal().unwrap();
    assert_eq!(refused(&from, &SimDisk::of(to_backup(&older))), "it is newer than the store");
    store.seal().unwrap();
    let why = refused(&from, &SimDisk::of(to_backup(&older)));
    assert!(why.starts_with("its segment ") && why.ends_with(" differs from the store's"), "{why}");
}

/// The files of a backup of a store.
fn to_backup(from: &SimDisk) -> Vec<(FileName, Vec<u8>)> {
    let to = SimDisk::new();
    back_up(from, &to).unwrap();
    to.contents()
}

#[test]
fn unsuitable_target_directories_are_refused() {
    let dir = tempfile::tempdir().unwrap();
    let (path, safe) = (dir.path().join("a"), dir.path().join("b"));
    let store = Store::create(&path, small()).unwrap();
    let fails = |to: &std::path::Path| {
        let ways = [
            backup(&path, to, options()).unwrap_err().to_string(),
            store.backup(to, options()).unwrap_err().to_string(),
        ];
        assert!(!to.join("catalog.redb").exists() || to == path);
        ways
    };
    for error in fails(&path.join("segments/b")) {
        assert!(error.contains("it lies in the store"), "{error}");
    }
    let [first, second] = fails(&path);
    assert!(first.contains("it is the store itself"), "{first}");
    assert!(second.contains("already open"), "{second}");
    store.close().unwrap();
    let around = path.join("segments/..");
    let error = backup(&path, &around, options()).unwrap_err().to_string();
    assert!(error.contains("it is the store itself"), "{error}");
    std::fs::create_dir(&safe).unwrap();
    std::fs::write(safe.join("notes"), "mine").unwrap();
    let error = backup(&path, &safe, options()).unwrap_err().to_string();
    assert!(error.contains("it contains other files, such as notes"), "{error}");
    assert_eq!(std::fs::read_dir(&safe).unwrap().count(), 1);
}

#[test]
fn open_backup_or_unfinished_store_is_refused() {
    let (from, _store) = source();
    let to = SimDisk::new();
    back_up(&from, &to).unwrap();
    let own = open(&to, small());
    assert!(matches!(back_up(&from, &to), Err(Error::Locked { .. })));
    drop(own);
    let none = SimDisk::new();
    assert!(matches!(back_up(&none, &SimDisk::new()), Err(Error::NotAStore { .. })));
}

#[test]
fn damaged_store_is_not_backed_up_and_earlier_backup_stays() {
    let (from, store) = source();
    let to = SimDisk::new();
    back_up(&from, &to).unwrap();
    let before = held(&to);
    go_on(&store);
    store.close().unwrap();
    let new = segments(&from).into_iter().find(|name| !segments(&to).contains(name)).unwrap();
    let file = from.open(new, simkeep::disk::Access::Write).unwrap();
    let middle = file.size().unwrap() / 2;
    let mut byte = [0];
    file.read_at(middle, &mut byte).unwrap();
    file.write_at(middle, &[!byte[0]]).unwrap();
    let names = |disk: &SimDisk| -> Vec<FileName> {
        disk.contents().into_iter().map(|(name, _)| name).collect()
    };
    let files = names(&to);
    for (to, left) in [(&to, files), (&SimDisk::new(), Vec::new())] {
        let error = back_up(&from, to).unwrap_err();
        assert!(matches!(error, Error::Corrupt(_)), "{error}");
        let place = format!("memory/{new}");
        assert!(error.to_string().contains(&place), "{error}");
        assert_eq!(names(to), left);
    }
    assert_eq!(held(&to), before);
    // A file of the earlier backup with a damaged end is replaced.
    let old = segments(&to)[0];
    let file = to.open(old, simkeep::disk::Access::Write).unwrap();
    let end = file.size().unwrap() - 1;
    file.write_at(end, &[0x55]).unwrap();
    file.write_at(middle, &[0x55]).unwrap();
    let sound = SimDisk::of(from.contents());
    let file = sound.open(new, simkeep::disk::Access::Write).unwrap();
    file.write_at(middle, &byte).unwrap();
    back_up(&sound, &to).unwrap();
    assert_eq!(held(&to), held(&sound));
    check_files(&to);
}

/// Files damaged since are replaced from the sound store, wherever the damage is.
#[test]
fn damaged_file_of_an_earlier_backup_is_replaced() {
    let (from, store) = source();
    store.close().unwrap();
    let to = SimDisk::new();
    back_up(&from, &to).unwrap();
    let (before, name) = (to.contents(), segments(&to)[0]);
    let file = to.open(name, simkeep::disk::Access::Write).unwrap();
    // A byte of its first section, which neither head nor trailer covers.
    let mut byte = [0];
    file.read_at(70, &mut byte).unwrap();
    file.write_at(70, &[!byte[0]]).unwrap();
    let done = back_up(&from, &to).unwrap();
    assert_eq!((done.linked.files + done.copied.files, done.removed), (1, 0));
    assert!(to.contents() == before);
    check_files(&to);
}
