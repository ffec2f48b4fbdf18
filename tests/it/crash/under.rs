//! A store under observation: at each sync of its disk, and where each call returns, the possible states
//! after a crash are opened and compared with the allowed ones.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use simkeep::disk::{CrashUnit, Disk, DiskFault, OpKind, SimDisk};
use simkeep::{Options, Reader, Store};
use xxhash_rust::xxh3::xxh3_64_with_seed;

use super::crash_counts::{CrashCounts, image};
use super::states;
use simkeep_testing::compare::{check_counts, check_store, dump};
use simkeep_testing::disks::HookDisk;
use simkeep_testing::model::Model;
use simkeep_testing::{choice, on, sound};

/// One in this many recovered stores is also searched, scanned and verified; all of them if a single
/// workload is repeated.
const DEEPLY: u64 = 32;

/// The work of all workloads of a test, and their failures.
pub(crate) struct CrashTrial {
    /// States after crashes of workloads.
    pub(crate) crashes: CrashCounts,
    /// States after crashes of recoveries.
    pub(crate) recoveries: CrashCounts,
    /// One in this many recovered stores is also searched, scanned and verified.
    deeply: u64,
    /// One in this many recoveries is interrupted at each of its changes.
    cut_every: u64,
    failures: Mutex<Vec<String>>,
}

impl CrashTrial {
    /// Begins the trial of all workloads of a test, or of `one` that is repeated with everything tried.
    pub(crate) fn new(cut_every: u64, one: bool) -> Arc<CrashTrial> {
        Arc::new(CrashTrial {
            crashes: CrashCounts::default(),
            recoveries: CrashCounts::default(),
            deeply: if one { 1 } else { DEEPLY },
            cut_every: if one { 1 } else { cut_every },
            failures: Mutex::default(),
        })
    }

    /// Prints the numbers of tried states.
    ///
    /// # Panics
    ///
    /// If anything went wrong.
    pub(crate) fn report(&self, workloads: &str) {
        let (moments, whole) = self.crashes.points();
        println!(
            "{workloads}: {moments} moments, {whole} of them with every subset of pages; {} distinct \
             states, {} of them inside a seal, a merge or a forgetting; {} distinct states of \
             recoveries that were cut short",
            self.crashes.states(),
            self.crashes.inside(),
            self.recoveries.states(),
        );
        let failures = self.failures.lock().unwrap();
        assert!(failures.is_empty(), "{} failures, the first: {}", failures.len(), failures[0]);
    }

    pub(crate) fn has_failed(&self) -> bool {
        !self.failures.lock().unwrap().is_empty()
    }

    fn fail(&self, what: String) {
        eprintln!("{what}");
        self.failures.lock().unwrap().push(what);
    }
}

/// Calls a function with each number below `n`, on two threads.
pub(crate) fn each(n: usize, work: impl Fn(usize) + Sync) {
    let next = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                while let at = next.fetch_add(1, Ordering::Relaxed)
                    && at < n
                {
                    work(at);
                }
            });
        }
    });
}

/// The states with which crash states are compared.
#[derive(Default)]
struct ExpectedStates {
    /// The allowed states, newest last.
    allowed: Vec<Model>,
    /// Whether a seal, a merge or a forgetting is running.
    inside: bool,
    /// The number of moments so far.
    moments: u64,
    /// Whether crash states are checked.
    looking: bool,
}

/// A disk on which each sync is a moment to check.
#[derive(Clone)]
pub(crate) struct ObservedDisk {
    disk: SimDisk,
    trial: Arc<CrashTrial>,
    options: Options,
    expected: Arc<Mutex<ExpectedStates>>,
    /// The name of the workload.
    what: Arc<str>,
    /// The command that repeats it.
    again: Arc<str>,
    seed: u64,
}

impl ObservedDisk {
    pub(crate) fn new(
        disk: SimDisk,
        trial: &Arc<CrashTrial>,
        options: Options,
        what: &str,
        again: &str,
        seed: u64,
    ) -> ObservedDisk {
        let (trial, what, again) = (Arc::clone(trial), Arc::from(what), Arc::from(again));
        ObservedDisk { disk, trial, options, expected: Arc::default(), what, again, seed }
    }

    /// The disk to use for the store.
    pub(crate) fn hooked(&self) -> Arc<dyn Disk> {
        let under = self.clone();
        Arc::new(HookDisk::new(on(&self.disk), move |kind, _| {
            if matches!(kind, OpKind::Sync | OpKind::SyncDir(_)) {
                under.look();
            }
        }))
    }

    /// Injects a failure.
    pub(crate) fn fail(&self, fault: DiskFault) {
        self.disk.fail(fault);
    }

    pub(crate) fn heal(&self) {
        self.disk.heal();
    }

    /// Sets the states that a crash may leave from now on.
    pub(crate) fn allow(&self, allowed: Vec<Model>, inside: bool) {
        let mut expected = self.expected.lock().unwrap();
        (expected.allowed, expected.inside, expected.looking) = (allowed, inside, true);
    }

    /// Stops checking until states are allowed again.
    pub(crate) fn pause(&self) {
        self.expected.lock().unwrap().looking = false;
    }

    /// Generates and checks the possible states after a crash now.
    pub(crate) fn look(&self) {
        let mut expected = self.expected.lock().unwrap();
        // One failure is enough.
        if !expected.looking || self.trial.has_failed() {
            return;
        }
        expected.moments += 1;
        let moment = expected.moments;
        // A case includes the allowed states.
        let situation = self.seed << 20 | moment;
        let whole = states::each(&self.disk, situation, |disk, state| {
            let hash = image(&disk);
            if self.trial.crashes.is_new(hash, situation, expected.inside) {
                // By name, not by bytes, some of which contain the time.
                let case = xxh3_64_with_seed(state.as_bytes(), situation);
                let what = format!("{}, moment {moment}, {state}", self.what);
                self.check(&disk, case, &expected.allowed, &what);
            }
        });
        self.trial.crashes.point(whole);
    }

    /// `case` is a number that this state has in each run, so that the same states are checked in depth
    /// and interrupted each time, whatever the other threads do.
    fn check(&self, disk: &SimDisk, case: u64, allowed: &[Model], what: &str) {
        let mut lot = choice(case);
        let (deep, cut) = (lot(self.trial.deeply) == 0, lot(self.trial.cut_every) == 0);
        let Some(found) = self.recover(disk, allowed, deep, what) else { return };
        if cut {
            self.cut(disk, case, &found, what);
        }
    }

    /// Opens the store after a crash. Returns `None` if it is not as it must be.
    fn recover(&self, disk: &SimDisk, allowed: &[Model], deep: bool, what: &str) -> Option<Model> {
        let disk = disk.crash_all_kept();
        let recovered = catch_unwind(AssertUnwindSafe(|| {
            let store = Store::open(on(&disk), self.options.clone()).map_err(|e| e.to_string());
            let store = store.map_err(|e| format!("it does not open: {e}"))?;
            let found = dump(&store.snapshot()).map_err(|e| format!("it cannot be read: {e}"))?;
            if !allowed.contains(&found) {
                let last = allowed.last().unwrap();
                check_store(&store, last);
                return Err("it is none of the states that it may be".to_owned());
            }
            check_counts(&store, &found);
            if deep {
                check_store(&store, &found);
                sound(&store).map_err(|e| format!("it is not sound: {e}"))?;
                // As another process sees the store, now that it has a writer again.
                let reader = Reader::open(on(&disk)).map_err(|e| format!("no reader: {e}"))?;
                dump(&reader.snapshot()).map_err(|e| format!("a reader cannot read it: {e}"))?;
            }
            Ok(found)
        }));
        let why = match recovered {
            Ok(Ok(found)) => return Some(found),
            Ok(Err(why)) => why,
            Err(_) => "a panic, or an answer that is wrong".to_owned(),
        };
        self.trial.fail(format!("{what}: {why}\nto see it again: {}", self.again));
        None
    }

    /// Opens the store after a crash, and fails the power again at each change of the recovery.
    fn cut(&self, disk: &SimDisk, case: u64, found: &Model, what: &str) {
        let again = disk.crash_all_kept();
        let (under, on_disk, found) = (self.clone(), again.clone(), found.clone());
        let what = what.to_owned();
        let mut random = choice(case);
        let moments = Mutex::new((0u64, move |n| random(n)));
        let hooked = HookDisk::new(on(&again), move |_, _| {
            let (moment, random) = &mut *moments.lock().unwrap();
            *moment += 1;
            let units = on_disk.unsynced(CrashUnit::Page);
            let subsets = if units <= 3 { 1 << units } else { 6 };
            for subset in 0..subsets {
                let left = match subset {
                    _ if units <= 3 => {
                        on_disk.crash_keeping(CrashUnit::Page, |unit| subset >> unit & 1 == 1)
                    }
                    0 => on_disk.crash_synced_only(),
                    1 => on_disk.crash_all_kept(),
                    2 => on_disk.crash_keeping(CrashUnit::Page, |_| random(2) == 1),
                    _ => on_disk.crash(random),
                };
                if under.trial.recoveries.is_new(image(&left), case, false) {
                    let what = format!("{what}; then cut at change {moment} of the recovery");
                    under.recover(&left, std::slice::from_ref(&found), false, &what);
                }
            }
        });
        drop(Store::open(Arc::new(hooked), self.options.clone()));
    }
}
