//! A disk without maps.

use std::ffi::OsString;
use std::io;
use std::sync::Arc;

use super::{Access, Dir, Disk, DiskFile, Linkable, Lock, Locked, Map, Name};

/// Wraps another disk, and reads whole files into memory instead of mapping them.
///
/// So an I/O error is an error and never a signal, and a truncated file does not kill the process.
/// The price is memory for all segments, which are read when they are opened.
#[derive(Clone, Debug)]
pub(crate) struct PlainDisk {
    disk: Arc<dyn Disk>,
}

impl PlainDisk {
    /// The store of another disk, without maps.
    pub(crate) fn new(disk: Arc<dyn Disk>) -> PlainDisk {
        PlainDisk { disk }
    }
}

impl Disk for PlainDisk {
    fn location(&self) -> String {
        self.disk.location()
    }

    fn file_mode(&self) -> Option<u32> {
        self.disk.file_mode()
    }

    fn create_dirs(&self, dirs: &[Dir]) -> io::Result<()> {
        self.disk.create_dirs(dirs)
    }

    fn list(&self, dir: Dir) -> io::Result<Vec<OsString>> {
        self.disk.list(dir)
    }

    fn open(&self, name: Name, access: Access) -> io::Result<Box<dyn DiskFile>> {
        self.disk.open(name, access)
    }

    fn map(&self, name: Name) -> io::Result<Map> {
        let file = self.disk.open(name, Access::Read)?;
        let len = usize::try_from(file.size()?).map_err(|_| io::ErrorKind::FileTooLarge)?;
        let mut bytes = vec![0; len];
        file.read_at(0, &mut bytes)?;
        Ok(Map::shared(Arc::new(bytes)))
    }

    fn rename(&self, from: Name, to: Name) -> io::Result<()> {
        self.disk.rename(from, to)
    }

    fn remove(&self, name: Name) -> io::Result<()> {
        self.disk.remove(name)
    }

    fn linkable(&self, name: Name) -> io::Result<Linkable> {
        self.disk.linkable(name)
    }

    fn link(&self, file: &Linkable, name: Name) -> io::Result<()> {
        self.disk.link(file, name)
    }

    fn sync_dir(&self, dir: Dir) -> io::Result<()> {
        self.disk.sync_dir(dir)
    }

    fn lock(&self, name: Name, kind: Lock) -> io::Result<Locked> {
        self.disk.lock(name, kind)
    }

    fn free_bytes(&self) -> io::Result<Option<u64>> {
        self.disk.free_bytes()
    }

    fn clock(&self) -> i64 {
        self.disk.clock()
    }

    fn random(&self) -> u64 {
        self.disk.random()
    }
}
