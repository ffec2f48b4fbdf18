//! Longer random workloads: crashes inside seals, merges and forgetting, after a failed sync, and during
//! recoveries.

use std::io::ErrorKind;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use simkeep::disk::{DiskFault, FaultTarget, OpKind, SimDisk};
use simkeep::{Durability, Store};

use super::begin::beginnings;
use super::script::{WorkloadStep, any_step, passes, take};
use super::under::{CrashTrial, ObservedDisk, each};
use simkeep_testing::depth::deep;
use simkeep_testing::model::Model;
use simkeep_testing::{RerunHint, choice, command, small};

/// The number of workloads per batch.
const ROUND: usize = 8;

fn run(trial: &Arc<CrashTrial>, begin: &(SimDisk, Model), seed: u64) {
    let mut random = choice(seed);
    let durability = if random(3) == 0 { Durability::OnFlush } else { Durability::Each };
    let memtable_observations = [3, 8, 16][usize::try_from(random(3)).unwrap()];
    let options = small().durability(durability).memtable_observations(memtable_observations);
    let what = format!("seed {seed}");
    let again = format!("SIMKEEP_SEED={seed} {}", command("many_calls"));
    let _again = RerunHint(again.clone());
    let disk = begin.0.crash_all_kept();
    // Seeds that the short workloads do not use.
    let under = ObservedDisk::new(disk, trial, options.clone(), &what, &again, 1 << 20 | seed);
    let mut store = Some(Store::open(under.hooked(), options.clone()).unwrap());
    let mut allowed = vec![begin.1.clone()];
    let mut time = 1000;
    for _ in 0..3 + random(12) {
        let mut during = allowed.clone();
        if random(8) == 0 {
            under.allow(allowed.clone(), false);
            store.take().unwrap().close().unwrap();
            allowed.drain(..allowed.len() - 1);
            store = Some(Store::open(under.hooked(), options.clone()).unwrap());
            continue;
        }
        let step = any_step(&mut random, &mut time);
        during.extend(passes(during.last().unwrap(), &step));
        let inside = !matches!(step, WorkloadStep::Operation(_) | WorkloadStep::Flush);
        under.allow(during.clone(), inside);
        let armed = random(12) == 0;
        if armed {
            // Data written before a failed sync may be lost or not, and no later sync helps.
            let strikes = FaultTarget::Only(OpKind::Sync);
            let nth = 1 + random(4);
            under.fail(DiskFault { target: strikes, nth, kind: ErrorKind::Other, lasting: false });
        }
        let done = take(store.as_ref().unwrap(), &step);
        if let Err(error) = done {
            assert!(armed, "{what}: {step:?}: {error}");
            under.look();
            return;
        }
        under.heal();
        let flushes = matches!(
            step,
            WorkloadStep::Flush
                | WorkloadStep::Seal
                | WorkloadStep::PurgeUrl(_)
                | WorkloadStep::PurgePrefix(_)
        );
        if durability == Durability::Each || flushes {
            during.drain(..during.len() - 1);
        }
        allowed = during;
        under.allow(allowed.clone(), false);
        under.look();
    }
    under.pause();
}

#[test]
fn c2_crash_in_a_long_workload_leaves_some_commit() {
    let states = deep(60_000);
    let recoveries = states / 10;
    let only = std::env::var("SIMKEEP_SEED").ok().map(|seed| seed.parse().unwrap());
    let trial = CrashTrial::new(160, only.is_some());
    let beginnings = beginnings();
    let one = |seed: u64| run(&trial, &beginnings[usize::from(seed % 2 == 1)], seed);
    if let Some(seed) = only {
        one(seed);
        return trial.report("one workload");
    }
    let workloads = AtomicUsize::new(0);
    while trial.crashes.states() < states
        || trial.crashes.inside() < states / 2
        || trial.recoveries.states() < recoveries
    {
        each(ROUND, |_| one(workloads.fetch_add(1, Ordering::Relaxed) as u64));
        if trial.has_failed() {
            break;
        }
    }
    trial.report(&format!("{} longer workloads", workloads.into_inner()));
}
