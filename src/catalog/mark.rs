//! How far the catalog had come, written beside it.
//!
//! A damaged byte in redb's header can make the commit before the last look like the last one. So
//! after each commit it goes into the lock file, unsynced, how many operations and changes there
//! are: a catalog that has fewer is damaged, not recovered.

use crate::disk::{Access, Disk, DiskFile, Name};
use crate::error::{Error, Result};
use crate::layout::Cursor;
use crate::sync::Mutex;

const MAGIC: [u8; 8] = *b"simkmark";
const BYTES: usize = 28;

/// What was committed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Marked {
    /// The last operation.
    pub(crate) sequence: u64,
    /// How many commits changed something else than the journal.
    pub(crate) changes: u64,
}

impl Marked {
    pub(super) fn max(self, other: Marked) -> Marked {
        Marked {
            sequence: self.sequence.max(other.sequence),
            changes: self.changes.max(other.changes),
        }
    }
}

/// The mark of an open store.
#[derive(Debug)]
pub(super) struct Mark {
    file: Box<dyn DiskFile>,
    last: Mutex<Marked>,
}

impl Mark {
    pub(super) fn open(disk: &dyn Disk, last: Marked) -> Result<Mark> {
        let file = disk.open(Name::Lock, Access::Write);
        let file = file.map_err(|e| Error::io("open", Name::Lock, e))?;
        Ok(Mark { file, last: Mutex::new(last) })
    }

    pub(super) fn noted(&self) -> Marked {
        *self.last.lock()
    }

    /// Notes what was committed: that, and what was noted before. One write, no sync.
    pub(super) fn note(&self, committed: Marked) -> Result<()> {
        let mut last = self.last.lock();
        *last = last.max(committed);
        let mut bytes = Vec::with_capacity(BYTES);
        bytes.extend_from_slice(&MAGIC);
        bytes.extend_from_slice(&last.sequence.to_le_bytes());
        bytes.extend_from_slice(&last.changes.to_le_bytes());
        bytes.extend_from_slice(&crc32fast::hash(&bytes).to_le_bytes());
        self.file.write_at(0, &bytes).map_err(|e| Error::io("write", Name::Lock, e))
    }
}

/// What was noted last; nothing where there is no sound note.
pub(crate) fn read(disk: &dyn Disk) -> Marked {
    let mut bytes = [0; BYTES];
    let read = disk.open(Name::Lock, Access::Read).and_then(|f| f.read_at(0, &mut bytes));
    let sound = bytes
        .split_last_chunk::<4>()
        .filter(|(body, sum)| read.is_ok() && crc32fast::hash(body).to_le_bytes() == **sum);
    let mut cursor = Cursor::new(sound.map_or(&[], |(body, _)| body));
    match (cursor.array(), cursor.u64(), cursor.u64()) {
        (Some(MAGIC), Some(sequence), Some(changes)) => Marked { sequence, changes },
        _ => Marked::default(),
    }
}

/// Takes away what a store that is gone may have left. Durable when this returns.
pub(super) fn clear(disk: &dyn Disk) -> Result<()> {
    let cleared = || {
        let file = disk.open(Name::Lock, Access::Write)?;
        if file.size()? > 0 {
            file.set_len(0)?;
            file.sync()?;
        }
        Ok(())
    };
    cleared().map_err(|e| Error::io("clear", Name::Lock, e))
}
