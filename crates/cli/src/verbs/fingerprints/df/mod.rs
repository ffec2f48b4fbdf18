//! `df`: tables of document frequencies.

mod build;
mod compare;
mod freeze;
mod list;
mod show;

use std::borrow::Cow;
use std::path::Path;

use clap::{Args, Subcommand};
use schemars::JsonSchema;
use serde::Serialize;
use simkeep::Error;
use simkeep::df::FrequencyTable;
use simkeep::fingerprint::{Frequencies as _, Recipe};

use crate::common::CommonArgs;
use crate::exit::{Exit, VerbError};
use crate::output::Output;
use crate::output::json::Hash;
use crate::output::temporary::refuse_store;
use crate::output::visit;
use crate::output::words::{bytes, count, many};
use crate::verbs::fill::ingest;
use simkeep_formats::escape;

/// Count in how many documents each word occurs
///
/// Recipes that weigh rare words more need such a table. Build it from pages like those it will be
/// used for. A finished table never changes.
#[derive(Args)]
#[command(after_long_help = "Examples:
  simkeep df build crawl-2024*.warc.gz --output 2024.df
  simkeep df freeze 2024.df 2025.df --min-documents 2 --output crawl.df
  simkeep df show crawl.df fish chips
  simkeep df compare crawl.df 2025.df pages.warc.gz
  simkeep df list --store crawl.simkeep
  simkeep fingerprint page.html --recipe words-idf --df crawl.df")]
pub(crate) struct DfArgs {
    #[command(subcommand)]
    verb: DfVerb,
}

#[derive(Subcommand)]
enum DfVerb {
    Build(build::DfBuildArgs),
    Freeze(freeze::DfFreezeArgs),
    List(list::DfListArgs),
    Show(show::DfShowArgs),
    Compare(compare::DfCompareArgs),
}

/// Refuses to write a table into the directory of a store.
fn check_out(out: &Path) -> Result<(), VerbError> {
    let cannot = |e| {
        let shown = escape::escape_untruncated(&out.to_string_lossy());
        VerbError::Other(format!("cannot write {shown}: {e}"))
    };
    refuse_store(out).map_err(cannot)
}

impl DfArgs {
    pub(crate) fn run(self, common: &CommonArgs, output: &mut Output) -> Result<Exit, VerbError> {
        match self.verb {
            DfVerb::Build(verb) => verb.run(common, output),
            DfVerb::Freeze(verb) => verb.run(common, output),
            DfVerb::List(verb) => verb.run(common, output),
            DfVerb::Show(verb) => verb.run(common, output),
            DfVerb::Compare(verb) => verb.run(common, output),
        }
    }
}

pub(crate) use compare::DfComparison as Compared;
pub(crate) use list::DfListLine as Listed;
pub(crate) use show::DfTableContents as Shown;

/// The failure if the input contains no text.
fn nothing() -> VerbError {
    VerbError::Usage("the named files contain no text".to_owned())
}

/// Converts an error about the tables to a usage failure, because the command line names them.
fn refused(error: Error) -> VerbError {
    match error {
        Error::InvalidArgument(_) | Error::Limit { .. } => VerbError::Usage(error.to_string()),
        other => other.into(),
    }
}

/// A recipe with the features of a table.
fn recipe_of(table: &FrequencyTable) -> Result<Recipe, VerbError> {
    format!("{}-sqrt-idf/2", table.features()).parse().map_err(|_| {
        VerbError::Usage(format!(
            "this version of simkeep does not know features of the kind {}",
            escape::escape_untruncated(table.features())
        ))
    })
}

/// A table of document frequencies.
#[derive(Serialize, JsonSchema)]
pub(crate) struct DfTableSummary<'a> {
    file: Cow<'a, str>,
    /// The checksum of the table, which identifies it.
    table: Hash,
    /// The kind of features that it counts.
    features: &'a str,
    /// The number of documents that were counted.
    documents: u64,
    /// The number of features in the table.
    terms: u64,
    /// The minimum number of documents of a feature; rarer features were left out.
    least_documents: u32,
    /// The number of features that were left out.
    left_out_terms: u64,
    /// The size of the file in bytes.
    file_bytes: u64,
}

impl<'a> DfTableSummary<'a> {
    fn of(path: &'a Path, table: &'a FrequencyTable) -> DfTableSummary<'a> {
        let (least, left_out) = table.left_out();
        DfTableSummary {
            file: path.to_string_lossy(),
            table: Hash(table.id()),
            features: table.features(),
            documents: table.documents(),
            terms: table.terms(),
            least_documents: least,
            left_out_terms: left_out,
            file_bytes: table.bytes(),
        }
    }
}

/// A description of a table, in one line.
fn line(path: &Path, table: &FrequencyTable) -> String {
    let (least, left_out) = table.left_out();
    let mut line = format!(
        "{}: {} of {} in {} ({}), {}",
        escape::escape_untruncated(&path.to_string_lossy()),
        many(table.terms(), "feature", "features"),
        escape::escape_untruncated(table.features()),
        many(table.documents(), "document", "documents"),
        bytes(table.bytes()),
        visit::fingerprint(table.id()),
    );
    if left_out > 0 {
        line += &format!("; {} features in fewer than {least} documents left out", count(left_out));
    }
    line
}
