//! `evaluate`: how well recipes tell near-duplicates.

mod documents;
mod fingerprints;
mod json;
mod labelled;
mod row;
mod scores;
mod signatures;
mod slices;
mod table;
mod truth;

use std::path::{Path, PathBuf};

use clap::Args;
use simkeep::fingerprint::Recipe;
use simkeep_archive::documents::{LineCutter, open};

use super::exit::{Exit, Failure};
use super::output::Output;
use super::reading::Reading;
use super::recipe::Called;
use super::words::count;
use documents::Documents;
use fingerprints::fingerprints;
use row::Row;
use scores::by_distance;
use signatures::{SIGNATURES, Signature};
use truth::{Limits, Truth};

/// Compare recipes on documents that are known to be near or not
///
/// A line for each recipe and distance k: of the pairs of documents whose fingerprints differ in at
/// most k bits, how many are near (precision), by the lenient and by the strict measure; of the pairs
/// that are near by the strict measure, how many are found (recall); and F1, the harmonic mean of recall
/// and strict precision. Beside the distances of -k, there are the one that is advised for the recipe,
/// and the one with the highest F1.
#[derive(Args)]
#[command(after_long_help = "Examples:
  simkeep evaluate documents.jsonl.zst --pairs pairs.tsv.gz
  simkeep evaluate documents.jsonl --pairs pairs.tsv --recipe default --recipe words3-raw/1 -k 3,6
  simkeep evaluate documents.jsonl --pairs pairs.tsv --json | jq '{recipe, f1: .best.f1}'

The documents are JSON lines with \"id\" and \"text\"; the pairs are lines of two ids and how near they
are, a number from 0 to 1, set apart by tabs; a pair that is not there is not near. Both may be packed.
Of documents with equal words (lower-cased runs of letters and digits) the first is kept, and those of
fewer than 8 words are left out. Recipes that use document frequencies take those of these
documents. Marks and fields are known of HTML only; of plain texts, recipes that differ in these alone
make the same fingerprints.

Without --recipe, all presets are compared, and beside them the features of other producers: counts of
words, of 3 and 4 characters, and of 3 words; and last the historic signatures, of which a part is equal
or not, so that they have the distance 0 alone: I-Match with one digest and with ten, by document
frequencies of these documents, and supershingles.

With --json, an object a recipe or signature: \"recipe\" as it was called and its full \"name\"; \"documents\", how many
are compared; \"left_out\", how many take no part, as they are \"empty\", \"short\" or \"equal\" to another;
\"near\", how many pairs are, by the \"lenient\" and the \"strict\" measure; \"seeds\"; \"at\", a list by
distance from 0 on of \"k\", \"pairs\", \"lenient\", \"strict\", \"recall\" and \"f1\", null where that is
nothing of nothing; and of these objects again the \"advised\" one, and the \"best\" by F1.")]
pub(super) struct Evaluate {
    /// The documents
    documents: PathBuf,
    /// Pairs of them, with how near they are
    #[arg(long, value_name = "FILE")]
    pairs: PathBuf,
    /// A recipe, by its name or that of a preset; may be repeated
    #[arg(long, value_name = "NAME")]
    recipe: Vec<Called>,
    /// The distances to show
    #[arg(short, value_name = "BITS", value_delimiter = ',', default_values_t = [3, 5, 7], value_parser = parse_distance)]
    k: Vec<usize>,
    /// From how near on a pair is near by the lenient measure
    #[arg(long, value_name = "SHARE", default_value_t = 0.5, value_parser = parse_share)]
    lenient: f64,
    /// From how near on a pair is near by the strict measure
    #[arg(long, value_name = "SHARE", default_value_t = 0.8, value_parser = parse_share)]
    strict: f64,
    /// The documents are HTML: use their visible text, with titles, headings, emphasis and links,
    /// and the fields of their `<meta>` elements
    #[arg(long)]
    html: bool,
    /// Take the means over so many hashes of each recipe's features, with their standard deviations
    ///
    /// How well a recipe does is in part the luck of its hashes, some .01 or .02. They are those of the
    /// recipe with the seeds from 0 on, such as words2-sqrt-seed1/1.
    #[arg(long, value_name = "COUNT", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=100))]
    seeds: u32,
    #[command(flatten)]
    reading: Reading,
    /// Print JSON, one object a line
    #[arg(long)]
    json: bool,
}

/// The widest distance that is looked at.
const DISTANCE_MAX: u32 = 20;

/// What other producers make fingerprints of.
const OTHERS: [&str; 4] = ["words1-raw/1", "chars3-raw/1", "chars4-raw/1", "words3-raw/1"];

fn parse_share(text: &str) -> Result<f64, &'static str> {
    let share = text.parse().ok().filter(|share| (0.0..=1.0).contains(share));
    share.ok_or("write a number from 0 to 1")
}

fn parse_distance(text: &str) -> Result<usize, String> {
    let distance = text.parse().ok().filter(|distance| *distance <= DISTANCE_MAX as usize);
    distance.ok_or_else(|| format!("write a number from 0 to {DISTANCE_MAX}"))
}

impl Evaluate {
    pub(super) fn run(self, output: &mut Output) -> Result<Exit, Failure> {
        if self.strict < self.lenient {
            return Err(Failure::Usage("--strict must be at least --lenient".into()));
        }
        let (lines, pairs) = (self.open(&self.documents)?, self.open(&self.pairs)?);
        let documents = Documents::read(lines, self.html, self.reading.threads())?;
        let limits = Limits { lenient: self.lenient, strict: self.strict };
        let truth = labelled::read(pairs, &documents, limits).map_err(Failure::Broken)?;
        if !self.json {
            self.introduce(&documents, &truth, output)?;
        }
        let mut show = |row: &Row, seeds: u32| {
            if self.json {
                return output.object(&json::object(row, seeds, &documents, &truth));
            }
            let lines = table::lines(row, &self.k, self.seeds);
            lines.iter().try_for_each(|line| output.line(line))
        };
        for called in self.recipes() {
            show(&self.row(called, &documents, &truth)?, self.seeds)?;
        }
        for signature in SIGNATURES.iter().filter(|_| self.recipe.is_empty()) {
            show(&self.row_of(signature, &documents, &truth)?, 1)?;
        }
        Ok(Exit::Done)
    }

    fn open(&self, path: &Path) -> Result<LineCutter, Failure> {
        open(path, self.reading.zstd_window()).map_err(Failure::Other)
    }

    /// The recipes to compare.
    fn recipes(&self) -> Vec<Called> {
        if !self.recipe.is_empty() {
            return self.recipe.clone();
        }
        let presets = Recipe::PRESETS.iter().map(|preset| preset.name);
        presets.chain(OTHERS).filter_map(|name| name.parse().ok()).collect()
    }

    fn introduce(
        &self,
        documents: &Documents,
        truth: &Truth,
        output: &mut Output,
    ) -> Result<(), Failure> {
        output.line(&format!(
            "{} documents; {} pairs are near from {} on, {} from {} on",
            count(documents.compared.len() as u64),
            count(truth.lenient()),
            self.lenient,
            count(truth.strict()),
            self.strict
        ))?;
        if let Some(left_out) = documents.left_out.in_words() {
            output.line(&left_out)?;
        }
        output.line(&table::heading(self.seeds))?;
        Ok(())
    }

    /// What the fingerprints of a recipe get right.
    fn row(&self, called: Called, documents: &Documents, truth: &Truth) -> Result<Row, Failure> {
        let Called { name, recipe } = called;
        let threads = self.reading.threads();
        let mut hashes = Vec::new();
        for seed in 0..self.seeds {
            let seeded = if self.seeds > 1 { recipe.seed(seed) } else { recipe };
            let mut bits = fingerprints(&seeded, &documents.compared, threads)?;
            bits.iter_mut().for_each(|bits| *bits &= recipe.mask());
            hashes.push(by_distance(&bits, truth, threads));
        }
        Ok(Row::new(name, recipe.name(), Some(recipe.near_distance() as usize), &hashes))
    }

    /// What a signature gets right, which has one distance and one hash.
    fn row_of(
        &self,
        signature: &Signature,
        documents: &Documents,
        truth: &Truth,
    ) -> Result<Row, Failure> {
        let score = signature.score(&documents.compared, truth, self.reading.threads())?;
        let (name, recipe) = (signature.name.to_owned(), signature.recipe.to_owned());
        Ok(Row::new(name, recipe, None, &[vec![score]]))
    }
}
