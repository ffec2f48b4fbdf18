//! Many threads at once, while seals and merges go on behind them.

use std::collections::{BTreeSet, HashSet};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Barrier, Mutex, mpsc};
use std::thread;
use std::time::{Duration, Instant};

use simkeep::disk::{Disk, Meter, Name, OpKind, SimDisk};
use simkeep::{
    Digest, Durability, Entry, Epoch, Error, HistoryEntry, Observation, Options, Prefix, Progress,
    Query, Scope, Store, Verdict, Versions, Visit,
};

use simkeep_testing::compare::dump;
use simkeep_testing::depth::deep;
use simkeep_testing::disks::{Gate, HookDisk, PATIENCE};
use simkeep_testing::model::{history, judge};
use simkeep_testing::{choice, create, digest, observation, on, open, small, sound};

const THREADS: usize = 16;

/// A memtable that is full every few moments, sealed and merged by the store itself.
fn busy() -> Options {
    small().memtable_observations(64).background(true)
}

fn url(host: u64, page: u64) -> String {
    format!("https://host{host}.example/page/{page}")
}

/// One thread's calls on one page and their verdicts, in the order of the calls.
type Calls = Vec<(Visit, Verdict)>;

fn entries(visits: &[Visit]) -> Vec<Entry> {
    visits.iter().copied().map(Entry::Visit).collect()
}

/// Whether some order of all calls, in which each thread's own stay in order, explains every
/// verdict.
fn has_serial_order(threads: &[Calls]) -> bool {
    fn search(threads: &[Calls], at: &mut Vec<usize>, dead: &mut HashSet<Vec<usize>>) -> bool {
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
                _ => judge(&entries(&done), visit, &[]),
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
fn the_verdicts_of_concurrent_calls_are_those_of_some_order_of_them() {
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
                        // What is restated is judged by what its visit saw, not by an order.
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
            let of_page = |calls: &Vec<(u64, Visit, Verdict)>| -> Calls {
                calls.iter().filter(|c| c.0 == page).map(|c| (c.1, c.2)).collect()
            };
            let threads: Vec<Calls> = calls.iter().map(of_page).collect();
            assert!(has_serial_order(&threads), "round {round}: {threads:#?}");
            let set: BTreeSet<Entry> =
                threads.iter().flatten().map(|c| Entry::Visit(c.0)).collect();
            let entries: Vec<Entry> = set.into_iter().collect();
            assert_eq!(store.history(&url(round, page)).unwrap(), history(&entries));
        }
    }
    store.wait_idle().unwrap();
    assert!(store.stats().unwrap().segments.len() < 10, "nothing was merged");
    sound(&store).unwrap();
}

#[test]
fn the_check_for_a_serial_order_finds_those_that_have_none() {
    let visit = |time| Observation::content("x", time, 1, Epoch::from_number(0)).visit;
    let new = (visit(5), Verdict::New);
    assert!(has_serial_order(&[vec![new], vec![(visit(4), Verdict::OutOfOrder)]]));
    assert!(!has_serial_order(&[vec![new], vec![(visit(4), Verdict::New)]]));
    assert!(!has_serial_order(&[vec![new], vec![new]]));
    assert!(!has_serial_order(&[vec![(visit(5), Verdict::Known), new]]));
}

/// Readers hold to what they see: what a search finds can be read, and reads the same twice.
#[test]
fn a_snapshot_is_whole_while_everything_moves() {
    const FINGERPRINT: u64 = 0xffff_0000_1234_5678;
    let store = create(&SimDisk::new(), busy());
    // Always near everything that is observed, so always in every answer.
    let anchors: Vec<String> = (0..5).map(|page| url(1000, page)).collect();
    for anchor in &anchors {
        let seen = Observation::content(anchor, 0, FINGERPRINT, Epoch::from_number(0));
        store.observe(seen).unwrap();
    }
    let acknowledged = Mutex::new(Vec::<String>::new());
    let done = AtomicBool::new(false);
    let reads = AtomicU64::new(0);
    thread::scope(|scope| {
        let writers: Vec<_> = (0..THREADS as u64)
            .map(|thread| {
                let (store, anchors, acknowledged) = (&store, &anchors, &acknowledged);
                scope.spawn(move || {
                    let mut choice = choice(thread);
                    for time in 0..60 {
                        let url = url(choice(8), choice(10));
                        let fingerprint = FINGERPRINT ^ (1 << choice(20));
                        let digest = digest(u8::try_from(choice(4)).unwrap());
                        let seen =
                            Observation::content(&url, time, fingerprint, Epoch::from_number(0));
                        let outcome = store.observe(seen.digest(digest)).unwrap();
                        for anchor in anchors {
                            let near = outcome.near.iter().find(|n| n.url == *anchor);
                            assert_eq!(near.map(|n| n.distance), Some(1), "{anchor} is missing");
                        }
                        assert!(outcome.near.iter().all(|n| n.url != url));
                        assert!(outcome.near.is_sorted_by_key(|n| n.distance));
                        let urls = outcome.near.iter().map(|n| &n.url);
                        let urls: BTreeSet<_> =
                            urls.chain(outcome.copies.iter().map(|c| &c.url)).collect();
                        assert_eq!(urls.len(), outcome.near.len() + outcome.copies.len());
                        acknowledged.lock().unwrap().push(url);
                    }
                })
            })
            .collect();
        for reader in 0..3 {
            let (store, acknowledged, done, reads) = (&store, &acknowledged, &done, &reads);
            scope.spawn(move || {
                let mut choice = choice(100 + reader);
                let mut last = 0;
                while !done.load(Ordering::Acquire) {
                    let known: Vec<String> = acknowledged.lock().unwrap().clone();
                    let snapshot = store.snapshot();
                    assert!(snapshot.sequence() >= last);
                    last = snapshot.sequence();
                    if !known.is_empty() {
                        let url = &known[usize::try_from(choice(known.len() as u64)).unwrap()];
                        assert!(snapshot.latest(url).unwrap().is_some(), "{url} was acknowledged");
                    }
                    let query = Query::new(FINGERPRINT, 2).epoch(Epoch::from_number(0)).limit(1000);
                    let found = snapshot.search(&query).unwrap();
                    let mut pages = 0;
                    for page in snapshot.scan(None) {
                        let page = page.unwrap();
                        let entries = snapshot.history(&page.url).unwrap();
                        assert_eq!(entries.len() as u64, page.visits, "{}", page.url);
                        let told: Vec<Entry> = entries.iter().map(HistoryEntry::entry).collect();
                        assert_eq!(entries, history(&told));
                        let content = page.content.unwrap();
                        let near = found.near.iter().find(|n| n.url == page.url);
                        assert_eq!(near.map(|n| n.fingerprint), content.fingerprint);
                        pages += 1;
                    }
                    assert_eq!(found.near.len(), pages);
                    assert_eq!(snapshot.search(&query).unwrap(), found);
                    reads.fetch_add(1, Ordering::Relaxed);
                }
            });
        }
        for writer in writers {
            writer.join().unwrap();
        }
        done.store(true, Ordering::Release);
    });
    assert!(reads.load(Ordering::Relaxed) > 3);
    store.wait_idle().unwrap();
    sound(&store).unwrap();
}

/// Every visit that was taken in is either there or was counted by the call that forgot it.
#[test]
fn forgetting_among_observations_counts_each_visit_once() {
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

/// Syncs and observations when so many threads observe singly, on a disk that takes its time.
fn syncs_of(threads: u64, calls: u64, durability: Durability) -> (u64, u64) {
    let slow = HookDisk::new(on(&SimDisk::new()), |kind, _| {
        if kind == OpKind::Sync {
            thread::sleep(Duration::from_millis(1));
        }
    });
    let meter = Meter::new(Arc::new(slow));
    let disk: Arc<dyn Disk> = Arc::new(meter.clone());
    let options = small().durability(durability).memtable_observations(100_000);
    let store = Store::create(disk, options).unwrap();
    let before = meter.counts();
    thread::scope(|scope| {
        for thread in 0..threads {
            let store = &store;
            scope.spawn(move || {
                for page in 0..calls {
                    let seen =
                        Observation::content(&url(thread, page), 0, page, Epoch::from_number(0))
                            .visit;
                    store.observe(Observation::of(&url(thread, page), seen)).unwrap();
                }
            });
        }
    });
    (meter.counts().since(&before).file_syncs, threads * calls)
}

#[test]
fn threads_that_wait_at_the_same_time_share_a_commit() {
    let (syncs, observed) = syncs_of(64, 16, Durability::Each);
    assert!(syncs * 8 <= observed, "{syncs} syncs for {observed} observations");
}

#[test]
fn a_commit_that_waits_for_others_is_shared_by_more() {
    let (syncs, observed) = syncs_of(64, 16, Durability::Grouped(Duration::from_millis(20)));
    assert!(syncs * 16 <= observed, "{syncs} syncs for {observed} observations");
}

/// Runs `blocked` until it stands at the gate, then `free`, which must not wait for it.
fn beside(
    gate: &Gate,
    stops: fn(OpKind, Option<Name>) -> bool,
    blocked: impl FnOnce() + Send,
    free: impl FnOnce() + Send,
) {
    thread::scope(|scope| {
        gate.close(stops);
        let blocked = scope.spawn(blocked);
        gate.await_arrival();
        let (done, is_done) = mpsc::channel();
        let free = scope.spawn(move || {
            free();
            let _ = done.send(());
        });
        let waited = is_done.recv_timeout(PATIENCE);
        gate.open();
        blocked.join().unwrap();
        free.join().unwrap();
        assert_ne!(waited, Err(mpsc::RecvTimeoutError::Timeout), "it waited");
    });
}

fn gated() -> (Gate, Store) {
    let gate = Gate::default();
    let disk = Arc::new(gate.before(on(&SimDisk::new())));
    let store = Store::create(disk, small()).unwrap();
    for page in 0..8 {
        let content = Observation::content(&url(0, page), 0, 5, Epoch::from_number(0)).visit;
        store.observe(Observation::of(&url(0, page), content)).unwrap();
        if page % 3 == 2 {
            store.seal().unwrap();
        }
    }
    (gate, store)
}

/// Every way of reading; there are 8 pages.
fn read_everything(store: &Store) {
    let snapshot = store.snapshot();
    let query = Query::new(5, 0).epoch(Epoch::from_number(0));
    assert_eq!(snapshot.search(&query).unwrap().near.len(), 8);
    assert_eq!(store.search(&query.versions(Versions::Ever)).unwrap().near.len(), 8);
    assert_eq!(store.near(5, 0).unwrap().near.len(), 8);
    assert_eq!(store.snapshot().scan(None).count(), 8);
    assert_eq!(store.history(&url(0, 1)).unwrap().len(), 1);
    assert!(store.latest(&url(0, 1)).unwrap().is_some());
    assert!(store.as_of(&url(0, 1), 7).unwrap().is_some());
}

fn is_catalog_sync(kind: OpKind, name: Option<Name>) -> bool {
    kind == OpKind::Sync && name == Some(Name::Catalog)
}

fn is_segment_sync(kind: OpKind, name: Option<Name>) -> bool {
    kind == OpKind::Sync && matches!(name, Some(Name::SegmentNew(_)))
}

#[test]
fn readers_do_not_wait_for_a_commit_and_do_not_see_it_before_it_is_durable() {
    let (gate, store) = gated();
    let page = Observation::content("https://late.example/", 0, 5, Epoch::from_number(0));
    let observe = || assert_eq!(store.observe(page).unwrap().near.len(), 8);
    beside(&gate, is_catalog_sync, observe, || read_everything(&store));
    assert_eq!(store.near(5, 0).unwrap().near.len(), 9);
    let forget = || assert_eq!(store.forget(Scope::Url(page.url)).unwrap().pages, 1);
    beside(&gate, is_catalog_sync, forget, || {
        assert!(store.latest(page.url).unwrap().is_some());
        assert_eq!(store.history(page.url).unwrap().len(), 1);
        assert_eq!(store.near(5, 0).unwrap().near.len(), 9);
    });
    read_everything(&store);
}

#[test]
fn the_numbers_of_pages_and_visits_are_those_of_what_was_acknowledged() {
    let (gate, store) = gated();
    let page = Observation::content("https://late.example/", 0, 5, Epoch::from_number(0));
    let observe = || assert_eq!(store.observe(page).unwrap().near.len(), 8);
    let numbers = || {
        let stats = store.stats().unwrap();
        (stats.pages, stats.visits, stats.unsealed_visits)
    };
    beside(&gate, is_catalog_sync, observe, || assert_eq!(numbers(), (8, 8, 2)));
    assert_eq!(numbers(), (9, 9, 3));
    let forget = || assert_eq!(store.forget(Scope::Url(page.url)).unwrap().pages, 1);
    beside(&gate, is_catalog_sync, forget, || assert_eq!(numbers(), (9, 9, 3)));
    assert_eq!(numbers(), (8, 8, 2));
}

#[test]
fn readers_do_not_wait_while_an_epoch_is_registered() {
    let (gate, store) = gated();
    let register = || assert_eq!(store.register_epoch("another").unwrap(), Epoch::from_number(1));
    beside(&gate, is_catalog_sync, register, || read_everything(&store));
}

#[test]
fn neither_readers_nor_observers_wait_for_a_seal() {
    let (gate, store) = gated();
    let seal = || store.seal().unwrap();
    beside(&gate, is_segment_sync, seal, || {
        read_everything(&store);
        let page = Observation::content("https://late.example/", 0, 5, Epoch::from_number(0));
        store.observe(page).unwrap();
        assert_eq!(store.near(5, 0).unwrap().near.len(), 9);
        store.forget(Scope::Url(page.url)).unwrap();
        read_everything(&store);
    });
    read_everything(&store);
}

#[test]
fn neither_readers_nor_observers_nor_seals_wait_for_a_merge() {
    let (gate, store) = gated();
    // Segments 1 and 2 are there, so the merge writes number 3, and the seal beside it number 4.
    let is_merge = |kind, name| kind == OpKind::Sync && name == Some(Name::SegmentNew(3));
    let merge = || assert_eq!(store.merge(&Progress::default()).unwrap().inputs, 2);
    beside(&gate, is_merge, merge, || {
        read_everything(&store);
        let page = Observation::content("https://late.example/", 0, 5, Epoch::from_number(0));
        store.observe(page).unwrap();
        store.seal().unwrap();
        assert_eq!(store.near(5, 0).unwrap().near.len(), 9);
        store.forget(Scope::Url(page.url)).unwrap();
        read_everything(&store);
    });
    read_everything(&store);
    assert_eq!(store.stats().unwrap().segments.len(), 2);
    store.merge(&Progress::default()).unwrap();
    read_everything(&store);
}

/// Waits until something comes true by itself.
fn eventually(what: &str, mut is_true: impl FnMut() -> bool) {
    let since = Instant::now();
    while !is_true() {
        assert!(since.elapsed() < PATIENCE, "never: {what}");
        thread::sleep(Duration::from_millis(1));
    }
}

#[test]
fn what_has_waited_long_enough_is_sealed() {
    let options = busy().seal_after(Duration::from_millis(20));
    let store = create(&SimDisk::new(), options);
    for page in 0..3 {
        let content = Observation::content(&url(0, page), 0, 5, Epoch::from_number(0)).visit;
        store.observe(Observation::of(&url(0, page), content)).unwrap();
        eventually("it is sealed", || store.stats().unwrap().unsealed_visits == 0);
    }
    assert_eq!(store.stats().unwrap().visits, 3);
}

#[test]
fn a_memtable_of_few_long_urls_is_full_by_its_bytes() {
    let options = small().memtable_bytes(64 << 10).memtable_observations(100_000);
    let store = create(&SimDisk::new(), options);
    for page in 0..40 {
        let url = format!("https://example.com/{page}/{}", "x".repeat(8_000));
        store.observe(Observation::content(&url, 0, page, Epoch::from_number(0))).unwrap();
    }
    let stats = store.stats().unwrap();
    assert!(stats.segments.len() > 3 && stats.unsealed_visits < 10, "{stats:?}");
}

#[test]
fn a_batch_fills_no_memtable_beyond_its_limit() {
    let options = small().memtable_observations(10).background(false);
    let store = create(&SimDisk::new(), options);
    let urls: Vec<String> = (0..95).map(|page| url(page % 3, page)).collect();
    let new = |url, time| Observation::content(url, time, 7, Epoch::from_number(0));
    // Every third is known already, which takes no room.
    let batch = urls.iter().flat_map(|url| [new(url, 0), new(url, 1), new(url, 1)]);
    store.observe_batch(&batch.collect::<Vec<_>>()).unwrap();
    let stats = store.stats().unwrap();
    assert_eq!((stats.visits, stats.unsealed_visits), (190, 0));
    let sealed: Vec<u64> = stats.segments.iter().map(|segment| segment.visits).collect();
    assert_eq!(sealed, [10; 19]);
}

#[test]
fn segments_stay_few_while_they_are_merged_behind_the_observers() {
    let store = create(&SimDisk::new(), busy());
    for page in 0..6_400 {
        let content = Observation::content(&url(page, page), 0, page, Epoch::from_number(0)).visit;
        store.observe(Observation::of(&url(page, page), content)).unwrap();
        if page % 100 == 0 {
            assert!(store.stats().unwrap().segments.len() <= 10);
        }
    }
    store.wait_idle().unwrap();
    // At most one of each size, each twice the one before.
    assert!(store.stats().unwrap().segments.len() <= 8, "{:?}", store.stats());
    assert_eq!(store.stats().unwrap().pages, 6_400);
}

/// A merge needs room beside its inputs. Where there is none it is not begun; whoever waits for it is
/// told, and everything else goes on.
#[test]
fn a_merge_without_room_is_not_begun_and_waited_for() {
    let disk = SimDisk::new();
    let store = create(&disk, busy().background(false));
    for page in 0..640 {
        let content = Observation::content(&url(page, page), 0, page, Epoch::from_number(0)).visit;
        store.observe(Observation::of(&url(page, page), content)).unwrap();
    }
    store.seal().unwrap();
    let segments = store.stats().unwrap().segments.len();
    assert!(segments > 4);
    drop(store);
    let used: usize = disk.contents().iter().map(|(_, content)| content.len()).sum();
    disk.set_capacity_bytes(Some(used as u64 + 100));
    let store = open(&disk, busy());
    let (done, is_done) = mpsc::channel();
    thread::spawn({
        let store = store.clone();
        move || done.send(store.wait_idle())
    });
    let rest = is_done.recv_timeout(PATIENCE);
    assert!(matches!(rest, Ok(Err(simkeep::Error::Io { .. }))), "{rest:?}");
    assert!(store.stats().unwrap().merge_error.is_some());
    assert_eq!(store.stats().unwrap().segments.len(), segments);
    assert_eq!(store.stats().unwrap().pages, 640);
    store.close().unwrap();
}

#[test]
fn an_epoch_that_many_threads_register_is_one() {
    let disk = SimDisk::new();
    let store = create(&disk, busy());
    let start = Barrier::new(THREADS);
    thread::scope(|scope| {
        for thread in 0..THREADS {
            let (store, start) = (&store, &start);
            scope.spawn(move || {
                start.wait();
                let shared = store.register_epoch("shared").unwrap();
                let own = store.register_epoch(&format!("own {thread}")).unwrap();
                assert_ne!(shared, own);
                let page = url(9, thread as u64);
                store.observe(Observation::content(&page, 0, 1, own)).unwrap();
                assert_eq!(store.search(&Query::new(1, 0).epoch(own)).unwrap().near.len(), 1);
            });
        }
    });
    let epochs = store.snapshot().epochs().to_vec();
    assert_eq!(epochs.iter().map(|info| &info.name).collect::<BTreeSet<_>>().len(), THREADS + 3);
    drop(store);
    assert_eq!(open(&disk, busy()).snapshot().epochs(), epochs);
}

#[test]
fn what_was_acknowledged_before_a_close_among_observers_is_there_after_it() {
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
                            let seen = Observation::content(&url, time, 1, Epoch::from_number(0));
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
