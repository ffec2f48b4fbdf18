//! Loads many visits at once.

use simkeep::load::{LoadOptions, Loaded};
use simkeep::{Progress, Store};

use crate::abi;
use crate::argument::to_usize;
use crate::call::done;
use crate::failure::{Failure, Result};
use crate::open::snapshot::{self, SnapshotHandle};
use crate::open::store::{StoreHandle, open, turns};
use crate::progress::{self, ProgressHandle};
use crate::structure::structure;
use crate::write::visit::{Visit, all, array};

structure! {
    /// Summary figures of a load.
    pub struct LoadedNumbers, up to observations, from of: &Loaded {
        /// The number of observations received.
        observations: u64,
        visits: u64,
        /// The number of stored fingerprints in other epochs.
        restated: u64,
        /// The number of stored weights.
        weights: u64,
        /// The number of stored classes.
        classes: u64,
        /// The number of pages with stored data.
        pages: u64,
        new_pages: u64,
        segments: u64 = of.segments as u64,
        bytes: u64,
    }
}

/// Loads visits in any order, without searches and without the journal. Either all visits are
/// stored, or none. A load is some four times as fast as `simkeep_observe_batch`, but returns no
/// verdicts; afterwards `simkeep_snapshot_history` returns the verdicts. `size` is `sizeof
/// *visits`. `memory_bytes` limits the memory in addition to the visits, 0 for 512 MiB. `progress`
/// may be NULL. `loaded` receives figures, and may be NULL; `loaded_size` is
/// `sizeof(simkeep_loaded)`. Any thread; one load at a time. If the visits do not fit into memory,
/// use `simkeep_loading_begin`.
#[unsafe(no_mangle)]
pub extern "C" fn simkeep_load(
    store: *mut StoreHandle,
    visits: *const Visit,
    count: usize,
    size: usize,
    memory_bytes: u64,
    progress: *const ProgressHandle,
    loaded: *mut LoadedNumbers,
    loaded_size: usize,
    error: *mut *mut Failure,
) -> i32 {
    done("simkeep_load", error, || {
        load(store, memory_bytes, progress, (loaded, loaded_size), |store, options| {
            let visits = all(&array(visits, count, size)?)?;
            Ok(store.load(visits.into_iter().map(Ok), options)?)
        })
    })
}

/// Runs a load, and returns its figures if the caller requests them.
pub(crate) fn load(
    store: *const StoreHandle,
    memory_bytes: u64,
    progress: *const ProgressHandle,
    (loaded, loaded_size): (*mut LoadedNumbers, usize),
    load: impl FnOnce(&Store, LoadOptions) -> Result<Loaded>,
) -> Result<()> {
    if !loaded.is_null() {
        abi::check_put_structure(loaded, loaded_size, "loaded")?;
    }
    turns(store)?.check()?;
    let options = options(memory_bytes, progress::of(progress)?);
    let numbers = load(open(store)?, options)?;
    if loaded.is_null() {
        return Ok(());
    }
    abi::put_structure(loaded, loaded_size, &LoadedNumbers::new(&numbers), "loaded")
}

/// Returns the options of a load.
pub(crate) fn options(memory_bytes: u64, progress: Progress) -> LoadOptions {
    let options = LoadOptions::default().progress(progress);
    match memory_bytes {
        0 => options,
        bytes => options.memory_bytes(to_usize(bytes)),
    }
}

/// Loads all entries in a snapshot of another store, like `simkeep_load`. Epochs with the same name
/// are identified; other epochs are created, with their tables. `memory_bytes` limits the memory, 0
/// for 512 MiB. `progress` may be NULL. `loaded` receives figures, and may be NULL; `loaded_size`
/// is `sizeof(simkeep_loaded)`. Any thread; one load at a time. Costs reading the whole other
/// store, and a load.
#[unsafe(no_mangle)]
pub extern "C" fn simkeep_copy_from(
    store: *mut StoreHandle,
    snapshot: *const SnapshotHandle,
    memory_bytes: u64,
    progress: *const ProgressHandle,
    loaded: *mut LoadedNumbers,
    loaded_size: usize,
    error: *mut *mut Failure,
) -> i32 {
    done("simkeep_copy_from", error, || {
        let other = snapshot::open(snapshot)?.0;
        load(store, memory_bytes, progress, (loaded, loaded_size), |store, options| {
            Ok(store.copy_from(other, options)?)
        })
    })
}
