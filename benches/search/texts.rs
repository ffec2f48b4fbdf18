//! Fingerprints of real texts by the recipe `near`, compared with as many uniform fingerprints. The
//! bits of minwise hashes are fair and independent, so tables and plans for uniform data suit them.
//!
//! The p50 should be at most 1.2 times that of uniform data. The p99 is that of the few pieces with
//! dozens of versions, and exceeds that of uniform data by the cost of finding these.

use std::collections::HashSet;
use std::path::Path;

use simkeep::fingerprint::{Fingerprinter, Recipe};

use crate::data::FingerprintSpread;
use crate::skew::{self, SkewedData};
use simkeep_testing::bench::report::BenchReport;
use simkeep_testing::bench::texts;

/// Words per piece. Texts are cut into pieces because there are too few whole texts.
const WORDS: usize = 100;

/// The maximum number of bytes of texts.
const BYTES_MAX: usize = 4 << 30;

pub(crate) fn run(report: &BenchReport, dir: &Path, path: Option<&Path>, queries: usize) {
    let recipe: Recipe = "near".parse().unwrap();
    let mut fingerprinter = Fingerprinter::new(&recipe).unwrap();
    let (mut fingerprints, mut seen) = (Vec::new(), HashSet::new());
    for text in texts::read(path, BYTES_MAX) {
        let words: Vec<&str> = text.split_whitespace().collect();
        for piece in words.chunks(WORDS) {
            let fingerprint = fingerprinter.of_text(&piece.join(" ")).unwrap();
            // Versions of a page share most pieces.
            if seen.insert(fingerprint) {
                fingerprints.push(fingerprint);
            }
        }
    }
    let uniform = FingerprintSpread::Uniform.fingerprints(fingerprints.len());
    let spreads = [("uniform", uniform), ("texts", fingerprints)].map(|(name, fingerprints)| {
        SkewedData { name, fingerprints, strangers: FingerprintSpread::Uniform }
    });
    skew::compare(report, dir, &spreads, queries);
}
