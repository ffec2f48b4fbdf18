//! Tests of the store's threads under a scheduler that tries one order after another: shuttle runs one
//! thread at a time, and chooses the next one at each lock, condition, atomic and sync of a file.
//!
//! `RUSTFLAGS="--cfg shuttle" cargo test --release --target-dir target/shuttle --test threads`
//!
//! At depth 1 each test runs 1,000 times or more, half with random choices, half with few preemptions at
//! unlikely places (probabilistic concurrency testing). The choices are the same in each run;
//! `SHUTTLE_RANDOM_SEED` changes them. A failure prints its schedule, and `SIMKEEP_SCHEDULE=that`
//! runs it again.
//!
//! Not tested: weak memory (every atomic is sequentially consistent here), and what a timeout would
//! begin (time stands still).

#![cfg(all(test, shuttle))]

mod changes;
mod close;
mod commits;
mod leases;
mod stories;

use std::sync::Arc;
use std::time::Duration;

use shuttle::rand::Rng;
use shuttle::scheduler::{PctScheduler, RandomScheduler, ReplayScheduler};
use shuttle::thread;
use simkeep::disk::{FileName, OpKind, SimDisk};
use simkeep::{Durability, Epoch, Error, Observation, Options, Reader, Snapshot, Store};

use simkeep_testing::depth::deep;
use simkeep_testing::disks::HookDisk;
use simkeep_testing::{create, ms, on, small};

/// The most preemptions of a thread that could have gone on.
const PREEMPTIONS: usize = 4;

/// The files of a new store: made once, because each new store has another seed.
type Files = Vec<(FileName, Vec<u8>)>;

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

/// Runs a test under many schedules, each on a disk with a new store that has both epochs.
fn explore(test: fn(SimDisk)) {
    explore_longer(1, test);
}

/// Runs a test under `times` as many schedules, for faults that only few schedules show.
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

/// Options with a memtable that is full every few observations, sealed and merged by the store's own
/// threads.
fn busy() -> Options {
    small().memtable_observations(3).background(true)
}

/// Lets another thread run.
fn pause() {
    thread::sleep(Duration::ZERO);
}

/// Returns whether other threads may interrupt an operation. Those of redb are included, because all
/// writers of the catalog wait for a lock of the store.
fn takes_time(kind: OpKind, name: Option<FileName>) -> bool {
    match kind {
        OpKind::Write => name == Some(FileName::Lock),
        OpKind::SetLen => false,
        _ => true,
    }
}

/// Opens the store on a disk whose operations other threads may interrupt.
fn start(disk: &SimDisk, options: Options) -> Store {
    let slow = HookDisk::new(on(disk), |kind, name| {
        if takes_time(kind, name) {
            pause();
        }
    });
    Store::open(Arc::new(slow), options).unwrap()
}

/// Returns the state that is sure to survive a power failure now.
fn durable(disk: &SimDisk) -> Snapshot {
    Reader::open(on(&disk.crash_synced_only())).unwrap().snapshot()
}

fn some_durability() -> Durability {
    match shuttle::rand::thread_rng().gen_range(0..2) {
        0 => Durability::Each,
        _ => Durability::Grouped(Duration::from_millis(1)),
    }
}

fn url(thread: u64) -> String {
    format!("https://host{thread}.example/")
}

/// Observes visits of a thread's own page. Returns how many were acknowledged, and the error that ended
/// them, if any.
fn observe(store: &Store, thread: u64, visits: u64, then: impl Fn(u64)) -> (u64, Option<Error>) {
    for visit in 0..visits {
        let seen = Observation::content(
            &url(thread),
            ms(visit.cast_signed()),
            visit,
            Epoch::from_number(0),
        )
        .visit;
        match store.observe(Observation::of(&url(thread), seen)) {
            Ok(_) => then(visit + 1),
            Err(e) => return (visit, Some(e)),
        }
    }
    (visits, None)
}

/// Returns the number of visits of a thread's page, which must be its first ones.
fn visits(view: &Snapshot, thread: u64) -> u64 {
    let history = view.history(&url(thread)).unwrap();
    let fingerprints: Vec<u64> =
        history.iter().map(|e| e.entry().content().unwrap().fingerprint.unwrap()).collect();
    assert_eq!(fingerprints, (0..history.len() as u64).collect::<Vec<_>>());
    history.len() as u64
}
