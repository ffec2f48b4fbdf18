//! Epochs, purges and loads beside observers and readers: each is visible completely or not at all.

use std::collections::BTreeMap;

use shuttle::rand::Rng;
use shuttle::thread;
use simkeep::load::LoadOptions;
use simkeep::{Epoch, Error, Observation, Progress, Query, Result, Role, Scope, Snapshot};

use super::{busy, durable, explore, observe, pause, some_durability, start, url, visits};
use simkeep_testing::{ms, open, small};

#[test]
fn concurrent_threads_register_each_epoch_once() {
    explore(|disk| {
        let store = start(&disk, busy());
        let numbers = thread::scope(|scope| {
            let register = |own: &'static str, thread| {
                let store = &store;
                move || {
                    let mut numbers = BTreeMap::new();
                    for (time, name) in (0..).zip(["shared", own]) {
                        let epoch = store.register_epoch(name, Role::Both).unwrap();
                        assert!(store.change_epoch() >= epoch);
                        assert_eq!(store.snapshot().epochs()[epoch.count() as usize].name, name);
                        let page = url(thread);
                        store.observe(Observation::content(&page, ms(time), 1, epoch)).unwrap();
                        let query = Query::new(1, 0).epoch(epoch);
                        let near = store.snapshot().search(&query).unwrap().near;
                        assert!(near.iter().any(|near| near.url == page));
                        numbers.insert(name, epoch);
                    }
                    numbers
                }
            };
            let threads = [scope.spawn(register("own 0", 0)), scope.spawn(register("own 1", 1))];
            threads.map(|thread| thread.join().unwrap())
        });
        assert_eq!(numbers[0]["shared"], numbers[1]["shared"]);
        let epochs = store.snapshot().epochs().to_vec();
        assert_eq!(epochs.len(), 5);
        store.close().unwrap();
        assert_eq!(open(&disk, small()).snapshot().epochs(), epochs);
    });
}

/// After a purge no file has anything of the page, and what others observe meanwhile stays.
#[test]
fn purge_removes_exactly_its_target() {
    explore(|disk| {
        let store = start(&disk, busy());
        let secret = "https://secret.example/page";
        for page in [secret, "https://secret.example/other"] {
            store.observe(Observation::content(page, ms(0), 7, Epoch::from_number(0))).unwrap();
        }
        thread::scope(|scope| {
            for thread in 0..2 {
                let store = &store;
                scope.spawn(move || assert_eq!(observe(store, thread, 5, |_| {}).0, 5));
            }
            scope.spawn(|| {
                let purged = store.purge(Scope::Url(secret), &Progress::default()).unwrap();
                assert_eq!((purged.pages, purged.visits), (1, 1));
            });
            scope.spawn(|| {
                for _ in 0..4 {
                    let there = store.history(secret).unwrap().len();
                    let query = Query::new(7, 0).epoch(Epoch::from_number(0));
                    let near = store.snapshot().search(&query).unwrap().near;
                    let found = near.iter().filter(|near| near.url == secret).count();
                    assert!(found <= there && near.iter().any(|near| near.url.ends_with("other")));
                }
            });
        });
        let stats = store.stats().unwrap();
        assert_eq!((stats.pages, stats.visits), (3, 11));
        store.close().unwrap();
        // No reader has the old files open any more, so they are removed.
        for (name, content) in disk.contents() {
            let at = content.windows(11).position(|w| w == b"example/pag");
            assert_eq!(at, None, "in {name}");
        }
        let store = open(&disk, small());
        assert_eq!([0, 1].map(|thread| visits(&store.snapshot(), thread)), [5, 5]);
        assert!(store.history(secret).unwrap().is_empty());
    });
}

/// A load is visible completely or not at all, to readers and after a crash. Observers wait for it, and
/// then know its visits. A concurrent close ends it.
#[test]
fn concurrent_load_is_atomic_for_readers_and_crashes() {
    explore(|disk| {
        const LOADED: u64 = 5;
        let is_closed = shuttle::rand::thread_rng().gen_range(0..2) == 0;
        let store = start(&disk, busy().durability(some_durability()));
        let whole = |snapshot: &Snapshot| {
            let query = Query::new(99, 0).epoch(Epoch::from_number(0));
            let near = snapshot.search(&query).unwrap().near.len() as u64;
            let history = snapshot.history(&url(0)).unwrap();
            let of_page = history.iter().filter(|e| e.entry().time() >= ms(100)).count() as u64;
            assert!([0, LOADED].contains(&near) && of_page == near, "{near} and {of_page}");
            near == LOADED
        };
        let (done, loaded) = thread::scope(|scope| {
            let observers: Vec<_> = (0..2)
                .map(|thread| {
                    let store = &store;
                    scope.spawn(move || {
                        let (done, why) = observe(store, thread, 4, |_| {});
                        assert!(matches!(why, None | Some(Error::Closed)), "{why:?}");
                        done
                    })
                })
                .collect();
            scope.spawn(|| {
                let mut before = false;
                for _ in 0..4 {
                    let now = whole(&store.snapshot());
                    assert!(now >= before);
                    before = now;
                    pause();
                }
            });
            let load = scope.spawn(|| -> Result<()> {
                // Visits of a page that is observed too, and pages of its own.
                let visit = |n| (url(0), n, 0);
                let page = |n| (url(100 + n), 0, 99);
                let all = (100..100 + LOADED).map(visit).chain((0..LOADED).map(page));
                let all: Vec<_> = all.collect();
                let all = all.iter().map(|(url, time, print)| {
                    Ok(Observation::content(
                        url,
                        ms(time.cast_signed()),
                        *print,
                        Epoch::from_number(0),
                    ))
                });
                store.load(all, LoadOptions::default().memory_bytes(64 << 10))?;
                assert!(whole(&store.snapshot()) && whole(&durable(&disk)));
                Ok(())
            });
            scope.spawn(|| {
                for _ in 0..shuttle::rand::thread_rng().gen_range(0..60) {
                    pause();
                }
                assert!(!is_closed || store.clone().close().is_ok());
            });
            let done: Vec<u64> = observers.into_iter().map(|o| o.join().unwrap()).collect();
            (done, load.join().unwrap())
        });
        assert!(is_closed || (loaded.is_ok() && done == [4, 4]), "{loaded:?}, {done:?}");
        assert!(matches!(loaded, Ok(()) | Err(Error::Closed)), "{loaded:?}");
        store.close().unwrap();
        let store = open(&disk, small());
        assert_eq!(whole(&store.snapshot()), loaded.is_ok());
        for (thread, done) in (0..).zip(done) {
            let history = store.history(&url(thread)).unwrap();
            let own = history.iter().filter(|e| e.entry().time() < ms(100)).count() as u64;
            assert!((done..=done + 1).contains(&own), "{own} of {done} acknowledged");
        }
    });
}
