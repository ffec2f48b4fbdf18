//! The storage backend of redb, on the seam to the disk.

use std::io;
use std::sync::Arc;

use redb::StorageBackend;

use crate::disk::DiskFile;
use crate::sync::{Rank, RankedMutex};

/// A file that redb keeps its database in.
#[derive(Debug)]
pub(super) struct FileBackend {
    file: Closable,
}

impl FileBackend {
    pub(super) fn new(file: Closable) -> FileBackend {
        FileBackend { file }
    }
}

/// An open file that can be closed while redb still holds it: a forked process cannot drop redb.
#[derive(Clone, Debug)]
pub(super) struct Closable(Arc<RankedMutex<Option<Arc<dyn DiskFile>>>>);

impl Closable {
    pub(super) fn new(file: Box<dyn DiskFile>) -> Closable {
        Closable(Arc::new(RankedMutex::new(Rank::Closable, Some(Arc::from(file)))))
    }

    pub(super) fn file(&self) -> io::Result<Arc<dyn DiskFile>> {
        self.0.lock().clone().ok_or_else(|| io::Error::other("it was closed"))
    }

    /// Closes it without waiting for anybody; not if another thread used it when the process was
    /// forked, since that never ends.
    pub(super) fn close(&self) {
        if let Some(mut file) = self.0.try_lock() {
            *file = None;
        }
    }
}

impl StorageBackend for FileBackend {
    fn len(&self) -> io::Result<u64> {
        self.file.file()?.size()
    }

    fn read(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        self.file.file()?.read_at(offset, out)
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        self.file.file()?.set_len(len)
    }

    fn sync_data(&self) -> io::Result<()> {
        self.file.file()?.sync()
    }

    fn write(&self, offset: u64, data: &[u8]) -> io::Result<()> {
        self.file.file()?.write_at(offset, data)
    }
}
