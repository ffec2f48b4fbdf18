//! Searches in one sealed, merged segment.

use std::hint::black_box;
use std::path::Path;
use std::time::Instant;

use simkeep::{Matches, Options, Query, Store};
use simkeep_testing::bench::report::{BenchReport, BenchRow};

use crate::data::{self, DataRandom, FingerprintSpread};
use crate::times::{SearchTimes, threads};
use crate::{fill, truth};

/// The number of queries that are also answered by brute force.
const CHECKED: usize = 40;

pub(crate) fn run(
    report: &BenchReport,
    dir: &Path,
    kind: FingerprintSpread,
    n: usize,
    distances: &[u32],
    queries: usize,
) {
    let start = Instant::now();
    let store = fill::loaded(dir, kind, n, Options::default());
    let made = start.elapsed().as_secs_f64();
    let stats = store.stats().unwrap();
    report.print(
        BenchRow::new("store")
            .text("data", kind.name())
            .count("n", n as u64)
            .number("seconds", made)
            .count("fingerprints", stats.segments.iter().map(|s| s.fingerprints).sum())
            .number("bytes_per_page", stats.segment_bytes as f64 / n as f64),
    );
    let all = kind.fingerprints(n);
    for &k in distances {
        let mut random = DataRandom(u64::from(k) << 32 | 99);
        // Wide searches take long, and fewer of them suffice.
        let count = (queries >> (k.max(3) - 3)).max(60);
        let strangers = kind.strangers(&mut random, count);
        let planted = data::planted(&mut random, &all, k, count);
        for (name, queries) in [("strangers", strangers), ("planted", planted)] {
            measure(report, &store, kind, &all, k, name, &queries);
        }
    }
    store.close().unwrap();
}

fn measure(
    report: &BenchReport,
    store: &Store,
    kind: FingerprintSpread,
    all: &[u64],
    k: u32,
    name: &str,
    queries: &[u64],
) {
    let like = Query::new(0, k).limit(100);
    let search = |&fingerprint: &u64| {
        store.snapshot().search(&like.clone().fingerprint(fingerprint)).unwrap()
    };
    // Searches once to load everything into memory, and to check the results.
    let answers: Vec<Matches> = queries.iter().map(search).collect();
    let cut = answers.iter().filter(|matches| !matches.complete).count();
    let (mut known, mut found) = (0, 0);
    for (query, answer) in queries.iter().zip(&answers).take(CHECKED) {
        known += truth::near(all, *query, k).len().min(like.limit);
        found += answer.near.len();
        assert!(answer.near.iter().all(|near| (near.fingerprint ^ query).count_ones() <= k));
    }
    let times = SearchTimes::of(queries, |query| search(&query));
    let start = Instant::now();
    for query in queries {
        black_box(search(query));
    }
    let loop_ns = start.elapsed().as_nanos() as f64 / queries.len() as f64;
    let mut batch: Vec<u64> = Vec::new();
    while batch.len() < queries.len() * 5 {
        batch.extend(queries);
    }
    let start = Instant::now();
    let batched = black_box(like.run_batch(&store.snapshot(), &batch).unwrap());
    let batch_ns = start.elapsed().as_nanos() as f64 / batch.len() as f64;
    let differ = batched.iter().zip(answers.iter().cycle()).filter(|(a, b)| a != b).count();
    assert_eq!(differ, 0, "a batch answers like its queries");
    report.print(
        BenchRow::new("near")
            .text("data", kind.name())
            .count("n", all.len() as u64)
            .count("k", k.into())
            .text("queries", name)
            .number("hits_per_query", times.hits)
            .count("cut", cut as u64)
            .number("recall", if known == 0 { 1.0 } else { found as f64 / known as f64 })
            .and(|row| times.add(row))
            .number("loop_ns", loop_ns)
            .number("batch_ns", batch_ns)
            .number("batch_ns_per_thread", batch_ns * threads() as f64),
    );
}
