//! Prefixes that were forgotten: they hide what older segments have under them.

use super::file::Segment;
use super::plain::PlainSegment;
use crate::error::Result;
use crate::layout::{Cursor, Kind, Tag, block_count, put_varint};
use crate::page::Prefix;

/// A prefix under which everything with a lower sequence number is forgotten.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Tombstone {
    pub(crate) sequence: u64,
    pub(crate) prefix: Prefix,
}

/// The tombstones section.
pub(super) fn encode(tombstones: &[Tombstone]) -> Vec<u8> {
    let mut out = Vec::new();
    for tombstone in tombstones {
        let prefix = tombstone.prefix.to_bytes();
        out.extend_from_slice(&tombstone.sequence.to_le_bytes());
        put_varint(&mut out, prefix.len() as u64);
        out.extend_from_slice(prefix);
    }
    out
}

/// The tombstones of a section, in order of sequence; `None` where the bytes cannot be.
fn decode(section: &[u8]) -> Option<Vec<Tombstone>> {
    let mut cursor = Cursor::new(section);
    let mut tombstones = Vec::new();
    while !cursor.is_empty() {
        let sequence = cursor.u64()?;
        let len = cursor.count()?;
        let prefix = Prefix::from_bytes(cursor.take(len)?)?;
        tombstones.push(Tombstone { sequence, prefix });
    }
    Some(tombstones)
}

impl Segment {
    /// The tombstones, in order of sequence.
    pub(crate) fn tombstones(&self) -> Result<Vec<Tombstone>> {
        let section = self.section(Tag::of(Kind::Tombstones));
        decode(section.get(0..section.len())?).ok_or_else(|| section.flaw(0, "no tombstone"))
    }
}

impl PlainSegment<'_> {
    /// The same with plain reads.
    pub(crate) fn tombstones(&mut self) -> Result<Vec<Tombstone>> {
        let section = self.frame().place(Tag::of(Kind::Tombstones));
        let mut bytes = Vec::new();
        for block in 0..block_count(section.len) {
            bytes.extend_from_slice(self.block(&section, block)?);
        }
        decode(&bytes).ok_or_else(|| self.frame().damaged(section.tag, 0, "no tombstone"))
    }
}
