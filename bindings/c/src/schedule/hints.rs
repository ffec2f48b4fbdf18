//! What sitemaps and feeds say of when pages changed.

use std::ffi::c_char;

use simkeep::{Time, due};

use crate::abi::{self, plain};
use crate::call::{any_thread, free, make};
use crate::failure::{Failure, Result};
use crate::open::snapshot::{self, SnapshotHandle};

/// That a page changed, as somebody says.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Change {
    /// The page. Read only by the call that is given it.
    pub url: *const c_char,
    /// Its length in bytes.
    pub url_len: usize,
    /// When, in milliseconds since 1970.
    pub time_ms: i64,
}

plain!(Change, up to time_ms);

/// What is said of when pages changed. Nothing changes it: any thread may use it.
#[derive(Debug)]
pub struct Hints {
    of: due::Hints,
}

const _: () = any_thread::<due::Hints>();

/// The hints of a handle.
pub(crate) fn of(hints: &Hints) -> &due::Hints {
    &hints.of
}

/// Takes what sitemaps or feeds say of when pages changed, for questions about this store. `trust` is
/// the probability that it is true, from 0 to 1; -1 for 0.8. `size` is `sizeof *changes`. The caller
/// frees what it gets with `simkeep_hints_free`. Any thread. Costs 16 bytes for each change, and three
/// times that while it is made.
#[unsafe(no_mangle)]
pub extern "C" fn simkeep_snapshot_hints(
    snapshot: *const SnapshotHandle,
    changes: *const Change,
    count: usize,
    size: usize,
    trust: f64,
    error: *mut *mut Failure,
) -> Option<Box<Hints>> {
    make("simkeep_snapshot_hints", error, || {
        let snapshot = snapshot::open(snapshot)?.0;
        let changes = abi::structures(changes, count, size, "changes")?;
        let one = |(row, change): (usize, &Change)| {
            let url = abi::text(change.url, change.url_len, "url");
            Ok((url.map_err(|failure| failure.at(row))?, Time::from_ms_unchecked(change.time_ms)))
        };
        let all = changes.iter().enumerate().map(one).collect::<Result<Vec<_>>>()?;
        let hints = due::Hints::of(snapshot, all)?;
        Ok(Hints { of: if trust < 0.0 { hints } else { hints.trust(trust)? } })
    })
}

/// Frees hints. Does nothing for NULL. Any thread.
#[unsafe(no_mangle)]
pub extern "C" fn simkeep_hints_free(hints: Option<Box<Hints>>) {
    free("simkeep_hints_free", hints);
}
