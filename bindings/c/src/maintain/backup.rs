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
        /// Whether the backup replaced an earlier backup, 1 or 0.
        has_earlier: u64 = u64::from(of.earlier.is_some()),
        /// The number of the last operation in the earlier backup.
        earlier: u64 = of.earlier.unwrap_or(0),
        /// The number of files that were hard-linked to files of the store.
        linked_files: u64 = of.linked.files,
        /// The bytes of the linked files.
        linked_bytes: u64 = of.linked.bytes,
        /// The number of files that were copied, including files that could not be linked.
        copied_files: u64 = of.copied.files,
        /// The bytes of the copied files.
        copied_bytes: u64 = of.copied.bytes,
        /// The number of files that the earlier backup already had.
        kept_files: u64 = of.kept.files,
        /// The bytes of the files that the earlier backup already had.
        kept_bytes: u64 = of.kept.bytes,
        /// The number of files of the earlier backup that were removed, because the store no longer
        /// has them.
        removed_files: u64 = of.removed,
        catalog_bytes: u64,
    }
}

/// Runs a backup, and returns the result if the caller requests it.
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

/// Makes or updates a backup: a second directory with the same store. The store may be in use.
/// `copy` is 0 to hard-link files, which takes no space, or 1 to copy files, so that disk damage to
/// a file does not affect its copy. `progress` may be NULL. `backed_up` receives the result, and
/// may be NULL; `size` is `sizeof(simkeep_backed_up)`. After an error an earlier backup is
/// unchanged. Any thread. Costs reading and checking the whole backup, and writing the copies.
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

/// Backs up the store in a directory, like `simkeep_backup` for an open store. Another process may
/// have the store open for writing.
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
