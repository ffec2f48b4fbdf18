//! The cost of observing: this store, compared with a plain layout in redb.
//!
//! `cargo bench --bench observe -- --json` prints one JSON object a line; without `--json` it
//! prints text. Everything runs on a real disk, in a directory that is removed at the end.
//! [`ObserveBenchArguments`] has the settings.

#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::cast_possible_truncation,
    reason = "a benchmark that meets an error has nothing better to do than stop"
)]

mod digests;
mod facts;
mod load;
mod measure;
mod redb_layout;
mod store;

use std::path::{Path, PathBuf};
use std::process::Command;

use simkeep_testing::bench::arguments::{self, NameFilter, RemainingArguments};
use simkeep_testing::bench::report::{BenchReport, BenchRow};

/// The seed of all loads, so that engines and batch sizes are compared on equal observations.
const SEED: u64 = 0x51b_4ee9;

const USAGE: &str = "\
cargo bench --bench observe -- [OPTIONS]

  --json           one JSON object a line
  --urls N         pages of the comparison (default 1,000,000)
  --batch N,N      observes to a call (default 10000,1000)
  --rounds N       how often engines are compared, in turns (default 3)
  --only PART,...  of redb, store, two, recorded, threads, digests, facts, grow, open
                   (default: all but two, recorded, digests and facts)
                   two: the store with a second epoch for near pages
                   recorded: the store with a metrics recorder; needs --features metrics
                   Both run in turns with the store.
  --digests N      contents without a fingerprint, next to as many with one (default 10,000,000)
  --grow N         pages that the store is grown to (default 10,000,000; 0 for not at all)
  --dir PATH       where to work (default: under target/)
";

/// The settings of the benchmark.
struct ObserveBenchArguments {
    json: bool,
    urls: usize,
    grow: usize,
    digests: usize,
    batches: Vec<usize>,
    rounds: usize,
    only: NameFilter,
    dir: PathBuf,
}

const PARTS: [&str; 9] =
    ["redb", "store", "two", "recorded", "threads", "digests", "facts", "grow", "open"];

impl ObserveBenchArguments {
    fn read(given: &mut RemainingArguments) -> Result<ObserveBenchArguments, String> {
        let mut read = ObserveBenchArguments {
            json: false,
            urls: 1_000_000,
            grow: 10_000_000,
            digests: 10_000_000,
            batches: vec![10_000, 1_000],
            rounds: 3,
            only: NameFilter::default(),
            dir: PathBuf::from(env!("CARGO_TARGET_TMPDIR")),
        };
        while let Some(argument) = given.argument() {
            match argument.as_str() {
                "--json" => read.json = true,
                "--urls" => read.urls = given.number()?,
                "--digests" => read.digests = given.number()?,
                "--grow" => read.grow = given.number()?,
                "--batch" => read.batches = given.list(arguments::number)?,
                "--rounds" => read.rounds = given.number()?,
                "--only" => read.only.add(given, |part| PARTS.contains(&part))?,
                "--dir" => read.dir = PathBuf::from(given.value()?),
                _ => return given.unknown(),
            }
        }
        if read.urls == 0 || read.batches.contains(&0) || read.rounds == 0 {
            return Err("pages, batches and rounds are at least 1".to_owned());
        }
        Ok(read)
    }

    fn wants(&self, part: &str) -> bool {
        self.only.wants(part, !matches!(part, "two" | "recorded" | "digests" | "facts"))
    }
}

fn main() {
    let given: Vec<String> = std::env::args().skip(1).collect();
    if let [first, dir, pages, time] = given.as_slice()
        && first == store::UNTIL_KILLED
    {
        let (pages, time) = (pages.parse().unwrap(), time.parse().unwrap());
        store::observe_until_killed(Path::new(dir), !SEED, pages, time);
    }
    let arguments = arguments::read(USAGE, ObserveBenchArguments::read);
    std::fs::create_dir_all(&arguments.dir).unwrap();
    let dir = tempfile::Builder::new().prefix("observe-").tempdir_in(&arguments.dir).unwrap();
    compare(&arguments, dir.path());
    grow(&arguments, dir.path());
}

/// Compares the engines, and measures many threads.
fn compare(arguments: &ObserveBenchArguments, dir: &Path) {
    let report = BenchReport { json: arguments.json };
    let urls = arguments.urls;
    for &batch in &arguments.batches {
        let measured = |part, run: fn(&BenchReport, &Path, u64, usize, usize) -> f64| {
            arguments.wants(part).then(|| run(&report, dir, SEED, urls, batch))
        };
        // The engines alternate, because the speed of the machine changes from one minute to the
        // next.
        let (mut to_redb, mut of_two, mut of_recorded) = (Vec::new(), Vec::new(), Vec::new());
        for _ in 0..arguments.rounds {
            let peer = measured("redb", redb_layout::run);
            let own = measured("store", store::run);
            let two = measured("two", store::run_two);
            let recorded = measured("recorded", store::run_recorded);
            to_redb.extend(peer.zip(own).map(|(peer, own)| own / peer));
            of_two.extend(two.zip(own).map(|(two, own)| two / own));
            of_recorded.extend(recorded.zip(own).map(|(recorded, own)| recorded / own));
        }
        let ratios = [
            ("simkeep_to_redb", to_redb),
            ("two_epochs_to_one", of_two),
            ("recorded_to_not", of_recorded),
        ];
        for (what, mut ratios) in ratios {
            ratios.sort_unstable_by(f64::total_cmp);
            if let [least, .., most] | [least @ most] = ratios.as_slice() {
                let row =
                    BenchRow::new("ratio").count("urls", urls as u64).count("batch", batch as u64);
                let row = row.count("rounds", ratios.len() as u64);
                let row = row.number(what, ratios[(ratios.len() - 1) / 2]);
                report.print(row.number("least", *least).number("most", *most));
            }
        }
    }
    if arguments.wants("threads") {
        store::run_threads(&report, dir, SEED);
    }
    if arguments.wants("facts") {
        facts::run(&report, dir, arguments.urls as u64);
    }
    if arguments.wants("digests") {
        digests::run(&report, dir, arguments.digests as u64);
    }
}

/// Measures a store that becomes large, and opens it. If only opening is selected, the store is
/// smaller.
fn grow(arguments: &ObserveBenchArguments, dir: &Path) {
    let parts: Vec<&str> =
        ["grow", "open"].into_iter().filter(|part| arguments.wants(part)).collect();
    let pages = match parts.as_slice() {
        [] => return,
        ["open"] => arguments.urls,
        _ => arguments.grow,
    };
    if pages == 0 {
        return;
    }
    if ["redb", "store", "threads"].into_iter().any(|part| arguments.wants(part)) {
        // Runs in its own process, so that its memory is not affected by the other parts.
        let status = Command::new(std::env::current_exe().unwrap())
            .args(arguments.json.then_some("--json"))
            .args(["--only", &parts.join(","), "--dir"])
            .arg(dir)
            .args(["--urls", &pages.to_string(), "--grow", &pages.to_string()])
            .status()
            .unwrap();
        assert!(status.success(), "growing a store failed");
        return;
    }
    let report = BenchReport { json: arguments.json };
    let grown = store::grow(&report, dir, SEED, pages);
    if arguments.wants("open") {
        store::open(&report, &grown);
    }
}
