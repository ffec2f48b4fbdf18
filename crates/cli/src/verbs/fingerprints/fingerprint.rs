//! `fingerprint`: makes fingerprints of documents.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::Args;
use schemars::JsonSchema;
use serde::Serialize;
use simkeep::df::Table;
use simkeep::fingerprint::{Explained, Family, FingerprintError, Fingerprinter, Preset, Recipe};

use crate::common::Common;
use crate::exit::{Exit, Failure, say};
use crate::input::pipeline::{self, Chunk, Results};
use crate::input::recipe::Called;
use crate::input::threads::Threads;
use crate::output::Output;
use crate::output::json::{self, Hash};
use crate::output::{visit, words};
use crate::verbs::ask::near::{Form, read_document};
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

A text of fewer than 8 words is too short to be compared, which is said on standard error
(with --json as "too_short"); `ingest` gives it no fingerprint. A file that cannot be read
is named, and the exit code is 5. Recipes: docs/fingerprints.md"#)]
pub(crate) struct Fingerprint {
    /// Files; - or none is standard input
    files: Vec<PathBuf>,
    /// Read all files as HTML, whatever their names and first bytes say
    #[arg(long)]
    html: bool,
    /// The recipe: a preset or a full name
    #[arg(long, value_name = "NAME", default_value = "default")]
    recipe: Called,
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
    threads: Threads,
}

/// The header line of the list of recipes.
const RECIPES: &str = "preset            recipe                                \
                       near  holds  minor  moderate  hidden";

impl Fingerprint {
    pub(crate) fn run(self, common: &Common, output: &mut Output) -> Result<Exit, Failure> {
        common.without_store()?;
        if self.recipes {
            return list(common.json, output);
        }
        let table = self.df.as_ref().map(Table::open).transpose()?.map(Arc::new);
        let recipe = &self.recipe.recipe;
        if table.is_some() && !recipe.needs_frequencies() {
            let what = format!("the recipe {recipe} uses no document frequencies: no --df");
            return Err(Failure::Usage(what));
        }
        if self.files.iter().filter(|file| file.as_os_str() == "-").count() > 1 {
            return Err(Failure::Usage("standard input can be read only once".to_owned()));
        }
        fingerprinter(recipe, table.as_deref()).map_err(|e| {
            Failure::Usage(match table {
                None => format!("{e}; name one with --df"),
                Some(_) => e.to_string(),
            })
        })?;
        let stdin = [PathBuf::from("-")];
        let files = if self.files.is_empty() { &stdin[..] } else { &self.files };
        let mut failed = 0;
        let (recipe, features) = (*recipe, self.explain.then_some(self.features));
        let form = if self.html { Form::Html } else { Form::Unknown };
        let work = move || {
            let table = table.clone();
            move |File(file): File, into: &mut Results<Outcome>| {
                let made = Made::of((&file, form), &recipe, table.as_deref(), features);
                into.push((file, made), 0);
            }
        };
        let cut: Vec<File> = files.iter().cloned().map(File).collect();
        pipeline::run(
            Box::new(cut.into_iter()),
            self.threads.count(),
            work,
            |(file, made): Outcome| match made? {
                Ok(made) => self.print(&file.to_string_lossy(), &made, common.json, output),
                Err(failure) if files.len() > 1 => {
                    say(&failure.message());
                    failed += 1;
                    Ok(())
                }
                Err(failure) => Err(failure),
            },
        )?;
        if failed > 0 {
            let of = words::many(files.len() as u64, "file has", "files have");
            return Err(Failure::Other(format!("{} of {of} no fingerprint", words::count(failed))));
        }
        Ok(Exit::Done)
    }

    fn print(
        &self,
        name: &str,
        made: &Made,
        as_json: bool,
        output: &mut Output,
    ) -> Result<(), Failure> {
        if as_json {
            output.object(&Line::File(self.answer(name, made)))?;
            return Ok(());
        }
        let (fingerprint, explained) = (visit::fingerprint(made.fingerprint), &made.explained);
        if made.too_short {
            say(&words::not_comparable(Path::new(name)));
        }
        output.line(&format!("{fingerprint}  {}", escape::whole(name)))?;
        explained.as_ref().map_or(Ok(()), |explained| print(&self.recipe.recipe, explained, output))
    }

    fn answer<'a>(&'a self, file: &'a str, made: &'a Made) -> OfFile<'a> {
        OfFile {
            file,
            fingerprint: json::Fingerprint(made.fingerprint),
            too_short: made.too_short,
            name: &self.recipe.name,
            recipe: self.recipe.recipe.name(),
            explained: made.explained.as_ref().map(Why::from),
        }
    }
}

/// A file; with --recipes, a preset.
#[derive(Serialize, JsonSchema)]
#[serde(untagged)]
pub(crate) enum Line<'a> {
    File(OfFile<'a>),
    Preset(OfPreset<'a>),
}

/// The fingerprint of a file.
#[derive(Serialize, JsonSchema)]
pub(crate) struct OfFile<'a> {
    file: &'a str,
    fingerprint: json::Fingerprint,
    /// Whether the text has too few words to be distinguished from others.
    too_short: bool,
    /// The recipe, as the user named it.
    name: &'a str,
    /// The full name of the recipe.
    recipe: String,
    /// The features and bits behind the fingerprint; null without --explain.
    explained: Option<Why<'a>>,
}

/// The features and bits behind a fingerprint.
#[derive(Serialize, JsonSchema)]
struct Why<'a> {
    distinct_features: usize,
    /// The number of features that vote, or give a bit.
    voting_features: usize,
    /// The features with the most weight.
    heaviest: Vec<OfFeature<'a>>,
    /// For each of the 64 bits, lowest first, the balance of the weight: above 0 the bit is 1,
    /// below 0 it is 0.
    balance: Vec<f64>,
}

/// A feature of a text.
#[derive(Serialize, JsonSchema)]
struct OfFeature<'a> {
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
pub(crate) struct OfPreset<'a> {
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

impl<'a> From<&'a Explained> for Why<'a> {
    fn from(explained: &'a Explained) -> Why<'a> {
        let heaviest = explained.heaviest.iter().map(|feature| OfFeature {
            text: &feature.text,
            field: feature.field.as_deref(),
            hash: Hash(feature.hash),
            count: feature.count,
            documents: feature.frequency,
            share: feature.share,
        });
        Why {
            distinct_features: explained.features,
            voting_features: explained.voting,
            heaviest: heaviest.collect(),
            balance: explained.balance.to_vec(),
        }
    }
}

/// Lists the presets.
fn list(as_json: bool, output: &mut Output) -> Result<Exit, Failure> {
    if !as_json {
        output.header(RECIPES)?;
    }
    for Preset { name, what, recipe, near, holds, bands, hidden, .. } in Recipe::PRESETS {
        let recipe = recipe.name();
        if as_json {
            output.object(&Line::Preset(OfPreset {
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
type Outcome = (PathBuf, Result<Result<Made, Failure>, Failure>);

/// A fingerprint, with its explanation.
struct Made {
    fingerprint: u64,
    /// Whether the text is too short to be distinguished from others.
    too_short: bool,
    explained: Option<Explained>,
}

impl Made {
    /// Makes the fingerprint of a file. If `features` is set, explains it by up to that many
    /// features.
    fn of(
        (file, form): (&Path, Form),
        recipe: &Recipe,
        table: Option<&Table>,
        features: Option<usize>,
    ) -> Result<Result<Made, Failure>, Failure> {
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
        Ok(Ok(Made { fingerprint, too_short: document.is_too_short(), explained }))
    }
}

fn fingerprinter<'t>(
    recipe: &Recipe,
    table: Option<&'t Table>,
) -> Result<Fingerprinter<'t>, FingerprintError> {
    match table {
        Some(table) => Fingerprinter::with_frequencies(recipe, table),
        None => Fingerprinter::new(recipe),
    }
}

/// A file to process.
struct File(PathBuf);

impl Chunk for File {
    fn bytes(&self) -> usize {
        // If the metadata cannot be read, the file cannot be read either.
        let size = self.0.metadata().map_or(0, |metadata| metadata.len());
        usize::try_from(size.min(RECORD_BYTES_MAX)).unwrap_or(usize::MAX)
    }
}

/// The number of bits to show, those closest to flipping.
const BITS_SHOWN: usize = 8;

fn print(recipe: &Recipe, explained: &Explained, output: &mut Output) -> Result<(), Failure> {
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
