//! The store under the load. Every observation has a verdict and a search for near pages.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use simkeep::disk::{Disk, DiskTraffic, Meter, RealDisk};
use simkeep::{Digest, Durability, Epoch, Observation, Options, Outcome, Role, Store, Verdict};
use simkeep_testing::bench::report::{BenchReport, BenchRow};
use simkeep_testing::ms;

use crate::load::{LoadVisit, ObserveBatch, ObserveLoad};
use crate::measure::{CallTimes, MemoryWatch};

/// The number of threads that observe one page at a time.
const THREADS: usize = 64;
/// The number of observations that they share.
const THREADS_OBSERVES: usize = 200_000;
/// The number of observations in a call while a store grows.
const GROW_BATCH: usize = 10_000;
/// The number of acknowledged calls before the process that makes them is killed: nearly as many
/// observations as a journal holds.
const CALLS_BEFORE_KILL: usize = 20;
/// The argument that makes a process of this benchmark the one to be killed.
pub(crate) const UNTIL_KILLED: &str = "--observe-until-killed";

/// A new store that counts its writes.
struct MeteredStore {
    store: Store,
    meter: Meter,
    /// The counts of creating the store.
    before: DiskTraffic,
    epoch: Epoch,
    /// The epoch for near pages, if it is not the first.
    near: Option<Epoch>,
}

fn options() -> Options {
    Options::default().durability(Durability::Each).epoch("bench".to_owned())
}

fn real(dir: &Path) -> Arc<dyn Disk> {
    Arc::new(RealDisk::new(dir))
}

impl MeteredStore {
    fn create(dir: &Path) -> MeteredStore {
        let meter = Meter::counting(real(dir));
        let store = Store::create(Arc::new(meter.clone()), options()).unwrap();
        let epoch = store.register_epoch("bench", Role::Both).unwrap();
        let before = meter.counts();
        MeteredStore { store, meter, before, epoch, near: None }
    }

    /// Creates a store with a second epoch for near pages.
    fn with_two_epochs(dir: &Path) -> MeteredStore {
        let one = MeteredStore::create(dir);
        let near = Some(one.store.register_epoch("near", Role::Near).unwrap());
        MeteredStore { before: one.meter.counts(), near, ..one }
    }

    fn observation<'a>(&self, url: &'a str, observe: &LoadVisit) -> Observation<'a> {
        let one = observation(url, observe, self.epoch);
        // The rotated fingerprint has the same distances to others as the original.
        self.near.map_or(one, |near| one.also(observe.fingerprint.rotate_left(21), near))
    }

    fn observe_batch(
        &self,
        batch: &ObserveBatch,
        calls: &mut CallTimes,
        found: &mut BenchVerdictCounts,
    ) {
        let observations: Vec<Observation<'_>> =
            batch.iter().map(|(url, observe)| self.observation(url, observe)).collect();
        let outcomes = calls.time(batch.len(), || self.store.observe_batch(&observations).unwrap());
        outcomes.iter().for_each(|outcome| found.add(outcome));
    }

    /// Adds the bytes written and the syncs per observation, for `observes` observations.
    fn costs(&self, row: BenchRow, observes: u64) -> BenchRow {
        let counts = self.meter.counts().since(&self.before);
        let syncs = counts.file_syncs + counts.dir_syncs;
        row.number("bytes_written_per_observe", counts.bytes_written as f64 / observes as f64)
            .number("syncs_per_observe", syncs as f64 / observes as f64)
    }

    fn sizes(&self, row: BenchRow) -> BenchRow {
        let stats = self.store.stats().unwrap();
        row.count("disk_bytes", stats.segment_bytes + stats.catalog_bytes)
            .number("disk_bytes_per_visit", stats.segment_bytes as f64 / stats.visits as f64)
            .count("segments", stats.segments.len() as u64)
    }
}

fn observation<'a>(url: &'a str, observe: &LoadVisit, epoch: Epoch) -> Observation<'a> {
    Observation::content(url, ms(observe.time), observe.fingerprint, epoch)
        .digest(Digest(observe.digest))
        .status(200)
}

/// Counts from the results. They show that the store answers.
#[derive(Default)]
struct BenchVerdictCounts {
    new: u64,
    near: u64,
}

impl BenchVerdictCounts {
    fn add(&mut self, outcome: &Outcome) {
        self.new += u64::from(outcome.verdict == Verdict::New);
        self.near += outcome.near.len() as u64;
    }
}

/// Observes until `urls` pages are known, in batches of `batch`. Returns observations per second.
pub(crate) fn run(report: &BenchReport, dir: &Path, seed: u64, urls: usize, batch: usize) -> f64 {
    let dir = dir.join("store");
    observe_all(report, (&dir, MeteredStore::create(&dir)), "simkeep", seed, urls, batch)
}

/// Observes the pages with a second fingerprint each, for near pages.
pub(crate) fn run_two(
    report: &BenchReport,
    dir: &Path,
    seed: u64,
    urls: usize,
    batch: usize,
) -> f64 {
    let dir = dir.join("two");
    let metered = MeteredStore::with_two_epochs(&dir);
    observe_all(report, (&dir, metered), "simkeep, two epochs", seed, urls, batch)
}

/// Observes the pages with a metrics recorder installed.
#[cfg(feature = "metrics")]
pub(crate) fn run_recorded(
    report: &BenchReport,
    dir: &Path,
    seed: u64,
    urls: usize,
    batch: usize,
) -> f64 {
    let dir = dir.join("recorded");
    let recording = simkeep_testing::recorder::MetricsRecording::default();
    let metered = metrics::with_local_recorder(&recording, || MeteredStore::create(&dir));
    let rate = observe_all(report, (&dir, metered), "simkeep, recorded", seed, urls, batch);
    let new = format!("simkeep_observations_total{{store={},verdict=new}}", dir.display());
    assert_eq!(recording.count(&new), urls as u64, "each new page is counted");
    rate
}

/// Without the `metrics` feature, nothing can be recorded.
#[cfg(not(feature = "metrics"))]
pub(crate) fn run_recorded(_: &BenchReport, _: &Path, _: u64, _: usize, _: usize) -> f64 {
    panic!("build this benchmark with --features metrics")
}

fn observe_all(
    report: &BenchReport,
    (dir, metered): (&Path, MeteredStore),
    engine: &str,
    seed: u64,
    urls: usize,
    batch: usize,
) -> f64 {
    let batches = ObserveLoad::new(seed, urls).batches(batch);
    let (mut calls, mut found) = (CallTimes::default(), BenchVerdictCounts::default());
    let start = Instant::now();
    for observes in &batches {
        metered.observe_batch(observes, &mut calls, &mut found);
    }
    let seconds = start.elapsed().as_secs_f64();
    metered.store.wait_idle().unwrap();
    let at_rest = start.elapsed().as_secs_f64();
    assert_eq!(found.new, urls as u64, "every page is new once");
    let observes = calls.observes();
    let rate = observes as f64 / seconds;
    let row = BenchRow::new("observe")
        .text("engine", engine)
        .count("urls", urls as u64)
        .count("batch", batch as u64)
        .count("observes", observes)
        .number("observes_per_second", rate)
        .number("seconds", seconds)
        .number("observes_per_second_to_rest", observes as f64 / at_rest)
        .count("near_found", found.near);
    report.print(metered.sizes(metered.costs(row, observes)).and(|row| calls.add(row)));
    metered.store.close().unwrap();
    std::fs::remove_dir_all(dir).unwrap();
    rate
}

/// Many threads observe one page at a time. They share commits, or each waits for its own sync.
pub(crate) fn run_threads(report: &BenchReport, dir: &Path, seed: u64) {
    let dir = dir.join("threads");
    let metered = MeteredStore::create(&dir);
    let mut observes = ObserveBatch::default();
    ObserveLoad::new(seed, THREADS_OBSERVES).fill(&mut observes, THREADS_OBSERVES);
    let next = AtomicUsize::new(0);
    let observe_singly = || {
        let mut calls = CallTimes::default();
        loop {
            let i = next.fetch_add(1, Ordering::Relaxed);
            if i >= observes.len() {
                return calls;
            }
            let (url, observe) = observes.get(i);
            let observation = observation(url, observe, metered.epoch);
            calls.time(1, || metered.store.observe(observation).unwrap());
        }
    };
    let start = Instant::now();
    let calls = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..THREADS).map(|_| scope.spawn(observe_singly)).collect();
        threads.into_iter().fold(CallTimes::default(), |mut all, thread| {
            all.append(thread.join().unwrap());
            all
        })
    });
    let seconds = start.elapsed().as_secs_f64();
    metered.store.wait_idle().unwrap();
    let observes = calls.observes();
    let row = BenchRow::new("threads")
        .text("engine", "simkeep")
        .count("threads", THREADS as u64)
        .count("observes", observes)
        .number("observes_per_second", observes as f64 / seconds)
        .number("seconds", seconds);
    report.print(metered.costs(row, observes).and(|row| calls.add(row)));
    metered.store.close().unwrap();
    std::fs::remove_dir_all(&dir).unwrap();
}

/// A store that was grown and closed.
pub(crate) struct GrownStore {
    dir: PathBuf,
    pages: usize,
    /// The time of the last observation, in milliseconds since 1970.
    time: i64,
}

/// Observes until `pages` pages are known, and reports the memory at several sizes.
pub(crate) fn grow(report: &BenchReport, dir: &Path, seed: u64, pages: usize) -> GrownStore {
    let watch = MemoryWatch::default();
    watch.during(|| grow_watched(report, dir, seed, pages, &watch))
}

/// Whether memory is reported at this size: 1, 3, 10, 30 million pages and so on.
fn is_reported(pages: usize) -> bool {
    pages >= 1_000_000 && {
        let digits = pages / 10_usize.pow(pages.ilog10());
        matches!(digits, 1 | 3) && pages.is_multiple_of(10_usize.pow(pages.ilog10()))
    }
}

fn grow_watched(
    report: &BenchReport,
    dir: &Path,
    seed: u64,
    pages: usize,
    watch: &MemoryWatch,
) -> GrownStore {
    let dir = dir.join("grown");
    let metered = MeteredStore::create(&dir);
    let mut load = ObserveLoad::new(seed, pages);
    let (mut observes, mut calls, mut found) =
        (ObserveBatch::default(), CallTimes::default(), BenchVerdictCounts::default());
    let mut highest = None;
    let start = Instant::now();
    while load.pages() < pages {
        let before = load.pages();
        load.fill(&mut observes, GROW_BATCH);
        watch.set_own(load.state_bytes());
        metered.observe_batch(&observes, &mut calls, &mut found);
        if let Some(size) = (before + 1..=load.pages()).find(|pages| is_reported(*pages)) {
            let (now, peak) = (watch.look(), watch.take_peak());
            highest = highest.max(peak);
            let row = BenchRow::new("memory").count("urls", size as u64);
            let row = row.count("observes", calls.observes()).known("anonymous_bytes", now);
            report.print(row.known("anonymous_bytes_peak_since", peak));
        }
    }
    let seconds = start.elapsed().as_secs_f64();
    metered.store.wait_idle().unwrap();
    highest = highest.max(watch.take_peak());
    let at_rest = start.elapsed().as_secs_f64();
    assert_eq!(found.new, pages as u64, "every page is new once");
    let observes = calls.observes();
    let row = BenchRow::new("grow")
        .text("engine", "simkeep")
        .count("urls", pages as u64)
        .count("batch", GROW_BATCH as u64)
        .count("observes", observes)
        .number("observes_per_second", observes as f64 / seconds)
        .number("seconds", seconds)
        .number("observes_per_second_to_rest", observes as f64 / at_rest)
        .known("anonymous_bytes", watch.look())
        .known("anonymous_bytes_highest", highest)
        .count("near_found", found.near);
    report.print(metered.sizes(metered.costs(row, observes)).and(|row| calls.add(row)));
    metered.store.close().unwrap();
    GrownStore { dir, pages, time: load.time() }
}

/// Measures opening a store after it was closed, and after the process that wrote to it was killed.
pub(crate) fn open(report: &BenchReport, grown: &GrownStore) {
    let visits = time_open(report, grown, "close");
    let acknowledged = observe_and_kill(grown);
    let recovered = time_open(report, grown, "kill -9");
    assert!(
        recovered >= visits + acknowledged,
        "{visits} visits and {acknowledged} more were acknowledged, {recovered} are there"
    );
}

/// Opens the store and searches it. Returns the number of visits in it.
fn time_open(report: &BenchReport, grown: &GrownStore, after: &str) -> u64 {
    let start = Instant::now();
    let store = Store::open(real(&grown.dir), options()).unwrap();
    let opened = start.elapsed().as_secs_f64();
    store.snapshot().near(0, 3).unwrap();
    let answered = start.elapsed().as_secs_f64();
    let stats = store.stats().unwrap();
    report.print(
        BenchRow::new("open")
            .text("after", after)
            .count("urls", grown.pages as u64)
            .count("visits", stats.visits)
            .count("unsealed_visits", stats.unsealed_visits)
            .number("open_seconds", opened)
            .number("first_answer_seconds", answered),
    );
    store.close().unwrap();
    stats.visits
}

/// Lets another process observe, and kills it. Returns the number of observations that it
/// acknowledged.
fn observe_and_kill(grown: &GrownStore) -> u64 {
    let mut child = Command::new(std::env::current_exe().unwrap())
        .arg(UNTIL_KILLED)
        .arg(&grown.dir)
        .args([grown.pages.to_string(), grown.time.to_string()])
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let mut acknowledged = lines.by_ref().take(CALLS_BEFORE_KILL).count();
    child.kill().unwrap();
    child.wait().unwrap();
    // Lines that it printed between the last line read and its end.
    acknowledged += lines.map_while(Result::ok).count();
    assert!(acknowledged >= CALLS_BEFORE_KILL, "the other process ended by itself");
    (acknowledged * GROW_BATCH) as u64
}

/// Observes until the process is killed, and prints a line for each acknowledged call.
pub(crate) fn observe_until_killed(dir: &Path, seed: u64, pages: usize, time: i64) -> ! {
    let store = Store::open(real(dir), options()).unwrap();
    let epoch = store.register_epoch("bench", Role::Both).unwrap();
    let mut load = ObserveLoad::resume(seed, pages, time);
    let mut batch = ObserveBatch::default();
    loop {
        load.fill(&mut batch, GROW_BATCH);
        let observations: Vec<_> =
            batch.iter().map(|(url, observe)| observation(url, observe, epoch)).collect();
        store.observe_batch(&observations).unwrap();
        println!("{}", batch.len());
    }
}
