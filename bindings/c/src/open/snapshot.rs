//! A consistent view of a store.

use simkeep::Snapshot;

use crate::abi;
use crate::call::{assert_thread_safe, done, free, make};
use crate::failure::{Failure, Result};
use crate::fork::ForkGuard;
use crate::open::store::{self, StoreHandle};

/// A consistent view of a store: all operations that were acknowledged before the snapshot was
/// taken, and no later operations. Threads may use a snapshot concurrently. A snapshot stays valid
/// when its
/// store is closed or its reader is refreshed, and keeps its files until it is freed. In a
/// forked
/// child, calls on a snapshot of a store return `SIMKEEP_FORKED`, and a snapshot of a reader
/// works.
#[derive(Debug)]
pub struct SnapshotHandle {
    snapshot: Snapshot,
    /// For a store, the process that opened it.
    process: Option<ForkGuard>,
}

const _: () = assert_thread_safe::<SnapshotHandle>();

impl SnapshotHandle {
    /// Creates the handle of a reader's snapshot.
    pub(crate) fn of_reader(snapshot: Snapshot) -> SnapshotHandle {
        SnapshotHandle { snapshot, process: None }
    }
}

/// Returns the snapshot of a handle, if the handle may be used, and the process of its store.
pub(crate) fn open<'a>(
    snapshot: *const SnapshotHandle,
) -> Result<(&'a Snapshot, Option<ForkGuard>)> {
    let handle = abi::handle(snapshot, "snapshot")?;
    handle.process.map_or(Ok(()), ForkGuard::check)?;
    Ok((&handle.snapshot, handle.process))
}

/// Takes a snapshot of a store. Free the snapshot with `simkeep_snapshot_free`. Any thread. Costs
/// two short locks, which no thread holds during file access.
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

/// Frees a snapshot, after all other calls on it have returned. Objects made from the snapshot stay
/// valid. Does nothing for NULL.
#[unsafe(no_mangle)]
pub extern "C" fn simkeep_snapshot_free(snapshot: Option<Box<SnapshotHandle>>) {
    free("simkeep_snapshot_free", snapshot);
}

/// Returns the number of the last operation in a snapshot. Any thread; costs nothing.
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
