//! The store's threads under a scheduler that tries one order after another: shuttle runs one thread
//! at a time, and at each lock, condition, atomic and sync of a file it chooses who goes on.
//!
//! `RUSTFLAGS="--cfg shuttle" cargo test --release --target-dir target/shuttle --test threads`
//!
//! At depth 1 each test runs 1,000 times or more, half with choices at random, half with few
//! preemptions at unlikely places (probabilistic concurrency testing). The choices are the same each
//! time; `SHUTTLE_RANDOM_SEED` makes others. A failure prints its schedule, and
//! `SIMKEEP_SCHEDULE=that` runs it again.
//!
//! Not tried: weak memory (every atomic is sequentially consistent here), and what a timeout would
//! begin (time stands still).

#![cfg(all(test, shuttle))]

use std::collections::BTreeMap;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::SeqCst};
use std::time::Duration;

use shuttle::rand::Rng;
use shuttle::scheduler::{PctScheduler, RandomScheduler, ReplayScheduler};
use shuttle::thread;

use simkeep::disk::{Fault, Name, OpKind, SimDisk, Strikes};
use simkeep::load::LoadOptions;
use simkeep::{
    Durability, Epoch, Error, Observation, Options, Progress, Query, Reader, Result, Scope,
    Snapshot, Store, Versions,
};

use simkeep_testing::compare::{check_outcome, check_search, dump};
use simkeep_testing::depth::deep;
use simkeep_testing::disks::HookDisk;
use simkeep_testing::model::Model;
use simkeep_testing::pages::{PREFIXES, URLS};
use simkeep_testing::{choice, create, observation, on, open, small};

/// Preemptions of a thread that would have gone on.
const PREEMPTIONS: usize = 4;

/// A new store, as files: made once, since a new one has another seed each time.
type Files = Vec<(Name, Vec<u8>)>;

fn runner<S: shuttle::scheduler::Scheduler + 'static>(scheduler: S) -> shuttle::Runner<S> {
    let mut config = shuttle::Config::new();
    config.stack_size = 1 << 20;
    config.silence_warnings = true;
    shuttle::Runner::new(scheduler, config)
}

fn new_store() -> Files {
    let (files, made) = std::sync::mpsc::channel();
    runner(RandomScheduler::new_from_seed(0, 1)).run(move || {
        let disk = SimDisk::new();
        create(&disk, small()).close().unwrap();
        files.send(disk.contents()).unwrap();
    });
    made.recv().unwrap()
}

/// Runs a test under many schedules, each time on a disk with a new store that has both epochs.
fn explore(test: fn(SimDisk)) {
    explore_longer(1, test);
}

/// Explores so many times as many schedules, for what goes wrong in few of them.
fn explore_longer(times: usize, test: fn(SimDisk)) {
    let files = new_store();
    let run = move || test(SimDisk::of(files.clone()));
    if let Ok(schedule) = std::env::var("SIMKEEP_SCHEDULE") {
        runner(ReplayScheduler::new_from_encoded(&schedule)).run(run);
        return;
    }
    let schedules = times * usize::try_from(deep(1000)).unwrap();
    runner(RandomScheduler::new_from_seed(1, schedules / 2)).run(run.clone());
    runner(PctScheduler::new_from_seed(2, PREEMPTIONS, schedules / 2)).run(run);
}

/// A memtable that is full every few observations, sealed and merged by the store's own threads.
fn busy() -> Options {
    small().memtable_observations(3).background(true)
}

/// Somebody else may go on.
fn pause() {
    thread::sleep(Duration::ZERO);
}

/// Operations in the middle of which others go on. redb's own among them: whoever else wants to
/// write to the catalog waits for a lock of the store's.
fn takes_time(kind: OpKind, name: Option<Name>) -> bool {
    match kind {
        OpKind::Write => name == Some(Name::Lock),
        OpKind::SetLen => false,
        _ => true,
    }
}

/// Opens the store on a disk that takes its time.
fn start(disk: &SimDisk, options: Options) -> Store {
    let slow = HookDisk::new(on(disk), |kind, name| {
        if takes_time(kind, name) {
            pause();
        }
    });
    Store::open(Arc::new(slow), options).unwrap()
}

/// What would be there if the power went now, as far as it is sure to be.
fn durable(disk: &SimDisk) -> Snapshot {
    Reader::open(on(&disk.crash_synced_only())).unwrap().snapshot()
}

fn some_durability() -> Durability {
    match shuttle::rand::thread_rng().gen_range(0..2) {
        0 => Durability::Each,
        _ => Durability::Grouped(Duration::from_millis(1)),
    }
}

/// One thread's changes of the store, and what it holds after each.
struct Story {
    changes: Vec<Change>,
    /// By sequence number.
    states: Vec<Model>,
}

enum Change {
    Observe(Observation<'static>),
    Forget(Scope<'static>),
}

impl Story {
    fn new(seed: u64, length: usize) -> Story {
        let mut choice = choice(seed);
        let mut story = Story { changes: Vec::new(), states: vec![Model::default()] };
        for time in 0..length {
            let mut model = story.states.last().unwrap().clone();
            let change = match choice(8) {
                0 => {
                    let url = URLS[usize::try_from(choice(4)).unwrap()];
                    model.forget(|other| other == url);
                    Change::Forget(Scope::Url(url))
                }
                1 => {
                    let under = &PREFIXES[usize::try_from(choice(4)).unwrap()];
                    model.forget(|url| under.covers(url));
                    Change::Forget(Scope::Prefix(under.prefix()))
                }
                _ => {
                    let mut seen = observation(&mut choice, 4, i64::try_from(time).unwrap());
                    // Each change is one operation, so that the number of one tells the state.
                    seen.also = None;
                    model.observe(&seen, 0);
                    Change::Observe(seen)
                }
            };
            if model != *story.states.last().unwrap() {
                story.changes.push(change);
                story.states.push(model);
            }
        }
        story
    }
}

/// What a story has come to: the last change that is acknowledged, and the last that has begun.
#[derive(Default)]
struct Told {
    acknowledged: AtomicU64,
    begun: AtomicU64,
}

/// Makes the changes; each answer is that of the model.
fn tell(store: &Store, story: &Story, told: &Told) {
    for (change, before) in story.changes.iter().zip(&story.states) {
        let mut model = before.clone();
        told.begun.fetch_add(1, SeqCst);
        match change {
            Change::Observe(seen) => {
                let outcome = store.observe(*seen).unwrap();
                check_outcome(&outcome, &model.observe(seen, 3), small().near_limit);
            }
            Change::Forget(scope) => {
                let forgotten = store.forget(scope.clone()).unwrap();
                let covers = |url: &str| match scope {
                    Scope::Url(forgotten) => url == *forgotten,
                    Scope::Prefix(prefix) => {
                        PREFIXES.iter().any(|under| under.prefix() == *prefix && under.covers(url))
                    }
                    other => panic!("{other:?}"),
                };
                assert_eq!(forgotten, model.forget(covers));
            }
        }
        told.acknowledged.fetch_add(1, SeqCst);
    }
}

/// A reader sees one state of the story, not before what was acknowledged when it came and not after
/// what had begun when it had its snapshot; and a snapshot stays as it is.
fn read(store: &Store, story: &Story, told: &Told) {
    let mut kept = None;
    for _ in 0..4 {
        let acknowledged = told.acknowledged.load(SeqCst);
        let snapshot = store.snapshot();
        let begun = told.begun.load(SeqCst);
        let at = snapshot.sequence();
        assert!((acknowledged..=begun).contains(&at), "{at} of {acknowledged} to {begun}");
        for (snapshot, state) in kept.iter().chain([&(snapshot.clone(), at)]) {
            let state = &story.states[usize::try_from(*state).unwrap()];
            for versions in [Versions::InForce, Versions::Ever] {
                let query =
                    Query::new(0x0123_4567_89ab_cdef, 3).epoch(Epoch::from_number(0)).limit(1000);
                check_search(snapshot, state, &query.versions(versions));
            }
            assert!(dump(snapshot).unwrap() == *state);
        }
        let stats = store.stats().unwrap();
        let state = &story.states[usize::try_from(stats.sequence).unwrap()];
        assert_eq!((stats.pages, stats.visits), (state.page_count(), state.visit_count()));
        kept.get_or_insert((snapshot, at));
    }
}

#[test]
fn readers_see_what_was_acknowledged_while_the_live_list_is_swapped() {
    explore(|disk| {
        let seed = shuttle::rand::thread_rng().gen_range(0..1000);
        let (story, told) = (Story::new(seed, 14), Told::default());
        let store = start(&disk, busy().durability(some_durability()));
        thread::scope(|scope| {
            scope.spawn(|| tell(&store, &story, &told));
            scope.spawn(|| read(&store, &story, &told));
            scope.spawn(|| read(&store, &story, &told));
        });
        store.wait_idle().unwrap();
        let last = story.states.last().unwrap();
        assert!(dump(&store.snapshot()).unwrap() == *last);
        store.close().unwrap();
        assert!(dump(&open(&disk, small()).snapshot()).unwrap() == *last);
    });
}

fn url(thread: u64) -> String {
    format!("https://host{thread}.example/")
}

/// One visit after another of a thread's own page; says how many were acknowledged, and why there
/// are not more.
fn observe(store: &Store, thread: u64, visits: u64, then: impl Fn(u64)) -> (u64, Option<Error>) {
    for visit in 0..visits {
        let seen =
            Observation::content(&url(thread), visit.cast_signed(), visit, Epoch::from_number(0))
                .visit;
        match store.observe(Observation::of(&url(thread), seen)) {
            Ok(_) => then(visit + 1),
            Err(e) => return (visit, Some(e)),
        }
    }
    (visits, None)
}

/// Visits of a thread's page: those from the beginning.
fn visits(view: &Snapshot, thread: u64) -> u64 {
    let history = view.history(&url(thread)).unwrap();
    let fingerprints: Vec<u64> =
        history.iter().map(|e| e.entry().content().unwrap().fingerprint.unwrap()).collect();
    assert_eq!(fingerprints, (0..history.len() as u64).collect::<Vec<_>>());
    history.len() as u64
}

#[test]
fn an_operation_is_durable_when_it_is_acknowledged_and_when_it_is_seen() {
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

/// What waits for a commit that fails is told so; what was acknowledged before is durable, and
/// reading goes on.
#[test]
fn a_commit_that_fails_ends_all_that_wait_for_it() {
    explore(|disk| {
        let store = start(&disk, busy().durability(some_durability()));
        let strikes = match shuttle::rand::thread_rng().gen_range(0..2) {
            0 => Strikes::Changes,
            _ => Strikes::Only(OpKind::Sync),
        };
        let nth = shuttle::rand::thread_rng().gen_range(1..30);
        disk.fail(Fault { strikes, nth, kind: io::ErrorKind::Other, lasting: false });
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
        // All may be durable, if a seal failed; but then nothing more is accepted.
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

/// When `close` returns, the store's lock is free and nothing of it writes any more, whatever was
/// under way; everything acknowledged is there.
#[test]
fn a_close_waits_for_whatever_writes_and_loses_nothing() {
    explore_longer(5, |disk| {
        let closed = Arc::new(AtomicBool::new(false));
        let slow = HookDisk::new(on(&disk), {
            let closed = Arc::clone(&closed);
            move |kind, name| {
                if takes_time(kind, name) {
                    pause();
                }
                // Files that a snapshot held go when it goes.
                let is_late = closed.load(SeqCst) && kind != OpKind::Remove;
                assert!(!is_late, "{kind:?} of {name:?} after the close");
            }
        });
        // With seals and merges, or with next to nothing, of which there are fewer orders.
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
        // Reading goes on.
        for (thread, done) in (0..).zip(done) {
            assert!((done..=done + 1).contains(&visits(&store.snapshot(), thread)));
        }
    });
}

#[test]
fn epochs_are_registered_once_and_can_be_observed_in_at_once() {
    explore(|disk| {
        let store = start(&disk, busy());
        let numbers = thread::scope(|scope| {
            let register = |own: &'static str, thread| {
                let store = &store;
                move || {
                    let mut numbers = BTreeMap::new();
                    for (time, name) in (0..).zip(["shared", own]) {
                        let epoch = store.register_epoch(name).unwrap();
                        assert!(store.newest_epoch() >= epoch);
                        assert_eq!(store.snapshot().epochs()[epoch.count() as usize].name, name);
                        let page = url(thread);
                        store.observe(Observation::content(&page, time, 1, epoch)).unwrap();
                        let query = Query::new(1, 0).epoch(epoch);
                        let near = store.search(&query).unwrap().near;
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

/// Of a page that is purged nothing is left in any file, and what others observe meanwhile stays.
#[test]
fn a_purge_takes_what_it_names_and_nothing_else() {
    explore(|disk| {
        let store = start(&disk, busy());
        let secret = "https://secret.example/page";
        for page in [secret, "https://secret.example/other"] {
            store.observe(Observation::content(page, 0, 7, Epoch::from_number(0))).unwrap();
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
                    let near =
                        store.search(&Query::new(7, 0).epoch(Epoch::from_number(0))).unwrap().near;
                    let found = near.iter().filter(|near| near.url == secret).count();
                    assert!(found <= there && near.iter().any(|near| near.url.ends_with("other")));
                }
            });
        });
        let stats = store.stats().unwrap();
        assert_eq!((stats.pages, stats.visits), (3, 11));
        store.close().unwrap();
        // Whoever still read old files is gone, and they with them.
        for (name, content) in disk.contents() {
            let at = content.windows(11).position(|w| w == b"example/pag");
            assert_eq!(at, None, "in {name}");
        }
        let store = open(&disk, small());
        assert_eq!([0, 1].map(|thread| visits(&store.snapshot(), thread)), [5, 5]);
        assert!(store.history(secret).unwrap().is_empty());
    });
}

/// A load shows whole or not at all, to readers and after a crash; those who observe wait for it and
/// then know what it brought. A close among them ends it.
#[test]
fn a_load_beside_observers_readers_and_a_close_is_whole_or_nothing() {
    explore(|disk| {
        const LOADED: u64 = 5;
        let is_closed = shuttle::rand::thread_rng().gen_range(0..2) == 0;
        let store = start(&disk, busy().durability(some_durability()));
        let whole = |snapshot: &Snapshot| {
            let query = Query::new(99, 0).epoch(Epoch::from_number(0));
            let near = snapshot.search(&query).unwrap().near.len() as u64;
            let history = snapshot.history(&url(0)).unwrap();
            let of_page = history.iter().filter(|e| e.entry().time() >= 100).count() as u64;
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
                // Visits of a page that is observed, and pages of their own.
                let visit = |n| (url(0), n, 0);
                let page = |n| (url(100 + n), 0, 99);
                let all = (100..100 + LOADED).map(visit).chain((0..LOADED).map(page));
                let all: Vec<_> = all.collect();
                let all = all.iter().map(|(url, time, print)| {
                    Ok(Observation::content(url, time.cast_signed(), *print, Epoch::from_number(0)))
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
            let own = history.iter().filter(|e| e.entry().time() < 100).count() as u64;
            assert!((done..=done + 1).contains(&own), "{own} of {done} acknowledged");
        }
    });
}
