//! Readers beside another process that observes at full speed, and may be killed.

use simkeep_testing::ms;
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use simkeep::disk::{Access, FileName, OpKind, RealDisk};
use simkeep::{Digest, Epoch, Observation, Options, Query, Reader, Store};

use super::child::{ChildProcess, ParentSocket};
use simkeep_testing::depth::deep;
use simkeep_testing::disks::HookDisk;

/// The number of pages that the crawler visits in turn.
const PAGES: u64 = 50_000;
/// The extension of the file beside the store that has the number of acknowledged operations.
const ACKNOWLEDGED: &str = "acknowledged";

fn page(n: u64) -> String {
    format!("https://example.com/{}", n % PAGES)
}

fn fingerprint(n: u64) -> u64 {
    n.wrapping_mul(0x9e37_79b9_7f4a_7c15)
}

/// Operation number `n`.
fn numbered(url: &str, n: u64) -> Observation<'_> {
    Observation::content(url, ms(n.cast_signed()), fingerprint(n), Epoch::from_number(0))
        .digest(Digest(u128::from(n).to_le_bytes()))
}

/// The number of operations in the journal when the crawler starts: some megabytes.
const BEGUN: u64 = 50_000;

/// Options that seal soon after the first operations, and merge.
fn options() -> Options {
    Options::default().memtable_observations(60_000).merge_fanout(4)
}

/// Observes in batches until it is killed. Writes the number of acknowledged operations to a file beside
/// the store.
pub(crate) fn observe(parent: &ParentSocket, path: &Path, batch: u64) {
    let store = Store::open(path, options()).unwrap();
    let acknowledged = path.with_extension(ACKNOWLEDGED);
    let acknowledged =
        File::options().write(true).create(true).truncate(false).open(acknowledged).unwrap();
    parent.say("observing");
    let mut next = store.snapshot().sequence() + 1;
    loop {
        observe_from(&store, next, batch);
        next += batch;
        acknowledged.write_at(&(next - 1).to_le_bytes(), 0).unwrap();
    }
}

/// Makes a store with a journal for the crawler to continue.
pub(crate) fn create(path: &Path) {
    let store = Store::create(path, options()).unwrap();
    observe_from(&store, 1, BEGUN);
    store.close().unwrap();
}

fn observe_from(store: &Store, first: u64, count: u64) {
    let urls: Vec<String> = (first..first + count).map(page).collect();
    let all: Vec<_> = urls.iter().zip(first..).map(|(url, n)| numbered(url, n)).collect();
    store.observe_batch(&all).unwrap();
}

pub(crate) fn acknowledged(path: &Path) -> u64 {
    let mut bytes = [0; 8];
    let file = File::open(path.with_extension(ACKNOWLEDGED));
    let read = file.and_then(|file| file.read_exact_at(&mut bytes, 0));
    read.map_or(0, |()| u64::from_le_bytes(bytes))
}

/// Checks that a reader sees the beginning of the crawl, up to the operation that it names. Compares
/// only the first and the last operations.
pub(crate) fn check(reader: &Reader) {
    let snapshot = reader.snapshot();
    let last = snapshot.sequence();
    let newest = last.saturating_sub(20) + 1..=last;
    for n in (1..=last.min(20)).chain(newest) {
        let url = page(n);
        let times: Vec<i64> = snapshot
            .history(&url)
            .unwrap()
            .iter()
            .map(|entry| entry.entry().time().as_ms())
            .collect();
        let first = if n % PAGES == 0 { PAGES } else { n % PAGES };
        let expected: Vec<i64> =
            (first..=last).step_by(usize::try_from(PAGES).unwrap()).map(u64::cast_signed).collect();
        assert_eq!(times, expected, "{url} up to {last}");
    }
    if last > 0 {
        let query = Query::new(fingerprint(last), 0).epoch(Epoch::from_number(0));
        let found = snapshot.search(&query).unwrap().near;
        assert!(found.iter().any(|near| near.url == page(last)), "{last} is not found");
    }
    assert_eq!(reader.stats().unwrap().visits, last);
}

/// Figures of several openings.
#[derive(Debug, Default)]
struct OpeningCounts {
    openings: u64,
    fell_back: u64,
    /// How many openings took 1, 2, 3 ... passes; the last counts all that took more.
    passes: [u64; 8],
    most: u64,
    /// Operations that had been acknowledged, but were not seen.
    behind: u64,
    time: Duration,
    slowest: Duration,
    /// Bytes of the catalog, summed over all openings.
    journal: u64,
}

/// Opens a store that is being written. Each pass of an opening or a refresh opens the catalog.
fn open(path: &Path, passes: &Arc<AtomicU64>) -> Reader {
    let counter = Arc::clone(passes);
    let disk = HookDisk::with_reads(Arc::new(RealDisk::new(path)), move |kind, name| {
        let is_pass = kind == OpKind::Open(Access::Read) && name == Some(FileName::Catalog);
        counter.fetch_add(u64::from(is_pass), Ordering::Relaxed);
    });
    Reader::open(Arc::new(disk) as Arc<dyn simkeep::disk::Disk>).unwrap()
}

impl OpeningCounts {
    fn add(&mut self, reader: &Reader, before: u64, passes: u64, time: Duration) {
        assert!(reader.written().is_some(), "the crawler is gone");
        let seen = reader.snapshot().sequence();
        self.openings += 1;
        if reader.fell_back() {
            self.fell_back += 1;
            self.behind = self.behind.max(before.saturating_sub(seen));
        } else {
            assert!(seen >= before, "{before} were acknowledged, and {seen} are seen");
        }
        let slot = usize::try_from(passes).unwrap().clamp(1, self.passes.len()) - 1;
        self.passes[slot] += 1;
        self.most = self.most.max(passes);
        self.time += time;
        self.slowest = self.slowest.max(time);
    }
}

/// A thousand openings each at depth 20, fewer for the largest batches; that takes half an hour.
#[test]
fn readers_of_a_busy_process_see_all_acknowledged_operations() {
    for (batch, openings) in [(1, 50), (100, 50), (10_000, 10)] {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("store");
        create(&path);
        let mut crawler = ChildProcess::start("observe", &[&path.display(), &batch]);
        crawler.expect("observing");
        let mut tallies = [OpeningCounts::default(), OpeningCounts::default()];
        let passes = Arc::new(AtomicU64::new(0));
        let (mut kept, since) = (None, Instant::now());
        for n in 0..deep(openings) {
            let (before, count) = (acknowledged(&path), passes.load(Ordering::Relaxed));
            let at = Instant::now();
            let reader = open(&path, &passes);
            let took = at.elapsed();
            let tried = passes.load(Ordering::Relaxed) - count;
            tallies[0].add(&reader, before, tried, took);
            tallies[0].journal += std::fs::metadata(path.join("catalog.redb")).unwrap().len();
            if n % 8 == 0 {
                check(&reader);
            }
            let reader = kept.get_or_insert(reader);
            let (before, count) = (acknowledged(&path), passes.load(Ordering::Relaxed));
            let at = Instant::now();
            reader.refresh().unwrap();
            let took = at.elapsed();
            let tried = passes.load(Ordering::Relaxed) - count;
            tallies[1].add(reader, before, tried, took);
            if n % 8 == 0 {
                check(reader);
            }
        }
        let (seconds, all) =
            (since.elapsed().as_secs_f64(), acknowledged(&path).saturating_sub(BEGUN));
        for (what, tally) in ["opened", "refreshed"].iter().zip(&tallies) {
            println!(
                "batches of {batch}, {:.0} operations a second: {what} {} times in {:.2?} each, at most \
                 {:.2?}; passes {:?}, at most {}; fell back {} times; the catalog has {} KiB",
                all as f64 / seconds,
                tally.openings,
                tally.time / u32::try_from(tally.openings).unwrap(),
                tally.slowest,
                tally.passes,
                tally.most,
                tally.fell_back,
                tally.journal / tally.openings / 1024,
            );
            assert!(tally.fell_back * 1000 <= tally.openings.max(1000), "{tally:?}");
        }
        drop(crawler);
    }
}

#[test]
fn reader_survives_a_writer_killed_during_its_read() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("store");
    create(&path);
    let passes = Arc::default();
    let mut kept = open(&path, &passes);
    for round in 0..deep(30) {
        let mut crawler = ChildProcess::start(
            "observe",
            &[&path.display(), &if round % 2 == 0 { 1 } else { 100 }],
        );
        crawler.expect("observing");
        let killed = AtomicBool::new(false);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                std::thread::sleep(Duration::from_millis(20 + round % 30));
                // A writer that is killed during every seal would never make progress.
                let (before, since) = (acknowledged(&path), Instant::now());
                let goes_on = || acknowledged(&path) > before;
                while round % 8 == 7 && !goes_on() && since.elapsed() < Duration::from_secs(60) {
                    std::thread::sleep(Duration::from_millis(5));
                }
                let is_stuck = round % 8 == 7 && !goes_on();
                crawler.kill();
                killed.store(true, Ordering::Relaxed);
                assert!(!is_stuck, "the writer acknowledged nothing for a minute");
            });
            // The last openings begin when the writer is gone.
            let mut left = 3;
            while left > 0 {
                left -= u64::from(killed.load(Ordering::Relaxed));
                let before = acknowledged(&path);
                let reader = open(&path, &passes);
                assert!(reader.fell_back() || reader.snapshot().sequence() >= before);
                check(&reader);
                let before = acknowledged(&path);
                kept.refresh().unwrap();
                assert!(kept.fell_back() || kept.snapshot().sequence() >= before);
                check(&kept);
            }
        });
        kept.refresh().unwrap();
        assert_eq!(kept.written(), None);
        let left = Reader::open(&path).unwrap().snapshot().sequence();
        assert_eq!(kept.snapshot().sequence(), left);
    }
}
