//! Histories of pages: real ones if they are available, otherwise generated ones.

use std::collections::HashMap;
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::Path;

use serde_json::Value;
use simkeep::fingerprint::{Fingerprinter, Recipe};

use crate::choice;

/// The visits of a page: the time in milliseconds since 1970, and the fingerprint.
pub type VisitTimeline = Vec<(i64, u64)>;

/// The histories of `pages` pages in no particular order, and whether they are real.
pub fn histories(pages: usize) -> (Vec<VisitTimeline>, bool) {
    if let Some(mut real) = real() {
        real.retain(|history| !history.is_empty());
        real.truncate(pages);
        if real.len() == pages {
            return (real, true);
        }
    }
    eprintln!("histories of real pages are not available, so histories are generated");
    (generated_histories(pages), false)
}

/// The histories of terms and policies of web services.
fn real() -> Option<Vec<VisitTimeline>> {
    let path = "../../../shared/data/ota-contrib.jsonl.zst";
    let file = File::open(Path::new(env!("CARGO_MANIFEST_DIR")).join(path)).ok()?;
    let mut decoder = zstd::Decoder::new(file).unwrap();
    decoder.window_log_max(27).unwrap();
    let mut fingerprinter = Fingerprinter::new(&Recipe::DEFAULT).unwrap();
    let mut pages: HashMap<String, usize> = HashMap::new();
    let mut histories: Vec<VisitTimeline> = Vec::new();
    for line in BufReader::new(decoder).lines() {
        let record: Value = serde_json::from_str(&line.unwrap()).unwrap();
        let of = pages.entry(record["url"].as_str().unwrap().to_owned());
        let page = *of.or_insert(histories.len());
        if page == histories.len() {
            histories.push(Vec::new());
        }
        let time = record["t"].as_i64().unwrap() * 1000;
        let print = fingerprinter.of_text(record["text"].as_str().unwrap()).unwrap();
        // Some visits have the same second. They are put one after another.
        let before = histories[page].last().map_or(i64::MIN, |(before, _)| before + 1);
        histories[page].push((time.max(before), print));
    }
    Some(histories)
}

/// Pages that change a few times in three years.
fn generated_histories(pages: usize) -> Vec<VisitTimeline> {
    const DAY: i64 = 86_400_000;
    const END: i64 = 1_700_000_000_000;
    let mut choose = choice(7);
    let mut history = |_| {
        let mut time = END - 1000 * DAY;
        let mut visits = VisitTimeline::new();
        while time < END {
            visits.push((time, choose(u64::MAX)));
            time += DAY * i64::try_from(1 + choose(300)).unwrap();
        }
        visits
    };
    (0..pages).map(&mut history).collect()
}
