//! The found URLs of a damaged segment, with what is known of them.

use std::sync::Arc;

use super::find::open_file;
use crate::disk::{Disk, FileName};
use crate::error::Result;
use crate::layout::{Cursor, PackedRow, PutInteger, UrlList};
use crate::page::Weight;
use crate::segment::{FoundFacts, FoundRow, LostPages, PageSalvage, PlainSegment, SegmentFrame};
use crate::sort::{FixedSizeItem, SortedItems, Sorter};
use crate::time::Time;

/// The memory in which rows are sorted; more rows go to a scratch file.
const MEMORY_BYTES: usize = 16 << 20;

/// The part of the name of the scratch file, which no writer of a segment uses.
const SCRATCH_PART: u32 = 90;

/// A row with the ordinal of its URL.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct OrdinalRow {
    ordinal: u32,
    row: PackedRow,
}

impl FixedSizeItem for OrdinalRow {
    const BYTES: usize = 20;

    fn put(&self, out: &mut Vec<u8>) {
        out.put_u32(self.ordinal);
        out.extend_from_slice(&self.row);
    }

    fn take(bytes: &[u8]) -> Option<OrdinalRow> {
        let mut cursor = Cursor::new(bytes);
        Some(OrdinalRow { ordinal: cursor.u32()?, row: *cursor.rest().first_chunk()? })
    }

    fn sort(items: &mut Vec<OrdinalRow>) {
        items.sort_unstable();
    }
}

/// A found URL that was recovered.
pub(super) struct RecoveredUrl {
    pub(super) key: Vec<u8>,
    pub(super) url: String,
    pub(super) facts: FoundFacts,
}

/// Reads the found URLs of a segment, and skips damage. If the row of a URL is lost, the URL counts as
/// found when the segment was written, with a weight of 1.
pub(super) struct FoundSalvage<'f> {
    salvage: PageSalvage<'f>,
    rows: SortedItems<OrdinalRow>,
    next: Option<OrdinalRow>,
    default: FoundFacts,
}

impl<'f> FoundSalvage<'f> {
    /// Reads the rows of a segment in `from`, and sorts them with a scratch file in `to`.
    pub(super) fn new(
        from: &Arc<dyn Disk>,
        to: &Arc<dyn Disk>,
        frame: &'f SegmentFrame,
    ) -> Result<FoundSalvage<'f>> {
        let scratch = FileName::Scratch(frame.id(), SCRATCH_PART);
        let mut rows = Sorter::new(to, scratch, MEMORY_BYTES);
        let mut plain = PlainSegment::new(frame, open_file(from, frame.id())?);
        // Rows are in order of hash, and URLs in SURT order.
        plain.sound_found_rows(&mut |ordinal, row| rows.push(OrdinalRow { ordinal, row }))?;
        let mut rows = rows.finish()?;
        let written = Time::from_ms_unchecked(frame.numbers().written);
        let written = if written.is_storable() { written } else { Time::MIN };
        Ok(FoundSalvage {
            salvage: PageSalvage::of_list(plain, UrlList::Found),
            next: rows.next()?,
            rows,
            default: FoundFacts::new(written, Weight::ONE),
        })
    }

    /// Returns the next URL, and the lost URLs before it.
    pub(super) fn next(&mut self) -> Result<(Option<LostPages>, Option<RecoveredUrl>)> {
        let (hole, page) = self.salvage.next().unwrap_or_default();
        let Some(page) = page else { return Ok((hole, None)) };
        let before = |row: &OrdinalRow| u64::from(row.ordinal) < page.ordinal;
        while self.next.as_ref().is_some_and(before) {
            self.next = self.rows.next()?;
        }
        let own = self.next.filter(|row| u64::from(row.ordinal) == page.ordinal);
        let row = own.and_then(|own| FoundRow::unpack(&own.row));
        let facts = row.map_or(self.default, |row| row.facts);
        Ok((hole, Some(RecoveredUrl { key: page.key, url: page.url, facts })))
    }
}
