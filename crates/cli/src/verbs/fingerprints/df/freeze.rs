//! `df freeze`: one table for good.

use std::path::PathBuf;

use clap::Args;
use simkeep::df::{Table, merge};

use super::{Answer, Common, Exit, Failure, Output, check_out, line, refused};

/// Make one table of several, without features that hardly any document has
///
/// Most features are of one document, and count alike whether they are known or not: without them a
/// table is a fraction as large.
#[derive(Args)]
pub(super) struct Freeze {
    /// Tables of the same features
    #[arg(required = true, value_name = "TABLE")]
    tables: Vec<PathBuf>,
    /// The table to make
    #[arg(long, value_name = "FILE")]
    out: PathBuf,
    /// Leave out what fewer documents have
    #[arg(long, value_name = "COUNT", default_value_t = 2)]
    least: u32,
}

impl Freeze {
    pub(super) fn run(self, common: &Common, output: &mut Output) -> Result<Exit, Failure> {
        common.without_store()?;
        check_out(&self.out)?;
        let tables: Vec<Table> = self.tables.iter().map(Table::open).collect::<Result<_, _>>()?;
        let table = merge(&tables, &self.out, self.least).map_err(refused)?;
        if common.json {
            output.object(&Answer::of(&self.out, &table))?;
        } else {
            output.line(&line(&self.out, &table))?;
        }
        Ok(Exit::Done)
    }
}
