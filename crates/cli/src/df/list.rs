//! `df list`: the tables of a store.

use clap::Args;

use super::{Exit, Failure, Output, line, object};
use crate::common::{Bare, Common, read};
use crate::exit::say;

/// List the tables that the epochs of a store weigh words by
///
/// Each is read and checked.
#[derive(Args)]
pub(super) struct List {
    #[command(flatten)]
    bare: Bare,
}

impl List {
    pub(super) fn run(self, common: &Common, output: &mut Output) -> Result<Exit, Failure> {
        let store = common.store_of(&self.bare)?;
        let snapshot = read(&store)?.snapshot();
        let mut any = false;
        for info in snapshot.epochs().iter().filter(|info| !info.ended) {
            let Some(file) = snapshot.table_file(info.epoch) else { continue };
            let origin = snapshot.origin(info.epoch)?;
            let Some(table) = origin.as_ref().and_then(|origin| origin.frequencies()) else {
                continue;
            };
            any = true;
            let path = store.join(file);
            if common.json {
                let mut object = object(&path, table);
                if let Some(object) = object.as_object_mut() {
                    object.insert("epoch".to_owned(), info.name.as_str().into());
                }
                output.object(&object)?;
            } else {
                output.line(&line(&path, table))?;
            }
        }
        if !any {
            say("no epoch of this store has a table");
        }
        Ok(Exit::Done)
    }
}
