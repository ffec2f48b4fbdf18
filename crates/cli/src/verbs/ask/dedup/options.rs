//! The options of `dedup`.

use std::path::PathBuf;

use clap::Args;
use simkeep::Classes;
use simkeep_formats::KeyPath;

use super::help::HELP;
use crate::input::limit::Limit;
use crate::input::reading::ReadingArgs;
use crate::verbs::ask::cluster::ClusteringArgs;

/// List duplicates to drop, or write a corpus without them
///
/// Keeps the leader of each cluster (see `simkeep cluster`) and drops the other pages. The store
/// does not change.
#[derive(Args)]
#[command(after_long_help = HELP)]
pub(crate) struct DedupArgs {
    #[command(flatten)]
    pub(super) asked: ClusteringArgs,
    /// Classes whose pages may be kept in place of pages of any class
    #[arg(long, value_name = "CLASSES")]
    pub(super) open: Option<Classes>,
    /// Pages to list, 0 for none [default: 100; all with --json]
    #[arg(long, value_name = "COUNT|all", value_parser = Limit::or_none)]
    pub(super) limit: Option<Limit>,
    /// List this many random pairs of each distance instead
    #[arg(long, value_name = "COUNT", conflicts_with = "limit")]
    pub(super) sample: Option<usize>,
    /// Seed of the --sample
    #[arg(long, value_name = "NUMBER", requires = "sample", default_value_t = 0)]
    pub(super) seed: u64,
    /// Write the plan, as JSON lines (.zst, .gz) or .parquet
    #[arg(short, long, value_name = "FILE")]
    pub(super) output: Option<PathBuf>,
    /// Write the URLs of dropped pages
    #[arg(long, value_name = "FILE")]
    pub(super) drop_list: Option<PathBuf>,
    /// Write the URLs of kept pages
    #[arg(long, value_name = "FILE")]
    pub(super) keep_list: Option<PathBuf>,
    /// JSON lines or Parquet files to copy or compare
    #[arg(long, value_name = "FILES", num_args = 1.., help_heading = CORPUS)]
    pub(super) filter: Vec<PathBuf>,
    /// Directory for the copies
    #[arg(long, value_name = "DIR", requires = "filter", help_heading = CORPUS)]
    pub(super) to: Option<PathBuf>,
    /// Replace files that exist
    #[arg(long, requires = "to", help_heading = CORPUS)]
    pub(super) force: bool,
    /// Keep duplicates, with "duplicate_of" and "distance"
    #[arg(long, requires = "to", help_heading = CORPUS)]
    pub(super) mark: bool,
    /// Key or column of the name, as for `load` [default: url]
    #[arg(long, value_name = "KEY", requires = "filter")]
    #[arg(help_heading = CORPUS)]
    pub(super) url_key: Option<KeyPath>,
    /// Key or column of the text [default: text]
    #[arg(long, value_name = "KEY", requires = "filter", help_heading = CORPUS)]
    pub(super) text_key: Option<KeyPath>,
    /// Compare names only, not texts
    #[arg(long, requires = "filter", help_heading = CORPUS)]
    pub(super) any_text: bool,
    /// Drop only texts that share at least this part of their runs of five words, such as 0.8
    #[arg(long, value_name = "SHARE", value_parser = share, requires = "filter")]
    #[arg(conflicts_with = "any_text", help_heading = CORPUS)]
    pub(super) resemblance: Option<f64>,
    #[command(flatten)]
    pub(super) reading: ReadingArgs,
}

const CORPUS: &str = "A corpus";

/// Parses a ratio from 0 to 1.
fn share(said: &str) -> Result<f64, String> {
    let share = said.parse().ok().filter(|share| (0.0..=1.0).contains(share));
    share.ok_or_else(|| "write a number from 0 to 1, such as 0.8".to_owned())
}
