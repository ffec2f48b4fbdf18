//! What is wrong is said clearly, before anything is done; what can still be read is read.

use std::ffi::OsString;
use std::fs;
use std::io::ErrorKind;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use simkeep::disk::{Name, SimDisk};
use simkeep::integrity::{VerifyOptions, verify};
use simkeep::limits::{TIME_MAX, TIME_MIN, URL_BYTES_MAX};
use simkeep::{Epoch, Error, Observation, Prefix, Progress, Query, Reader, Scope, Store, UrlError};

use simkeep_testing::compare::{check_reader, check_store, dump};
use simkeep_testing::model::Model;
use simkeep_testing::pages::URLS;
use simkeep_testing::sample::{closed_sample, file, fill, killed_sample, sample, segments, with};
use simkeep_testing::{EPOCHS, choice, create, names, on, open, request, small, sound};

// --- No store, or another's ---

fn expect_no_store(path: &Path, why: &str) {
    for opened in [Store::open(path, small()).map(drop), Reader::open(path).map(drop)] {
        match opened {
            Err(error @ Error::NotAStore { .. }) => {
                let text = error.to_string();
                assert!(text.contains(&path.display().to_string()), "{text}");
                assert!(text.contains(why), "{text}");
            }
            other => panic!("{}: {other:?}", path.display()),
        }
    }
}

fn listing(dir: &Path) -> Vec<(OsString, Vec<u8>)> {
    let mut files = Vec::new();
    for entry in fs::read_dir(dir).unwrap() {
        let entry = entry.unwrap();
        if entry.file_type().unwrap().is_dir() {
            files.extend(listing(&entry.path()));
            files.push((entry.file_name(), Vec::new()));
        } else {
            files.push((entry.path().into_os_string(), fs::read(entry.path()).unwrap()));
        }
    }
    files.sort();
    files
}

#[test]
fn a_place_without_a_store_is_named_and_left_as_it_is() {
    let dir = tempfile::tempdir().unwrap();
    expect_no_store(&dir.path().join("nothing"), "does not exist");
    assert_eq!(listing(dir.path()), []);
    let file = dir.path().join("file");
    fs::write(&file, "text").unwrap();
    expect_no_store(&file, "not a directory");
    let foreign = dir.path().join("foreign");
    fs::create_dir(&foreign).unwrap();
    expect_no_store(&foreign, "catalog.redb");
    fs::write(foreign.join("letter.txt"), "dear").unwrap();
    fs::create_dir(foreign.join("segments")).unwrap();
    fs::write(foreign.join("segments/0000000001.seg"), "mine").unwrap();
    let before = listing(dir.path());
    expect_no_store(&foreign, "catalog.redb");
    assert_eq!(listing(dir.path()), before);
}

#[test]
fn a_store_is_not_made_in_a_directory_that_holds_something_else() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("letter.txt"), "dear").unwrap();
    for made in [Store::create(dir.path(), small()), Store::open_or_create(dir.path(), small())] {
        let error = made.unwrap_err();
        assert!(matches!(error, Error::NotAStore { .. }), "{error}");
        assert!(error.to_string().contains("letter.txt"), "{error}");
    }
    assert_eq!(fs::read(dir.path().join("letter.txt")).unwrap(), b"dear");
    assert!(!dir.path().join("catalog.redb").exists());
}

#[test]
fn a_store_is_not_made_over_another() {
    let dir = tempfile::tempdir().unwrap();
    let store = Store::create(dir.path(), small()).unwrap();
    store.register_epoch(EPOCHS[1]).unwrap();
    let model = sample(&store);
    store.close().unwrap();
    assert!(matches!(Store::create(dir.path(), small()), Err(Error::Exists { .. })));
    check_store(&Store::open_or_create(dir.path(), small()).unwrap(), &model);
}

#[test]
fn files_that_are_not_ours_are_left_alone_and_our_own_leftovers_go() {
    let dir = tempfile::tempdir().unwrap();
    let store = Store::create(dir.path(), small()).unwrap();
    store.register_epoch(EPOCHS[1]).unwrap();
    let model = sample(&store);
    store.close().unwrap();
    let foreign = ["notes.txt", "segments/1.seg", "segments/0000000001.seg.bak", "segments/x.tmp"];
    let ours = [
        "catalog.redb.new",
        "segments/0000000099.seg",
        "segments/0000000098.seg.new",
        "segments/0000000097.03.tmp",
    ];
    for name in foreign.iter().chain(&ours) {
        fs::write(dir.path().join(name), "something").unwrap();
    }
    drop(Reader::open(dir.path()).unwrap());
    assert!(ours.iter().all(|name| dir.path().join(name).exists()), "a reader removed something");
    let store = Store::open(dir.path(), small()).unwrap();
    check_store(&store, &model);
    for name in foreign {
        assert_eq!(fs::read(dir.path().join(name)).unwrap(), b"something", "{name}");
    }
    for name in ours {
        assert!(!dir.path().join(name).exists(), "{name} is still there");
    }
}

#[test]
fn a_second_writer_is_refused_until_the_first_is_done() {
    let dir = tempfile::tempdir().unwrap();
    let first = Store::create(dir.path(), small()).unwrap();
    let refused = Store::open(dir.path(), small()).unwrap_err();
    assert!(matches!(refused, Error::Locked { .. }), "{refused}");
    assert!(refused.to_string().contains(&dir.path().display().to_string()), "{refused}");
    first.observe(Observation::gone(URLS[0], 0)).unwrap();
    let handle = first.clone();
    let snapshot = first.snapshot();
    first.close().unwrap();
    let second = Store::open(dir.path(), small()).unwrap();
    assert!(matches!(handle.observe(Observation::gone(URLS[0], 1)), Err(Error::Closed)));
    assert_eq!(handle.history(URLS[0]).unwrap(), snapshot.history(URLS[0]).unwrap());
    drop(second);
    drop(Store::open(dir.path(), small()).unwrap());
}

// --- Other versions ---

/// The files of a closed store with another version of one, whose checksum holds.
fn of_version(name: Name, version: u8) -> SimDisk {
    let (files, _) = closed_sample();
    let mut content = file(&files, name).to_vec();
    content[8] = version;
    let summed = if name == Name::Snapshot { content.len() - 4 } else { 60 };
    let sum = crc32fast::hash(&content[..summed]).to_le_bytes();
    content[summed..summed + 4].copy_from_slice(&sum);
    with(&files, name, content)
}

#[test]
fn a_file_of_another_version_is_not_called_damaged() {
    let (files, _) = closed_sample();
    for name in [segments(&files)[1], Name::Snapshot] {
        for (version, advice) in [(1, "the simkeep that made it"), (3, "use a newer simkeep")] {
            let disk = of_version(name, version);
            let writer = Store::open(on(&disk), small()).map(drop);
            let verified = verify(on(&disk), VerifyOptions::default()).map(drop);
            for opened in [writer, Reader::open(on(&disk)).map(drop), verified] {
                match opened {
                    Err(e @ Error::Version { reads: 2, .. }) => {
                        let said = e.to_string();
                        assert!(
                            said.contains(&name.to_string()) && said.contains(advice),
                            "{said}"
                        );
                    }
                    other => panic!("{other:?}"),
                }
            }
        }
    }
}

#[test]
fn a_catalog_of_another_version_is_not_called_damaged() {
    for version in [1, 99] {
        let dir = tempfile::tempdir().unwrap();
        Store::create(dir.path(), small()).unwrap().close().unwrap();
        let settings = redb::TableDefinition::<&str, u64>::new("settings");
        let database = redb::Database::open(dir.path().join("catalog.redb")).unwrap();
        let transaction = database.begin_write().unwrap();
        {
            let mut settings = transaction.open_table(settings).unwrap();
            settings.insert("format", version).unwrap();
            // The first version had none.
            settings.remove("store_id").unwrap();
        }
        transaction.commit().unwrap();
        drop(database);
        let writer = Store::open(dir.path(), small()).map(drop);
        for opened in [writer, Reader::open(dir.path()).map(drop)] {
            match opened {
                Err(Error::Version { file, found, reads: 2 }) => {
                    assert_eq!((file.as_str(), u64::from(found)), ("catalog.redb", version));
                }
                other => panic!("{other:?}"),
            }
        }
    }
}

// --- Damage ---

#[test]
fn a_damaged_or_missing_lock_file_is_no_obstacle() {
    let (files, model) = killed_sample();
    let lock = file(&files, Name::Lock).to_vec();
    for i in 0..lock.len() {
        let mut damaged = lock.clone();
        damaged[i] ^= 0x10;
        check_store(&open(&with(&files, Name::Lock, damaged), small()), &model);
    }
    check_store(&open(&with(&files, Name::Lock, Vec::new()), small()), &model);
    let without = SimDisk::of(files.into_iter().filter(|(name, _)| *name != Name::Lock));
    check_store(&open(&without, small()), &model);
}

/// The answer to an observation needs other pages. Where one of them cannot be read, it is not
/// stored, and neither is what comes after it in the batch.
#[test]
fn an_observation_whose_answer_needs_a_damaged_page_is_not_stored() {
    let disk = SimDisk::new();
    let store = create(&disk, small());
    for url in [URLS[0], URLS[1]] {
        store.observe(Observation::content(url, 0, 7, Epoch::from_number(0))).unwrap();
    }
    store.seal().unwrap();
    store.close().unwrap();
    let files = disk.contents();
    let name = Name::Segment(1);
    let content = file(&files, name);
    let mut failed = 0;
    for offset in 0..content.len() {
        let mut damaged = content.to_vec();
        damaged[offset] ^= 1;
        let disk = with(&files, name, damaged);
        let Ok(store) = Store::open(on(&disk), small()) else { continue };
        let batch = [
            Observation::content(URLS[13], 5, 7, Epoch::from_number(0)),
            Observation::content(URLS[12], 5, 0xffff_0000, Epoch::from_number(0)),
        ];
        if store.observe_batch(&batch).is_ok() {
            continue;
        }
        failed += 1;
        let stored = |store: &Store| {
            batch.iter().filter(|o| !store.history(o.url).unwrap_or_default().is_empty()).count()
        };
        assert_eq!(stored(&store), 0, "byte {offset}");
        // Nor does it come with what is observed next.
        let _ = store.observe(Observation::failed(URLS[14], 9));
        assert_eq!(stored(&store), 0, "byte {offset}, later");
    }
    assert!(failed > 0);
}

// --- A full disk ---

#[test]
fn on_a_full_disk_nothing_acknowledged_is_lost_and_reading_goes_on() {
    for room in [0, 1, 100, 600, 2_000, 5_000, 20_000, 60_000] {
        let disk = SimDisk::new();
        let store = create(&disk, small());
        let mut model = sample(&store);
        let used: usize = disk.contents().iter().map(|(_, content)| content.len()).sum();
        disk.set_capacity_bytes(Some((used + room) as u64));
        let mut choice = choice(room as u64);
        let mut failed = None;
        let mut maybe = model.clone();
        for time in 10_000..14_000 {
            let request = request(&mut choice, 16, time);
            maybe = model.clone();
            maybe.request(&request, 3);
            let done = store.request_batch(&[request]).map(drop).and_then(|()| match time % 50 {
                // A merge that does not fit is not begun, or leaves everything as it was.
                0 => store.merge(&Progress::default()).map(drop).or_else(|e| match e {
                    Error::Io { ref source, .. } if source.kind() == ErrorKind::StorageFull => {
                        Ok(())
                    }
                    e => Err(e),
                }),
                _ => Ok(()),
            });
            if let Err(error) = done {
                failed = Some(error);
                break;
            }
            model = maybe.clone();
        }
        let what = format!("{room} bytes of room");
        let error = failed.unwrap_or_else(|| panic!("{what}: the disk was never full"));
        assert!(error.to_string().contains("make room on the disk"), "{what}: {error}");
        assert!(
            matches!(&error, Error::Io { source, .. } if source.kind() == ErrorKind::StorageFull)
        );
        let states = [model, maybe];
        let found = dump(&store.snapshot()).unwrap();
        assert!(states.contains(&found), "{what}: reading on");
        // Refused, and said why, until there is room and the store is opened again.
        match store.observe(Observation::gone(URLS[0], 0)) {
            Err(Error::Poisoned(cause)) => assert!(matches!(*cause, Error::Io { .. }), "{what}"),
            other => panic!("{what}: {other:?}"),
        }
        drop(store.close());
        // Still full: opening, reading and closing take no room.
        for disk in [disk.clone(), disk.crash_synced_only()] {
            let reader = Reader::open(on(&disk)).unwrap();
            let found = dump(&reader.snapshot()).unwrap();
            assert!(states.contains(&found), "{what}: read only");
            let store = Store::open(on(&disk), small())
                .unwrap_or_else(|e| panic!("{what}: opening on the full disk: {e}"));
            check_store(&store, &found);
            sound(&store).unwrap();
            store.close().unwrap_or_else(|e| panic!("{what}: closing on the full disk: {e}"));
        }
        disk.set_capacity_bytes(None);
        let store = open(&disk, small());
        let mut model = dump(&store.snapshot()).unwrap();
        fill(&store, &mut model, 50, 40);
        store.merge(&Progress::default()).unwrap();
        check_store(&store, &model);
    }
}

#[test]
fn a_store_that_did_not_fit_is_made_once_there_is_room() {
    for room in [0, 1, 4_096, 100_000, 500_000] {
        let disk = SimDisk::new();
        disk.set_capacity_bytes(Some(room));
        let error = Store::create(on(&disk), small()).unwrap_err();
        assert!(error.to_string().contains("make room on the disk"), "{error}");
        assert!(matches!(Store::open(on(&disk), small()), Err(Error::NotAStore { .. })));
        disk.set_capacity_bytes(None);
        check_store(&Store::create(on(&disk), small()).unwrap(), &Model::default());
    }
}

// --- What cannot be observed ---

/// Refused alone and in the middle of a batch, of which nothing is stored then.
fn expect_refused(observation: Observation<'_>, is_expected: impl Fn(&Error) -> bool) {
    let disk = SimDisk::new();
    let store = create(&disk, small());
    let sound = Observation::content(URLS[0], 1, 1, Epoch::from_number(0));
    let batch = [sound, observation, Observation::of(URLS[1], sound.visit)];
    for refused in [store.observe(observation).map(drop), store.observe_batch(&batch).map(drop)] {
        match refused {
            Err(error) => assert!(is_expected(&error), "{error}"),
            Ok(()) => panic!("{observation:?} was accepted"),
        }
    }
    check_store(&store, &Model::default());
    // And it does no harm to what follows.
    store.observe(sound).unwrap();
    store.close().unwrap();
    let mut model = Model::default();
    model.observe(&sound, 3);
    check_store(&open(&disk, small()), &model);
}

#[test]
fn a_url_of_two_megabytes_is_refused() {
    let url = format!("https://example.com/{}", "x".repeat(2 << 20));
    expect_refused(
        Observation::gone(&url, 0),
        |e| matches!(e, Error::Url(UrlError::TooLong { bytes }) if *bytes == url.len()),
    );
    let disk = SimDisk::new();
    let store = create(&disk, small());
    assert!(matches!(store.history(&url), Err(Error::Url(UrlError::TooLong { .. }))));
    assert!(matches!(store.latest(&url), Err(Error::Url(UrlError::TooLong { .. }))));
    assert!(matches!(store.as_of(&url, 0), Err(Error::Url(UrlError::TooLong { .. }))));
    assert!(matches!(store.forget(Scope::Url(&url)), Err(Error::Url(UrlError::TooLong { .. }))));
    assert!(matches!(
        store.purge(Scope::Url(&url), &Progress::default()),
        Err(Error::Url(UrlError::TooLong { .. }))
    ));
    assert!(Prefix::parse(&url).is_err());
}

#[test]
fn the_longest_url_is_served_in_memory_and_in_a_segment() {
    let url = format!("https://example.com/{}", "x".repeat(URL_BYTES_MAX - 20));
    assert_eq!(url.len(), URL_BYTES_MAX);
    let disk = SimDisk::new();
    let store = create(&disk, small());
    for time in 0..3 {
        store.observe(Observation::content(&url, time, 1, Epoch::from_number(0))).unwrap();
        store.observe(Observation::content(URLS[0], time, 1, Epoch::from_number(0))).unwrap();
        assert_eq!(store.history(&url).unwrap().len(), usize::try_from(time).unwrap() + 1);
        store.seal().unwrap();
    }
    store.merge(&Progress::default()).unwrap();
    sound(&store).unwrap();
    assert_eq!(store.search(&Query::new(1, 0).epoch(Epoch::from_number(0))).unwrap().near.len(), 2);
    drop(store);
    assert_eq!(open(&disk, small()).history(&url).unwrap().len(), 3);
    let longer = format!("{url}x");
    expect_refused(Observation::gone(&longer, 0), |e| matches!(e, Error::Url(_)));
}

#[test]
fn an_empty_url_is_refused() {
    let is_expected = |e: &Error| matches!(e, Error::Url(UrlError::Empty));
    expect_refused(Observation::gone("", 0), is_expected);
    let store = create(&SimDisk::new(), small());
    assert!(is_expected(&store.history("").unwrap_err()));
    assert!(is_expected(&store.forget(Scope::Url("")).unwrap_err()));
}

#[test]
fn a_url_with_control_characters_is_refused() {
    for control in ["\0", "\n", "\r", "\t", "\u{1b}[31m", "\u{7f}", "\u{85}"] {
        let url = format!("https://example.com/{control}");
        expect_refused(Observation::gone(&url, 0), |e| {
            assert!(!e.to_string().contains(control), "the error repeats it");
            matches!(e, Error::Url(UrlError::Control { offset: 20 }))
        });
    }
}

#[test]
fn urls_that_are_none_of_the_web_are_pages_like_any() {
    let disk = SimDisk::new();
    let store = create(&disk, small());
    let odd =
        ["x", " ", "http://", "http:///x", "://", "é", "http://[::1]:80/", "a@b", "http://a..b/"];
    for (time, url) in (0..).zip(odd) {
        store.observe(Observation::content(url, time, 1, Epoch::from_number(0))).unwrap();
    }
    for merged in [false, true] {
        assert_eq!(store.stats().unwrap().pages, odd.len() as u64);
        for (time, url) in (0..).zip(odd) {
            assert_eq!(store.latest(url).unwrap().unwrap().first, time, "{url}, {merged}");
        }
        assert_eq!(store.snapshot().scan(None).count(), odd.len());
        store.seal().unwrap();
        sound(&store).unwrap();
    }
}

#[test]
fn times_before_1970_are_served() {
    let disk = SimDisk::new();
    let store = create(&disk, small());
    let times = [TIME_MIN, -1_000_000_000_000, -1, 0, TIME_MAX];
    for (fingerprint, time) in (0..).zip(times) {
        store
            .observe(Observation::content(URLS[0], time, fingerprint, Epoch::from_number(0)))
            .unwrap();
        store.seal().unwrap();
    }
    store.merge(&Progress::default()).unwrap();
    drop(store);
    let store = open(&disk, small());
    let history = store.history(URLS[0]).unwrap();
    assert!(history.iter().map(|e| e.entry().time()).eq(times));
    for (fingerprint, time) in (0..).zip(times) {
        let visit = store.as_of(URLS[0], time).unwrap().unwrap();
        assert_eq!(visit.seen.content().unwrap().fingerprint, Some(fingerprint));
    }
    assert_eq!(store.as_of(URLS[0], i64::MIN).unwrap(), None);
    assert_eq!(store.as_of(URLS[0], i64::MAX).unwrap().unwrap().time, TIME_MAX);
    assert_eq!(store.as_of(URLS[0], -2).unwrap().unwrap().time, -1_000_000_000_000);
}

#[test]
fn times_outside_the_years_1_to_9999_are_refused() {
    for time in [TIME_MIN - 1, TIME_MAX + 1, i64::MIN, i64::MAX] {
        expect_refused(
            Observation::gone(URLS[0], time),
            |e| matches!(e, Error::Time(t) if *t == time),
        );
    }
}

#[test]
fn an_epoch_that_is_not_registered_is_refused() {
    expect_refused(Observation::content(URLS[0], 0, 0, Epoch::from_number(2)), |e| {
        matches!(e, Error::UnknownEpoch(2))
    });
    expect_refused(Observation::content(URLS[0], 0, 0, Epoch::from_number(u32::MAX)), |e| {
        matches!(e, Error::UnknownEpoch(u32::MAX))
    });
}

#[test]
fn names_of_epochs_and_options_that_cannot_be_are_refused() {
    let disk = SimDisk::new();
    let store = create(&disk, small());
    for name in ["", "a\nb", &"x".repeat(10_000)] {
        assert!(matches!(store.register_epoch(name), Err(Error::Misuse(_))), "{name:?}");
    }
    assert_eq!(store.register_epoch(EPOCHS[0]).unwrap(), Epoch::from_number(0));
    assert_eq!(names(store.snapshot().epochs()), EPOCHS);
    for options in [
        small().merge_fanout(1),
        small().memtable_observations(0),
        small().near_distance(65),
        small().epoch(String::new()),
    ] {
        let made = Store::create(on(&SimDisk::new()), options.clone());
        assert!(matches!(made, Err(Error::Option { .. } | Error::Misuse(_))), "{options:?}");
    }
}

// --- A directory that may only be read ---

fn copy(from: &Path, to: &Path) {
    fs::create_dir(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let to = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy(&entry.path(), &to);
        } else {
            fs::copy(entry.path(), &to).unwrap();
        }
    }
}

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
fn a_read_only_copy_of_a_killed_store_is_read_and_not_touched() {
    let dir = tempfile::tempdir().unwrap();
    let original = dir.path().join("original");
    let store = Store::create(&original, small()).unwrap();
    store.register_epoch(EPOCHS[1]).unwrap();
    let model = sample(&store);
    // Copied under the feet of its writer, between two commits: as a kill leaves it.
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
        simkeep::integrity::verify(&path, VerifyOptions::default()).unwrap().sound().unwrap();
        assert_eq!(names(reader.snapshot().epochs()), EPOCHS);
        check_reader(&another, &model);
        assert!(listing(&path) == before, "{} changed", path.display());
        set_modes(&path, 0o755, 0o644);
        check_store(&Store::open(&path, small()).unwrap(), &model);
    }
}

#[test]
fn a_store_is_made_where_only_the_lock_of_another_is_left() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("store");
    let create = || {
        let store = Store::create(&path, small()).unwrap();
        store.register_epoch(EPOCHS[1]).unwrap();
        store
    };
    let store = create();
    sample(&store);
    store.close().unwrap();
    fs::remove_dir_all(path.join("segments")).unwrap();
    for name in ["catalog.redb", "SNAPSHOT"] {
        fs::remove_file(path.join(name)).unwrap();
    }
    let store = create();
    let model = sample(&store);
    store.close().unwrap();
    check_store(&Store::open(&path, small()).unwrap(), &model);
}
