//! Fingerprints that are made to be costly, compared with as many uniform ones: searches,
//! observations of new pages, and all pairs.
//!
//! Searches and observations should cost at most 20 times as much as with uniform fingerprints.
//! Pairs should cost at most 10 times as much, plus the cost of the pairs found.

use std::ops::ControlFlow;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use simkeep::query::FingerprintPairs;
use simkeep::{Durability, Epoch, Observation, Options, Progress, Query, Store};
use simkeep_testing::bench::report::{BenchReport, BenchRow};
use simkeep_testing::ms;

use crate::data::{self, DataRandom};
use crate::fill;
use crate::times::{SearchTimes, median};

/// The distances of searches, and of near pages in observations.
const DISTANCES: [u32; 2] = [3, 8];
/// The distance of pairs.
const K_PAIRS: u32 = 1;
/// The number of searches in a round.
const QUERIES: usize = 1000;
/// The number of new pages in a batch.
const BATCH: usize = 2000;
/// The number of pages in the memtable when observations are measured there.
const IN_MEMORY: usize = 100_000;
/// The number of rounds.
const ROUNDS: usize = 5;
/// The nanoseconds for each pair found, which are subtracted.
const PAIR_NS: f64 = 10.0;
/// The centre of all hostile fingerprints.
const CENTER: u64 = 0x0123_4567_89ab_cdef;

/// The distribution of fingerprints.
#[derive(Clone, Copy, PartialEq, Eq)]
enum HostileData {
    Uniform,
    /// Within this distance of [`CENTER`], nearly all of them at exactly that distance.
    Ball(u32),
    /// Equal except in this number of low bits.
    Low(u32),
}

impl HostileData {
    const ALL: [HostileData; 5] = [
        HostileData::Uniform,
        HostileData::Ball(4),
        HostileData::Ball(8),
        HostileData::Low(20),
        HostileData::Low(16),
    ];

    fn name(self) -> &'static str {
        match self {
            HostileData::Uniform => "uniform",
            HostileData::Ball(4) => "ball of radius 4",
            HostileData::Ball(_) => "ball of radius 8",
            HostileData::Low(20) => "equal in 44 bits",
            HostileData::Low(_) => "equal in 48 bits",
        }
    }

    /// Distinct fingerprints: `n`, or as many as exist.
    fn fingerprints(self, n: usize) -> Vec<u64> {
        let mut random = DataRandom(0x5eed);
        let mut all: Vec<u64> = (0..n).map(|_| self.random(&mut random)).collect();
        if self != HostileData::Uniform {
            // Balls are nearly full, so several attempts are needed.
            for _ in 0..8 {
                all.sort_unstable();
                all.dedup();
                let more: Vec<u64> = (all.len()..n).map(|_| self.random(&mut random)).collect();
                all.extend(more);
            }
        }
        all.sort_unstable();
        all.dedup();
        // Shuffles them.
        for at in (1..all.len()).rev() {
            all.swap(at, random.below(at + 1));
        }
        all
    }

    fn random(self, random: &mut DataRandom) -> u64 {
        match self {
            HostileData::Uniform => random.next(),
            HostileData::Ball(radius) => {
                (0..radius).fold(CENTER, |near, _| near ^ 1 << random.below(64))
            }
            HostileData::Low(bits) => CENTER ^ random.next() >> (64 - bits),
        }
    }
}

/// The nanoseconds for one distribution, by operation.
type HostileFigures = Vec<(String, f64)>;

/// Measures stores of `n` pages with each distribution.
pub(crate) fn run(report: &BenchReport, dir: &Path, n: usize) {
    let mut uniform = HostileFigures::new();
    for data in HostileData::ALL {
        let fingerprints = data.fingerprints(n);
        let figures = of_data(dir, &fingerprints);
        if data == HostileData::Uniform {
            uniform.clone_from(&figures);
        }
        for ((what, ns), (_, even)) in figures.into_iter().zip(&uniform) {
            report.print(
                BenchRow::new("hostile")
                    .text("data", data.name())
                    .count("n", n as u64)
                    .count("fingerprints", fingerprints.len() as u64)
                    .text("what", &what)
                    .number("ns", ns)
                    .number("to_uniform", ns / even),
            );
        }
    }
}

fn of_data(dir: &Path, fingerprints: &[u64]) -> HostileFigures {
    let path = fill::place(dir);
    let options = || Options::default().background(false).durability(Durability::OnFlush);
    let mut figures = HostileFigures::new();
    let mut random = DataRandom(7);
    let mut store = fill::store(&path, fingerprints.iter().copied(), options());
    for k in DISTANCES {
        // With uniform data, one page is near. In a dense bucket, more pages are returned, unless
        // the limit is lower.
        let all = Query::new(0, k);
        for (what, like) in [("search", all.clone()), ("search for one page", all.limit(1))] {
            let search = |fingerprint| {
                store.snapshot().search(&like.clone().fingerprint(fingerprint)).unwrap()
            };
            let queries = data::planted(&mut random, fingerprints, 1, QUERIES);
            let rounds: Vec<SearchTimes> =
                (0..=ROUNDS).map(|_| SearchTimes::of(&queries, search)).collect();
            let times = SearchTimes::median(&rounds[1..]);
            figures.push((format!("{what} within {k}, mean"), times.mean));
            figures.push((format!("{what} within {k}, 99 of 100"), times.p99));
        }
    }
    for place in ["sealed", "memory"] {
        for k in DISTANCES {
            store.close().unwrap();
            store = Store::open(&path, options().near_distance(Some(k))).unwrap();
            store.snapshot().warm_up(&Progress::default()).unwrap();
            if place == "memory" {
                observe(
                    &store,
                    &format!("memory-{k}"),
                    &fingerprints[..IN_MEMORY.min(fingerprints.len())],
                );
            }
            let rounds = (0..ROUNDS).map(|round| {
                let batch: Vec<u64> = (0..BATCH)
                    .map(|_| fingerprints[random.below(fingerprints.len())] ^ 2)
                    .collect();
                observe(&store, &format!("{place}-{k}-{round}"), &batch) / BATCH as f64
            });
            let rounds: Vec<f64> = rounds.collect();
            figures.push((format!("observe within {k}, {place}"), median(rounds.into_iter())));
            store.seal().unwrap();
            store.merge(&Progress::default()).unwrap();
        }
    }
    let pairs = AtomicU64::new(0);
    let rounds = (0..ROUNDS).map(|_| {
        pairs.store(0, Ordering::Relaxed);
        let start = Instant::now();
        let found = |found: &[_]| {
            pairs.fetch_add(found.len() as u64, Ordering::Relaxed);
            ControlFlow::Continue(())
        };
        let joined = FingerprintPairs::selected_by(&Query::new(0, K_PAIRS)).run(
            &store.snapshot(),
            &Progress::default(),
            found,
        );
        joined.unwrap();
        start.elapsed().as_nanos() as f64
    });
    let rounds: Vec<f64> = rounds.collect();
    let found = pairs.into_inner() as f64;
    let joined = median(rounds.into_iter());
    figures.push((format!("pairs within {K_PAIRS}, found"), found.max(1.0)));
    figures.push((format!("pairs within {K_PAIRS}"), joined));
    figures
        .push((format!("pairs within {K_PAIRS}, less {PAIR_NS} each"), joined - PAIR_NS * found));
    fill::remove(store, &path);
    figures
}

/// Observes new pages with these fingerprints. Returns the nanoseconds.
fn observe(store: &Store, name: &str, fingerprints: &[u64]) -> f64 {
    let urls: Vec<String> = (0..fingerprints.len())
        .map(|i| format!("https://host-{}.example/{name}/{i}", i % 512))
        .collect();
    let seen = urls.iter().zip(fingerprints);
    let seen = seen.map(|(url, fingerprint)| {
        Observation::content(url, ms(1_700_000_000_001), *fingerprint, Epoch::from_number(0))
    });
    let batch: Vec<Observation<'_>> = seen.collect();
    let start = Instant::now();
    for batch in batch.chunks(BATCH) {
        store.observe_batch(batch).unwrap();
    }
    start.elapsed().as_nanos() as f64
}
