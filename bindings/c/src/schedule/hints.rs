//! Hints: times when pages changed, from sitemaps and feeds.

use std::ffi::c_char;

use simkeep::{Time, due};

use crate::abi::{self, plain};
use crate::call::{assert_thread_safe, free, make};
use crate::failure::{Failure, Result};
use crate::open::snapshot::{self, SnapshotHandle};

/// A reported change of a page.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Change {
    /// The URL of the page. Read only during a call.
    pub url: *const c_char,
    /// The length of `url` in bytes.
    pub url_len: usize,
    /// The time of the change, in milliseconds since 1970.
    pub time_ms: i64,
}

plain!(Change, up to time_ms);

/// Times when pages changed. Immutable, so any thread may use them.
#[derive(Debug)]
pub struct Hints {
    of: due::Hints,
}

const _: () = assert_thread_safe::<due::Hints>();

/// Returns the hints of a handle.
pub(crate) fn of(hints: &Hints) -> &due::Hints {
    &hints.of
}

/// Collects changes from sitemaps or feeds, for queries on this store. `trust` is the probability
/// that a hint is true, from 0 to 1; -1 for 0.8. `size` is `sizeof *changes`. Free the result with
/// `simkeep_hints_free`. Any thread. Costs 16 bytes for each change, and 48 bytes for each change
/// while the hints are built.
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
