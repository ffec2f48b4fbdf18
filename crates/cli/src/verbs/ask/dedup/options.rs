//! The options of `dedup`.

use std::path::PathBuf;

use clap::Args;
use simkeep::Classes;
use simkeep_formats::Key;

use super::help::HELP;
use crate::input::reading::Reading;
use crate::verbs::ask::cluster::Asked;

/// Say which pages to drop in favour of others, or write a corpus without them
///
/// A line for each page to be dropped: in how many bits it differs from the page that is kept for it,
/// why, how many pages the cluster has, its URL, and that of the page that is kept. Then how many there
/// are by reason, by distance and by host. A page that is led by one of another class stays, unless that
/// is --open. Nothing is dropped from the store.
#[derive(Args)]
#[command(after_long_help = HELP)]
pub(crate) struct Dedup {
    #[command(flatten)]
    pub(super) asked: Asked,
    /// Drop pages also in favour of those of these classes, which all may see, and not only of their own
    /// class: numbers and "none", with commas between them
    #[arg(long, value_name = "CLASSES")]
    pub(super) open: Option<Classes>,
    /// How many pages to list at most [default: 100; with --json all, with --filter none]
    #[arg(long, value_name = "COUNT")]
    pub(super) limit: Option<usize>,
    /// List so many pairs of each distance, drawn by lot, to be judged by eye before anything goes
    #[arg(long, value_name = "COUNT", conflicts_with = "limit")]
    pub(super) sample: Option<usize>,
    /// With --sample: the number of the lot
    #[arg(long, value_name = "NUMBER", requires = "sample", default_value_t = 0)]
    pub(super) seed: u64,
    /// Write all pages that are dropped to this file: as JSON lines, packed if its name ends with .zst
    /// or .gz, or as a Parquet file if it ends with .parquet
    #[arg(short, long, value_name = "FILE")]
    pub(super) output: Option<PathBuf>,
    /// Write the URLs of all pages that are dropped to this file, one a line
    #[arg(long, value_name = "FILE")]
    pub(super) drop_list: Option<PathBuf>,
    /// Write the URLs of all pages that are kept to this file, one a line
    #[arg(long, value_name = "FILE")]
    pub(super) keep_list: Option<PathBuf>,
    /// Write these files of JSON lines, or Parquet files, without the documents that are dropped
    #[arg(long, value_name = "FILES", num_args = 1.., requires = "to", help_heading = CORPUS)]
    pub(super) filter: Vec<PathBuf>,
    /// The folder that they are written to, by their names; it is made if it is not there
    #[arg(long, value_name = "FOLDER", requires = "filter", help_heading = CORPUS)]
    pub(super) to: Option<PathBuf>,
    /// Take the place of files that are there
    #[arg(long, requires = "filter", help_heading = CORPUS)]
    pub(super) force: bool,
    /// Keep all documents, and add "duplicate_of" and "distance" to those that would be dropped
    #[arg(long, requires = "filter", help_heading = CORPUS)]
    pub(super) mark: bool,
    /// The key, or the column, of what names a document, as it was loaded [default: url]
    #[arg(long, visible_alias = "url-key", value_name = "KEY", requires = "filter")]
    #[arg(help_heading = CORPUS)]
    pub(super) id_key: Option<Key>,
    /// The key, or the column, of the text [default: text]
    #[arg(long, value_name = "KEY", requires = "filter", help_heading = CORPUS)]
    pub(super) text_key: Option<Key>,
    /// Go by names alone: drop a document also where its text is not the one that was compared
    #[arg(long, requires = "filter", help_heading = CORPUS)]
    pub(super) any_text: bool,
    /// Drop only documents whose texts have at least this share of their runs of five words in common
    /// with what is kept for them, such as 0.8
    #[arg(long, value_name = "SHARE", value_parser = share, requires = "filter")]
    #[arg(conflicts_with = "any_text", help_heading = CORPUS)]
    pub(super) resemblance: Option<f64>,
    #[command(flatten)]
    pub(super) reading: Reading,
}

const CORPUS: &str = "A corpus";

/// A share, 0 to 1.
fn share(said: &str) -> Result<f64, String> {
    let share = said.parse().ok().filter(|share| (0.0..=1.0).contains(share));
    share.ok_or_else(|| "it is no number from 0 to 1".to_owned())
}
