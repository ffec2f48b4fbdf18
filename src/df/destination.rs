//! The destination of a table.

use std::hash::{BuildHasher, RandomState};
use std::io::ErrorKind;
use std::path::Path;
use std::sync::Arc;

use super::frame::{HEAD_BYTES, is_head};
use crate::disk::{Access, Disk, FileName, LockGuard, LockMode, LockOutcome, NewFile, RealDisk};
use crate::error::{Error, Result};

/// The location where a table is written and then read: a file with its own name, or a number on a
/// disk.
pub(super) struct TableDestination {
    pub(super) disk: Arc<dyn Disk>,
    pub(super) number: u64,
    /// The disk that maps numbers to names, for a file with its own name.
    named: Option<RealDisk>,
    /// A lock on the `.new` file, held while a table is being made at this destination.
    making: Option<Box<dyn LockGuard>>,
}

/// Returns a random number. The number keeps the name of a scratch file different from the name of
/// an existing file, and of a file that another process makes for the same table at the same time.
fn random_number() -> u64 {
    RandomState::new().hash_one(())
}

impl TableDestination {
    /// Creates the destination for the table with a number on a disk.
    #[cfg(test)]
    pub(super) fn numbered(disk: Arc<dyn Disk>, number: u64) -> TableDestination {
        TableDestination { disk, number, named: None, making: None }
    }

    /// Creates the destination for the file `path`.
    pub(super) fn file(path: &Path) -> Result<TableDestination> {
        let disk = RealDisk::of_table(path).map_err(|e| Error::io("use", path.display(), e))?;
        let (number, named) = (random_number(), Some(disk.clone()));
        Ok(TableDestination { disk: Arc::new(disk), number, named, making: None })
    }

    /// Starts a table, after checking that its name does not belong to something that must not be
    /// replaced, so that the table can be finished. Removes leftovers of killed processes for
    /// tables with this name.
    pub(super) fn begin(&mut self) -> Result<NewFile> {
        self.check()?;
        if self.named.is_none() {
            return self.create();
        }
        self.remove_left();
        loop {
            let file = self.create()?;
            if self.hold()? {
                return Ok(file);
            }
            // Another process removed the file as a leftover before it was locked.
            self.number = random_number();
        }
    }

    fn create(&self) -> Result<NewFile> {
        NewFile::create(Arc::clone(&self.disk), FileName::DfNew(self.number))
            .map_err(|e| self.error(e.into()))
    }

    /// Locks the new file, so that nobody removes it. Returns whether the file still exists.
    fn hold(&mut self) -> Result<bool> {
        let name = FileName::DfNew(self.number);
        let locked = self.disk.lock(name, LockMode::Exclusive);
        let LockOutcome::Held(guard) =
            locked.map_err(|e| self.error(Error::io("lock", name, e)))?
        else {
            return Ok(false);
        };
        self.making = Some(guard);
        Ok(self.disk.open(name, Access::Read).is_ok())
    }

    /// Removes leftovers of killed processes next to the destination. A process keeps its `.new`
    /// file until it has removed its scratch file, and holds a lock on the `.new` file as long as
    /// it lives. Files that cannot be removed are left to the next counter.
    fn remove_left(&self) {
        let Some(disk) = &self.named else { return };
        for (number, parts) in disk.unfinished_tables().unwrap_or_default() {
            let new = FileName::DfNew(number);
            if !self.is_begun(new) {
                continue;
            }
            let Ok(LockOutcome::Held(_lock)) = disk.lock(new, LockMode::Exclusive) else {
                continue;
            };
            let scratch = parts.into_iter().map(|part| FileName::DfScratch(number, part));
            for name in scratch.chain([new]) {
                if disk.remove(name).is_err() {
                    break;
                }
            }
        }
    }

    /// Whether a file begins as a table does, or is still empty.
    fn is_begun(&self, name: FileName) -> bool {
        let Ok(file) = self.disk.open(name, Access::Write) else { return false };
        let mut head = [0; HEAD_BYTES];
        match file.size() {
            Ok(0) => true,
            Ok(_) => file.read_at(0, &mut head).is_ok() && is_head(&head),
            Err(_) => false,
        }
    }

    /// Checks that a table may be written to the destination: the name is free, or belongs to
    /// another table that is not part of a store.
    ///
    /// # Errors
    ///
    /// [`Error::AlreadyExists`] if the name belongs to something else.
    pub(super) fn check(&self) -> Result<()> {
        let Some(disk) = &self.named else { return Ok(()) };
        let name = FileName::Df(self.number);
        let refused = |why: &'static str| {
            Err(Error::AlreadyExists { file: disk.path(name).display().to_string(), why })
        };
        if disk.is_of_a_store(name) {
            return refused("it is a file of a store");
        }
        if disk.is_link(name) {
            return refused("it is a symbolic link");
        }
        let mut head = [0; HEAD_BYTES];
        let read = disk.open(name, Access::Read).and_then(|file| file.read_at(0, &mut head));
        match read {
            Err(e) if e.kind() == ErrorKind::NotFound => Ok(()),
            Err(e) if !matches!(e.kind(), ErrorKind::InvalidData | ErrorKind::UnexpectedEof) => {
                Err(self.error(Error::io("replace", name, e)))
            }
            Ok(()) if is_head(&head) => Ok(()),
            _ => refused("it is not a table of document frequencies"),
        }
    }

    /// Returns an error with the path of the file instead of its name on the disk.
    pub(super) fn error(&self, error: Error) -> Error {
        let Some(disk) = &self.named else { return error };
        let number = self.number;
        let names = [FileName::Df(number), FileName::DfNew(number), FileName::DfScratch(number, 0)];
        names.into_iter().fold(error, |e, name| e.renamed(name, disk.path(name).display()))
    }
}
