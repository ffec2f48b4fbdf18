//! An open store: opens and closes it, and runs operations on the whole store.

use std::ffi::c_char;
use std::sync::atomic::{AtomicBool, Ordering};

use simkeep::Store;

use crate::abi;
use crate::call::{assert_thread_safe, done, free, make};
use crate::code::SIMKEEP_CLOSED;
use crate::failure::{Failure, Result};
use crate::fork::ForkGuard;
use crate::open::load_slot::LoadSlot;
use crate::open::options::{self, Options};
use crate::progress::{self, ProgressHandle};

/// A store that is open for writing. Threads may use the store concurrently, but
/// `simkeep_store_free` must be the last call on it. A store belongs to the process that opened it:
/// in a forked child every call on the store returns `SIMKEEP_FORKED`, except that it can be freed.
#[derive(Debug)]
pub struct StoreHandle {
    store: Store,
    process: ForkGuard,
    closed: AtomicBool,
    loading: LoadSlot,
}

const _: () = assert_thread_safe::<StoreHandle>();

impl StoreHandle {
    fn new(store: Store, process: ForkGuard) -> StoreHandle {
        StoreHandle { store, process, closed: AtomicBool::new(false), loading: LoadSlot::default() }
    }

    /// Creates the handle of a store that a test has opened.
    #[cfg(test)]
    pub(crate) fn of(store: Store) -> StoreHandle {
        let process = ForkGuard::current().unwrap();
        StoreHandle::new(store, process)
    }
}

/// Returns the store of a handle, if the handle may be used.
pub(crate) fn open<'a>(store: *const StoreHandle) -> Result<&'a Store> {
    Ok(&usable(store)?.store)
}

/// Returns the process of a usable store.
pub(crate) fn process(store: *const StoreHandle) -> Result<ForkGuard> {
    Ok(usable(store)?.process)
}

/// Returns the turns of loads of a usable store.
pub(crate) fn turns<'a>(store: *const StoreHandle) -> Result<&'a LoadSlot> {
    Ok(&usable(store)?.loading)
}

fn usable<'a>(store: *const StoreHandle) -> Result<&'a StoreHandle> {
    let handle = abi::handle(store, "store")?;
    handle.process.check()?;
    if handle.closed.load(Ordering::Acquire) {
        return Err(Failure::new(SIMKEEP_CLOSED, "the store is closed; open it again"));
    }
    Ok(handle)
}

/// A way to open a store.
type OpenFunction = fn(simkeep::Location, simkeep::Options) -> simkeep::Result<Store>;

fn opened(
    function: &'static str,
    path: *const c_char,
    options: *const Options,
    error: *mut *mut Failure,
    way: OpenFunction,
) -> Option<Box<StoreHandle>> {
    make(function, error, || {
        let (location, options) = options::read(options, abi::path(path, "path")?)?;
        let process = ForkGuard::current()?;
        Ok(StoreHandle::new(way(location, options)?, process))
    })
}

/// Opens the store in a directory for writing. `options` may be NULL, for the defaults. Returns
/// NULL and an error on failure: `SIMKEEP_LOCKED` if another process still has the store open after
/// `lock_wait_ms`. Free the result with `simkeep_store_free`. Any thread. Costs the time to read the
/// journal, at most a second, for any size of the store.
#[unsafe(no_mangle)]
pub extern "C" fn simkeep_store_open(
    path: *const c_char,
    options: *const Options,
    error: *mut *mut Failure,
) -> Option<Box<StoreHandle>> {
    opened("simkeep_store_open", path, options, error, Store::open)
}

/// Creates a store in a new or empty directory, completely or not at all, and opens it. `options`
/// may be NULL. `SIMKEEP_STORE_EXISTS` if there is already a store. Free the result with
/// `simkeep_store_free`. Any thread. Costs a few syncs.
#[unsafe(no_mangle)]
pub extern "C" fn simkeep_store_create(
    path: *const c_char,
    options: *const Options,
    error: *mut *mut Failure,
) -> Option<Box<StoreHandle>> {
    opened("simkeep_store_create", path, options, error, Store::create)
}

/// Opens the store in a directory, or creates a store if the directory has none. `options` may be
/// NULL. Free the result with `simkeep_store_free`. Any thread. Costs as much as opening or
/// creating.
#[unsafe(no_mangle)]
pub extern "C" fn simkeep_store_open_or_create(
    path: *const c_char,
    options: *const Options,
    error: *mut *mut Failure,
) -> Option<Box<StoreHandle>> {
    opened("simkeep_store_open_or_create", path, options, error, Store::open_or_create)
}

/// Makes all acknowledged operations durable, stops the background work and unlocks the store for
/// other writers. Later calls on the store return `SIMKEEP_CLOSED`; closing it again does nothing.
/// Objects made from the store stay valid. The store and objects made from the store must be freed
/// separately. Any thread. Costs a commit, and waits for background work to stop.
#[unsafe(no_mangle)]
pub extern "C" fn simkeep_store_close(store: *mut StoreHandle, error: *mut *mut Failure) -> i32 {
    done("simkeep_store_close", error, || {
        let handle = abi::handle(store, "store")?;
        handle.process.check()?;
        if handle.closed.swap(true, Ordering::AcqRel) {
            return Ok(());
        }
        Ok(handle.store.clone().close()?)
    })
}

/// Frees a store, after all other calls on it have returned. An open store is closed, but errors
/// are lost, so close the store first. Does nothing for NULL. In a forked child the call frees only
/// memory, and does not close the store.
#[unsafe(no_mangle)]
pub extern "C" fn simkeep_store_free(store: Option<Box<StoreHandle>>) {
    free("simkeep_store_free", store);
}

/// Runs an operation on a store that succeeds or fails.
fn on_store(
    function: &'static str,
    store: *mut StoreHandle,
    error: *mut *mut Failure,
    body: impl FnOnce(&Store) -> simkeep::Result<()>,
) -> i32 {
    done(function, error, || Ok(body(open(store)?)?))
}

/// Makes all observations so far durable. Any thread. Costs at most one commit.
#[unsafe(no_mangle)]
pub extern "C" fn simkeep_flush(store: *mut StoreHandle, error: *mut *mut Failure) -> i32 {
    on_store("simkeep_flush", store, error, Store::flush)
}

/// Seals all observations in memory into segments, even if there are few. Any thread. Costs writing
/// the segments.
#[unsafe(no_mangle)]
pub extern "C" fn simkeep_seal(store: *mut StoreHandle, error: *mut *mut Failure) -> i32 {
    on_store("simkeep_seal", store, error, Store::seal)
}

/// Waits until no seal and no merge is due. Without background work, the call itself runs seals and
/// merges. Any thread.
#[unsafe(no_mangle)]
pub extern "C" fn simkeep_wait_idle(store: *mut StoreHandle, error: *mut *mut Failure) -> i32 {
    on_store("simkeep_wait_idle", store, error, Store::wait_idle)
}

/// Merges all segments into a single segment. `progress` may be NULL. After `SIMKEEP_CANCELLED`,
/// completed merges are kept, which does not change any result. Any thread. Costs reading and
/// writing all segments once, or twice if there are more than 128.
#[unsafe(no_mangle)]
pub extern "C" fn simkeep_merge(
    store: *mut StoreHandle,
    progress: *const ProgressHandle,
    error: *mut *mut Failure,
) -> i32 {
    done("simkeep_merge", error, || {
        open(store)?.merge(&progress::of(progress)?)?;
        Ok(())
    })
}
