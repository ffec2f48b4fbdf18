//! All pairs within 3 bits: from fingerprints in memory, including the construction of tables, and
//! from a sealed store. Both run in turns and must find the same pairs.

use std::collections::HashSet;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use simkeep::query::FingerprintPairs;
use simkeep::search::Join;
use simkeep::{Options, Progress, Query, Store};
use simkeep_testing::bench::report::{BenchReport, BenchRow};

use crate::data::DataRandom;
use crate::times::{median, threads};
use crate::{fill, process};

/// The maximum distance.
const K: u32 = 3;
/// The memory of a join, as in a store.
const MEMORY_BYTES: usize = 256 << 20;
/// The number of rounds.
const ROUNDS: usize = 3;
/// The maximum number of fingerprints in sets that are not uniform.
const SKEWED_MAX: usize = 1_000_000;

/// The distribution of fingerprints.
#[derive(Clone, Copy, PartialEq, Eq)]
enum JoinData {
    /// Uniform, but one in ten is planted within 1 to 3 bits of another.
    Even,
    /// Each bit is set with a probability of 1/4, and 30 % share 16 bits; one in ten is planted
    /// likewise.
    Biased,
    /// The first distribution, except that 10,000 fingerprints are equal.
    Copied,
}

impl JoinData {
    fn name(self) -> &'static str {
        match self {
            JoinData::Even => "uniform",
            JoinData::Biased => "biased",
            JoinData::Copied => "copied",
        }
    }
}

/// The measurements of joins.
#[derive(Default)]
struct JoinTimes {
    seconds: Vec<f64>,
    processor_seconds: Vec<f64>,
    pairs: u64,
}

impl JoinTimes {
    /// Times a join that passes pairs to its sink in batches of any size.
    fn time(&mut self, join: impl FnOnce(&(dyn Fn(usize) -> ControlFlow<()> + Sync))) {
        let pairs = AtomicU64::new(0);
        let (start, before) = (Instant::now(), process::processor_seconds());
        join(&|found| {
            pairs.fetch_add(found as u64, Ordering::Relaxed);
            ControlFlow::Continue(())
        });
        self.seconds.push(start.elapsed().as_secs_f64());
        self.processor_seconds.push(process::processor_seconds() - before);
        self.pairs = pairs.into_inner();
    }

    fn row(&self, from: &str, data: JoinData, n: usize) -> BenchRow {
        BenchRow::new("pairs")
            .text("from", from)
            .text("data", data.name())
            .count("n", n as u64)
            .count("k", K.into())
            .count("memory_bytes", MEMORY_BYTES as u64)
            .count("threads", threads() as u64)
            .count("pairs", self.pairs)
            .count("rounds", ROUNDS as u64)
            .number("seconds", median(self.seconds.iter().copied()))
            .number("least", self.seconds.iter().copied().fold(f64::INFINITY, f64::min))
            .number("most", self.seconds.iter().copied().fold(0.0, f64::max))
            .number("processor_seconds", median(self.processor_seconds.iter().copied()))
    }
}

/// Joins sets of `n` fingerprints.
pub(crate) fn run(report: &BenchReport, dir: &Path, n: usize) {
    for data in [JoinData::Even, JoinData::Biased, JoinData::Copied] {
        if data == JoinData::Even || n <= SKEWED_MAX {
            of_data(report, dir, data, n);
        }
    }
}

fn of_data(report: &BenchReport, dir: &Path, data: JoinData, n: usize) {
    let mut fingerprints = fingerprints(data, n);
    let mut whole = JoinTimes::default();
    for _ in 0..ROUNDS {
        whole.time(|found| in_memory(&fingerprints, found));
    }
    report.print(whole.row("memory", data, n));
    let path = fill::place(dir);
    let store = fill::store(&path, fingerprints.iter().copied(), Options::default());
    // A store reports pairs of distinct fingerprints, each once. The fingerprints stay in their
    // original order, since a sorted column is faster to join.
    let mut known = HashSet::with_capacity(n);
    fingerprints.retain(|fingerprint| known.insert(*fingerprint));
    drop(known);
    let (mut distinct, mut sealed) = (JoinTimes::default(), JoinTimes::default());
    for _ in 0..ROUNDS {
        distinct.time(|found| in_memory(&fingerprints, found));
        sealed.time(|found| in_store(&store, found));
    }
    assert_eq!(sealed.pairs, distinct.pairs, "a store finds what is found in memory");
    let ratios = sealed.seconds.iter().zip(&distinct.seconds).map(|(store, memory)| store / memory);
    let ratio = median(ratios);
    report.print(distinct.row("memory, distinct", data, fingerprints.len()));
    let row = sealed.row("sealed store", data, fingerprints.len());
    report.print(row.number("seconds_to_memory", ratio));
    fill::remove(store, &path);
}

fn in_memory(fingerprints: &[u64], found: &(dyn Fn(usize) -> ControlFlow<()> + Sync)) {
    let join = Join::within(K).memory_bytes(MEMORY_BYTES);
    let end = join.run(fingerprints, &Progress::default(), |pairs| found(pairs.len()));
    assert_eq!(end, Ok(ControlFlow::Continue(())));
}

fn in_store(store: &Store, found: &(dyn Fn(usize) -> ControlFlow<()> + Sync)) {
    let like = Query::new(0, K);
    FingerprintPairs::selected_by(&like)
        .run(&store.snapshot(), &Progress::default(), |pairs| found(pairs.len()))
        .unwrap();
}

fn fingerprints(data: JoinData, n: usize) -> Vec<u64> {
    let mut random = DataRandom(0x7061_6972);
    let mut next = move || random.next();
    let mut fingerprints: Vec<u64> = Vec::with_capacity(n);
    for index in 0..n {
        let fingerprint = match data {
            _ if index % 10 == 9 => {
                let at = (next() % index as u64) as usize;
                let flips = 1 + next() % 3;
                (0..flips).fold(fingerprints[at], |near, _| near ^ 1 << (next() % 64))
            }
            JoinData::Even => next(),
            JoinData::Biased => {
                let biased = next() & next();
                if next() % 10 < 3 { biased & !(0xffff << 48) } else { biased }
            }
            JoinData::Copied if index < 11_000 => 0x0123_4567_89ab_cdef,
            JoinData::Copied => next(),
        };
        fingerprints.push(fingerprint);
    }
    fingerprints
}
