//! Directories that `publish` refuses, and stores that it does not publish.

use simkeep::backup::{BackupOptions, backup};
use simkeep::repair::{RepairOptions, repair};
use simkeep::verify::{VerifyOptions, verify};
use simkeep_testing::open;

use super::damage::damage;
use super::*;
use simkeep_testing::ms;

fn why(made: Result<Publication>) -> String {
    match made.unwrap_err() {
        Error::NotAStore { why, .. } | Error::NotABackup { why, .. } => why,
        other => panic!("{other}"),
    }
}

#[test]
fn directory_of_another_store_or_a_store_is_refused() {
    let (from, store) = source();
    let to = SimDisk::new();
    store.publish(on(&to), options()).unwrap();
    let before = to.contents();
    let other = SimDisk::new();
    other.set_seed(7);
    let another = create(&other, small());
    another.observe(Observation::gone(URLS[0], ms(5))).unwrap();
    let refused = why(another.publish(on(&to), options()));
    assert!(refused.starts_with("it contains generations of the store "), "{refused}");
    assert!(to.contents() == before);
    let refused = why(publish(on(&from), on(&other), options()));
    assert_eq!(refused, "it is a store itself; name another directory");
    let none = SimDisk::new();
    assert!(why(publish(on(&none), on(&to), options())).contains("catalog.redb"));
    let nothing = Reader::published(on(&none), None).unwrap_err().to_string();
    assert!(nothing.contains("it contains no published generation"), "{nothing}");
}

#[test]
fn older_or_diverged_copy_of_the_store_is_refused() {
    let (from, store) = source();
    let to = SimDisk::new();
    store.publish(on(&to), options()).unwrap();
    store.close().unwrap();
    let copy = |seed| {
        let copy = from.crash_all_kept();
        copy.set_seed(seed);
        copy
    };
    let (older, other) = (copy(5), copy(6));
    let go_on = |disk: &SimDisk, url: &str, more: i64| {
        let store = open(disk, small());
        (0..more)
            .for_each(|n| store.observe(Observation::gone(url, ms(3_000 + n))).map(drop).unwrap());
        store.seal().unwrap();
        store.close().unwrap();
    };
    go_on(&from, URLS[0], 3);
    let newest = publish(on(&from), on(&to), options()).unwrap();
    let before = to.contents();
    let refused = |disk: &SimDisk, part: &str| {
        let error = publish(on(disk), on(&to), options()).unwrap_err();
        assert!(matches!(error, Error::NotABackup { .. }), "{error}");
        let message = error.to_string();
        let begin = format!("generation {} is not an earlier state: {part}", newest.generation);
        assert!(message.contains(&begin), "{message}");
        assert!(message.ends_with("name another directory"), "{message}");
        assert!(to.contents() == before);
        // A backup is refused with the same reason.
        let backed = SimDisk::new();
        backup(on(&from), on(&backed), BackupOptions::default()).unwrap();
        let error = backup(on(disk), on(&backed), BackupOptions::default()).unwrap_err();
        assert!(error.to_string().contains(part), "{error}");
    };
    refused(
        &older,
        &format!(
            "its last operation is {}, but the last operation of the store is",
            newest.sequence
        ),
    );
    go_on(&other, URLS[1], 3);
    refused(&other, "its segment ");
    // Also if it has more operations, with numbers that the other lacks.
    go_on(&other, URLS[2], 20);
    refused(&other, "its segment ");
    // The original store can continue.
    publish(on(&from), on(&to), options()).unwrap();
    go_on(&from, URLS[3], 2);
    assert!(publish(on(&from), on(&to), options()).unwrap().is_new);
}

/// Only `publish` writes to the directory, and everything that reads stores accepts it.
#[test]
fn published_directory_is_readable_but_not_writable() {
    let dir = tempfile::tempdir().unwrap();
    let (path, to) = (dir.path().join("a"), dir.path().join("b"));
    let store = Store::create(&path, small()).unwrap();
    store.observe(Observation::gone(URLS[0], ms(1))).unwrap();
    store.publish(&to, options()).unwrap();
    assert!(is_published(&to).unwrap() && !is_published(&path).unwrap());
    let mut reader = Reader::open(&to).unwrap();
    assert_eq!((reader.generation(), reader.incomplete()), (Some(1), None));
    store.observe(Observation::gone(URLS[0], ms(2))).unwrap();
    store.publish(&to, options()).unwrap();
    assert!(reader.refresh().unwrap());
    assert_eq!(reader.snapshot().history(URLS[0]).unwrap().len(), 2);
    verify(&to, VerifyOptions::default()).unwrap().sound().unwrap();

    let before = listed(&to);
    let new = dir.path().join("new");
    let refusals = [
        Store::open(&to, small()).map(drop),
        Store::create(&to, small()).map(drop),
        Store::open_or_create(&to, small()).map(drop),
        repair(&to, &new, RepairOptions::default()).map(drop),
        backup(&to, &new, BackupOptions::default()).map(drop),
        backup(&path, &to, BackupOptions::default()).map(drop),
        publish(&to, &new, options()).map(drop),
    ];
    for (nth, refused) in refusals.into_iter().enumerate() {
        let error = refused.unwrap_err().to_string();
        assert!(error.contains("it contains published generations"), "{nth}: {error}");
    }
    assert_eq!(listed(&to), before);
    // While it is copied, files first.
    std::fs::remove_dir_all(to.join("generations")).unwrap();
    assert!(is_published(&to).unwrap());
    let error = Reader::open(&to).unwrap_err().to_string();
    assert!(error.contains("it contains no published generation"), "{error}");
    std::fs::remove_dir_all(to.join("files")).unwrap();
    assert!(!is_published(&to).unwrap() && !is_published(&new).unwrap());
    // Other folders with these names.
    std::fs::create_dir_all(new.join("files")).unwrap();
    std::fs::create_dir_all(new.join("generations")).unwrap();
    std::fs::write(new.join("files/1.txt"), "mine").unwrap();
    assert!(!is_published(&new).unwrap());
}

/// All files under a directory.
fn listed(at: &std::path::Path) -> Vec<std::path::PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(at).unwrap() {
        let path = entry.unwrap().path();
        found.extend(if path.is_dir() { listed(&path) } else { vec![path] });
    }
    found.sort();
    found
}

#[test]
fn unsuitable_directories_are_refused() {
    let dir = tempfile::tempdir().unwrap();
    let (path, to) = (dir.path().join("a"), dir.path().join("b"));
    let store = Store::create(&path, small()).unwrap();
    for inside in [path.join("published"), path.join("segments/published"), path.clone()] {
        for made in [publish(&path, &inside, options()), store.publish(&inside, options())] {
            assert!(made.is_err());
        }
        assert!(!path.join("published").exists() && !path.join("generations").exists());
    }
    std::fs::create_dir(&to).unwrap();
    std::fs::write(to.join("notes"), "mine").unwrap();
    assert!(why(store.publish(&to, options())).contains("it contains other files, such as notes"));
    assert_eq!(std::fs::read_dir(&to).unwrap().count(), 1);
    std::fs::remove_file(to.join("notes")).unwrap();
    store.publish(&to, options()).unwrap();
    // Later files are not its concern.
    std::fs::write(to.join("notes"), "mine").unwrap();
    std::fs::write(to.join("files/notes"), "mine").unwrap();
    store.observe(Observation::gone(URLS[0], ms(1))).unwrap();
    store.publish(&to, strict(1)).unwrap();
    assert!(to.join("notes").exists() && to.join("files/notes").exists());
}

#[test]
fn concurrent_runs_and_keeping_none_are_refused() {
    let (from, store) = source();
    let to = SimDisk::new();
    let (other, there) = (from.clone(), to.clone());
    let disk = HookDisk::new(on(&to), move |kind, _| {
        if kind == OpKind::Link {
            let second = publish(on(&other), on(&there), options());
            assert!(matches!(second, Err(Error::Locked { .. })), "{second:?}");
        }
    });
    store.publish(Arc::new(disk) as Arc<dyn Disk>, options()).unwrap();
    let none = store.publish(on(&to), options().keep(0));
    assert!(matches!(none, Err(Error::InvalidOption { name: "keep", .. })), "{none:?}");
}

#[test]
fn generation_excludes_what_was_purged_before_its_read() {
    let (from, store) = source();
    let to = SimDisk::new();
    let store = Arc::new(store);
    let (purging, reads) = (Arc::clone(&store), from.clone());
    let page = Scope::Url(URLS[2]);
    store.observe(Observation::gone(URLS[2], ms(2_000))).unwrap();
    store.seal().unwrap();
    // The directory is locked; now a page is purged.
    let disk = HookDisk::new(on(&to), move |kind, _| {
        if matches!(kind, OpKind::Lock) {
            purging.purge(Scope::Url(URLS[2]), &Progress::default()).unwrap();
        }
    });
    publish(on(&reads), Arc::new(disk) as Arc<dyn Disk>, options()).unwrap();
    assert!(generations_with(on(&to), &page).unwrap().is_empty());
}

#[test]
fn damaged_generation_is_reported_with_advice() {
    let (_from, store) = source();
    let to = SimDisk::new();
    store.publish(on(&to), options()).unwrap();
    damage(&to, FileName::Generation(1));
    let error = store.publish(on(&to), strict(1)).unwrap_err().to_string();
    assert!(error.contains("generations/0000000001"), "{error}");
    assert!(error.contains("remove this file, and publish again"), "{error}");
    to.remove(FileName::Generation(1)).unwrap();
    store.publish(on(&to), strict(1)).unwrap();
    assert!(generation(&to, 1) == sealed(&store));
}

#[test]
fn clock_set_back_does_not_end_the_grace_period() {
    let (_from, store) = source();
    let to = SimDisk::new();
    let at = |time: i64| {
        to.set_clock(time);
        store.observe(Observation::gone(URLS[0], ms(time))).unwrap();
        let options = options().keep(1).grace(Duration::from_secs(60));
        store.publish(on(&to), options).unwrap()
    };
    let older = |ms| {
        let made = at(ms);
        (made.generation, made.removed, made.older)
    };
    assert_eq!(older(1_000_000), (1, vec![], vec![]));
    // As without a clock; then the clock is set.
    assert_eq!(older(0), (2, vec![], vec![1]));
    assert_eq!(older(1_030_000), (3, vec![], vec![1, 2]));
    assert_eq!(older(1_061_000), (4, vec![1], vec![2, 3]));
    assert_eq!(older(1_095_000), (5, vec![2], vec![3, 4]));
}

#[test]
fn failed_run_keeps_generations_and_the_next_completes() {
    let _again = simkeep_testing::rerun_hint();
    let (from, store) = source();
    let earlier = SimDisk::new();
    store.publish(on(&earlier), options()).unwrap();
    let before = generation(&earlier, 1);
    go_on(&store);
    let after = sealed(&store);
    for (strikes, kind) in
        [(FaultTarget::Space, ErrorKind::StorageFull), (FaultTarget::Any, ErrorKind::Other)]
    {
        let mut failed = 0;
        for nth in 1.. {
            let to = earlier.crash_all_kept();
            to.fail(DiskFault { target: strikes, nth, kind, lasting: false });
            let made = publish(on(&from), on(&to), strict(1).copy(nth % 2 == 0));
            to.heal();
            let what = format!("{strikes:?} {nth}: {made:?}");
            match &made {
                Err(_) => failed += 1,
                Ok(_) if failed > 4 => break,
                Ok(_) => {}
            }
            for number in numbers(&to) {
                let found = generation(&to, number);
                assert!(
                    found == if number == 1 { before.clone() } else { after.clone() },
                    "{what}"
                );
            }
            publish(on(&from), on(&to), strict(1)).unwrap_or_else(|e| panic!("{what}: {e}"));
            assert_eq!(numbers(&to), [2], "{what}");
            assert!(generation(&to, 2) == after, "{what}");
        }
        assert!(failed > 4, "{strikes:?}: {failed}");
    }
}
