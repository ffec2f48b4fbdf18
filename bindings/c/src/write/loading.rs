//! A load that receives its visits in batches.

use std::panic::resume_unwind;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::JoinHandle;
use std::{mem, vec};

use simkeep::load::{AsOperation, Loaded};
use simkeep::{Error, Observation, Operation, Progress};

use crate::abi;
use crate::abi::arrow::{ArrowArray, ArrowSchema, BorrowedTable};
use crate::call::{assert_thread_safe, done, free, make};
use crate::code::{SIMKEEP_CANCELLED, SIMKEEP_INVALID_ARGUMENT};
use crate::failure::{Failure, Result};
use crate::fork::ForkSafeMutex;
use crate::open::load_slot::LoadSlotGuard;
use crate::open::store::{StoreHandle, open, turns};
use crate::progress::{self, ProgressHandle};
use crate::write::load::{self, LoadedNumbers};
use crate::write::table;
use crate::write::visit::{Visit, all, array};

/// A load that receives visits from its caller. Use the load from one thread at a time, in the
/// process that began it. The store of the load stays open until the load is freed.
#[derive(Debug)]
pub struct Loading {
    loading: ForkSafeMutex<Option<LoadThread>>,
    /// The epoch for visits without an epoch.
    epoch: u32,
}

#[derive(Debug)]
struct LoadThread {
    batches: SyncSender<LoadMessage>,
    thread: JoinHandle<simkeep::Result<Loaded>>,
    progress: Progress,
    /// The turn of the load, which is dropped once the thread has ended.
    _turn: LoadSlotGuard,
}

const _: () = assert_thread_safe::<Loading>();

/// A message to the thread of a load.
#[derive(Debug)]
enum LoadMessage {
    Some(Vec<OwnedVisit>),
    /// The end of the input. Without this message, an abandoned load stores nothing.
    End,
}

/// A visit that outlives the call that passed it.
#[derive(Debug)]
struct OwnedVisit {
    url: Box<str>,
    etag: Option<Box<[u8]>>,
    target: Option<Box<str>>,
    /// The visit without its texts.
    of: Observation<'static>,
}

impl OwnedVisit {
    fn new(observation: &Observation<'_>) -> OwnedVisit {
        let Observation { url, visit, also, weight, class, etag, target, .. } = *observation;
        let mut of = Observation::of("", visit);
        (of.also, of.weight, of.class) = (also, weight, class);
        let (etag, target) = (etag.map(Box::from), target.map(Box::from));
        OwnedVisit { url: url.into(), etag, target, of }
    }
}

impl AsOperation for OwnedVisit {
    fn operation(&self) -> Operation<'_> {
        let mut of: Observation<'_> = self.of;
        of.url = &self.url;
        (of.etag, of.target) = (self.etag.as_deref(), self.target.as_deref());
        Operation::Observe(of)
    }
}

/// The visits of all batches, in order of arrival.
struct VisitReceiver {
    batches: Receiver<LoadMessage>,
    batch: vec::IntoIter<OwnedVisit>,
    is_over: bool,
}

impl Iterator for VisitReceiver {
    type Item = simkeep::Result<OwnedVisit>;

    fn next(&mut self) -> Option<simkeep::Result<OwnedVisit>> {
        loop {
            if let Some(own) = self.batch.next() {
                return Some(Ok(own));
            }
            if self.is_over {
                return None;
            }
            match self.batches.recv() {
                Ok(LoadMessage::Some(batch)) => self.batch = batch.into_iter(),
                Ok(LoadMessage::End) => self.is_over = true,
                Err(_) => {
                    self.is_over = true;
                    return Some(Err(Error::Cancelled));
                }
            }
        }
    }
}

/// Begins to load visits from `simkeep_loading_push`, like `simkeep_load` for an array. So a corpus
/// may be larger than memory. `memory_bytes` limits the memory of the load, 0 for 512 MiB. Waiting
/// visits, at most two batches, take additional memory. `progress` may be NULL. End the load with
/// `simkeep_loading_finish`, and free it with `simkeep_loading_free`. Any thread. A store has one
/// load at a time: until this load has ended, other loads are rejected with
/// `SIMKEEP_INVALID_ARGUMENT`.
#[unsafe(no_mangle)]
pub extern "C" fn simkeep_loading_begin(
    store: *mut StoreHandle,
    memory_bytes: u64,
    progress: *const ProgressHandle,
    error: *mut *mut Failure,
) -> Option<Box<Loading>> {
    make("simkeep_loading_begin", error, || {
        let (turn, store) = (turns(store)?.take()?, open(store)?.clone());
        let progress = progress::of(progress)?;
        let epoch = store.change_epoch().number();
        let options = load::options(memory_bytes, progress.clone());
        let (sender, batches) = sync_channel(0);
        let coming = VisitReceiver { batches, batch: Vec::new().into_iter(), is_over: false };
        let run = move || store.load(coming, options);
        let thread = std::thread::Builder::new().name("simkeep-load".to_owned()).spawn(run);
        let thread = thread.map_err(|e| Failure::io("cannot start a thread for a load", &e))?;
        let running = LoadThread { batches: sender, thread, progress, _turn: turn };
        Ok(Loading { loading: ForkSafeMutex::new(Some(running))?, epoch })
    })
}

/// Returns the load of a handle, if the handle may be used.
fn running<T>(
    loading: *const Loading,
    with: impl FnOnce(&Loading, &mut Option<LoadThread>) -> Result<T>,
) -> Result<T> {
    let loading = abi::handle(loading, "loading")?;
    if !loading.loading.is_own() {
        return Err(Failure::forked("this load belongs to"));
    }
    with(loading, &mut *loading.loading.lock()?)
}

/// Passes some visits to the load.
fn push(state: &mut Option<LoadThread>, observations: &[Observation<'_>]) -> Result<()> {
    let batch: Vec<OwnedVisit> = observations.iter().map(OwnedVisit::new).collect();
    let running = state.as_ref().ok_or_else(over)?;
    if batch.is_empty() || running.batches.send(LoadMessage::Some(batch)).is_ok() {
        return Ok(());
    }
    // The load stopped before the end of the input, which only an error causes.
    Err(state.take().map_or_else(over, |running| match ended(running) {
        Ok(_) => Failure::new(SIMKEEP_CANCELLED, "the load ended before all visits were read"),
        Err(failure) => failure,
    }))
}

fn over() -> Failure {
    Failure::new(SIMKEEP_INVALID_ARGUMENT, "this load has ended; begin a new load")
}

/// Waits for the thread of a load, and returns the result of the load.
fn ended(running: LoadThread) -> Result<Loaded> {
    let LoadThread { batches, thread, _turn, .. } = running;
    drop(batches);
    Ok(thread.join().unwrap_or_else(|panic| resume_unwind(panic))?)
}

/// Passes more visits to a load. The visits are copied. Waits until the load accepts them, while it
/// sorts or writes earlier visits. `size` is `sizeof *visits`.
///
/// An invalid argument is `SIMKEEP_MALFORMED_ARGUMENT`, with `simkeep_error_row` as an index into
/// these visits. After an invalid argument, none of the visits was accepted, and the load may
/// continue. Any other error ends the load, and stores no visit. An error that ends the load may
/// refer to an earlier visit; then `simkeep_error_row` is the index among all visits of the load.
/// One thread at a time.
#[unsafe(no_mangle)]
pub extern "C" fn simkeep_loading_push(
    loading: *mut Loading,
    visits: *const Visit,
    count: usize,
    size: usize,
    error: *mut *mut Failure,
) -> i32 {
    done("simkeep_loading_push", error, || {
        running(loading, |_, state| push(state, &all(&array(visits, count, size)?)?))
    })
}

/// Passes the visits of an Arrow table, with the columns of `simkeep_observe_arrow`, like
/// `simkeep_loading_push` for an array.
#[unsafe(no_mangle)]
pub extern "C" fn simkeep_loading_push_arrow(
    loading: *mut Loading,
    schema: *const ArrowSchema,
    array: *const ArrowArray,
    error: *mut *mut Failure,
) -> i32 {
    done("simkeep_loading_push_arrow", error, || {
        running(loading, |loading, state| {
            push(
                state,
                &all(&table::visits(BorrowedTable::borrow(schema, array)?, loading.epoch)?)?,
            )
        })
    })
}

/// Ends a load. When the call returns, all visits of the load are stored; after an error, no visit
/// is stored. `loaded` receives the figures, and may be NULL. `size` is `sizeof(simkeep_loaded)`.
/// Afterwards the load can only be freed. One thread at a time. Costs writing all loaded visits.
#[unsafe(no_mangle)]
pub extern "C" fn simkeep_loading_finish(
    loading: *mut Loading,
    loaded: *mut LoadedNumbers,
    size: usize,
    error: *mut *mut Failure,
) -> i32 {
    done("simkeep_loading_finish", error, || {
        running(loading, |_, state| {
            if !loaded.is_null() {
                abi::check_put_structure(loaded, size, "loaded")?;
            }
            let running = state.take().ok_or_else(over)?;
            // If the load has stopped, its thread returns the reason.
            let _ = running.batches.send(LoadMessage::End);
            let numbers = ended(running)?;
            if loaded.is_null() {
                return Ok(());
            }
            abi::put_structure(loaded, size, &LoadedNumbers::new(&numbers), "loaded")
        })
    })
}

impl Drop for Loading {
    fn drop(&mut self) {
        let is_own = self.loading.is_own();
        let Some(running) = self.loading.get_mut().and_then(Option::take) else { return };
        if !is_own {
            // In a child process the thread does not exist, so it cannot be joined.
            return mem::forget(running);
        }
        let LoadThread { batches, thread, progress, _turn } = running;
        progress.cancel();
        drop(batches);
        // The result of the thread is not needed any more.
        let _ = thread.join();
    }
}

/// Frees a load. A load that has not ended is stopped: its progress is cancelled, and no visit is
/// stored. Does nothing for NULL.
#[unsafe(no_mangle)]
pub extern "C" fn simkeep_loading_free(loading: Option<Box<Loading>>) {
    free("simkeep_loading_free", loading);
}
