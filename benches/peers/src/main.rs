//! Search within a Hamming distance: the store, compared with the usual alternatives.
//!
//! `cargo bench --manifest-path benches/peers/Cargo.toml --bench peers -- --json` prints one JSON
//! object a line, without `--json` the same as text. See [`USAGE`] for what can be chosen.
//!
//! # What is compared
//!
//! - `store`: [`simkeep::Snapshot::search`] in one segment, loaded and laid out for the distance, a
//!   snapshot for each search; and [`simkeep::Query::run_batch`] for a batch on all
//!   cores. Answers are URLs, nearest first and then in SURT order.
//! - `mih`: the crate mih-rs 0.3, in memory, with as many blocks as it chooses; `mih-4` with four.
//! - `redb` 4.5, `lmdb` (heed 0.23) and `sqlite` (rusqlite 0.41, SQLite compiled in): four tables of
//!   rotated fingerprints, one for each block of 16 bits, as [`blocks`] tells; a row an entry, so
//!   that inserts are cheap. What matches the block is walked and compared.
//! - `redb-bucket`, `lmdb-bucket`, `sqlite-bucket`: the same with a row a bucket, all entries of a
//!   block in one value: [`bucket`]. The fastest reads that we know of for these engines; only a set
//!   that is loaded once is kept so.
//! - `sqlite-index`, only if it is asked for: one table with four indexed columns. It took as long as
//!   `sqlite`, and half as many bytes again.
//! - `scan`: a linear scan over a column in memory, with the best instructions of the machine.
//!
//! `Cargo.lock` has the exact versions.
//!
//! # How
//!
//! One process and one thread, the same pages and the same queries for all. Every engine is built,
//! and all of its buckets are touched, before any is measured: the files are in the page cache,
//! mapped or in the engine's own cache. Then rounds: in each, every engine in turn answers the same
//! queries, first some that are timed one by one, then others in a loop; each round has queries of
//! its own, so that none finds its answer in a processor's cache because it was asked before. The
//! machine is not the same from one minute to the next: the median of the rounds is reported, with
//! least and most, and ratios are made within a round. An engine that answers many at once is given
//! a batch as well, which is set against the loops of the others. What an engine answers is checked
//! against a plain loop over all pages.
//!
//! # What is fair about it
//!
//! Peers are loaded in key order, keep one read transaction, their tables and statements, hold
//! everything in cache, and give page numbers in no order; the store takes a snapshot for each
//! search, reads its own pages and gives sorted URLs. So where something is found, peers do less;
//! with `--urls` they look up what their pages are called in a table of their own, and do the same.
//! Bytes of the store include URLs and histories; those of the peers include URLs with `--urls`.
//! Nothing is compiled for this very processor, but buckets and the scan choose their instructions
//! when they run, as the store does; mih-rs, and the walk from row to row, count bits as the base of
//! the architecture can. Files are as their loading left them: no peer has seen an update.

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

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use blocks::Tables;
use check::{Score, Truth};
use data::{Data, Kind, Spread as DataSpread};
use engine::{Engine, Place, Wanted};
use engines::{Candidate, OWN, Source};
use measure::{Questions, measure};
use report::{Report, Row};
use results::{Entrant, near_batch, ratios, times};
use simkeep_testing::bench::arguments::{self, Given, Only};

/// One set of pages for all.
const SEED: u64 = 0x51b_4ee9;
/// Queries of each kind that are checked against the truth.
const CHECKED: usize = 100;
/// No measurement goes on for longer: a slow engine is asked fewer of the queries.
const MEASUREMENT: Duration = Duration::from_millis(1500);
/// No engine is touched bucket by bucket for longer before it is measured.
const TOUCH: Duration = Duration::from_secs(12);
/// Planted queries that touch it then.
const TOUCH_PLANTED: usize = 300_000;

const USAGE: &str = "\
cargo bench --manifest-path benches/peers/Cargo.toml --bench peers -- [OPTIONS]

  --json             one JSON object a line
  --n N,N            pages (default 1_000_000,10_000_000)
  --k K              the distance (default 3)
  --data SPREAD      uniform (default), clustered or biased
  --queries N        queries of each kind in a round that are timed singly, and as many again in a
                     loop (default 5_000)
  --batch N          queries of a batch, for engines that answer many at once (default 100_000)
  --limit N          the nearest N are wanted (default: all within the distance)
  --urls             peers look up the URLs of what they find, as the store does anyway
  --rounds N         how often engines are measured, in turns (default 3)
  --only ENGINE,...  of store, mih, mih-4, redb, redb-bucket, lmdb, lmdb-bucket, sqlite,
                     sqlite-bucket, sqlite-index, scan (default all but sqlite-index)
  --dir PATH         where to work (default: under target/)
";

/// What to measure.
struct Arguments {
    json: bool,
    pages: Vec<usize>,
    wanted: Wanted,
    spread: DataSpread,
    queries: usize,
    batch: usize,
    rounds: usize,
    only: Only,
    dir: PathBuf,
}

impl Arguments {
    fn read(given: &mut Given) -> Result<Arguments, String> {
        let mut read = Arguments {
            json: false,
            pages: vec![1_000_000, 10_000_000],
            wanted: Wanted { k: 3, limit: u32::MAX as usize, urls: false },
            spread: DataSpread::Uniform,
            queries: 5_000,
            batch: 100_000,
            rounds: 3,
            only: Only::default(),
            dir: PathBuf::from(env!("CARGO_TARGET_TMPDIR")),
        };
        while let Some(argument) = given.argument() {
            match argument.as_str() {
                "--json" => read.json = true,
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
        if read.wanted.k > 64 {
            return Err("the distance is at most 64".to_owned());
        }
        let counts = [read.queries, read.batch, read.rounds];
        if counts.iter().chain(&read.pages).any(|count| *count == 0) {
            return Err("pages, queries, batches and rounds are at least 1".to_owned());
        }
        Ok(read)
    }

    fn wants(&self, engine: &Candidate) -> bool {
        self.only.wants(engine.name, engine.default)
    }
}

fn main() {
    let arguments = arguments::read(USAGE, Arguments::read);
    std::fs::create_dir_all(&arguments.dir).unwrap();
    let report = Report { json: arguments.json };
    report.print(&Row::new("timer").number("overhead_ns", measure::timer_overhead()));
    let mut last = Vec::new();
    for n in &arguments.pages {
        let dir = tempfile::Builder::new().prefix("peers-").tempdir_in(&arguments.dir).unwrap();
        last.extend(compare(&arguments, &report, dir.path(), *n));
    }
    // Last, so that they are found at the end of the output.
    last.iter().for_each(|row| report.print(row));
}

/// Compares all engines on `n` pages and returns the ratios.
fn compare(arguments: &Arguments, report: &Report, dir: &Path, n: usize) -> Vec<Row> {
    let wanted = arguments.wanted;
    let progress = Progress { start: Instant::now(), n };
    let described = |bench: &str, engine: &str| {
        Row::new(bench)
            .text("engine", engine)
            .text("data", arguments.spread.name())
            .count("n", n as u64)
            .count("k", wanted.k.into())
            .text("peers_give", if wanted.urls { "urls" } else { "page numbers" })
    };
    progress.say("making data");
    let data = Data::new(arguments.spread, n, SEED);
    let mut entrants = build(arguments, report, &progress, dir, &data, described);
    for (number, kind) in Kind::ALL.into_iter().enumerate() {
        let truth = Truth::new(&data, wanted.k, &kind.queries(&data, wanted.k, CHECKED, !SEED));
        for entrant in &mut entrants {
            let score = truth.score(&mut *entrant.built.engine, wanted);
            let Score { searches, recall, agreeing, expected } = score;
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
            let questions = Questions::new(arguments.queries, arguments.batch, queries);
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
    let results = |(number, kind): (usize, Kind)| {
        let row = |bench| described(bench, OWN).text("queries", kind.name());
        own.map(|own| {
            let batch = row("near_batch").count("searches", arguments.batch as u64);
            let batch = near_batch(batch, number, own, &entrants);
            [ratios(row("ratio"), number, own, &entrants), batch]
        })
    };
    Kind::ALL.into_iter().enumerate().filter_map(results).flatten().collect()
}

/// Builds all engines, and touches all of each.
fn build(
    arguments: &Arguments,
    report: &Report,
    progress: &Progress,
    dir: &Path,
    data: &Data,
    described: impl Fn(&str, &str) -> Row,
) -> Vec<Entrant> {
    let start = Instant::now();
    let tables = Tables::new(data.pages().collect::<Vec<_>>().into_iter());
    let sorting = start.elapsed().as_secs_f64();
    let source = Source { data, tables: &tables, wanted: arguments.wanted, dir };
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
                Place::Disk => "disk_bytes_per_fingerprint",
                Place::Memory => "memory_bytes_per_fingerprint",
            };
            row = row.number(name, bytes as f64 / n as f64);
        }
        report.print(&row);
        if engine.name != "scan" {
            touch(&mut *built.engine, data, arguments.wanted.k);
        }
        let (name, place) = (engine.name, engine.place);
        entrants.push(Entrant { name, place, built, figures: Default::default() });
    }
    entrants
}

/// Has an engine read all that it has, so that none of it is met for the first time later.
fn touch(engine: &mut dyn Engine, data: &Data, k: u32) {
    // One 16-bit value in all four blocks: together these reach every bucket of four tables.
    let everywhere = (0..=u64::from(u16::MAX)).map(|block| block * 0x1_0001_0001_0001);
    measure::warm(engine, everywhere.collect::<Vec<u64>>().iter(), TOUCH);
    // And these most of what is not laid out like that, and what pages are called.
    let planted = Kind::Planted.queries(data, k, TOUCH_PLANTED, !SEED);
    measure::warm(engine, planted.iter(), TOUCH / 3);
}

/// What goes on, for who waits.
struct Progress {
    start: Instant,
    n: usize,
}

impl Progress {
    fn say(&self, what: &str) {
        eprintln!("{:7.1} s  {} pages: {what}", self.start.elapsed().as_secs_f64(), self.n);
    }
}
