//! The cost of making signatures of texts: this crate, compared with other software.
//!
//! `cargo bench --manifest-path benches/peers/Cargo.toml --bench fingerprint -- --json` prints one
//! JSON object a line; without `--json` it prints text. One process, one thread, the same texts in
//! memory for all. Each round runs all producers in turn. The figures are medians of the rounds,
//! and `ratio` is the median of the ratios to `gaoya` within each round. If the documents with
//! known pairs are available, `f1` is the best F1 of a producer over all distances, where pairs
//! with a resemblance of at least 0.8 are *near*, and `bytes` is the number of bytes stored per
//! page.
//!
//! - recipes of this crate, by name, with the instruction set of this processor.
//! - `sketch`: a MinHash of this crate, 128 orders of 32 bits, of runs of four words.
//! - `gaoya`: the crate gaoya, with words between white space and punctuation, SipHash, and counts.
//!   It does not convert to lower case; `gaoya-lower` does that first. `gaoya-chars3` uses runs of
//!   three characters.
//! - `gaoya-minhash64`, `gaoya-minhash32`: a MinHash of the same crate with 128 orders, of runs of
//!   four words in lower case. This is the algorithm of datasketch and, with 32 bits, of rensa.
//! - `web-simhash`: the crate web-simhash with its defaults.
//! - `loop`: the straightforward implementation.

mod producers;
mod quality;
mod signature;

use std::hint::black_box;
use std::path::PathBuf;
use std::time::Instant;

use producers::FIRST;
use quality::LabelledDocuments;
use simkeep_testing::bench::arguments::{self, NameFilter, RemainingArguments};
use simkeep_testing::bench::report::{BenchReport, BenchRow};
use simkeep_testing::bench::texts;

const USAGE: &str = "\
cargo bench --manifest-path benches/peers/Cargo.toml --bench fingerprint -- [OPTIONS]

  --json        one JSON object a line
  --texts FILE  documents as JSON lines with \"text\", packed by zstd or not (default: real ones, if
                they are beside this project, or else made up)
  --mb N        how much of them at most (default 8)
  --rounds N    (default 5)
  --only NAME,...  in addition to gaoya, of gaoya-lower, gaoya-chars3, gaoya-minhash64, gaoya-minhash32,
                web-simhash, loop, sketch, and recipes of this crate (default all)
";

fn main() {
    let (mut json, mut path, mut bytes, mut rounds) = (false, None::<PathBuf>, 8_000_000, 5);
    let (mut only, mut producers) = (NameFilter::default(), producers::all());
    arguments::read(USAGE, |given: &mut RemainingArguments| {
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
    let report = BenchReport { json };
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
    let known = LabelledDocuments::read();
    for mut producer in producers {
        let seconds = median(producer.seconds.clone());
        let ratios = first.iter().zip(&producer.seconds).map(|(first, own)| first / own);
        let row = BenchRow::new("producers").text("producer", &producer.name);
        let row = row.number("mb_per_s", bytes as f64 / seconds / 1e6);
        let row = row.number("documents_per_s", texts.len() as f64 / seconds);
        let row = row.number("ratio", median(ratios.collect()));
        report.print(row.count("documents", texts.len() as u64).count("bytes", bytes as u64));
        if let Some(known) = &known {
            let row = BenchRow::new("quality").text("producer", &producer.name);
            report.print(known.score(&mut producer, row));
        }
    }
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}
