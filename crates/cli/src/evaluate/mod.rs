//! `evaluate`: how well recipes tell near-duplicates.

mod documents;
mod fingerprints;
mod json;
mod labelled;
mod plot;
mod resemblance;
mod row;
mod scores;
mod signatures;
mod slices;
mod table;
mod truth;
mod versions;

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use clap::Args;
use simkeep::fingerprint::Recipe;
use simkeep_archive::documents::{LineCutter, open};

use super::exit::{Exit, Failure};
use super::gauge::counted;
use super::output::Output;
use super::reading::Reading;
use super::recipe::Called;
use super::words::{count, many};
use documents::Documents;
use fingerprints::fingerprints;
use row::Row;
use scores::by_distance;
use signatures::{SIGNATURES, Signature};
use truth::{Limits, Truth};
use versions::Versions;

/// Compare recipes on documents that are known to be near or not
///
/// A line for each recipe and distance k: of the pairs of documents whose fingerprints differ in at
/// most k bits, how many are near (precision), by the lenient and by the strict measure; of the pairs
/// that are near by the strict measure, how many are found (recall); and F1, the harmonic mean of recall
/// and strict precision. Beside the distances of -k, there are the one that is advised for the recipe,
/// and the one with the highest F1.
#[derive(Args)]
#[command(after_long_help = "Examples:
  simkeep evaluate documents.jsonl.zst --resemblance 5 --seeds 6
  simkeep evaluate pages.jsonl --html --resemblance 5 --recipe default --recipe near
  simkeep evaluate documents.jsonl --pairs pairs.tsv --recipe default --recipe words3-raw/1 -k 3,6
  simkeep evaluate documents.jsonl --pairs pairs.tsv --json | jq '{recipe, f1: .best.f1}'
  simkeep evaluate --versions histories.jsonl --recipe default --magnitude

The documents are JSON lines with \"id\" and \"text\". The pairs are lines of two ids and how near they
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
nothing of nothing; and of these objects again the \"advised\" one, and the \"best\" by F1.

With --versions, a recipe has one line on what its distances mean. Each version of a page is compared with
the one before it; returns to one of the last 64 versions, equal words, and texts of fewer than 100 words
are left out, and such as would take more than a second to compare. The share of words that changed is that
of the words of both that are not in their longest common subsequence. The line has: of texts with other
words, the share that has the distance 0 (hidden); up to which distance a change is told as minor (under 1 %
of the words) and as moderate (up to 10 %), with the share of pairs for which that is right, and the share
for which it is two bands off; for how many the share of words is below the range that is told of their
distance, in it, and above it; and the bands that would have most pairs right, and those that would have most
right if there were as many pairs of each band (balanced). Recipes that use document frequencies take those
of the first versions of the first 1,000 pages. With --magnitude, a table for each recipe follows: by
distance, the pairs, their deciles and quartiles, the share of them in each band, and the range that is told.

With --versions and --json, an object a recipe: \"recipe\" and \"name\"; \"changed\", \"returned\", \"equal\",
\"short\" and \"long\", numbers of pairs; \"hidden\"; \"bands\", with \"minor\" and \"moderate\"; \"right\" and
\"two_off\"; \"below_in_above\"; \"most_right\" and \"best_balanced\", which are bands; and with --magnitude
\"distances\", a list of \"distance\", \"pairs\", \"quantiles\" (.1, .25, .5, .75, .9), \"bands\" and \"told\".")]
pub(super) struct Evaluate {
    /// The documents
    #[arg(required_unless_present = "versions", conflicts_with = "versions")]
    documents: Option<PathBuf>,
    #[command(flatten)]
    known: Known,
    #[command(flatten)]
    versions: Versions,
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
    /// Draw precision, recall and F1 by distance, for all that is compared, to an SVG file
    #[arg(long, value_name = "FILE")]
    plot: Option<PathBuf>,
    #[command(flatten)]
    reading: Reading,
    /// Print JSON, one object a line
    #[arg(long)]
    json: bool,
}

/// From where it is known how near documents are.
#[derive(Args)]
#[group(required = true, multiple = false)]
struct Known {
    /// Pairs of documents, with how near they are
    #[arg(long, value_name = "FILE")]
    pairs: Option<PathBuf>,
    /// Compare all documents with all: a pair is as near as their runs of so many words are the same
    ///
    /// That is the Jaccard index of the two sets of runs. All pairs from --lenient on are found, which
    /// must be at least 0.2, and nothing is estimated. Beside the texts, this takes 200 MiB as a rule,
    /// or half as much as the texts if that is more, and 12 bytes for each pair.
    #[arg(long, value_name = "WORDS", value_parser = clap::value_parser!(u32).range(1..=8))]
    resemblance: Option<u32>,
    /// Compare each version of a page with the one before it: JSON lines with "url" and "text", those of
    /// a page together and in order of time
    #[arg(long, value_name = "FILE")]
    versions: Option<PathBuf>,
}

/// The widest distance that is looked at.
const DISTANCE_MAX: u32 = 20;

/// Less resemblance is not looked for: nearly all documents would be compared with nearly all.
const RESEMBLANCE_MIN: f64 = 0.2;

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
        if self.known.resemblance.is_some() && self.lenient < RESEMBLANCE_MIN {
            let why = format!("--lenient must be at least {RESEMBLANCE_MIN} with --resemblance");
            return Err(Failure::Usage(why));
        }
        if let Some(path) = &self.known.versions {
            let how = (self.html, self.reading);
            return self.versions.run(path, &self.recipes(), how, self.json, output);
        }
        let documents = self
            .documents
            .as_ref()
            .ok_or_else(|| Failure::Usage("documents are needed, or --versions".into()))?;
        let documents = Documents::read(self.open(documents)?, self.html, self.reading.threads())?;
        let truth = self.truth(&documents)?;
        let rows = self.rows(&documents, &truth)?;
        if let Some(file) = &self.plot {
            let svg = plot::svg(&self.title(&documents, &truth), &rows);
            let cannot = |e| Failure::Other(format!("cannot write {}: {e}", file.display()));
            std::fs::write(file, svg).map_err(cannot)?;
        }
        if self.json {
            for row in &rows {
                output.object(&json::object(row, &documents, &truth))?;
            }
            return Ok(Exit::Done);
        }
        self.introduce(&documents, &truth, output)?;
        for line in rows.iter().flat_map(|row| table::lines(row, &self.k, self.seeds)) {
            output.line(&line)?;
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

    /// How near the documents are.
    fn truth(&self, documents: &Documents) -> Result<Truth, Failure> {
        let limits = Limits { lenient: self.lenient, strict: self.strict };
        match (&self.known.pairs, self.known.resemblance) {
            (Some(pairs), _) => labelled::read(self.open(pairs)?, documents, limits),
            (None, Some(words)) => {
                resemblance::truth(words, &documents.compared, limits, self.reading.threads())
            }
            (None, None) => Err(Failure::Usage("--pairs or --resemblance is needed".into())),
        }
    }

    /// What stands above the plot.
    fn title(&self, documents: &Documents, truth: &Truth) -> String {
        let documents = many(documents.compared.len() as u64, "document", "documents");
        let pairs = many(truth.strict(), "pair", "pairs");
        format!("{documents}, {pairs} near from {} on", self.strict)
    }

    /// What stands above the table.
    fn introduce(
        &self,
        documents: &Documents,
        truth: &Truth,
        output: &mut Output,
    ) -> Result<(), Failure> {
        let (lenient, strict) = (count(truth.lenient()), count(truth.strict()));
        output.line(&format!(
            "{} documents; {lenient} pairs are near from {} on, {strict} from {} on",
            count(documents.compared.len() as u64),
            self.lenient,
            self.strict
        ))?;
        if let Some(left_out) = documents.left_out.in_words() {
            output.line(&left_out)?;
        }
        output.line(&table::heading(self.seeds))?;
        Ok(())
    }

    /// What each contestant gets right.
    fn rows(&self, documents: &Documents, truth: &Truth) -> Result<Vec<Row>, Failure> {
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

    /// What the fingerprints of a recipe get right.
    fn row(
        &self,
        Called { name, recipe }: Called,
        documents: &Documents,
        truth: &Truth,
        done: &AtomicU64,
    ) -> Result<Row, Failure> {
        let threads = self.reading.threads();
        let mut hashes = Vec::new();
        for seed in 0..self.seeds {
            let seeded = if self.seeds > 1 { recipe.seed(seed) } else { recipe };
            let mut bits = fingerprints(&seeded, &documents.compared, threads)?;
            bits.iter_mut().for_each(|bits| *bits &= recipe.mask());
            hashes.push(by_distance(&bits, truth, threads));
            done.fetch_add(1, Ordering::Relaxed);
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
