//! Loading many visits at once.

use simkeep::Store;
use simkeep::load::LoadOptions;

use crate::abi;
use crate::call::done;
use crate::error::{Failure, Result};
use crate::options::size as size_of_number;
use crate::progress::{self, ProgressHandle};
use crate::store::{StoreHandle, open};
use crate::visit::{Visit, all, array};

/// What was loaded.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct LoadedNumbers {
    /// Observations that came.
    pub observations: u64,
    /// Visits that were stored: those that the store did not know.
    pub visits: u64,
    /// Fingerprints in other epochs that were stored.
    pub restated: u64,
    /// Weights that were stored.
    pub weighed: u64,
    /// Classes that were stored.
    pub classed: u64,
    /// Pages that something was stored of.
    pub pages: u64,
    /// Of these, those that the store did not know.
    pub new_pages: u64,
    /// Segments that were written.
    pub segments: u64,
    /// Their bytes.
    pub bytes: u64,
}

/// Loads visits in any order, without searches and without the journal: all of them, or none. Some ten
/// times as fast as `simkeep_observe_batch`; it does not say what each meant, and `simkeep_history` does
/// afterwards. `size` is `sizeof *visits`. `memory_bytes` bounds the memory beside the visits, 0 for 512
/// MiB. `progress` may be NULL, and so may `loaded`, which gets numbers; `loaded_size` is
/// `sizeof(simkeep_loaded)`. Any thread; one load at a time.
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
        let store = open(store)?;
        load(store, memory_bytes, progress, (loaded, loaded_size), || array(visits, count, size))
    })
}

/// Loads visits, and tells what was loaded if the caller wants to know.
pub(crate) fn load(
    store: &Store,
    memory_bytes: u64,
    progress: *const ProgressHandle,
    (loaded, loaded_size): (*mut LoadedNumbers, usize),
    visits: impl FnOnce() -> Result<Vec<Visit>>,
) -> Result<()> {
    if !loaded.is_null() {
        abi::room(loaded, loaded_size, "loaded")?;
    }
    let mut options = LoadOptions::default().progress(progress::of(progress)?);
    if memory_bytes > 0 {
        options = options.memory_bytes(size_of_number(memory_bytes));
    }
    let numbers = store.load(all(&visits()?)?.into_iter().map(Ok), options)?;
    if loaded.is_null() {
        return Ok(());
    }
    abi::put_structure(loaded, loaded_size, &LoadedNumbers::new(&numbers), "loaded")
}

impl LoadedNumbers {
    fn new(loaded: &simkeep::load::Loaded) -> LoadedNumbers {
        LoadedNumbers {
            observations: loaded.observations,
            visits: loaded.visits,
            restated: loaded.restated,
            weighed: loaded.weighed,
            classed: loaded.classed,
            pages: loaded.pages,
            new_pages: loaded.new_pages,
            segments: loaded.segments as u64,
            bytes: loaded.bytes,
        }
    }
}
