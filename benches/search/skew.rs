//! Skewed data, compared with uniform data: individual searches within 3 and for at most 100 pages,
//! in turns, because the speed of the machine changes from one minute to the next.
//!
//! The p99 should be at most 4 times that of uniform data for clustered data, and 6 times for
//! biased data.

use std::path::Path;

use simkeep::{Options, Query, Store};
use simkeep_testing::bench::report::{BenchReport, BenchRow};

use crate::data::{self, DataRandom, FingerprintSpread};
use crate::fill;
use crate::times::{SearchTimes, median};
use crate::truth::{self, HitScore};

/// The maximum distance.
const K: u32 = 3;
/// The maximum number of results.
const LIMIT: usize = 100;
/// The number of rounds.
const ROUNDS: usize = 5;
/// The number of searches of each kind that are compared with the truth.
const CHECKED: usize = 20;

/// Fingerprints, and the distribution of queries that are unrelated to them.
pub(crate) struct SkewedData {
    pub(crate) name: &'static str,
    pub(crate) fingerprints: Vec<u64>,
    pub(crate) strangers: FingerprintSpread,
}

/// Compares all kinds of data.
pub(crate) fn run(report: &BenchReport, dir: &Path, n: usize, queries: usize) {
    let spread = |kind: FingerprintSpread| SkewedData {
        name: kind.name(),
        fingerprints: kind.fingerprints(n),
        strangers: kind,
    };
    compare(report, dir, &FingerprintSpread::ALL.map(spread), queries);
}

/// Loads a store of each, and searches all of them in turns. All are compared with the first.
pub(crate) fn compare(report: &BenchReport, dir: &Path, all: &[SkewedData], queries: usize) {
    let load = |spread: &SkewedData| {
        let fingerprints = spread.fingerprints.iter().copied();
        let store = fill::store(&fill::place(dir), fingerprints, Options::default());
        fill::warm(&store, &spread.fingerprints);
        store
    };
    let stores: Vec<Store> = all.iter().map(load).collect();
    for name in ["strangers", "planted"] {
        let mut random = DataRandom(0x5e3 + name.len() as u64);
        let mut rounds = vec![Vec::new(); all.len()];
        let mut ask = |of: usize, count| match name {
            "strangers" => all[of].strangers.strangers(&mut random, count),
            _ => data::planted(&mut random, &all[of].fingerprints, K, count),
        };
        let mut scores: Vec<HitScore> = all.iter().map(|_| HitScore::default()).collect();
        for (of, score) in scores.iter_mut().enumerate() {
            for query in ask(of, CHECKED) {
                let fingerprints = &all[of].fingerprints;
                let everything = Query::new(query, K).limit(fingerprints.len());
                let truth = truth::near(fingerprints, query, K);
                score.add(&stores[of].snapshot().search(&everything).unwrap(), &truth);
            }
        }
        for _ in 0..ROUNDS {
            for (of, rounds) in rounds.iter_mut().enumerate() {
                rounds.push(time(&stores[of], &ask(of, queries)));
            }
        }
        for ((spread, own), score) in all.iter().zip(&rounds).zip(&scores) {
            let ratio = |figure: fn(&SearchTimes) -> f64| {
                median(own.iter().zip(&rounds[0]).map(|(own, even)| figure(own) / figure(even)))
            };
            let times = SearchTimes::median(own);
            report.print(
                BenchRow::new("skew")
                    .text("data", spread.name)
                    .count("n", spread.fingerprints.len() as u64)
                    .count("k", K.into())
                    .count("limit", LIMIT as u64)
                    .text("queries", name)
                    .count("rounds", ROUNDS as u64)
                    .number("hits_per_query", times.hits)
                    .and(|row| times.add(row))
                    .number("p50_to_uniform", ratio(|times| times.p50))
                    .number("p99_to_uniform", ratio(|times| times.p99))
                    .number("p99_to_uniform_less_hits", ratio(|times| times.p99_less_hits))
                    .count("checked", score.searches)
                    .count("expected", score.expected)
                    .number("recall", score.recall()),
            );
        }
    }
}

fn time(store: &Store, queries: &[u64]) -> SearchTimes {
    let like = Query::new(0, K).limit(LIMIT);
    SearchTimes::of(queries, |fingerprint| {
        store.snapshot().search(&like.clone().fingerprint(fingerprint)).unwrap()
    })
}
