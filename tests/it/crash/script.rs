//! Workloads and the states that they pass through.

use simkeep::{Operation, Progress, Result, Scope, Store};

use simkeep_testing::model::Model;
use simkeep_testing::pages::{PREFIXES, URLS};
use simkeep_testing::{choice, request};

/// One call of a workload.
#[derive(Clone, Debug)]
pub(crate) enum WorkloadStep {
    Operation(Vec<Operation<'static>>),
    Seal,
    Merge,
    Flush,
    ForgetUrl(&'static str),
    ForgetPrefix(usize),
    PurgeUrl(&'static str),
    PurgePrefix(usize),
}

/// Memtables that fill up in the middle of a batch, histories over several segments, forgetting in each
/// kind of component, merges with and without forgotten pages.
pub(crate) fn script() -> Vec<WorkloadStep> {
    let mut choice = choice(7);
    let mut time = 0;
    let mut batch = |n: usize| {
        let mut requests = Vec::new();
        for _ in 0..n {
            time += 1;
            requests.push(request(&mut choice, 10, time));
        }
        WorkloadStep::Operation(requests)
    };
    vec![
        batch(1),
        batch(5),
        batch(1),
        WorkloadStep::Seal,
        batch(6),
        WorkloadStep::ForgetUrl(URLS[0]),
        batch(20),
        WorkloadStep::Merge,
        batch(1),
        WorkloadStep::ForgetPrefix(0),
        batch(3),
        WorkloadStep::Flush,
        WorkloadStep::Seal,
        batch(9),
        WorkloadStep::Seal,
        WorkloadStep::Merge,
        WorkloadStep::PurgeUrl(URLS[1]),
        batch(2),
        WorkloadStep::PurgePrefix(9),
        WorkloadStep::PurgePrefix(4),
        batch(40),
        WorkloadStep::ForgetPrefix(7),
        WorkloadStep::Seal,
        WorkloadStep::Merge,
        batch(4),
    ]
}

/// A random step; seals, merges and forgetting are the most frequent.
pub(crate) fn any_step(choice: &mut impl FnMut(u64) -> u64, time: &mut i64) -> WorkloadStep {
    let mut batch = |choice: &mut dyn FnMut(u64) -> u64, n: u64| {
        let mut choice = choice;
        let requests = (0..n).map(|_| {
            *time += 1;
            request(&mut choice, 12, *time)
        });
        WorkloadStep::Operation(requests.collect())
    };
    let url = |n: u64| URLS[usize::try_from(n).unwrap()];
    let prefix = |n: u64| usize::try_from(n).unwrap();
    match choice(16) {
        0..=3 => batch(choice, 1),
        4 | 5 => {
            let n = 2 + choice(24);
            batch(choice, n)
        }
        6..=8 => WorkloadStep::Seal,
        9..=11 => WorkloadStep::Merge,
        12 => WorkloadStep::ForgetUrl(url(choice(12))),
        13 => WorkloadStep::ForgetPrefix(prefix(choice(PREFIXES.len() as u64))),
        14 => match choice(2) {
            0 => WorkloadStep::PurgeUrl(url(choice(12))),
            _ => WorkloadStep::PurgePrefix(prefix(choice(PREFIXES.len() as u64))),
        },
        _ => WorkloadStep::Flush,
    }
}

pub(crate) fn take(store: &Store, step: &WorkloadStep) -> Result<()> {
    let prefix = |n: &usize| Scope::Prefix(PREFIXES[*n].prefix());
    match step {
        WorkloadStep::Operation(batch) => store.write_batch(batch).map(drop),
        WorkloadStep::Seal => store.seal(),
        WorkloadStep::Merge => store.merge(&Progress::default()).map(drop),
        WorkloadStep::Flush => store.flush(),
        WorkloadStep::ForgetUrl(url) => store.forget(Scope::Url(url)).map(drop),
        WorkloadStep::ForgetPrefix(n) => store.forget(prefix(n)).map(drop),
        WorkloadStep::PurgeUrl(url) => store.purge(Scope::Url(url), &Progress::default()).map(drop),
        WorkloadStep::PurgePrefix(n) => store.purge(prefix(n), &Progress::default()).map(drop),
    }
}

/// The states of a step, including its last one. A batch that exceeds the rest of the memtable is sealed
/// in between, and becomes durable in parts, in order.
pub(crate) fn passes(model: &Model, step: &WorkloadStep) -> Vec<Model> {
    let mut model = model.clone();
    let mut states = Vec::new();
    match step {
        WorkloadStep::Operation(batch) => {
            for request in batch {
                model.request(request, 3);
                states.push(model.clone());
            }
        }
        WorkloadStep::ForgetUrl(url) | WorkloadStep::PurgeUrl(url) => {
            model.forget(|u| u == *url);
        }
        WorkloadStep::ForgetPrefix(n) | WorkloadStep::PurgePrefix(n) => {
            model.forget(|u| PREFIXES[*n].covers(u));
        }
        WorkloadStep::Seal | WorkloadStep::Merge | WorkloadStep::Flush => {}
    }
    states.push(model);
    states
}
