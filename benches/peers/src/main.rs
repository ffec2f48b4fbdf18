//! Search within a Hamming distance: the store, and beside it what one would otherwise use.
//!
//! `cargo bench --manifest-path benches/peers/Cargo.toml -- --json` prints one JSON object a line,
//! without `--json` the same as text. See [`USAGE`] for what can be chosen.
//!
//! # What is compared
//!
//! - `store`: [`simkeep::Store::search`] in one merged segment, a snapshot for each search. Answers
//!   are URLs, nearest first and then in SURT order.
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
//! least and most, and ratios are made within a round. What an engine answers is checked against a
//! plain loop over all pages.
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

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use blocks::Tables;
use check::{Score, Truth};
use data::{Data, Kind, Spread as DataSpread};
use engine::{Built, Engine, Place, Wanted};
use engines::{Candidate, OWN, Source};
use measure::{Figures, Questions, Spread, measure};
use report::{Report, Row};

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
cargo bench --manifest-path benches/peers/Cargo.toml -- [OPTIONS]

  --json             one JSON object a line
  --n N,N            pages (default 1_000_000,10_000_000)
  --k K              the distance (default 3)
  --data SPREAD      uniform (default), clustered or biased
  --queries N        queries of each kind in a round that are timed singly, and as many again in a
                     loop (default 5_000)
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
    rounds: usize,
    only: Vec<String>,
    dir: PathBuf,
}

impl Arguments {
    fn read(mut arguments: impl Iterator<Item = String>) -> Result<Arguments, String> {
        let mut read = Arguments {
            json: false,
            pages: vec![1_000_000, 10_000_000],
            wanted: Wanted { k: 3, limit: u32::MAX as usize, urls: false },
            spread: DataSpread::Uniform,
            queries: 5_000,
            rounds: 3,
            only: Vec::new(),
            dir: PathBuf::from(env!("CARGO_TARGET_TMPDIR")),
        };
        while let Some(argument) = arguments.next() {
            let mut value = || arguments.next().ok_or(format!("{argument} needs a value"));
            match argument.as_str() {
                // Cargo adds this one.
                "--bench" => {}
                "--json" => read.json = true,
                "--n" => read.pages = value()?.split(',').map(number).collect::<Result<_, _>>()?,
                "--k" => read.wanted.k = number(&value()?)? as u32,
                "--limit" => read.wanted.limit = number(&value()?)?,
                "--urls" => read.wanted.urls = true,
                "--data" => {
                    let name = value()?;
                    let spread = DataSpread::named(&name);
                    read.spread = spread.ok_or(format!("{name} is not a kind of data"))?;
                }
                "--queries" => read.queries = number(&value()?)?,
                "--rounds" => read.rounds = number(&value()?)?,
                "--only" => read.only.extend(value()?.split(',').map(str::to_owned)),
                "--dir" => read.dir = PathBuf::from(value()?),
                _ => return Err(format!("{argument} is not known")),
            }
        }
        let is_engine = |name: &&String| engines::ALL.iter().any(|engine| engine.name == **name);
        match read.only.iter().find(|name| !is_engine(name)) {
            Some(name) => Err(format!("{name} is not an engine")),
            None if read.wanted.k > 64 => Err("the distance is at most 64".to_owned()),
            None if read.pages.contains(&0) || read.queries == 0 || read.rounds == 0 => {
                Err("pages, queries and rounds are at least 1".to_owned())
            }
            None => Ok(read),
        }
    }

    fn wants(&self, engine: &Candidate) -> bool {
        if self.only.is_empty() {
            return engine.default;
        }
        self.only.iter().any(|wanted| wanted == engine.name)
    }
}

/// `10_000` as well as `10000`.
fn number(text: &str) -> Result<usize, String> {
    text.replace('_', "").parse().map_err(|_| format!("{text:?} is not a number"))
}

fn main() {
    let arguments = match Arguments::read(std::env::args().skip(1)) {
        Ok(arguments) => arguments,
        Err(error) => {
            eprintln!("{error}\n\n{USAGE}");
            std::process::exit(2);
        }
    };
    std::fs::create_dir_all(&arguments.dir).unwrap();
    let report = Report { json: arguments.json };
    report.print(&Row::new("timer").number("overhead_ns", measure::timer_overhead()));
    let mut ratios = Vec::new();
    for n in &arguments.pages {
        let dir = tempfile::Builder::new().prefix("peers-").tempdir_in(&arguments.dir).unwrap();
        ratios.extend(compare(&arguments, &report, dir.path(), *n));
    }
    // Last, so that they are found at the end of the output.
    ratios.iter().for_each(|row| report.print(row));
}

/// An engine in the comparison.
struct Entrant {
    name: &'static str,
    place: Place,
    built: Built,
    /// By kind of query, then by round.
    figures: [Vec<Figures>; Kind::ALL.len()],
}

/// Compares all engines on so many pages, and returns the ratios.
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
            let questions = Questions::new(arguments.queries, queries);
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
    let ratio = |(number, kind): (usize, Kind)| {
        let own = own?;
        let row = described("ratio", OWN).text("queries", kind.name());
        Some(ratios(row, number, own, &entrants))
    };
    Kind::ALL.into_iter().enumerate().filter_map(ratio).collect()
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

/// What searches took, over all rounds.
fn times(row: Row, rounds: &[Figures]) -> Row {
    let spread = |value: fn(&Figures) -> f64| Spread::of(rounds.iter().map(value));
    let row = row
        .count("rounds", rounds.len() as u64)
        .count("searches", spread(|round| round.searches as f64).least as u64)
        .spread("p50_ns", spread(|round| round.p50))
        .spread("p99_ns", spread(|round| round.p99))
        .spread("mean_ns", spread(|round| round.mean));
    let batch: Vec<f64> = rounds.iter().filter_map(|round| round.batch).collect();
    let row = match batch.as_slice() {
        [] => row,
        batch => row.spread("batch_ns", Spread::of(batch.iter().copied())),
    };
    row.number("hits", spread(|round| round.hits).median)
        .number("faults", spread(|round| round.faults).median)
}

/// How many times as long as the store each peer takes, by the median of single searches.
fn ratios(row: Row, kind: usize, own: &Entrant, entrants: &[Entrant]) -> Row {
    let own_p50 = Spread::of(own.figures[kind].iter().map(|round| round.p50));
    let mut row = row.number("store_p50_ns", own_p50.median);
    let mut best: Option<(&str, Spread)> = None;
    for peer in entrants.iter().filter(|peer| peer.name != OWN) {
        let rounds = peer.figures[kind].iter().zip(&own.figures[kind]);
        let ratio = Spread::of(rounds.map(|(peer, own)| peer.p50 / own.p50));
        row = row.spread(&format!("{}_to_store", peer.name), ratio);
        if peer.place == Place::Disk && best.is_none_or(|(_, best)| ratio.median < best.median) {
            best = Some((peer.name, ratio));
        }
    }
    match best {
        Some((name, ratio)) => {
            row.text("best_persistent", name).spread("best_persistent_to_store", ratio)
        }
        None => row,
    }
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
