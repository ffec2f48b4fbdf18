//! A store as a crawl leaves it, compared with the same pages in one segment.
//!
//! It is grown by observations: 3 in 10 visits are to new pages, 7 to known pages. Half of the
//! latter find a change, so segments contain fingerprints that no page has any more. Sealing and
//! merging run concurrently. In the end, there are several segments, at most [`SEGMENTS_MAX`], and
//! a half-full memtable. While searches are timed, a crawler continues to observe. The other store
//! has the same visits, loaded into one segment. Rounds alternate between both stores. The p50 in
//! the first should be at most 3 times the p50 in the second.

mod pages;

use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use simkeep::load::{AsOperation, LoadOptions};
use simkeep::query::Explanation;
use simkeep::{Operation, Options, Progress, Query, Store};
use simkeep_testing::bench::report::{BenchReport, BenchRow};

use self::pages::CrawlPages;
use crate::data::{self, DataRandom, FingerprintSpread};
use crate::times::{SearchTimes, median};
use crate::truth::HitScore;
use crate::{fill, truth};

/// The maximum distance.
const K: u32 = 3;
/// The number of segments that the crawl may leave. Right after a large merge there are fewer than
/// the minimum, which is not representative.
const SEGMENTS_MIN: usize = 5;
const SEGMENTS_MAX: usize = 8;
/// The number of visits in a call while the store is grown.
const LOT: usize = 10_000;
/// The number of visits in a call of the concurrent crawler, and the time that it takes to fetch
/// them.
const FETCHED: usize = 200;
const FETCHING: Duration = Duration::from_millis(10);
/// The number of rounds.
const ROUNDS: usize = 5;
/// The number of searches of each kind that are compared with the truth, in each round.
const CHECKED: usize = 10;
/// The number of searches that are explained.
const EXPLAINED: usize = 1000;

/// The store, and its expected pages.
struct CrawledStore {
    store: Store,
    /// While this lock is held, the store has exactly these pages.
    pages: Mutex<CrawlPages>,
    /// The number of visits so far.
    visits: AtomicU64,
    /// The number of visits that fit into a memtable.
    memtable: usize,
}

/// Grows a store to at least `n` pages, and searches it.
pub(crate) fn run(report: &BenchReport, dir: &Path, n: usize, queries: usize) {
    let (path, merged_path) = (fill::place(dir), fill::place(dir));
    let crawl = CrawledStore::grow(report, &path, n);
    let merged = Store::create(&merged_path, Options::default()).unwrap();
    merged.copy_from(&crawl.store.snapshot(), LoadOptions::default()).unwrap();
    merged.snapshot().warm_up(&Progress::default()).unwrap();
    for (name, store) in [("crawl", &crawl.store), ("merged", &merged)] {
        fill::warm(store, crawl.pages.lock().unwrap().fingerprints());
        let stats = store.stats().unwrap();
        let row = BenchRow::new("crawl_store")
            .text("store", name)
            .count("pages", stats.pages)
            .count("visits", stats.visits)
            .count("segments", stats.segments.len() as u64)
            .count("fingerprints", stats.segments.iter().map(|s| s.fingerprints).sum())
            .count("unsealed_visits", stats.unsealed_visits);
        report.print(row);
    }
    explain(report, &crawl.store);
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let writer = scope.spawn(|| crawl.go_on(&stop));
        for name in ["strangers", "planted"] {
            compare(report, &crawl, &merged, name, queries);
        }
        stop.store(true, Ordering::Relaxed);
        let rate = writer.join().unwrap();
        let stats = crawl.store.stats().unwrap();
        report.print(
            BenchRow::new("crawl_writer")
                .number("observes_per_second", rate)
                .count("segments_at_end", stats.segments.len() as u64)
                .count("unsealed_visits_at_end", stats.unsealed_visits),
        );
    });
    fill::remove(crawl.store, &path);
    fill::remove(merged, &merged_path);
}

/// Reports the time of searches that find nothing, separately for segments and memtables.
fn explain(report: &BenchReport, store: &Store) {
    let queries = FingerprintSpread::Uniform.strangers(&mut DataRandom(0xe8), EXPLAINED);
    let explained = queries
        .iter()
        .map(|query| Explanation::of(&store.snapshot(), &Query::new(*query, K)).unwrap());
    let explained: Vec<Explanation> = explained.collect();
    let of = |in_segment: bool| {
        let of_one = |one: &Explanation| {
            let components = one.components.iter().filter(|c| c.segment.is_some() == in_segment);
            components.map(|component| component.counted.ns).sum::<f64>()
        };
        median(explained.iter().map(of_one))
    };
    report.print(
        BenchRow::new("crawl_explained")
            .count("searches", EXPLAINED as u64)
            .number("segments_ns", of(true))
            .number("memtables_ns", of(false))
            .number("search_ns", median(explained.iter().map(|e| e.took.as_nanos() as f64))),
    );
}

/// Times searches of one kind in both stores, in turns.
fn compare(report: &BenchReport, crawl: &CrawledStore, merged: &Store, name: &str, count: usize) {
    let like = Query::new(0, K).limit(100);
    let ask = |store: &Store, queries: &[u64]| {
        let search =
            |fingerprint| store.snapshot().search(&like.clone().fingerprint(fingerprint)).unwrap();
        SearchTimes::of(queries, search)
    };
    let mut random = DataRandom(0x9e3 + name.len() as u64);
    let mut score = HitScore::default();
    let (mut running, mut paused, mut one) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        let mut queries = |count| match name {
            "strangers" => FingerprintSpread::Uniform.strangers(&mut random, count),
            _ => {
                let pages = crawl.pages.lock().unwrap();
                data::planted(&mut random, pages.fingerprints(), K, count)
            }
        };
        let asked: [Vec<u64>; 3] = std::array::from_fn(|_| queries(count));
        for query in queries(CHECKED) {
            // The crawler waits while the lock is held.
            let pages = crawl.pages.lock().unwrap();
            let all = Query::new(query, K).limit(usize::MAX / 4);
            let truth = truth::near(pages.fingerprints(), query, K);
            score.add(&crawl.store.snapshot().search(&all).unwrap(), &truth);
        }
        running.push(ask(&crawl.store, &asked[0]));
        let _waits = crawl.pages.lock().unwrap();
        paused.push(ask(&crawl.store, &asked[1]));
        one.push(ask(merged, &asked[2]));
    }
    let stores = [("crawl", "running", &running), ("crawl", "paused", &paused)];
    for (store, writer, rounds) in stores.into_iter().chain([("merged", "none", &one)]) {
        let row = BenchRow::new("crawl_near")
            .text("queries", name)
            .text("store", store)
            .text("writer", writer)
            .count("k", K.into())
            .count("rounds", ROUNDS as u64);
        let times = SearchTimes::median(rounds);
        report.print(row.number("hits_per_query", times.hits).and(|row| times.add(row)));
    }
    let ratio = |crawl: &[SearchTimes], figure: fn(&SearchTimes) -> f64| {
        median(crawl.iter().zip(&one).map(|(crawl, merged)| figure(crawl) / figure(merged)))
    };
    report.print(
        BenchRow::new("crawl_ratio")
            .text("queries", name)
            .number("p50_to_merged", ratio(&running, |times| times.p50))
            .number("p99_to_merged", ratio(&running, |times| times.p99))
            .number("p50_to_merged_writer_paused", ratio(&paused, |times| times.p50))
            .number("p99_to_merged_writer_paused", ratio(&paused, |times| times.p99))
            .count("checked", score.searches)
            .count("expected", score.expected)
            .number("recall", score.recall()),
    );
}

impl CrawledStore {
    fn grow(report: &BenchReport, path: &Path, n: usize) -> CrawledStore {
        // A small store gets small memtables, so that it has as many segments as a large one.
        let memtable = Options::default().memtable_observations.min((n / 4).max(1000));
        let options = Options::default()
            .memtable_observations(memtable)
            // Pauses during measurements must not cause a seal.
            .seal_after(Duration::from_secs(24 * 3600));
        let store = Store::create(path, options).unwrap();
        let (pages, visits) = (Mutex::new(CrawlPages::new()), AtomicU64::new(0));
        let crawl = CrawledStore { store, pages, visits, memtable };
        let start = Instant::now();
        while crawl.pages.lock().unwrap().fingerprints().len() < n {
            crawl.observe(LOT.min(memtable));
        }
        while let Some(missing) = crawl.missing() {
            crawl.observe(missing.min(LOT));
        }
        let (seconds, visits) =
            (start.elapsed().as_secs_f64(), crawl.visits.load(Ordering::Relaxed));
        report.print(
            BenchRow::new("crawl_grown")
                .count("n", n as u64)
                .count("pages", crawl.pages.lock().unwrap().fingerprints().len() as u64)
                .count("visits", visits)
                .count("memtable_visits", memtable as u64)
                .number("seconds", seconds)
                .number("observes_per_second_to_rest", visits as f64 / seconds),
        );
        crawl
    }

    /// The approximate number of missing visits until the store is ready for measurements; `None`
    /// if it is ready.
    fn missing(&self) -> Option<usize> {
        self.store.wait_idle().unwrap();
        let stats = self.store.stats().unwrap();
        let (unsealed, half) = (stats.unsealed_visits as usize, self.memtable / 2);
        match stats.segments.len() {
            _ if unsealed < half => Some(half - unsealed),
            SEGMENTS_MIN..=SEGMENTS_MAX if unsealed < half + LOT => None,
            _ => Some(self.memtable - unsealed.min(self.memtable) + 1),
        }
    }

    /// Observes the next visits.
    fn observe(&self, count: usize) {
        let mut pages = self.pages.lock().unwrap();
        let visits = pages.visits(count);
        let requests: Vec<Operation<'_>> = visits.iter().map(AsOperation::operation).collect();
        self.store.write_batch(&requests).unwrap();
        self.visits.fetch_add(count as u64, Ordering::Relaxed);
    }

    /// Observes until `stop` is set; returns the visits per second.
    fn go_on(&self, stop: &AtomicBool) -> f64 {
        let (start, before) = (Instant::now(), self.visits.load(Ordering::Relaxed));
        while !stop.load(Ordering::Relaxed) {
            let fetched = Instant::now() + FETCHING;
            self.observe(FETCHED);
            std::thread::sleep(fetched.saturating_duration_since(Instant::now()));
        }
        let visits = self.visits.load(Ordering::Relaxed) - before;
        visits as f64 / start.elapsed().as_secs_f64()
    }
}
