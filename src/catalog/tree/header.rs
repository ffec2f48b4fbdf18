//! The first bytes of a database file: its layout, and its last commit.

use byteorder::{ByteOrder, LittleEndian};
use xxhash_rust::xxh3::xxh3_128;

use super::page::{PAGE_BYTES, RedbPageRef, damaged};
use crate::error::Result;
use crate::layout::Cursor;

/// The maximum number of pages in a region.
const REGION_PAGES_MAX: u64 = 1 << 20;

pub(super) const HEADER_BYTES: usize = 320;
const MAGIC: [u8; 9] = *b"redb\x1a\x0a\xa9\x0d\x0a";
const FORMAT: u8 = 3;
/// Bits of the byte after the magic number.
const PRIMARY: u8 = 1;
const RECOVERY: u8 = 2;
const TWO_PHASES: u8 = 4;
/// The number of bytes of a slot that its checksum covers.
const SLOT_BYTES: usize = 112;

/// The bytes that identify the last commit: the first bytes, which say which slot is primary, and
/// the primary slot.
pub(super) fn last_commit(bytes: &[u8; HEADER_BYTES]) -> (&[u8], &[u8]) {
    let (first, slots) = bytes.split_at(64);
    let (one, other) = slots.split_at(128);
    let is_first = first.get(9).is_some_and(|state| state & PRIMARY == 0);
    (first, if is_first { one } else { other })
}

/// The first bytes of a file: its layout, and its last two commits.
pub(super) struct RedbHeader<'h> {
    state: u8,
    page_bytes: u64,
    /// The number of pages of each region before its data, and the number of pages of its data.
    pub(super) region_header_pages: u64,
    region_pages: u64,
    /// The number of full regions, and the number of pages of the partial region. Both are
    /// rewritten in place, so they are valid only if the file was closed properly.
    regions: u64,
    more_pages: u64,
    slots: [&'h [u8]; 2],
}

impl<'h> RedbHeader<'h> {
    /// Parses a header; `None` if the bytes are not the header of a database.
    pub(super) fn parse(bytes: &'h [u8]) -> Option<RedbHeader<'h>> {
        let mut cursor = Cursor::new(bytes);
        if cursor.array()? != MAGIC {
            return None;
        }
        let state = cursor.u8()?;
        cursor.take(2)?;
        let mut word = || cursor.u32().map(u64::from);
        Some(RedbHeader {
            state,
            page_bytes: word()?,
            region_header_pages: word()?,
            region_pages: word()?,
            regions: word()?,
            more_pages: word()?,
            slots: [bytes.get(64..192)?, bytes.get(192..320)?],
        })
    }

    pub(super) fn region_bytes(&self) -> u64 {
        (self.region_header_pages + self.region_pages) * PAGE_BYTES
    }

    /// Checks that the layout fits a file of length `len`.
    pub(super) fn check(&self, len: u64) -> Result<()> {
        if self.page_bytes != PAGE_BYTES
            || self.region_header_pages > REGION_PAGES_MAX
            || !(1..=REGION_PAGES_MAX).contains(&self.region_pages)
        {
            return Err(damaged(
                12,
                "its header gives sizes of pages and regions that redb does not use",
            ));
        }
        let data = len - PAGE_BYTES;
        let (whole, rest) = (data / self.region_bytes(), data % self.region_bytes());
        let is_parted = rest == 0 && whole > 0
            || rest > self.region_header_pages * PAGE_BYTES && rest.is_multiple_of(PAGE_BYTES);
        let more = if self.more_pages > 0 { self.region_header_pages + self.more_pages } else { 0 };
        let described = self.regions.saturating_mul(self.region_bytes());
        let described = described.saturating_add(PAGE_BYTES + more * PAGE_BYTES);
        let is_possible = described <= len
            && (1..=REGION_PAGES_MAX).contains(&(self.regions + u64::from(more > 0)))
            && self.more_pages <= self.region_pages;
        if !is_parted || self.state & RECOVERY == 0 && !is_possible {
            let what = format!("its header describes a file of another length than {len} bytes");
            return Err(damaged(16, what));
        }
        Ok(())
    }

    /// The roots of the last commit: of the user's tables, and of redb's own tables.
    pub(super) fn roots(&self) -> Result<[Option<RedbPageRef>; 2]> {
        if self.state & TWO_PHASES == 0 {
            return Err(damaged(9, "its last commit was not made in two phases"));
        }
        if self.slots.iter().any(|slot| slot.first() != Some(&FORMAT)) {
            return Err(damaged(
                64,
                "it has a file format of redb that this version does not read",
            ));
        }
        let [first, second] = self.slots;
        let (slot, at) = if self.state & PRIMARY == 0 { (first, 64) } else { (second, 192) };
        let roots = slot.split_at_checked(SLOT_BYTES).and_then(|(slot, sum)| {
            let sound = xxh3_128(slot) == LittleEndian::read_u128(sum);
            let (mut is_there, mut cursor) =
                (Cursor::new(slot.get(1..3)?), Cursor::new(slot.get(8..).filter(|_| sound)?));
            let mut root = || RedbPageRef::take_root(&mut cursor, is_there.u8()? != 0);
            Some([root()?, root()?])
        });
        roots.ok_or_else(|| damaged(at, "the checksum of its last commit is wrong"))
    }
}
