//! Forks at random moments of a busy store.

use std::hash::{BuildHasher, RandomState};
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use simkeep::load::LoadOptions;
use simkeep::verify::VerifyOptions;
use simkeep::{Epoch, Error, Observation, Options, Progress, Reader, Result, Role, Scope, Store};
use simkeep_testing::{ms, sound};

use super::child::{ForkedChild, copy_of, fork, forks, open_files};

const WRITERS: usize = 3;

fn options() -> Options {
    Options::default().memtable_observations(300).merge_fanout(3)
}

fn url(writer: usize, n: u64) -> String {
    format!("https://h{}.example/{writer}/{n}", n % 37)
}

fn fingerprint(n: u64) -> u64 {
    n.wrapping_mul(0x9e37_79b9_7f4a_7c15)
}

fn forked<T: std::fmt::Debug>(done: Result<T>) {
    assert!(matches!(done, Err(Error::Forked)), "{done:?}");
}

/// Every call that writes, or that only the first process may make.
fn write(store: &Store) {
    let seen = || Observation::content("https://child.example/", ms(0), 7, Epoch::from_number(0));
    forked(store.observe(seen()));
    forked(store.observe_batch(&[seen(), seen()]));
    forked(store.load([Ok(seen())], LoadOptions::default()));
    forked(store.forget(Scope::Url("https://h1.example/0/1")));
    forked(store.purge(Scope::Url("https://h1.example/0/1"), &Progress::default()));
    forked(store.flush());
    forked(store.seal());
    forked(store.merge(&Progress::default()));
    forked(store.wait_idle());
    forked(store.register_epoch("child", Role::Both));
    forked(store.verify(VerifyOptions::default()));
    forked(store.stats());
}

/// Acknowledged operations are found, unless another thread was just writing.
fn search(store: &Store, acknowledged: &[AtomicU64]) {
    let known = |what: &str, asked: Result<bool>| match asked {
        Ok(known) => assert!(known, "{what}"),
        Err(e) => assert!(matches!(e, Error::Forked), "{what}: {e}"),
    };
    for (writer, count) in acknowledged.iter().enumerate() {
        let last = count.load(Ordering::Acquire);
        for n in [1, last / 2, last].into_iter().filter(|n| (1..=last).contains(n)) {
            known(
                &format!("history of {n} of {last}"),
                store.history(&url(writer, n)).map(|history| history.len() == 1),
            );
            known(
                &format!("near {n} of {last}"),
                store.snapshot().near(fingerprint(n), 0).map(|near| !near.near.is_empty()),
            );
        }
    }
    known(
        "scan",
        store.snapshot().scan(None).try_fold(0, |n, page| page.map(|_| n + 1)).map(|n| n > 0),
    );
}

/// Checks a reader that was opened before the fork, or is opened now.
fn read(reader: &Reader, path: &Path) {
    let pages = reader.snapshot().scan(None).try_fold(0, |n, page| page.map(|_| n + 1)).unwrap();
    assert!(pages >= 1 && !reader.snapshot().near(fingerprint(1), 0).unwrap().near.is_empty());
    assert!(Reader::open(path).unwrap().snapshot().sequence() >= reader.snapshot().sequence());
}

/// The actions of a child.
fn child(n: u64, store: &Store, reader: &Reader, path: &Path, acknowledged: &[AtomicU64]) {
    match n % 6 {
        0 => write(store),
        1 => search(store, acknowledged),
        2 => drop(copy_of(store)),
        3 => forked(copy_of(store).close()),
        4 => {
            write(store);
            search(store, acknowledged);
            drop(copy_of(store));
            drop(store.snapshot());
        }
        _ => {}
    }
    read(reader, path);
}

#[test]
fn forked_children_do_not_disturb_a_busy_store() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().canonicalize().unwrap().join("crawl.simkeep");
    let store = Store::create(&path, options()).unwrap();
    store
        .observe(Observation::content(&url(0, 1), ms(0), fingerprint(1), Epoch::from_number(0)))
        .unwrap();
    store.seal().unwrap();
    let reader = Reader::open(&path).unwrap();
    let acknowledged: Vec<AtomicU64> = (0..WRITERS).map(|_| AtomicU64::new(0)).collect();
    let stop = AtomicBool::new(false);
    let mut left: Vec<ForkedChild> = Vec::new();
    std::thread::scope(|scope| {
        for (writer, count) in acknowledged.iter().enumerate() {
            let (store, stop) = (&store, &stop);
            scope.spawn(move || {
                let mut n = 1;
                while !stop.load(Ordering::Relaxed) {
                    let url = url(writer, n);
                    let seen =
                        Observation::content(&url, ms(0), fingerprint(n), Epoch::from_number(0));
                    store.observe(seen).unwrap();
                    count.store(n, Ordering::Release);
                    n += 1;
                }
            });
        }
        scope.spawn(|| {
            while !stop.load(Ordering::Relaxed) {
                search(&store, &acknowledged);
                read(&reader, &path);
            }
        });
        // The threads end in any case.
        let forked = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            for n in 0..forks() {
                std::thread::sleep(Duration::from_micros(RandomState::new().hash_one(n) % 6000));
                let child = || child(n, &store, &reader, &path, &acknowledged);
                if n % 25 == 5 {
                    // The child stays alive with all its handles.
                    left.push(fork(|| {
                        child();
                        std::thread::sleep(Duration::from_secs(3600));
                    }));
                } else {
                    fork(child).end(&format!("child {n}"));
                }
            }
        }));
        stop.store(true, Ordering::Relaxed);
        forked.unwrap();
    });
    store.close().unwrap();
    assert!(!left.is_empty());
    // The store opens at once: no child has the lock.
    let since = std::time::Instant::now();
    let store = Store::open(&path, options()).unwrap();
    assert!(since.elapsed() < Duration::from_secs(4), "a child kept the lock");
    for (writer, count) in acknowledged.iter().enumerate() {
        for n in 1..=count.load(Ordering::Acquire) {
            assert_eq!(store.history(&url(writer, n)).unwrap().len(), 1, "{writer}/{n} is lost");
        }
    }
    assert!(store.history("https://child.example/").unwrap().is_empty());
    sound(&store).unwrap();
}

#[test]
fn child_that_drops_an_idle_store_closes_its_files() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().canonicalize().unwrap().join("crawl.simkeep");
    for background in [false, true] {
        let options = options().background(background);
        let store = Store::open_or_create(&path, options).unwrap();
        store.observe(Observation::gone("https://a.example/", ms(0))).unwrap();
        fork(|| {
            assert!(!open_files(&path).is_empty());
            drop(copy_of(&store));
            assert!(open_files(&path).is_empty(), "{:?}", open_files(&path));
        })
        .end("a child that drops");
        store.observe(Observation::gone("https://a.example/", ms(1))).unwrap();
        store.close().unwrap();
    }
}
