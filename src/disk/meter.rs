//! A disk that counts its traffic.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use super::{Disk, FileName, WatchedDisk, Watcher};

/// A disk that counts the traffic to the disk that it wraps.
///
/// A clone shares the counters. Counting costs one or two atomic additions per operation.
pub type Meter = WatchedDisk<MeterCounters>;

/// The counters of a [`Meter`].
#[derive(Debug, Default)]
pub struct MeterCounters {
    bytes_written: AtomicU64,
    writes: AtomicU64,
    file_syncs: AtomicU64,
    dir_syncs: AtomicU64,
    bytes_read: AtomicU64,
    maps: AtomicU64,
}

/// The traffic of a [`Meter`]. Failed operations are not counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DiskTraffic {
    /// The number of bytes passed to writes.
    pub bytes_written: u64,
    /// The number of writes.
    pub writes: u64,
    /// The number of syncs of a file.
    pub file_syncs: u64,
    /// The number of syncs of a directory.
    pub dir_syncs: u64,
    /// The number of bytes read by calls. Reads through a map are not counted.
    pub bytes_read: u64,
    /// The number of files mapped.
    pub maps: u64,
}

impl DiskTraffic {
    /// The traffic since `earlier`, an older reading of the same meter.
    #[must_use]
    pub fn since(&self, earlier: &DiskTraffic) -> DiskTraffic {
        DiskTraffic {
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
    /// Creates a meter in front of `disk`, with all counters at zero.
    pub fn counting(disk: Arc<dyn Disk>) -> Meter {
        WatchedDisk::new(disk, Arc::default())
    }

    /// The traffic so far. With concurrent writers, the numbers may belong to different moments.
    pub fn counts(&self) -> DiskTraffic {
        let read = |total: &AtomicU64| total.load(Ordering::Relaxed);
        let totals = &self.watcher;
        DiskTraffic {
            bytes_written: read(&totals.bytes_written),
            writes: read(&totals.writes),
            file_syncs: read(&totals.file_syncs),
            dir_syncs: read(&totals.dir_syncs),
            bytes_read: read(&totals.bytes_read),
            maps: read(&totals.maps),
        }
    }
}

fn add(total: &AtomicU64, n: usize) {
    total.fetch_add(n as u64, Ordering::Relaxed);
}

impl Watcher for MeterCounters {
    fn wrote(&self, _name: FileName, bytes: usize) {
        add(&self.bytes_written, bytes);
        add(&self.writes, 1);
    }

    fn synced(&self, _name: FileName) {
        add(&self.file_syncs, 1);
    }

    fn synced_dir(&self) {
        add(&self.dir_syncs, 1);
    }

    fn read(&self, bytes: usize) {
        add(&self.bytes_read, bytes);
    }

    fn mapped(&self) {
        add(&self.maps, 1);
    }
}

#[cfg(test)]
mod tests {
    use std::io;

    use super::*;
    use crate::disk::{Access, Dir, SimDisk};

    #[test]
    fn meter_counts_successes_and_is_shared_by_clones() {
        let disk = SimDisk::new();
        let meter = Meter::counting(Arc::new(disk.clone()));
        let file = meter.open(FileName::Catalog, Access::Create).unwrap();
        file.write_at(0, b"abcd").unwrap();
        let before = meter.counts();
        file.write_at(4, b"ef").unwrap();
        file.sync().unwrap();
        meter.clone().sync_dir(Dir::Root).unwrap();
        file.read_at(0, &mut [0; 3]).unwrap();
        meter.map(FileName::Catalog).unwrap();
        disk.fail_after(1, io::ErrorKind::StorageFull);
        file.write_at(6, b"lost").unwrap_err();
        assert_eq!(before, DiskTraffic { bytes_written: 4, writes: 1, ..DiskTraffic::default() });
        let added = DiskTraffic {
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
