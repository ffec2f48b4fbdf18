//! Fingerprints of real texts by the recipe `near`, compared with as many evenly spread ones. The bits
//! of minwise hashes are even and independent, so tables and plans for uniform data suit them.
//!
//! p50 should be at most 1.2 times that of uniform data. p99 is that of the few pieces of which there
//! are dozens of versions, and more by what it costs to find these.

use std::collections::HashSet;
use std::path::Path;

use simkeep::fingerprint::{Fingerprinter, Recipe};

use crate::data::Kind;
use crate::skew::{self, Spread};
use simkeep_testing::bench::report::Report;
use simkeep_testing::bench::texts;

/// Words per piece. Texts are cut into pieces because there are too few whole texts.
const WORDS: usize = 100;

/// How much of the texts is taken at most.
const BYTES_MAX: usize = 4 << 30;

pub(crate) fn run(report: &Report, dir: &Path, path: Option<&Path>, queries: usize) {
    let recipe: Recipe = "near".parse().unwrap();
    let mut fingerprinter = Fingerprinter::new(&recipe).unwrap();
    let (mut fingerprints, mut seen) = (Vec::new(), HashSet::new());
    for text in texts::read(path, BYTES_MAX) {
        let words: Vec<&str> = text.split_whitespace().collect();
        for piece in words.chunks(WORDS) {
            let fingerprint = fingerprinter.of_text(&piece.join(" ")).unwrap();
            // Versions of a page have most pieces in common.
            if seen.insert(fingerprint) {
                fingerprints.push(fingerprint);
            }
        }
    }
    let uniform = Kind::Uniform.fingerprints(fingerprints.len());
    let spreads = [("uniform", uniform), ("texts", fingerprints)]
        .map(|(name, fingerprints)| Spread { name, fingerprints, strangers: Kind::Uniform });
    skew::compare(report, dir, &spreads, queries);
}
