//! The paths of a disk's files in the file system, and the permissions of new files. The disk opens
//! files by these paths; a lock uses the path of its file to check that the file still has its
//! name.

use std::ffi::OsString;
use std::path::PathBuf;

use super::regular::mode_of;
use super::{Dir, FileName};

/// The paths of a directory's files.
#[derive(Clone, Debug)]
pub(super) struct DiskPaths {
    pub(super) root: PathBuf,
    /// The file name of a table of document frequencies that has a name of its own.
    pub(super) table: Option<OsString>,
    /// The permissions of new files, if no existing file determines them.
    pub(super) mode: u32,
}

impl DiskPaths {
    /// The permissions of the next new file, copied from an existing file.
    pub(super) fn file_mode(&self) -> u32 {
        let like = if self.table.is_some() { FileName::Df(0) } else { FileName::Catalog };
        mode_of(&self.of(like)).unwrap_or(self.mode)
    }

    pub(super) fn dir(&self, dir: Dir) -> PathBuf {
        match dir.name() {
            None => self.root.clone(),
            Some(name) => self.root.join(name),
        }
    }

    /// The path of a file.
    pub(super) fn of(&self, name: FileName) -> PathBuf {
        let end = match name {
            FileName::Df(_) => String::new(),
            FileName::DfNew(number) => format!(".{number:016x}.new"),
            FileName::DfScratch(number, part) => format!(".{number:016x}.{part:02}.tmp"),
            _ => return self.dir(name.dir()).join(name.file_name()),
        };
        match &self.table {
            None => self.root.join(name.file_name()),
            Some(table) => {
                let mut file = table.clone();
                file.push(end);
                self.root.join(file)
            }
        }
    }
}
