//! One writer: the locks on `LOCK` and on the catalog.
//!
//! People remove a `LOCK` that looks stale, and put other files in its place. So the catalog itself is
//! locked too, which nobody can do without who wants to write; and whoever writes looks, before each
//! commit, whether both files still have their names.

use std::time::{Duration, Instant};

use crate::disk::{Disk, Holder, Lock, LockGuard, Locked, Name};
use crate::error::{Error, Result};
use crate::sync::thread;

/// How long a lock is waited for: a reader holds it while it opens a store that nobody writes, and a
/// writer that was told to end needs a moment.
const LOCK_WAIT: Duration = Duration::from_secs(5);

/// Locks on a store.
#[derive(Debug)]
pub(crate) struct Locks {
    lock: Box<dyn LockGuard>,
    catalog: Box<dyn LockGuard>,
}

impl Locks {
    /// Locks a store, and waits a while for those who hold it; not for this process itself.
    pub(crate) fn take(disk: &dyn Disk, kind: Lock) -> Result<Locks> {
        let since = Instant::now();
        loop {
            match Self::try_take(disk, kind)? {
                Ok(locks) => return Ok(locks),
                Err(holder) if holder == Holder::ThisProcess || since.elapsed() > LOCK_WAIT => {
                    return Err(Error::Locked { location: disk.location(), holder });
                }
                Err(_) => thread::sleep(Duration::from_millis(10)),
            }
        }
    }

    /// Locks a store, if nobody is in the way.
    pub(crate) fn try_take(disk: &dyn Disk, kind: Lock) -> Result<Result<Locks, Holder>> {
        let lock = |name| disk.lock(name, kind).map_err(|e| Error::io("lock", name, e));
        let guard = match lock(Name::Lock)? {
            Locked::Held(guard) => guard,
            Locked::Refused(holder) => return Ok(Err(holder)),
        };
        Ok(match lock(Name::Catalog)? {
            Locked::Held(catalog) => Ok(Locks { lock: guard, catalog }),
            Locked::Refused(holder) => Err(holder),
        })
    }

    /// Another catalog, which is locked already, has taken the name of the one before.
    pub(crate) fn follow(&mut self, catalog: Box<dyn LockGuard>) {
        self.catalog = catalog;
    }

    /// # Errors
    ///
    /// [`Error::Replaced`] if a file is no longer the one that is locked: another process may write.
    pub(super) fn check(&self) -> Result<()> {
        for (guard, name) in [(&self.lock, Name::Lock), (&self.catalog, Name::Catalog)] {
            if !guard.is_under(name).map_err(|e| Error::io("look after", name, e))? {
                return Err(Error::Replaced { file: name.to_string() });
            }
        }
        Ok(())
    }
}
