//! Making fingerprints: this crate, and beside it other producers.
//!
//! `cargo bench --manifest-path benches/peers/Cargo.toml --bench fingerprint -- --json` prints one
//! JSON object a line, without `--json` the same as text. One process, one thread, the same texts in
//! memory for all. The rounds go through all producers in turns; the figures are medians of the
//! rounds, and `ratio` is the median of the ratios to `gaoya` within each round.
//!
//! - recipes of this crate, by name, with the instructions that this processor has.
//! - `gaoya`: the crate gaoya, words between white space and punctuation, SipHash, counts; what it
//!   does not do itself, lower case, is done for it (`gaoya-lower`) or not (`gaoya`).
//!   `gaoya-chars3` takes runs of three characters.
//! - `web-simhash`: the crate web-simhash as it is by default.
//! - `loop`: what one would write at first.

use std::hint::black_box;
use std::path::PathBuf;
use std::time::Instant;

use gaoya::simhash::{SimHash, SimSipHasher64};
use gaoya::text::{shingle_text, whitespace_split};
use simkeep::fingerprint::{Fingerprinter, Recipe};
use simkeep_testing::bench::arguments::{self, Given, Only};
use simkeep_testing::bench::report::{Report, Row};
use simkeep_testing::bench::{plain, texts};
use web_simhash::{SimHash64, WebFeatureExtractor};

const USAGE: &str = "\
cargo bench --manifest-path benches/peers/Cargo.toml --bench fingerprint -- [OPTIONS]

  --json        one JSON object a line
  --texts FILE  documents as JSON lines with \"text\", packed by zstd or not (default: real ones, if
                they are beside this project, or else made up)
  --mb N        how much of them at most (default 8)
  --rounds N    (default 5)
  --only NAME,...  beside gaoya, of gaoya-lower, gaoya-chars3, web-simhash, loop, and recipes of this
                crate (default all)
";

/// Recipes of this crate that are measured.
const RECIPES: [&str; 4] = ["words1-raw/1", "words2-sqrt/1", "words3-sqrt/1", "chars3-raw/1"];

/// What all others are compared with.
const FIRST: &str = "gaoya";

struct Producer {
    name: String,
    run: Box<dyn FnMut(&str) -> u64>,
    /// Seconds of each round.
    seconds: Vec<f64>,
}

fn producers() -> Vec<Producer> {
    let mut all = Vec::new();
    let mut add = |name: &str, run: Box<dyn FnMut(&str) -> u64>| {
        all.push(Producer { name: name.to_owned(), run, seconds: Vec::new() });
    };
    let gaoya = || SimHash::<SimSipHasher64, u64, 64>::new(SimSipHasher64::new(1, 2));
    let simhash = gaoya();
    add(FIRST, Box::new(move |text| simhash.create_signature(whitespace_split(text))));
    let simhash = gaoya();
    add("gaoya-lower", {
        Box::new(move |text| simhash.create_signature(whitespace_split(&text.to_lowercase())))
    });
    let simhash = gaoya();
    add("gaoya-chars3", Box::new(move |text| simhash.create_signature(shingle_text(text, 3))));
    let extractor = WebFeatureExtractor::default();
    add("web-simhash", Box::new(move |text| SimHash64::from_text(text, &extractor).0));
    add("loop", Box::new(|text| plain::fingerprint(text, 1)));
    for name in RECIPES {
        let recipe: Recipe = name.parse().unwrap();
        let mut fingerprinter = Fingerprinter::new(&recipe).unwrap();
        let run = move |text: &str| fingerprinter.of_text(text).unwrap();
        add(name, Box::new(run));
    }
    all
}

fn main() {
    let (mut json, mut path, mut bytes, mut rounds) = (false, None::<PathBuf>, 8_000_000, 5);
    let (mut only, mut producers) = (Only::default(), producers());
    arguments::read(USAGE, |given: &mut Given| {
        while let Some(name) = given.argument() {
            match name.as_str() {
                "--json" => json = true,
                "--texts" => path = Some(given.value()?.into()),
                "--mb" => bytes = given.number()? * 1_000_000,
                "--rounds" => rounds = given.number()?.max(1),
                "--only" => only.add(given, |name| producers.iter().any(|p| p.name == name))?,
                _ => return given.unknown(),
            }
        }
        Ok(())
    });
    let report = Report { json };
    let texts = texts::read(path.as_deref(), bytes);
    let bytes: usize = texts.iter().map(String::len).sum();
    producers.retain(|producer| producer.name == FIRST || only.wants(&producer.name, true));
    for _ in 0..rounds {
        for producer in &mut producers {
            let start = Instant::now();
            for text in &texts {
                black_box((producer.run)(black_box(text)));
            }
            producer.seconds.push(start.elapsed().as_secs_f64());
        }
    }
    let first = producers[0].seconds.clone();
    for producer in producers {
        let seconds = median(producer.seconds.clone());
        let ratios = first.iter().zip(&producer.seconds).map(|(first, own)| first / own);
        let row = Row::new("producers").text("producer", &producer.name);
        let row = row.number("mb_per_s", bytes as f64 / seconds / 1e6);
        let row = row.number("documents_per_s", texts.len() as f64 / seconds);
        let row = row.number("ratio", median(ratios.collect()));
        report.print(row.count("documents", texts.len() as u64).count("bytes", bytes as u64));
    }
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}
