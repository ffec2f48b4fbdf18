//! `verify`: whether a store is sound.

use clap::Args;
use serde_json::json;

use super::Common;
use super::exit::{Exit, Failure};
use super::output::Output;
use super::words::{bytes, many};

/// Read all of a store and check that it is sound
///
/// Checks every checksum, and that pages, histories and search tables fit together.
#[derive(Args)]
#[command(after_long_help = "Examples:
  simkeep verify && cp -r crawl.simkeep backup/

Exits with 4 if anything is damaged, and names the file and the byte.")]
pub(super) struct Verify {
    #[command(flatten)]
    common: Common,
}

impl Verify {
    pub(super) fn run(self, output: &mut Output) -> Result<Exit, Failure> {
        let verified = self.common.read()?.verify()?;
        if self.common.json {
            output.object(&json!({
                "sound": true,
                "files": verified.files,
                "bytes": verified.bytes,
                "pages": verified.pages,
                "visits": verified.visits,
            }))?;
        } else {
            output.line(&format!(
                "sound: {}, {}, {}, {}",
                many(verified.files as u64, "file", "files"),
                bytes(verified.bytes),
                many(verified.pages, "page", "pages"),
                many(verified.visits, "visit", "visits"),
            ))?;
        }
        Ok(Exit::Done)
    }
}
