//! A million searches within 3 in one batch, in one sealed segment, on all cores.

use std::hint::black_box;
use std::path::Path;
use std::time::Instant;

use simkeep::{Options, Query};
use simkeep_testing::bench::report::{BenchReport, BenchRow};

use crate::data::{self, DataRandom, FingerprintSpread};
use crate::times::{median, threads};
use crate::{fill, process};

/// The number of searches in the batch.
const QUERIES: usize = 1_000_000;
/// The maximum distance.
const K: u32 = 3;
/// The number of rounds, each with other queries.
const ROUNDS: usize = 3;

/// Measures searches that find nothing, and searches that find a page.
pub(crate) fn run(report: &BenchReport, dir: &Path, n: usize) {
    let store = fill::loaded(dir, FingerprintSpread::Uniform, n, Options::default());
    let fingerprints = FingerprintSpread::Uniform.fingerprints(n);
    fill::warm(&store, &fingerprints);
    let mut random = DataRandom(0x3_1110);
    for name in ["strangers", "planted"] {
        let (mut seconds, mut processor, mut hits) = (Vec::new(), Vec::new(), 0);
        for _ in 0..ROUNDS {
            let queries = match name {
                "strangers" => FingerprintSpread::Uniform.strangers(&mut random, QUERIES),
                _ => data::planted(&mut random, &fingerprints, K, QUERIES),
            };
            let (start, before) = (Instant::now(), process::processor_seconds());
            let answers =
                black_box(Query::new(0, K).run_batch(&store.snapshot(), &queries).unwrap());
            seconds.push(start.elapsed().as_secs_f64());
            processor.push(process::processor_seconds() - before);
            hits = answers.iter().map(|answer| answer.near.len()).sum();
            if name == "planted" {
                assert!(answers.iter().all(|answer| !answer.near.is_empty()), "each finds one");
            }
        }
        let least = seconds.iter().copied().fold(f64::INFINITY, f64::min);
        let middle = median(seconds.iter().copied());
        report.print(
            BenchRow::new("million")
                .text("queries", name)
                .count("n", n as u64)
                .count("k", K.into())
                .count("searches", QUERIES as u64)
                .count("hits", hits as u64)
                .count("threads", threads() as u64)
                .count("rounds", ROUNDS as u64)
                .number("seconds", middle)
                .number("least", least)
                .number("processor_seconds", median(processor.into_iter()))
                .number("batch_ns", middle * 1e9 / QUERIES as f64),
        );
    }
    store.close().unwrap();
}
