//! `evaluate`: how well recipes tell near-duplicates.

mod read;
mod score;
mod truth;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::Args;
use serde_json::{Value, json};
use simkeep::fingerprint::Recipe;

use super::exit::{Exit, Failure};
use super::output::Output;
use super::reading::Reading;
use super::recipe::Called;
use super::words::count;
use score::{Score, Scores};
use simkeep_archive::documents;
use truth::Truth;

/// Compare recipes on documents that are known to be near or not
///
/// One line per recipe: of the pairs of documents whose fingerprints differ in at most k bits, how
/// many are near (precision), by the lenient and by the strict measure; and of the pairs that are
/// near by the strict measure, how many are found (recall).
#[derive(Args)]
#[command(after_long_help = "Examples:
  simkeep evaluate documents.jsonl.zst --pairs pairs.tsv.gz
  simkeep evaluate documents.jsonl --pairs pairs.tsv --recipe default --recipe words3-raw/1 -k 3,6
  simkeep evaluate documents.jsonl --pairs pairs.tsv --json | jq '{recipe, at: .at[3]}'

The documents are JSON lines with \"id\" and \"text\"; the pairs are lines of two ids and how near they
are, a number from 0 to 1, set apart by tabs; a pair that is not there is not near. Both may be packed.
Of documents with equal words (lower-cased runs of letters and digits) the first is kept, and those of
fewer than 8 words are left out. Recipes that use document frequencies take those of these
documents. Marks and fields are known of HTML only; of plain texts, recipes that differ in these alone
make the same fingerprints.

Without --recipe, all presets are compared, and beside them the features of other producers: counts of
words, of 3 and 4 characters, and of 3 words.

With --json, an object a recipe: \"recipe\", \"name\", \"at\" (a list by k of \"k\", \"pairs\", \"lenient\",
\"strict\" and \"recall\"), and \"best\": the k that finds most at a strict precision of 0.9.")]
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
    #[arg(short, value_name = "BITS", value_delimiter = ',', default_values_t = [3, 7], value_parser = clap::value_parser!(u32).range(..=K_MAX))]
    k: Vec<u32>,
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
    #[command(flatten)]
    reading: Reading,
    /// Print JSON, one object a line
    #[arg(long)]
    json: bool,
}

/// The widest distance that is looked at.
const K_MAX: i64 = 20;

/// What other producers make fingerprints of.
const OTHERS: [&str; 4] = ["words1-raw/1", "chars3-raw/1", "chars4-raw/1", "words3-raw/1"];

/// The strict precision at which the best distance is sought.
const PRECISION: f64 = 0.9;

fn parse_share(text: &str) -> Result<f64, &'static str> {
    let share = text.parse().ok().filter(|share| (0.0..=1.0).contains(share));
    share.ok_or("write a number from 0 to 1")
}

impl Evaluate {
    pub(super) fn run(self, output: &mut Output) -> Result<Exit, Failure> {
        if self.strict < self.lenient {
            return Err(Failure::Usage("--strict must be at least --lenient".into()));
        }
        let window = self.reading.zstd_window();
        let open = |path: &Path| documents::open(path, window).map_err(Failure::Other);
        let (lines, pairs) = (open(&self.documents)?, open(&self.pairs)?);
        let threads = self.reading.threads();
        let documents = Arc::new(read::documents(lines, self.html, threads)?);
        let truth = Truth::read(pairs, &documents, self.lenient, self.strict);
        let truth = truth.map_err(Failure::Broken)?;
        if !self.json {
            output.line(&format!(
                "{} documents; {} pairs are near from {} on, {} from {} on",
                count(documents.len() as u64),
                count(truth.lenient()),
                self.lenient,
                count(truth.strict()),
                self.strict
            ))?;
            output.line(&self.heading())?;
        }
        for Called { name, recipe } in self.recipes() {
            let scores = Scores::of(
                &read::fingerprints(&recipe, &documents, threads)?,
                &recipe,
                &truth,
                threads,
            );
            if self.json {
                output.object(&object(&name, &recipe, &scores))?;
            } else {
                output.line(&self.row(&name, &scores))?;
            }
        }
        Ok(Exit::Done)
    }

    /// The recipes to compare.
    fn recipes(&self) -> Vec<Called> {
        if !self.recipe.is_empty() {
            return self.recipe.clone();
        }
        let presets = Recipe::PRESETS.iter().map(|preset| preset.name);
        presets.chain(OTHERS).filter_map(|name| name.parse().ok()).collect()
    }

    fn heading(&self) -> String {
        let mut line = format!("{:<24}", "");
        for k in &self.k {
            line += &format!("  {:<22}", format!("within {k}: len. strict rec."));
        }
        line + &format!("  most at strict {PRECISION}")
    }

    fn row(&self, name: &str, scores: &Scores) -> String {
        let mut line = format!("{name:<24}");
        for k in &self.k {
            let Score { lenient, strict, recall, .. } = scores.at(*k);
            line += &format!("  {:>15} {:>6} {:>4}", share(lenient), share(strict), share(recall));
        }
        match scores.best(PRECISION) {
            Some(best) => line + &format!("  {} within {}", share(best.recall), best.k),
            None => line + "  none",
        }
    }
}

/// Two digits; nothing of nothing is no share.
fn share(share: Option<f64>) -> String {
    share.map_or_else(|| "-".to_owned(), |share| format!("{share:.2}"))
}

fn object(name: &str, recipe: &Recipe, scores: &Scores) -> Value {
    let score = |score: &Score| {
        json!({
            "k": score.k,
            "pairs": score.pairs,
            "lenient": score.lenient,
            "strict": score.strict,
            "recall": score.recall,
        })
    };
    json!({
        "recipe": name,
        "name": recipe.name(),
        "at": scores.all().iter().map(score).collect::<Vec<_>>(),
        "best": scores.best(PRECISION).as_ref().map(score),
    })
}
