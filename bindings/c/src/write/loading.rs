//! A load whose visits come batch by batch.

use std::panic::resume_unwind;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::JoinHandle;
use std::{mem, vec};

use simkeep::load::{Loaded, Observed};
use simkeep::{Error, Observation, Operation, Progress};

use crate::abi;
use crate::abi::arrow::{ArrowArray, ArrowSchema, Table};
use crate::call::{any_thread, done, free, make};
use crate::code::{SIMKEEP_CANCELLED, SIMKEEP_INVALID_ARGUMENT};
use crate::failure::{Failure, Result};
use crate::fork::Guarded;
use crate::open::store::{StoreHandle, open, turns};
use crate::open::turns::Turn;
use crate::progress::{self, ProgressHandle};
use crate::write::load::{self, LoadedNumbers};
use crate::write::table;
use crate::write::visit::{Visit, all, array};

/// A load that goes on as its caller brings visits. One thread at a time uses it. It is of the process
/// that began it. Its store stays open until this is freed.
#[derive(Debug)]
pub struct Loading {
    loading: Guarded<Option<Running>>,
    /// The epoch of visits that name none.
    epoch: u32,
}

#[derive(Debug)]
struct Running {
    batches: SyncSender<Batch>,
    thread: JoinHandle<simkeep::Result<Loaded>>,
    progress: Progress,
    /// Dropped once the thread has ended.
    _turn: Turn,
}

const _: () = any_thread::<Loading>();

/// What the thread of a load gets.
#[derive(Debug)]
enum Batch {
    Some(Vec<Own>),
    /// There are no more. Without this word, a load whose caller goes away stores nothing.
    End,
}

/// A visit that outlives the call that brought it.
#[derive(Debug)]
struct Own {
    url: Box<str>,
    /// It, but for its URL.
    of: Observation<'static>,
}

impl Own {
    fn new(observation: &Observation<'_>) -> Own {
        let Observation { url, visit, also, weight, class, .. } = *observation;
        let mut of = Observation::of("", visit);
        (of.also, of.weight, of.class) = (also, weight, class);
        Own { url: url.into(), of }
    }
}

impl Observed for Own {
    fn operation(&self) -> Operation<'_> {
        let mut of: Observation<'_> = self.of;
        of.url = &self.url;
        Operation::Observe(of)
    }
}

/// The visits of all batches, as they come.
struct Coming {
    batches: Receiver<Batch>,
    batch: vec::IntoIter<Own>,
    is_over: bool,
}

impl Iterator for Coming {
    type Item = simkeep::Result<Own>;

    fn next(&mut self) -> Option<simkeep::Result<Own>> {
        loop {
            if let Some(own) = self.batch.next() {
                return Some(Ok(own));
            }
            if self.is_over {
                return None;
            }
            match self.batches.recv() {
                Ok(Batch::Some(batch)) => self.batch = batch.into_iter(),
                Ok(Batch::End) => self.is_over = true,
                Err(_) => {
                    self.is_over = true;
                    return Some(Err(Error::Cancelled));
                }
            }
        }
    }
}

/// Begins to load visits that `simkeep_loading_push` brings, as `simkeep_load` loads an array: so a
/// corpus may be larger than memory. `memory_bytes` bounds the memory of the load, 0 for 512 MiB; what
/// is waiting comes on top, two batches at most. `progress` may be NULL. The caller ends it with
/// `simkeep_loading_finish`, and frees it with `simkeep_loading_free`. Any thread. A store has one load
/// at a time: until this one is over, each other is refused with `SIMKEEP_INVALID_ARGUMENT`.
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
        let coming = Coming { batches, batch: Vec::new().into_iter(), is_over: false };
        let run = move || store.load(coming, options);
        let thread = std::thread::Builder::new().name("simkeep-load".to_owned()).spawn(run);
        let thread = thread.map_err(|e| Failure::io("cannot start a thread for a load", &e))?;
        let running = Running { batches: sender, thread, progress, _turn: turn };
        Ok(Loading { loading: Guarded::new(Some(running))?, epoch })
    })
}

/// The load of a handle, where it may be used.
fn running<T>(
    loading: *const Loading,
    with: impl FnOnce(&Loading, &mut Option<Running>) -> Result<T>,
) -> Result<T> {
    let loading = abi::handle(loading, "loading")?;
    if !loading.loading.is_own() {
        return Err(Failure::forked("the load is of"));
    }
    with(loading, &mut *loading.loading.lock()?)
}

/// Brings some visits.
fn push(state: &mut Option<Running>, observations: &[Observation<'_>]) -> Result<()> {
    let batch: Vec<Own> = observations.iter().map(Own::new).collect();
    let running = state.as_ref().ok_or_else(over)?;
    if batch.is_empty() || running.batches.send(Batch::Some(batch)).is_ok() {
        return Ok(());
    }
    // It has stopped by itself, which only an error makes it do before its end.
    Err(state.take().map_or_else(over, |running| match ended(running) {
        Ok(_) => Failure::new(SIMKEEP_CANCELLED, "the load has ended before its last visit"),
        Err(failure) => failure,
    }))
}

fn over() -> Failure {
    Failure::new(SIMKEEP_INVALID_ARGUMENT, "this load is over; begin another")
}

/// What came of a load whose thread ends.
fn ended(running: Running) -> Result<Loaded> {
    let Running { batches, thread, _turn, .. } = running;
    drop(batches);
    Ok(thread.join().unwrap_or_else(|panic| resume_unwind(panic))?)
}

/// Brings more visits to a load. They are copied. Waits until the load takes them, as it sorts or writes
/// what came before. `size` is `sizeof *visits`.
///
/// An argument that is wrong is `SIMKEEP_MALFORMED_ARGUMENT` with `simkeep_error_row` within these
/// visits; none of them was taken, and the load may go on. Any other error is the load's, which is
/// over then and has stored nothing; it may be of visits that came before, and `simkeep_error_row`
/// counts from the first of all. One thread at a time.
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

/// Brings the visits of an Arrow table, whose columns are those of `simkeep_observe_arrow`, as
/// `simkeep_loading_push` brings an array.
#[unsafe(no_mangle)]
pub extern "C" fn simkeep_loading_push_arrow(
    loading: *mut Loading,
    schema: *const ArrowSchema,
    array: *const ArrowArray,
    error: *mut *mut Failure,
) -> i32 {
    done("simkeep_loading_push_arrow", error, || {
        running(loading, |loading, state| {
            push(state, &all(&table::visits(Table::borrow(schema, array)?, loading.epoch)?)?)
        })
    })
}

/// Ends a load: all of its visits are stored when this returns, or none after an error. `loaded` gets
/// what was loaded; it may be NULL. `size` is `sizeof(simkeep_loaded)`. After this the load is over, and
/// is only freed. One thread at a time. Costs writing all that was loaded.
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
                abi::room(loaded, size, "loaded")?;
            }
            let running = state.take().ok_or_else(over)?;
            // If the load has stopped, it says why at its end.
            let _ = running.batches.send(Batch::End);
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
            // There is no thread here to wait for, or to let go of.
            return mem::forget(running);
        }
        let Running { batches, thread, progress, _turn } = running;
        progress.cancel();
        drop(batches);
        // Nobody is left to hear of how it ended.
        let _ = thread.join();
    }
}

/// Frees a load. Before its end it is stopped, its progress is cancelled, and nothing is stored. Does
/// nothing for NULL.
#[unsafe(no_mangle)]
pub extern "C" fn simkeep_loading_free(loading: Option<Box<Loading>>) {
    free("simkeep_loading_free", loading);
}
