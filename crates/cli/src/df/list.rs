//! `df list`: the tables of a store.

use clap::Args;

use super::{Exit, Failure, Output, line, object};
use crate::Common;
use crate::exit::say;

/// List the tables that the epochs of a store weigh words by
///
/// Each is read and checked.
#[derive(Args)]
pub(super) struct List {
    #[command(flatten)]
    common: Common,
}

impl List {
    pub(super) fn run(self, output: &mut Output) -> Result<Exit, Failure> {
        let snapshot = self.common.read()?.snapshot();
        let mut any = false;
        for info in snapshot.epochs().iter().filter(|info| !info.ended) {
            let Some(file) = snapshot.table_file(info.epoch) else { continue };
            let origin = snapshot.origin(info.epoch)?;
            let Some(table) = origin.as_ref().and_then(|origin| origin.frequencies()) else {
                continue;
            };
            any = true;
            let path = self.common.store.join(file);
            if self.common.json {
                let mut object = object(&path, table);
                if let Some(object) = object.as_object_mut() {
                    object.insert("epoch".to_owned(), info.name.as_str().into());
                }
                output.object(&object)?;
            } else {
                output.line(&line(&path, table))?;
            }
        }
        if any {
            return Ok(Exit::Done);
        }
        say("no epoch of this store has a table");
        Ok(Exit::Nothing)
    }
}
