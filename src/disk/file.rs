//! Files that can be finished only once, enforced by type, and scratch files.

use std::ops::Deref;
use std::sync::Arc;
use std::{fmt, io};

use super::extents::{ExtentWriter, TemporaryFile};
use super::{Disk, FileMap, FileName};

type Result<T, E = DiskError> = std::result::Result<T, E>;

/// A file being written under a temporary name.
///
/// Only [`NewFile::finish`] gives the file its final name, after all its contents are durable. So a
/// file under its final name is complete. Dropping a `NewFile` removes the temporary file.
#[derive(Debug)]
pub struct NewFile {
    extents: ExtentWriter,
}

impl NewFile {
    /// Creates a file under `temporary`, a name in the directory of its final name. Removes an
    /// existing file named `temporary`.
    ///
    /// # Errors
    ///
    /// A [`DiskError`] if the file cannot be created.
    pub fn create(disk: Arc<dyn Disk>, temporary: FileName) -> Result<NewFile> {
        let mut extents = ExtentWriter::create(disk, temporary)?;
        extents.unsynced = Some(0);
        Ok(NewFile { extents })
    }

    /// Appends `data`. Copies it into a buffer; writes once for every 2 MiB.
    ///
    /// # Errors
    ///
    /// A [`DiskError`] if a write fails.
    pub fn append(&mut self, data: &[u8]) -> Result<()> {
        self.extents.append(data)
    }

    /// Reserves `len` bytes at the end, to be filled by [`NewFile::write_at`], and returns their
    /// offset. Writes nothing.
    ///
    /// # Errors
    ///
    /// A [`DiskError`] if no file can have the resulting length.
    pub fn reserve(&mut self, len: u64) -> Result<u64> {
        self.extents.reserve(len)
    }

    /// Writes `data` at `offset`, within reserved bytes that were not written yet. Costs as much as
    /// [`NewFile::append`], and a buffer of 2 MiB for every extent that is incomplete. Reserved
    /// bytes that are never written are zero.
    ///
    /// # Errors
    ///
    /// A [`DiskError`] if a write fails, or if the range ends after the reserved bytes.
    pub fn write_at(&mut self, offset: u64, data: &[u8]) -> Result<()> {
        self.extents.write_at(offset, data)
    }

    /// Fills `buf` from `offset`, from the buffers or the file. Reserved bytes that were not
    /// written yet may be missing.
    ///
    /// # Errors
    ///
    /// A [`DiskError`] if the read fails or the file ends before `buf` is full.
    pub fn read_at(&self, offset: u64, buf: &mut [u8]) -> Result<()> {
        self.extents.read_at(offset, buf)
    }

    /// The offset of the next [`NewFile::append`]: the length so far.
    pub fn position(&self) -> u64 {
        self.extents.len
    }

    /// Makes the file durable, renames it to `name`, makes the rename durable, and returns the
    /// length. Takes a write for each buffer, a sync of the file, and a sync of the directory.
    /// Large files are also synced every 64 MiB while they are written.
    ///
    /// # Errors
    ///
    /// A [`DiskError`] if any step fails. The temporary file is removed in this case. If only the
    /// last step failed, the file has its final name, and may or may not survive a crash.
    pub fn finish(mut self, name: FileName) -> Result<u64> {
        self.extents.flush()?;
        let ExtentWriter { file, mut temporary, len, .. } = self.extents;
        file.sync().map_err(DiskError::of("sync", temporary.name))?;
        temporary
            .disk
            .rename(temporary.name, name)
            .map_err(DiskError::of("rename", temporary.name))?;
        temporary.renamed = true;
        temporary
            .disk
            .sync_dir(name.dir())
            .map_err(DiskError::of("sync the directory of", name))?;
        Ok(len)
    }
}

/// A temporary file that is written sequentially once, and then read as a map. The file is never
/// synced, and is removed when this value or its map is dropped.
#[derive(Debug)]
pub struct ScratchFile {
    extents: ExtentWriter,
}

impl ScratchFile {
    /// Creates a scratch file. Removes an existing file with this name.
    ///
    /// # Errors
    ///
    /// A [`DiskError`] if the file cannot be created.
    pub fn create(disk: Arc<dyn Disk>, name: FileName) -> Result<ScratchFile> {
        Ok(ScratchFile { extents: ExtentWriter::create(disk, name)? })
    }

    /// Appends `data`. Costs as much as [`NewFile::append`].
    ///
    /// # Errors
    ///
    /// A [`DiskError`] if a write fails.
    pub fn append(&mut self, data: &[u8]) -> Result<()> {
        self.extents.append(data)
    }

    /// The offset of the next [`ScratchFile::append`]: the length so far.
    pub fn position(&self) -> u64 {
        self.extents.len
    }

    /// Ends writing and maps the file. Writes at most once.
    ///
    /// # Errors
    ///
    /// A [`DiskError`] if the last write or the map fails; the file is removed.
    pub fn into_map(mut self) -> Result<ScratchMap> {
        self.extents.flush()?;
        let temporary = self.extents.temporary;
        let mapped = temporary.disk.map(temporary.name);
        let map = mapped.map_err(DiskError::of("map", temporary.name))?;
        map.ask_for_huge_pages(0..map.len());
        Ok(ScratchMap { map, _temporary: temporary })
    }
}

/// The bytes of a [`ScratchFile`] file. The file is removed when this value is dropped.
#[derive(Debug)]
pub struct ScratchMap {
    map: FileMap,
    _temporary: TemporaryFile,
}

impl Deref for ScratchMap {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.map
    }
}

/// A failed call to the operating system.
#[derive(Debug)]
pub struct DiskError {
    /// The action that failed.
    pub(crate) action: &'static str,
    /// The file on which the action failed.
    pub(crate) name: FileName,
    /// The error of the system.
    pub(crate) source: io::Error,
}

impl DiskError {
    /// Adds the action and the name to an error of the system.
    pub(super) fn of(action: &'static str, name: FileName) -> impl Fn(io::Error) -> DiskError {
        move |source| DiskError { action, name, source }
    }
}

impl fmt::Display for DiskError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "cannot {} {}: {}", self.action, self.name, self.source)
    }
}

impl std::error::Error for DiskError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&self.source)
    }
}

#[cfg(test)]
mod tests {
    use std::io;

    use super::super::extents::EXTENT_BYTES;
    use super::*;
    use crate::disk::{RealDisk, SimDisk};

    fn real() -> (tempfile::TempDir, Arc<dyn Disk>) {
        let dir = tempfile::tempdir().unwrap();
        let disk = RealDisk::new(dir.path());
        disk.create_dirs(crate::disk::Dir::STORE).unwrap();
        (dir, Arc::new(disk))
    }

    fn read(disk: &dyn Disk, name: FileName) -> Vec<u8> {
        disk.map(name).unwrap().to_vec()
    }

    #[test]
    fn appends_and_reserved_ranges_are_ordered_on_both_disks() {
        let (_dir, on_disk) = real();
        for disk in [on_disk, Arc::new(SimDisk::new())] {
            let mut file = NewFile::create(Arc::clone(&disk), FileName::SegmentNew(1)).unwrap();
            file.append(b"head").unwrap();
            let hole = file.reserve(6).unwrap();
            assert_eq!((hole, file.position()), (4, 10));
            file.append(b"tail").unwrap();
            file.write_at(hole + 2, b"xy").unwrap();
            let mut buf = [0; 12];
            file.read_at(1, &mut buf).unwrap();
            assert_eq!(&buf, b"ead\0\0xy\0\0tai");
            file.read_at(2, &mut [0; 13]).unwrap_err();
            file.read_at(u64::MAX, &mut [0; 1]).unwrap_err();
            file.write_at(13, b"ab").unwrap_err();
            file.write_at(u64::MAX, b"ab").unwrap_err();
            let large = vec![7; EXTENT_BYTES + 5];
            file.append(&large).unwrap();
            file.append(b"end").unwrap();
            let len = file.finish(FileName::Segment(1)).unwrap();
            let mut expected = b"head\0\0xy\0\0tail".to_vec();
            expected.extend(large);
            expected.extend(b"end");
            assert_eq!(len, expected.len() as u64);
            assert!(read(&*disk, FileName::Segment(1)) == expected);
            assert_eq!(disk.list(crate::disk::Dir::Segments).unwrap(), ["0000000001.seg"]);
        }
    }

    #[test]
    fn small_appends_are_written_together() {
        let disk = SimDisk::new();
        let meter = crate::disk::Meter::counting(Arc::new(disk));
        let mut file = NewFile::create(Arc::new(meter.clone()), FileName::SegmentNew(1)).unwrap();
        for _ in 0..300_000 {
            file.append(b"0123456789").unwrap();
        }
        file.finish(FileName::Segment(1)).unwrap();
        let counts = meter.counts();
        assert_eq!((counts.bytes_written, counts.writes), (3_000_000, 2));
        assert_eq!((counts.file_syncs, counts.dir_syncs), (1, 1));
    }

    #[test]
    fn a_finished_file_survives_every_crash() {
        let disk = SimDisk::new();
        let mut file = NewFile::create(Arc::new(disk.clone()), FileName::SegmentNew(1)).unwrap();
        file.append(b"whole").unwrap();
        file.finish(FileName::Segment(1)).unwrap();
        assert_eq!(
            disk.crash_synced_only().contents(),
            [(FileName::Segment(1), b"whole".to_vec())]
        );
    }

    #[test]
    fn a_file_dropped_unfinished_is_removed() {
        let disk = SimDisk::new();
        let mut file = NewFile::create(Arc::new(disk.clone()), FileName::SegmentNew(1)).unwrap();
        file.append(&[1; 2 * EXTENT_BYTES]).unwrap();
        assert_eq!(disk.contents().len(), 1);
        drop(file);
        assert_eq!(disk.contents(), []);
    }

    #[test]
    fn failed_finish_removes_and_names_the_file() {
        // Fails the write, the sync and the rename, one after the other.
        for n in 1..=3 {
            let disk = SimDisk::new();
            let mut file =
                NewFile::create(Arc::new(disk.clone()), FileName::SegmentNew(1)).unwrap();
            file.append(b"data").unwrap();
            disk.fail_after(n, io::ErrorKind::StorageFull);
            let error = file.finish(FileName::Segment(1)).unwrap_err();
            assert!(error.to_string().contains("segments/0000000001.seg.new"), "{error}");
            assert_eq!(disk.contents(), []);
        }
    }

    #[test]
    fn file_is_not_finished_after_a_failed_write_or_sync() {
        // Fails a write of an extent, and then the sync after some extents.
        for (n, extents) in [(1, 1), (33, 32)] {
            let disk = SimDisk::new();
            let mut file =
                NewFile::create(Arc::new(disk.clone()), FileName::SegmentNew(1)).unwrap();
            disk.fail_after(n, io::ErrorKind::StorageFull);
            file.append(&vec![7; extents * EXTENT_BYTES]).unwrap_err();
            file.append(b"after").unwrap();
            file.append(&[7; EXTENT_BYTES]).unwrap_err();
            file.finish(FileName::Segment(1)).unwrap_err();
            assert_eq!(disk.contents(), []);
        }
    }

    #[test]
    fn unfilled_reserved_range_is_zero() {
        let disk: Arc<dyn Disk> = Arc::new(SimDisk::new());
        let mut file = NewFile::create(Arc::clone(&disk), FileName::SegmentNew(1)).unwrap();
        let hole = file.reserve(3 * EXTENT_BYTES as u64).unwrap();
        file.write_at(hole + EXTENT_BYTES as u64 + 1, b"x").unwrap();
        file.append(&[0; EXTENT_BYTES]).unwrap();
        file.reserve(5).unwrap();
        file.finish(FileName::Segment(1)).unwrap();
        let mut expected = vec![0; 4 * EXTENT_BYTES + 5];
        expected[EXTENT_BYTES + 1] = b'x';
        assert!(read(&*disk, FileName::Segment(1)) == expected);
    }

    #[test]
    fn scratch_is_mapped_unsynced_and_removed_with_its_map() {
        let (_dir, on_disk) = real();
        for disk in [on_disk, Arc::new(SimDisk::new())] {
            let meter = crate::disk::Meter::counting(disk);
            let files = || meter.list(crate::disk::Dir::Segments).unwrap().len();
            let mut scratch =
                ScratchFile::create(Arc::new(meter.clone()), FileName::Scratch(1, 0)).unwrap();
            scratch.append(b"abc").unwrap();
            assert_eq!(scratch.position(), 3);
            let map = scratch.into_map().unwrap();
            assert_eq!((&*map, files()), (&b"abc"[..], 1));
            drop(map);
            assert_eq!(files(), 0);
            let unused =
                ScratchFile::create(Arc::new(meter.clone()), FileName::Scratch(1, 1)).unwrap();
            drop(unused);
            assert_eq!((files(), meter.counts().file_syncs), (0, 0));
            let empty =
                ScratchFile::create(Arc::new(meter.clone()), FileName::Scratch(1, 1)).unwrap();
            assert!(empty.into_map().unwrap().is_empty());
        }
    }
}
