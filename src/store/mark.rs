//! How far the journal had come, written beside it.
//!
//! A damaged byte in redb's header can make it open the commit before the last as if nothing had
//! happened. So after each acknowledged commit its number goes into the lock file, unsynced: a
//! journal that ends before it is damaged, not recovered.

use crate::disk::{Access, Disk, DiskFile, Name};
use crate::error::{Error, Result};
use crate::layout::Cursor;

const MAGIC: [u8; 8] = *b"simkmark";
const BYTES: usize = 20;

/// The mark of an open store.
#[derive(Debug)]
pub(super) struct Mark {
    file: Box<dyn DiskFile>,
}

impl Mark {
    pub(super) fn open(disk: &dyn Disk) -> Result<Mark> {
        let file = disk.open(Name::Lock, Access::Write);
        Ok(Mark { file: file.map_err(|e| Error::io("open", Name::Lock, e))? })
    }

    /// Notes that everything up to `sequence` was acknowledged. One write, no sync.
    pub(super) fn write(&self, sequence: u64) -> Result<()> {
        let mut bytes = Vec::with_capacity(BYTES);
        bytes.extend_from_slice(&MAGIC);
        bytes.extend_from_slice(&sequence.to_le_bytes());
        bytes.extend_from_slice(&crc32fast::hash(&bytes).to_le_bytes());
        self.file.write_at(0, &bytes).map_err(|e| Error::io("write", Name::Lock, e))
    }
}

/// The last sequence number that was noted; 0 where there is no sound note.
pub(super) fn read(disk: &dyn Disk) -> u64 {
    let mut bytes = [0; BYTES];
    let read = disk.open(Name::Lock, Access::Read).and_then(|f| f.read_at(0, &mut bytes));
    let Some((body, sum)) = bytes.split_last_chunk::<4>().filter(|_| read.is_ok()) else {
        return 0;
    };
    let mut cursor = Cursor::new(body);
    match (cursor.array(), cursor.u64()) {
        (Some(MAGIC), Some(sequence)) if crc32fast::hash(body).to_le_bytes() == *sum => sequence,
        _ => 0,
    }
}
