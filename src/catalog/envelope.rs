//! A small file that is read and written as a whole: magic, version and length, then the body, then
//! a checksum.

use byteorder::{ByteOrder, LittleEndian};

use crate::bug::{self, OrBug};
use crate::disk::{Access, Disk, FileName};
use crate::error::{Error, Result};
use crate::layout::{Cursor, PutInteger, to_usize};

/// The limit of the file size, enough for some hundred thousand segments.
pub(super) const BYTES_MAX: u64 = 16 << 20;
/// Bytes before the body.
const HEAD_BYTES: usize = 16;

/// Encodes a file with the given body.
pub(super) fn seal(magic: [u8; 8], version: u32, body: &[u8]) -> Result<Vec<u8>> {
    let len = body.len() + HEAD_BYTES + 4;
    bug::ensure(len as u64 <= BYTES_MAX, "a list is not longer than its readers accept")?;
    let mut bytes = Vec::with_capacity(HEAD_BYTES + body.len() + 4);
    bytes.extend_from_slice(&magic);
    bytes.put_u32(version);
    bytes.put_u32(u32::try_from(body.len()).ok().or_bug("a list has less than 4 GiB")?);
    bytes.extend_from_slice(body);
    bytes.put_u32(crc32fast::hash(&bytes));
    Ok(bytes)
}

/// Reads the file with a name; `None` if the file does not exist.
pub(super) fn read(disk: &dyn Disk, name: FileName) -> Result<Option<Vec<u8>>> {
    let file = match disk.open(name, Access::Read) {
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        opened => opened.map_err(|e| Error::io("open", name, e))?,
    };
    let len = file.size().map_err(|e| Error::io("measure", name, e))?;
    if len > BYTES_MAX {
        let what = format!("expected at most {BYTES_MAX} bytes, found {len}");
        return Err(Error::corrupt(name, 0, what));
    }
    let mut bytes = vec![0; to_usize(len)];
    file.read_at(0, &mut bytes).map_err(|e| Error::io("read", name, e))?;
    Ok(Some(bytes))
}

/// Whether a file is complete, according to its checksum.
pub(super) fn is_whole(bytes: &[u8]) -> bool {
    bytes.split_last_chunk::<4>().is_some_and(|(summed, sum)| {
        summed.len() >= HEAD_BYTES && LittleEndian::read_u32(sum) == crc32fast::hash(summed)
    })
}

/// Checks the bytes of a file and returns its body.
pub(super) fn open(magic: [u8; 8], version: u32, name: FileName, bytes: &[u8]) -> Result<&[u8]> {
    let flaw = |offset: u64, what: &str| Error::corrupt(name, offset, what);
    let mut cursor = Cursor::new(bytes);
    if cursor.array() != Some(magic) {
        let magic = String::from_utf8_lossy(&magic).into_owned();
        let magic = magic.trim_end_matches('\0');
        return Err(flaw(0, &format!("it does not begin with the bytes {magic}")));
    }
    let short = || flaw(bytes.len() as u64, "it is cut short");
    let (found, len) = (cursor.u32().ok_or_else(short)?, cursor.u32().ok_or_else(short)?);
    // The checksum is at the end in every version, so only a file with a valid checksum has a
    // version number that can be trusted.
    let (summed, sum) = bytes.split_last_chunk::<4>().ok_or_else(short)?;
    let (expected, hashed) = (LittleEndian::read_u32(sum), crc32fast::hash(summed));
    if expected != hashed {
        return Err(flaw(0, &format!("checksum: expected {expected:08x}, found {hashed:08x}")));
    }
    if found != version {
        return Err(Error::Version { file: name.to_string(), found, reads: version });
    }
    match summed.split_at_checked(HEAD_BYTES) {
        Some((_, body)) if body.len() as u64 == u64::from(len) => Ok(body),
        _ => Err(flaw(12, "the length in its header does not match the length of the file")),
    }
}
