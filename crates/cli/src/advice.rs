//! Advice on errors of the library, in terms of this tool's verbs and options.

use simkeep::{Error, LockHolder, NotStore};

/// Returns the message of an error, with advice on what to do with this tool.
pub(crate) fn message(error: &Error) -> String {
    let said = match error {
        Error::Locked { location, holder } => in_use(location, *holder),
        Error::StoreExists { location } => {
            format!("{location} is a simkeep store already; name a new or empty directory")
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
    let holder = match holder {
        LockHolder::Process(process) => format!("process {process}"),
        _ => "another process".to_owned(),
    };
    format!(
        "{location} is in use by {holder} that writes to it; wait until it ends; verbs that only read, \
         such as near and export, work at the same time"
    )
}

fn advice(error: &Error) -> Option<&'static str> {
    match error {
        Error::Corrupt(_) => Some("see simkeep verify and simkeep repair"),
        Error::NotAStore { found, .. } => match found {
            NotStore::Nothing => Some("name the directory of a store, or make one: simkeep ingest"),
            NotStore::Published => {
                Some("verbs that read take it as --store, and simkeep load as input")
            }
            // The error itself already says what to do.
            _ => None,
        },
        Error::NotATable { .. } => Some("make one: simkeep df build"),
        Error::EndedEpoch(_) => Some("see simkeep epoch begin"),
        Error::NoTable { .. } => Some("see simkeep epoch begin --df"),
        Error::UnknownEpoch(_) => Some("see simkeep epoch list"),
        Error::EpochInUse { .. } => Some("see simkeep epoch stale and simkeep epoch end --left"),
        Error::AmbiguousRepair { .. } => Some("see simkeep repair --keep-forgotten"),
        Error::Catalog(_) => Some("see simkeep verify"),
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
                "SNAPSHOT is damaged at byte 60: it is cut short; restore this file from a copy, or save \
                 the rest of the store; see simkeep verify and simkeep repair",
            ),
            (
                Error::NotAStore { location: "crawl".into(), why: why(), found: NotStore::Nothing },
                "crawl is not a simkeep store: it does not exist; name the directory of a store, or make \
                 one: simkeep ingest",
            ),
            (
                Error::NotAStore {
                    location: "crawl".into(),
                    why: why(),
                    found: NotStore::Published,
                },
                "crawl is not a simkeep store: it does not exist; verbs that read take it as --store, and \
                 simkeep load as input",
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
                "crawl.df is not a table of document frequencies: it does not exist; make one: \
                 simkeep df build",
            ),
            (
                Error::EndedEpoch(epoch()),
                "the epoch 2024 has ended; begin another one; see simkeep epoch begin",
            ),
            (
                Error::NoTable { epoch: epoch(), file: "0000000004.df".into() },
                "0000000004.df, the table of the epoch 2024, is not in the store; begin the epoch once \
                 more with it; see simkeep epoch begin --df",
            ),
            (
                Error::UnknownEpoch(7),
                "epoch 7 is not registered in this store; register its name first; see simkeep epoch list",
            ),
            (
                Error::EpochInUse { name: epoch(), url: "http://a/".into() },
                "the epoch 2024 is still in use, for example by http://a/; restate or forget such \
                 pages first, or allow a number of pages to be left behind; see simkeep epoch \
                 stale and simkeep epoch end --left",
            ),
            (
                Error::AmbiguousRepair { what: "operations 11 to 12 are lost".into() },
                "operations 11 to 12 are lost; pages that were forgotten there would come back, \
                 so nothing was repaired; restore it from a copy, or choose to keep all pages; \
                 see simkeep repair --keep-forgotten",
            ),
            (
                Error::Catalog("Value is too large".into()),
                "catalog.redb cannot be used: Value is too large; open the store again, and check its \
                 files if that does not help; see simkeep verify",
            ),
            (
                Error::LoadRejected { nth: 3, cause: Arc::new(Error::EndedEpoch(epoch())) },
                "observation 3 of the load: the epoch 2024 has ended; begin another one; nothing was \
                 stored; see simkeep epoch begin",
            ),
            (
                Error::Poisoned(Arc::new(damage())),
                "an earlier write failed (SNAPSHOT is damaged at byte 60: it is cut short; restore this \
                 file from a copy, or save the rest of the store); nothing more is accepted until the \
                 store is opened again; see simkeep verify and simkeep repair",
            ),
            (
                Error::Locked { location: "crawl".into(), holder: LockHolder::Process(7) },
                "crawl is in use by process 7 that writes to it; wait until it ends; verbs that only \
                 read, such as near and export, work at the same time",
            ),
            (
                Error::StoreExists { location: "crawl".into() },
                "crawl is a simkeep store already; name a new or empty directory",
            ),
            (Error::Closed, "the store is closed; open it again"),
        ] {
            assert_eq!(message(&error), expected);
        }
    }
}
