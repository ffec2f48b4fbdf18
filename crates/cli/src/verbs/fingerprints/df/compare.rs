//! `df compare`: compares two tables, and the fingerprints that they make.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::Args;
use schemars::JsonSchema;
use serde::Serialize;
use simkeep::Error;
use simkeep::df::{FrequencyTable, TableComparison};
use simkeep::fingerprint::{Document, Fingerprinter, Frequencies as _};

use super::{CommonArgs, Exit, Output, VerbError, ingest, nothing, recipe_of, refused};
use crate::input::reading::ReadingArgs;
use crate::input::recipe::NamedRecipe;
use crate::input::texts::TextPipeline;
use crate::output::words::{bar, count, many};
use simkeep_formats::{InputParts, InputSource};

/// Compare two tables and the fingerprints they make
///
/// Fingerprints that use document frequencies can only be compared under the same table. How far
/// fingerprints move under another table shows whether a new one is due.
#[derive(Args)]
pub(super) struct DfCompareArgs {
    /// A table
    first: PathBuf,
    /// A table of the same features
    second: PathBuf,
    /// Documents to fingerprint with both; - is standard input
    documents: Vec<OsString>,
    /// Recipe to use [default: √n · ln(1 + N/df)]
    #[arg(long, value_name = "NAME")]
    recipe: Option<NamedRecipe>,
    #[command(flatten)]
    reading: ReadingArgs,
}

/// The differences between two tables.
#[derive(Serialize, JsonSchema)]
pub(crate) struct DfComparison<'a> {
    /// The number of features in both tables.
    common: u64,
    first_only: u64,
    second_only: u64,
    /// The fraction of the first table's counts whose features are in the second table, too.
    known_share: f64,
    /// The mean weight ln(1 + N / documents) of a feature in the first table.
    idf: f64,
    /// The mean difference between the weights of a feature in the two tables.
    idf_difference: f64,
    /// The distances between the fingerprints of documents by the two tables; null if no documents
    /// were named.
    moves: Option<FingerprintMoves<'a>>,
}

/// The distances between the fingerprints of documents by the two tables.
#[derive(Serialize, JsonSchema)]
struct FingerprintMoves<'a> {
    documents: u64,
    mean_distance: f64,
    /// The number of documents whose fingerprint differs by each number of bits, from 0 to 64.
    by_bits: &'a [u64],
}

/// Counts of the distances between the fingerprints of documents by the two tables.
struct MoveCounts {
    documents: u64,
    /// The number of documents by the number of bits.
    by_bits: [u64; 65],
}

impl DfCompareArgs {
    pub(super) fn run(self, common: &CommonArgs, output: &mut Output) -> Result<Exit, VerbError> {
        common.without_store()?;
        let [first, second] =
            &[FrequencyTable::open(&self.first)?, FrequencyTable::open(&self.second)?];
        if first.features() != second.features() {
            let (first, second) = (first.features(), second.features());
            let what = format!(
                "the tables cannot be compared: one counts the features {first}, the other {second}"
            );
            return Err(VerbError::Usage(what));
        }
        let compared = TableComparison::of(first, second);
        let moves = if self.documents.is_empty() { None } else { Some(self.moves(first, second)?) };
        if common.json {
            let moves = moves.as_ref().map(|moves| FingerprintMoves {
                documents: moves.documents,
                mean_distance: moves.mean(),
                by_bits: &moves.by_bits,
            });
            output.object(&DfComparison {
                common: compared.common,
                first_only: compared.first_only,
                second_only: compared.second_only,
                known_share: compared.known,
                idf: compared.idf,
                idf_difference: compared.difference,
                moves,
            })?;
            return Ok(Exit::Done);
        }
        output.line(&format!(
            "{} in both tables, {} only in the first, {} only in the second",
            many(compared.common, "feature", "features"),
            count(compared.first_only),
            count(compared.second_only),
        ))?;
        output.line(&format!(
            "the second table knows {:.1} % of the occurrences that the first counted; the mean \
             weight ln(1 + N/df) of the first is {:.2}, and the weights differ by {:.2} on average",
            100.0 * compared.known,
            compared.idf,
            compared.difference,
        ))?;
        if let Some(moves) = moves {
            output.line(&format!(
                "fingerprints of {} differ by {:.1} bits on average",
                many(moves.documents, "document", "documents"),
                moves.mean(),
            ))?;
            for (bits, documents) in moves.by_bits.iter().enumerate().filter(|by| *by.1 > 0) {
                let share = *documents as f64 / moves.documents as f64;
                output.line(&format!("  {bits:>2} bits  {} {}", bar(share), count(*documents)))?;
            }
        }
        Ok(Exit::Done)
    }

    fn moves(
        &self,
        first: &FrequencyTable,
        second: &FrequencyTable,
    ) -> Result<MoveCounts, VerbError> {
        self.documents.iter().try_for_each(ingest::check)?;
        let recipe = &match &self.recipe {
            Some(called) => called.recipe,
            None => recipe_of(first)?,
        };
        if !recipe.needs_frequencies() {
            let what = format!("the recipe {recipe} uses no document frequencies");
            return Err(VerbError::Usage(what));
        }
        let by = |table| Fingerprinter::with_frequencies(recipe, table).map_err(Error::from);
        let (mut first, mut second) = (by(first).map_err(refused)?, by(second).map_err(refused)?);
        let mut moves = MoveCounts { documents: 0, by_bits: [0; 65] };
        let sources = self.documents.iter().map(|path| InputSource::from_argument(path));
        let input = InputParts::new(sources).zstd_window(self.reading.zstd_window());
        let mut texts = TextPipeline::new(input, self.reading.threads(), || {
            |_: String, document: Document| {
                let text = document.into_text();
                let bytes = text.len();
                (text, bytes)
            }
        });
        while let Some(text) = texts.next_whole()? {
            let bits = recipe.distance(first.of_text(&text)?, second.of_text(&text)?);
            moves.documents += 1;
            moves.by_bits.get_mut(bits as usize).into_iter().for_each(|count| *count += 1);
        }
        if moves.documents == 0 {
            return Err(nothing());
        }
        Ok(moves)
    }
}

impl MoveCounts {
    fn mean(&self) -> f64 {
        let sum: u64 = (0..).zip(self.by_bits).map(|(bits, documents)| bits * documents).sum();
        sum as f64 / self.documents.max(1) as f64
    }
}
