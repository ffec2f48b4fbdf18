//! Disks that wrap another disk, and a disk without maps.

use std::ffi::OsString;
use std::fmt::Debug;
use std::io;
use std::sync::Arc;

use super::{Access, Dir, Disk, DiskFile, FileMap, FileName, LinkSource, LockMode, LockOutcome};

/// A disk that wraps another disk and changes some of its operations.
///
/// Every operation that is not overridden is passed to the [inner](DiskLayer::inner) disk.
/// [`Disk::location`], [`Disk::free_bytes`], [`Disk::clock`] and [`Disk::random`] are always passed
/// to it.
pub trait DiskLayer: Debug + Send + Sync + 'static {
    /// The wrapped disk.
    fn inner(&self) -> &dyn Disk;
    /// See [`Disk::file_mode`].
    fn file_mode(&self) -> Option<u32> {
        self.inner().file_mode()
    }
    /// See [`Disk::create_dirs`].
    fn create_dirs(&self, dirs: &[Dir]) -> io::Result<()> {
        self.inner().create_dirs(dirs)
    }
    /// See [`Disk::list`].
    fn list(&self, dir: Dir) -> io::Result<Vec<OsString>> {
        self.inner().list(dir)
    }
    /// See [`Disk::open`].
    fn open(&self, name: FileName, access: Access) -> io::Result<Box<dyn DiskFile>> {
        self.inner().open(name, access)
    }
    /// See [`Disk::map`].
    fn map(&self, name: FileName) -> io::Result<FileMap> {
        self.inner().map(name)
    }
    /// See [`Disk::rename`].
    fn rename(&self, from: FileName, to: FileName) -> io::Result<()> {
        self.inner().rename(from, to)
    }
    /// See [`Disk::remove`].
    fn remove(&self, name: FileName) -> io::Result<()> {
        self.inner().remove(name)
    }
    /// See [`Disk::linkable`].
    fn linkable(&self, name: FileName) -> io::Result<LinkSource> {
        self.inner().linkable(name)
    }
    /// See [`Disk::link`].
    fn link(&self, file: &LinkSource, name: FileName) -> io::Result<()> {
        self.inner().link(file, name)
    }
    /// See [`Disk::sync_dir`].
    fn sync_dir(&self, dir: Dir) -> io::Result<()> {
        self.inner().sync_dir(dir)
    }
    /// See [`Disk::lock`].
    fn lock(&self, name: FileName, kind: LockMode) -> io::Result<LockOutcome> {
        self.inner().lock(name, kind)
    }
}

impl<L: DiskLayer> Disk for L {
    fn location(&self) -> String {
        self.inner().location()
    }
    fn file_mode(&self) -> Option<u32> {
        DiskLayer::file_mode(self)
    }
    fn create_dirs(&self, dirs: &[Dir]) -> io::Result<()> {
        DiskLayer::create_dirs(self, dirs)
    }
    fn list(&self, dir: Dir) -> io::Result<Vec<OsString>> {
        DiskLayer::list(self, dir)
    }
    fn open(&self, name: FileName, access: Access) -> io::Result<Box<dyn DiskFile>> {
        DiskLayer::open(self, name, access)
    }
    fn map(&self, name: FileName) -> io::Result<FileMap> {
        DiskLayer::map(self, name)
    }
    fn rename(&self, from: FileName, to: FileName) -> io::Result<()> {
        DiskLayer::rename(self, from, to)
    }
    fn remove(&self, name: FileName) -> io::Result<()> {
        DiskLayer::remove(self, name)
    }
    fn linkable(&self, name: FileName) -> io::Result<LinkSource> {
        DiskLayer::linkable(self, name)
    }
    fn link(&self, file: &LinkSource, name: FileName) -> io::Result<()> {
        DiskLayer::link(self, file, name)
    }
    fn sync_dir(&self, dir: Dir) -> io::Result<()> {
        DiskLayer::sync_dir(self, dir)
    }
    fn lock(&self, name: FileName, kind: LockMode) -> io::Result<LockOutcome> {
        DiskLayer::lock(self, name, kind)
    }
    fn free_bytes(&self) -> io::Result<Option<u64>> {
        self.inner().free_bytes()
    }
    fn clock(&self) -> i64 {
        self.inner().clock()
    }
    fn random(&self) -> u64 {
        self.inner().random()
    }
}

/// A disk that reads whole files into memory instead of mapping them.
///
/// An I/O error on this disk is an error and never a signal, and a truncated file does not kill the
/// process. The cost is memory for all segments, which are read when they are opened.
#[derive(Clone, Debug)]
pub(crate) struct PlainDisk {
    disk: Arc<dyn Disk>,
}

impl PlainDisk {
    /// Wraps a disk.
    pub(crate) fn new(disk: Arc<dyn Disk>) -> PlainDisk {
        PlainDisk { disk }
    }
}

impl DiskLayer for PlainDisk {
    fn inner(&self) -> &dyn Disk {
        &*self.disk
    }

    fn map(&self, name: FileName) -> io::Result<FileMap> {
        let file = self.disk.open(name, Access::Read)?;
        let len = usize::try_from(file.size()?).map_err(|_| io::ErrorKind::FileTooLarge)?;
        let mut bytes = vec![0; len];
        file.read_at(0, &mut bytes)?;
        Ok(FileMap::shared(Arc::new(bytes)))
    }
}
