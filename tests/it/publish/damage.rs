//! Damaged and missing files: which calls report them, and how they are replaced.

use super::*;

/// Flips a bit in the middle of a file.
pub(super) fn damage(disk: &SimDisk, name: FileName) {
    let file = disk.open(name, Access::Write).unwrap();
    let middle = file.size().unwrap() / 2;
    let mut byte = [0];
    file.read_at(middle, &mut byte).unwrap();
    file.write_at(middle, &[byte[0] ^ 4]).unwrap();
}

#[test]
fn checks_and_readers_name_a_damaged_or_missing_file() {
    let (_from, store) = source();
    let to = SimDisk::new();
    store.publish(on(&to), options().copy(true)).unwrap();
    let named = |disk: &SimDisk, name: FileName| {
        let error = check(on(disk), 1, &Progress::default()).unwrap_err().to_string();
        assert!(error.contains(&name.to_string()), "{error}");
    };
    for name in names(&to, Dir::Files) {
        let gone = to.crash_all_kept();
        gone.remove(name).unwrap();
        named(&gone, name);
        let flipped = to.crash_all_kept();
        damage(&flipped, name);
        named(&flipped, name);
        // The next run repairs it, if it needs the file.
        if matches!(name, FileName::PublishedSegment(_)) {
            store.publish(on(&gone), options()).unwrap();
            check(on(&gone), 1, &Progress::default()).unwrap();
        }
    }
    let name = FileName::Generation(1);
    let torn = to.crash_all_kept();
    let file = torn.open(name, Access::Write).unwrap();
    file.set_len(file.size().unwrap() - 1).unwrap();
    named(&torn, name);
    for error in [
        Reader::published(on(&torn), None).unwrap_err(),
        store.publish(on(&torn), options()).unwrap_err(),
    ] {
        assert!(matches!(error, Error::Corrupt(_)), "{error}");
        assert!(error.to_string().contains("generations/0000000001"), "{error}");
    }
}

#[test]
fn damaged_segment_is_not_published_and_generations_stay() {
    let (from, store) = source();
    let to = SimDisk::new();
    store.publish(on(&to), options()).unwrap();
    let before = generation(&to, 1);
    let known = segments(&from);
    crawl(&store, 9, 60);
    store.seal().unwrap();
    store.close().unwrap();
    let new = segments(&from).into_iter().find(|name| !known.contains(name)).unwrap();
    damage(&from, new);
    for options in [options(), options().copy(true)] {
        let error = publish(on(&from), on(&to), options).unwrap_err();
        assert!(matches!(&error, Error::Corrupt(_)), "{error}");
    }
    assert_eq!(numbers(&to), [1]);
    assert!(generation(&to, 1) == before);
}

#[test]
fn leftovers_of_a_stopped_run_are_checked() {
    let (from, store) = source();
    store.close().unwrap();
    let first = segments(&from)[0];
    damage(&from, first);
    let to = SimDisk::new();
    // The run stops after all files are linked, and before any is checked.
    to.fail(DiskFault {
        target: FaultTarget::Only(OpKind::SyncDir(Dir::Files)),
        nth: 1,
        kind: ErrorKind::Other,
        lasting: false,
    });
    publish(on(&from), on(&to), options()).unwrap_err();
    assert!(names(&to, Dir::Files).len() > 2);
    let error = publish(on(&from), on(&to), options()).unwrap_err();
    assert!(matches!(&error, Error::Corrupt(flaw) if flaw.file == first.to_string()), "{error}");
    assert!(matches!(generations(on(&to)), Err(Error::NotAStore { .. })));
}

#[test]
fn damaged_file_of_older_generations_is_replaced_at_once() {
    let (_from, store) = source();
    let to = SimDisk::new();
    store.publish(on(&to), options().copy(true)).unwrap();
    let whole = generation(&to, 1);
    let segment = *names(&to, Dir::Files)
        .iter()
        .find(|n| matches!(n, FileName::PublishedSegment(_)))
        .unwrap();
    // The contents of its head are no longer valid.
    let file = to.open(segment, Access::Write).unwrap();
    file.write_at(9, &[0x55]).unwrap();
    to.record();
    let made = store.publish(on(&to), options()).unwrap();
    assert_eq!((made.copied.files, made.is_new), (1, false));
    let log = to.take_log();
    assert!(log.iter().all(|op| !(op.kind == OpKind::Remove && op.name == Some(segment))));
    assert!(generation(&to, 1) == whole);
    // A run that stops while it checks a replacement removes nothing.
    let file = to.open(segment, Access::Write).unwrap();
    file.write_at(9, &[0x55]).unwrap();
    let progress = Progress::default();
    let stop = progress.clone();
    let syncs = std::sync::atomic::AtomicU32::new(0);
    let disk = HookDisk::with_reads(on(&to), move |did, name| {
        if did == OpKind::SyncDir(Dir::Files) {
            syncs.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        }
        // The sync of the copy, and that of all names.
        let is_checked = syncs.load(std::sync::atomic::Ordering::Relaxed) == 2;
        if is_checked && did == OpKind::Read && name == Some(segment) {
            stop.cancel();
        }
    });
    let stopped = store.publish(Arc::new(disk) as Arc<dyn Disk>, options().progress(progress));
    assert!(matches!(stopped, Err(Error::Cancelled)), "{stopped:?}");
    assert!(names(&to, Dir::Files).contains(&segment) && generation(&to, 1) == whole);
    // A temporarily unreadable file is kept.
    let kept = to.contents();
    to.fail(DiskFault {
        target: FaultTarget::Any,
        nth: 12,
        kind: ErrorKind::TimedOut,
        lasting: true,
    });
    store.publish(on(&to), strict(1)).unwrap_err();
    to.heal();
    assert!(to.contents() == kept);
}

#[test]
fn one_file_is_checked_without_the_others() {
    let (_from, store) = source();
    let to = SimDisk::new();
    store.publish(on(&to), options().copy(true)).unwrap();
    let one = |disk: &SimDisk, name: &str| check_file(on(disk), 1, name, &Progress::default());
    for name in names(&to, Dir::Files) {
        let alone = to.crash_all_kept();
        for other in names(&to, Dir::Files).into_iter().filter(|other| *other != name) {
            alone.remove(other).unwrap();
        }
        one(&alone, &name.to_string()).unwrap();
        let flipped = alone.crash_all_kept();
        damage(&flipped, name);
        let error = one(&flipped, &name.to_string()).unwrap_err();
        assert!(matches!(&error, Error::Corrupt(flaw) if flaw.file == name.to_string()), "{error}");
        let file = alone.open(name, Access::Write).unwrap();
        file.set_len(file.size().unwrap() - 1).unwrap();
        let error = one(&alone, &name.to_string()).unwrap_err();
        assert!(matches!(&error, Error::Corrupt(flaw) if flaw.file == name.to_string()), "{error}");
        alone.remove(name).unwrap();
        let error = one(&alone, &name.to_string()).unwrap_err();
        let is_table = matches!(&error, Error::NoTable { .. });
        assert!(is_table || is_missing(&error, &name.to_string()), "{error}");
        assert!(error.to_string().contains(&name.to_string()), "{error}");
    }
    for name in ["LOCK", "files/../LOCK", "generations/0000000001", ""] {
        let error = one(&to, name).unwrap_err();
        assert!(matches!(error, Error::InvalidArgument(_)), "{error}");
    }
}
