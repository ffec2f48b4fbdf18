//! Commits that threads share: durable once acknowledged, and failed for all who wait.

use std::io;

use shuttle::rand::Rng;
use shuttle::thread;
use simkeep::Error;
use simkeep::disk::{DiskFault, FaultTarget, OpKind};

use super::{busy, durable, explore, observe, pause, some_durability, start, visits};
use simkeep_testing::{open, small};

#[test]
fn acknowledged_and_visible_operations_are_durable() {
    explore(|disk| {
        let durability = some_durability();
        let store = start(&disk, busy().durability(durability).memtable_observations(100));
        thread::scope(|scope| {
            for thread in 0..3 {
                let (store, disk) = (&store, &disk);
                scope.spawn(move || {
                    let (done, why) = observe(store, thread, 3, |done| {
                        assert_eq!(visits(&store.snapshot(), thread), done);
                        assert_eq!(visits(&durable(disk), thread), done);
                    });
                    assert!(done == 3, "{why:?}");
                });
            }
            scope.spawn(|| {
                for _ in 0..6 {
                    let seen = store.snapshot();
                    let kept = durable(&disk);
                    assert!(kept.sequence() >= seen.sequence());
                    pause();
                }
            });
        });
        assert_eq!(store.stats().unwrap().visits, 9);
        store.close().unwrap();
    });
}

/// All calls that wait for a failed commit return its error. Operations acknowledged before are durable,
/// and reads still work.
#[test]
fn failed_commit_fails_all_waiting_writers() {
    explore(|disk| {
        let store = start(&disk, busy().durability(some_durability()));
        let strikes = match shuttle::rand::thread_rng().gen_range(0..2) {
            0 => FaultTarget::Changes,
            _ => FaultTarget::Only(OpKind::Sync),
        };
        let nth = shuttle::rand::thread_rng().gen_range(1..30);
        disk.fail(DiskFault { target: strikes, nth, kind: io::ErrorKind::Other, lasting: false });
        let ends = thread::scope(|scope| {
            let observers: Vec<_> = (0..3)
                .map(|thread| {
                    let (store, disk) = (&store, &disk);
                    scope.spawn(move || {
                        observe(store, thread, 40, |done| {
                            if done % 8 == 0 {
                                assert!(visits(&durable(disk), thread) >= done);
                            }
                        })
                    })
                })
                .collect();
            observers.into_iter().map(|o| o.join().unwrap()).collect::<Vec<_>>()
        });
        for (_, why) in &ends {
            assert!(matches!(why, Some(Error::Io { .. } | Error::Poisoned(_))), "{why:?}");
        }
        // If a seal failed, all operations may be durable. Even then the store accepts nothing
        // more.
        assert!(matches!(store.flush(), Ok(()) | Err(Error::Poisoned(_))));
        let (_, why) = observe(&store, 9, 1, |_| {});
        assert!(matches!(why, Some(Error::Poisoned(_))), "{why:?}");
        assert!(matches!(store.seal(), Err(Error::Poisoned(_))));
        let there = durable(&disk);
        for (thread, (done, _)) in (0..).zip(&ends) {
            assert!((*done..=*done + 1).contains(&visits(&store.snapshot(), thread)));
            assert!((*done..=*done + 1).contains(&visits(&there, thread)));
        }
        let closed = store.close();
        assert!(matches!(closed, Ok(()) | Err(Error::Poisoned(_))), "{closed:?}");
        let store = open(&disk, small());
        for (thread, (done, _)) in (0..).zip(&ends) {
            assert!((*done..=*done + 1).contains(&visits(&store.snapshot(), thread)));
        }
    });
}
