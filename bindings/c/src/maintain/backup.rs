//! A second directory with the same store.

use std::ffi::c_char;

use simkeep::backup::{self, BackupOptions};

use crate::abi;
use crate::argument::flag;
use crate::call::done;
use crate::failure::{Failure, Result};
use crate::open::store::{StoreHandle, open};
use crate::progress::{self, ProgressHandle};
use crate::structure::structure;

structure! {
    /// What a backup did.
    pub struct BackedUp, up to catalog_bytes, from of: &backup::BackedUp {
        /// The number of the last operation that the backup has.
        sequence: u64,
        pages: u64,
        visits: u64,
        /// Whether there was an earlier backup, in whose place this one is, 1 or 0.
        has_earlier: u64 = u64::from(of.earlier.is_some()),
        /// The number of the last operation that the earlier one had.
        earlier: u64 = of.earlier.unwrap_or(0),
        /// Files that are links: of one file with the store.
        linked_files: u64 = of.linked.files,
        /// Their bytes.
        linked_bytes: u64 = of.linked.bytes,
        /// Files that are copies; also those that were to be linked, and could not be.
        copied_files: u64 = of.copied.files,
        /// Their bytes.
        copied_bytes: u64 = of.copied.bytes,
        /// Files that the earlier backup had already.
        kept_files: u64 = of.kept.files,
        /// Their bytes.
        kept_bytes: u64 = of.kept.bytes,
        /// Files of the earlier backup that were removed, because the store has them no more.
        removed_files: u64 = of.removed,
        catalog_bytes: u64,
    }
}

/// Backs up in some way, and tells what was done if the caller wants to know.
fn backup(
    (copy, progress): (u32, *const ProgressHandle),
    (backed_up, size): (*mut BackedUp, usize),
    way: impl FnOnce(BackupOptions) -> Result<backup::BackedUp>,
) -> Result<()> {
    if !backed_up.is_null() {
        abi::room(backed_up, size, "backed_up")?;
    }
    let options = BackupOptions::default().copy(flag(copy, "copy")?);
    let told = way(options.progress(progress::of(progress)?))?;
    if backed_up.is_null() {
        return Ok(());
    }
    abi::put_structure(backed_up, size, &BackedUp::new(&told), "backed_up")
}

/// Makes a second directory with the same store, while it works, or brings an earlier backup up to date.
/// `copy` is 0 to link files, which takes no room, or 1 to copy them, so that what damages one on the
/// disk leaves the other. `progress` may be NULL, and so may `backed_up`, which gets what was done;
/// `size` is `sizeof(simkeep_backed_up)`. After an error an earlier backup is as it was. Any thread.
/// Costs reading and checking all of the backup, besides what is copied.
#[unsafe(no_mangle)]
pub extern "C" fn simkeep_backup(
    store: *const StoreHandle,
    to_path: *const c_char,
    copy: u32,
    progress: *const ProgressHandle,
    backed_up: *mut BackedUp,
    size: usize,
    error: *mut *mut Failure,
) -> i32 {
    done("simkeep_backup", error, || {
        let (store, to) = (open(store)?, abi::path(to_path, "to_path")?);
        backup((copy, progress), (backed_up, size), |options| Ok(store.backup(to, options)?))
    })
}

/// Backs up the store in a directory, as `simkeep_backup` does an open one; also one that another
/// process writes.
#[unsafe(no_mangle)]
pub extern "C" fn simkeep_backup_path(
    path: *const c_char,
    to_path: *const c_char,
    copy: u32,
    progress: *const ProgressHandle,
    backed_up: *mut BackedUp,
    size: usize,
    error: *mut *mut Failure,
) -> i32 {
    done("simkeep_backup_path", error, || {
        let (from, to) = (abi::path(path, "path")?, abi::path(to_path, "to_path")?);
        backup((copy, progress), (backed_up, size), |options| {
            Ok(backup::backup(from, to, options)?)
        })
    })
}
