//! The directory of a backup: empty, or with an earlier backup of the same store.
//!
//! A first run begins with a catalog that says that the store is unfinished. It lists nothing, and is
//! replaced in the end. A later one adds files that the earlier catalog does not list, and removes
//! others when the new one is durable. So whenever it ends, the catalog that is there names files that
//! are there.

use std::sync::Arc;

use crate::admin::copy::State;
use crate::catalog::{Catalog, Contents, Locks, Marked, Whole, mark};
use crate::disk::{Dir, Disk, Lock, Name};
use crate::engine::open;
use crate::error::{Error, Result};

/// Where a backup is made. Nobody else writes there.
pub(super) struct Target {
    pub(super) disk: Arc<dyn Disk>,
    locks: Locks,
    /// What the earlier backup holds; `None` if there is none.
    pub(super) earlier: Option<Contents>,
}

impl Target {
    /// Takes a directory for a backup of a store that holds this.
    pub(super) fn take(disk: &Arc<dyn Disk>, newest: &Contents) -> Result<Target> {
        let (locks, earlier) = match open::require_empty(disk) {
            Err(Error::StoreExists { .. }) => {
                let locks = Locks::take(&**disk, Lock::Exclusive)?;
                (locks, Some(earlier(disk, newest)?))
            }
            required => required.and_then(|()| Ok((open::make(disk, &newest.begun())?, None)))?,
        };
        Ok(Target { disk: Arc::clone(disk), locks, earlier })
    }

    /// Makes all names durable that files were given here.
    pub(super) fn sync(&self) -> Result<()> {
        [Dir::Segments, Dir::Root].into_iter().try_for_each(|dir| {
            let synced = self.disk.sync_dir(dir);
            synced.map_err(|e| Error::io("sync the directories of", self.disk.location(), e))
        })
    }

    /// Leaves the directory as it was, as far as that goes.
    pub(super) fn give_up(&self) {
        match &self.earlier {
            None => open::unmake(&self.disk),
            // What stays is removed by the next run, or when the backup is opened.
            Some(earlier) => drop(self.remove_unlisted(earlier)),
        }
    }

    /// From here on this is a backup with the catalog's contents. Returns how many files of the earlier
    /// one went.
    pub(super) fn finish(mut self, whole: Whole, contents: &Contents) -> Result<u64> {
        self.locks.follow(whole.finish(&*self.disk)?);
        let removed = self.remove_unlisted(contents)?;
        self.sync()?;
        Ok(removed)
    }

    /// Removes what a catalog does not list.
    fn remove_unlisted(&self, contents: &Contents) -> Result<u64> {
        let unlisted = open::orphans(&self.disk, contents)?;
        let mut removed = 0;
        for name in unlisted {
            self.disk.remove(name).map_err(|e| Error::io("remove", name, e))?;
            removed += u64::from(matches!(name, Name::Segment(_) | Name::Df(_)));
        }
        Ok(removed)
    }
}

/// What an earlier backup holds, if that is what is here.
///
/// # Errors
///
/// [`Error::NotABackup`] if it is none, or not of the store that holds the `newest`.
fn earlier(disk: &Arc<dyn Disk>, newest: &Contents) -> Result<Contents> {
    let not = |why: String| Err(Error::NotABackup { location: disk.location(), why });
    let contents = Catalog::read_on(&**disk)?;
    open::require_finished(disk, &contents)?;
    let (here, there) = (State::from(&contents), State::from(newest));
    let why = here.why_not_earlier(&there);
    // Whoever writes to a store leaves one or the other, and a backup has neither.
    let root = disk.list(Dir::Root).map_err(|e| Error::io("list", disk.location(), e))?;
    let is_published =
        root.iter().any(|entry| Name::parse(Dir::Root, entry) == Some(Name::Snapshot));
    let is_written = is_published || mark::read(&**disk) != Marked::default();
    if is_written && here.is_of_one_store(&there) {
        return not("it was opened for writing, and is a store of its own since".to_owned());
    }
    if let Some(why) = why {
        return not(why);
    }
    // A segment of another store is nobody's to remove.
    open::orphans(disk, &contents)?;
    Ok(contents)
}
