//! Calls of many threads: their results match some serial order, each is counted once, and none is lost.

use std::collections::{BTreeSet, HashSet};
use std::sync::Barrier;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

use simkeep::disk::SimDisk;
use simkeep::{
    Digest, Entry, Epoch, Error, Observation, Prefix, Progress, Query, Role, Scope, Verdict, Visit,
};
use simkeep_testing::compare::dump;
use simkeep_testing::depth::deep;
use simkeep_testing::fold::{history, verdict_of, with_verdicts};
use simkeep_testing::{choice, create, ms, observation, open, sound};

use super::{THREADS, busy, url};

/// The calls of one thread on one page with their verdicts, in order.
type ThreadCalls = Vec<(Visit, Verdict)>;

fn entries(visits: &[Visit]) -> Vec<Entry> {
    visits.iter().copied().map(Entry::Visit).collect()
}

/// Whether some order of all calls, which keeps the order of each thread, explains every verdict.
fn has_serial_order(threads: &[ThreadCalls]) -> bool {
    fn search(
        threads: &[ThreadCalls],
        at: &mut Vec<usize>,
        dead: &mut HashSet<Vec<usize>>,
    ) -> bool {
        if at.iter().zip(threads).all(|(at, calls)| *at == calls.len()) {
            return true;
        }
        if dead.contains(at) {
            return false;
        }
        let done: BTreeSet<Visit> =
            at.iter().zip(threads).flat_map(|(at, calls)| &calls[..*at]).map(|c| c.0).collect();
        let done: Vec<Visit> = done.into_iter().collect();
        for thread in 0..threads.len() {
            let Some((visit, verdict)) = threads[thread].get(at[thread]) else { continue };
            let expected = match done.last() {
                _ if done.contains(visit) => Verdict::Known,
                Some(last) if visit < last => Verdict::OutOfOrder,
                _ => verdict_of(&entries(&done), visit),
            };
            if expected == *verdict {
                at[thread] += 1;
                if search(threads, at, dead) {
                    return true;
                }
                at[thread] -= 1;
            }
        }
        dead.insert(at.clone());
        false
    }
    search(threads, &mut vec![0; threads.len()], &mut HashSet::new())
}

#[test]
fn concurrent_verdicts_match_some_serial_order() {
    const PAGES: u64 = 4;
    let store = create(&SimDisk::new(), busy());
    for round in 0..deep(150) {
        let start = Barrier::new(THREADS);
        let calls: Vec<Vec<(u64, Visit, Verdict)>> = thread::scope(|scope| {
            let run = |thread: u64| {
                let (store, start) = (&store, &start);
                move || {
                    let mut choice = choice(round * 1000 + thread);
                    start.wait();
                    let call = |_| {
                        let page = choice(PAGES);
                        // The verdict of a restatement depends on its visit, not on an order.
                        let visit = observation(&mut choice, 1, 10).visit;
                        let outcome = store.observe(Observation::of(&url(round, page), visit));
                        (page, visit, outcome.unwrap().verdict)
                    };
                    (0..2).map(call).collect()
                }
            };
            let threads: Vec<_> = (0..THREADS as u64).map(|t| scope.spawn(run(t))).collect();
            threads.into_iter().map(|t| t.join().unwrap()).collect()
        });
        for page in 0..PAGES {
            let of_page = |calls: &Vec<(u64, Visit, Verdict)>| -> ThreadCalls {
                calls.iter().filter(|c| c.0 == page).map(|c| (c.1, c.2)).collect()
            };
            let threads: Vec<ThreadCalls> = calls.iter().map(of_page).collect();
            assert!(has_serial_order(&threads), "round {round}: {threads:#?}");
            let set: BTreeSet<Entry> =
                threads.iter().flatten().map(|c| Entry::Visit(c.0)).collect();
            let entries: Vec<Entry> = set.into_iter().collect();
            assert_eq!(
                with_verdicts(&store.history(&url(round, page)).unwrap()),
                history(&entries)
            );
        }
    }
    store.wait_idle().unwrap();
    assert!(store.stats().unwrap().segments.len() < 10, "nothing was merged");
    sound(&store).unwrap();
}

#[test]
fn serial_order_check_rejects_impossible_orders() {
    let visit = |time| Observation::content("x", ms(time), 1, Epoch::from_number(0)).visit;
    let new = (visit(5), Verdict::New);
    assert!(has_serial_order(&[vec![new], vec![(visit(4), Verdict::OutOfOrder)]]));
    assert!(!has_serial_order(&[vec![new], vec![(visit(4), Verdict::New)]]));
    assert!(!has_serial_order(&[vec![new], vec![new]]));
    assert!(!has_serial_order(&[vec![(visit(5), Verdict::Known), new]]));
}

/// Every accepted visit is either present or was counted by the call that forgot it.
#[test]
fn concurrent_forgets_count_each_visit_once() {
    let disk = SimDisk::new();
    let store = create(&disk, busy());
    let (accepted, forgotten) = (AtomicU64::new(0), AtomicU64::new(0));
    thread::scope(|scope| {
        for thread in 0..THREADS as u64 {
            let (store, accepted, forgotten) = (&store, &accepted, &forgotten);
            scope.spawn(move || {
                let mut choice = choice(thread);
                for time in 0..120 {
                    let host = choice(3);
                    let url = url(host, choice(5));
                    let gone = match choice(25) {
                        0 => store.forget(Scope::Url(&url)).unwrap(),
                        1 => {
                            let prefix = Prefix::parse(&format!("host{host}.example")).unwrap();
                            store.forget(Scope::Prefix(prefix)).unwrap()
                        }
                        2 if thread == 0 => {
                            store.purge(Scope::Url(&url), &Progress::default()).unwrap()
                        }
                        _ => {
                            let visit = observation(&mut choice, 1, time).visit;
                            let verdict =
                                store.observe(Observation::of(&url, visit)).unwrap().verdict;
                            let news = verdict != Verdict::Known;
                            accepted.fetch_add(u64::from(news), Ordering::Relaxed);
                            continue;
                        }
                    };
                    assert!(gone.visits >= gone.pages);
                    forgotten.fetch_add(gone.visits, Ordering::Relaxed);
                }
            });
        }
    });
    let left = accepted.into_inner() - forgotten.into_inner();
    assert_eq!(store.stats().unwrap().visits, left);
    let model = dump(&store.snapshot()).unwrap();
    assert_eq!(model.visit_count(), left);
    assert_eq!(model.page_count(), store.stats().unwrap().pages);
    store.wait_idle().unwrap();
    store.seal().unwrap();
    store.merge(&Progress::default()).unwrap();
    assert_eq!(store.stats().unwrap().visits, left);
    assert!(dump(&store.snapshot()).unwrap() == model);
    sound(&store).unwrap();
    store.close().unwrap();
    let store = open(&disk, busy());
    assert!(dump(&store.snapshot()).unwrap() == model);
    assert_eq!(store.stats().unwrap().visits, left);
}

#[test]
fn epoch_registered_by_many_threads_is_one() {
    let disk = SimDisk::new();
    let store = create(&disk, busy());
    let start = Barrier::new(THREADS);
    thread::scope(|scope| {
        for thread in 0..THREADS {
            let (store, start) = (&store, &start);
            scope.spawn(move || {
                start.wait();
                let shared = store.register_epoch("shared", Role::Both).unwrap();
                let own = store.register_epoch(&format!("own {thread}"), Role::Both).unwrap();
                assert_ne!(shared, own);
                let page = url(9, thread as u64);
                store.observe(Observation::content(&page, ms(0), 1, own)).unwrap();
                assert_eq!(
                    store.snapshot().search(&Query::new(1, 0).epoch(own)).unwrap().near.len(),
                    1
                );
            });
        }
    });
    let epochs = store.snapshot().epochs().to_vec();
    assert_eq!(epochs.iter().map(|info| &info.name).collect::<BTreeSet<_>>().len(), THREADS + 3);
    drop(store);
    assert_eq!(open(&disk, busy()).snapshot().epochs(), epochs);
}

#[test]
fn acknowledged_observations_survive_a_concurrent_close() {
    for round in 0..deep(40) {
        let disk = SimDisk::new();
        let store = create(&disk, busy());
        let acknowledged: Vec<i64> = thread::scope(|scope| {
            let observers: Vec<_> = (0..8)
                .map(|thread| {
                    let store = store.clone();
                    scope.spawn(move || {
                        for time in 0.. {
                            let digest = Digest([u8::try_from(time % 100).unwrap(); 16]);
                            let url = url(0, thread);
                            let seen =
                                Observation::content(&url, ms(time), 1, Epoch::from_number(0));
                            match store.observe(seen.digest(digest)) {
                                Ok(_) => {}
                                Err(Error::Closed) => return time,
                                Err(e) => panic!("{e}"),
                            }
                        }
                        unreachable!()
                    })
                })
                .collect();
            thread::sleep(Duration::from_millis(round % 20));
            store.close().unwrap();
            observers.into_iter().map(|o| o.join().unwrap()).collect()
        });
        let store = open(&disk, busy());
        for (thread, done) in (0..).zip(acknowledged) {
            let found = i64::try_from(store.history(&url(0, thread)).unwrap().len()).unwrap();
            assert!((done..=done + 1).contains(&found), "{found} of {done} acknowledged");
        }
    }
}
