//! Where a table is.

use std::hash::{BuildHasher, RandomState};
use std::io::ErrorKind;
use std::path::Path;
use std::sync::Arc;

use super::frame::{HEAD_BYTES, is_head};
use crate::disk::{Access, Disk, Name, NewFile, RealDisk};
use crate::error::{Error, Result};

/// A place for a table: a file with a name of its own, or a number on a disk.
pub(super) struct Place {
    pub(super) disk: Arc<dyn Disk>,
    pub(super) number: u64,
    /// What knows the names, where they are not the numbers.
    named: Option<RealDisk>,
}

impl Place {
    /// The place of a number.
    #[cfg(test)]
    pub(super) fn numbered(disk: Arc<dyn Disk>, number: u64) -> Place {
        Place { disk, number, named: None }
    }

    /// A file.
    pub(super) fn file(path: &Path) -> Result<Place> {
        let disk = RealDisk::of_table(path).map_err(|e| Error::io("use", path.display(), e))?;
        // Drawn by lot, so that what is made on the way to the file is nobody else's: not a file that
        // stands there, and not that of another who makes the same table at the same time.
        let number = RandomState::new().hash_one(path);
        Ok(Place { disk: Arc::new(disk.clone()), number, named: Some(disk) })
    }

    /// Begins a table, which must be possible to end: what is not to be replaced would be in the way.
    pub(super) fn begin(&self) -> Result<NewFile> {
        self.check()?;
        NewFile::create(Arc::clone(&self.disk), Name::DfNew(self.number))
            .map_err(|e| self.error(e.into()))
    }

    /// Whether a table may take this place: where there is none, it is another table, and no file of
    /// a store.
    ///
    /// # Errors
    ///
    /// [`Error::InTheWay`] where it is something else.
    pub(super) fn check(&self) -> Result<()> {
        let Some(disk) = &self.named else { return Ok(()) };
        let name = Name::Df(self.number);
        let refused = |why: &'static str| {
            Err(Error::InTheWay { file: disk.path(name).display().to_string(), why })
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
            _ => refused("it is no table of document frequencies"),
        }
    }

    /// An error that names the file as its user does.
    pub(super) fn error(&self, error: Error) -> Error {
        let Some(disk) = &self.named else { return error };
        let number = self.number;
        let names = [Name::Df(number), Name::DfNew(number), Name::DfScratch(number, 0)];
        names.into_iter().fold(error, |e, name| e.renamed(name, disk.path(name).display()))
    }
}
