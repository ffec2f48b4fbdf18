//! `df list`: lists the tables of a store.

use clap::Args;
use schemars::JsonSchema;
use serde::Serialize;
use simkeep::Origin;

use super::{DfTableSummary, Exit, Output, VerbError, line};
use crate::common::{CommonArgs, read};
use crate::exit::print_message;
use crate::output::json::EpochName;

/// List the frequency tables of a store
///
/// Reads and checks each table.
#[derive(Args)]
pub(super) struct DfListArgs {}

/// A frequency table of a store, and the epoch that uses it.
#[derive(Serialize, JsonSchema)]
pub(crate) struct DfListLine<'a> {
    #[serde(flatten)]
    table: DfTableSummary<'a>,
    epoch: EpochName<'a>,
}

impl DfListArgs {
    pub(super) fn run(self, common: &CommonArgs, output: &mut Output) -> Result<Exit, VerbError> {
        let store = common.store()?;
        let snapshot = read(&store)?.snapshot();
        let mut any = false;
        for info in snapshot.epochs().iter().filter(|info| !info.ended) {
            let Some(file) = snapshot.table_file(info.epoch) else { continue };
            let origin = Origin::of(&snapshot, info.epoch)?;
            let Some(table) = origin.as_ref().and_then(|origin| origin.frequencies()) else {
                continue;
            };
            any = true;
            let path = store.join(file);
            if common.json {
                let (table, epoch) = (DfTableSummary::of(&path, table), EpochName(&info.name));
                output.object(&DfListLine { table, epoch })?;
            } else {
                output.line(&line(&path, table))?;
            }
        }
        if !any {
            print_message("no epoch of this store has a table of document frequencies");
        }
        Ok(Exit::Done)
    }
}
