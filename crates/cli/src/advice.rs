//! Advice on errors of the library, in terms of this tool's verbs and options.

use simkeep::{Error, LockHolder, NotStore};

use crate::output::words::holder_of_lock;

/// Returns the message of an error, with advice on what to do with this tool.
pub(crate) fn message(error: &Error) -> String {
    let said = match error {
        Error::Locked { location, holder } => in_use(location, *holder),
        Error::StoreExists { location } => {
            format!("{location} is already a simkeep store; name a new or empty directory")
        }
        _ => error.to_string(),
    };
    match advice(error) {
        Some(advice) => format!("{said}; {advice}"),
        None => said,
    }
}

/// Returns the message for a store that another process writes to. That of the library is for
/// programs.
fn in_use(location: &str, holder: LockHolder) -> String {
    let holder = holder_of_lock(holder);
    format!(
        "{holder} is still writing to {location}; wait until it ends; verbs that only read, such as \
         near and export, work meanwhile"
    )
}

fn advice(error: &Error) -> Option<&'static str> {
    match error {
        Error::Corrupt(_) => {
            Some("simkeep verify lists all damage, and simkeep repair saves the sound parts")
        }
        Error::NotAStore { found, .. } => match found {
            NotStore::Nothing => {
                Some("name the directory of a store, or make a store with simkeep ingest")
            }
            NotStore::Published => {
                Some("verbs that read take it as their store, and simkeep load takes it as input")
            }
            // The error itself already says what to do.
            _ => None,
        },
        Error::NotATable { .. } => Some("simkeep df build makes a table"),
        Error::EndedEpoch(_) => Some("use simkeep epoch begin"),
        Error::NoTable { .. } => Some("use simkeep epoch begin --df"),
        Error::UnknownEpoch(_) => Some("simkeep epoch list shows the epochs of the store"),
        Error::EpochInUse { .. } => Some(
            "simkeep epoch stale lists these pages, and simkeep epoch end --left sets the number",
        ),
        Error::AmbiguousRepair { .. } => Some("simkeep repair --keep-forgotten keeps all pages"),
        Error::Catalog(_) => Some("simkeep verify checks the files"),
        Error::Poisoned(cause) | Error::LoadRejected { cause, .. } => advice(cause),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    fn damage() -> Error {
        let (file, what) = ("SNAPSHOT".to_owned(), "it is cut short".to_owned());
        Error::Corrupt(simkeep::Corruption { file, offset: 60, what })
    }

    #[test]
    #[expect(clippy::too_many_lines, reason = "a table of cases")]
    fn advice_of_the_tool_follows_the_error() {
        let (epoch, why) = (|| "2024".to_owned(), || "it does not exist".to_owned());
        for (error, expected) in [
            (
                damage(),
                "SNAPSHOT is damaged at byte 60: it is cut short; restore this file from a backup, \
                 or recover the rest of the store with a repair; simkeep verify lists all damage, \
                 and simkeep repair saves the sound parts",
            ),
            (
                Error::NotAStore { location: "crawl".into(), why: why(), found: NotStore::Nothing },
                "crawl is not a simkeep store: it does not exist; name the directory of a store, \
                 or make a store with simkeep ingest",
            ),
            (
                Error::NotAStore {
                    location: "crawl".into(),
                    why: why(),
                    found: NotStore::Published,
                },
                "crawl is not a simkeep store: it does not exist; verbs that read take it as \
                 their store, and simkeep load takes it as input",
            ),
            (
                Error::NotAStore {
                    location: "crawl".into(),
                    why: why(),
                    found: NotStore::Segments(3),
                },
                "crawl is not a simkeep store: it does not exist",
            ),
            (
                Error::NotATable { file: "crawl.df".into(), why: why() },
                "crawl.df is not a table of document frequencies: it does not exist; simkeep df \
                 build makes a table",
            ),
            (
                Error::EndedEpoch(epoch()),
                "the epoch 2024 has ended; begin another epoch; use simkeep epoch begin",
            ),
            (
                Error::NoTable { epoch: epoch(), file: "0000000004.df".into() },
                "the store lacks 0000000004.df, the table of document frequencies of the epoch \
                 2024; begin the epoch again with this table; use simkeep epoch begin --df",
            ),
            (
                Error::UnknownEpoch(7),
                "epoch 7 is not registered in this store; register its name first; simkeep epoch list \
                 shows the epochs of the store",
            ),
            (
                Error::EpochInUse { name: epoch(), url: "http://a/".into() },
                "the epoch 2024 is still in use, for example by the page http://a/; restate or \
                 forget its pages first, or allow a number of pages to be left behind; simkeep \
                 epoch stale lists these pages, and simkeep epoch end --left sets the number",
            ),
            (
                Error::AmbiguousRepair { what: "operations 11 to 12 are lost".into() },
                "operations 11 to 12 are lost; a repair could bring back forgotten pages, so \
                 nothing was repaired; restore the damaged files from a backup, or choose to keep \
                 all pages; simkeep repair --keep-forgotten keeps all pages",
            ),
            (
                Error::Catalog("Value is too large".into()),
                "catalog.redb cannot be used: Value is too large; open the store again; if the \
                 error comes back, verify the store; simkeep verify checks the files",
            ),
            (
                Error::LoadRejected { nth: 3, cause: Arc::new(Error::EndedEpoch(epoch())) },
                "observation 3 of the load: the epoch 2024 has ended; begin another epoch; nothing \
                 was stored; use simkeep epoch begin",
            ),
            (
                Error::Poisoned(Arc::new(damage())),
                "an earlier write failed (SNAPSHOT is damaged at byte 60: it is cut short; restore \
                 this file from a backup, or recover the rest of the store with a repair); the \
                 store accepts no more writes until it is opened again; simkeep verify lists all \
                 damage, and simkeep repair saves the sound parts",
            ),
            (
                Error::Locked { location: "crawl".into(), holder: LockHolder::Process(7) },
                "process 7 is still writing to crawl; wait until it ends; verbs that only read, such as near \
                 and export, work meanwhile",
            ),
            (
                Error::StoreExists { location: "crawl".into() },
                "crawl is already a simkeep store; name a new or empty directory",
            ),
            (Error::Closed, "the store is closed; open it again"),
        ] {
            assert_eq!(message(&error), expected);
        }
    }
}
