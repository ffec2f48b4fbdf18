//! `report`: describes a store in an HTML page for people.

mod attention;
mod chapters;
mod facts;
mod figure;
mod page;

use std::io::Write as _;
use std::path::PathBuf;

use clap::Args;
use schemars::JsonSchema;
use serde::Serialize;

use crate::common::{CommonArgs, read};
use crate::exit::{Exit, VerbError};
use crate::output::Output;
use crate::output::json::StoreState;
use crate::output::temporary::{UnfinishedFile, place_of};
use crate::output::words::bytes;
use facts::ReportFacts;

/// Write an HTML report of a store, with figures
///
/// Begins with what needs attention: hosts and pages that fail, likely crawler traps, and the pages
/// that changed most. Then shows how pages change, what requests saved, how near pages are to each
/// other, clusters and mirrors, and where the space goes. Each figure says what would be bad. The
/// file is self-contained and has no script.
///
/// Reads all pages a few times, in bounded memory. Stores with very many near-duplicates take
/// longest.
#[derive(Args)]
#[command(after_long_help = r#"Examples:
  simkeep report crawl.simkeep -o report.html

The file is replaced only when the report is complete. `simkeep inspect --deep --json`
prints the numbers behind the figures."#)]
pub(crate) struct ReportArgs {
    /// File to write
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
}

/// The report that was written.
#[derive(Serialize, JsonSchema)]
pub(crate) struct ReportResult<'a> {
    file: &'a str,
    /// The size of the file in bytes.
    file_bytes: u64,
    saw: StoreState,
}

impl ReportArgs {
    pub(crate) fn run(self, common: &CommonArgs, output: &mut Output) -> Result<Exit, VerbError> {
        let store = common.store()?;
        let reader = read(&store)?;
        let cannot = |e| VerbError::Other(format!("cannot write {}: {e}", self.output.display()));
        // Creates the output file before the work, so that a bad path fails early.
        let place = place_of(&self.output).map_err(cannot)?;
        let mut file = UnfinishedFile::create(&place).map_err(cannot)?;
        let facts = ReportFacts::of(&store, &reader)?;
        let page = page::html(&facts);
        file.write_all(page.as_bytes()).map_err(cannot)?;
        file.put(&place).map_err(cannot)?;
        let size = page.len() as u64;
        if common.json {
            let file = self.output.to_string_lossy();
            output.object(&ReportResult {
                file: &file,
                file_bytes: size,
                saw: StoreState::of(&reader),
            })?;
        } else {
            let file = simkeep_formats::escape::escape_untruncated(&self.output.to_string_lossy());
            output.line(&format!("{file}: {}", bytes(size)))?;
        }
        Ok(Exit::Done)
    }
}
