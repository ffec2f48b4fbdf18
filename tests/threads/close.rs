//! Closing while threads observe, read, seal and merge: the close waits for all writers.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};

use shuttle::rand::Rng;
use shuttle::thread;
use simkeep::disk::OpKind;
use simkeep::{Error, Progress, Store};

use super::{busy, explore_longer, observe, pause, some_durability, takes_time, visits};
use simkeep_testing::compare::dump;
use simkeep_testing::disks::HookDisk;
use simkeep_testing::{on, open, small};

/// When `close` returns, the store's lock is free and nothing of it writes any more, whatever was
/// running. All acknowledged operations are there.
#[test]
fn close_waits_for_writers_and_loses_nothing() {
    explore_longer(5, |disk| {
        let closed = Arc::new(AtomicBool::new(false));
        let slow = HookDisk::new(on(&disk), {
            let closed = Arc::clone(&closed);
            move |kind, name| {
                if takes_time(kind, name) {
                    pause();
                }
                // Files that a snapshot held are removed when it is dropped.
                let is_late = closed.load(SeqCst) && kind != OpKind::Remove;
                assert!(!is_late, "{kind:?} of {name:?} after the close");
            }
        });
        // With seals and merges; or with few operations, which have fewer interleavings.
        let is_busy = shuttle::rand::thread_rng().gen_range(0..2) == 0;
        let (observers, each, pauses) = if is_busy { (3, 6, 30) } else { (1, 2, 8) };
        let durability = some_durability();
        let options = busy().durability(durability).background(is_busy);
        let store = Store::open(Arc::new(slow), options).unwrap();
        let (done, found) = thread::scope(|scope| {
            let observers: Vec<_> = (0..observers)
                .map(|thread| {
                    let store = &store;
                    scope.spawn(move || {
                        let (done, why) = observe(store, thread, each, |_| {});
                        assert!(matches!(why, None | Some(Error::Closed)), "{why:?}");
                        done
                    })
                })
                .collect();
            is_busy.then(|| {
                scope.spawn(|| {
                    let snapshot = store.snapshot();
                    let dumped = dump(&snapshot).unwrap();
                    let sealed = store.seal().and_then(|()| store.merge(&Progress::default()));
                    assert!(matches!(sealed, Ok(_) | Err(Error::Closed)), "{sealed:?}");
                    assert!(dump(&snapshot).unwrap() == dumped);
                })
            });
            let found = scope.spawn(|| {
                for _ in 0..shuttle::rand::thread_rng().gen_range(0..pauses) {
                    pause();
                }
                store.clone().close().unwrap();
                closed.store(true, SeqCst);
                let again = open(&disk, small());
                let found: Vec<u64> =
                    (0..3).map(|thread| visits(&again.snapshot(), thread)).collect();
                found
            });
            let done: Vec<u64> = observers.into_iter().map(|o| o.join().unwrap()).collect();
            (done, found.join().unwrap())
        });
        for (done, found) in done.iter().zip(&found) {
            assert!((*done..=*done + 1).contains(found), "{found} of {done} acknowledged");
        }
        // Reading still works.
        for (thread, done) in (0..).zip(done) {
            assert!((done..=done + 1).contains(&visits(&store.snapshot(), thread)));
        }
    });
}
