//! Writing of a complete catalog: for a new store, to replace one that contains deleted data, and
//! for a backup.

use std::sync::Arc;

use redb::Database;

use super::backend::{ClosableFile, FileBackend, drop_guarded, guarded};
use super::contents::{self, CatalogContents};
use super::{CACHE_BYTES, Catalog, commit, rows};
use crate::bug;
use crate::disk::{Access, Dir, Disk, FileName, LockGuard, LockMode, LockOutcome, create};
use crate::error::{Error, Result};

/// A complete and durable catalog under a temporary name.
#[derive(Debug)]
pub(crate) struct NewCatalog {
    /// The lock on the catalog's file, taken before the file had a name that other processes look
    /// for.
    lock: Box<dyn LockGuard>,
}

impl NewCatalog {
    /// Writes a catalog, which takes no more space than its contents. On failure, nothing is left
    /// behind.
    pub(crate) fn write(disk: &Arc<dyn Disk>, contents: &CatalogContents) -> Result<NewCatalog> {
        write(disk, contents).inspect_err(|_| {
            // A leftover is removed when the store is next opened.
            let _ = disk.remove(FileName::CatalogNew);
        })
    }

    /// Reads the catalog and compares it with `contents`.
    ///
    /// # Errors
    ///
    /// [`Error::Corrupt`] if the catalog does not have these contents.
    pub(crate) fn check(&self, disk: &dyn Disk, contents: &CatalogContents) -> Result<()> {
        let name = FileName::CatalogNew;
        let file = disk.open(name, Access::Read).map_err(|e| Error::io("open", name, e))?;
        if Catalog::read(&*file)? == *contents {
            return Ok(());
        }
        Err(Error::corrupt(name, 0, "reading it returned other contents than were written"))
    }

    /// Bytes of the file.
    pub(crate) fn bytes(&self, disk: &dyn Disk) -> Result<u64> {
        let name = FileName::CatalogNew;
        let size = disk.open(name, Access::Read).and_then(|file| file.size());
        size.map_err(|e| Error::io("measure", name, e))
    }

    /// Renames the catalog's file durably to its final name, replacing an existing file. Returns
    /// the lock on the file.
    pub(crate) fn finish(self, disk: &dyn Disk) -> Result<Box<dyn LockGuard>> {
        let (from, to) = (FileName::CatalogNew, FileName::Catalog);
        disk.rename(from, to).map_err(|e| Error::io("rename", from, e))?;
        disk.sync_dir(Dir::Root).map_err(|e| Error::io("sync the directory of", to, e))?;
        Ok(self.lock)
    }
}

fn write(disk: &Arc<dyn Disk>, contents: &CatalogContents) -> Result<NewCatalog> {
    bug::ensure(
        rows::check_rows(&contents.segments).is_ok(),
        "each segment begins after the last operation of the segment before it",
    )?;
    let name = FileName::CatalogNew;
    let file = create(&**disk, name)?;
    let locked = disk.lock(name, LockMode::Exclusive).map_err(|e| Error::io("lock", name, e))?;
    let LockOutcome::Held(lock) = locked else {
        return Err(Error::Replaced { file: name.to_string() });
    };
    let mut database = guarded(|| {
        let mut builder = Database::builder();
        builder.set_cache_size(CACHE_BYTES);
        Ok(builder.create_with_backend(FileBackend::new(ClosableFile::new(file)))?)
    })?;
    let written = guarded(|| {
        commit(&database, |transaction| contents::write(transaction, contents))?;
        // A new redb database has a megabyte.
        Ok(database.compact()?)
    });
    written.map(drop).and(drop_guarded(Some(database)))?;
    let file = disk.open(name, Access::Write).map_err(|e| Error::io("open", name, e))?;
    file.sync().map_err(|e| Error::io("sync", name, e))?;
    Ok(NewCatalog { lock })
}
