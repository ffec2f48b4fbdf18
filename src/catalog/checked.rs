//! The file `CHECKED` of a directory with published generations. It records when each file was last
//! read without finding damage.
//!
//! Readers do not need `CHECKED`: without it, the next check reads all files. The file is replaced
//! as a whole.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::envelope;
use crate::bug::OrBug;
use crate::disk::{Disk, FileName, NewFile, PublishedFileId};
use crate::error::{Error, Result};
use crate::layout::{Cursor, PutInteger};

const MAGIC: [u8; 8] = *b"simkchk\0";
const VERSION: u32 = 1;

/// The kinds of files in rows.
const SEGMENT: u32 = 0;
const TABLE: u32 = 1;

/// The times at which the files of one store were last checked without damage.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct CheckTimes {
    store: u64,
    /// The times in milliseconds since 1970, by the publisher's clock.
    times: BTreeMap<FileName, u64>,
}

impl CheckTimes {
    /// Reads the file `CHECKED`. The result is empty if the file does not exist, is damaged, or
    /// belongs to another version or another store.
    pub(crate) fn read(disk: &dyn Disk, store: u64) -> Result<CheckTimes> {
        let none = CheckTimes { store, times: BTreeMap::new() };
        let name = FileName::Checked;
        let read = || -> Result<Option<CheckTimes>> {
            let Some(bytes) = envelope::read(disk, name)? else { return Ok(None) };
            let mut body = Cursor::new(envelope::open(MAGIC, VERSION, name, &bytes)?);
            Ok(Self::take(&mut body).filter(|found| body.is_empty() && found.store == store))
        };
        match read() {
            Ok(found) => Ok(found.unwrap_or(none)),
            Err(Error::Corrupt(_) | Error::Version { .. }) => Ok(none),
            Err(e) => Err(e),
        }
    }

    /// The time at which a file was last checked without damage; `None` if unknown.
    pub(crate) fn get(&self, name: FileName) -> Option<u64> {
        self.times.get(&name).copied()
    }

    /// Records that a file was checked without damage.
    pub(crate) fn put(&mut self, name: FileName, at: u64) {
        self.times.insert(name, at);
    }

    /// Keeps only the times of files for which `is_there` returns true.
    pub(crate) fn retain(&mut self, is_there: impl Fn(FileName) -> bool) {
        self.times.retain(|name, _| is_there(*name));
    }

    /// Replaces the file `CHECKED` durably. Costs two syncs.
    pub(crate) fn write(&self, disk: &Arc<dyn Disk>) -> Result<()> {
        let mut body = Vec::new();
        body.put_u64(self.store);
        let count = u32::try_from(self.times.len()).ok();
        body.put_u32(count.or_bug("a store has fewer files than 2^32")?);
        for (name, at) in &self.times {
            let (kind, file) = match name {
                FileName::PublishedSegment(file) => (SEGMENT, Some(file)),
                FileName::PublishedDf(file) => (TABLE, Some(file)),
                _ => (SEGMENT, None),
            };
            let file = file.or_bug("each published file is a segment or a table")?;
            body.put_u32(kind);
            for word in [file.number, file.checksum, *at] {
                body.put_u64(word);
            }
        }
        let mut file = NewFile::create(Arc::clone(disk), FileName::CheckedNew)?;
        file.append(&envelope::seal(MAGIC, VERSION, &body)?)?;
        file.finish(FileName::Checked)?;
        Ok(())
    }

    fn take(cursor: &mut Cursor<'_>) -> Option<CheckTimes> {
        let (store, count) = (cursor.u64()?, cursor.u32()?);
        let mut times = BTreeMap::new();
        // The count in the file does not cause a memory reservation: rows are read until the file
        // ends.
        for _ in 0..count {
            let (kind, number, checksum) = (cursor.u32()?, cursor.u64()?, cursor.u64()?);
            let file = PublishedFileId { store, number, checksum };
            let name = match kind {
                SEGMENT => FileName::PublishedSegment(file),
                TABLE => FileName::PublishedDf(file),
                _ => return None,
            };
            times.insert(name, cursor.u64()?);
        }
        Some(CheckTimes { store, times })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::disk::{Access, SimDisk};

    fn checked() -> CheckTimes {
        let file = |number| PublishedFileId { store: 5, number, checksum: 0x0102_0304 };
        let times =
            [(FileName::PublishedSegment(file(1)), 7), (FileName::PublishedDf(file(1)), 1 << 40)];
        CheckTimes { store: 5, times: times.into() }
    }

    #[test]
    fn check_times_round_trip() {
        let disk: Arc<dyn Disk> = Arc::new(SimDisk::new());
        let none = CheckTimes::read(&*disk, 5).unwrap();
        assert_eq!(none.times.len(), 0);
        checked().write(&disk).unwrap();
        assert_eq!(CheckTimes::read(&*disk, 5).unwrap(), checked());
        let other = CheckTimes::read(&*disk, 6).unwrap();
        assert_eq!((other.store, other.times.len()), (6, 0));
    }

    #[test]
    fn damaged_check_times_are_ignored() {
        let disk: Arc<dyn Disk> = Arc::new(SimDisk::new());
        checked().write(&disk).unwrap();
        let file = disk.open(FileName::Checked, Access::Write).unwrap();
        let len = file.size().unwrap();
        let known = || CheckTimes::read(&*disk, 5).unwrap().times.len();
        for at in 0..len {
            let mut byte = [0];
            file.read_at(at, &mut byte).unwrap();
            file.write_at(at, &[!byte[0]]).unwrap();
            assert_eq!(known(), 0, "{at}");
            file.write_at(at, &byte).unwrap();
        }
        assert_eq!(known(), 2);
        for len in (0..len).rev() {
            file.set_len(len).unwrap();
            assert_eq!(known(), 0, "{len}");
        }
    }
}
