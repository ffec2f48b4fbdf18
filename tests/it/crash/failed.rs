//! Each call to the disk fails in turn, once or permanently, in each way in which a disk fails.
//!
//! Either the store refuses all further operations until it is opened again, and names the cause; or the
//! failed operation had no effect, and the store continues. Reading works in both cases, and
//! acknowledged operations are there when the store is opened again.

use std::io::ErrorKind;
use std::sync::atomic::{AtomicU64, Ordering};

use simkeep::disk::{DiskFault, FaultTarget};
use simkeep::{Error, Store};

use super::begin::empty;
use super::script::{WorkloadStep, any_step, passes, script, take};
use super::under::each;
use simkeep_testing::compare::{check_counts, check_store, dump};
use simkeep_testing::depth::{deep, every};
use simkeep_testing::model::Model;
use simkeep_testing::{choice, observation, on, open, rerun_hint, small};

/// An I/O error, a full disk, and an interrupt. A failed write is half done, like a short write; a
/// failed sync loses its data.
const KINDS: [ErrorKind; 3] = [ErrorKind::Other, ErrorKind::StorageFull, ErrorKind::Interrupted];

/// The number of disk calls of a workload.
fn calls(steps: &[WorkloadStep]) -> u64 {
    let disk = empty();
    let store = open(&disk, small());
    let before = disk.operations();
    steps.iter().for_each(|step| take(&store, step).unwrap());
    disk.operations() - before
}

/// A workload in which one call fails.
struct FailingWorkload<'s> {
    steps: &'s [WorkloadStep],
    fault: DiskFault,
    what: String,
}

impl FailingWorkload<'_> {
    /// Returns whether the store refused to go on.
    #[expect(clippy::too_many_lines, reason = "one run of a store, step by step")]
    fn run(&self, seed: u64) -> bool {
        let FailingWorkload { steps, fault, what } = self;
        let disk = empty();
        let store = open(&disk, small());
        disk.record();
        disk.fail(*fault);
        let (mut acknowledged, mut states) = (Model::default(), Vec::new());
        let mut refused = false;
        for step in *steps {
            let passed = passes(&acknowledged, step);
            let Err(error) = take(&store, step) else {
                acknowledged = passed.last().unwrap().clone();
                continue;
            };
            let failed = disk.take_log().into_iter().find(|op| op.failed).expect("a call failed");
            let probe = observation(&mut choice(seed), 10, 1_000);
            match store.observe(probe) {
                Ok(_) => {
                    // A purge without space for the rewritten files has forgotten the pages
                    // nevertheless.
                    let purged =
                        matches!(step, WorkloadStep::PurgeUrl(_) | WorkloadStep::PurgePrefix(_));
                    let no_room = fault.kind == ErrorKind::StorageFull;
                    let harmless = no_room && (purged || matches!(step, WorkloadStep::Merge));
                    assert!(
                        harmless || !failed.kind.changes(),
                        "{what}: the store went on after {failed:?} in {step:?}"
                    );
                    let mut may_be = vec![acknowledged.clone()];
                    may_be.extend(passed.into_iter().filter(|_| purged));
                    may_be.iter_mut().for_each(|model| drop(model.observe(&probe, 3)));
                    acknowledged = dump(&store.snapshot()).unwrap();
                    let whole = may_be.contains(&acknowledged);
                    assert!(whole, "{what}: {step:?} was done in part");
                }
                // A permanent fault may fail the probe, too.
                Err(_) if fault.lasting => {
                    states = passed;
                    acknowledged_or_probed(&mut states, &probe);
                    refused = true;
                    break;
                }
                Err(Error::Poisoned(cause)) => {
                    assert!(!matches!(*cause, Error::Poisoned(_)), "{what}");
                    assert!(names_cause(&cause), "{what}: {error}, and the cause is {cause}");
                    states = passed;
                    for step in *steps {
                        let is_write = !matches!(step, WorkloadStep::Flush);
                        let refused = take(&store, step).is_err();
                        assert!(refused || !is_write, "{what}: {step:?} was accepted");
                    }
                    refused = true;
                    break;
                }
                Err(e) => panic!("{what}: {e}"),
            }
        }
        let expect = |store: &Store, when: &str| {
            let found = dump(&store.snapshot()).unwrap_or_else(|e| panic!("{what}: {when}: {e}"));
            if found != acknowledged && !states.contains(&found) {
                eprintln!("{what}: {when}: acknowledged, or one step further, was expected");
                check_store(store, &acknowledged);
                panic!("{what}: {when}: it is another state");
            }
            found
        };
        expect(&store, "reading on");
        // Closing may report the failure; it must not hang or panic.
        let _ = store.close();
        let left = [disk.crash_synced_only(), disk.crash_all_kept(), disk.crash(&mut choice(seed))];
        for (n, disk) in left.iter().enumerate() {
            let store = Store::open(on(disk), small());
            let store = store.unwrap_or_else(|e| panic!("{what}: opened again, {n}: {e}"));
            let found = expect(&store, "opened again");
            check_counts(&store, &found);
        }
        refused
    }
}

/// A failed observation may be there, after the earlier ones.
fn acknowledged_or_probed(states: &mut Vec<Model>, probe: &simkeep::Observation<'_>) {
    for mut state in states.clone() {
        state.observe(probe, 3);
        states.push(state);
    }
}

/// Whether an error names the unusable file, or reports that redb gave up.
fn names_cause(error: &Error) -> bool {
    matches!(error, Error::Io { .. } | Error::Catalog(_) | Error::Corrupt(_))
}

#[test]
fn c4_failed_call_stops_acknowledgements_but_not_reads() {
    let _again = rerun_hint();
    let wanted = deep(5_000);
    let (tried, refused) = (AtomicU64::new(0), AtomicU64::new(0));
    let stride = every() as u64;
    for seed in 0.. {
        // The script first, then random workloads.
        let steps = match seed {
            0 => script(),
            _ => {
                let (mut random, mut time) = (choice(seed), 0);
                (0..20).map(|_| any_step(&mut random, &mut time)).collect()
            }
        };
        let calls = calls(&steps) / stride;
        let ways = KINDS.map(|kind| [(kind, false), (kind, true)]);
        let ways = ways.as_flattened();
        each(usize::try_from(calls).unwrap() * ways.len(), |n| {
            let (n, (kind, lasting)) = (n / ways.len(), ways[n % ways.len()]);
            let nth = 1 + n as u64 * stride + seed % stride;
            let fault = DiskFault { target: FaultTarget::Any, nth, kind, lasting };
            let what = format!("workload {seed}, {fault:?}");
            let stopped = FailingWorkload { steps: &steps, fault, what }.run(nth);
            tried.fetch_add(1, Ordering::Relaxed);
            refused.fetch_add(u64::from(stopped), Ordering::Relaxed);
        });
        if tried.load(Ordering::Relaxed) >= wanted {
            break;
        }
    }
    let (tried, refused) = (tried.into_inner(), refused.into_inner());
    println!("{tried} failed calls; the store refused to go on after {refused} of them");
    assert!(refused > tried / 20);
}
