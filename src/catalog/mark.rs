//! The mark in `LOCK`: the committed state of the catalog.
//!
//! A damaged byte in redb's header can make the last but one commit look like the last commit. So
//! after each commit, the numbers of operations and changes are written to the lock file, unsynced.
//! A catalog with smaller numbers is damaged, not recovered.

use byteorder::{ByteOrder, LittleEndian};
use std::io::ErrorKind;

use super::backend::Closable;
use crate::disk::{Access, Dir, Disk, Name};
use crate::error::{Error, Result};
use crate::layout::{Cursor, Put};
use crate::sync::{Rank, RankedMutex};

const MAGIC: [u8; 8] = *b"simkmark";
const BYTES: usize = 28;

/// The committed state.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Marked {
    /// The last operation.
    pub(crate) sequence: u64,
    /// The number of commits that changed more than the journal.
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
    file: Closable,
    last: RankedMutex<Marked>,
}

impl Mark {
    pub(super) fn open(disk: &dyn Disk, last: Marked) -> Result<Mark> {
        let file = disk.open(Name::Lock, Access::Write);
        let file = file.map_err(|e| Error::io("open", Name::Lock, e))?;
        Ok(Mark { file: Closable::new(file), last: RankedMutex::new(Rank::Mark, last) })
    }

    /// Closes the mark's file, which belongs to another process.
    pub(super) fn abandon(&self) {
        self.file.close();
    }

    pub(super) fn noted(&self) -> Marked {
        *self.last.lock()
    }

    /// Writes the committed state to `LOCK`. Costs one write, no sync.
    pub(super) fn note(&self, committed: Marked) -> Result<()> {
        let mut last = self.last.lock();
        *last = last.max(committed);
        let written = self.file.file().and_then(|file| file.write_at(0, &bytes_of(*last)));
        written.map_err(|e| Error::io("write", Name::Lock, e))
    }
}

fn bytes_of(marked: Marked) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(BYTES);
    bytes.extend_from_slice(&MAGIC);
    bytes.put_u64(marked.sequence);
    bytes.put_u64(marked.changes);
    bytes.put_u32(crc32fast::hash(&bytes));
    bytes
}

/// The last sound record; zeros if there is none.
pub(crate) fn read(disk: &dyn Disk) -> Marked {
    let mut bytes = [0; BYTES];
    let read = disk.open(Name::Lock, Access::Read).and_then(|f| f.read_at(0, &mut bytes));
    let mut cursor = Cursor::new(&bytes);
    let (body, sum) = bytes.split_at(BYTES - 4);
    if read.is_err() || crc32fast::hash(body) != LittleEndian::read_u32(sum) {
        return Marked::default();
    }
    match (cursor.array(), cursor.u64(), cursor.u64()) {
        (Some(MAGIC), Some(sequence), Some(changes)) => Marked { sequence, changes },
        _ => Marked::default(),
    }
}

/// Creates `LOCK` with a mark of zeros. `LOCK` is durable when this function returns, so that files
/// with simkeep's names in this directory are known to be simkeep's files.
pub(super) fn begin(disk: &dyn Disk) -> Result<()> {
    let begun = || {
        let file = disk.open(Name::Lock, Access::Write)?;
        file.set_len(0)?;
        file.write_at(0, &bytes_of(Marked::default()))?;
        file.sync()
    };
    begun().map_err(|e| Error::io("begin", Name::Lock, e))?;
    disk.sync_dir(Dir::Root).map_err(|e| Error::io("sync the directory of", Name::Lock, e))
}

/// The owner of a directory, according to its `LOCK`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Begun {
    /// `LOCK` has simkeep's mark: the directory belongs to simkeep.
    Ours,
    /// `LOCK` is empty: it has just been created.
    Blank,
    /// `LOCK` belongs to another program.
    Foreign,
}

/// Examines `LOCK` in a directory of unknown origin.
pub(crate) fn look(disk: &dyn Disk) -> Result<Begun> {
    let name = Name::Lock;
    let file = match disk.open(name, Access::Read) {
        Err(e) if e.kind() == ErrorKind::InvalidData => return Ok(Begun::Foreign),
        opened => opened.map_err(|e| Error::io("open", name, e))?,
    };
    let error = |e| Error::io("read", name, e);
    let len = file.size().map_err(error)?;
    let mut bytes = [0; BYTES];
    let there = usize::try_from(len).ok().and_then(|len| bytes.get_mut(..len));
    let Some(there) = there else { return Ok(Begun::Foreign) };
    file.read_at(0, there).map_err(error)?;
    // A power loss may leave a file with its length but without its bytes.
    if there.iter().all(|byte| *byte == 0) {
        return Ok(Begun::Blank);
    }
    Ok(if there.starts_with(&MAGIC) { Begun::Ours } else { Begun::Foreign })
}
