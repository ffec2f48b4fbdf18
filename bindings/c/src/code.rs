//! The return codes of functions, which are also the codes of errors.

use simkeep::ErrorKind;

/// Success.
pub const SIMKEEP_OK: i32 = 0;
/// No error: there are no more results, or the requested object does not exist. Output arguments
/// are unchanged.
pub const SIMKEEP_NONE: i32 = 1;
/// A bug of simkeep: a panic was caught, or an invariant does not hold. The call itself is valid.
/// After a bug in a store, the store rejects reads and writes until it is opened again. Please
/// report the bug.
pub const SIMKEEP_INTERNAL: i32 = 2;
/// An argument is invalid: NULL, an impossible length, not UTF-8, a structure of another size, an
/// undefined number. The message names the argument. The call had no effect.
pub const SIMKEEP_MALFORMED_ARGUMENT: i32 = 3;
/// A call to the operating system failed; `simkeep_error_errno` has the code. After a failed write
/// the store is poisoned.
pub const SIMKEEP_IO: i32 = 4;
/// A file is damaged: see `simkeep_error_file` and `simkeep_error_offset`.
pub const SIMKEEP_CORRUPT: i32 = 5;
/// There is no store at this path.
pub const SIMKEEP_NOT_A_STORE: i32 = 6;
/// A file is not a table of document frequencies.
pub const SIMKEEP_NOT_A_TABLE: i32 = 7;
/// The repair or load that creates this store was interrupted, or is still running.
pub const SIMKEEP_UNFINISHED: i32 = 8;
/// A file to be written has the name of an existing file that must not be replaced.
pub const SIMKEEP_ALREADY_EXISTS: i32 = 9;
/// The store to be created already exists.
pub const SIMKEEP_STORE_EXISTS: i32 = 10;
/// The destination of a backup contains something other than an earlier backup of the store.
pub const SIMKEEP_NOT_A_BACKUP: i32 = 11;
/// A file was written by another version of simkeep.
pub const SIMKEEP_VERSION: i32 = 12;
/// The store was made by a build with URL hashes of another length.
pub const SIMKEEP_URL_HASH: i32 = 13;
/// The store is open for writing elsewhere; `simkeep_error_pid` is the process, if known.
pub const SIMKEEP_LOCKED: i32 = 14;
/// A file that keeps other writers out was removed or replaced while the store was open.
pub const SIMKEEP_REPLACED: i32 = 15;
/// The store was opened by another process, from which this process was forked.
pub const SIMKEEP_FORKED: i32 = 16;
/// An earlier write failed, or simkeep found a bug: the store must be opened again.
pub const SIMKEEP_POISONED: i32 = 17;
/// The store was closed.
pub const SIMKEEP_CLOSED: i32 = 18;
/// Not a URL that can be stored.
pub const SIMKEEP_URL: i32 = 19;
/// Not a prefix.
pub const SIMKEEP_PREFIX: i32 = 20;
/// A time outside the years 1 to 9999.
pub const SIMKEEP_TIME: i32 = 21;
/// An epoch that the store does not have.
pub const SIMKEEP_UNKNOWN_EPOCH: i32 = 22;
/// An epoch that has ended.
pub const SIMKEEP_ENDED_EPOCH: i32 = 23;
/// The store does not have the table of document frequencies of an epoch.
pub const SIMKEEP_NO_TABLE: i32 = 24;
/// An epoch cannot end yet: pages have their current content only in this epoch.
pub const SIMKEEP_EPOCH_IN_USE: i32 = 25;
/// An observation of a load cannot be stored; `simkeep_error_row` is its index. Nothing was stored.
pub const SIMKEEP_LOAD_REJECTED: i32 = 26;
/// The source of the observations of a load failed.
pub const SIMKEEP_INPUT: i32 = 27;
/// A long call was cancelled through its progress.
pub const SIMKEEP_CANCELLED: i32 = 28;
/// A repair cannot determine which pages were forgotten.
pub const SIMKEEP_AMBIGUOUS_REPAIR: i32 = 29;
/// An option has an invalid value.
pub const SIMKEEP_INVALID_OPTION: i32 = 30;
/// A limit was reached.
pub const SIMKEEP_LIMIT: i32 = 31;
/// The arguments are inconsistent, or the call is not allowed now.
pub const SIMKEEP_INVALID_ARGUMENT: i32 = 32;
/// The database of `catalog.redb` reported an error.
pub const SIMKEEP_CATALOG: i32 = 33;
/// An error of a kind that this version of the header does not name.
pub const SIMKEEP_OTHER: i32 = 34;

/// Returns the code of a kind of error.
pub(crate) fn of(kind: ErrorKind) -> i32 {
    match kind {
        ErrorKind::Io => SIMKEEP_IO,
        ErrorKind::Corrupt => SIMKEEP_CORRUPT,
        ErrorKind::NotAStore => SIMKEEP_NOT_A_STORE,
        ErrorKind::NotATable => SIMKEEP_NOT_A_TABLE,
        ErrorKind::Unfinished => SIMKEEP_UNFINISHED,
        ErrorKind::AlreadyExists => SIMKEEP_ALREADY_EXISTS,
        ErrorKind::StoreExists => SIMKEEP_STORE_EXISTS,
        ErrorKind::NotABackup => SIMKEEP_NOT_A_BACKUP,
        ErrorKind::Version => SIMKEEP_VERSION,
        ErrorKind::UrlHash => SIMKEEP_URL_HASH,
        ErrorKind::Locked => SIMKEEP_LOCKED,
        ErrorKind::Replaced => SIMKEEP_REPLACED,
        ErrorKind::Forked => SIMKEEP_FORKED,
        ErrorKind::Poisoned => SIMKEEP_POISONED,
        ErrorKind::Closed => SIMKEEP_CLOSED,
        ErrorKind::Bug => SIMKEEP_INTERNAL,
        ErrorKind::Url => SIMKEEP_URL,
        ErrorKind::Prefix => SIMKEEP_PREFIX,
        ErrorKind::Time | ErrorKind::InTheFuture => SIMKEEP_TIME,
        ErrorKind::UnknownEpoch => SIMKEEP_UNKNOWN_EPOCH,
        ErrorKind::EndedEpoch => SIMKEEP_ENDED_EPOCH,
        ErrorKind::NoTable => SIMKEEP_NO_TABLE,
        ErrorKind::EpochInUse => SIMKEEP_EPOCH_IN_USE,
        ErrorKind::LoadRejected => SIMKEEP_LOAD_REJECTED,
        ErrorKind::Input => SIMKEEP_INPUT,
        ErrorKind::Cancelled => SIMKEEP_CANCELLED,
        ErrorKind::AmbiguousRepair => SIMKEEP_AMBIGUOUS_REPAIR,
        ErrorKind::InvalidOption => SIMKEEP_INVALID_OPTION,
        ErrorKind::Limit => SIMKEEP_LIMIT,
        ErrorKind::InvalidArgument => SIMKEEP_INVALID_ARGUMENT,
        ErrorKind::Catalog => SIMKEEP_CATALOG,
        _ => SIMKEEP_OTHER,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn each_kind_of_error_has_its_own_code() {
        // `InTheFuture` is a time that cannot be stored, so it has the code of `Time`.
        let own = ErrorKind::ALL.iter().copied().filter(|kind| *kind != ErrorKind::InTheFuture);
        let codes: HashSet<i32> = own.clone().map(of).collect();
        assert_eq!(codes.len(), own.count());
        let none_is = |code| assert!(!codes.contains(&code), "{code}");
        [SIMKEEP_OK, SIMKEEP_NONE, SIMKEEP_MALFORMED_ARGUMENT, SIMKEEP_OTHER]
            .into_iter()
            .for_each(none_is);
    }
}
