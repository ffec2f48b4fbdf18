//! What can still be read of a catalog whose checksums do not hold.
//!
//! redb vouches for nothing any more, but each frame of the journal has a checksum of its own, and
//! its key is known: it is the next operation. So frames are looked up one after another as far as
//! they are sound. A damaged tree may lead in circles: each lookup may read a few pages, and no more.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use redb::{Database, ReadOnlyTable, ReadTransaction, ReadableDatabase, StorageBackend};

use super::rows::Blob;
use super::{EPOCHS, JOURNALS, guarded};
use crate::disk::{DiskFile, Name, Overlay};
use crate::error::{Error, Result};

/// Pages that one lookup may read: far more than the deepest tree has levels.
const READS: u64 = 256;

/// Epochs that are looked up, at most.
const EPOCHS_MAX: u32 = 1 << 12;

type JournalRows = ReadOnlyTable<(u64, u32), &'static [u8]>;

/// A file of which only so much may be read.
#[derive(Debug)]
struct Bounded {
    file: Overlay,
    reads: Arc<AtomicU64>,
}

impl StorageBackend for Bounded {
    fn len(&self) -> io::Result<u64> {
        self.file.size()
    }

    fn read(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        let left = self.reads.load(Ordering::Relaxed);
        let left = left.checked_sub(1).ok_or(io::ErrorKind::InvalidData)?;
        self.reads.store(left, Ordering::Relaxed);
        self.file.read_at(offset, out)
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        self.file.set_len(len)
    }

    fn sync_data(&self) -> io::Result<()> {
        Ok(())
    }

    fn write(&self, offset: u64, data: &[u8]) -> io::Result<()> {
        self.file.write_at(offset, data)
    }
}

/// A damaged catalog, as far as redb opens it.
pub(crate) struct Salvage {
    /// None while it is dropped.
    database: Option<Database>,
    reads: Arc<AtomicU64>,
}

impl Drop for Salvage {
    fn drop(&mut self) {
        // redb writes when it closes, and panics where it meets damage then.
        let database = self.database.take();
        let _ = guarded(|| {
            drop(database);
            Ok(())
        });
    }
}

impl Salvage {
    /// Opens a file and leaves it as it is; an error where redb makes nothing of it.
    pub(crate) fn open(file: Box<dyn DiskFile>) -> Result<Salvage> {
        let io = |e| Error::io("measure", Name::Catalog, e);
        let len = file.size().map_err(io)?;
        if len == 0 {
            return Err(Error::corrupt(Name::Catalog, 0, "the file is empty"));
        }
        let file = Overlay::new(file).map_err(io)?;
        // Recovery after a crash reads everything, and some of it more than once.
        let reads = Arc::new(AtomicU64::new(len / 128 + READS));
        let backend = Bounded { file, reads: Arc::clone(&reads) };
        let database = guarded(|| {
            let mut builder = Database::builder();
            // So that each page that is looked at is counted.
            builder.set_cache_size(0);
            Ok(builder.create_with_backend(backend)?)
        })?;
        Ok(Salvage { database: Some(database), reads })
    }

    fn transaction(&self) -> Result<ReadTransaction, redb::Error> {
        let database = self.database.as_ref().ok_or(redb::Error::DatabaseClosed)?;
        Ok(database.begin_read()?)
    }

    /// How many epochs there seem to be. Nothing vouches for their names.
    pub(crate) fn epochs(&self) -> usize {
        let counted = guarded(|| {
            self.reads.store(READS, Ordering::Relaxed);
            let table = self.transaction()?.open_table(EPOCHS)?;
            let mut count = 0;
            while count < EPOCHS_MAX && table.get(count)?.is_some() {
                self.reads.store(READS, Ordering::Relaxed);
                count += 1;
            }
            Ok(count)
        });
        counted.map_or(0, |count| count as usize)
    }

    /// The frames of each journal, the older one first, that hold the operations from `next` on
    /// without a gap.
    pub(crate) fn journals(&self, mut next: u64) -> Vec<Vec<Blob>> {
        let mut journals: Vec<Vec<Blob>> = Vec::new();
        let mut left: Vec<JournalRows> = Vec::new();
        for table in JOURNALS {
            self.reads.store(READS, Ordering::Relaxed);
            left.extend(guarded(|| Ok(self.transaction()?.open_table(table)?)));
        }
        // Each of the tables is one run; which of them is the older shows in where the first frame is.
        while let Some(at) = left.iter().position(|table| self.frame(table, next).is_some()) {
            let table = left.swap_remove(at);
            let mut blobs = Vec::new();
            while let Some(blob) = self.frame(&table, next) {
                let after = next.checked_add(blob.count.into());
                blobs.push(blob);
                let Some(after) = after else { break };
                next = after;
            }
            journals.push(blobs);
        }
        journals
    }

    /// The frame that begins with this operation, if it is sound.
    fn frame(&self, table: &JournalRows, sequence: u64) -> Option<Blob> {
        let mut frame = Vec::new();
        for part in 0.. {
            let row = guarded(|| {
                self.reads.store(READS, Ordering::Relaxed);
                Ok(table.get((sequence, part))?.map(|row| row.value().to_vec()))
            });
            match row.ok()? {
                Some(row) => frame.extend(row),
                None => break,
            }
        }
        Blob::parse(sequence, &frame).filter(|blob| blob.count > 0)
    }
}
