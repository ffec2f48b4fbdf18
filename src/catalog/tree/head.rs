//! A consistent copy of a database file's header, even during writes.

use super::header::{HEADER_BYTES, RedbHeader, last_commit};
use super::page::{PAGE_BYTES, damaged};
use super::read;
use crate::disk::{DiskFile, FileName};
use crate::error::{Error, Result};

/// The maximum number of readings until the header is stable: a commit changes the header three
/// times, and syncs the file in between.
const READINGS: u32 = 16;

/// The header of a file, and the length of the file.
#[derive(Debug)]
pub(in crate::catalog) struct RawHeader {
    bytes: [u8; HEADER_BYTES],
    len: u64,
}

impl RawHeader {
    pub(in crate::catalog) fn read(file: &dyn DiskFile) -> Result<RawHeader> {
        let len = file.size().map_err(|e| Error::io("measure", FileName::Catalog, e))?;
        if len < PAGE_BYTES {
            let what =
                format!("it has {len} bytes, but a redb database has at least {PAGE_BYTES} bytes");
            return Err(damaged(0, what));
        }
        let mut bytes = [0; HEADER_BYTES];
        read(file, 0, &mut bytes)?;
        Ok(RawHeader { bytes, len })
    }

    /// Reads the header during writes. Returns a header of a complete commit, either the last
    /// commit at the time of the call or a later one; `None` if the header changes too fast.
    ///
    /// A reading may mix parts of two headers. A slot is written while the other slot is primary,
    /// and only then becomes primary. So a primary slot that is equal in two readings was complete
    /// before the second reading saw which slot is primary. This slot is also no older than the
    /// commit that the first reading saw.
    pub(in crate::catalog) fn read_concurrently(file: &dyn DiskFile) -> Result<Option<RawHeader>> {
        let mut before = Self::read(file)?;
        for _ in 1..READINGS {
            let now = Self::read(file)?;
            if now.is_of_commit(&before) {
                return Ok(Some(now));
            }
            before = now;
        }
        Ok(None)
    }

    #[cfg(test)]
    pub(super) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Whether both headers show the same commit of a file with the same length.
    pub(in crate::catalog) fn is_of_commit(&self, other: &RawHeader) -> bool {
        self.len == other.len && last_commit(&self.bytes) == last_commit(&other.bytes)
    }

    /// Parses the header, if its layout fits the file. Also returns the length of the file.
    pub(super) fn parse(&self) -> Result<(RedbHeader<'_>, u64)> {
        let header = RedbHeader::parse(&self.bytes);
        let header = header.ok_or_else(|| damaged(0, "it does not begin as redb's files do"))?;
        header.check(self.len)?;
        Ok((header, self.len))
    }
}
