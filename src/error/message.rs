//! The messages of errors. A message says what is wrong, where, and what to do. A program with
//! options of its own, such as the command-line tool, adds advice for some variants.

use std::fmt;
use std::io;

use super::Error;
use crate::disk::LockHolder;

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Io { action, file, source } => io_error(f, action, file, source),
            Error::Corrupt(corruption) => {
                write!(
                    f,
                    "{corruption}; restore this file from a backup, or recover the rest of the \
                     store with a repair"
                )
            }
            Error::NotAStore { location, why, .. } => {
                write!(f, "{location} is not a simkeep store: {why}")
            }
            Error::NotATable { file, why } => {
                write!(f, "{file} is not a table of document frequencies: {why}")
            }
            Error::Unfinished { location } => write!(
                f,
                "{location} is an unfinished store: the repair or load that creates it was \
                 interrupted; repeat the repair or load, which starts over"
            ),
            Error::AlreadyExists { file, why } => {
                write!(f, "{file} exists and was not replaced: {why}; name another file")
            }
            Error::StoreExists { location } => {
                write!(
                    f,
                    "{location} is already a simkeep store; open this store, or name another \
                     directory"
                )
            }
            Error::NotABackup { location, why } => write!(
                f,
                "{location} does not contain an earlier state of this store: {why}; name another \
                 directory"
            ),
            Error::Version { file, found, reads } => other_version(f, file, *found, *reads),
            Error::UrlHash { file, found, reads } => other_hashes(f, file, *found, *reads),
            Error::Locked { location, holder } => locked(f, location, *holder),
            Error::Replaced { file } => write!(
                f,
                "{file} was removed or replaced while the store was open; the store accepts no \
                 more writes, because another process may be writing to it; open the store again"
            ),
            Error::Forked => f.write_str(
                "the store was opened before this process was forked, so only the parent process \
                 may use it; open the store in one process only, or read it with a Reader",
            ),
            Error::Poisoned(cause) if matches!(**cause, Error::Bug(_)) => {
                write!(f, "an earlier call met {cause}, and open the store again")
            }
            Error::Poisoned(cause) => write!(
                f,
                "an earlier write failed ({cause}); the store accepts no more writes until it is \
                 opened again"
            ),
            Error::Closed => f.write_str("the store is closed; open it again"),
            Error::Bug(bug) => write!(
                f,
                "{bug}; the store refuses further reads and writes; please report the bug"
            ),
            Error::Catalog(what) => write!(
                f,
                "catalog.redb cannot be used: {what}; open the store again; if the error comes \
                 back, verify the store"
            ),
            of_a_call => of_a_call.fmt_of_a_call(f),
        }
    }
}

impl Error {
    /// The message of an error about arguments.
    fn fmt_of_a_call(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Url(e) => write!(f, "{e}"),
            Error::Prefix(e) => write!(f, "{e}"),
            Error::Time(e) => write!(f, "{e}"),
            Error::InTheFuture { url, time, limit } => write!(
                f,
                "the visit of {url} has the time {time}, but the latest time that the clock of \
                 this machine allows is {limit}; correct the time or the clock, or allow a larger \
                 clock_tolerance"
            ),
            Error::UnknownEpoch(id) => {
                write!(f, "epoch {id} is not registered in this store; register its name first")
            }
            Error::EndedEpoch(name) => write!(f, "the epoch {name} has ended; begin another epoch"),
            Error::NoTable { epoch, file } => write!(
                f,
                "the store lacks {file}, the table of document frequencies of the epoch {epoch}; \
                 begin the epoch again with this table"
            ),
            Error::EpochInUse { name, url } => write!(
                f,
                "the epoch {name} is still in use, for example by the page {url}; restate or \
                 forget its pages first, or allow a number of pages to be left behind"
            ),
            Error::LoadRejected { nth, cause } => {
                write!(f, "observation {nth} of the load: {cause}; nothing was stored")
            }
            Error::Input(error) => write!(f, "{error}"),
            Error::Cancelled => f.write_str("the call was cancelled before it finished"),
            Error::AmbiguousRepair { what } => write!(
                f,
                "{what}; a repair could bring back forgotten pages, so nothing was repaired; \
                 restore the damaged files from a backup, or choose to keep all pages"
            ),
            Error::InvalidOption { name, takes } => write!(f, "{name} must be {takes}"),
            Error::Limit { what, max, instead } => {
                write!(f, "the limit of {max} {what} is exceeded; {instead}")
            }
            Error::InvalidArgument(what) => f.write_str(what),
            of_files => fmt::Debug::fmt(of_files, f),
        }
    }
}

fn io_error(
    f: &mut fmt::Formatter<'_>,
    action: &str,
    file: &str,
    source: &io::Error,
) -> fmt::Result {
    use io::ErrorKind::{PermissionDenied, QuotaExceeded, ReadOnlyFilesystem, StorageFull};
    write!(f, "cannot {action} {file}: {source}")?;
    match source.kind() {
        StorageFull | QuotaExceeded => f.write_str(
            "; free some disk space; if the file belongs to a store, open the store again",
        ),
        PermissionDenied | ReadOnlyFilesystem => f.write_str("; check the permissions"),
        _ => Ok(()),
    }
}

fn other_version(f: &mut fmt::Formatter<'_>, file: &str, found: u32, reads: u32) -> fmt::Result {
    write!(
        f,
        "{file} was made by another version of simkeep: it has format version {found}, but this \
         simkeep reads version {reads}; "
    )?;
    let is_of_store = [".redb", ".seg", "SNAPSHOT"].iter().any(|end| file.ends_with(end));
    f.write_str(if found > reads {
        "use a newer simkeep"
    } else if !is_of_store {
        "use the version of simkeep that made the file, or make the file again with this simkeep"
    } else {
        "export the store with the version of simkeep that made it (`simkeep export OLD -o \
         store.jsonl.zst`), and load the export with this version (`simkeep load NEW \
         store.jsonl.zst`)"
    })
}

fn other_hashes(f: &mut fmt::Formatter<'_>, file: &str, found: u64, reads: u64) -> fmt::Result {
    write!(
        f,
        "{file} was made by a build of simkeep with URL hashes of {found} bits, but this build has \
         URL hashes of {reads} bits; use a build with URL hashes of {found} bits"
    )
}

fn locked(f: &mut fmt::Formatter<'_>, location: &str, holder: LockHolder) -> fmt::Result {
    match holder {
        LockHolder::ThisProcess => {
            return write!(
                f,
                "{location} is already open in this process; use the open Store, close it \
                 first, or read with a Reader, which works at the same time"
            );
        }
        LockHolder::Process(process) => write!(f, "{location} is in use by process {process}")?,
        LockHolder::Unknown => write!(f, "{location} is in use by another process")?,
    }
    f.write_str(
        ", which writes to it; wait until that process closes the store, or read the store with a \
         Reader, which works at the same time",
    )
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::bug::Bug;
    use crate::error::ErrorKind;
    use crate::error::NotStore;
    use crate::fingerprint::FingerprintError;
    use crate::time::{Time, TimeError};
    use crate::url::{PrefixError, UrlError};

    fn io(kind: io::ErrorKind) -> Error {
        Error::io("write", "segments/0000000012.seg", io::Error::new(kind, "what the system says"))
    }

    fn locked(holder: LockHolder) -> Error {
        Error::Locked { location: "crawl.simkeep".into(), holder }
    }

    fn version(found: u32) -> Error {
        Error::Version { file: "catalog.redb".into(), found, reads: 2 }
    }

    #[test]
    fn errors_of_own_frequencies_keep_their_kind() {
        let failed = |e: Arc<dyn std::error::Error + Send + Sync>| {
            Error::from(FingerprintError::Frequencies(e)).kind()
        };
        assert_eq!(failed(Arc::new(Error::Cancelled)), ErrorKind::Cancelled);
        assert_eq!(failed(Arc::new(fmt::Error)), ErrorKind::Input);
    }

    /// The errors of files and of the store itself, with their messages.
    #[expect(clippy::too_many_lines, reason = "a table of cases")]
    fn of_files() -> Vec<(Error, &'static str)> {
        let (place, file) = (|| "crawl.simkeep".to_owned(), || "crawl.df".to_owned());
        vec![
            (
                io(io::ErrorKind::Other),
                "cannot write segments/0000000012.seg: what the system says",
            ),
            (
                io(io::ErrorKind::StorageFull),
                "cannot write segments/0000000012.seg: what the system says; free some disk space; \
                 if the file belongs to a store, open the store again",
            ),
            (
                io(io::ErrorKind::PermissionDenied),
                "cannot write segments/0000000012.seg: what the system says; check the permissions",
            ),
            (
                Error::corrupt("SNAPSHOT", 60, "it is cut short"),
                "SNAPSHOT is damaged at byte 60: it is cut short; restore this file from a backup, \
                 or recover the rest of the store with a repair",
            ),
            (
                Error::NotAStore {
                    location: place(),
                    why: "it has no catalog.redb".into(),
                    found: NotStore::Nothing,
                },
                "crawl.simkeep is not a simkeep store: it has no catalog.redb",
            ),
            (
                Error::NotATable { file: file(), why: "it does not begin as one".into() },
                "crawl.df is not a table of document frequencies: it does not begin as one",
            ),
            (
                Error::Unfinished { location: place() },
                "crawl.simkeep is an unfinished store: the repair or load that creates it was \
                 interrupted; repeat the repair or load, which starts over",
            ),
            (
                Error::AlreadyExists { file: file(), why: "it is a symbolic link" },
                "crawl.df exists and was not replaced: it is a symbolic link; name another file",
            ),
            (
                Error::StoreExists { location: place() },
                "crawl.simkeep is already a simkeep store; open this store, or name another \
                 directory",
            ),
            (
                Error::NotABackup {
                    location: place(),
                    why: "it belongs to another store".to_owned(),
                },
                "crawl.simkeep does not contain an earlier state of this store: it belongs to \
                 another store; name another directory",
            ),
            (
                version(3),
                "catalog.redb was made by another version of simkeep: it has format version 3, but \
                 this simkeep reads version 2; use a newer simkeep",
            ),
            (
                version(1),
                "catalog.redb was made by another version of simkeep: it has format version 1, but \
                 this simkeep reads version 2; export the store with the version of simkeep that \
                 made it (`simkeep export OLD -o store.jsonl.zst`), and load the export with this \
                 version (`simkeep load NEW store.jsonl.zst`)",
            ),
            (
                Error::Version { file: "words.df".into(), found: 1, reads: 2 },
                "words.df was made by another version of simkeep: it has format version 1, but \
                 this simkeep reads version 2; use the version of simkeep that made the file, or \
                 make the file again with this simkeep",
            ),
            (
                Error::UrlHash { file: "catalog.redb".into(), found: 8, reads: 64 },
                "catalog.redb was made by a build of simkeep with URL hashes of 8 bits, but this \
                 build has URL hashes of 64 bits; use a build with URL hashes of 8 bits",
            ),
            (
                Error::Catalog("Value is too large".into()),
                "catalog.redb cannot be used: Value is too large; open the store again; if the \
                 error comes back, verify the store",
            ),
        ]
    }

    /// The errors about the use of the store, with their messages.
    fn of_use() -> Vec<(Error, &'static str)> {
        let poisoned = |cause| Error::Poisoned(Arc::new(cause));
        let bug = || Bug::of_panic(std::panic::Location::caller()).into();
        vec![
            (
                locked(LockHolder::ThisProcess),
                "crawl.simkeep is already open in this process; use the open Store, close it \
                 first, or read with a Reader, which works at the same time",
            ),
            (
                locked(LockHolder::Process(17)),
                "crawl.simkeep is in use by process 17, which writes to it; wait until that \
                 process closes the store, or read the store with a Reader, which works at the \
                 same time",
            ),
            (
                locked(LockHolder::Unknown),
                "crawl.simkeep is in use by another process, which writes to it; wait until that \
                 process closes the store, or read the store with a Reader, which works at the \
                 same time",
            ),
            (
                Error::Replaced { file: "LOCK".into() },
                "LOCK was removed or replaced while the store was open; the store accepts no more \
                 writes, because another process may be writing to it; open the store again",
            ),
            (
                Error::Forked,
                "the store was opened before this process was forked, so only the parent process \
                 may use it; open the store in one process only, or read it with a Reader",
            ),
            (
                poisoned(io(io::ErrorKind::Other)),
                "an earlier write failed (cannot write segments/0000000012.seg: what the system \
                 says); the store accepts no more writes until it is opened again",
            ),
            (
                poisoned(bug()),
                "an earlier call met a bug in simkeep VERSION, at HERE: an operation panicked \
                 halfway through its changes; the store refuses further reads and writes; please \
                 report the bug, and open the store again",
            ),
            (
                bug(),
                "a bug in simkeep VERSION, at HERE: an operation panicked halfway through its \
                 changes; the store refuses further reads and writes; please report the bug",
            ),
            (Error::Closed, "the store is closed; open it again"),
        ]
    }

    /// The errors of arguments, with their messages.
    fn of_arguments() -> Vec<(Error, &'static str)> {
        vec![
            (UrlError::Empty.into(), "the URL is empty"),
            (
                PrefixError::User.into(),
                "the prefix has user information (user@) before its host; write example.com (with \
                 its subdomains), example.com/ (that host only), example.com:8080/docs (a path), \
                 com,example or com,example)/docs (SURT), or urn:isbn or file:///home/x (no host)",
            ),
            (
                TimeError::OutOfRange(i64::MAX).into(),
                "the time 9223372036854775807 is outside the years 1 to 9999; times are \
                 milliseconds since 1970",
            ),
            (
                TimeError::LooksLikeSeconds(1_700_000_000).into(),
                "the time 1700000000 looks like seconds since 1970; times are milliseconds, so multiply it by \
                 1000",
            ),
            (
                Error::InTheFuture {
                    url: "http://a/".into(),
                    time: Time::from_ms_unchecked(9_000),
                    limit: Time::from_ms_unchecked(8_000),
                },
                "the visit of http://a/ has the time 1970-01-01T00:00:09Z, but the latest time \
                 that the clock of this machine allows is 1970-01-01T00:00:08Z; correct the time \
                 or the clock, or allow a larger clock_tolerance",
            ),
        ]
    }

    /// The errors of a call, with their messages.
    fn of_calls() -> Vec<(Error, &'static str)> {
        let input = std::io::Error::other("line 3 is no JSON");
        vec![
            (
                Error::UnknownEpoch(7),
                "epoch 7 is not registered in this store; register its name first",
            ),
            (Error::EndedEpoch("2024".into()), "the epoch 2024 has ended; begin another epoch"),
            (
                Error::NoTable { epoch: "2024".into(), file: "0000000004.df".into() },
                "the store lacks 0000000004.df, the table of document frequencies of the epoch \
                 2024; begin the epoch again with this table",
            ),
            (
                Error::EpochInUse { name: "2024".into(), url: "http://a/".into() },
                "the epoch 2024 is still in use, for example by the page http://a/; restate or \
                 forget its pages first, or allow a number of pages to be left behind",
            ),
            (
                Error::LoadRejected { nth: 3, cause: Arc::new(UrlError::Empty.into()) },
                "observation 3 of the load: the URL is empty; nothing was stored",
            ),
            (Error::input(input), "line 3 is no JSON"),
            (Error::Cancelled, "the call was cancelled before it finished"),
            (
                Error::AmbiguousRepair {
                    what: "operations 11 to 12 are lost with catalog.redb".into(),
                },
                "operations 11 to 12 are lost with catalog.redb; a repair could bring back \
                 forgotten pages, so nothing was repaired; restore the damaged files from a \
                 backup, or choose to keep all pages",
            ),
            (
                Error::InvalidOption { name: "merge_fanout", takes: "at least 2" },
                "merge_fanout must be at least 2",
            ),
            (
                Error::Limit {
                    what: "epochs in a store",
                    max: 32_768,
                    instead: "make another store",
                },
                "the limit of 32768 epochs in a store is exceeded; make another store",
            ),
            (
                Error::invalid_argument("the same table is there twice"),
                "the same table is there twice",
            ),
        ]
    }

    #[test]
    fn every_error_states_problem_place_and_remedy() {
        let here = concat!(file!(), ":");
        let mut shown = Vec::new();
        for (error, expected) in [of_files(), of_use(), of_arguments(), of_calls()].concat() {
            let mut message = error.to_string();
            // The message of a bug contains the line of the bug.
            if let Some(at) = message.find(here) {
                let line = message[at + here.len()..].find(':').unwrap();
                message.replace_range(at..at + here.len() + line, "HERE");
            }
            let expected = expected.replace("VERSION", env!("CARGO_PKG_VERSION"));
            assert_eq!(message, expected, "{error:?}");
            shown.push(error.kind());
        }
        shown.sort_unstable();
        shown.dedup();
        assert_eq!(shown, ErrorKind::ALL);
    }

    #[test]
    fn no_error_mentions_the_tool() {
        for (error, _) in [of_files(), of_use(), of_arguments(), of_calls()].concat() {
            let message = error.to_string();
            let tool = ["--", "simkeep repair", "simkeep df", "simkeep epoch", "simkeep ingest"];
            assert!(tool.iter().all(|word| !message.contains(word)), "{message}");
        }
    }
}
