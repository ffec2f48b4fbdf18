//! A disk that reports its traffic to a watcher.

use std::fmt::Debug;
use std::io;
use std::sync::Arc;

use super::{Access, Dir, Disk, DiskFile, DiskLayer, FileMap, FileName};

/// Receives the traffic of a disk. Failed operations are not reported.
pub trait Watcher: Debug + Send + Sync + 'static {
    /// Called after a write of `bytes` bytes to a file.
    fn wrote(&self, name: FileName, bytes: usize);

    /// Called after a sync of a file.
    fn synced(&self, name: FileName);

    /// Called after a sync of a directory.
    fn synced_dir(&self);

    /// Called after a read by a call. Reads through a map are not reported.
    fn read(&self, _bytes: usize) {}

    /// Called after a file was mapped.
    fn mapped(&self) {}
}

/// A disk that reports the traffic to the disk that it wraps. A clone has the same watcher.
#[derive(Debug)]
pub struct WatchedDisk<W> {
    disk: Arc<dyn Disk>,
    pub(super) watcher: Arc<W>,
}

impl<W: Watcher> WatchedDisk<W> {
    /// Wraps `disk`.
    pub fn new(disk: Arc<dyn Disk>, watcher: Arc<W>) -> WatchedDisk<W> {
        WatchedDisk { disk, watcher }
    }
}

impl<W> Clone for WatchedDisk<W> {
    fn clone(&self) -> WatchedDisk<W> {
        WatchedDisk { disk: Arc::clone(&self.disk), watcher: Arc::clone(&self.watcher) }
    }
}

impl<W: Watcher> DiskLayer for WatchedDisk<W> {
    fn inner(&self) -> &dyn Disk {
        &*self.disk
    }

    fn open(&self, name: FileName, access: Access) -> io::Result<Box<dyn DiskFile>> {
        let file = self.disk.open(name, access)?;
        Ok(Box::new(WatchedFile { file, name, watcher: Arc::clone(&self.watcher) }))
    }

    fn map(&self, name: FileName) -> io::Result<FileMap> {
        let map = self.disk.map(name)?;
        self.watcher.mapped();
        Ok(map)
    }

    fn sync_dir(&self, dir: Dir) -> io::Result<()> {
        self.disk.sync_dir(dir)?;
        self.watcher.synced_dir();
        Ok(())
    }
}

#[derive(Debug)]
struct WatchedFile<W> {
    file: Box<dyn DiskFile>,
    name: FileName,
    watcher: Arc<W>,
}

impl<W: Watcher> DiskFile for WatchedFile<W> {
    fn size(&self) -> io::Result<u64> {
        self.file.size()
    }

    fn read_at(&self, offset: u64, buf: &mut [u8]) -> io::Result<()> {
        self.file.read_at(offset, buf)?;
        self.watcher.read(buf.len());
        Ok(())
    }

    fn write_at(&self, offset: u64, data: &[u8]) -> io::Result<()> {
        self.file.write_at(offset, data)?;
        self.watcher.wrote(self.name, data.len());
        Ok(())
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        self.file.set_len(len)
    }

    fn sync(&self) -> io::Result<()> {
        self.file.sync()?;
        self.watcher.synced(self.name);
        Ok(())
    }
}
