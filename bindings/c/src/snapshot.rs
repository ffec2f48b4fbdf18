//! A consistent view of a store, and what is asked of one.

use std::ffi::c_char;

use simkeep::{Snapshot, Time};

use crate::abi;
use crate::call::{any_thread, done, found, free, make};
use crate::entry::Entry;
use crate::failure::{Failure, Result};
use crate::fork::Process;
use crate::history::Entries;
use crate::matches::MatchColumns;
use crate::page::Page;
use crate::query::{self, Query};
use crate::store::{self, StoreHandle};

/// A consistent view of a store: everything that was acknowledged before it was taken, and nothing after
/// it. Threads may use it at the same time. It stays when its store is closed or its reader refreshed,
/// and keeps the files that it needs until it is freed. In a forked child, that of a store is refused
/// with `SIMKEEP_FORKED`, and that of a reader works.
#[derive(Debug)]
pub struct SnapshotHandle {
    snapshot: Snapshot,
    /// Of a store, the process that opened it.
    process: Option<Process>,
}

const _: () = any_thread::<SnapshotHandle>();

impl SnapshotHandle {
    /// The view of a reader.
    pub(crate) fn of_reader(snapshot: Snapshot) -> SnapshotHandle {
        SnapshotHandle { snapshot, process: None }
    }
}

/// The snapshot of a handle, where it may be used, and the process of its store.
pub(crate) fn open<'a>(snapshot: *const SnapshotHandle) -> Result<(&'a Snapshot, Option<Process>)> {
    let handle = abi::handle(snapshot, "snapshot")?;
    handle.process.map_or(Ok(()), Process::check)?;
    Ok((&handle.snapshot, handle.process))
}

/// Takes a view of a store. The caller frees it with `simkeep_snapshot_free`. Any thread. Costs two
/// short locks, which nobody holds while reading or writing files.
#[unsafe(no_mangle)]
pub extern "C" fn simkeep_store_snapshot(
    store: *mut StoreHandle,
    error: *mut *mut Failure,
) -> Option<Box<SnapshotHandle>> {
    make("simkeep_store_snapshot", error, || {
        let (snapshot, process) = (store::open(store)?.snapshot(), Some(store::process(store)?));
        Ok(SnapshotHandle { snapshot, process })
    })
}

/// Frees a snapshot, after all other calls on it have returned. What was got from it stays. Does nothing
/// for NULL.
#[unsafe(no_mangle)]
pub extern "C" fn simkeep_snapshot_free(snapshot: Option<Box<SnapshotHandle>>) {
    free("simkeep_snapshot_free", snapshot);
}

/// Finds pages whose version in force is within distance `k`, from 0 to 64, at most 16. The caller frees
/// what it gets with `simkeep_matches_free`. Any thread. Usually costs some microseconds.
#[unsafe(no_mangle)]
pub extern "C" fn simkeep_snapshot_near(
    snapshot: *const SnapshotHandle,
    fingerprint: u64,
    k: u32,
    error: *mut *mut Failure,
) -> Option<Box<MatchColumns>> {
    make("simkeep_snapshot_near", error, || {
        let snapshot = open(snapshot)?.0;
        if k > 64 {
            return Err(Failure::argument("k", "it must be from 0 to 64"));
        }
        Ok(MatchColumns::new(&[snapshot.near(fingerprint, k)?]))
    })
}

/// Finds the `count` nearest pages, however far they are. The caller frees what it gets with
/// `simkeep_matches_free`. Any thread. Costs up to three times a search within the distance of the
/// farthest, and memory for a few times `count` pages.
#[unsafe(no_mangle)]
pub extern "C" fn simkeep_snapshot_nearest(
    snapshot: *const SnapshotHandle,
    fingerprint: u64,
    count: usize,
    error: *mut *mut Failure,
) -> Option<Box<MatchColumns>> {
    make("simkeep_snapshot_nearest", error, || {
        let query = simkeep::Query::nearest(fingerprint, count);
        Ok(MatchColumns::new(&[open(snapshot)?.0.search(&query)?]))
    })
}

/// Searches, as a query says. The caller frees what it gets with `simkeep_matches_free`. Any thread.
/// Usually costs some microseconds.
#[unsafe(no_mangle)]
pub extern "C" fn simkeep_snapshot_search(
    snapshot: *const SnapshotHandle,
    query: *const Query,
    error: *mut *mut Failure,
) -> Option<Box<MatchColumns>> {
    make("simkeep_snapshot_search", error, || {
        Ok(MatchColumns::new(&[open(snapshot)?.0.search(&query::read(query)?)?]))
    })
}

/// Searches for each of many fingerprints, with the settings of `like`, whose own fingerprint does not
/// matter. Answers come in their order. The fingerprints are copied first. The caller frees what it gets
/// with `simkeep_matches_free`. Any thread; it uses all cores. Each search costs a half to a quarter of
/// a single one.
#[unsafe(no_mangle)]
pub extern "C" fn simkeep_snapshot_search_batch(
    snapshot: *const SnapshotHandle,
    fingerprints: *const u64,
    count: usize,
    like: *const Query,
    error: *mut *mut Failure,
) -> Option<Box<MatchColumns>> {
    make("simkeep_snapshot_search_batch", error, || {
        let (snapshot, like) = (open(snapshot)?.0, query::read(like)?);
        let fingerprints = abi::numbers(fingerprints, count, "fingerprints")?;
        Ok(MatchColumns::new(&like.run_batch(snapshot, &fingerprints)?))
    })
}

/// Reads all visits of a page in order, each with what it meant after those before it. It has no entries
/// for an unknown page. The caller frees what it gets with `simkeep_entries_free`. Any thread. Costs
/// reading the page's record in each segment that has it.
#[unsafe(no_mangle)]
pub extern "C" fn simkeep_snapshot_history(
    snapshot: *const SnapshotHandle,
    url: *const c_char,
    url_len: usize,
    error: *mut *mut Failure,
) -> Option<Box<Entries>> {
    make("simkeep_snapshot_history", error, || {
        Ok(Entries::new(&open(snapshot)?.0.history(abi::text(url, url_len, "url")?)?))
    })
}

/// Copies the visit whose content was in force at a time, in milliseconds since 1970, to where `entry`
/// points; it has no verdict. `SIMKEEP_NONE` if the page was unknown then, or gone. `size` is
/// `sizeof(simkeep_entry)`. Any thread. Costs reading the page's record in each segment that has it.
#[unsafe(no_mangle)]
pub extern "C" fn simkeep_snapshot_as_of(
    snapshot: *const SnapshotHandle,
    url: *const c_char,
    url_len: usize,
    time_ms: i64,
    entry: *mut Entry,
    size: usize,
    error: *mut *mut Failure,
) -> i32 {
    found("simkeep_snapshot_as_of", error, || {
        let snapshot = open(snapshot)?.0;
        abi::room(entry, size, "entry")?;
        let (url, time) = (abi::text(url, url_len, "url")?, Time::from_ms_unchecked(time_ms));
        let put = |visit| abi::put_structure(entry, size, &Entry::of_visit(&visit), "entry");
        snapshot.as_of(url, time)?.map(put).transpose()
    })
}

/// Copies the current state of a page to where `page` points; its URL is the one that was given.
/// `SIMKEEP_NONE` for an unknown page. `size` is `sizeof(simkeep_page)`. Any thread. Costs reading one
/// record in the newest segment that knows the page.
#[unsafe(no_mangle)]
pub extern "C" fn simkeep_snapshot_latest(
    snapshot: *const SnapshotHandle,
    url: *const c_char,
    url_len: usize,
    page: *mut Page,
    size: usize,
    error: *mut *mut Failure,
) -> i32 {
    found("simkeep_snapshot_latest", error, || {
        let snapshot = open(snapshot)?.0;
        abi::room(page, size, "page")?;
        let latest = snapshot.latest(abi::text(url, url_len, "url")?)?;
        let put =
            |latest| abi::put_structure(page, size, &Page::new(&latest, (url, url_len)), "page");
        latest.map(put).transpose()
    })
}

/// The number of the last operation in a snapshot. Any thread; costs nothing.
#[unsafe(no_mangle)]
pub extern "C" fn simkeep_snapshot_sequence(
    snapshot: *const SnapshotHandle,
    sequence: *mut u64,
    error: *mut *mut Failure,
) -> i32 {
    done("simkeep_snapshot_sequence", error, || {
        abi::put(sequence, open(snapshot)?.0.sequence(), "sequence")
    })
}
