//! The single-writer lock: locks on `LOCK` and on the catalog.
//!
//! People remove a `LOCK` that looks stale, or replace the file. So the catalog, which every writer
//! needs, is locked as well. Before each commit, a writer checks that both files still have their
//! names.

use std::time::{Duration, Instant};

use crate::disk::{Disk, FileName, LockGuard, LockHolder, LockMode, LockOutcome};
use crate::error::{Error, Result};
use crate::sync::thread;

/// The maximum time to wait for a lock by default. A reader holds the lock while it opens a store
/// without a writer, and a writer holds the lock for a moment while it shuts down.
pub(crate) const LOCK_WAIT: Duration = Duration::from_secs(5);

/// Locks on a store.
#[derive(Debug)]
pub(crate) struct StoreLocks {
    lock: Box<dyn LockGuard>,
    catalog: Box<dyn LockGuard>,
}

fn try_lock(disk: &dyn Disk, name: FileName, kind: LockMode) -> Result<LockOutcome> {
    disk.lock(name, kind).map_err(|e| Error::io("lock", name, e))
}

fn wait_for(
    disk: &dyn Disk,
    name: FileName,
    kind: LockMode,
    until: Option<Instant>,
) -> Result<Box<dyn LockGuard>> {
    loop {
        match try_lock(disk, name, kind)? {
            LockOutcome::Held(guard) => return Ok(guard),
            LockOutcome::Refused(holder) => {
                let is_over = until.is_some_and(|until| Instant::now() > until);
                if holder == LockHolder::ThisProcess || is_over {
                    return Err(Error::Locked { location: disk.location(), holder });
                }
            }
        }
        thread::sleep(Duration::from_millis(10));
    }
}

impl StoreLocks {
    /// Locks a store. Waits a while for other holders of the lock, except for this process itself.
    ///
    /// The holder of `LOCK` waits only for the catalog. Readers that arrive meanwhile find a
    /// writer, so any number of readers cannot starve the writer.
    pub(crate) fn take(disk: &dyn Disk, kind: LockMode) -> Result<StoreLocks> {
        StoreLocks::take_within(disk, kind, LOCK_WAIT)
    }

    /// Locks a store. Waits at most `wait` for other holders of the lock.
    pub(crate) fn take_within(
        disk: &dyn Disk,
        kind: LockMode,
        wait: Duration,
    ) -> Result<StoreLocks> {
        // A wait beyond the range of the clock has no end.
        let until = Instant::now().checked_add(wait);
        let lock = wait_for(disk, FileName::Lock, kind, until)?;
        let catalog = wait_for(disk, FileName::Catalog, kind, until)?;
        Ok(StoreLocks { lock, catalog })
    }

    /// Locks a store without waiting.
    pub(crate) fn try_take(
        disk: &dyn Disk,
        kind: LockMode,
    ) -> Result<Result<StoreLocks, LockHolder>> {
        let lock = match try_lock(disk, FileName::Lock, kind)? {
            LockOutcome::Held(guard) => guard,
            LockOutcome::Refused(holder) => return Ok(Err(holder)),
        };
        Ok(match try_lock(disk, FileName::Catalog, kind)? {
            LockOutcome::Held(catalog) => Ok(StoreLocks { lock, catalog }),
            LockOutcome::Refused(holder) => Err(holder),
        })
    }

    /// Releases `LOCK`, so that a writer can lock it and wait. The writer does not start until the
    /// returned lock is dropped.
    pub(crate) fn into_catalog(self) -> Box<dyn LockGuard> {
        self.catalog
    }

    /// Replaces the lock on the old catalog by the lock on the new catalog, which now has the name
    /// of the old catalog.
    pub(crate) fn follow(&mut self, catalog: Box<dyn LockGuard>) {
        self.catalog = catalog;
    }

    /// Checks that both locked files still have their names.
    ///
    /// # Errors
    ///
    /// [`Error::Replaced`] if one of the files no longer has its name, because another process may
    /// write.
    pub(super) fn check(&self) -> Result<()> {
        for (guard, name) in [(&self.lock, FileName::Lock), (&self.catalog, FileName::Catalog)] {
            if !guard.is_under(name).map_err(|e| Error::io("check", name, e))? {
                return Err(Error::Replaced { file: name.to_string() });
            }
        }
        Ok(())
    }
}
