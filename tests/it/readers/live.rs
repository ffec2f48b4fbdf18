//! Readers of a catalog that is being written.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use simkeep::disk::{Access, Dir, Disk, DiskFile, FileName, Meter, OpKind, SimDisk};
use simkeep::{Error, Progress, Reader, Scope, Store};

use super::{check_beginning, crawl, numbered, page};
use simkeep_testing::compare::dump;
use simkeep_testing::disks::HookDisk;
use simkeep_testing::pages::{PREFIXES, URLS};
use simkeep_testing::{EPOCHS, choice, create, on, request, small};

/// A disk with an action before the `every`-th read or open of the catalog, and before every `every`-th
/// one after it, `times` times.
fn busy(
    disk: &SimDisk,
    every: u64,
    times: u64,
    work: impl Fn(u64) + Send + Sync + 'static,
) -> HookDisk {
    let (reads, done) = (AtomicU64::new(0), AtomicU64::new(0));
    HookDisk::with_reads(on(disk), move |kind, name| {
        let is_read = matches!(kind, OpKind::Open(Access::Read) | OpKind::Read);
        if !is_read || name != Some(FileName::Catalog) {
            return;
        }
        let read = reads.fetch_add(1, Ordering::Relaxed) + 1;
        if read.is_multiple_of(every) && done.load(Ordering::Relaxed) < times {
            work(done.fetch_add(1, Ordering::Relaxed));
        }
    })
}

/// Continues a crawl, with one commit per operation.
fn go_on(store: &Store, operations: u64) {
    let next = store.snapshot().sequence() + 1;
    crawl(store, next, next + operations);
}

#[test]
fn reader_sees_acknowledged_operations_despite_concurrent_writes() {
    let (mut settled, mut fell_back) = (0, 0);
    for every in 1..24 {
        for commits in 1..5 {
            let disk = SimDisk::new();
            // Many frames: some are sealed, and others wait for their seal.
            let store = create(&disk, small().memtable_observations(150));
            crawl(&store, 1, 400);
            let writer = store.clone();
            let busy = busy(&disk, every, 300, move |_| go_on(&writer, commits));
            let reader = Reader::open(Arc::new(busy)).unwrap();
            check_beginning(&reader);
            if reader.fell_back() {
                assert!(reader.snapshot().sequence() >= 300);
                fell_back += 1;
            } else {
                assert!(reader.snapshot().sequence() >= 399, "{every}, {commits}");
                settled += 1;
            }
            // A time without commits is not enough.
            assert!(every < 12 || !reader.fell_back(), "{every}, {commits}");
        }
    }
    assert!(settled > 40, "{settled}, {fell_back}");
}

#[test]
fn reader_during_endless_commits_falls_back_to_sealed_data() {
    let disk = SimDisk::new();
    let store = create(&disk, small().memtable_observations(1 << 20));
    crawl(&store, 1, 31);
    store.seal().unwrap();
    crawl(&store, 31, 60);
    let since = Instant::now();
    let writer = store.clone();
    let restless = busy(&disk, 1, u64::MAX, move |_| go_on(&writer, 3));
    let mut reader = Reader::open(Arc::new(restless.clone())).unwrap();
    assert!(since.elapsed() < Duration::from_secs(30), "{:?}", since.elapsed());
    assert_eq!((reader.snapshot().sequence(), reader.fell_back()), (30, true));
    assert!(reader.written().unwrap() < std::time::SystemTime::now());
    assert!(reader.behind() > 29);
    check_beginning(&reader);
    // A later state is not replaced by an older one.
    let quiet = Arc::new(AtomicBool::new(true));
    let (writer, is_quiet) = (store.clone(), Arc::clone(&quiet));
    let disk = busy(&disk, 1, u64::MAX, move |_| {
        if !is_quiet.load(Ordering::Relaxed) {
            go_on(&writer, 3);
        }
    });
    reader = Reader::open(Arc::new(disk)).unwrap();
    let seen = reader.snapshot().sequence();
    assert!(seen > 59 && !reader.fell_back());
    quiet.store(false, Ordering::Relaxed);
    assert!(!reader.refresh().unwrap());
    assert_eq!((reader.snapshot().sequence(), reader.fell_back()), (seen, false));
    quiet.store(true, Ordering::Relaxed);
    assert!(reader.refresh().unwrap());
    assert_eq!(reader.behind(), 0);
    check_beginning(&reader);
}

#[test]
fn reader_survives_any_writer_action_at_any_read() {
    for what in 0..5 {
        let mut at = 1;
        loop {
            let disk = SimDisk::new();
            let store = create(&disk, small().memtable_observations(30));
            crawl(&store, 1, 70);
            let (writer, done) = (store.clone(), Arc::new(AtomicBool::new(false)));
            let counter = Arc::clone(&done);
            let work = move |_| {
                let progress = Progress::default();
                go_on(&writer, 1);
                match what {
                    0 => go_on(&writer, 40),
                    1 => writer.seal().unwrap(),
                    2 => drop(writer.merge(&progress).unwrap()),
                    3 => {
                        writer.merge(&progress).unwrap();
                        // A purge of nothing writes a new catalog.
                        writer.purge(Scope::Url("https://example.net/"), &progress).unwrap();
                    }
                    _ => {
                        writer.merge(&progress).unwrap();
                        go_on(&writer, 40);
                        writer.merge(&progress).unwrap();
                    }
                }
                counter.store(true, Ordering::Relaxed);
            };
            let reader = Reader::open(Arc::new(busy(&disk, at, 1, work))).unwrap();
            assert!(reader.snapshot().sequence() >= 69 && !reader.fell_back());
            check_beginning(&reader);
            if !done.load(Ordering::Relaxed) {
                break;
            }
            at += 1;
        }
        assert!(at > 8, "{at}");
    }
}

#[test]
fn refresh_reads_new_operations_and_changes_no_snapshot() {
    let disk = SimDisk::new();
    let store = create(&disk, small().memtable_observations(40));
    let mut reader = Reader::open(on(&disk)).unwrap();
    let (mut random, mut kept) = (choice(7), Vec::new());
    for time in 0..300 {
        store.write_batch(&[request(&mut random, 12, time)]).unwrap();
        match random(16) {
            0 => drop(store.forget(Scope::Url(URLS[usize::try_from(time).unwrap() % 7])).unwrap()),
            1 => drop(store.forget(Scope::Prefix(PREFIXES[1].prefix())).unwrap()),
            2 => store.seal().unwrap(),
            3 => drop(store.merge(&Progress::default()).unwrap()),
            4 => drop(store.purge(Scope::Url(URLS[0]), &Progress::default()).unwrap()),
            5..9 => {
                reader.refresh().unwrap();
                let now = dump(&reader.snapshot()).unwrap();
                assert_eq!(now, dump(&store.snapshot()).unwrap());
                kept.push((reader.snapshot(), now));
            }
            _ => {}
        }
    }
    assert!(kept.len() > 40);
    // Earlier snapshots answer as before, also after a purge.
    for (snapshot, then) in kept {
        assert!(dump(&snapshot).unwrap() == then);
    }
}

#[test]
fn refresh_costs_only_the_new_operations() {
    let disk = SimDisk::new();
    let store = create(&disk, small().memtable_observations(1 << 20));
    let mut urls = Vec::new();
    for batch in 0..40 {
        urls = (0..1000).map(|n| format!("https://example.com/{batch}/{n}")).collect();
        let observations: Vec<_> = urls.iter().zip(1..).map(|(url, n)| numbered(url, n)).collect();
        store.observe_batch(&observations).unwrap();
    }
    let meter = Meter::counting(on(&disk));
    let mut reader = Reader::open(Arc::new(meter.clone())).unwrap();
    let opened = meter.counts().bytes_read;
    assert!(opened > 1 << 20, "{opened}");
    store.observe(numbered("https://example.net/", 50_000)).unwrap();
    assert!(reader.refresh().unwrap());
    let refreshed = meter.counts().bytes_read - opened;
    assert!(refreshed < opened / 8, "{refreshed} of {opened}");
    assert_eq!(reader.snapshot().sequence(), 40_001);
    assert_eq!(reader.snapshot().history("https://example.net/").unwrap().len(), 1);
    assert_eq!(reader.snapshot().history(&urls[999]).unwrap().len(), 1);
}

/// A disk that another one may replace, as after a power failure.
#[derive(Clone, Debug)]
struct RebootedDisk(Arc<Mutex<SimDisk>>);

macro_rules! passed_on {
    ($($name:ident($($arg:ident: $kind:ty),*) -> $out:ty;)*) => {
        impl Disk for RebootedDisk {
            fn location(&self) -> String {
                "rebooted".to_owned()
            }
            fn clock(&self) -> i64 {
                self.0.lock().unwrap().clock()
            }
            fn random(&self) -> u64 {
                self.0.lock().unwrap().random()
            }
            $(fn $name(&self, $($arg: $kind),*) -> std::io::Result<$out> {
                self.0.lock().unwrap().$name($($arg),*)
            })*
        }
    };
}

passed_on! {
    create_dirs(dirs: &[Dir]) -> ();
    list(dir: Dir) -> Vec<std::ffi::OsString>;
    open(name: FileName, access: Access) -> Box<dyn DiskFile>;
    map(name: FileName) -> simkeep::disk::FileMap;
    rename(from: FileName, to: FileName) -> ();
    remove(name: FileName) -> ();
    sync_dir(dir: Dir) -> ();
    lock(name: FileName, kind: simkeep::disk::LockMode) -> simkeep::disk::LockOutcome;
    free_bytes() -> Option<u64>;
}

#[test]
fn refresh_does_not_continue_from_operations_lost_in_a_crash() {
    for before in 1..6 {
        for lost in 1..4 {
            let disk = SimDisk::new();
            let store = create(&disk, small().memtable_observations(100));
            crawl(&store, 1, before + 1);
            let crashed = disk.crash_synced_only();
            let place = RebootedDisk(Arc::new(Mutex::new(disk)));
            go_on(&store, lost);
            let mut reader = Reader::open(Arc::new(place.clone()) as Arc<dyn Disk>).unwrap();
            assert_eq!(reader.snapshot().sequence(), before + lost);
            // Other operations are stored with the same numbers, in other commits.
            let store = Store::open(on(&crashed), small().memtable_observations(100)).unwrap();
            *place.0.lock().unwrap() = crashed;
            let urls: Vec<String> =
                (0..lost + 1).map(|n| format!("https://example.net/{n}")).collect();
            let batch: Vec<_> = urls.iter().zip(1000..).map(|(url, n)| numbered(url, n)).collect();
            store.observe_batch(&batch).unwrap();
            reader.refresh().unwrap();
            assert_eq!(dump(&reader.snapshot()).unwrap(), dump(&store.snapshot()).unwrap());
        }
    }
}

/// Changes a byte of the catalog, and returns its old value.
fn set(disk: &SimDisk, at: u64, to: impl Fn(u8) -> u8) -> u8 {
    let file = disk.open(FileName::Catalog, Access::Write).unwrap();
    let mut byte = [0];
    file.read_at(at, &mut byte).unwrap();
    file.write_at(at, &[to(byte[0])]).unwrap();
    byte[0]
}

#[test]
fn catalog_damage_during_writing_is_named_or_harmless() {
    let disk = SimDisk::new();
    let store = create(&disk, small().memtable_observations(1 << 20));
    crawl(&store, 1, 600);
    let expected = dump(&store.snapshot()).unwrap();
    let len = disk.open(FileName::Catalog, Access::Read).unwrap().size().unwrap();
    let mut damaged = Vec::new();
    for at in (0..320).chain((320..len).step_by(97)) {
        let byte = set(&disk, at, |byte| byte ^ 1);
        match Reader::open(on(&disk)) {
            Ok(reader) => {
                assert!(!reader.fell_back(), "byte {at}");
                assert!(dump(&reader.snapshot()).unwrap() == expected, "byte {at}");
            }
            Err(Error::Corrupt(flaw)) => {
                assert_eq!(flaw.file, "catalog.redb", "byte {at}");
                damaged.push(at);
            }
            Err(Error::Version { .. }) => {}
            Err(e) => panic!("byte {at}: {e}"),
        }
        set(&disk, at, |_| byte);
    }
    let pages: Vec<u64> = damaged.into_iter().filter(|at| *at >= 4096).collect();
    assert!(pages.len() > 100, "{}", pages.len());
    // While a writer works, a page may be rewritten; damage that stays is named soon nevertheless.
    let mut named = 0;
    for (at, every) in pages.into_iter().step_by(9).zip((6..10).cycle()) {
        set(&disk, at, |byte| byte ^ 1);
        let (since, writer) = (Instant::now(), store.clone());
        let busy = busy(&disk, every, u64::MAX, move |_| go_on(&writer, 1));
        match Reader::open(Arc::new(busy)) {
            Ok(reader) => {
                assert!(!reader.fell_back());
                check_beginning(&reader);
            }
            Err(Error::Corrupt(flaw)) => {
                assert_eq!(flaw.file, "catalog.redb");
                named += 1;
                set(&disk, at, |byte| byte ^ 1);
            }
            Err(e) => panic!("byte {at}: {e}"),
        }
        assert!(since.elapsed() < Duration::from_secs(1));
    }
    assert!(named > 5, "{named}");
}

#[test]
fn files_vanishing_during_a_read_are_a_prompt_error() {
    let (mut at, mut failed) = (1, 0);
    loop {
        let disk = SimDisk::new();
        let store = create(&disk, small());
        crawl(&store, 1, 40);
        store.seal().unwrap();
        crawl(&store, 40, 45);
        let (under_it, gone) = (disk.clone(), Arc::new(AtomicBool::new(false)));
        let counter = Arc::clone(&gone);
        let reads = AtomicU64::new(0);
        let vanishing = HookDisk::with_reads(on(&disk), move |_, _| {
            if reads.fetch_add(1, Ordering::Relaxed) + 1 == at {
                for (name, _) in under_it.contents() {
                    under_it.remove(name).unwrap();
                }
                counter.store(true, Ordering::Relaxed);
            }
        });
        let since = Instant::now();
        match Reader::open(Arc::new(vanishing)) {
            Ok(reader) => check_beginning_or_error(&reader),
            Err(Error::Io { source, .. }) => {
                assert_eq!(source.kind(), std::io::ErrorKind::NotFound);
                failed += 1;
            }
            Err(Error::NotAStore { .. } | Error::Corrupt(_)) => failed += 1,
            Err(e) => panic!("{e}"),
        }
        assert!(since.elapsed() < Duration::from_secs(1), "{:?} at {at}", since.elapsed());
        if !gone.load(Ordering::Relaxed) {
            break;
        }
        at += 1;
    }
    assert!(failed > 8, "{failed}");
}

/// Files that were opened in time are there; sizes may not be.
fn check_beginning_or_error(reader: &Reader) {
    assert_eq!(reader.snapshot().sequence(), 44);
    for n in 1..=40 {
        let visits = reader.snapshot().history(&page(n)).unwrap();
        assert!(!visits.is_empty());
    }
}

#[test]
fn new_epoch_is_visible_after_a_refresh() {
    let disk = SimDisk::new();
    let store = create(&disk, small());
    let mut reader = Reader::open(on(&disk)).unwrap();
    assert_eq!(reader.snapshot().epochs().len(), EPOCHS.len());
    store.register_epoch("three", simkeep::Role::Both).unwrap();
    assert!(reader.refresh().unwrap());
    assert_eq!(reader.snapshot().epochs(), store.snapshot().epochs());
}
