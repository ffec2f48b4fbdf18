//! The power fails, or the disk fails, at every operation that changes it. Afterwards all acknowledged
//! operations are there, and nothing that was not requested.

use std::io::ErrorKind;
use std::sync::Arc;

use simkeep::disk::{Disk, DiskFault, FaultTarget, SimDisk};
use simkeep::{Digest, Durability, Epoch, Error, Observation, Options, Role, Scope, Store};

use super::script::{passes, script, take};
use simkeep_testing::compare::{check_counts, check_store, dump};
use simkeep_testing::depth::{deep, every};
use simkeep_testing::model::Model;
use simkeep_testing::pages::URLS;
use simkeep_testing::{choice, create, ms, names, observation, on, open, rerun_hint, small, sound};

/// A store in the middle of a workload, which a fault ended.
struct StoppedWorkload {
    disk: SimDisk,
    store: Store,
    /// The acknowledged state.
    acknowledged: Model,
    /// The possible states after the failed step.
    states: Vec<Model>,
    error: Option<Error>,
}

/// Executes the steps of the script until one fails.
fn run_until(options: Options, fault: Option<DiskFault>) -> StoppedWorkload {
    let disk = SimDisk::new();
    let store = create(&disk, options);
    if let Some(fault) = fault {
        disk.fail(fault);
    }
    let mut acknowledged = Model::default();
    for step in script() {
        let mut states = passes(&acknowledged, &step);
        if let Err(error) = take(&store, &step) {
            return StoppedWorkload { disk, store, acknowledged, states, error: Some(error) };
        }
        acknowledged = states.pop().unwrap();
    }
    StoppedWorkload { disk, store, acknowledged, states: Vec::new(), error: None }
}

impl StoppedWorkload {
    /// Opens the store after a crash, and checks that its state is allowed.
    fn recovers(&self, disk: &SimDisk, what: &str) -> Model {
        let store = Store::open(on(disk), small()).unwrap_or_else(|e| panic!("{what}: {e}"));
        let found = self.expect(&store, what);
        check_counts(&store, &found);
        found
    }

    fn expect(&self, store: &Store, what: &str) -> Model {
        let found = dump(&store.snapshot()).unwrap_or_else(|e| panic!("{what}: {e}"));
        if found != self.acknowledged && !self.states.contains(&found) {
            eprintln!("{what}: acknowledged, or one step further, was expected");
            check_store(store, &self.acknowledged);
        }
        found
    }
}

fn power_failure(nth: u64) -> DiskFault {
    DiskFault { target: FaultTarget::Changes, nth, kind: ErrorKind::Other, lasting: true }
}

/// The number of disk changes of the script.
fn changes() -> u64 {
    let disk = SimDisk::new();
    let store = create(&disk, small());
    let before = disk.changes();
    for step in script() {
        take(&store, &step).unwrap();
    }
    disk.changes() - before
}

/// Every number of `1..=n`, or as many as the depth asks for.
fn moments(n: u64, seed: u64) -> Vec<u64> {
    (1 + seed % every() as u64..=n).step_by(every()).collect()
}

#[test]
fn script_runs_and_agrees_with_the_model() {
    let _again = rerun_hint();
    let done = run_until(small(), None);
    check_store(&done.store, &done.acknowledged);
    assert!(done.acknowledged.page_count() >= 2);
    assert!(changes() > 200);
}

#[test]
fn crash_leaves_the_acknowledged_state_or_one_step_more() {
    let _again = rerun_hint();
    let (mut behind, mut further) = (0, 0);
    for stop in moments(changes(), 0) {
        let stopped = run_until(small(), Some(power_failure(stop)));
        assert!(stopped.error.is_some() || stop == changes(), "change {stop} did not fail");
        let mut disks = vec![
            ("everything kept".to_owned(), stopped.disk.crash_all_kept()),
            ("only what was synced kept".to_owned(), stopped.disk.crash_synced_only()),
        ];
        for seed in 0..4 {
            let mut choice = choice(stop * 100 + seed);
            disks.push((format!("seed {seed}"), stopped.disk.crash(&mut choice)));
        }
        for (what, disk) in disks {
            let found = stopped.recovers(&disk, &format!("change {stop}, {what}"));
            let count = if found == stopped.acknowledged { &mut behind } else { &mut further };
            *count += 1;
        }
    }
    assert!(behind > 0 && further > 0, "{behind} {further}");
}

#[test]
fn crash_during_recovery_changes_nothing() {
    let _again = rerun_hint();
    for stop in moments(changes(), 3).into_iter().step_by(9) {
        let stopped = run_until(small(), Some(power_failure(stop)));
        let crashed = stopped.disk.crash(&mut choice(stop));
        let expected = stopped.recovers(&crashed.crash_all_kept(), "the first recovery");
        let whole = crashed.crash_all_kept();
        drop(open(&whole, small()));
        for again in 1..=whole.changes() {
            let disk = crashed.crash_all_kept();
            disk.fail(power_failure(again));
            drop(Store::open(on(&disk), small()));
            for disk in [disk.crash(&mut choice(stop * again)), disk.crash_all_kept()] {
                let what = format!("change {stop}, then change {again} of the recovery");
                let found = stopped.recovers(&disk, &what);
                assert!(found == expected, "{what}: another state than before");
            }
        }
    }
}

#[test]
fn recovered_store_keeps_working() {
    let _again = rerun_hint();
    for stop in moments(changes(), 5).into_iter().step_by(5) {
        let stopped = run_until(small(), Some(power_failure(stop)));
        let disk = stopped.disk.crash(&mut choice(stop));
        let mut model = stopped.recovers(&disk.crash_all_kept(), "recovery");
        let store = open(&disk, small());
        for step in script().into_iter().take(9) {
            take(&store, &step).unwrap();
            model = passes(&model, &step).pop().unwrap();
        }
        check_store(&store, &model);
        sound(&store).unwrap();
        drop(store);
        check_store(&open(&disk.crash_synced_only(), small()), &model);
    }
}

#[test]
fn after_a_failed_write_writes_fail_and_reads_work() {
    let _again = rerun_hint();
    for stop in moments(changes(), 1) {
        let stopped = run_until(small(), Some(power_failure(stop)));
        let StoppedWorkload { disk, store, acknowledged, .. } = &stopped;
        let Some(error) = &stopped.error else { continue };
        stopped.expect(store, &format!("change {stop}: the store that failed ({error})"));
        let page = observation(&mut choice(1), 10, 1_000);
        store.observe(page).unwrap_err();
        disk.heal();
        // Acknowledged operations must survive any earlier failure; so either the operation is refused,
        // or the failed step (a merge) left the journal unchanged.
        match store.observe(page) {
            Err(Error::Poisoned(_)) => {
                stopped.expect(store, "reading on");
                assert!(matches!(store.seal(), Err(Error::Poisoned(_))));
                assert!(matches!(store.forget(Scope::Url(page.url)), Err(Error::Poisoned(_))));
            }
            Err(e) => panic!("change {stop}: expected a refusal, found {e}"),
            Ok(_) => {
                let mut model = acknowledged.clone();
                model.observe(&page, 3);
                check_store(&open(&disk.crash_synced_only(), small()), &model);
            }
        }
        // Closing a failed store may report it; it must not hang or panic.
        let _ = stopped.store.clone().close();
        drop(stopped);
    }
}

#[test]
fn store_is_created_whole_or_not_at_all() {
    let _again = rerun_hint();
    let whole = SimDisk::new();
    drop(Store::create(on(&whole), small()).unwrap());
    for stop in 1..=whole.changes() {
        let disk = SimDisk::new();
        disk.fail(power_failure(stop));
        let created = Store::create(on(&disk), small()).is_ok();
        let mut crashed = vec![disk.crash_all_kept(), disk.crash_synced_only()];
        crashed.extend((0..8).map(|seed| disk.crash(&mut choice(stop * 100 + seed))));
        // The fault is over, and the same directory is tried again.
        disk.heal();
        crashed.push(disk);
        for (i, disk) in crashed.into_iter().enumerate() {
            let what = format!("change {stop}, disk {i}");
            let store = match Store::open(on(&disk), small()) {
                Ok(store) => store,
                Err(Error::NotAStore { .. }) if !created => {
                    Store::create(on(&disk), small()).unwrap_or_else(|e| panic!("{what}: {e}"))
                }
                Err(e) => panic!("{what}: {e}"),
            };
            check_store(&store, &Model::default());
            assert_eq!(names(store.snapshot().epochs()), ["one"]);
            drop(store);
            let again = Store::create(on(&disk), small());
            assert!(matches!(again, Err(Error::StoreExists { .. })), "{what}");
        }
    }
}

#[test]
fn batch_that_fits_the_memtable_is_atomic() {
    let _again = rerun_hint();
    let options = small().memtable_observations(1000);
    let batch: Vec<_> = (0..100).map(|i| observation(&mut choice(i), 10, 0)).collect();
    for stop in 1.. {
        let disk = SimDisk::new();
        let store = create(&disk, options.clone());
        disk.fail(power_failure(stop));
        if store.observe_batch(&batch).is_ok() {
            assert!(stop > 3);
            break;
        }
        let mut whole = Model::default();
        batch.iter().for_each(|o| drop(whole.observe(o, 3)));
        for seed in 0..20 {
            let store = open(&disk.crash(&mut choice(seed)), options.clone());
            let found = dump(&store.snapshot()).unwrap();
            assert!(found == Model::default() || found == whole, "change {stop}, seed {seed}");
        }
    }
}

#[test]
fn registered_epoch_survives_a_crash() {
    let _again = rerun_hint();
    for stop in 1.. {
        let disk = SimDisk::new();
        let store = create(&disk, small());
        disk.fail(power_failure(stop));
        let registered = store.register_epoch("three", Role::Both);
        for seed in 0..5 {
            let store = open(&disk.crash(&mut choice(stop * 100 + seed)), small());
            let epochs = store.snapshot().epochs().to_vec();
            let epochs = names(&epochs);
            assert_eq!(epochs[..2], ["one", "two"]);
            match &registered {
                Ok(epoch) => assert_eq!((*epoch, epochs.len()), (Epoch::from_number(2), 3)),
                Err(_) => assert!(epochs.len() == 2 || epochs[2] == "three"),
            }
            assert_eq!(store.register_epoch("three", Role::Both).unwrap(), Epoch::from_number(2));
        }
        if registered.is_ok() {
            assert!(stop > 3);
            break;
        }
    }
}

/// A reader may keep a handle that outlives its store, whose file numbers may have been reused.
#[test]
fn snapshot_of_a_failed_store_leaves_the_reopened_one_alone() {
    let _again = rerun_hint();
    for stop in moments(changes(), 4) {
        let disk = SimDisk::new();
        let store = create(&disk, small());
        disk.fail(DiskFault { lasting: false, ..power_failure(stop) });
        let mut snapshots = Vec::new();
        for step in script() {
            let failed = take(&store, &step).is_err();
            snapshots.push(store.snapshot());
            if failed {
                break;
            }
        }
        disk.heal();
        drop(store.close());
        let store = open(&disk, small());
        let mut model = dump(&store.snapshot()).unwrap();
        for step in script().into_iter().skip(3) {
            take(&store, &step).unwrap();
            model = passes(&model, &step).pop().unwrap();
        }
        drop(snapshots);
        check_store(&store, &model);
        drop(store);
        check_store(&open(&disk, small()), &model);
    }
}

#[test]
fn crash_during_background_work_loses_nothing() {
    let _again = rerun_hint();
    let options = small().background(true);
    for run in 0..deep(300) {
        let mut choice = choice(run);
        let stopped = run_until(options.clone(), Some(power_failure(1 + choice(changes()))));
        for _ in 0..3 {
            let disk = stopped.disk.crash(&mut choice);
            stopped.recovers(&disk, &format!("run {run}"));
        }
        stopped.recovers(&stopped.disk.crash_all_kept(), &format!("run {run}, killed"));
    }
}

#[test]
fn each_thread_finds_its_acknowledged_observations_after_a_crash() {
    let _again = rerun_hint();
    const THREADS: usize = 8;
    let options = small().background(true);
    for run in 0..deep(150) {
        let disk = SimDisk::new();
        let store = create(&disk, options.clone());
        let mut random = choice(run);
        disk.fail(power_failure(1 + random(600)));
        let acknowledged: Vec<usize> = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..THREADS)
                .map(|thread| {
                    let store = store.clone();
                    scope.spawn(move || {
                        let visits = 0..40;
                        let mut done = visits.map(|t| store.observe(numbered(thread, t)).is_ok());
                        done.position(|ok| !ok).unwrap_or(40)
                    })
                })
                .collect();
            threads.into_iter().map(|t| t.join().unwrap()).collect()
        });
        let mut disks = vec![disk.crash_all_kept(), disk.crash_synced_only()];
        disks.push(disk.crash(&mut random));
        for disk in disks {
            let store = open(&disk, options.clone());
            for (thread, &done) in acknowledged.iter().enumerate() {
                let history = store.history(URLS[thread]).unwrap();
                let times: Vec<i64> = history.iter().map(|e| e.entry().time().as_ms()).collect();
                let found = times.len();
                assert!(times.iter().copied().eq(0..found.try_into().unwrap()), "{times:?}");
                assert!(found == done || found == done + 1, "{found} of {done} acknowledged");
            }
        }
    }
}

/// The observation of a thread's own page at a time.
fn numbered(thread: usize, time: i64) -> Observation<'static> {
    let digest = Digest([u8::try_from(time % 50).unwrap(); 16]);
    Observation::content(URLS[thread], ms(time), 77, Epoch::from_number(0)).digest(digest)
}

#[test]
fn crash_keeps_flushed_and_a_prefix_of_later_observations() {
    let _again = rerun_hint();
    let options = small().durability(Durability::OnFlush);
    let options = options.memtable_observations(1000);
    for flushed in [0, 1, 5, 12] {
        let disk = SimDisk::new();
        let store = create(&disk, options.clone());
        let mut states = vec![Model::default()];
        for time in 0..20 {
            if time == flushed {
                store.flush().unwrap();
            }
            store.observe(numbered(0, time)).unwrap();
            let mut model = states.last().unwrap().clone();
            model.observe(&numbered(0, time), 3);
            states.push(model);
        }
        let flushed = usize::try_from(flushed).unwrap();
        for seed in 0..10 {
            let store = open(&disk.crash(&mut choice(seed)), options.clone());
            let found = dump(&store.snapshot()).unwrap();
            assert!(states[flushed..].contains(&found), "{flushed} flushed, seed {seed}");
        }
        store.close().unwrap();
        check_store(&open(&disk.crash_synced_only(), options.clone()), &states[20]);
    }
}

#[test]
fn nothing_is_synced_without_a_flush() {
    let _again = rerun_hint();
    let disk = SimDisk::new();
    let meter = simkeep::disk::Meter::counting(on(&disk));
    let shared: Arc<dyn Disk> = Arc::new(meter.clone());
    let options = small().durability(Durability::OnFlush).memtable_observations(1000);
    let store = Store::create(shared, options).unwrap();
    let before = meter.counts();
    for time in 0..100 {
        store.observe(numbered(0, time)).unwrap();
    }
    assert_eq!(meter.counts().since(&before).file_syncs, 0);
    store.flush().unwrap();
    assert!(meter.counts().since(&before).file_syncs > 0);
}
