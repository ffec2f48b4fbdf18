//! `df show`: shows the contents of a table.

use std::path::PathBuf;

use clap::Args;
use schemars::JsonSchema;
use serde::Serialize;
use simkeep::df::FrequencyTable;
use simkeep::fingerprint::{Document, Feature, Fingerprinter, Frequencies as _};

use super::{CommonArgs, Exit, Hash, Output, VerbError, line, recipe_of};
use crate::output::words::{bar, count};
use simkeep_formats::escape;

/// Show a frequency table, or look up words
///
/// Bars show how many features occur in how many documents. For each word, or group of words, it
/// prints the number of documents and ln(1 + N/df).
#[derive(Args)]
pub(super) struct DfShowArgs {
    /// The table
    table: PathBuf,
    /// Words to look up; quote features of several words
    words: Vec<String>,
}

/// The contents of a frequency table.
#[derive(Serialize, JsonSchema)]
pub(crate) struct DfTableContents<'a> {
    #[serde(flatten)]
    table: super::DfTableSummary<'a>,
    /// A histogram of features by their number of documents, in powers of ten; empty if words were
    /// named.
    by_documents: Vec<FrequencyBin>,
    /// The features of the named words.
    words: Vec<WordFrequency<'a>>,
}

/// The number of features in at least `from_documents` documents, and in fewer than ten times as
/// many.
#[derive(Serialize, JsonSchema)]
struct FrequencyBin {
    from_documents: u64,
    terms: u64,
}

/// A feature of a named text.
#[derive(Serialize, JsonSchema)]
struct WordFrequency<'a> {
    text: &'a str,
    /// Whether the text is shorter than a feature. Then it is counted only if it is a whole
    /// document.
    shorter_than_feature: bool,
    hash: Hash,
    /// The number of documents with the feature.
    documents: u64,
    /// The weight of the feature: ln(1 + N / documents).
    idf: f64,
}

impl DfShowArgs {
    pub(super) fn run(self, common: &CommonArgs, output: &mut Output) -> Result<Exit, VerbError> {
        common.without_store()?;
        let table = &FrequencyTable::open(&self.table)?;
        let found = self.look_up(table)?;
        let bars = if self.words.is_empty() { bars(table) } else { Vec::new() };
        if common.json {
            let bars = bars
                .into_iter()
                .map(|(from_documents, terms)| FrequencyBin { from_documents, terms });
            let words = found.iter().map(|feature| {
                let df = feature.frequency.unwrap_or(0);
                WordFrequency {
                    text: &feature.text,
                    shorter_than_feature: feature.short,
                    hash: Hash(feature.hash),
                    documents: df,
                    idf: idf(table, df),
                }
            });
            output.object(&DfTableContents {
                table: super::DfTableSummary::of(&self.table, table),
                by_documents: bars.collect(),
                words: words.collect(),
            })?;
            return Ok(Exit::Done);
        }
        output.line(&line(&self.table, table))?;
        if self.words.is_empty() {
            let most = bars.iter().map(|bar| bar.1).max().unwrap_or(0).max(1);
            for (from, terms) in bars {
                // The scale is logarithmic: most features are in one document, but the others
                // matter more.
                let share = (terms as f64).ln_1p() / (most as f64).ln_1p();
                let (from, bar, terms) = (count(from), bar(share), count(terms));
                output.line(&format!("  from {from:>13} documents  {bar} {terms}"))?;
            }
        }
        for feature in &found {
            let df = feature.frequency.unwrap_or(0);
            let text = escape::escape(&feature.text);
            let short = if feature.short { self::short(table) } else { String::new() };
            output.line(&format!("  {:>13}  {:6.3}  {text}{short}", count(df), idf(table, df)))?;
        }
        Ok(Exit::Done)
    }

    /// The features of the named words, with their numbers of documents.
    fn look_up(&self, table: &FrequencyTable) -> Result<Vec<Feature>, VerbError> {
        let mut found = Vec::new();
        for text in &self.words {
            let recipe = recipe_of(table)?;
            let mut fingerprinter = Fingerprinter::with_frequencies(&recipe, table)?;
            let explained = fingerprinter.explain(&Document::new(text.as_str()), usize::MAX)?;
            if explained.heaviest.is_empty() {
                let what = format!("{text:?} contains no feature of the kind {}", table.features());
                return Err(VerbError::Usage(what));
            }
            found.extend(explained.heaviest);
        }
        Ok(found)
    }
}

/// The remark on a text that is shorter than a feature.
fn short(table: &FrequencyTable) -> String {
    let features = escape::escape_untruncated(table.features());
    format!(" (shorter than a feature of the kind {features}: counted only as a whole document)")
}

fn idf(table: &FrequencyTable, df: u64) -> f64 {
    (1.0 + table.documents() as f64 / df.max(1) as f64).ln()
}

/// A histogram of features by their document frequency: the lower bound, a power of ten, and the count.
fn bars(table: &FrequencyTable) -> Vec<(u64, u64)> {
    let mut bars: Vec<(u64, u64)> = Vec::new();
    for (_, df) in table.iter() {
        let power = df.max(1).ilog10() as usize;
        while bars.len() <= power {
            let from = bars.last().map_or(1, |bar| bar.0 * 10);
            bars.push((from, 0));
        }
        if let Some(bar) = bars.get_mut(power) {
            bar.1 += 1;
        }
    }
    bars
}
