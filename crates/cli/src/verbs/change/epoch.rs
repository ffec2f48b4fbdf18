//! `epoch`: shows and changes how the fingerprints of a store are made.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use schemars::JsonSchema;
use serde::Serialize;
use simkeep::df::FrequencyTable;
use simkeep::fingerprint::{Bands, EXTRACTOR, Frequencies as _};
use simkeep::{EpochInfo, EpochOptions, Options, Origin, Role, Snapshot, Store, query};
use simkeep_formats::escape;

use crate::common::{CommonArgs, write};
use crate::exit::{Exit, VerbError, print_message};
use crate::input::epochs;
use crate::input::limit::Limit;
use crate::input::origin;
use crate::input::recipe::NamedRecipe;
use crate::output::Output;
use crate::output::json::{self, Digest, EpochName, Fingerprint, Time};
use crate::output::table::{self, left, right};
use crate::output::visit;
use crate::output::words::{count, many};

/// Show and change how a store makes fingerprints
///
/// An epoch is one way to make fingerprints: an extractor, a recipe and perhaps a table of document
/// frequencies. Only fingerprints of one epoch are compared. After a new epoch begins, `ingest`
/// makes fingerprints of the newest two, so that changes are still measured. End the old one when
/// pages have been seen again or restated. Two epochs can also stay side by side: one with the role
/// change for verdicts, one with the role near for near-duplicates.
#[derive(Args)]
#[command(after_long_help = r#"Examples:
  simkeep epoch list crawl.simkeep
  simkeep df build site-*.warc.gz --recipe templated --output site.df
  simkeep epoch begin crawl.simkeep --recipe templated --df site.df
  simkeep epoch begin crawl.simkeep --recipe strict --minor 5 --moderate 12
  simkeep ingest crawl.simkeep crawl-*.warc.gz --restate
  simkeep epoch stale crawl.simkeep
  simkeep epoch end crawl.simkeep 'html/3 words2-sqrt/2' --left 100"#)]
pub(crate) struct EpochArgs {
    #[command(subcommand)]
    verb: EpochVerb,
}

#[derive(Subcommand)]
enum EpochVerb {
    List(EpochListArgs),
    Begin(EpochBeginArgs),
    Stale(EpochStaleArgs),
    End(EpochEndArgs),
}

impl EpochArgs {
    pub(crate) fn run(self, common: &CommonArgs, output: &mut Output) -> Result<Exit, VerbError> {
        match self.verb {
            EpochVerb::List(verb) => verb.run(common, output),
            EpochVerb::Begin(verb) => verb.run(common, output),
            EpochVerb::Stale(verb) => verb.run(common, output),
            EpochVerb::End(verb) => verb.run(common, output),
        }
    }
}

/// List the epochs of a store, oldest first
///
/// One line per epoch: number, role, state, the largest minor and moderate distances, the number of
/// fingerprints, and the name.
#[derive(Args)]
struct EpochListArgs {}

impl EpochListArgs {
    fn run(self, common: &CommonArgs, output: &mut Output) -> Result<Exit, VerbError> {
        let snapshot = common.read()?.snapshot();
        show(&snapshot, |_| true, common.json, output)?;
        Ok(Exit::Done)
    }
}

/// Prints some epochs.
fn show(
    snapshot: &Snapshot,
    wanted: impl Fn(&EpochInfo) -> bool,
    as_json: bool,
    output: &mut Output,
) -> Result<(), VerbError> {
    let headings = ["epoch", "minor", "moderate", "fingerprints"].map(right);
    let [number, minor, moderate, fingerprints] = headings;
    let [role, state, name] = ["role", "state", "name"].map(left);
    let columns = [number, role, state, minor, moderate, fingerprints, name];
    let mut table = table::TextTable::new(columns);
    for info in snapshot.epochs().iter().filter(|info| wanted(info)) {
        match as_json {
            true => output.object(&json::EpochSummary::of(snapshot, info))?,
            false => table.row(row(snapshot, info), output)?,
        }
    }
    Ok(table.end(output)?)
}

fn row(snapshot: &Snapshot, info: &EpochInfo) -> [String; 7] {
    [
        info.epoch.count().to_string(),
        info.role.to_string(),
        json::EpochSummary::of(snapshot, info).state().name().to_owned(),
        info.bands.minor.to_string(),
        info.bands.moderate.to_string(),
        count(snapshot.fingerprints(info.epoch)),
        escape::escape_untruncated(&info.name),
    ]
}

/// Begin an epoch; pages without its fingerprints become stale
#[derive(Args)]
struct EpochBeginArgs {
    /// The recipe: a preset or a full name
    #[arg(long, value_name = "NAME", default_value = "default")]
    recipe: NamedRecipe,
    /// Table of document frequencies, which is copied
    #[arg(long, value_name = "FILE")]
    df: Option<PathBuf>,
    /// The extractor, if other software extracts the text
    #[arg(long, value_name = "NAME", default_value = EXTRACTOR)]
    extractor: String,
    /// What it is for: change (verdicts), near (near-duplicates) or both
    #[arg(long, value_name = "change|near|both", default_value_t = Role::Both)]
    role: Role,
    /// Largest distance of a minor change [default: by recipe]
    #[arg(long, value_name = "BITS", requires = "moderate")]
    minor: Option<u32>,
    /// Largest distance of a moderate change [default: by recipe]
    #[arg(long, value_name = "BITS", requires = "minor")]
    moderate: Option<u32>,
}

impl EpochBeginArgs {
    fn run(self, common: &CommonArgs, output: &mut Output) -> Result<Exit, VerbError> {
        let mut origin = Origin::new(self.recipe.recipe).extractor(&self.extractor)?;
        if let Some(path) = &self.df {
            let table = FrequencyTable::open(path)?;
            origin = origin.table(table).map_err(|e| VerbError::Usage(e.to_string()))?;
        }
        // Checks the recipe before a store is created that could not use it.
        if let Err(e) = origin.fingerprinter() {
            return Err(VerbError::Usage(format!("{e}; name a table with --df")));
        }
        let bands =
            self.minor.zip(self.moderate).map(|(minor, moderate)| Bands { minor, moderate });
        if bands.is_some_and(|bands| !bands.are_possible()) {
            let what = "--minor and --moderate must be at most 64, and --minor at most --moderate";
            return Err(VerbError::Usage(what.to_owned()));
        }
        let mut epoch_options = EpochOptions::from(self.role);
        epoch_options.bands = bands;
        // A new store with one recipe for both roles begins with it.
        let options = match self.role {
            Role::Both => Options::default().epoch(origin.name()).epoch_bands(epoch_options.bands),
            _ => Options::default(),
        };
        let path = common.store()?;
        let existing = epochs::existing(&path, options.clone())?;
        let is_known = existing.as_ref().is_some_and(|store| has_epoch(store, &origin.name()));
        let store = existing.map_or_else(|| Store::open_or_create(path, options), Ok)?;
        let epoch = store.begin_epoch(&origin, epoch_options)?;
        let snapshot = store.snapshot();
        store.close()?;
        if ![snapshot.change_epoch(), snapshot.near_epoch()].contains(&epoch) {
            return Err(VerbError::Usage(not_in_use(&origin.name())));
        }
        show(&snapshot, |info| info.epoch == epoch, common.json, output)?;
        if let Some(table) = origin.frequencies() {
            let documents = many(table.documents(), "document", "documents");
            output.note(&format!(
                "the table of the epoch has {} features from {documents}",
                count(table.terms())
            ))?;
        }
        if is_known {
            output.note("the store had this epoch already, and it is in use; no epoch began")?;
        }
        Ok(Exit::Done)
    }
}

/// Whether a store has the epoch with this name.
fn has_epoch(store: &Store, name: &str) -> bool {
    store.snapshot().epochs().iter().any(|info| info.name == name)
}

/// The reason why an epoch of the store does not begin again.
fn not_in_use(name: &str) -> String {
    format!(
        "the store has the epoch {} already, and newer epochs have its role, so no epoch began; \
         end the newer epochs with simkeep epoch end, or begin an epoch of another recipe with \
         --recipe",
        escape::escape_untruncated(name)
    )
}

/// List pages without a fingerprint in an epoch in use
#[derive(Args)]
struct EpochStaleArgs {
    /// The epoch
    #[arg(value_name = "NAME")]
    epoch: Option<String>,
    /// List only pages after this one
    #[arg(long, value_name = "URL")]
    after: Option<String>,
    /// Pages to list [default: all]
    #[arg(long, value_name = "COUNT|all")]
    limit: Option<Limit>,
}

/// A stale page: its content has no fingerprint in an epoch in use.
#[derive(Serialize, JsonSchema)]
pub(crate) struct StaleLine<'a> {
    url: &'a str,
    /// The time when its content was last seen.
    content_seen: Time,
    fingerprint: Option<Fingerprint>,
    digest: Option<Digest>,
    /// The epoch of its fingerprint.
    epoch: EpochName<'a>,
}

impl EpochStaleArgs {
    fn run(self, common: &CommonArgs, output: &mut Output) -> Result<Exit, VerbError> {
        let snapshot = common.read()?.snapshot();
        let mut any = false;
        let named = self.epoch.as_deref().map(|name| origin::named(snapshot.epochs(), name));
        let mut of = match named.transpose()? {
            Some(named) => vec![named],
            None => vec![snapshot.change_epoch(), snapshot.near_epoch()],
        };
        of.dedup();
        let clock = common.clock();
        let columns = [clock.heading("last seen"), "epoch".to_owned(), "URL".to_owned()];
        let mut table = table::TextTable::new(columns.map(left));
        let stale =
            of.iter().flat_map(|of| query::StalePages::of(&snapshot, *of, self.after.as_deref()));
        for page in stale.take(self.limit.map_or(usize::MAX, Limit::count)) {
            let page = page?;
            any = true;
            let content = page.content;
            let epoch = visit::epoch(snapshot.epochs(), content.epoch)?;
            if common.json {
                output.object(&StaleLine {
                    url: &page.url,
                    content_seen: Time(page.time),
                    fingerprint: content.fingerprint.map(Fingerprint),
                    digest: content.digest.map(Digest),
                    epoch: EpochName(epoch),
                })?;
            } else {
                let (epoch, url) =
                    (escape::escape_untruncated(epoch), escape::escape_untruncated(&page.url));
                table.row([clock.show(page.time), epoch, url], output)?;
            }
        }
        table.end(output)?;
        if any {
            return Ok(Exit::Done);
        }
        let names = of.iter().map(|of| visit::epoch(snapshot.epochs(), *of));
        let names: Vec<&str> = names.collect::<Result<_, _>>()?;
        let names = escape::escape_untruncated(&names.join(" and of "));
        print_message(&format!(
            "no page is stale: every page with a fingerprint has a fingerprint of {names}"
        ));
        Ok(Exit::Done)
    }
}

/// End an epoch and remove its table
///
/// After that, nothing is observed or searched in it.
#[derive(Args)]
struct EpochEndArgs {
    /// The epoch
    #[arg(value_name = "NAME")]
    epoch: String,
    /// Pages that may lose their only fingerprint
    #[arg(long, value_name = "COUNT", default_value_t = 0)]
    left: u64,
}

impl EpochEndArgs {
    fn run(self, common: &CommonArgs, output: &mut Output) -> Result<Exit, VerbError> {
        let store = write(&common.store()?, Options::default())?;
        let epoch = origin::named(store.snapshot().epochs(), &self.epoch)?;
        store.end_epoch(epoch, self.left)?;
        let snapshot = store.snapshot();
        store.close()?;
        show(&snapshot, |info| info.epoch == epoch, common.json, output)?;
        Ok(Exit::Done)
    }
}
