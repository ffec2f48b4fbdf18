//! `df freeze`: merges tables into a final one.

use std::path::PathBuf;

use clap::Args;
use simkeep::df::{FrequencyTable, merge};

use super::{CommonArgs, DfTableSummary, Exit, Output, VerbError, check_out, line, refused};

/// Merge tables and drop rare features
///
/// Most features occur in one document and weigh the same whether known or not. Without them a
/// table is a fraction of its size.
#[derive(Args)]
pub(super) struct DfFreezeArgs {
    /// Tables of the same features
    #[arg(required = true, value_name = "TABLE")]
    tables: Vec<PathBuf>,
    /// Table to write
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
    /// Drop features of fewer documents
    #[arg(long, value_name = "COUNT", default_value_t = 2)]
    min_documents: u32,
}

impl DfFreezeArgs {
    pub(super) fn run(self, common: &CommonArgs, output: &mut Output) -> Result<Exit, VerbError> {
        common.without_store()?;
        check_out(&self.output)?;
        let tables: Vec<FrequencyTable> =
            self.tables.iter().map(FrequencyTable::open).collect::<Result<_, _>>()?;
        let table = merge(&tables, &self.output, self.min_documents).map_err(refused)?;
        if common.json {
            output.object(&DfTableSummary::of(&self.output, &table))?;
        } else {
            output.line(&line(&self.output, &table))?;
        }
        Ok(Exit::Done)
    }
}
