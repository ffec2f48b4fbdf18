//! The cost of making fingerprints, by recipe.
//!
//! `cargo bench --bench fingerprint -- --json` prints one JSON object a line; without `--json` it
//! prints text. It runs on one thread, with texts in memory. Every recipe is run with the
//! instruction set of this processor and with the portable code, and compared with a naive version:
//! words collected in strings, and for each feature a loop over 64 counters (`loop`). Each round
//! runs all of them in turn; the figures are medians of the rounds.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a benchmark that meets an error has nothing better to do than stop"
)]

use std::hint::black_box;
use std::path::{Path, PathBuf};
use std::time::Instant;

use simkeep::df::{FrequencyCounter, FrequencyTable};
use simkeep::fingerprint::{Fingerprinter, Recipe};
use simkeep_testing::bench::arguments::{self, NameFilter, RemainingArguments};
use simkeep_testing::bench::report::{BenchReport, BenchRow};
use simkeep_testing::bench::{plain, texts};

const USAGE: &str = "\
cargo bench --bench fingerprint -- [OPTIONS]

  --json             one JSON object a line
  --recipe NAME,...  recipes (default: words1-raw/2, default, strict, near and others)
  --texts FILE       documents as JSON lines with \"text\", packed by zstd or not (default: real ones,
                     if they are beside this project, or else made up)
  --mb N             how much of them at most (default 24)
  --terms N          distinct terms of the table of document frequencies (default 1_000_000)
  --rounds N         (default 5)
  --only WAY,...     of fast, portable and loop (default all)
";

/// The settings of the benchmark.
struct FingerprintBenchArguments {
    json: bool,
    recipes: Vec<Recipe>,
    texts: Option<PathBuf>,
    bytes: usize,
    terms: usize,
    rounds: usize,
    only: NameFilter,
}

/// The recipes that are measured by default.
const RECIPES: [&str; 9] = [
    "words1-raw/2",
    "default",
    "strict",
    "near",
    "words-idf",
    "words3-raw/2",
    "chars4-raw/2",
    "charikar",
    "thesis-original",
];

impl FingerprintBenchArguments {
    fn read(given: &mut RemainingArguments) -> Result<FingerprintBenchArguments, String> {
        let mut read = FingerprintBenchArguments {
            json: false,
            recipes: RECIPES.iter().filter_map(|name| name.parse().ok()).collect(),
            texts: None,
            bytes: 24_000_000,
            terms: 1_000_000,
            rounds: 5,
            only: NameFilter::default(),
        };
        while let Some(name) = given.argument() {
            match name.as_str() {
                "--json" => read.json = true,
                "--recipe" => {
                    let recipe = |name: &str| name.parse().map_err(|e| format!("{e}"));
                    read.recipes = given.list(recipe)?;
                }
                "--texts" => read.texts = Some(given.value()?.into()),
                "--mb" => read.bytes = given.number()? * 1_000_000,
                "--terms" => read.terms = given.number()?,
                "--rounds" => read.rounds = given.number()?.max(1),
                "--only" => {
                    read.only.add(given, |way| ["fast", "portable", "loop"].contains(&way))?
                }
                _ => return given.unknown(),
            }
        }
        Ok(read)
    }
}

/// One way to make fingerprints.
struct FingerprintMethod<'t> {
    recipe: String,
    kind: &'static str,
    /// The number of terms in its table of document frequencies.
    terms: Option<u64>,
    run: Box<dyn FnMut(&str) -> u64 + 't>,
    /// The seconds of each round.
    seconds: Vec<f64>,
}

/// A frozen table of the terms of the texts, filled up with other terms to the size of a whole
/// crawl.
fn table(recipe: &Recipe, path: &Path, texts: &[String], terms: usize) -> FrequencyTable {
    let mut counter = FrequencyCounter::new(recipe, path, 256 << 20).unwrap();
    texts.iter().for_each(|text| counter.add(text).unwrap());
    for from in (0..terms).step_by(1000) {
        // Words that occur in no text.
        let words = from..terms.min(from + 1000);
        counter.add(&words.map(|n| format!("term{n}x ")).collect::<String>()).unwrap();
    }
    counter.freeze(1).unwrap()
}

fn main() {
    let arguments = arguments::read(USAGE, FingerprintBenchArguments::read);
    let report = BenchReport { json: arguments.json };
    let texts = texts::read(arguments.texts.as_deref(), arguments.bytes);
    let bytes: usize = texts.iter().map(String::len).sum();
    let dir = tempfile::tempdir().unwrap();
    let tables: Vec<Option<FrequencyTable>> = (0..)
        .zip(&arguments.recipes)
        .map(|(number, recipe)| {
            let path = dir.path().join(format!("{number}.df"));
            recipe.needs_frequencies().then(|| table(recipe, &path, &texts, arguments.terms))
        })
        .collect();
    let mut ways = Vec::new();
    for (recipe, table) in arguments.recipes.iter().zip(&tables) {
        let terms = table.as_ref().map(FrequencyTable::terms);
        let fast = match table {
            Some(table) => Fingerprinter::with_frequencies(recipe, table),
            None => Fingerprinter::new(recipe),
        };
        let mut fast = fast.unwrap();
        let mut portable = fast.clone().portable();
        let run = Box::new(move |text: &str| fast.of_text(text).unwrap());
        ways.push(FingerprintMethod {
            recipe: recipe.name(),
            kind: "fast",
            terms,
            run,
            seconds: Vec::new(),
        });
        let run = Box::new(move |text: &str| portable.of_text(text).unwrap());
        ways.push(FingerprintMethod {
            recipe: recipe.name(),
            kind: "portable",
            terms,
            run,
            seconds: Vec::new(),
        });
    }
    for (recipe, words) in [("words1-raw", 1), ("words2-raw", 2)] {
        let run = Box::new(move |text: &str| plain::fingerprint(text, words));
        ways.push(FingerprintMethod {
            recipe: recipe.into(),
            kind: "loop",
            terms: None,
            run,
            seconds: Vec::new(),
        });
    }
    ways.retain(|way| arguments.only.wants(way.kind, true));
    for _ in 0..arguments.rounds {
        for way in &mut ways {
            let start = Instant::now();
            for text in &texts {
                black_box((way.run)(black_box(text)));
            }
            way.seconds.push(start.elapsed().as_secs_f64());
        }
    }
    for way in &mut ways {
        way.seconds.sort_by(f64::total_cmp);
        let seconds = way.seconds[way.seconds.len() / 2];
        let row = BenchRow::new("fingerprint").text("recipe", &way.recipe).text("way", way.kind);
        let row = row.number("mb_per_s", bytes as f64 / seconds / 1e6);
        let row = row.number("documents_per_s", texts.len() as f64 / seconds);
        let row = row.known("table_terms", way.terms);
        report.print(row.count("documents", texts.len() as u64).count("bytes", bytes as u64));
    }
}
