//! `fingerprint`: makes fingerprints of documents.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::Args;
use schemars::JsonSchema;
use serde::Serialize;
use simkeep::df::FrequencyTable;
use simkeep::fingerprint::{
    Family, FingerprintError, FingerprintExplanation, Fingerprinter, Preset, Recipe,
};

use crate::common::CommonArgs;
use crate::exit::{Exit, VerbError, print_message};
use crate::input::pipeline::{self, ChunkResults, WorkUnit};
use crate::input::recipe::NamedRecipe;
use crate::input::threads::ThreadArgs;
use crate::output::Output;
use crate::output::json::{self, Hash};
use crate::output::{visit, words};
use crate::verbs::ask::near::{TextFormat, read_document};
use simkeep_formats::RECORD_BYTES_MAX;
use simkeep_formats::escape;

/// Make fingerprints of files
///
/// One line per file: its fingerprint in 16 hexadecimal digits, and its name. HTML, recognised by
/// the name or the first bytes, is reduced to its visible text.
#[derive(Args)]
#[command(after_long_help = r#"Examples:
  simkeep fingerprint terms.html privacy.html
  echo 'some text' | simkeep fingerprint
  simkeep fingerprint page.html --recipe strict --explain
  simkeep fingerprint --recipes

A recipe name says what it does: words2-sqrt/2 takes pairs of neighbouring words and
weighs each by the square root of its count. --recipes lists the presets: their full
names, the distance of near-duplicates (near) and up to where it holds (holds), the
largest minor and moderate changes, and the share of changed pages whose fingerprint
stays the same (hidden).

A text of fewer than 8 words is too short to be compared: a note on standard error says
so (with --json, "too_short" is true), and `ingest` gives it no fingerprint. A file that
cannot be read is named, and the exit code is 5. Recipes: docs/fingerprints.md"#)]
pub(crate) struct FingerprintArgs {
    /// Files; - or none is standard input
    files: Vec<PathBuf>,
    /// Read all files as HTML, whatever their names and first bytes say
    #[arg(long)]
    html: bool,
    /// The recipe: a preset or a full name
    #[arg(long, value_name = "NAME", default_value = "default")]
    recipe: NamedRecipe,
    /// Table of document frequencies, for recipes that need one
    #[arg(long, value_name = "FILE")]
    df: Option<PathBuf>,
    /// Print the heaviest features and the least certain bits
    #[arg(long)]
    explain: bool,
    /// Features to print
    #[arg(long, value_name = "COUNT", default_value_t = 10, requires = "explain")]
    features: usize,
    /// List the presets
    #[arg(long, conflicts_with_all = ["files", "explain", "html"])]
    recipes: bool,
    #[command(flatten)]
    threads: ThreadArgs,
}

/// The header line of the list of recipes.
const RECIPES: &str = "preset            recipe                                \
                       near  holds  minor  moderate  hidden";

impl FingerprintArgs {
    pub(crate) fn run(self, common: &CommonArgs, output: &mut Output) -> Result<Exit, VerbError> {
        common.without_store()?;
        if self.recipes {
            return list(common.json, output);
        }
        let table = self.df.as_ref().map(FrequencyTable::open).transpose()?.map(Arc::new);
        let recipe = &self.recipe.recipe;
        if table.is_some() && !recipe.needs_frequencies() {
            let what = format!("the recipe {recipe} uses no document frequencies; leave out --df");
            return Err(VerbError::Usage(what));
        }
        if self.files.iter().filter(|file| file.as_os_str() == "-").count() > 1 {
            return Err(VerbError::Usage("standard input can be read only once".to_owned()));
        }
        fingerprinter(recipe, table.as_deref()).map_err(|e| {
            VerbError::Usage(match table {
                None => format!("{e}; name a table with --df"),
                Some(_) => e.to_string(),
            })
        })?;
        let stdin = [PathBuf::from("-")];
        let files = if self.files.is_empty() { &stdin[..] } else { &self.files };
        let mut failed = 0;
        let (recipe, features) = (*recipe, self.explain.then_some(self.features));
        let form = if self.html { TextFormat::Html } else { TextFormat::Unknown };
        let work = move || {
            let table = table.clone();
            move |InputFile(file): InputFile, into: &mut ChunkResults<FileResult>| {
                let made =
                    ExplainedFingerprint::of((&file, form), &recipe, table.as_deref(), features);
                into.push((file, made), 0);
            }
        };
        let cut: Vec<InputFile> = files.iter().cloned().map(InputFile).collect();
        pipeline::run(
            Box::new(cut.into_iter()),
            self.threads.count(),
            work,
            |(file, made): FileResult| match made? {
                Ok(made) => self.print(&file.to_string_lossy(), &made, common.json, output),
                Err(failure) if files.len() > 1 => {
                    print_message(&failure.message());
                    failed += 1;
                    Ok(())
                }
                Err(failure) => Err(failure),
            },
        )?;
        if failed > 0 {
            let of = words::many(files.len() as u64, "file has", "files have");
            return Err(VerbError::Other(format!(
                "{} of {of} no fingerprint",
                words::count(failed)
            )));
        }
        Ok(Exit::Done)
    }

    fn print(
        &self,
        name: &str,
        made: &ExplainedFingerprint,
        as_json: bool,
        output: &mut Output,
    ) -> Result<(), VerbError> {
        if as_json {
            output.object(&FingerprintLine::File(self.answer(name, made)))?;
            return Ok(());
        }
        let (fingerprint, explained) = (visit::fingerprint(made.fingerprint), &made.explained);
        if made.too_short {
            print_message(&words::not_comparable(Path::new(name)));
        }
        output.line(&format!("{fingerprint}  {}", escape::escape_untruncated(name)))?;
        explained.as_ref().map_or(Ok(()), |explained| print(&self.recipe.recipe, explained, output))
    }

    fn answer<'a>(&'a self, file: &'a str, made: &'a ExplainedFingerprint) -> FileFingerprint<'a> {
        FileFingerprint {
            file,
            fingerprint: json::Fingerprint(made.fingerprint),
            too_short: made.too_short,
            name: &self.recipe.name,
            recipe: self.recipe.recipe.name(),
            explained: made.explained.as_ref().map(VoteExplanation::from),
        }
    }
}

/// A file; with --recipes, a preset.
#[derive(Serialize, JsonSchema)]
#[serde(untagged)]
pub(crate) enum FingerprintLine<'a> {
    File(FileFingerprint<'a>),
    Preset(RecipePreset<'a>),
}

/// The fingerprint of a file.
#[derive(Serialize, JsonSchema)]
pub(crate) struct FileFingerprint<'a> {
    file: &'a str,
    fingerprint: json::Fingerprint,
    /// Whether the text has too few words to be distinguished from others.
    too_short: bool,
    /// The recipe, as the user named it.
    name: &'a str,
    /// The full name of the recipe.
    recipe: String,
    /// The features and bits behind the fingerprint; null without --explain.
    explained: Option<VoteExplanation<'a>>,
}

/// The features and bits behind a fingerprint.
#[derive(Serialize, JsonSchema)]
struct VoteExplanation<'a> {
    distinct_features: usize,
    /// The number of features that vote, or give a bit.
    voting_features: usize,
    /// The features with the most weight.
    heaviest: Vec<FeatureVote<'a>>,
    /// For each of the 64 bits, lowest first, the balance of the weight: above 0 the bit is 1,
    /// below 0 it is 0.
    balance: Vec<f64>,
}

/// A feature of a text.
#[derive(Serialize, JsonSchema)]
struct FeatureVote<'a> {
    text: &'a str,
    /// The name of the field that the feature belongs to; null if it belongs to none.
    field: Option<&'a str>,
    hash: Hash,
    /// The number of times that it occurs in the text.
    count: u64,
    /// The number of documents with the feature, by the frequency table; null without a table.
    documents: Option<u64>,
    /// The ratio of its weight to the total weight of all features.
    share: f64,
}

/// A recipe with a short name.
#[derive(Serialize, JsonSchema)]
pub(crate) struct RecipePreset<'a> {
    /// The short name.
    name: &'a str,
    /// The full name.
    recipe: String,
    /// The purpose of the recipe.
    what: &'a str,
    /// The distance in bits within which near-duplicates are found; null if none is advised.
    near_distance: Option<u32>,
    /// The largest distance in bits up to which that advice holds; null if unknown.
    holds_distance: Option<u32>,
    /// The largest distance of a minor change, in bits.
    minor: u32,
    /// The largest distance of a moderate change, in bits.
    moderate: u32,
    /// The fraction of changed versions of pages whose fingerprint did not change.
    hidden: f64,
}

impl<'a> From<&'a FingerprintExplanation> for VoteExplanation<'a> {
    fn from(explained: &'a FingerprintExplanation) -> VoteExplanation<'a> {
        let heaviest = explained.heaviest.iter().map(|feature| FeatureVote {
            text: &feature.text,
            field: feature.field.as_deref(),
            hash: Hash(feature.hash),
            count: feature.count,
            documents: feature.frequency,
            share: feature.share,
        });
        VoteExplanation {
            distinct_features: explained.features,
            voting_features: explained.voting,
            heaviest: heaviest.collect(),
            balance: explained.balance.to_vec(),
        }
    }
}

/// Lists the presets.
fn list(as_json: bool, output: &mut Output) -> Result<Exit, VerbError> {
    if !as_json {
        output.header(RECIPES)?;
    }
    for Preset { name, description: what, recipe, near, holds, bands, hidden, .. } in
        Recipe::PRESETS
    {
        let recipe = recipe.name();
        if as_json {
            output.object(&FingerprintLine::Preset(RecipePreset {
                name,
                recipe,
                what,
                near_distance: *near,
                holds_distance: *holds,
                minor: bands.minor,
                moderate: bands.moderate,
                hidden: (f64::from(*hidden) * 100.0).round() / 100.0,
            }))?;
            continue;
        }
        let or_none = |k: &Option<u32>| k.map_or_else(|| "-".to_owned(), |k| k.to_string());
        output.line(&format!(
            "{name:<16}  {recipe:<36}  {:>4}  {:>5}  {:>5}  {:>8}  {:>4.0} %",
            or_none(near),
            or_none(holds),
            bands.minor,
            bands.moderate,
            hidden * 100.0
        ))?;
        output.line(&format!("  {what}"))?;
    }
    Ok(Exit::Done)
}

/// The result of a file. The inner failure is reported with the file; the outer one ends the run.
type FileResult = (PathBuf, Result<Result<ExplainedFingerprint, VerbError>, VerbError>);

/// A fingerprint, with its explanation.
struct ExplainedFingerprint {
    fingerprint: u64,
    /// Whether the text is too short to be distinguished from others.
    too_short: bool,
    explained: Option<FingerprintExplanation>,
}

impl ExplainedFingerprint {
    /// Makes the fingerprint of a file. If `features` is set, explains it by up to that many
    /// features.
    fn of(
        (file, form): (&Path, TextFormat),
        recipe: &Recipe,
        table: Option<&FrequencyTable>,
        features: Option<usize>,
    ) -> Result<Result<ExplainedFingerprint, VerbError>, VerbError> {
        let document = match read_document(file, form) {
            Ok(document) => document,
            Err(failure) => return Ok(Err(failure)),
        };
        let mut fingerprinter = fingerprinter(recipe, table)?;
        let explained = features.map(|features| fingerprinter.explain(&document, features));
        let explained = explained.transpose()?;
        let fingerprint = match &explained {
            Some(explained) => explained.fingerprint,
            None => fingerprinter.of(&document)?,
        };
        Ok(Ok(ExplainedFingerprint { fingerprint, too_short: document.is_too_short(), explained }))
    }
}

fn fingerprinter<'t>(
    recipe: &Recipe,
    table: Option<&'t FrequencyTable>,
) -> Result<Fingerprinter<'t>, FingerprintError> {
    match table {
        Some(table) => Fingerprinter::with_frequencies(recipe, table),
        None => Fingerprinter::new(recipe),
    }
}

/// A file to process.
struct InputFile(PathBuf);

impl WorkUnit for InputFile {
    fn bytes(&self) -> usize {
        // If the metadata cannot be read, the file cannot be read either.
        let size = self.0.metadata().map_or(0, |metadata| metadata.len());
        usize::try_from(size.min(RECORD_BYTES_MAX)).unwrap_or(usize::MAX)
    }
}

/// The number of bits to show, those closest to flipping.
const BITS_SHOWN: usize = 8;

fn print(
    recipe: &Recipe,
    explained: &FingerprintExplanation,
    output: &mut Output,
) -> Result<(), VerbError> {
    let is_minwise = recipe.family() == Family::Minwise;
    let distinct = words::many(explained.features as u64, "feature", "features");
    let part = if is_minwise { "give a bit" } else { "vote" };
    output
        .line(&format!("  {distinct}, {} of them {part}", words::count(explained.voting as u64)))?;
    for feature in &explained.heaviest {
        let share = feature.share * 100.0;
        let field = feature.field.as_ref().map(|name| format!("{name}: ")).unwrap_or_default();
        let text = escape::escape(&(field + &feature.text));
        let times = if feature.count == 1 { "time " } else { "times" };
        output.line(&format!("  {share:>6.2} %  {:>5} {times}  {text}", feature.count))?;
    }
    if is_minwise {
        // All bits of a minwise fingerprint are equally close to flipping.
        return Ok(());
    }
    let mut bits: Vec<(usize, f64)> = explained.balance.iter().copied().enumerate().collect();
    bits.sort_by(|a, b| a.1.abs().total_cmp(&b.1.abs()));
    let nearest = bits.iter().take(BITS_SHOWN);
    let nearest: Vec<String> =
        nearest.map(|(bit, balance)| format!("{bit} ({:+.2} %)", balance * 100.0)).collect();
    output.line(&format!("  bits nearest to flipping: {}", nearest.join(", ")))?;
    Ok(())
}
