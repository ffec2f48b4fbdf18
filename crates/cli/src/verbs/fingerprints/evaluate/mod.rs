//! `evaluate`: measures how well recipes find near-duplicates.

mod documents;
mod fingerprints;
mod ground_truth;
mod help;
mod json;
mod labelled;
mod plot;
mod resemblance;
mod row;
mod scores;
mod signatures;
mod slices;
mod table;
mod versions;

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use clap::Args;
use simkeep::fingerprint::Recipe;
use simkeep_formats::{InputParts, InputSource, lines};

use crate::common::CommonArgs;
use crate::exit::{Exit, VerbError};
use crate::input::reading::ReadingArgs;
use crate::input::recipe::NamedRecipe;
use crate::output::Output;
use crate::output::progress::counted;
use crate::output::words::{count, many};
use documents::EvaluatedDocuments;
use fingerprints::fingerprints;
use ground_truth::{GroundTruth, NearnessLimits};
use help::{HELP, USAGE};
pub(crate) use json::EvaluateLine;
use json::RecipeResult;
use row::RecipeScores;
use scores::{DISTANCE_MAX, by_distance};
use signatures::{HistoricSignature, SIGNATURES};
use versions::VersionsArgs;

/// Measure how well recipes find known near-duplicates
///
/// One line per recipe and distance k, over the pairs of documents within k bits: the share that is
/// near by a lenient and by a strict measure (precision), the share of strictly near pairs that is
/// found (recall), and F1 of recall and strict precision. Also shows the advised distance and the
/// best one.
#[derive(Args)]
#[command(after_long_help = HELP, override_usage = USAGE)]
pub(crate) struct EvaluateArgs {
    /// The documents
    #[arg(required_unless_present = "versions", conflicts_with = "versions")]
    documents: Option<PathBuf>,
    #[command(flatten)]
    known: GroundTruthArgs,
    #[command(flatten)]
    versions: VersionsArgs,
    /// A preset or full name; may be repeated
    #[arg(long, value_name = "NAME")]
    recipe: Vec<NamedRecipe>,
    /// Distances to show
    #[arg(short, value_name = "BITS", value_delimiter = ',', default_values_t = [3, 5, 7], value_parser = parse_distance)]
    k: Vec<usize>,
    /// Share from which a pair is near by the lenient measure
    #[arg(long, value_name = "SHARE", default_value_t = 0.5, value_parser = parse_share)]
    lenient_share: f64,
    /// Share from which a pair is near by the strict measure
    #[arg(long, value_name = "SHARE", default_value_t = 0.8, value_parser = parse_share)]
    strict_share: f64,
    /// Read the documents as HTML
    #[arg(long)]
    html: bool,
    /// Name broken records and leave them out
    #[arg(long, conflicts_with = "versions")]
    skip_broken: bool,
    /// Average over this many hash seeds of each recipe
    #[arg(long, value_name = "COUNT", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=100))]
    #[arg(conflicts_with = "versions")]
    seeds: u32,
    /// Draw precision, recall and F1 by distance, to an SVG file
    #[arg(long, value_name = "FILE", conflicts_with = "versions")]
    plot: Option<PathBuf>,
    #[command(flatten)]
    reading: ReadingArgs,
}

/// The source of known near pairs.
#[derive(Args)]
#[group(required = true, multiple = false)]
struct GroundTruthArgs {
    /// Pairs of documents and how near they are
    #[arg(long, value_name = "FILE")]
    pairs: Option<PathBuf>,
    /// Compare all documents by the runs of this many words they share
    #[arg(long, value_name = "WORDS", value_parser = clap::value_parser!(u32).range(1..=8))]
    shingles: Option<u32>,
    /// Compare each version of a page with the one before: JSON lines with "url" and "text", in
    /// order
    #[arg(long, value_name = "FILE", conflicts_with_all = ["k", "lenient_share", "strict_share", "seeds", "plot"])]
    versions: Option<PathBuf>,
}

/// The minimum resemblance to search for. Below it, nearly all documents would be compared with
/// nearly all.
const RESEMBLANCE_MIN: f64 = 0.2;

/// Recipes with the features that other software uses.
const OTHERS: [&str; 4] = ["words1-raw/2", "chars3-raw/2", "chars4-raw/2", "words3-raw/2"];

fn parse_share(text: &str) -> Result<f64, &'static str> {
    let share = text.parse().ok().filter(|share| (0.0..=1.0).contains(share));
    share.ok_or("write a number from 0 to 1")
}

fn parse_distance(text: &str) -> Result<usize, String> {
    let distance = text.parse().ok().filter(|distance| *distance <= DISTANCE_MAX as usize);
    distance.ok_or_else(|| format!("write a number from 0 to {DISTANCE_MAX}"))
}

impl EvaluateArgs {
    pub(crate) fn run(self, common: &CommonArgs, output: &mut Output) -> Result<Exit, VerbError> {
        common.without_store()?;
        if self.strict_share < self.lenient_share {
            return Err(VerbError::Usage("--strict-share must be at least --lenient-share".into()));
        }
        if self.known.shingles.is_some() && self.lenient_share < RESEMBLANCE_MIN {
            let why = format!("--lenient-share must be at least {RESEMBLANCE_MIN} with --shingles");
            return Err(VerbError::Usage(why));
        }
        if let Some(path) = &self.known.versions {
            let how = (self.html, self.reading);
            return self.versions.run(path, &self.recipes(), how, common.json, output);
        }
        let documents = self.documents.as_ref().ok_or_else(|| {
            VerbError::Usage("name a file of documents, or use --versions".into())
        })?;
        let input = InputParts::new([InputSource::from_argument(documents.as_os_str())]);
        let input = input.zstd_window(self.reading.zstd_window());
        let documents =
            EvaluatedDocuments::read(input, (self.html, self.skip_broken), self.reading.threads())?;
        let truth = self.truth(&documents)?;
        let rows = self.rows(&documents, &truth)?;
        if let Some(file) = &self.plot {
            self.check_is_no_input(file)?;
            let svg = plot::svg(&self.title(&documents, &truth), &rows);
            let cannot = |e| VerbError::Other(format!("cannot write {}: {e}", file.display()));
            crate::output::temporary::put(file, svg.as_bytes()).map_err(cannot)?;
        }
        if common.json {
            for row in &rows {
                let line = RecipeResult::of(row, &documents, &truth);
                output.object(&EvaluateLine::Recipe(&line))?;
            }
            return Ok(Exit::Done);
        }
        self.print_heading(&documents, &truth, output)?;
        for line in rows.iter().flat_map(|row| table::lines(row, &self.k, self.seeds)) {
            output.line(&line)?;
        }
        Ok(Exit::Done)
    }

    /// The recipes to compare.
    fn recipes(&self) -> Vec<NamedRecipe> {
        if !self.recipe.is_empty() {
            return self.recipe.clone();
        }
        let presets = Recipe::PRESETS.iter().map(|preset| preset.name);
        presets.chain(OTHERS).filter_map(|name| name.parse().ok()).collect()
    }

    /// The known near pairs of the documents.
    fn truth(&self, documents: &EvaluatedDocuments) -> Result<GroundTruth, VerbError> {
        let limits = NearnessLimits { lenient: self.lenient_share, strict: self.strict_share };
        match (&self.known.pairs, self.known.shingles) {
            (Some(pairs), _) => {
                let lines = lines::open(pairs, self.reading.zstd_window());
                labelled::read(lines.map_err(VerbError::Other)?, documents, limits)
            }
            (None, Some(words)) => {
                resemblance::truth(words, &documents.compared, limits, self.reading.threads())
            }
            (None, None) => Err(VerbError::Usage("use --pairs or --shingles".into())),
        }
    }

    /// Checks that the plot does not replace one of the inputs.
    fn check_is_no_input(&self, plot: &Path) -> Result<(), VerbError> {
        let inputs = self.documents.iter().chain(&self.known.pairs);
        let place = plot.canonicalize().ok();
        if place.is_some() && inputs.into_iter().any(|input| input.canonicalize().ok() == place) {
            let what = format!(
                "the plot would replace the input file {}; name another file with --plot",
                plot.display()
            );
            return Err(VerbError::Usage(what));
        }
        Ok(())
    }

    /// The title of the plot.
    fn title(&self, documents: &EvaluatedDocuments, truth: &GroundTruth) -> String {
        let documents = many(documents.compared.len() as u64, "document", "documents");
        let pairs = many(truth.strict(), "pair", "pairs");
        format!("{documents}, {pairs} near by a share of {}", self.strict_share)
    }

    /// Prints the lines above the table.
    fn print_heading(
        &self,
        documents: &EvaluatedDocuments,
        truth: &GroundTruth,
        output: &mut Output,
    ) -> Result<(), VerbError> {
        let (lenient, strict) = (count(truth.lenient()), count(truth.strict()));
        output.line(&format!(
            "{} documents; {lenient} pairs are near by the lenient share of {}, {strict} by the \
             strict share of {}",
            count(documents.compared.len() as u64),
            self.lenient_share,
            self.strict_share
        ))?;
        if let Some(left_out) = documents.left_out.in_words() {
            output.line(&left_out)?;
        }
        output.header(&table::heading(self.seeds))?;
        Ok(())
    }

    /// Computes the scores of all recipes and signatures.
    fn rows(
        &self,
        documents: &EvaluatedDocuments,
        truth: &GroundTruth,
    ) -> Result<Vec<RecipeScores>, VerbError> {
        let recipes = self.recipes();
        let signatures = if self.recipe.is_empty() { &SIGNATURES[..] } else { &[] };
        let all = recipes.len() as u64 * u64::from(self.seeds) + signatures.len() as u64;
        counted("sets of fingerprints", all, |done| {
            let mut rows = Vec::new();
            for called in recipes {
                rows.push(self.row(called, documents, truth, done)?);
            }
            for signature in signatures {
                rows.push(self.row_of(signature, documents, truth)?);
                done.fetch_add(1, Ordering::Relaxed);
            }
            Ok(rows)
        })
    }

    /// Computes the scores of a recipe's fingerprints.
    fn row(
        &self,
        NamedRecipe { name, recipe }: NamedRecipe,
        documents: &EvaluatedDocuments,
        truth: &GroundTruth,
        done: &AtomicU64,
    ) -> Result<RecipeScores, VerbError> {
        let threads = self.reading.threads();
        let mut hashes = Vec::new();
        for seed in 0..self.seeds {
            let seeded = if self.seeds > 1 { recipe.seed(seed) } else { recipe };
            let mut bits = fingerprints(&seeded, &documents.compared, threads)?;
            bits.iter_mut().for_each(|bits| *bits &= recipe.mask());
            hashes.push(by_distance(&bits, truth, threads));
            done.fetch_add(1, Ordering::Relaxed);
        }
        let advised = recipe.preset().and_then(|preset| preset.near).map(|near| near as usize);
        Ok(RecipeScores::new(name, recipe.name(), advised, &hashes))
    }

    /// Computes the score of a signature, which has one distance and one hash.
    fn row_of(
        &self,
        signature: &HistoricSignature,
        documents: &EvaluatedDocuments,
        truth: &GroundTruth,
    ) -> Result<RecipeScores, VerbError> {
        let score = signature.score(&documents.compared, truth, self.reading.threads())?;
        let (name, recipe) = (signature.name.to_owned(), signature.recipe.to_owned());
        Ok(RecipeScores::new(name, recipe, None, &[vec![score]]))
    }
}
