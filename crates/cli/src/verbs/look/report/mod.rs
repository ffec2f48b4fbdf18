//! `report`: a store as a page that people look at.

mod chapters;
mod facts;
mod figure;
mod page;

use std::io::Write as _;
use std::path::PathBuf;

use clap::Args;
use schemars::JsonSchema;
use serde::Serialize;

use crate::common::{Common, read};
use crate::exit::{Exit, Failure};
use crate::output::Output;
use crate::output::json::Saw;
use crate::output::temporary::{Beside, place_of};
use crate::output::words::bytes;
use facts::Facts;

/// Write a report of a store: one HTML file with figures
///
/// How its fingerprints are spread, how pages change and when, how near pages are to each other, which
/// hosts have most, which pages could be left out in favour of others, where the space goes. Each figure
/// says what one sees, and what would be bad. The file needs nothing else, has no script, and loads
/// nothing.
///
/// It reads all pages a few times, in bounded memory, searches for the nearest page to each of a sample,
/// and joins all pages with those near them: where very many are near each other, that takes longest. It
/// finds mirrors, too: where folders repeat, as in /d/d/d/x, some 14 microseconds a page.
#[derive(Args)]
#[command(after_long_help = "Examples:
  simkeep report crawl.simkeep -o report.html

The file is put in its place when it is whole; before that, what was there stays.

With --json, \"file\" and \"bytes\". What the figures are drawn of, `simkeep inspect --deep --json` prints.")]
pub(crate) struct Report {
    /// The file to write
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
}

/// The report that was written.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Answer<'a> {
    file: &'a str,
    /// The size of the file.
    file_bytes: u64,
    saw: Saw,
}

impl Report {
    pub(crate) fn run(self, common: &Common, output: &mut Output) -> Result<Exit, Failure> {
        let store = common.store()?;
        let reader = read(&store)?;
        let cannot = |e| Failure::Other(format!("cannot write {}: {e}", self.output.display()));
        // Before the work, whether there is a place for what it makes.
        let place = place_of(&self.output).map_err(cannot)?;
        let mut file = Beside::create(&place).map_err(cannot)?;
        let facts = Facts::of(&store, &reader)?;
        let page = page::html(&facts);
        file.write_all(page.as_bytes()).map_err(cannot)?;
        file.put(&place).map_err(cannot)?;
        let size = page.len() as u64;
        if common.json {
            let file = self.output.to_string_lossy();
            output.object(&Answer { file: &file, file_bytes: size, saw: Saw::of(&reader) })?;
        } else {
            let file = simkeep_formats::escape::whole(&self.output.to_string_lossy());
            output.line(&format!("{file}: {}", bytes(size)))?;
        }
        Ok(Exit::Done)
    }
}
