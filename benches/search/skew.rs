//! Data that is not evenly spread, beside data that is: single searches within 3 and for at most 100
//! pages, in turns, for the machine is not the same from one minute to the next.
//!
//! p99 should be at most 4 times that of uniform data on clustered ones, and 6 times on biased ones.

use std::path::Path;

use simkeep::{Options, Query, Store};

use crate::data::{self, Kind, Random};
use crate::fill;
use crate::times::{Times, median};
use crate::truth::{self, Score};
use simkeep_testing::bench::report::{Report, Row};

/// Largest distance.
const K: u32 = 3;
/// Answers at most.
const LIMIT: usize = 100;
/// Rounds of measurements.
const ROUNDS: usize = 5;
/// Searches of each kind that are compared with the truth.
const CHECKED: usize = 20;

/// Loads a store of each kind, and searches all of them.
pub(crate) fn run(report: &Report, dir: &Path, n: usize, queries: usize) {
    let stores = Kind::ALL.map(|kind| fill::loaded(dir, kind, n, Options::default()));
    let fingerprints = Kind::ALL.map(|kind| kind.fingerprints(n));
    stores.iter().zip(&fingerprints).for_each(|(store, pages)| fill::warm(store, pages));
    for name in ["strangers", "planted"] {
        let mut random = Random(0x5e3 + name.len() as u64);
        let mut rounds = Kind::ALL.map(|_| Vec::new());
        let mut ask = |kind: usize, count| match name {
            "strangers" => Kind::ALL[kind].strangers(&mut random, count),
            _ => data::planted(&mut random, &fingerprints[kind], K, count),
        };
        let mut scores = Kind::ALL.map(|_| Score::default());
        for (kind, score) in scores.iter_mut().enumerate() {
            for query in ask(kind, CHECKED) {
                let all = Query::new(query, K).limit(n);
                let truth = truth::near(&fingerprints[kind], query, K);
                score.add(&stores[kind].search(&all).unwrap(), &truth);
            }
        }
        for _ in 0..ROUNDS {
            for (kind, rounds) in rounds.iter_mut().enumerate() {
                rounds.push(time(&stores[kind], &ask(kind, queries)));
            }
        }
        for (kind, (all, score)) in rounds.iter().zip(&scores).enumerate() {
            let ratio = |figure: fn(&Times) -> f64| {
                median(all.iter().zip(&rounds[0]).map(|(own, even)| figure(own) / figure(even)))
            };
            let times = Times::median(all);
            report.print(
                Row::new("skew")
                    .text("data", Kind::ALL[kind].name())
                    .count("n", n as u64)
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

fn time(store: &Store, queries: &[u64]) -> Times {
    let like = Query::new(0, K).limit(LIMIT);
    Times::of(queries, |fingerprint| store.search(&like.clone().fingerprint(fingerprint)).unwrap())
}
