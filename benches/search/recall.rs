//! Checks that searches find everything: every distance from 0 to 16, on all distributions and in
//! tables of all shapes, individually and in batches, compared with brute force.

use std::path::Path;

use simkeep::query::Explanation;
use simkeep::{Matches, Options, Query, Store};
use simkeep_testing::bench::report::{BenchReport, BenchRow};

use crate::data::{self, DataRandom, FingerprintSpread};
use crate::fill;
use crate::truth::{self, HitScore, TrueHit};

/// The maximum distance.
const K_MAX: u32 = 16;
/// The number of queries for each distribution, a third each: random ones, fingerprints of pages,
/// and near ones.
const QUERIES: usize = 30;
/// The maximum bytes of tables for each fingerprint: enough for all shapes, for all but rotations,
/// for none.
const BYTES: [u32; 3] = [48, 40, 16];

/// Runs all checks. Panics if a result is missing or wrong.
pub(crate) fn run(report: &BenchReport, dir: &Path, n: usize) {
    for kind in FingerprintSpread::ALL {
        let fingerprints = kind.fingerprints(n);
        let mut random = DataRandom(0x7ec + n as u64);
        let mut queries = kind.strangers(&mut random, QUERIES / 3);
        queries.extend(data::planted(&mut random, &fingerprints, 0, QUERIES / 3));
        queries.extend(data::planted(&mut random, &fingerprints, K_MAX, QUERIES / 3));
        let near = |query: &u64| truth::near(&fingerprints, *query, K_MAX);
        let truths: Vec<Vec<TrueHit>> = queries.iter().map(near).collect();
        for fingerprint_bytes in BYTES {
            let path = fill::place(dir);
            let options = Options::default().fingerprint_bytes(fingerprint_bytes);
            let store = fill::store(&path, fingerprints.iter().copied(), options);
            for k in 0..=K_MAX {
                // The limit is the number of pages, so all of them are returned.
                let like = Query::new(0, k).limit(n);
                let singly = |fingerprint: &u64| like.clone().fingerprint(*fingerprint);
                let singly =
                    queries.iter().map(|query| store.snapshot().search(&singly(query)).unwrap());
                let singly = score(singly, &truths, k);
                let many = like.run_batch(&store.snapshot(), &queries).unwrap();
                let many = score(many.into_iter(), &truths, k);
                report.print(
                    BenchRow::new("recall")
                        .text("data", kind.name())
                        .count("n", n as u64)
                        .count("bytes_max", fingerprint_bytes.into())
                        .text("way", &way(&store, queries[0], k))
                        .count("k", k.into())
                        .count("searches", singly.searches)
                        .count("expected", singly.expected)
                        .number("recall", singly.recall())
                        .number("recall_of_many", many.recall()),
                );
            }
            fill::remove(store, &path);
        }
    }
}

/// Compares results with the hits within `k`, which come first in the truth.
fn score(answers: impl Iterator<Item = Matches>, truths: &[Vec<TrueHit>], k: u32) -> HitScore {
    let mut score = HitScore::default();
    for (answer, truth) in answers.zip(truths) {
        let within = truth.partition_point(|(distance, ..)| *distance <= k);
        score.add(&answer, &truth[..within]);
        assert_eq!(answer.within, Some(k), "all of the circle was searched");
    }
    assert_eq!(score.searches, truths.len() as u64, "each has an answer");
    score
}

/// The way of a query, and the shape of the tables that it searches.
fn way(store: &Store, query: u64, k: u32) -> String {
    let explained = Explanation::of(&store.snapshot(), &Query::new(query, k)).unwrap();
    let way = |component: &simkeep::query::ComponentSearch| {
        let shape = component.shape.map_or("memtable".to_owned(), |shape| format!("{shape:?}"));
        format!("{:?} of {shape}", component.plan.access_path)
    };
    explained.components.iter().map(way).collect::<Vec<_>>().join(", ")
}
