//! Search within a Hamming distance, and durable writes: the store, compared with the usual
//! alternatives.
//!
//! `cargo bench --manifest-path benches/peers/Cargo.toml --bench peers -- --json` prints one JSON
//! object a line; without `--json` it prints text. [`USAGE`] lists the options.
//!
//! # What is compared
//!
//! - `store`: [`simkeep::Snapshot::search`] in one segment, loaded and laid out for the distance,
//!   with a new snapshot for each search; and [`simkeep::Query::run_batch`] for a batch on all
//!   cores. Results are URLs, nearest first and then in SURT order.
//! - `mih`: the crate mih-rs 0.3, in memory, with the number of blocks that it chooses; `mih-4`
//!   with four.
//! - `redb` 4.5, `lmdb` (heed 0.23) and `sqlite` (rusqlite 0.41, SQLite compiled in): four tables
//!   of rotated fingerprints, one for each block of 16 bits, as [`blocks`] explains. Each entry is
//!   a row, so inserts are cheap. A search iterates over the rows that match the block and compares
//!   them.
//! - `redb-bucket`, `lmdb-bucket`, `sqlite-bucket`: the same tables with one row per bucket, all
//!   entries of a block in one value: [`bucket`]. These are the fastest reads that we know of for
//!   these engines, but the layout suits only data that are loaded once.
//! - `sqlite-index`, only if it is selected: one table with four indexed columns. It took as long
//!   as `sqlite`, and half as many bytes again.
//! - `scan`: a linear scan over a column in memory, with the best instructions of the machine.
//!
//! `Cargo.lock` has the exact versions.
//!
//! # Method
//!
//! One process and one thread, with the same pages and queries for all. Every engine is built, and
//! all of its buckets are read, before any is measured: the files are in the page cache, mapped, or
//! in the engine's own cache. Then come rounds. In each round, every engine in turn answers the
//! same queries, first some that are timed individually, then others in a loop. Each round has new
//! queries, so that no engine finds a result in a processor cache from an earlier query. The speed
//! of the machine changes from one minute to the next, so the median of the rounds is reported,
//! with minimum and maximum, and ratios are computed within a round. An engine that supports
//! batches also answers a batch, which is compared with the loops of the others. The results of
//! each engine are checked against a simple loop over all pages.
//!
//! # Fairness
//!
//! Peers are loaded in key order, keep one read transaction, their tables and statements, have
//! everything in cache, and return page numbers in no order. The store takes a snapshot for each
//! search, reads its own pages and returns sorted URLs. So if a search finds something, peers do
//! less work. With `--urls`, they look up URLs in a table of their own, and do the same work. The
//! bytes of the store include URLs and histories; those of the peers include URLs with `--urls`.
//! Nothing is compiled for this specific processor. Buckets and the scan choose their instructions
//! at run time, as the store does; mih-rs and the iteration over rows use the instructions of the
//! base architecture to count bits. Files are as the load left them: no peer has seen an update.
//!
//! # Durable writes
//!
//! `--writes` measures writing instead. `store`, `redb`, `lmdb` and `sqlite` write the same pages
//! into empty files: first in batches of 1,000 pages, then one page at a time. A batch, or a single
//! page, is one transaction, which is durable when the call returns. A peer adds a page to the
//! tables that its search needs, four entries and a URL; the fingerprints are random, so an entry
//! can be anywhere in its table, and page numbers ascend. The store observes the page with default
//! options: it also looks up the URL, decides a verdict, searches near pages, and writes a history.
//! The peers do none of this.
//!
//! In each round, every engine in turn starts with new files, and the median of the rounds is
//! reported. The store builds and merges segments in the background, so its speed is reported
//! twice: until the last batch is durable, and until that work is done. After the last batch, peers
//! have no work left, except a checkpoint of SQLite, which is not measured. Then each engine is
//! closed and opened again, and its number of rows and a thousand pages are checked.
//!
//! The memtable of the store is sealed every 262,144 pages. So with fewer pages, the store only
//! writes its journal.

mod blocks;
mod bucket;
mod check;
mod data;
mod engine;
mod engines;
mod kernel;
mod measure;
mod report;
mod results;
mod writes;

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use blocks::BlockTables;
use check::{CheckedSearches, RecallScore};
use data::{DataSpread, PeerData, QueryKind};
use engine::{EngineHome, OpenWriter, QueryOptions, SearchEngine};
use engines::{EngineChoice, EngineInput, OWN};
use measure::{RoundQueries, measure};
use report::{PeerReport, PeerRow};
use results::{ComparedEngine, near_batch, ratios, times};
use simkeep_testing::bench::arguments::{self, NameFilter, RemainingArguments};
use writes::{WriteLoad, WriteRates};

/// The seed of the pages, the same for all engines.
const SEED: u64 = 0x51b_4ee9;
/// The number of queries of each kind that are checked.
const CHECKED: usize = 100;
/// The maximum duration of a measurement. A slow engine answers fewer queries.
const MEASUREMENT: Duration = Duration::from_millis(1500);
/// The maximum duration of reading an engine's buckets before it is measured.
const TOUCH: Duration = Duration::from_secs(12);
/// The number of planted queries for that.
const TOUCH_PLANTED: usize = 300_000;

const USAGE: &str = "\
cargo bench --manifest-path benches/peers/Cargo.toml --bench peers -- [OPTIONS]

  --json             one JSON object a line
  --writes           measure durable writes instead of searches
  --n N,N            pages (default 1_000_000,10_000_000; with --writes 1_000_000)
  --k K              the distance (default 3)
  --data SPREAD      uniform (default), clustered or biased
  --queries N        queries of each kind in a round that are timed singly, and as many again in a
                     loop (default 5_000)
  --batch N          queries of a batch, for engines that answer many at once (default 100_000)
  --limit N          the nearest N are wanted (default: all within the distance)
  --urls             peers look up the URLs of what they find, as the store does anyway
  --rounds N         how often engines are measured, in turns (default 3)
  --only ENGINE,...  of store, mih, mih-4, redb, redb-bucket, lmdb, lmdb-bucket, sqlite,
                     sqlite-bucket, sqlite-index, scan (default all but sqlite-index); with --writes
                     of store, redb, lmdb, sqlite
  --dir PATH         where to work (default: under target/)
";

/// The settings of the benchmark.
struct PeerBenchArguments {
    json: bool,
    writes: bool,
    pages: Vec<usize>,
    wanted: QueryOptions,
    spread: DataSpread,
    queries: usize,
    batch: usize,
    rounds: usize,
    only: NameFilter,
    dir: PathBuf,
}

impl PeerBenchArguments {
    fn read(given: &mut RemainingArguments) -> Result<PeerBenchArguments, String> {
        let mut read = PeerBenchArguments {
            json: false,
            writes: false,
            pages: Vec::new(),
            wanted: QueryOptions { k: 3, limit: u32::MAX as usize, urls: false },
            spread: DataSpread::Uniform,
            queries: 5_000,
            batch: 100_000,
            rounds: 3,
            only: NameFilter::default(),
            dir: PathBuf::from(env!("CARGO_TARGET_TMPDIR")),
        };
        while let Some(argument) = given.argument() {
            match argument.as_str() {
                "--json" => read.json = true,
                "--writes" => read.writes = true,
                "--n" => read.pages = given.list(arguments::number)?,
                "--k" => read.wanted.k = given.number()? as u32,
                "--limit" => read.wanted.limit = given.number()?,
                "--urls" => read.wanted.urls = true,
                "--data" => {
                    let name = given.value()?;
                    let spread = DataSpread::named(&name);
                    read.spread = spread.ok_or(format!("{name} is not a kind of data"))?;
                }
                "--queries" => read.queries = given.number()?,
                "--batch" => read.batch = given.number()?,
                "--rounds" => read.rounds = given.number()?,
                "--only" => {
                    let exists = |name: &str| engines::ALL.iter().any(|e| e.name == name);
                    read.only.add(given, exists)?;
                }
                "--dir" => read.dir = PathBuf::from(given.value()?),
                _ => return given.unknown(),
            }
        }
        if read.pages.is_empty() {
            let sizes: &[usize] = if read.writes { &[1_000_000] } else { &[1_000_000, 10_000_000] };
            read.pages = sizes.to_vec();
        }
        if read.wanted.k > 64 {
            return Err("the distance is at most 64".to_owned());
        }
        let counts = [read.queries, read.batch, read.rounds];
        if counts.iter().chain(&read.pages).any(|count| *count == 0) {
            return Err("pages, queries, batches and rounds are at least 1".to_owned());
        }
        if read.writes && read.writers().next().is_none() {
            return Err("none of these engines writes durably".to_owned());
        }
        Ok(read)
    }

    fn wants(&self, engine: &EngineChoice) -> bool {
        self.only.wants(engine.name, engine.default)
    }

    /// The selected engines that can write durably.
    fn writers(&self) -> impl Iterator<Item = (&'static str, OpenWriter)> {
        let engines = engines::ALL.iter().filter(|engine| self.wants(engine));
        engines.filter_map(|engine| Some((engine.name, engine.writer?)))
    }
}

fn main() {
    let arguments = arguments::read(USAGE, PeerBenchArguments::read);
    std::fs::create_dir_all(&arguments.dir).unwrap();
    let report = PeerReport { json: arguments.json };
    report.print(&PeerRow::new("timer").number("overhead_ns", measure::timer_overhead()));
    let mut last = Vec::new();
    for n in &arguments.pages {
        let dir = tempfile::Builder::new().prefix("peers-").tempdir_in(&arguments.dir).unwrap();
        if arguments.writes {
            compare_writes(&arguments, &report, dir.path(), *n);
        } else {
            last.extend(compare(&arguments, &report, dir.path(), *n));
        }
    }
    // Printed last, so that they are at the end of the output.
    last.iter().for_each(|row| report.print(row));
}

/// Compares all engines on `n` pages and returns the ratios.
fn compare(
    arguments: &PeerBenchArguments,
    report: &PeerReport,
    dir: &Path,
    n: usize,
) -> Vec<PeerRow> {
    let wanted = arguments.wanted;
    let progress = PeerProgress { start: Instant::now(), n };
    let described = |bench: &str, engine: &str| {
        PeerRow::new(bench)
            .text("engine", engine)
            .text("data", arguments.spread.name())
            .count("n", n as u64)
            .count("k", wanted.k.into())
            .text("peers_give", if wanted.urls { "urls" } else { "page numbers" })
    };
    progress.say("making data");
    let data = PeerData::new(arguments.spread, n, SEED);
    let mut entrants = build(arguments, report, &progress, dir, &data, described);
    for (number, kind) in QueryKind::ALL.into_iter().enumerate() {
        let truth =
            CheckedSearches::new(&data, wanted.k, &kind.queries(&data, wanted.k, CHECKED, !SEED));
        for entrant in &mut entrants {
            let score = truth.score(&mut *entrant.built.engine, wanted);
            let RecallScore { searches, recall, agreeing, expected } = score;
            report.print(
                &described("check", entrant.name)
                    .text("queries", kind.name())
                    .count("searches", searches as u64)
                    .count("expected", expected as u64)
                    .number("recall", recall)
                    .count("agreeing", agreeing as u64),
            );
            assert_eq!(agreeing, searches, "{} does not find what is there", entrant.name);
        }
        for round in 0..arguments.rounds {
            progress.say(&format!("{} queries, round {}", kind.name(), round + 1));
            let seed = SEED + 1 + round as u64;
            let queries = |count| kind.queries(&data, wanted.k, count, seed);
            let questions = RoundQueries::new(arguments.queries, arguments.batch, queries);
            for entrant in &mut entrants {
                let figures = measure(&mut *entrant.built.engine, &questions, MEASUREMENT);
                entrant.figures[number].push(figures);
            }
        }
        for entrant in &entrants {
            let row = described("search", entrant.name).text("queries", kind.name());
            report.print(&times(row, &entrant.figures[number]));
        }
    }
    let own = entrants.iter().find(|entrant| entrant.name == OWN);
    let results = |(number, kind): (usize, QueryKind)| {
        let row = |bench| described(bench, OWN).text("queries", kind.name());
        own.map(|own| {
            let batch = row("near_batch").count("searches", arguments.batch as u64);
            let batch = near_batch(batch, number, own, &entrants);
            [ratios(row("ratio"), number, own, &entrants), batch]
        })
    };
    QueryKind::ALL.into_iter().enumerate().filter_map(results).flatten().collect()
}

/// Compares durable writes of `n` pages in batches, and of others one at a time.
fn compare_writes(arguments: &PeerBenchArguments, report: &PeerReport, dir: &Path, n: usize) {
    let progress = PeerProgress { start: Instant::now(), n };
    progress.say("making data");
    let load = WriteLoad::new(arguments.spread, n, SEED);
    let mut writers: Vec<(&str, OpenWriter, Vec<WriteRates>)> =
        arguments.writers().map(|(name, open)| (name, open, Vec::new())).collect();
    for round in 0..arguments.rounds {
        for (name, open, rates) in &mut writers {
            progress.say(&format!("writing to {name}, round {}", round + 1));
            rates.push(load.measure(&dir.join(*name), *open));
        }
    }
    for (name, _, rates) in &writers {
        let row = PeerRow::new("writes")
            .text("engine", name)
            .text("data", arguments.spread.name())
            .count("n", n as u64);
        report.print(&writes::rates(row, rates));
    }
}

/// Builds all engines, and reads all data of each.
fn build(
    arguments: &PeerBenchArguments,
    report: &PeerReport,
    progress: &PeerProgress,
    dir: &Path,
    data: &PeerData,
    described: impl Fn(&str, &str) -> PeerRow,
) -> Vec<ComparedEngine> {
    let start = Instant::now();
    let tables = BlockTables::new(data.pages().collect::<Vec<_>>().into_iter());
    let sorting = start.elapsed().as_secs_f64();
    let source = EngineInput { data, tables: &tables, wanted: arguments.wanted, dir };
    let mut entrants = Vec::new();
    for engine in engines::ALL.iter().filter(|engine| arguments.wants(engine)) {
        progress.say(&format!("building {}", engine.name));
        let mut built = (engine.build)(&source);
        let n = data.fingerprints.len();
        let mut row = described("build", engine.name)
            .text("note", &built.note)
            .number("seconds", built.filling.as_secs_f64());
        if built.sorted {
            row = row.number("seconds_of_sorting", sorting);
        }
        if let Some(bytes) = built.bytes {
            let name = match engine.place {
                EngineHome::Disk => "disk_bytes_per_fingerprint",
                EngineHome::Memory => "memory_bytes_per_fingerprint",
            };
            row = row.number(name, bytes as f64 / n as f64);
        }
        report.print(&row);
        if engine.name != "scan" {
            touch(&mut *built.engine, data, arguments.wanted.k);
        }
        let (name, place) = (engine.name, engine.place);
        entrants.push(ComparedEngine { name, place, built, figures: Default::default() });
    }
    entrants
}

/// Makes an engine read all of its data, so that no measured search reads anything for the first
/// time.
fn touch(engine: &mut dyn SearchEngine, data: &PeerData, k: u32) {
    // A 16-bit value in all four blocks. Together, these queries reach every bucket of four tables.
    let everywhere = (0..=u64::from(u16::MAX)).map(|block| block * 0x1_0001_0001_0001);
    measure::warm(engine, everywhere.collect::<Vec<u64>>().iter(), TOUCH);
    // These queries reach most data in other layouts, and the URLs.
    let planted = QueryKind::Planted.queries(data, k, TOUCH_PLANTED, !SEED);
    measure::warm(engine, planted.iter(), TOUCH / 3);
}

/// Progress messages for the user.
struct PeerProgress {
    start: Instant,
    n: usize,
}

impl PeerProgress {
    fn say(&self, what: &str) {
        eprintln!("{:7.1} s  {} pages: {what}", self.start.elapsed().as_secs_f64(), self.n);
    }
}
