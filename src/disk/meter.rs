//! What a store costs its disk.

use std::ffi::OsString;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use super::{Access, Dir, Disk, DiskFile, Linkable, Lock, Locked, Map, Name};

/// A disk that counts what passes through it to another.
///
/// A clone shares the counters. Counting costs one or two atomic additions an operation.
#[derive(Clone, Debug)]
pub struct Meter {
    disk: Arc<dyn Disk>,
    totals: Arc<Totals>,
}

#[derive(Debug, Default)]
struct Totals {
    bytes_written: AtomicU64,
    writes: AtomicU64,
    file_syncs: AtomicU64,
    dir_syncs: AtomicU64,
    bytes_read: AtomicU64,
    maps: AtomicU64,
}

/// What went through a [`Meter`]. Operations that failed are not counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Bytes given to writes.
    pub bytes_written: u64,
    /// Writes.
    pub writes: u64,
    /// Syncs of a file.
    pub file_syncs: u64,
    /// Syncs of a directory.
    pub dir_syncs: u64,
    /// Bytes read by calls. What is read through a map is not seen.
    pub bytes_read: u64,
    /// Files mapped.
    pub maps: u64,
}

impl Counts {
    /// What was added since `earlier`, an older reading of the same meter.
    #[must_use]
    pub fn since(&self, earlier: &Counts) -> Counts {
        Counts {
            bytes_written: self.bytes_written.saturating_sub(earlier.bytes_written),
            writes: self.writes.saturating_sub(earlier.writes),
            file_syncs: self.file_syncs.saturating_sub(earlier.file_syncs),
            dir_syncs: self.dir_syncs.saturating_sub(earlier.dir_syncs),
            bytes_read: self.bytes_read.saturating_sub(earlier.bytes_read),
            maps: self.maps.saturating_sub(earlier.maps),
        }
    }
}

impl Meter {
    /// A meter in front of `disk`, at zero.
    pub fn new(disk: Arc<dyn Disk>) -> Meter {
        Meter { disk, totals: Arc::default() }
    }

    /// What went through so far. While others write, the numbers need not be of one moment.
    pub fn counts(&self) -> Counts {
        let read = |total: &AtomicU64| total.load(Ordering::Relaxed);
        Counts {
            bytes_written: read(&self.totals.bytes_written),
            writes: read(&self.totals.writes),
            file_syncs: read(&self.totals.file_syncs),
            dir_syncs: read(&self.totals.dir_syncs),
            bytes_read: read(&self.totals.bytes_read),
            maps: read(&self.totals.maps),
        }
    }
}

fn add(total: &AtomicU64, n: usize) {
    total.fetch_add(n as u64, Ordering::Relaxed);
}

impl Disk for Meter {
    fn location(&self) -> String {
        self.disk.location()
    }

    fn file_mode(&self) -> Option<u32> {
        self.disk.file_mode()
    }

    fn create_dirs(&self) -> io::Result<()> {
        self.disk.create_dirs()
    }

    fn list(&self, dir: Dir) -> io::Result<Vec<OsString>> {
        self.disk.list(dir)
    }

    fn open(&self, name: Name, access: Access) -> io::Result<Box<dyn DiskFile>> {
        let file = self.disk.open(name, access)?;
        Ok(Box::new(MeteredFile { file, totals: Arc::clone(&self.totals) }))
    }

    fn map(&self, name: Name) -> io::Result<Map> {
        let map = self.disk.map(name)?;
        add(&self.totals.maps, 1);
        Ok(map)
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
        self.disk.sync_dir(dir)?;
        add(&self.totals.dir_syncs, 1);
        Ok(())
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

#[derive(Debug)]
struct MeteredFile {
    file: Box<dyn DiskFile>,
    totals: Arc<Totals>,
}

impl DiskFile for MeteredFile {
    fn size(&self) -> io::Result<u64> {
        self.file.size()
    }

    fn read_at(&self, offset: u64, buf: &mut [u8]) -> io::Result<()> {
        self.file.read_at(offset, buf)?;
        add(&self.totals.bytes_read, buf.len());
        Ok(())
    }

    fn write_at(&self, offset: u64, data: &[u8]) -> io::Result<()> {
        self.file.write_at(offset, data)?;
        add(&self.totals.bytes_written, data.len());
        add(&self.totals.writes, 1);
        Ok(())
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        self.file.set_len(len)
    }

    fn sync(&self) -> io::Result<()> {
        self.file.sync()?;
        add(&self.totals.file_syncs, 1);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::disk::SimDisk;

    #[test]
    fn a_meter_counts_what_succeeded_and_its_clones_count_together() {
        let disk = SimDisk::new();
        let meter = Meter::new(Arc::new(disk.clone()));
        let file = meter.open(Name::Catalog, Access::Create).unwrap();
        file.write_at(0, b"abcd").unwrap();
        let before = meter.counts();
        file.write_at(4, b"ef").unwrap();
        file.sync().unwrap();
        meter.clone().sync_dir(Dir::Root).unwrap();
        file.read_at(0, &mut [0; 3]).unwrap();
        meter.map(Name::Catalog).unwrap();
        disk.fail_after(1, io::ErrorKind::StorageFull);
        file.write_at(6, b"lost").unwrap_err();
        assert_eq!(before, Counts { bytes_written: 4, writes: 1, ..Counts::default() });
        let added = Counts {
            bytes_written: 2,
            writes: 1,
            file_syncs: 1,
            dir_syncs: 1,
            bytes_read: 3,
            maps: 1,
        };
        assert_eq!(meter.counts().since(&before), added);
    }
}
