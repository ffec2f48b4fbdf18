//! The target directory of a backup: empty, or with an earlier backup of the same store.
//!
//! A first run starts with a catalog that marks the store as unfinished. That catalog lists no
//! files, and is replaced at the end. A later run adds files that the earlier catalog does not
//! list, and removes obsolete files when the new catalog is durable. So at any moment, the files
//! that the catalog lists exist.

use std::sync::Arc;

use crate::admin::copy::StoreLineage;
use crate::catalog::{Catalog, CatalogContents, CommitMark, NewCatalog, StoreLocks, mark};
use crate::disk::{Dir, Disk, FileName, LockMode};
use crate::engine::open;
use crate::error::{Error, Result};

/// The target of a backup, locked against other writers.
pub(super) struct BackupTarget {
    pub(super) disk: Arc<dyn Disk>,
    locks: StoreLocks,
    /// The contents of the earlier backup; `None` if there is none.
    pub(super) earlier: Option<CatalogContents>,
}

impl BackupTarget {
    /// Locks a directory for a backup of a store with the contents `newest`.
    pub(super) fn take(disk: &Arc<dyn Disk>, newest: &CatalogContents) -> Result<BackupTarget> {
        let (locks, earlier) = match open::require_empty(disk) {
            Err(Error::StoreExists { .. }) => {
                let locks = StoreLocks::take(&**disk, LockMode::Exclusive)?;
                (locks, Some(earlier(disk, newest)?))
            }
            required => {
                required.and_then(|()| Ok((open::make(disk, &newest.without_files())?, None)))?
            }
        };
        Ok(BackupTarget { disk: Arc::clone(disk), locks, earlier })
    }

    /// Makes the names of all new files durable.
    pub(super) fn sync(&self) -> Result<()> {
        [Dir::Segments, Dir::Root].into_iter().try_for_each(|dir| {
            let synced = self.disk.sync_dir(dir);
            synced.map_err(|e| Error::io("sync the directories of", self.disk.location(), e))
        })
    }

    /// Restores the directory as far as possible.
    pub(super) fn give_up(&self) {
        match &self.earlier {
            None => open::remove_files(&self.disk),
            // A leftover is removed by the next run, or when the backup is opened.
            Some(earlier) => drop(self.remove_unlisted(earlier)),
        }
    }

    /// Makes this directory a backup with `contents` as the contents of its catalog. Returns the
    /// number of removed files of the earlier backup.
    pub(super) fn finish(mut self, whole: NewCatalog, contents: &CatalogContents) -> Result<u64> {
        self.locks.follow(whole.finish(&*self.disk)?);
        let removed = self.remove_unlisted(contents)?;
        self.sync()?;
        Ok(removed)
    }

    /// Removes files that the catalog does not list.
    fn remove_unlisted(&self, contents: &CatalogContents) -> Result<u64> {
        let unlisted = open::orphans(&self.disk, contents)?;
        let mut removed = 0;
        for name in unlisted {
            self.disk.remove(name).map_err(|e| Error::io("remove", name, e))?;
            removed += u64::from(matches!(name, FileName::Segment(_) | FileName::Df(_)));
        }
        Ok(removed)
    }
}

/// Returns the contents of the earlier backup in this directory.
///
/// # Errors
///
/// [`Error::NotABackup`] if the directory is not a backup, or is a backup of another store than the
/// store with the contents `newest`.
fn earlier(disk: &Arc<dyn Disk>, newest: &CatalogContents) -> Result<CatalogContents> {
    let not = |why: String| Err(Error::NotABackup { location: disk.location(), why });
    let contents = Catalog::read_on(&**disk)?;
    open::require_finished(disk, &contents)?;
    let (here, there) = (StoreLineage::from(&contents), StoreLineage::from(newest));
    let why = here.why_not_earlier(&there);
    // Every writer leaves a `SNAPSHOT` or a mark, and a backup has neither.
    let root = disk.list(Dir::Root).map_err(|e| Error::io("list", disk.location(), e))?;
    let is_published =
        root.iter().any(|entry| FileName::parse(Dir::Root, entry) == Some(FileName::Snapshot));
    let is_written = is_published || mark::read(&**disk) != CommitMark::default();
    if is_written && here.is_of_one_store(&there) {
        return not(
            "it was opened for writing after the backup, so it is a separate store now".to_owned()
        );
    }
    if let Some(why) = why {
        return not(why);
    }
    // Fails for a segment of another store, which we must not remove.
    open::orphans(disk, &contents)?;
    Ok(contents)
}
