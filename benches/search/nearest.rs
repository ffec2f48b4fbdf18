//! The nearest pages, compared with a search that knows their distance; and searches with a budget.
//!
//! A search for the nearest pages should cost at most three times as much as the other. A budget
//! should be exceeded at most by a factor of 2.

use std::path::Path;
use std::time::{Duration, Instant};

use simkeep::{Options, Query, Store};
use simkeep_testing::bench::report::{BenchReport, BenchRow};

use crate::data::{DataRandom, FingerprintSpread};
use crate::fill;
use crate::times::SearchTimes;

/// The number of nearest pages.
const COUNT: usize = 5;
/// The number of timed searches.
const QUERIES: usize = 200;
/// Budgets, in milliseconds.
const BUDGETS: [u64; 2] = [1, 10];

/// Searches a store of `n` pages of each kind.
pub(crate) fn run(report: &BenchReport, dir: &Path, n: usize) {
    for kind in FingerprintSpread::ALL {
        let path = fill::place(dir);
        let fingerprints = (0..n).map(|i| kind.fingerprint(i));
        let store = fill::store(&path, fingerprints, Options::default());
        measure(report, &store, kind, n);
        fill::remove(store, &path);
    }
}

fn measure(report: &BenchReport, store: &Store, kind: FingerprintSpread, n: usize) {
    let mut random = DataRandom(0x4ea2);
    let queries = kind.strangers(&mut random, QUERIES);
    let nearest = |query| store.snapshot().search(&Query::nearest(query, COUNT)).unwrap();
    let within: Vec<u32> =
        queries.iter().map(|query| nearest(*query).near.last().unwrap().distance).collect();
    let known = |query| {
        let at = queries.iter().position(|other| *other == query).unwrap();
        store.snapshot().search(&Query::new(query, within[at]).limit(COUNT)).unwrap()
    };
    SearchTimes::of(&queries, known);
    let (nearest, known) = (SearchTimes::of(&queries, nearest), SearchTimes::of(&queries, known));
    let row = BenchRow::new("nearest")
        .text("data", kind.name())
        .count("n", n as u64)
        .count("count", COUNT as u64)
        .number(
            "last_hit_distance",
            within.iter().map(|d| f64::from(*d)).sum::<f64>() / QUERIES as f64,
        )
        .number("mean_ns", nearest.mean)
        .number("p99_ns", nearest.p99)
        .number("max_ns", nearest.max)
        .number("known_mean_ns", known.mean)
        .number("known_p99_ns", known.p99)
        .number("mean_to_known", nearest.mean / known.mean)
        .number("p99_to_known", nearest.p99 / known.p99);
    report.print(row);
    for ms in BUDGETS {
        let budget = Duration::from_millis(ms);
        let like = Query::nearest(0, COUNT).budget(budget);
        let mut took: Vec<f64> = Vec::new();
        for &fingerprint in &queries {
            let start = Instant::now();
            store.snapshot().search(&like.clone().fingerprint(fingerprint)).unwrap();
            took.push(start.elapsed().as_secs_f64() / budget.as_secs_f64());
        }
        took.sort_unstable_by(f64::total_cmp);
        report.print(
            BenchRow::new("budget")
                .text("data", kind.name())
                .count("n", n as u64)
                .count("budget_ms", ms)
                .number("p99_to_budget", took[QUERIES * 99 / 100])
                .number("max_to_budget", took[QUERIES - 1]),
        );
    }
}
