//! The head of a segment file: the identity of the segment and of its store.

use super::Cursor;
use super::correct::{WITH_OWN_SUM, corrected};
use super::integers::PutInteger;
use byteorder::{ByteOrder, LittleEndian};

/// The format version that this build writes and reads.
pub(crate) const VERSION: u32 = 6;

const MAGIC: [u8; 8] = *b"simkseg\0";

/// Bytes of the head; the first section begins after it.
pub(crate) const HEAD_BYTES: u64 = HEAD_LEN as u64;
const HEAD_LEN: usize = 64;

/// The identity of a segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Stamp {
    /// The number of the segment in its store, which is also the number of its file.
    pub(crate) id: u64,
    /// The identifier of the store that the segment was written for.
    pub(crate) store: u64,
    /// A random number. The nonce distinguishes segments of equal number in diverged copies of a
    /// store.
    pub(crate) nonce: u64,
}

/// A flaw in a file's frame.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum SegmentFlaw {
    /// A version that this build does not read.
    Version(u32),
    /// Damage at an offset.
    Damage(u64, String),
}

pub(super) fn damage<T>(offset: u64, what: impl Into<String>) -> Result<T, SegmentFlaw> {
    Err(SegmentFlaw::Damage(offset, what.into()))
}

/// Encodes the head of a segment.
pub(crate) fn encode_head(stamp: &Stamp) -> [u8; HEAD_LEN] {
    let mut bytes = Vec::with_capacity(HEAD_LEN);
    bytes.extend_from_slice(&MAGIC);
    bytes.put_u32(VERSION);
    bytes.extend_from_slice(&[0; 4]);
    bytes.put_u64(stamp.id);
    bytes.put_u64(stamp.store);
    bytes.put_u64(stamp.nonce);
    bytes.resize(HEAD_LEN - 4, 0);
    bytes.put_u32(crc32fast::hash(&bytes));
    let mut head = [0; HEAD_LEN];
    head.copy_from_slice(&bytes);
    head
}

/// Parses the head of segment `id`. The caller checks the store's identifier.
pub(crate) fn parse_head(file: &[u8], id: u64) -> Result<Stamp, SegmentFlaw> {
    let Some(head) = file.get(..HEAD_LEN) else {
        let len = file.len();
        return damage(
            0,
            format!("it has {len} bytes, but a segment has at least {HEAD_BYTES} bytes"),
        );
    };
    let mut cursor = Cursor::new(head);
    let fields = (|| {
        let (magic, version, _) = (cursor.array()?, cursor.u32()?, cursor.u32()?);
        Some((
            magic,
            version,
            Stamp { id: cursor.u64()?, store: cursor.u64()?, nonce: cursor.u64()? },
        ))
    })();
    let Some((MAGIC, version, stamp)) = fields else {
        return damage(0, "it does not begin with the eight bytes that mark a segment");
    };
    // The checksum is in the same position in every version, so only a head with a valid checksum
    // has a version number that is reliable.
    let (body, sum) = head.split_at(HEAD_LEN - 4);
    let (expected, found) = (LittleEndian::read_u32(sum), crc32fast::hash(body));
    if expected != found {
        return damage(0, "the checksum of the head is wrong");
    }
    if version != VERSION {
        return Err(SegmentFlaw::Version(version));
    }
    if stamp.id != id {
        return damage(
            16,
            format!("expected the head of segment {id}, found the head of segment {}", stamp.id),
        );
    }
    if *head != encode_head(&stamp) {
        return damage(40, "the head has fields that this version does not know");
    }
    Ok(stamp)
}

/// Parses the head of segment `id`, of which one byte may be damaged.
pub(crate) fn correct_head(file: &[u8], id: u64) -> Option<Stamp> {
    parse_head(&corrected(file.get(..HEAD_LEN)?, WITH_OWN_SUM)?, id).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    const STAMP: Stamp = Stamp { id: 4, store: u64::MAX, nonce: 1 };

    fn changed(at: usize, to: u8) -> [u8; HEAD_LEN] {
        let mut head = encode_head(&STAMP);
        head[at] = to;
        let sum = crc32fast::hash(&head[..60]).to_le_bytes();
        head[60..].copy_from_slice(&sum);
        head
    }

    #[test]
    fn head_identifies_segment_and_store() {
        assert_eq!(parse_head(&encode_head(&STAMP), 4), Ok(STAMP));
        assert!(matches!(parse_head(&encode_head(&STAMP), 5), Err(SegmentFlaw::Damage(16, _))));
    }

    #[test]
    fn another_version_is_distinguished_from_damage() {
        for version in [5, 7] {
            assert_eq!(
                parse_head(&changed(8, version), 4),
                Err(SegmentFlaw::Version(version.into()))
            );
            let mut damaged = encode_head(&STAMP);
            damaged[8] = version;
            assert!(matches!(parse_head(&damaged, 4), Err(SegmentFlaw::Damage(0, _))));
        }
    }

    #[test]
    fn nonzero_reserved_byte_is_refused() {
        for at in (12..16).chain(40..60) {
            assert!(matches!(parse_head(&changed(at, 1), 4), Err(SegmentFlaw::Damage(40, _))));
        }
    }
}
