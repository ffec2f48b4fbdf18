//! redb over the seam to the disk.

use std::io;

use redb::StorageBackend;

use crate::disk::DiskFile;

/// A file that redb keeps its database in.
#[derive(Debug)]
pub(super) struct FileBackend {
    file: Box<dyn DiskFile>,
}

impl FileBackend {
    pub(super) fn new(file: Box<dyn DiskFile>) -> Self {
        FileBackend { file }
    }
}

impl StorageBackend for FileBackend {
    fn len(&self) -> io::Result<u64> {
        self.file.size()
    }

    fn read(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        self.file.read_at(offset, out)
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        self.file.set_len(len)
    }

    fn sync_data(&self) -> io::Result<()> {
        self.file.sync()
    }

    fn write(&self, offset: u64, data: &[u8]) -> io::Result<()> {
        self.file.write_at(offset, data)
    }
}
