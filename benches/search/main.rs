//! The cost of searching through the store's own calls, on sealed and mapped segments, compared with
//! the limits of the machine.
//!
//! `cargo bench --bench search -- --json` prints one JSON object a line; without `--json` it prints
//! text. Everything runs on a real disk, in a directory that is removed at the end.
//! [`SearchBenchArguments`] has the settings. The file of each part explains what it measures and
//! how.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::cast_possible_truncation,
    reason = "a benchmark that meets an error has nothing better to do than stop"
)]

mod build;
mod bulk;
mod cold;
mod crawl;
mod data;
mod fill;
mod hostile;
mod huge;
mod machine;
mod million;
mod near;
mod nearest;
mod pairs;
mod planner;
mod process;
mod recall;
mod skew;
mod sort;
mod tables;
mod texts;
mod times;
mod truth;

use std::path::{Path, PathBuf};

use data::FingerprintSpread;
use simkeep_testing::bench::arguments::{self, NameFilter, RemainingArguments};
use simkeep_testing::bench::report::BenchReport;

const USAGE: &str = "\
cargo bench --bench search -- [OPTIONS]

  --json           one JSON object a line
  --n N,N          fingerprints (default 1000000,10000000; of recall and planner 1000000)
  --data KIND,...  of uniform, clustered, biased, for near (default uniform)
  --k K,K          distances, for near (default 0 to 12)
  --queries N      queries of each kind that are timed (default 20,000)
  --texts FILE     documents as JSON lines with \"text\", packed by zstd or not, for texts (default: real
                   ones, if they are beside this project, or else made up)
  --only PART,...  of those below (default all)
  --dir PATH       where to work (default: under target/)

  load      loading pages into a new store: pages a second, bytes, memory
  build     sorting fingerprints, building their tables and writing them: entries a second
  pairs     all pairs within 3: joined in memory, and from a sealed store
  near      one sealed segment: single searches and batches, for each k
  million   one batch of a million searches
  skew      single searches in clustered and biased data against uniform, in turns
  texts     fingerprints of real texts by the recipe `near` against as many uniform ones, in turns
  hostile   data that is made to be costly against uniform: searches, observing, pairs within 1
  nearest   the nearest five against a search as wide as they are far, and budgets of 1 and 10 ms
  crawl     a store as a crawl leaves it, with a writer running, against the same in one segment
  cold      opening a store that is not in memory, and its first searches: memory and page faults
  recall    every k from 0 to 16 on all kinds of data and tables, against brute force
  planner   for sizes in powers of ten up to the largest --n: what is chosen against what is best
";

/// The settings of the benchmark.
struct SearchBenchArguments {
    json: bool,
    sizes: Option<Vec<usize>>,
    kinds: Vec<FingerprintSpread>,
    distances: Vec<u32>,
    queries: usize,
    texts: Option<PathBuf>,
    only: NameFilter,
    dir: PathBuf,
}

impl SearchBenchArguments {
    fn read(given: &mut RemainingArguments) -> Result<SearchBenchArguments, String> {
        let mut read = SearchBenchArguments {
            json: false,
            sizes: None,
            kinds: vec![FingerprintSpread::Uniform],
            distances: (0..=12).collect(),
            queries: 20_000,
            texts: None,
            only: NameFilter::default(),
            dir: PathBuf::from(env!("CARGO_TARGET_TMPDIR")),
        };
        while let Some(argument) = given.argument() {
            match argument.as_str() {
                "--json" => read.json = true,
                "--n" => read.sizes = Some(given.list(arguments::number)?),
                "--data" => read.kinds = given.list(FingerprintSpread::parse)?,
                "--k" => read.distances = given.list(|k| arguments::number(k).map(|k| k as u32))?,
                "--queries" => read.queries = given.number()?,
                "--texts" => read.texts = Some(given.value()?.into()),
                "--only" => {
                    read.only.add(given, |name| PARTS.iter().any(|(part, _)| *part == name))?;
                }
                "--dir" => read.dir = PathBuf::from(given.value()?),
                _ => return given.unknown(),
            }
        }
        if read.queries == 0 || read.sizes.iter().flatten().any(|n| *n == 0) {
            return Err("fingerprints and queries are at least 1".to_owned());
        }
        Ok(read)
    }

    /// The selected sizes, or the usual sizes of a part.
    fn sizes(&self, usual: &[usize]) -> Vec<usize> {
        self.sizes.clone().unwrap_or_else(|| usual.to_vec())
    }

    /// The selected sizes, or the usual sizes of most parts.
    fn each_size(&self) -> impl Iterator<Item = usize> + use<> {
        self.sizes(&[1_000_000, 10_000_000]).into_iter()
    }
}

/// A part: measures something and reports it.
type BenchPart = fn(&SearchBenchArguments, &BenchReport, &Path);

/// All parts, in the order in which they run.
const PARTS: [(&str, BenchPart); 13] = [
    ("load", |arguments, report, dir| {
        arguments.each_size().for_each(|n| bulk::run(report, dir, n as u64));
    }),
    ("build", |arguments, report, dir| {
        arguments.each_size().for_each(|n| build::run(report, dir, n));
    }),
    ("pairs", |arguments, report, dir| {
        let sizes = arguments.sizes(&[730_000, 1_000_000, 10_000_000]);
        sizes.into_iter().for_each(|n| pairs::run(report, dir, n));
    }),
    ("near", |arguments, report, dir| {
        for &kind in &arguments.kinds {
            for n in arguments.each_size() {
                near::run(report, dir, kind, n, &arguments.distances, arguments.queries);
            }
        }
    }),
    ("million", |arguments, report, dir| {
        arguments.each_size().for_each(|n| million::run(report, dir, n));
    }),
    ("skew", |arguments, report, dir| {
        arguments.each_size().for_each(|n| skew::run(report, dir, n, arguments.queries));
    }),
    ("texts", |arguments, report, dir| {
        texts::run(report, dir, arguments.texts.as_deref(), arguments.queries);
    }),
    ("hostile", |arguments, report, dir| {
        let sizes = arguments.sizes(&[200_000, 600_000]);
        sizes.into_iter().for_each(|n| hostile::run(report, dir, n));
    }),
    ("nearest", |arguments, report, dir| {
        let sizes = arguments.sizes(&[10_000, 100_000, 1_000_000, 10_000_000]);
        sizes.into_iter().for_each(|n| nearest::run(report, dir, n));
    }),
    ("crawl", |arguments, report, dir| {
        arguments.each_size().for_each(|n| crawl::run(report, dir, n, arguments.queries));
    }),
    ("cold", |arguments, report, dir| {
        arguments.each_size().for_each(|n| cold::run(report, dir, n));
    }),
    ("recall", |arguments, report, dir| {
        arguments.sizes(&[1_000_000]).into_iter().for_each(|n| recall::run(report, dir, n));
    }),
    ("planner", |arguments, report, _| {
        planner::run(report, arguments.sizes(&[1_000_000]).into_iter().max().unwrap());
    }),
];

fn main() {
    let given: Vec<String> = std::env::args().skip(1).collect();
    if let [first, asked, json, path] = given.as_slice()
        && first == cold::CHILD
    {
        return cold::child(&BenchReport { json: json == "json" }, asked, Path::new(path));
    }
    let arguments = arguments::read(USAGE, SearchBenchArguments::read);
    std::fs::create_dir_all(&arguments.dir).unwrap();
    let report = BenchReport { json: arguments.json };
    machine::run(&report);
    for (name, run) in PARTS {
        if arguments.only.wants(name, true) {
            // The directory of a part is removed before the next part.
            let dir = tempfile::Builder::new().prefix("search-").tempdir_in(&arguments.dir);
            run(&arguments, &report, dir.unwrap().path());
        }
    }
}
