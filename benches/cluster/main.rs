//! The cost of clustering, compared with its lower bound: a scan of all pages and a count of all
//! near pairs. Optionally also dense buckets and chains, compared with an equal number of ordinary
//! pages.
//!
//! `cargo bench --bench cluster -- --json` prints one JSON object a line; without `--json` it
//! prints text. Everything runs on a real disk, in a directory that is removed at the end.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::cast_possible_truncation,
    reason = "a benchmark that meets an error has nothing better to do than stop"
)]

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use simkeep::cluster::Clustering;
use simkeep::load::LoadOptions;
use simkeep::query::FingerprintPairs;
use simkeep::{Content, Entry, Options, Progress, Query, Seen, Snapshot, Store, Visit};
use simkeep_testing::bench::arguments::{self, RemainingArguments};
use simkeep_testing::bench::report::{BenchReport, BenchRow};
use simkeep_testing::ms;

const USAGE: &str = "\
cargo bench --bench cluster -- [OPTIONS]

  --json           one JSON object a line
  --pages N        pages; 30 % are in clusters (default 730,000)
  --k N            distance (default 3)
  --shapes         also a million equal pages, a ball and a walk, compared with even ones
  --rounds N       how often each is measured; the median counts (default 3)
  --memory MIB     memory that clustering takes (default 512)
  --dir PATH       where to work (default: under target/)
";

struct ClusterBenchArguments {
    json: bool,
    pages: usize,
    k: u32,
    shapes: bool,
    rounds: usize,
    memory: usize,
    dir: PathBuf,
}

impl ClusterBenchArguments {
    fn read(given: &mut RemainingArguments) -> Result<ClusterBenchArguments, String> {
        let mut read = ClusterBenchArguments {
            json: false,
            pages: 730_000,
            k: 3,
            shapes: false,
            rounds: 3,
            memory: 512,
            dir: PathBuf::from(env!("CARGO_TARGET_TMPDIR")),
        };
        while let Some(argument) = given.argument() {
            match argument.as_str() {
                "--json" => read.json = true,
                "--pages" => read.pages = given.number()?,
                "--k" => read.k = given.number()? as u32,
                "--shapes" => read.shapes = true,
                "--rounds" => read.rounds = given.number()?,
                "--memory" => read.memory = given.number()?,
                "--dir" => read.dir = PathBuf::from(given.value()?),
                _ => return given.unknown(),
            }
        }
        if read.pages == 0 || read.rounds == 0 {
            return Err("there is at least one page and one round".to_owned());
        }
        Ok(read)
    }
}

/// A generator of pseudorandom numbers.
struct MixedNumbers(u64);

impl MixedNumbers {
    fn draw(&mut self) -> u64 {
        // SplitMix64.
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ z >> 31
    }

    fn below(&mut self, n: u64) -> u64 {
        self.draw() % n
    }

    /// Returns a fingerprint at most `bits` bits from `from`.
    fn near(&mut self, from: u64, bits: u32) -> u64 {
        (0..bits).fold(from, |near, _| near ^ 1 << self.below(64))
    }
}

/// Returns `pages` fingerprints; 30 % of them are in small clusters.
fn some(pages: usize) -> Vec<u64> {
    let mut lot = MixedNumbers(1);
    let mut all = Vec::with_capacity(pages);
    while all.len() < pages {
        let centre = lot.draw();
        all.push(centre);
        // Clusters of two to eight pages, after one in twelve of the other pages.
        if lot.below(12) == 0 {
            for _ in 0..1 + lot.below(7) {
                let bits = lot.below(4) as u32;
                all.push(lot.near(centre, bits));
            }
        }
    }
    all.truncate(pages);
    all
}

fn even(pages: usize) -> Vec<u64> {
    let mut lot = MixedNumbers(2);
    (0..pages).map(|_| lot.draw()).collect()
}

/// Each fingerprint differs from the previous one by one bit.
fn walk(pages: usize) -> Vec<u64> {
    let mut lot = MixedNumbers(3);
    let mut at = lot.draw();
    let mut step = || {
        at ^= 1 << lot.below(64);
        at
    };
    (0..pages).map(|_| step()).collect()
}

/// All fingerprints are within four bits of one centre.
fn ball(pages: usize) -> Vec<u64> {
    let mut lot = MixedNumbers(4);
    let centre = lot.draw();
    (0..pages).map(|_| lot.near(centre, 4)).collect()
}

/// A sealed store with these fingerprints. The order of the fingerprints is the order of rank.
fn store(dir: &Path, name: &str, fingerprints: &[u64]) -> Store {
    let store = Store::create(dir.join(name), Options::default()).unwrap();
    let epoch = store.change_epoch();
    let seen = |(n, fingerprint): (usize, &u64)| {
        let content = Content { fingerprint: Some(*fingerprint), digest: None, epoch };
        let visit = Visit {
            time: ms(n as i64),
            seen: Seen::Content(content),
            status: Some(200),
            modified: None,
            bytes: None,
            conditional: false,
        };
        // Pages of a host are not adjacent in rank.
        let mixed = (n as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40;
        let url = format!("https://h{mixed:06x}.example/articles/{n}");
        Ok::<_, simkeep::Error>((url, Entry::Visit(visit)))
    };
    store.load(fingerprints.iter().enumerate().map(seen), LoadOptions::default()).unwrap();
    store
}

fn seconds<T>(rounds: usize, mut work: impl FnMut() -> T) -> (f64, T) {
    let mut all = Vec::new();
    let mut last = None;
    for _ in 0..rounds {
        let start = Instant::now();
        last = Some(work());
        all.push(start.elapsed().as_secs_f64());
    }
    all.sort_by(f64::total_cmp);
    (all[rounds / 2], last.unwrap())
}

/// Counts all pairs of near fingerprints.
fn pairs(view: &Snapshot, k: u32) -> u64 {
    let count = AtomicU64::new(0);
    FingerprintPairs::selected_by(&Query::new(0, k))
        .run(view, &Progress::default(), |pairs| {
            count.fetch_add(pairs.len() as u64, Ordering::Relaxed);
            ControlFlow::Continue(())
        })
        .unwrap();
    count.into_inner()
}

/// Finds all clusters, and returns the time that took, their number, and the bytes of all URLs in
/// them.
fn clusters(view: &Snapshot, asked: &Clustering) -> (f64, u64, usize) {
    let start = Instant::now();
    let clusters = asked.run(view, &Progress::default()).unwrap();
    let found = start.elapsed().as_secs_f64();
    let bytes = clusters.by_page(1).unwrap().map(|page| {
        let page = page.unwrap();
        page.url.len() + page.leader.len()
    });
    let bytes = bytes.sum();
    (found, clusters.len(), bytes)
}

fn main() {
    let arguments = arguments::read(USAGE, ClusterBenchArguments::read);
    let report = BenchReport { json: arguments.json };
    std::fs::create_dir_all(&arguments.dir).unwrap();
    let dir = tempfile::Builder::new().prefix("cluster-").tempdir_in(&arguments.dir).unwrap();
    let ClusterBenchArguments { k, rounds, .. } = arguments;
    let asked = |k| Clustering::within(k).memory_bytes(arguments.memory << 20);
    let store_of = |name: &str, fingerprints: &[u64]| store(dir.path(), name, fingerprints);

    let main = store_of("main", &some(arguments.pages));
    let view = main.snapshot();
    let (scan, _) =
        seconds(rounds, || view.scan(None).map(|page| page.unwrap().visits).sum::<u64>());
    let (join, near) = seconds(rounds, || pairs(&view, k));
    let (all, (found, count, _)) = seconds(rounds, || clusters(&view, &asked(k)));
    report.print(
        BenchRow::new("clusters")
            .count("pages", arguments.pages as u64)
            .count("k", k.into())
            .count("pairs", near)
            .count("clusters", count)
            .number("scan_seconds", scan)
            .number("pairs_seconds", join)
            .number("found_seconds", found)
            .number("named_seconds", all)
            .number("times_both", all / (scan + join)),
    );
    drop(view);
    main.close().unwrap();
    if !arguments.shapes {
        return;
    }
    let (million, few) = (1_000_000, 100_000);
    for (name, k, fingerprints) in
        [("equal", 3, vec![7; million]), ("walk", 3, walk(few)), ("ball", 8, ball(few))]
    {
        let [shape, plain] = [(name, &fingerprints), ("even", &even(fingerprints.len()))].map(
            |(name, fingerprints)| {
                let store = store_of(&format!("{name}-{k}-{}", fingerprints.len()), fingerprints);
                let took = seconds(rounds, || clusters(&store.snapshot(), &asked(k))).0;
                (took, store)
            },
        );
        let row = BenchRow::new(name)
            .count("pages", fingerprints.len() as u64)
            .number("seconds", shape.0)
            .number("times_even", shape.0 / plain.0);
        report.print(row);
        if name == "ball" {
            let (join, near) = seconds(1, || pairs(&shape.1.snapshot(), k));
            let share = shape.0 / join;
            report.print(BenchRow::new("ball_pairs").count("pairs", near).number("share", share));
        }
    }
}
