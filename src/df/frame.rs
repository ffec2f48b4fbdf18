//! The frame of a table: encoding and checks of its head and trailer, without I/O.

use crate::layout::{Cursor, PutInteger, le_u32};
use byteorder::{ByteOrder, LittleEndian};

/// The format version that this build writes and reads.
pub(super) const VERSION: u32 = 1;

const HEAD_MAGIC: [u8; 8] = *b"simkdf\0\0";
const TRAILER_MAGIC: [u8; 8] = *b"simkdfe\0";

/// The length of the head in bytes; the entries begin after the head.
pub(super) const HEAD_BYTES: usize = 64;
/// Bytes of the trailer at the end of the file.
pub(super) const TRAILER_BYTES: usize = 320;
/// Bytes of the checksum at the end of the trailer.
pub(super) const SUM_BYTES: usize = 8;
/// Bytes of an entry: a hash, and the number of its documents.
pub(super) const ENTRY_BYTES: usize = 12;
/// Bytes of a directory slot.
pub(super) const START_BYTES: usize = 4;
/// The maximum number of leading hash bits that the directory uses.
pub(super) const BITS_MAX: u32 = 24;
/// The maximum length of the features' name in bytes.
const FEATURES_MAX: usize = 256;

/// The numbers that describe a table.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct TableFrame {
    /// The number of counted documents.
    pub(super) documents: u64,
    /// The number of entries.
    pub(super) terms: u64,
    /// The number of terms that were left out as rare.
    pub(super) left_out: u64,
    /// The minimum number of documents of a term; rarer terms were left out.
    pub(super) least: u32,
    /// The number of leading hash bits that the directory uses.
    pub(super) bits: u32,
    /// The name of the features.
    pub(super) features: String,
}

/// A flaw of a file. `DamagedFile` states the byte.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum TableFlaw {
    /// The file is not a table.
    Foreign(&'static str),
    /// The file has a version that this build cannot read.
    Version(u32),
    /// The file is damaged at this byte.
    Damage(u64, &'static str),
}

/// Encodes the head of every table.
pub(super) fn head() -> [u8; HEAD_BYTES] {
    head_of(VERSION, 0)
}

fn head_of(version: u32, rest: u8) -> [u8; HEAD_BYTES] {
    let mut bytes = [&HEAD_MAGIC[..], &le_u32(version), &[rest]].concat();
    bytes.resize(HEAD_BYTES - 4, 0);
    bytes.put_u32(crc32fast::hash(&bytes));
    let mut head = [0; HEAD_BYTES];
    head.copy_from_slice(&bytes);
    head
}

/// The leading `bits` of a hash, at most [`BITS_MAX`]: the slot of the hash in the directory.
#[expect(clippy::cast_possible_truncation, reason = "24 bits at most")]
pub(super) fn leading(hash: u64, bits: u32) -> usize {
    hash.unbounded_shr(u64::BITS - bits) as usize
}

/// Whether a file that starts with these bytes is a table, of any version, damaged or not.
pub(super) fn is_head(bytes: &[u8]) -> bool {
    bytes.starts_with(&HEAD_MAGIC)
}

/// Checks a head.
pub(super) fn parse_head(bytes: &[u8]) -> Result<(), TableFlaw> {
    let mut cursor = Cursor::new(bytes);
    if cursor.array() != Some(HEAD_MAGIC) {
        return Err(TableFlaw::Foreign("it does not begin with the bytes simkdf"));
    }
    let version = cursor.u32();
    let whole = bytes.split_last_chunk::<4>().filter(|_| bytes.len() == HEAD_BYTES);
    // Only a head with a valid checksum has a version that can be trusted.
    match (version, whole) {
        (Some(version), Some((body, sum)))
            if crc32fast::hash(body) == LittleEndian::read_u32(sum) =>
        {
            match version {
                VERSION if bytes == head() => Ok(()),
                VERSION => {
                    Err(TableFlaw::Damage(12, "the reserved bytes of the head are not zero"))
                }
                version => Err(TableFlaw::Version(version)),
            }
        }
        _ => Err(TableFlaw::Damage(8, "the checksum of the head is wrong")),
    }
}

impl TableFrame {
    /// The offset of the directory.
    pub(super) fn directory(&self) -> u64 {
        HEAD_BYTES as u64 + self.terms * ENTRY_BYTES as u64
    }

    /// The length of the directory in bytes.
    pub(super) fn directory_len(&self) -> u64 {
        ((1 << self.bits) + 1) * START_BYTES as u64
    }

    /// The length of the whole file.
    pub(super) fn file_len(&self) -> u64 {
        self.directory() + self.directory_len() + TRAILER_BYTES as u64
    }

    /// Encodes the trailer, without the checksum at its end.
    pub(super) fn trailer(&self) -> Vec<u8> {
        let mut out = Vec::with_capacity(TRAILER_BYTES);
        out.extend_from_slice(&TRAILER_MAGIC);
        for number in [self.documents, self.terms, self.left_out] {
            out.put_u64(number);
        }
        let features = self.features.as_bytes();
        assert!(features.len() <= FEATURES_MAX, "the name of a recipe is much shorter");
        #[expect(clippy::cast_possible_truncation, reason = "256 at most")]
        let len = features.len() as u32;
        for number in [self.least, self.bits, len] {
            out.put_u32(number);
        }
        out.extend_from_slice(features);
        out.resize(TRAILER_BYTES - SUM_BYTES, 0);
        out
    }

    /// Parses the trailer of a file whose length is `file_len` bytes.
    pub(super) fn parse(trailer: &[u8], file_len: u64) -> Result<TableFrame, TableFlaw> {
        let at = file_len.saturating_sub(TRAILER_BYTES as u64);
        let damage = |what| TableFlaw::Damage(at, what);
        let mut cursor = Cursor::new(trailer);
        if cursor.array() != Some(TRAILER_MAGIC) {
            return Err(damage("there is no trailer at the end: the file was cut short"));
        }
        let mut read = || {
            let [documents, terms, left_out] = [cursor.u64()?, cursor.u64()?, cursor.u64()?];
            let [least, bits, len] = [cursor.u32()?, cursor.u32()?, cursor.u32()?];
            let len = usize::try_from(len).ok().filter(|len| *len <= FEATURES_MAX)?;
            let features = std::str::from_utf8(cursor.take(len)?).ok()?.to_owned();
            Some(TableFrame { documents, terms, left_out, least, bits, features })
        };
        let frame = read().ok_or_else(|| damage("the trailer is not readable"))?;
        // The numbers are checked before any number is multiplied.
        let most = u64::from(u32::MAX);
        if frame.terms >= most || frame.documents > most || frame.bits > BITS_MAX {
            return Err(damage("the numbers in the trailer are impossible"));
        }
        if frame.file_len() != file_len {
            return Err(damage("the length of the file does not match its trailer"));
        }
        if trailer.get(..TRAILER_BYTES - SUM_BYTES) != Some(&frame.trailer()) {
            return Err(damage("the reserved bytes of the trailer are not zero"));
        }
        Ok(frame)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn invalid_head_is_distinguished_from_a_newer_one() {
        assert_eq!(parse_head(&head()), Ok(()));
        // A later version may have any bytes in the rest of the head.
        assert_eq!(parse_head(&head_of(2, 9)), Err(TableFlaw::Version(2)));
        assert!(matches!(parse_head(&head_of(1, 9)), Err(TableFlaw::Damage(12, _))));
        assert!(matches!(parse_head(b"some text"), Err(TableFlaw::Foreign(_))));
        for at in [8, 12, 63] {
            let mut damaged = head();
            damaged[at] ^= 1;
            assert!(matches!(parse_head(&damaged), Err(TableFlaw::Damage(..))), "{at}");
        }
        assert!(matches!(parse_head(&head()[..63]), Err(TableFlaw::Damage(8, _))));
    }

    proptest! {
        #[test]
        fn trailer_round_trips(
            (documents, terms, left_out) in (0u64..1 << 33, 0u64..1 << 32, any::<u64>()),
            (least, bits) in (any::<u32>(), 0u32..=BITS_MAX),
            features in "[a-z0-9-]{0,200}",
        ) {
            let frame = TableFrame { documents, terms, left_out, least, bits, features };
            let mut trailer = frame.trailer();
            trailer.resize(TRAILER_BYTES, 7);
            let read = TableFrame::parse(&trailer, frame.file_len());
            if terms < u64::from(u32::MAX) && documents <= u64::from(u32::MAX) {
                prop_assert_eq!(read, Ok(frame));
            } else {
                prop_assert!(read.is_err());
            }
        }

        #[test]
        fn any_trailer_is_read_without_panic(
            bytes in prop::collection::vec(any::<u8>(), 0..TRAILER_BYTES + 9),
            at in 0usize..TRAILER_BYTES,
            value: u8,
            len: u64,
        ) {
            let _ = TableFrame::parse(&bytes, len);
            let frame = TableFrame { terms: 5, features: "words1".into(), ..TableFrame::default() };
            let mut trailer = frame.trailer();
            trailer.resize(TRAILER_BYTES, 0);
            trailer[at] = value;
            let _ = TableFrame::parse(&trailer, len);
            let _ = TableFrame::parse(&trailer, frame.file_len());
            let _ = parse_head(&bytes);
        }
    }
}
