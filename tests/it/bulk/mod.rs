//! A load equals observing each visit, and stores all or nothing.

mod contents;
mod failures;
mod neighbours;

use simkeep::load::{LoadOptions, Loaded};
use simkeep::{Entry, Epoch, Observation, Operation, Result, Store};

use simkeep_testing::{choice, ms, request};

/// The smallest memory limit: some hundred observations per run.
const LITTLE: usize = 64 << 10;

fn little() -> LoadOptions {
    LoadOptions::default().memory_bytes(LITTLE)
}

fn load(store: &Store, requests: &[Operation<'_>]) -> Result<Loaded> {
    store.load(requests.iter().map(Ok), little())
}

/// Requests around a time, on recurring pages.
fn some(seed: u64, count: usize, time: i64) -> Vec<Operation<'static>> {
    let mut choice = choice(seed);
    let mut one = |n: usize| {
        let late = choice(count as u64 + 1).cast_signed();
        request(&mut choice, 16, time + i64::try_from(n).unwrap() - late)
    };
    let mut all: Vec<_> = (0..count).map(&mut one).collect();
    // Some requests occur twice.
    all.extend_from_within(..count / 4);
    all
}

/// Returns many distinct pages, each with one or two visits.
fn many(pages: u64, from: u64) -> Vec<(String, Entry)> {
    let mut choice = choice(pages ^ from);
    let mut all = Vec::new();
    for page in from..from + pages {
        let url = format!("https://h{}.example/a/{}/page-{page}", page % 97, choice(1000));
        for _ in 0..=choice(2) {
            let time = choice(1000).cast_signed();
            let fingerprint = choice(u64::MAX);
            let seen =
                Observation::content("x", ms(time), fingerprint, Epoch::from_number(0)).visit;
            all.push((url.clone(), seen.into()));
        }
    }
    for at in (1..all.len()).rev() {
        all.swap(at, usize::try_from(choice(at as u64 + 1)).unwrap());
    }
    all
}
