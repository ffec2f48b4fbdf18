//! Memory and scratch files for a computation.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use super::{FixedSizeItem, Sorter, Spool};
use crate::disk::{Disk, FileName, ScratchFile, UnnamedDisk};
use crate::error::{Error, Result};

/// The memory limit of a computation, and the directory of its scratch files.
#[derive(Clone, Debug)]
pub(crate) struct Workspace {
    disk: Arc<dyn Disk>,
    memory_bytes: usize,
    files: Arc<AtomicU32>,
}

/// The segment number in the names of all scratch files.
const NUMBER: u64 = 0;

impl Workspace {
    /// Creates a workspace whose scratch files have no names, in `dir` or in the system's temporary
    /// directory.
    pub(crate) fn new(dir: Option<PathBuf>, memory_bytes: usize) -> Workspace {
        let dir = dir.unwrap_or_else(std::env::temp_dir);
        let disk: Arc<dyn Disk> = Arc::new(UnnamedDisk::new(dir));
        Workspace { disk, memory_bytes, files: Arc::default() }
    }

    /// Returns the bytes in one of `of` equal parts of the memory.
    pub(crate) fn part(&self, of: usize) -> usize {
        self.memory_bytes / of
    }

    /// Returns a new file name.
    fn name(&self) -> FileName {
        // Clones share the counter, so names differ. No other data depends on the counter, so
        // `Relaxed` is enough.
        FileName::Scratch(NUMBER, self.files.fetch_add(1, Ordering::Relaxed))
    }

    /// Creates a sorter in one of `of` equal parts of the memory.
    pub(crate) fn sorter<T: FixedSizeItem>(&self, of: usize) -> Sorter<T> {
        Sorter::new(&self.disk, self.name(), self.part(of))
    }

    /// Creates a spool in one of `of` equal parts of the memory.
    pub(crate) fn spool<T: FixedSizeItem>(&self, of: usize) -> Spool<T> {
        Spool::new(&self.disk, self.name(), self.part(of))
    }

    /// Creates a scratch file, and returns it with its name.
    pub(crate) fn file(&self) -> Result<(FileName, ScratchFile)> {
        let name = self.name();
        Ok((name, ScratchFile::create(Arc::clone(&self.disk), name)?))
    }

    /// Adds the directory to an error about a scratch file.
    pub(crate) fn named(&self, error: Error) -> Error {
        // The names exist only in this process. An error names the directory instead.
        let files = self.files.load(Ordering::Relaxed);
        let names = (0..files).map(|file| FileName::Scratch(NUMBER, file));
        names.fold(error, |e, name| {
            e.renamed(name, format_args!("a scratch file in {}", self.disk.location()))
        })
    }
}
