//! Files that are finished once, by type, and scratch files that never are.

use std::io;
use std::ops::Deref;
use std::sync::Arc;

use super::{Access, Disk, DiskFile, Map, Name};
use crate::{Error, Result};

/// Appended bytes are gathered up to this many before they are written.
const BUFFER_BYTES: usize = 1 << 20;

/// A file that is being made under a temporary name.
///
/// [`NewFile::finish`] is the only way to give it its own name, and it does so once everything in
/// the file is durable, so a file under its own name is a whole one. Dropping it unfinished removes
/// it.
#[derive(Debug)]
pub struct NewFile {
    appender: Appender,
}

impl NewFile {
    /// Begins a file under `temporary`, a name in the directory where it will stay. What had that
    /// name is emptied.
    ///
    /// # Errors
    ///
    /// [`Error::Io`] if the file cannot be created.
    pub fn create(disk: Arc<dyn Disk>, temporary: Name) -> Result<NewFile> {
        Ok(NewFile { appender: Appender::create(disk, temporary)? })
    }

    /// Adds `data` at the end. Copies it into a buffer of 1 MiB; one write when that is full, or
    /// when `data` is as large.
    ///
    /// # Errors
    ///
    /// [`Error::Io`] if a write fails.
    pub fn append(&mut self, data: &[u8]) -> Result<()> {
        self.appender.append(data)
    }

    /// Leaves `len` zero bytes at the end to be filled by [`NewFile::write_at`], and says where
    /// they begin. One write if bytes are waiting in the buffer, and one change of length.
    ///
    /// # Errors
    ///
    /// [`Error::Io`] if the file cannot grow.
    pub fn reserve(&mut self, len: u64) -> Result<u64> {
        self.appender.reserve(len)
    }

    /// Writes `data` at `offset`, within what was reserved before. One write; several threads may
    /// fill ranges of one file at once.
    ///
    /// # Errors
    ///
    /// [`Error::Io`] if the write fails, or if the range ends after what has reached the file.
    pub fn write_at(&self, offset: u64, data: &[u8]) -> Result<()> {
        self.appender.write_at(offset, data)
    }

    /// Fills `buf` from `offset`, wherever the bytes are now.
    ///
    /// # Errors
    ///
    /// [`Error::Io`] if the read fails or the file ends before.
    pub fn read_at(&self, offset: u64, buf: &mut [u8]) -> Result<()> {
        self.appender.read_at(offset, buf)
    }

    /// Where the next [`NewFile::append`] goes: the length so far.
    pub fn position(&self) -> u64 {
        self.appender.position()
    }

    /// Makes the file durable, gives it the name `name`, makes that durable too, and returns the
    /// length. One write at most, one sync of the file, one of the directory.
    ///
    /// # Errors
    ///
    /// [`Error::Io`] if any step fails. The temporary file is then removed; if it was the last
    /// step, the file is there under `name` and may or may not survive a crash.
    pub fn finish(mut self, name: Name) -> Result<u64> {
        self.appender.flush()?;
        let Appender { file, mut temporary, written, .. } = self.appender;
        file.sync().map_err(|e| Error::io("sync", temporary.name, e))?;
        temporary
            .disk
            .rename(temporary.name, name)
            .map_err(|e| Error::io("rename", temporary.name, e))?;
        temporary.renamed = true;
        temporary
            .disk
            .sync_dir(name.dir())
            .map_err(|e| Error::io("sync the directory of", name, e))?;
        Ok(written)
    }
}

/// A temporary file that is written once, from front to end, and then read as a map. It is never
/// synced, and removed when it or its map is dropped.
#[derive(Debug)]
pub struct Scratch {
    appender: Appender,
}

impl Scratch {
    /// Begins a scratch file. What had that name is emptied.
    ///
    /// # Errors
    ///
    /// [`Error::Io`] if the file cannot be created.
    pub fn create(disk: Arc<dyn Disk>, name: Name) -> Result<Scratch> {
        Ok(Scratch { appender: Appender::create(disk, name)? })
    }

    /// Adds `data` at the end. Costs what [`NewFile::append`] does.
    ///
    /// # Errors
    ///
    /// [`Error::Io`] if a write fails.
    pub fn append(&mut self, data: &[u8]) -> Result<()> {
        self.appender.append(data)
    }

    /// Where the next [`Scratch::append`] goes: the length so far.
    pub fn position(&self) -> u64 {
        self.appender.position()
    }

    /// Ends the writing and maps what was written. One write at most.
    ///
    /// # Errors
    ///
    /// [`Error::Io`] if the last write or the map fails; the file is removed.
    pub fn into_map(mut self) -> Result<ScratchMap> {
        self.appender.flush()?;
        let temporary = self.appender.temporary;
        let map =
            temporary.disk.map(temporary.name).map_err(|e| Error::io("map", temporary.name, e))?;
        Ok(ScratchMap { map, _temporary: temporary })
    }
}

/// The bytes of a [`Scratch`] file, which is removed when this is dropped.
#[derive(Debug)]
pub struct ScratchMap {
    map: Map,
    _temporary: Temporary,
}

impl Deref for ScratchMap {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.map
    }
}

/// A file that goes when this does, unless it was renamed.
#[derive(Debug)]
struct Temporary {
    disk: Arc<dyn Disk>,
    name: Name,
    renamed: bool,
}

impl Drop for Temporary {
    fn drop(&mut self) {
        if !self.renamed {
            // There is nobody to tell; what stays behind is removed when the store is next opened.
            let _ = self.disk.remove(self.name);
        }
    }
}

/// A temporary file with a buffer at its end.
#[derive(Debug)]
struct Appender {
    file: Box<dyn DiskFile>,
    temporary: Temporary,
    /// Bytes in the file; those in the buffer come after.
    written: u64,
    /// A failed write leaves it as it was, so that trying again writes the same bytes there.
    buffer: Vec<u8>,
}

impl Appender {
    fn create(disk: Arc<dyn Disk>, name: Name) -> Result<Appender> {
        let file = disk.open(name, Access::Create).map_err(|e| Error::io("create", name, e))?;
        let temporary = Temporary { disk, name, renamed: false };
        Ok(Appender { file, temporary, written: 0, buffer: Vec::new() })
    }

    fn error(&self, action: &'static str, source: impl Into<io::Error>) -> Error {
        Error::io(action, self.temporary.name, source.into())
    }

    fn position(&self) -> u64 {
        self.written + self.buffer.len() as u64
    }

    fn append(&mut self, data: &[u8]) -> Result<()> {
        if self.buffer.len() + data.len() > BUFFER_BYTES {
            self.flush()?;
        }
        if data.len() >= BUFFER_BYTES {
            self.file.write_at(self.written, data).map_err(|e| self.error("write", e))?;
            self.written += data.len() as u64;
        } else {
            self.buffer.extend_from_slice(data);
        }
        Ok(())
    }

    fn flush(&mut self) -> Result<()> {
        if !self.buffer.is_empty() {
            self.file.write_at(self.written, &self.buffer).map_err(|e| self.error("write", e))?;
            self.written += self.buffer.len() as u64;
            self.buffer.clear();
        }
        Ok(())
    }

    fn reserve(&mut self, len: u64) -> Result<u64> {
        self.flush()?;
        let start = self.written;
        let end = start
            .checked_add(len)
            .ok_or_else(|| self.error("extend", io::ErrorKind::FileTooLarge))?;
        self.file.set_len(end).map_err(|e| self.error("extend", e))?;
        self.written = end;
        Ok(start)
    }

    fn write_at(&self, offset: u64, data: &[u8]) -> Result<()> {
        let end = offset.checked_add(data.len() as u64);
        // A write beyond would be overwritten by what the buffer holds for the same place.
        if end.is_none_or(|end| end > self.written) {
            return Err(
                self.error("write outside what was reserved of", io::ErrorKind::InvalidInput)
            );
        }
        self.file.write_at(offset, data).map_err(|e| self.error("write", e))
    }

    fn read_at(&self, offset: u64, buf: &mut [u8]) -> Result<()> {
        let in_file = self.written.saturating_sub(offset);
        let split = usize::try_from(in_file).map_or(buf.len(), |n| n.min(buf.len()));
        let (from_file, from_buffer) = buf.split_at_mut(split);
        if !from_file.is_empty() {
            self.file.read_at(offset, from_file).map_err(|e| self.error("read", e))?;
        }
        if !from_buffer.is_empty() {
            let waiting = usize::try_from(offset.saturating_sub(self.written))
                .ok()
                .and_then(|start| self.buffer.get(start..)?.get(..from_buffer.len()))
                .ok_or_else(|| self.error("read", io::ErrorKind::UnexpectedEof))?;
            from_buffer.copy_from_slice(waiting);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::disk::{RealDisk, SimDisk};

    fn real() -> (tempfile::TempDir, Arc<dyn Disk>) {
        let dir = tempfile::tempdir().unwrap();
        let disk = RealDisk::new(dir.path());
        disk.create_dirs().unwrap();
        (dir, Arc::new(disk))
    }

    fn read(disk: &dyn Disk, name: Name) -> Vec<u8> {
        disk.map(name).unwrap().to_vec()
    }

    #[test]
    fn appends_and_reserved_ranges_end_up_in_order_on_both_disks() {
        let (_dir, on_disk) = real();
        for disk in [on_disk, Arc::new(SimDisk::new())] {
            let mut file = NewFile::create(Arc::clone(&disk), Name::SegmentNew(1)).unwrap();
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
            file.write_at(9, b"ab").unwrap_err();
            file.write_at(u64::MAX, b"ab").unwrap_err();
            let large = vec![7; BUFFER_BYTES + 5];
            file.append(&large).unwrap();
            file.append(b"end").unwrap();
            let len = file.finish(Name::Segment(1)).unwrap();
            let mut expected = b"head\0\0xy\0\0tail".to_vec();
            expected.extend(large);
            expected.extend(b"end");
            assert_eq!(len, expected.len() as u64);
            assert!(read(&*disk, Name::Segment(1)) == expected);
            assert_eq!(disk.list(crate::disk::Dir::Segments).unwrap(), ["0000000001.seg"]);
        }
    }

    #[test]
    fn many_small_appends_are_few_writes() {
        let disk = SimDisk::new();
        let meter = crate::disk::Meter::new(Arc::new(disk));
        let mut file = NewFile::create(Arc::new(meter.clone()), Name::SegmentNew(1)).unwrap();
        for _ in 0..300_000 {
            file.append(b"0123456789").unwrap();
        }
        file.finish(Name::Segment(1)).unwrap();
        let counts = meter.counts();
        assert_eq!((counts.bytes_written, counts.writes), (3_000_000, 3));
        assert_eq!((counts.file_syncs, counts.dir_syncs), (1, 1));
    }

    #[test]
    fn a_finished_file_survives_every_crash() {
        let disk = SimDisk::new();
        let mut file = NewFile::create(Arc::new(disk.clone()), Name::SegmentNew(1)).unwrap();
        file.append(b"whole").unwrap();
        file.finish(Name::Segment(1)).unwrap();
        assert_eq!(disk.crash_synced_only().contents(), [(Name::Segment(1), b"whole".to_vec())]);
    }

    #[test]
    fn a_file_dropped_unfinished_is_removed() {
        let disk = SimDisk::new();
        let mut file = NewFile::create(Arc::new(disk.clone()), Name::SegmentNew(1)).unwrap();
        file.append(&[1; 2 * BUFFER_BYTES]).unwrap();
        assert_eq!(disk.contents().len(), 1);
        drop(file);
        assert_eq!(disk.contents(), []);
    }

    #[test]
    fn a_file_that_cannot_be_finished_is_removed_and_names_the_file() {
        // The write, the sync and the rename, one after the other.
        for n in 1..=3 {
            let disk = SimDisk::new();
            let mut file = NewFile::create(Arc::new(disk.clone()), Name::SegmentNew(1)).unwrap();
            file.append(b"data").unwrap();
            disk.fail_after(n, io::ErrorKind::StorageFull);
            let error = file.finish(Name::Segment(1)).unwrap_err();
            assert!(error.to_string().contains("segments/0000000001.seg.new"), "{error}");
            assert_eq!(disk.contents(), []);
        }
    }

    #[test]
    fn a_failed_append_can_be_tried_again() {
        let disk = SimDisk::new();
        let mut file = NewFile::create(Arc::new(disk.clone()), Name::SegmentNew(1)).unwrap();
        file.append(b"before ").unwrap();
        disk.fail_after(1, io::ErrorKind::StorageFull);
        file.reserve(4).unwrap_err();
        assert_eq!(file.reserve(4).unwrap(), 7);
        assert_eq!(file.finish(Name::Segment(1)).unwrap(), 11);
        assert_eq!(read(&disk, Name::Segment(1)), b"before \0\0\0\0");
    }

    #[test]
    fn scratch_is_mapped_without_a_sync_and_goes_with_its_map() {
        let (_dir, on_disk) = real();
        for disk in [on_disk, Arc::new(SimDisk::new())] {
            let meter = crate::disk::Meter::new(disk);
            let files = || meter.list(crate::disk::Dir::Segments).unwrap().len();
            let mut scratch =
                Scratch::create(Arc::new(meter.clone()), Name::Scratch(1, 0)).unwrap();
            scratch.append(b"abc").unwrap();
            assert_eq!(scratch.position(), 3);
            let map = scratch.into_map().unwrap();
            assert_eq!((&*map, files()), (&b"abc"[..], 1));
            drop(map);
            assert_eq!(files(), 0);
            let unused = Scratch::create(Arc::new(meter.clone()), Name::Scratch(1, 1)).unwrap();
            drop(unused);
            assert_eq!((files(), meter.counts().file_syncs), (0, 0));
            let empty = Scratch::create(Arc::new(meter.clone()), Name::Scratch(1, 1)).unwrap();
            assert!(empty.into_map().unwrap().is_empty());
        }
    }
}
