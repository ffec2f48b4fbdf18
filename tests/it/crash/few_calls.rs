//! Every workload of up to three calls, with every state that a crash in its last call may leave.

use std::sync::Arc;

use simkeep::disk::SimDisk;
use simkeep::{Durability, Options, Progress, Scope, Snapshot, Store};

use super::begin::beginnings;
use super::under::{CrashTrial, ObservedDisk, each};
use simkeep_testing::depth::every;
use simkeep_testing::model::Model;
use simkeep_testing::pages::{PREFIXES, URLS};
use simkeep_testing::{RerunHint, choice, command, request, small};

#[derive(Clone, Copy, Debug, PartialEq)]
enum WorkloadCall {
    Observe,
    Flush,
    Seal,
    Merge,
    Forget,
    Snapshot,
    Reopen,
}

const CALLS: [WorkloadCall; 7] = [
    WorkloadCall::Observe,
    WorkloadCall::Flush,
    WorkloadCall::Seal,
    WorkloadCall::Merge,
    WorkloadCall::Forget,
    WorkloadCall::Snapshot,
    WorkloadCall::Reopen,
];

/// A running workload.
struct WorkloadRun {
    under: ObservedDisk,
    options: Options,
    store: Option<Store>,
    /// The states that a power failure between two calls may leave, newest last.
    allowed: Vec<Model>,
    held: Vec<Snapshot>,
}

impl WorkloadRun {
    fn model(&self) -> &Model {
        self.allowed.last().unwrap()
    }

    fn is_flushed(&self) -> bool {
        self.options.durability != Durability::OnFlush
    }

    /// Makes the call number `n` of its workload; if `looking`, checks the possible states after a
    /// crash.
    fn call(&mut self, call: WorkloadCall, n: usize, looking: bool) {
        let before = self.allowed.clone();
        let mut during = before.clone();
        let store = self.store.clone().unwrap();
        let mut random = choice(50 + n as u64);
        let mut doing: Box<dyn FnMut()> = match call {
            WorkloadCall::Observe => {
                let count = 1 + random(3).cast_signed() * 2;
                let mut model = self.model().clone();
                let mut requests = Vec::new();
                for time in 0..count {
                    let time = 100 * i64::try_from(n).unwrap() + time;
                    requests.push(request(&mut random, 6, time));
                    model.request(&requests[requests.len() - 1], 3);
                }
                // All of it fits into the memtable, so it is atomic.
                during.push(model);
                Box::new(move || drop(store.write_batch(&requests).unwrap()))
            }
            WorkloadCall::Flush => Box::new(move || store.flush().unwrap()),
            WorkloadCall::Seal => Box::new(move || store.seal().unwrap()),
            WorkloadCall::Merge => Box::new(move || {
                store.merge(&Progress::default()).unwrap();
            }),
            WorkloadCall::Forget => {
                let mut model = self.model().clone();
                let scope = if n.is_multiple_of(2) {
                    model.forget(|url| url == URLS[n]);
                    Scope::Url(URLS[n])
                } else {
                    model.forget(|url| PREFIXES[n - 1].covers(url));
                    Scope::Prefix(PREFIXES[n - 1].prefix())
                };
                during.push(model);
                Box::new(move || {
                    store.forget(scope.clone()).unwrap();
                })
            }
            WorkloadCall::Snapshot => {
                self.held.push(store.snapshot());
                Box::new(|| ())
            }
            WorkloadCall::Reopen => {
                self.store = None;
                let (hooked, options) = (self.under.hooked(), self.options.clone());
                let mut store = Some(store);
                let slot = &mut self.store;
                Box::new(move || {
                    store.take().unwrap().close().unwrap();
                    *slot = Some(Store::open(Arc::clone(&hooked), options.clone()).unwrap());
                })
            }
        };
        if looking {
            let inside =
                matches!(call, WorkloadCall::Seal | WorkloadCall::Merge | WorkloadCall::Forget);
            self.under.allow(during.clone(), inside);
        }
        doing();
        drop(doing);
        let durable = self.is_flushed()
            || matches!(call, WorkloadCall::Flush | WorkloadCall::Seal | WorkloadCall::Reopen);
        self.allowed = if durable { vec![during.pop().unwrap()] } else { during };
        if looking {
            self.under.allow(self.allowed.clone(), false);
            self.under.look();
            self.under.pause();
        }
    }
}

fn run(
    trial: &Arc<CrashTrial>,
    begin: &(SimDisk, Model),
    options: &Options,
    calls: &[WorkloadCall],
    n: usize,
) {
    let what = format!("workload {n}, {calls:?}");
    let again = format!("SIMKEEP_WORKLOAD={n} {}", command("few_calls"));
    let _again = RerunHint(again.clone());
    let disk = begin.0.crash_all_kept();
    let under = ObservedDisk::new(disk, trial, options.clone(), &what, &again, n as u64);
    let store = Store::open(under.hooked(), options.clone()).unwrap();
    let (store, held) = (Some(store), Vec::new());
    let mut run = WorkloadRun {
        under,
        options: options.clone(),
        store,
        allowed: vec![begin.1.clone()],
        held,
    };
    for (n, call) in calls.iter().enumerate() {
        // Shorter workloads have covered crashes in the earlier calls.
        run.call(*call, n, n + 1 == calls.len());
    }
}

#[test]
fn c2_crash_within_three_calls_leaves_some_commit() {
    let only = std::env::var("SIMKEEP_WORKLOAD").ok().map(|n| n.parse::<usize>().unwrap());
    let trial = CrashTrial::new(100, only.is_some());
    let beginnings = beginnings();
    let flushed = small().durability(Durability::OnFlush);
    let mut workloads = Vec::new();
    for begin in &beginnings {
        for options in [small(), flushed.clone()] {
            for len in 1..=3 {
                for n in 0..CALLS.len().pow(len) {
                    let calls = (0..len).map(|place| CALLS[n / 7usize.pow(place) % 7]);
                    workloads.push((begin, options.clone(), calls.collect::<Vec<_>>()));
                }
            }
        }
    }
    let chosen = |n: usize| only.map_or(choice(n as u64)(every() as u64) == 0, |only| only == n);
    each(workloads.len(), |n| {
        let (begin, options, calls) = &workloads[n];
        if chosen(n) && !trial.has_failed() {
            run(&trial, begin, options, calls, n);
        }
    });
    let tried = (0..workloads.len()).filter(|n| chosen(*n)).count();
    trial.report(&format!("{tried} of {} workloads of up to three calls", workloads.len()));
    if only.is_some() {
        return;
    }
    let (moments, whole) = trial.crashes.points();
    // At any depth about the same number for each workload.
    let of_all = |n: usize| (n * tried / workloads.len() / 2) as u64;
    assert!(moments > of_all(8_000) && whole == moments, "{whole} of {moments}");
    let (states, inside) = (trial.crashes.states(), trial.crashes.inside());
    assert!(states >= of_all(80_000) && inside >= of_all(40_000), "{inside} of {states}");
    let recoveries = trial.recoveries.states();
    assert!(recoveries >= of_all(40_000), "{recoveries}");
}
