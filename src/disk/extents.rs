//! Buffered writes to a temporary file, in pieces that suit the processor's address translation.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::io;
use std::sync::Arc;

use super::{Access, Disk, DiskError, DiskFile, FileName};
use crate::process::ProcessId;

type Result<T, E = DiskError> = std::result::Result<T, E>;

/// The size of a write: a huge page of most processors.
pub(super) const EXTENT_BYTES: usize = 2 << 20;

/// The number of bytes after which a file that will be durable is synced early. A single sync of a
/// large file would delay small syncs of other files for seconds.
const SYNC_BYTES: u64 = 64 << 20;

/// A file that is removed on drop, unless it was renamed.
#[derive(Debug)]
pub(super) struct TemporaryFile {
    pub(super) disk: Arc<dyn Disk>,
    pub(super) name: FileName,
    pub(super) renamed: bool,
    process: ProcessId,
}

/// Creates a file under a temporary name. Nobody else uses the name: in a store the directory
/// belongs to simkeep, and next to a store the name is random. An existing file with this name is a
/// leftover and is removed.
pub(crate) fn create(disk: &dyn Disk, name: FileName) -> Result<Box<dyn DiskFile>> {
    let created = match disk.open(name, Access::Create) {
        Err(e) if e.kind() == io::ErrorKind::AlreadyExists => {
            disk.remove(name).and_then(|()| disk.open(name, Access::Create))
        }
        created => created,
    };
    created.map_err(DiskError::of("create", name))
}

impl Drop for TemporaryFile {
    fn drop(&mut self) {
        if !self.renamed && self.process.is_current() {
            // An error cannot be reported here; leftovers are removed when the store is next
            // opened.
            let _ = self.disk.remove(self.name);
        }
    }
}

/// A temporary file whose bytes are written in any order, each once, and reach the disk extent by
/// extent.
///
/// An extent is written when it is complete, in one write at a multiple of its length. So a system
/// with huge pages caches the file in huge pages, and a map of the file needs the fewest address
/// translations.
#[derive(Debug)]
pub(super) struct ExtentWriter {
    pub(super) file: Box<dyn DiskFile>,
    pub(super) temporary: TemporaryFile,
    /// The number of bytes appended and reserved.
    pub(super) len: u64,
    /// The current end of the file.
    end: u64,
    /// The incomplete extents, by number.
    open: BTreeMap<u64, BufferedExtent>,
    /// A buffer for the next extent.
    spare: Vec<u8>,
    /// The number of bytes written since the last sync; `None` if the file is not synced.
    pub(super) unsynced: Option<u64>,
    /// Whether a write or a sync failed.
    failed: bool,
}

/// The buffered bytes from the start of an extent.
#[derive(Debug)]
struct BufferedExtent {
    bytes: Vec<u8>,
    /// The number of bytes written; gaps are zero.
    filled: usize,
}

impl ExtentWriter {
    pub(super) fn create(disk: Arc<dyn Disk>, name: FileName) -> Result<ExtentWriter> {
        let file = create(&*disk, name)?;
        let temporary = TemporaryFile { disk, name, renamed: false, process: ProcessId::current() };
        let (open, spare) = (BTreeMap::new(), Vec::new());
        Ok(ExtentWriter {
            file,
            temporary,
            len: 0,
            end: 0,
            open,
            spare,
            unsynced: None,
            failed: false,
        })
    }

    fn error(&self, action: &'static str, source: impl Into<io::Error>) -> DiskError {
        DiskError { action, name: self.temporary.name, source: source.into() }
    }

    pub(super) fn append(&mut self, data: &[u8]) -> Result<()> {
        let start = self.reserve(data.len() as u64)?;
        self.put(start, data)
    }

    pub(super) fn reserve(&mut self, len: u64) -> Result<u64> {
        let start = self.len;
        let end = start.checked_add(len);
        self.len = end.ok_or_else(|| self.error("extend", io::ErrorKind::FileTooLarge))?;
        Ok(start)
    }

    pub(super) fn write_at(&mut self, offset: u64, data: &[u8]) -> Result<()> {
        let end = offset.checked_add(data.len() as u64);
        if end.is_none_or(|end| end > self.len) {
            let outside = "the bytes are outside of the reserved range";
            return Err(self.error("write", io::Error::new(io::ErrorKind::InvalidInput, outside)));
        }
        self.put(offset, data)
    }

    #[expect(clippy::indexing_slicing, reason = "the extent was made as long")]
    fn put(&mut self, mut offset: u64, mut data: &[u8]) -> Result<()> {
        while !data.is_empty() {
            let (number, at) = place(offset);
            let (here, rest) = data.split_at(data.len().min(EXTENT_BYTES - at));
            let mut entry = match self.open.entry(number) {
                Entry::Occupied(entry) => entry,
                Entry::Vacant(entry) => {
                    let bytes = std::mem::take(&mut self.spare);
                    entry.insert_entry(BufferedExtent { bytes, filled: 0 })
                }
            };
            let extent = entry.get_mut();
            let end = at + here.len();
            if end > extent.bytes.capacity() {
                // Do not reserve more than the extent will have.
                let room = (2 * extent.bytes.capacity()).clamp(end, EXTENT_BYTES);
                extent.bytes.reserve_exact(room - extent.bytes.len());
            }
            if at == extent.bytes.len() {
                extent.bytes.extend_from_slice(here);
            } else {
                extent.bytes.resize(extent.bytes.len().max(end), 0);
                extent.bytes[at..end].copy_from_slice(here);
            }
            extent.filled += here.len();
            assert!(extent.filled <= extent.bytes.len(), "each byte of a file is put once");
            if extent.filled == EXTENT_BYTES {
                let extent = entry.remove();
                self.write(number, extent)?;
            }
            offset += here.len() as u64;
            data = rest;
        }
        Ok(())
    }

    fn write(&mut self, number: u64, mut extent: BufferedExtent) -> Result<()> {
        if self.failed {
            return Err(self.error("write", after_failure()));
        }
        // If a step below fails, the file stays marked as incomplete.
        self.failed = true;
        let offset = number * EXTENT_BYTES as u64;
        self.file.write_at(offset, &extent.bytes).map_err(|e| self.error("write", e))?;
        self.end = self.end.max(offset + extent.bytes.len() as u64);
        if let Some(unsynced) = &mut self.unsynced {
            *unsynced += extent.bytes.len() as u64;
            if *unsynced >= SYNC_BYTES {
                *unsynced = 0;
                self.file.sync().map_err(|e| self.error("sync", e))?;
            }
        }
        self.failed = false;
        extent.bytes.clear();
        self.spare = extent.bytes;
        Ok(())
    }

    /// Writes the incomplete extents.
    pub(super) fn flush(&mut self) -> Result<()> {
        while let Some((number, extent)) = self.open.pop_first() {
            self.write(number, extent)?;
        }
        if self.failed {
            return Err(self.error("finish", after_failure()));
        }
        if self.end < self.len {
            // Extends the file by reserved bytes that were never written.
            self.file.set_len(self.len).map_err(|e| self.error("extend", e))?;
        }
        Ok(())
    }

    pub(super) fn read_at(&self, mut offset: u64, mut buf: &mut [u8]) -> Result<()> {
        if offset.checked_add(buf.len() as u64).is_none_or(|end| end > self.len) {
            return Err(self.error("read", io::ErrorKind::UnexpectedEof));
        }
        while !buf.is_empty() {
            let (number, at) = place(offset);
            let split = buf.len().min(EXTENT_BYTES - at);
            let (here, rest) = buf.split_at_mut(split);
            match self.open.get(&number) {
                None => self.file.read_at(offset, here).map_err(|e| self.error("read", e))?,
                Some(extent) => {
                    // Bytes that were not written yet are zero.
                    let bytes = extent.bytes.get(at..).unwrap_or(&[]);
                    let (bytes, _) = bytes.split_at(bytes.len().min(split));
                    let (there, missing) = here.split_at_mut(bytes.len());
                    there.copy_from_slice(bytes);
                    missing.fill(0);
                }
            }
            offset += split as u64;
            buf = rest;
        }
        Ok(())
    }
}

/// The error of a file after a failed write: nobody knows which bytes the file has.
fn after_failure() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, "an earlier write to this file failed")
}

/// The number of the extent that contains a byte, and the byte's offset in the extent.
#[expect(clippy::cast_possible_truncation, reason = "less than an extent")]
fn place(offset: u64) -> (u64, usize) {
    let extent = EXTENT_BYTES as u64;
    (offset / extent, (offset % extent) as usize)
}
