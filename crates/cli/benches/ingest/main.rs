//! What reading crawls costs, with one thread and with more.
//!
//! `cargo bench --bench ingest -- --json` prints one JSON object a line, without `--json` the same as
//! text. The crawls are made up, and written to files; the tool reads them into a new store each time,
//! with each number of threads in turns. Figures are medians of the rounds; `ratio` is how many times
//! as fast it is as with the first number of threads, as the median of each round's own.
//!
//! On a machine with more processors, `taskset -c 0,1` leaves two.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::cast_possible_truncation,
    reason = "a benchmark that meets an error has nothing better to do than stop"
)]

mod crawls;
mod pages;
mod run;

use std::path::PathBuf;

use crawls::{CrawlKind, KINDS};
use run::ProcessCost;
use simkeep_testing::bench::arguments::{self, NameFilter, RemainingArguments};
use simkeep_testing::bench::report::{BenchReport, BenchRow};

const USAGE: &str = "\
cargo bench --bench ingest -- [OPTIONS]

  --json           one JSON object a line
  --mb N           millions of bytes of documents in each crawl (default 440)
  --threads N,...  (default 1,2)
  --rounds N       (default 5)
  --only KIND,...  of warc, warcs (in four files), plain-warc, long-lines, plain-long-lines (of 8 kB)
                   and short-lines (of 200 bytes, a tenth as many in all)
  --verb VERB      ingest, load or df-build (default ingest)
  --dir PATH       for the files and stores (default: the system's)
";

/// What to measure.
struct IngestBenchArguments {
    json: bool,
    bytes: usize,
    threads: Vec<usize>,
    rounds: usize,
    only: NameFilter,
    verb: String,
    dir: PathBuf,
}

impl IngestBenchArguments {
    fn read(given: &mut RemainingArguments) -> Result<IngestBenchArguments, String> {
        let mut read = IngestBenchArguments {
            json: false,
            bytes: 440_000_000,
            threads: vec![1, 2],
            rounds: 5,
            only: NameFilter::default(),
            verb: "ingest".to_owned(),
            dir: std::env::temp_dir(),
        };
        while let Some(name) = given.argument() {
            match name.as_str() {
                "--json" => read.json = true,
                "--mb" => read.bytes = given.number()? * 1_000_000,
                "--threads" => read.threads = given.list(arguments::number)?,
                "--rounds" => read.rounds = given.number()?,
                "--only" => {
                    read.only.add(given, |name| KINDS.iter().any(|kind| kind.name == name))?;
                }
                "--verb" => read.verb = given.value()?,
                "--dir" => read.dir = given.value()?.into(),
                _ => return given.unknown(),
            }
        }
        Ok(read)
    }
}

fn main() {
    let arguments = arguments::read(USAGE, IngestBenchArguments::read);
    let report = BenchReport { json: arguments.json };
    for kind in KINDS.iter().filter(|kind| arguments.only.wants(kind.name, true)) {
        measure(&arguments, kind, &report);
    }
}

fn measure(arguments: &IngestBenchArguments, kind: &CrawlKind, report: &BenchReport) {
    let folder = tempfile::tempdir_in(&arguments.dir).unwrap();
    let bytes = if kind.name == "short-lines" { arguments.bytes / 10 } else { arguments.bytes };
    let files = kind.make(folder.path(), bytes);
    let once = |threads: usize| {
        let store = tempfile::tempdir_in(folder.path()).unwrap();
        let mut args: Vec<String> = match arguments.verb.as_str() {
            "df-build" => ["df", "build", "--out"].map(str::to_owned).into(),
            verb => vec![verb.to_owned()],
        };
        if arguments.verb == "df-build" {
            args.push(store.path().join("table.df").to_str().unwrap().to_owned());
        }
        args.extend(files.iter().map(|path| path.to_str().unwrap().to_owned()));
        args.extend(["--threads".to_owned(), threads.to_string()]);
        run::run(&args, &store.path().join("store"))
    };
    // So that all rounds find the files in memory.
    once(arguments.threads[0]);
    let rounds: Vec<Vec<ProcessCost>> = (0..arguments.rounds)
        .map(|_| arguments.threads.iter().map(|threads| once(*threads)).collect())
        .collect();
    for (at, threads) in arguments.threads.iter().enumerate() {
        let median = |of: &dyn Fn(&[ProcessCost]) -> f64| {
            let mut values: Vec<f64> = rounds.iter().map(|round| of(round)).collect();
            values.sort_by(f64::total_cmp);
            values[values.len() / 2]
        };
        let peak_bytes = rounds.iter().filter_map(|round| round[at].peak_bytes).max();
        let row = BenchRow::new("ingest")
            .text("kind", kind.name)
            .text("verb", &arguments.verb)
            .count("bytes", bytes as u64)
            .count("threads", *threads as u64)
            .number("seconds", median(&|round| round[at].seconds))
            .number("processor_seconds", median(&|round| round[at].processor_seconds))
            .known("peak_bytes", peak_bytes)
            .number("ratio", median(&|round| round[0].seconds / round[at].seconds))
            .number("busy", median(&|round| round[at].processor_seconds / round[at].seconds));
        report.print(row);
    }
}
