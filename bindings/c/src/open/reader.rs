//! Reads a store that another process writes.

use std::ffi::c_char;

use simkeep::{Location, Reader};

use crate::abi;
use crate::argument::flag;
use crate::call::{assert_thread_safe, done, free, make};
use crate::failure::{Failure, Result};
use crate::fork::ForkSafeMutex;
use crate::open::snapshot::SnapshotHandle;

/// A read-only view of a store, which another process may have open for writing. Threads may use
/// the reader concurrently; calls on a reader wait for one another, but not for calls on objects
/// made from the reader. A reader also works in a forked child, unless another thread was using it
/// at the fork. After such a fork, calls in the child return `SIMKEEP_FORKED`, and the child must
/// open another reader.
#[derive(Debug)]
pub struct ReaderHandle {
    reader: ForkSafeMutex<Reader>,
}

const _: () = assert_thread_safe::<ReaderHandle>();

/// Opens a store for reading, or the newest complete generation of a published store. `plain_reads`
/// is 1 to read segments whole into memory, or 0 to map them. Free the result with
/// `simkeep_reader_free`. Any thread. Costs mapping the segments, and reading the journal: less
/// than a second.
#[unsafe(no_mangle)]
pub extern "C" fn simkeep_reader_open(
    path: *const c_char,
    plain_reads: u32,
    error: *mut *mut Failure,
) -> Option<Box<ReaderHandle>> {
    make("simkeep_reader_open", error, || {
        let location = Location::from(abi::path(path, "path")?);
        let plain = flag(plain_reads, "plain_reads")?;
        let location = if plain { location.plain_reads() } else { location };
        Ok(ReaderHandle { reader: ForkSafeMutex::new(Reader::open(location)?)? })
    })
}

fn with<T>(
    reader: *const ReaderHandle,
    body: impl FnOnce(&mut Reader) -> simkeep::Result<T>,
) -> Result<T> {
    let mut reader = abi::handle(reader, "reader")?.reader.lock()?;
    Ok(body(&mut reader)?)
}

/// Advances to the newest state. `changed` becomes 1 if the state changed, otherwise 0, and may be
/// NULL. After an error the reader keeps its state. Existing snapshots do not change. Any thread.
/// Costs reading the new part of the journal, and mapping new segments.
#[unsafe(no_mangle)]
pub extern "C" fn simkeep_reader_refresh(
    reader: *mut ReaderHandle,
    changed: *mut u32,
    error: *mut *mut Failure,
) -> i32 {
    done("simkeep_reader_refresh", error, || {
        let moved = with(reader, Reader::refresh)?;
        if changed.is_null() { Ok(()) } else { abi::put(changed, u32::from(moved), "changed") }
    })
}

/// Returns the number of acknowledged operations that the reader does not see. Any thread. Costs
/// one small read.
#[unsafe(no_mangle)]
pub extern "C" fn simkeep_reader_behind(
    reader: *const ReaderHandle,
    behind: *mut u64,
    error: *mut *mut Failure,
) -> i32 {
    done("simkeep_reader_behind", error, || {
        abi::put(behind, with(reader, |reader| Ok(reader.behind()))?, "behind")
    })
}

/// Returns the generation of a published store that the reader has open: `generation` becomes its
/// number, or 0 if the reader has a store that is not published. `incomplete` becomes the number of
/// the newest generation if this generation is incomplete and was skipped, or 0. The numbers
/// `generation` and `incomplete` numbers are
/// as of the last open or refresh. Any thread. Costs nothing,
/// unless another thread refreshes.
#[unsafe(no_mangle)]
pub extern "C" fn simkeep_reader_generation(
    reader: *const ReaderHandle,
    generation: *mut u64,
    incomplete: *mut u64,
    error: *mut *mut Failure,
) -> i32 {
    done("simkeep_reader_generation", error, || {
        let [own, newer] = with(reader, |reader| {
            let newer = reader.incomplete().map(|newer| newer.generation);
            Ok([reader.generation(), newer].map(Option::unwrap_or_default))
        })?;
        abi::put(generation, own, "generation")?;
        abi::put(incomplete, newer, "incomplete")
    })
}

/// Takes a snapshot of the reader's current view. The snapshot does not change when the reader is
/// refreshed. Free the snapshot with `simkeep_snapshot_free`. Any thread; costs nothing, unless
/// another thread refreshes.
#[unsafe(no_mangle)]
pub extern "C" fn simkeep_reader_snapshot(
    reader: *const ReaderHandle,
    error: *mut *mut Failure,
) -> Option<Box<SnapshotHandle>> {
    make("simkeep_reader_snapshot", error, || {
        Ok(SnapshotHandle::of_reader(with(reader, |reader| Ok(reader.snapshot()))?))
    })
}

/// Returns the sizes of the reader's view.
pub(crate) fn stats(reader: *const ReaderHandle) -> Result<simkeep::Stats> {
    with(reader, |reader| reader.stats())
}

/// Frees a reader, after all other calls on it have returned. The snapshots of the reader stay
/// valid. Does nothing for NULL.
#[unsafe(no_mangle)]
pub extern "C" fn simkeep_reader_free(reader: Option<Box<ReaderHandle>>) {
    free("simkeep_reader_free", reader);
}
