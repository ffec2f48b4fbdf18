//! Backups: a second directory with the same store.

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
    /// The result of a backup.
    pub struct BackedUp, up to catalog_bytes, from of: &backup::BackedUp {
        /// The number of the last operation in the backup.
        sequence: u64,
        pages: u64,
        visits: u64,
        /// Whether there was an earlier backup, which this one replaced, 1 or 0.
        has_earlier: u64 = u64::from(of.earlier.is_some()),
        /// The number of the last operation in the earlier backup.
        earlier: u64 = of.earlier.unwrap_or(0),
        /// Files that were hard-linked to those of the store.
        linked_files: u64 = of.linked.files,
        /// Their bytes.
        linked_bytes: u64 = of.linked.bytes,
        /// Files that were copied, including those that could not be linked.
        copied_files: u64 = of.copied.files,
        /// Their bytes.
        copied_bytes: u64 = of.copied.bytes,
        /// Files that the earlier backup already had.
        kept_files: u64 = of.kept.files,
        /// Their bytes.
        kept_bytes: u64 = of.kept.bytes,
        /// Files of the earlier backup that were removed, because the store no longer has them.
        removed_files: u64 = of.removed,
        catalog_bytes: u64,
    }
}

/// Runs a backup, and returns its result if the caller requests it.
fn backup(
    (copy, progress): (u32, *const ProgressHandle),
    (backed_up, size): (*mut BackedUp, usize),
    way: impl FnOnce(BackupOptions) -> Result<backup::BackedUp>,
) -> Result<()> {
    if !backed_up.is_null() {
        abi::check_put_structure(backed_up, size, "backed_up")?;
    }
    let options = BackupOptions::default().copy(flag(copy, "copy")?);
    let result = way(options.progress(progress::of(progress)?))?;
    if backed_up.is_null() {
        return Ok(());
    }
    abi::put_structure(backed_up, size, &BackedUp::new(&result), "backed_up")
}

/// Makes or updates a backup: a second directory with the same store, while it is in use. `copy` is
/// 0 to hard-link files, which takes no space, or 1 to copy them, so that damage to one on the disk
/// does not affect the other. `progress` may be NULL, and so may `backed_up`, which receives the
/// result; `size` is `sizeof(simkeep_backed_up)`. After an error an earlier backup is unchanged.
/// Any thread. Costs reading and checking all of the backup, and the copies.
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

/// Backs up the store in a directory, as `simkeep_backup` does for an open one. Another process may
/// have it open for writing.
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
