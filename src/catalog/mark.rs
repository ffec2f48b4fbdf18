//! The mark in `LOCK`: the committed state of the catalog.
//!
//! A damaged byte in redb's header can make the last but one commit look like the last commit. So
//! after each commit, the numbers of operations and changes are written to the lock file, unsynced.
//! A catalog with smaller numbers is damaged, not recovered.

use byteorder::{ByteOrder, LittleEndian};
use std::io::ErrorKind;

use super::backend::ClosableFile;
use crate::disk::{Access, Dir, Disk, FileName};
use crate::error::{Error, Result};
use crate::layout::{Cursor, PutInteger};
use crate::sync::{LockRank, RankedMutex};

const MAGIC: [u8; 8] = *b"simkmark";
const BYTES: usize = 28;

/// The committed state.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct CommitMark {
    /// The last operation.
    pub(crate) sequence: u64,
    /// The number of commits that changed more than the journal.
    pub(crate) changes: u64,
}

impl CommitMark {
    pub(super) fn max(self, other: CommitMark) -> CommitMark {
        CommitMark {
            sequence: self.sequence.max(other.sequence),
            changes: self.changes.max(other.changes),
        }
    }
}

/// The mark of an open store.
#[derive(Debug)]
pub(super) struct MarkFile {
    file: ClosableFile,
    last: RankedMutex<CommitMark>,
}

impl MarkFile {
    pub(super) fn open(disk: &dyn Disk, last: CommitMark) -> Result<MarkFile> {
        let file = disk.open(FileName::Lock, Access::Write);
        let file = file.map_err(|e| Error::io("open", FileName::Lock, e))?;
        Ok(MarkFile { file: ClosableFile::new(file), last: RankedMutex::new(LockRank::Mark, last) })
    }

    /// Closes the mark's file, which belongs to another process.
    pub(super) fn abandon(&self) {
        self.file.close();
    }

    pub(super) fn noted(&self) -> CommitMark {
        *self.last.lock()
    }

    /// Writes the committed state to `LOCK`. Costs one write, no sync.
    pub(super) fn note(&self, committed: CommitMark) -> Result<()> {
        let mut last = self.last.lock();
        *last = last.max(committed);
        let written = self.file.file().and_then(|file| file.write_at(0, &bytes_of(*last)));
        written.map_err(|e| Error::io("write", FileName::Lock, e))
    }
}

fn bytes_of(marked: CommitMark) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(BYTES);
    bytes.extend_from_slice(&MAGIC);
    bytes.put_u64(marked.sequence);
    bytes.put_u64(marked.changes);
    bytes.put_u32(crc32fast::hash(&bytes));
    bytes
}

/// The last sound record; zeros if there is none.
pub(crate) fn read(disk: &dyn Disk) -> CommitMark {
    let mut bytes = [0; BYTES];
    let read = disk.open(FileName::Lock, Access::Read).and_then(|f| f.read_at(0, &mut bytes));
    let mut cursor = Cursor::new(&bytes);
    let (body, sum) = bytes.split_at(BYTES - 4);
    if read.is_err() || crc32fast::hash(body) != LittleEndian::read_u32(sum) {
        return CommitMark::default();
    }
    match (cursor.array(), cursor.u64(), cursor.u64()) {
        (Some(MAGIC), Some(sequence), Some(changes)) => CommitMark { sequence, changes },
        _ => CommitMark::default(),
    }
}

/// Creates `LOCK` with a mark of zeros. `LOCK` is durable when this function returns, so that files
/// with simkeep's names in this directory are known to be simkeep's files.
pub(super) fn begin(disk: &dyn Disk) -> Result<()> {
    let begun = || {
        let file = disk.open(FileName::Lock, Access::Write)?;
        file.set_len(0)?;
        file.write_at(0, &bytes_of(CommitMark::default()))?;
        file.sync()
    };
    begun().map_err(|e| Error::io("begin", FileName::Lock, e))?;
    disk.sync_dir(Dir::Root).map_err(|e| Error::io("sync the directory of", FileName::Lock, e))
}

/// The owner of a directory, according to its `LOCK`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum DirectoryOwner {
    /// `LOCK` has simkeep's mark: the directory belongs to simkeep.
    Ours,
    /// `LOCK` is empty: it has just been created.
    Blank,
    /// `LOCK` belongs to another program.
    Foreign,
}

/// Examines `LOCK` in a directory of unknown origin.
pub(crate) fn find_owner(disk: &dyn Disk) -> Result<DirectoryOwner> {
    let name = FileName::Lock;
    let file = match disk.open(name, Access::Read) {
        Err(e) if e.kind() == ErrorKind::InvalidData => return Ok(DirectoryOwner::Foreign),
        opened => opened.map_err(|e| Error::io("open", name, e))?,
    };
    let error = |e| Error::io("read", name, e);
    let len = file.size().map_err(error)?;
    let mut bytes = [0; BYTES];
    let there = usize::try_from(len).ok().and_then(|len| bytes.get_mut(..len));
    let Some(there) = there else { return Ok(DirectoryOwner::Foreign) };
    file.read_at(0, there).map_err(error)?;
    // A power loss may leave a file with its length but without its bytes.
    if there.iter().all(|byte| *byte == 0) {
        return Ok(DirectoryOwner::Blank);
    }
    Ok(if there.starts_with(&MAGIC) { DirectoryOwner::Ours } else { DirectoryOwner::Foreign })
}
