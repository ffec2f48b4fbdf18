//! Compares consecutive versions of pages, to learn the meaning of fingerprint distances.

mod compare;
mod distance_histogram;
mod edits;
mod read;

use std::path::Path;

use clap::Args;
use schemars::JsonSchema;
use serde::Serialize;
use simkeep::fingerprint::{Bands, Recipe};
use simkeep_formats::lines;

use super::EvaluateLine;
use crate::exit::{Exit, VerbError};
use crate::input::reading::ReadingArgs;
use crate::input::recipe::NamedRecipe;
use crate::output::Output;
use crate::output::json::JsonRatio;
use crate::output::words::{self, count, many};
use compare::VersionPairCounts;
use distance_histogram::{DistanceChanges, DistanceHistogram};
use read::{UnrelatedMarker, VersionRunReader};

/// Options for comparing versions of pages.
#[derive(Args)]
pub(super) struct VersionsArgs {
    /// With --versions, print the share of changed words by distance
    #[arg(long, requires = "versions", conflicts_with = "documents")]
    magnitude: bool,
    /// With --versions, skip a version whose key has this value; may be repeated
    #[arg(long, value_name = "KEY=VALUE", requires = "versions", conflicts_with = "documents")]
    anew: Vec<UnrelatedMarker>,
}

impl VersionsArgs {
    pub(super) fn run(
        &self,
        path: &Path,
        called: &[NamedRecipe],
        (html, reading): (bool, ReadingArgs),
        json: bool,
        output: &mut Output,
    ) -> Result<Exit, VerbError> {
        let open = || {
            let lines = lines::open(path, reading.zstd_window()).map_err(VerbError::Other)?;
            Ok::<_, VerbError>(VersionRunReader::new(lines, self.anew.clone()))
        };
        let recipes: Vec<Recipe> = called.iter().map(|called| called.recipe).collect();
        let counted = if recipes.iter().any(Recipe::needs_frequencies) {
            if path.as_os_str() == "-" {
                let what = "a recipe that uses document frequencies reads the versions twice; name a \
                     file instead of standard input";
                return Err(VerbError::Usage(what.to_owned()));
            }
            compare::counted(open()?, &recipes, html)?
        } else {
            compare::uncounted(&recipes)
        };
        let (compared, tallies) = compare::compare(open()?, counted, html, reading.threads())?;
        if !json {
            heading(&compared, output)?;
        }
        for (NamedRecipe { name, recipe }, tally) in called.iter().zip(&tallies) {
            if json {
                let answer = self.answer(name, recipe, &compared, tally);
                output.object(&EvaluateLine::Versions(&answer))?;
            } else {
                output.line(&row(name, recipe, tally))?;
            }
        }
        if self.magnitude && !json {
            for (NamedRecipe { name, recipe }, tally) in called.iter().zip(&tallies) {
                table(name, recipe, tally, output)?;
            }
        }
        Ok(Exit::Done)
    }

    fn answer<'a>(
        &self,
        called: &'a str,
        recipe: &Recipe,
        compared: &VersionPairCounts,
        tally: &DistanceHistogram,
    ) -> VersionsResult<'a> {
        let bands = recipe.bands();
        let rightness = tally.rightness(bands);
        let distances = || {
            tally.distances().map(|(distance, changes)| DistanceMeaning {
                distance,
                pairs: changes.pairs(),
                quantiles: QUANTILES.map(|share| changes.quantile(share)),
                in_bands: changes.bands(),
                words_changed: words::changed(&recipe.meaning(distance)),
            })
        };
        VersionsResult {
            name: called,
            recipe: recipe.name(),
            changed_pairs: compared.changed,
            returned_pairs: compared.returned,
            equal_pairs: compared.equal,
            short_pairs: compared.short,
            long_pairs: compared.long,
            hidden: tally.hidden(),
            bands: bands.into(),
            right_share: rightness.map(|rightness| rightness.right),
            off_by_two: rightness.map(|rightness| rightness.far_off),
            most_right: tally.best(|rightness| rightness.right).map(BandLimits::from),
            best_balanced: tally.best(|rightness| rightness.balanced).map(BandLimits::from),
            below_in_above: tally.below_in_above(),
            meanings: self.magnitude.then(|| distances().collect()),
        }
    }
}

/// The meaning of a recipe's distances, measured on versions of pages. Null means that there are no
/// data.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "OfVersions")]
pub(crate) struct VersionsResult<'a> {
    /// The recipe, as the user named it.
    name: &'a str,
    /// The full name of the recipe.
    recipe: String,
    /// Pairs of consecutive versions that were compared.
    changed_pairs: u64,
    /// Pairs that are returns to an earlier version, and were not compared.
    returned_pairs: u64,
    /// Pairs with equal words, which were not compared.
    equal_pairs: u64,
    /// Pairs with too few words, which were not compared.
    short_pairs: u64,
    /// Pairs with too many words, which were not compared.
    long_pairs: u64,
    /// The fraction of compared pairs with equal fingerprints.
    hidden: Option<f64>,
    bands: BandLimits,
    /// The fraction of pairs whose change is in the band that their distance predicts.
    right_share: Option<f64>,
    /// The fraction of pairs whose change is two bands off.
    off_by_two: Option<f64>,
    /// The bands that would predict the most pairs correctly.
    most_right: Option<BandLimits>,
    /// The bands that would predict the most pairs correctly if each band had equally many pairs.
    best_balanced: Option<BandLimits>,
    /// The fractions of pairs whose change is below, in, and above the predicted range.
    below_in_above: Option<[f64; 3]>,
    /// The changes of words by distance; null without --magnitude.
    meanings: Option<Vec<DistanceMeaning>>,
}

/// The largest distances of a minor and of a moderate change, in bits.
#[derive(Serialize, JsonSchema)]
struct BandLimits {
    minor: u32,
    moderate: u32,
}

/// The pairs with one distance.
#[derive(Serialize, JsonSchema)]
struct DistanceMeaning {
    distance: u32,
    pairs: u64,
    /// The fraction of changed words that 10 %, 25 %, 50 %, 75 % and 90 % of these pairs do not
    /// exceed.
    quantiles: [Option<f32>; 5],
    /// The fractions of these pairs whose change is minor, moderate and major.
    in_bands: Option<[f64; 3]>,
    /// The predicted range of the fraction of changed words.
    words_changed: [JsonRatio; 2],
}

impl From<Bands> for BandLimits {
    fn from(Bands { minor, moderate }: Bands) -> BandLimits {
        BandLimits { minor, moderate }
    }
}

/// The quantiles to show for each distance.
const QUANTILES: [f64; 5] = [0.1, 0.25, 0.5, 0.75, 0.9];

fn heading(compared: &VersionPairCounts, output: &mut Output) -> Result<(), VerbError> {
    let VersionPairCounts { returned, short, equal, long, changed } = compared;
    output.line(&format!(
        "{} changed; of the other pairs, {} return to an earlier version, {} have equal words, {} \
         have too few words, {} have too many words",
        many(*changed, "pair of versions", "pairs of versions"),
        count(*returned),
        count(*equal),
        count(*short),
        count(*long),
    ))?;
    output.line(&format!(
        "{:<24}  {:>6}  {:>8}  {:>8}  {:>6}  {:>7}  {:>20}  {:>10}  {:>8}",
        "",
        "hidden",
        "minor to",
        "moderate",
        "right",
        "two off",
        "below, in, above",
        "most right",
        "balanced"
    ))?;
    Ok(())
}

/// A row of the table: how well the distances of a recipe predict changes.
fn row(name: &str, recipe: &Recipe, tally: &DistanceHistogram) -> String {
    let bands = recipe.bands();
    let (Some(rightness), Some(shares), Some(hidden)) =
        (tally.rightness(bands), tally.below_in_above(), tally.hidden())
    else {
        return format!("{name:<24}  none");
    };
    let [below, inside, above] = shares.map(|share| share * 100.0);
    let best = |by| {
        let bands = tally.best(by);
        bands.map_or_else(String::new, |best| format!("{}, {}", best.minor, best.moderate))
    };
    let (most_right, balanced) = (best(|r| r.right), best(|r| r.balanced));
    format!(
        "{name:<24}  {:>4.1} %  {:>8}  {:>8}  {:>4.1} %  {:>5.2} %  {below:>4.1}, {inside:>4.1}, {above:>4.1} %  {most_right:>10}  {balanced:>8}",
        hidden * 100.0,
        bands.minor,
        bands.moderate,
        rightness.right * 100.0,
        rightness.far_off * 100.0,
    )
}

/// Prints the fraction of words that changed, by distance.
fn table(
    name: &str,
    recipe: &Recipe,
    tally: &DistanceHistogram,
    output: &mut Output,
) -> Result<(), VerbError> {
    output.line("")?;
    output.line(&format!("{name}: words changed, in percent; and pairs in each band"))?;
    output.header(
        "bits    pairs   10 %   25 %   half   75 %   90 %   minor  moderate  major   range",
    )?;
    for (distance, changes) in tally.distances() {
        output.line(&distance_row(recipe, distance, changes))?;
    }
    Ok(())
}

fn distance_row(recipe: &Recipe, distance: u32, changes: &DistanceChanges) -> String {
    let predicted = recipe.meaning(distance).changed();
    let quantiles = QUANTILES.map(|share| {
        changes.quantile(share).map_or_else(String::new, |share| format!("{:.1}", share * 100.0))
    });
    let [minor, moderate, major] = changes.bands().unwrap_or_default().map(|share| share * 100.0);
    let mut row = format!("{distance:>4}  {:>7}", count(changes.pairs()));
    for quantile in quantiles {
        row += &format!("  {quantile:>5}");
    }
    row + &format!(
        "  {minor:>4.0} %    {moderate:>4.0} %  {major:>3.0} %   {:.1} to {:.1}",
        predicted.start * 100.0,
        predicted.end * 100.0
    )
}
