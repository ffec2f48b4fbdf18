//! Sizes of a store.

use crate::abi;
use crate::call::{done, found};
use crate::code::SIMKEEP_OTHER;
use crate::failure::Failure;
use crate::open::reader::{self, ReaderHandle};
use crate::open::store::{StoreHandle, open};
use crate::structure::structure;

structure! {
    /// Sizes of a store.
    pub struct Stats, up to pages, from of: &simkeep::Stats {
        pages: u64,
        visits: u64,
        unsealed_visits: u64,
        /// The number of live segments.
        segments: u64 = of.segments.len() as u64,
        segment_bytes: u64,
        catalog_bytes: u64,
        sequence: u64,
        epoch_visits: u64,
        /// Whether a new epoch is recommended, 1 or 0.
        epoch_due: u64 = u64::from(of.epoch_due),
    }
}

/// Copies the sizes of a store to where `stats` points. `size` is `sizeof(simkeep_stats)`. Any
/// thread. Reads only memory, and no fingerprint tables.
#[unsafe(no_mangle)]
pub extern "C" fn simkeep_store_stats(
    store: *const StoreHandle,
    stats: *mut Stats,
    size: usize,
    error: *mut *mut Failure,
) -> i32 {
    done("simkeep_store_stats", error, || {
        abi::put_structure(stats, size, &Stats::new(&open(store)?.stats()?), "stats")
    })
}

/// Copies the sizes of a reader's view to where `stats` points. `size` is `sizeof(simkeep_stats)`.
/// Any thread. Costs as much as `simkeep_store_stats`.
#[unsafe(no_mangle)]
pub extern "C" fn simkeep_reader_stats(
    reader: *const ReaderHandle,
    stats: *mut Stats,
    size: usize,
    error: *mut *mut Failure,
) -> i32 {
    done("simkeep_reader_stats", error, || {
        abi::put_structure(stats, size, &Stats::new(&reader::stats(reader)?), "stats")
    })
}

/// Checks that the last background merge succeeded. `SIMKEEP_NONE` if the merge succeeded;
/// otherwise `SIMKEEP_OTHER` and an error with the reason, for example a full disk. The store
/// retries the merge by itself. Any thread. Costs as much as `simkeep_store_stats`.
#[unsafe(no_mangle)]
pub extern "C" fn simkeep_store_merge_error(
    store: *const StoreHandle,
    error: *mut *mut Failure,
) -> i32 {
    found("simkeep_store_merge_error", error, || match open(store)?.stats()?.merge_error {
        Some(why) => Err(Failure::new(SIMKEEP_OTHER, &why)),
        None => Ok(None),
    })
}
