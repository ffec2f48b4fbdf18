//! What searching costs: through the store's own calls, on sealed and mapped segments, beside what
//! the machine itself can do.
//!
//! `cargo bench --bench search -- --json` prints one JSON object a line, without `--json` the same
//! as text. Everything runs on a real disk, in a directory that is removed at the end. See
//! [`Arguments`] for what can be chosen.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::cast_possible_truncation,
    reason = "a benchmark that meets an error has nothing better to do than stop"
)]

mod bulk;
mod data;
mod fill;
mod machine;
mod near;
mod pairs;
#[path = "../observe/report.rs"]
mod report;

use std::path::PathBuf;

use data::Kind;
use pairs::Data;
use report::{Report, Row};

const USAGE: &str = "\
cargo bench --bench search -- [OPTIONS]

  --json           one JSON object a line
  --n N,N          fingerprints (default 1000000,10000000)
  --data KIND,...  of uniform, clustered, biased (default uniform)
  --k K,K          distances (default 0 to 12)
  --queries N      queries of each kind that are timed (default 20,000)
  --only PART,...  of load, pairs, near (default all)
  --dir PATH       where to work (default: under target/)
";

/// What to measure.
struct Arguments {
    json: bool,
    sizes: Vec<usize>,
    kinds: Vec<Kind>,
    distances: Vec<u32>,
    queries: usize,
    only: Vec<String>,
    dir: PathBuf,
}

const PARTS: [&str; 3] = ["load", "pairs", "near"];

impl Arguments {
    fn read(mut arguments: impl Iterator<Item = String>) -> Result<Arguments, String> {
        let mut read = Arguments {
            json: false,
            sizes: vec![1_000_000, 10_000_000],
            kinds: vec![Kind::Uniform],
            distances: (0..=12).collect(),
            queries: 20_000,
            only: Vec::new(),
            dir: PathBuf::from(env!("CARGO_TARGET_TMPDIR")),
        };
        while let Some(argument) = arguments.next() {
            let mut value = || arguments.next().ok_or(format!("{argument} needs a value"));
            match argument.as_str() {
                // Cargo adds this one.
                "--bench" => {}
                "--json" => read.json = true,
                "--n" => read.sizes = value()?.split(',').map(number).collect::<Result<_, _>>()?,
                "--data" => {
                    read.kinds = value()?.split(',').map(Kind::parse).collect::<Result<_, _>>()?;
                }
                "--k" => {
                    let distances = value()?;
                    let distances = distances.split(',').map(|k| number(k).map(|k| k as u32));
                    read.distances = distances.collect::<Result<_, _>>()?;
                }
                "--queries" => read.queries = number(&value()?)?,
                "--only" => read.only.extend(value()?.split(',').map(str::to_owned)),
                "--dir" => read.dir = PathBuf::from(value()?),
                _ => return Err(format!("{argument} is not known")),
            }
        }
        match read.only.iter().find(|part| !PARTS.contains(&part.as_str())) {
            Some(part) => Err(format!("{part} is not a part")),
            None => Ok(read),
        }
    }

    fn wants(&self, part: &str) -> bool {
        self.only.is_empty() || self.only.iter().any(|wanted| wanted == part)
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
    let dir = tempfile::Builder::new().prefix("search-").tempdir_in(&arguments.dir).unwrap();
    let report = Report { json: arguments.json };
    machine::run(&report);
    if arguments.wants("load") {
        for &n in &arguments.sizes {
            let dir = tempfile::tempdir_in(dir.path()).unwrap();
            let figures = bulk::load(dir.path(), n as u64, 512 << 20).unwrap();
            report.print(
                Row::new("load")
                    .count("pages", figures.pages)
                    .number("seconds", figures.total.as_secs_f64())
                    .number("seconds_gathering", figures.gathering.as_secs_f64())
                    .number("pages_per_second", figures.pages_per_second())
                    .number("bytes_written_per_page", figures.bytes_written_per_page())
                    .number("bytes_per_page", figures.bytes_per_page())
                    .known("memory_bytes", figures.memory_bytes),
            );
        }
    }
    if arguments.wants("pairs") {
        for n in [730_000].into_iter().chain(arguments.sizes.iter().copied()) {
            for data in [Data::Even, Data::Biased, Data::Copied] {
                if data == Data::Even || n <= 1_000_000 {
                    pairs::run(&report, data, n, 256 << 20, 3);
                }
            }
        }
    }
    if arguments.wants("near") {
        for &kind in &arguments.kinds {
            for &n in &arguments.sizes {
                near::run(&report, dir.path(), kind, n, &arguments.distances, arguments.queries);
            }
        }
    }
}
