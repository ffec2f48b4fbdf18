//! Backups: they equal the store; which directories they accept, and what they cost.

pub(crate) mod crash;
mod diverged;
mod refused;

use std::io::ErrorKind;
use std::sync::Arc;

use simkeep::backup::{BackedUp, BackupOptions, backup};
use simkeep::disk::{
    Dir, Disk, DiskFault, DiskTraffic, FaultTarget, FileName, Meter, OpKind, SimDisk,
};
use simkeep::fingerprint::Recipe;
use simkeep::verify::{VerifyOptions, verify};
use simkeep::{
    EpochInfo, Error, Location, Observation, Options, Origin, Progress, Reader, Result, Role,
    Scope, Store,
};
use simkeep_testing::compare::{check_counts, dump};
use simkeep_testing::disks::HookDisk;
use simkeep_testing::model::Model;
use simkeep_testing::pages::URLS;
use simkeep_testing::{choice, create, ms, on, open, request, small, sound};

fn options() -> BackupOptions {
    BackupOptions::default()
}

fn back_up(from: &SimDisk, to: &SimDisk) -> Result<BackedUp> {
    backup(on(from), on(to), options())
}

/// An origin with its own table.
pub(crate) fn with_weight() -> Origin {
    let recipe: Recipe = "words-idf".parse().unwrap();
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("words.df");
    let mut counter = simkeep::df::FrequencyCounter::new(&recipe, &path, 1 << 20).unwrap();
    ["the red house", "the blue car"].iter().for_each(|text| counter.add(text).unwrap());
    counter.freeze(1).unwrap();
    Origin::new(recipe).table(simkeep::df::FrequencyTable::open(&path).unwrap()).unwrap()
}

/// Observes visits into several segments and a journal.
pub(crate) fn crawl(store: &Store, seed: u64, count: i64) {
    let mut choice = choice(seed);
    let all: Vec<_> = (0..count).map(|time| request(&mut choice, 12, 100 + time)).collect();
    for some in all.chunks(7) {
        store.write_batch(some).unwrap();
    }
}

/// A store with segments, a journal, forgotten pages, an ended epoch, and an epoch with a table.
pub(crate) fn source() -> (SimDisk, Store) {
    let disk = SimDisk::new();
    let store = create(&disk, small().merge_fanout(4));
    crawl(&store, 1, 70);
    store.wait_idle().unwrap();
    crawl(&store, 4, 32);
    let ended = store.register_epoch("ended", Role::Both).unwrap();
    store.begin_epoch(&with_weight(), Role::Both).unwrap();
    store.observe(Observation::content(URLS[0], ms(900), 5, ended)).unwrap();
    store.end_epoch(ended, u64::MAX).unwrap();
    store.forget(Scope::Url(URLS[1])).unwrap();
    let stats = store.stats().unwrap();
    assert!(stats.unsealed_visits > 0 && segments(&disk).len() > 2, "{stats:?}");
    (disk, store)
}

/// Continues with the store: some segments stay, others are merged, and the table is removed.
pub(crate) fn go_on(store: &Store) {
    crawl(store, 2, 40);
    let weighed = store.snapshot().epochs()[3].epoch;
    store.register_epoch("last", Role::Both).unwrap();
    store.end_epoch(weighed, u64::MAX).unwrap();
    store.wait_idle().unwrap();
}

pub(crate) fn segments(disk: &SimDisk) -> Vec<FileName> {
    let names = disk.contents().into_iter().map(|(name, _)| name);
    names.filter(|name| matches!(name, FileName::Segment(_))).collect()
}

/// The contents of a store: its visits, its epochs, and its tables.
type BackupContents = (Model, Vec<EpochInfo>, u64, Vec<(FileName, Vec<u8>)>);

fn held(disk: &SimDisk) -> BackupContents {
    let snapshot = Reader::open(on(disk)).unwrap().snapshot();
    let mut tables = disk.contents();
    tables.retain(|(name, _)| matches!(name, FileName::Df(_)));
    let model = dump(&snapshot).unwrap();
    (model, snapshot.epochs().to_vec(), snapshot.sequence(), tables)
}

/// Asserts that the directory has exactly the files of a backup, and is sound.
fn check_files(disk: &SimDisk) {
    let mut names: Vec<FileName> = disk.contents().into_iter().map(|(name, _)| name).collect();
    names.retain(|name| !matches!(name, FileName::Segment(_) | FileName::Df(_)));
    assert_eq!(names, [FileName::Lock, FileName::Catalog]);
    verify(on(disk), VerifyOptions::default()).unwrap().sound().unwrap();
}

#[test]
fn backup_equals_the_store_and_opens_like_any_store() {
    let (from, store) = source();
    store.close().unwrap();
    let to = SimDisk::new();
    let done = back_up(&from, &to).unwrap();
    let here = held(&from);
    assert_eq!((held(&to), done.sequence), (here.clone(), here.2));
    check_files(&to);
    let files = segments(&from).len() as u64 + 1;
    assert_eq!((done.linked.files, done.copied.files, done.kept.files), (files, 0, 0));
    assert_eq!((done.earlier, done.removed, done.not_linked), (None, 0, None));
    assert_eq!((done.pages, done.visits), (here.0.page_count(), here.0.visit_count()));
    let store = open(&to, small());
    check_counts(&store, &here.0);
    crawl(&store, 3, 40);
    store.merge(&Progress::default()).unwrap();
    sound(&store).unwrap();
}

#[test]
fn backup_during_writing_has_all_acknowledged_observations() {
    let (from, store) = source();
    let whole = dump(&store.snapshot()).unwrap();
    for of_itself in [false, true] {
        let to = SimDisk::new();
        if of_itself {
            store.backup(on(&to), options()).unwrap();
        } else {
            back_up(&from, &to).unwrap();
        }
        assert_eq!(held(&to).0, whole);
        check_files(&to);
    }
    let flushed = SimDisk::new();
    let durability = simkeep::Durability::OnFlush;
    let store = create(&SimDisk::new(), small().durability(durability));
    crawl(&store, 1, 5);
    store.backup(on(&flushed), options()).unwrap();
    assert_eq!(held(&flushed).0, dump(&store.snapshot()).unwrap());
}

#[test]
fn later_run_adds_new_files_and_removes_old_ones() {
    let (from, store) = source();
    let to = SimDisk::new();
    let first = back_up(&from, &to).unwrap();
    let before = segments(&to);
    go_on(&store);
    let second = back_up(&from, &to).unwrap();
    assert_eq!(held(&to), held(&from));
    check_files(&to);
    let after = segments(&to);
    let kept = after.iter().filter(|name| before.contains(name)).count();
    assert!(kept > 0 && kept < after.len() && kept < before.len(), "{before:?} {after:?}");
    assert_eq!(second.kept.files, kept as u64);
    assert_eq!(second.linked.files, (after.len() - kept) as u64);
    // The table was removed as well.
    assert_eq!(second.removed, (before.len() - kept + 1) as u64);
    assert_eq!(second.earlier, Some(first.sequence));
    let third = back_up(&from, &to).unwrap();
    assert_eq!((third.kept.files, third.linked.files, third.removed), (after.len() as u64, 0, 0));
}

#[test]
fn files_that_cannot_be_linked_are_copied_with_the_reason() {
    let (from, _store) = source();
    let refusals = [
        ErrorKind::CrossesDevices,
        ErrorKind::PermissionDenied,
        ErrorKind::TooManyLinks,
        ErrorKind::Unsupported,
    ];
    for kind in refusals {
        let to = SimDisk::new();
        let strikes = FaultTarget::Only(OpKind::Link);
        to.fail(DiskFault { target: strikes, nth: 1, kind, lasting: true });
        let done = back_up(&from, &to).unwrap();
        assert_eq!(done.linked.files, 0);
        assert_eq!(done.copied.files, segments(&from).len() as u64 + 1);
        assert_eq!(done.not_linked, Some(std::io::Error::from(kind).to_string()));
        assert_eq!(held(&to), held(&from));
        check_files(&to);
    }
    let to = SimDisk::new();
    to.record();
    let done = backup(on(&from), on(&to), options().copy(true)).unwrap();
    assert!(to.take_log().iter().all(|op| op.kind != OpKind::Link));
    assert_eq!((done.linked.files, done.not_linked), (0, None));
    assert_eq!(held(&to), held(&from));
}

#[test]
fn linked_backup_writes_little_besides_the_catalog() {
    let from = SimDisk::new();
    let store = create(&from, small().memtable_observations(10_000));
    let urls: Vec<String> = (0..60_000).map(|n| format!("https://example.com/{n}")).collect();
    for (some, n) in urls.chunks(5_000).zip(0..) {
        let visit = |(url, bits): (&String, u64)| {
            let seen = bits.wrapping_mul(0x9e37_79b9_7f4a_7c15);
            (url.clone(), seen)
        };
        let seen: Vec<_> = some.iter().zip(n * 5_000..).map(visit).collect();
        let epoch = store.change_epoch();
        let all: Vec<_> =
            seen.iter().map(|(url, seen)| Observation::content(url, ms(5), *seen, epoch)).collect();
        store.observe_batch(&all).unwrap();
    }
    store.wait_idle().unwrap();
    let stats = store.stats().unwrap();
    assert!(stats.segment_bytes > 4 << 20 && stats.unsealed_visits > 0, "{stats:?}");
    let to = SimDisk::new();
    let meter = Meter::counting(on(&to));
    let written = |run: &dyn Fn()| {
        let before = meter.counts();
        run();
        let DiskTraffic { bytes_written, .. } = meter.counts().since(&before);
        bytes_written
    };
    let run = || {
        let done = backup(on(&from), Arc::new(meter.clone()) as Arc<dyn Disk>, options()).unwrap();
        let size = to.open(FileName::Catalog, simkeep::disk::Access::Read).unwrap().size().unwrap();
        assert_eq!((done.catalog_bytes, done.bytes_written()), (size, size));
    };
    for _ in 0..2 {
        let written = written(&run);
        println!("{written} bytes for a catalog of {}", stats.catalog_bytes);
        assert!(written < stats.catalog_bytes + (1 << 20), "{written} {stats:?}");
    }
}

#[test]
fn file_removed_during_the_backup_is_copied_while_open() {
    let (from, store) = source();
    let whole = held(&from);
    let (to, gone) = (SimDisk::new(), from.clone());
    let disk = HookDisk::new(on(&to), move |kind, _| {
        if kind == OpKind::Link {
            segments(&gone).into_iter().for_each(|name| gone.remove(name).unwrap());
        }
    });
    let done = store.backup(Arc::new(disk) as Arc<dyn Disk>, options()).unwrap();
    // The first file was about to be linked.
    assert_eq!(done.copied.files, segments(&to).len() as u64 - 1);
    assert_eq!(done.not_linked, None);
    assert_eq!(held(&to), whole);
}

#[test]
fn catalog_is_read_again_when_its_files_are_gone() {
    let (from, store) = source();
    let (to, looked) = (SimDisk::new(), std::sync::atomic::AtomicBool::new(false));
    // The segments are merged after the catalog is read and before the segments are read.
    let disk = HookDisk::with_reads(on(&from), move |kind, name| {
        let opens = kind == OpKind::Open(simkeep::disk::Access::Read);
        if opens
            && matches!(name, Some(FileName::Segment(_)))
            && !looked.swap(true, std::sync::atomic::Ordering::Relaxed)
        {
            store.merge(&Progress::default()).unwrap();
        }
    });
    let done = backup(Arc::new(disk) as Arc<dyn Disk>, on(&to), options()).unwrap();
    assert_eq!((done.linked.files, segments(&to).len()), (2, 1));
    assert_eq!(held(&to), held(&from));
}

#[test]
fn cancelled_backup_leaves_nothing() {
    let (from, _store) = source();
    let progress = Progress::default();
    progress.cancel();
    let stopped = |to: &SimDisk, progress| {
        let options = options().copy(true).progress(progress);
        assert!(matches!(backup(on(&from), on(to), options), Err(Error::Cancelled)));
    };
    let to = SimDisk::new();
    stopped(&to, progress);
    assert!(to.contents().is_empty());
    // Cancelled while it copies, and while it checks.
    for (kind, name) in [(OpKind::Write, None), (OpKind::SyncDir(Dir::Root), None)] {
        let (to, progress) = (SimDisk::new(), Progress::default());
        let (stop, seen) = (progress.clone(), std::sync::atomic::AtomicU32::new(0));
        let disk = HookDisk::new(on(&to), move |did, of: Option<FileName>| {
            let is_it = did == kind && (name.is_none() || of == name);
            // Not while the directory is being created.
            if is_it && seen.fetch_add(1, std::sync::atomic::Ordering::Relaxed) > 2 {
                stop.cancel();
            }
        });
        let options = options().copy(true).progress(progress);
        let done = backup(on(&from), Arc::new(disk) as Arc<dyn Disk>, options);
        assert!(matches!(done, Err(Error::Cancelled)), "{kind:?}: {done:?}");
        assert!(to.contents().is_empty(), "{kind:?}");
    }
}

#[test]
fn backup_on_disk_shares_files_and_keeps_permissions() {
    use std::os::unix::fs::{MetadataExt, PermissionsExt};
    let dir = tempfile::tempdir().unwrap();
    let (path, safe) = (dir.path().join("a"), dir.path().join("deep/er/b"));
    let store = Store::create(&path, Options::default().file_mode(0o640)).unwrap();
    store.observe(Observation::gone(URLS[0], ms(1))).unwrap();
    store.seal().unwrap();
    store.close().unwrap();
    let store = Store::open(&path, Options::default()).unwrap();
    let (linked, copied) = (safe.join("linked"), safe.join("copied"));
    store.backup(&linked, options()).unwrap();
    backup(&path, &copied, options().copy(true)).unwrap();
    let inode = |store: &std::path::Path| {
        let files = store.join("segments").read_dir().unwrap();
        let inodes: Vec<u64> = files.map(|file| file.unwrap().metadata().unwrap().ino()).collect();
        assert_eq!(inodes.len(), 1);
        inodes[0]
    };
    assert_eq!(inode(&path), inode(&linked));
    assert_ne!(inode(&path), inode(&copied));
    for (backup, dirs) in [(&linked, 0o750), (&copied, 0o750)] {
        let mode = |name: &str| backup.join(name).metadata().unwrap().permissions().mode() & 0o777;
        assert_eq!(["", "segments"].map(mode), [dirs; 2]);
        assert_eq!(["catalog.redb", "LOCK"].map(mode), [0o640; 2]);
        let at = Location::from(backup).plain_reads();
        assert_eq!(Reader::open(at).unwrap().stats().unwrap().pages, 1);
    }
}
