//! Calls into redb. It panics on some damaged files, and a damaged file is to be an error.

use std::io::ErrorKind;
use std::panic::{AssertUnwindSafe, catch_unwind};

use redb::Database;

use crate::disk::Name;
use crate::error::{Error, Result};

/// Runs a call into redb, and turns its errors, and its panics on damaged files, into ours.
pub(super) fn guarded<T>(call: impl FnOnce() -> Result<T, redb::Error>) -> Result<T> {
    match catch_unwind(AssertUnwindSafe(call)) {
        Ok(Ok(value)) => Ok(value),
        // What redb says of a file that is too short, or is none of its own.
        Ok(Err(redb::Error::Io(e)))
            if matches!(e.kind(), ErrorKind::UnexpectedEof | ErrorKind::InvalidData) =>
        {
            Err(Error::corrupt(Name::Catalog, 0, e.to_string()))
        }
        Ok(Err(redb::Error::Io(e))) => Err(Error::io("read or write", Name::Catalog, e)),
        Ok(Err(redb::Error::Corrupted(what))) => Err(Error::corrupt(Name::Catalog, 0, what)),
        Ok(Err(e)) => Err(Error::Catalog(e.to_string())),
        Err(panic) => {
            let said = panic.downcast_ref::<String>().map(String::as_str);
            let said = said.or_else(|| panic.downcast_ref().copied()).unwrap_or("nothing");
            let what =
                format!("redb, which keeps this file, stopped at what is in it, and said: {said}");
            Err(Error::corrupt(Name::Catalog, 0, what))
        }
    }
}

/// redb writes when it closes, and panics where it meets damage then.
pub(super) fn drop_guarded(database: Option<Database>) -> Result<()> {
    guarded(|| {
        drop(database);
        Ok(())
    })
}
