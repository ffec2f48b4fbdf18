//! A store that is not in memory: the cost of opening it in a new process, and of the first
//! searches.
//!
//! The files are dropped from the page cache (posix_fadvise(2); on systems other than Linux they
//! stay there). Then another process opens the store and searches it. One process searches as a
//! crawler does; another uses [`Explanation`], which counts only the page faults of tables.

use std::fs::File;
use std::path::Path;
use std::process::Command;
use std::time::Instant;

use simkeep::query::Explanation;
use simkeep::{Options, Query, Store};
use simkeep_testing::bench::report::{BenchReport, BenchRow};

use crate::data::{DataRandom, FingerprintSpread};
use crate::fill;
use crate::process::{FaultCounts, anonymous_bytes, touched};
use crate::times::SearchTimes;

/// The argument that makes a process of this benchmark the one that opens the store.
pub(crate) const CHILD: &str = "--open-cold";
/// The number of searches.
const QUERIES: usize = 100;
/// The maximum distance.
const K: u32 = 3;

/// Creates a store, and lets other processes open it without its files in cache.
pub(crate) fn run(report: &BenchReport, dir: &Path, n: usize) {
    let path = fill::place(dir);
    let fingerprints = (0..n).map(|i| FingerprintSpread::Uniform.fingerprint(i));
    fill::store(&path, fingerprints, Options::default()).close().unwrap();
    let (mut files, mut bytes) = (0, 0);
    for asked in ["search", "explain"] {
        (files, bytes) = drop_all_from_cache(&path);
        let status = Command::new(std::env::current_exe().unwrap())
            .args([CHILD, asked, if report.json { "json" } else { "text" }])
            .arg(&path)
            .status()
            .unwrap();
        assert!(status.success(), "the process that opened the store failed");
    }
    report.print(
        BenchRow::new("cold_store")
            .count("n", n as u64)
            .count("files", files)
            .count("bytes", bytes),
    );
    std::fs::remove_dir_all(path).unwrap();
}

/// Drops all files under a directory from the page cache. Returns their number and their bytes.
fn drop_all_from_cache(dir: &Path) -> (u64, u64) {
    let paths = dir.read_dir().unwrap().map(|entry| entry.unwrap().path());
    paths.fold((0, 0), |(files, bytes), path| {
        let (more_files, more_bytes) = if path.is_dir() {
            drop_all_from_cache(&path)
        } else {
            let file = File::open(path).unwrap();
            drop_from_cache(&file);
            (1, file.metadata().unwrap().len())
        };
        (files + more_files, bytes + more_bytes)
    })
}

/// Data that are not on the disk yet would stay in the cache, so the file is synced first.
fn drop_from_cache(file: &File) {
    file.sync_all().unwrap();
    #[cfg(target_os = "linux")]
    rustix::fs::fadvise(file, 0, None, rustix::fs::Advice::DontNeed).unwrap();
}

/// The main function of the other process.
pub(crate) fn child(report: &BenchReport, asked: &str, path: &Path) {
    let (memory, before, start) = (anonymous_bytes(), FaultCounts::now(), Instant::now());
    let store = Store::open(path, Options::default()).unwrap();
    let seconds = start.elapsed().as_secs_f64();
    let (opened, memory_opened) = (FaultCounts::now(), anonymous_bytes());
    let stats = store.stats().unwrap();
    let more = |memory: Option<u64>, before| {
        memory.zip(before).map(|(after, before): (u64, u64)| after.saturating_sub(before))
    };
    report.print(
        BenchRow::new("cold_open")
            .count("pages", stats.pages)
            .count("segments", stats.segments.len() as u64)
            .number("seconds", seconds)
            .and(touched(before, opened))
            .known("anonymous_bytes", memory_opened)
            .known("anonymous_bytes_more", more(memory_opened, memory)),
    );
    let queries = FingerprintSpread::Uniform.strangers(&mut DataRandom(0xc01d), QUERIES);
    let row = BenchRow::new("cold_searches")
        .text("by", asked)
        .count("pages", stats.pages)
        .count("searches", QUERIES as u64)
        .count("k", K.into());
    let before = FaultCounts::now();
    let row = if asked == "search" {
        let start = Instant::now();
        let times = SearchTimes::of(&queries, |query| {
            store.snapshot().search(&Query::new(query, K)).unwrap()
        });
        let seconds = start.elapsed().as_secs_f64();
        row.number("seconds", seconds)
            .and(|row| times.add(row))
            .and(touched(before, FaultCounts::now()))
    } else {
        let (mut minor, mut major, mut major_most) = (0, 0, 0);
        for query in queries {
            let explained = Explanation::of(&store.snapshot(), &Query::new(query, K)).unwrap();
            let faults = explained.components.iter().filter_map(|component| component.faults);
            let faults = faults.fold((0, 0), |sum, faults| (sum.0 + faults.0, sum.1 + faults.1));
            minor += faults.0;
            major += faults.1;
            major_most = major_most.max(faults.1);
        }
        row.number("table_faults_minor_per_search", minor as f64 / QUERIES as f64)
            .number("table_faults_major_per_search", major as f64 / QUERIES as f64)
            .count("table_faults_major_most", major_most)
    };
    report.print(row.known("anonymous_bytes_more", more(anonymous_bytes(), memory)));
    store.close().unwrap();
}
