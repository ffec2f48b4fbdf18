//! The rows of a segment in order of hash, or rows in memory in the same order.

use std::ops::Range;

use super::file::Segment;
use super::schedule::{RowFlags, ScheduleRow};
use crate::bug::OrBug;
use crate::error::Result;
use crate::layout::{PackedRow, SectionKind, SectionTag};

const HASHES: SectionTag = SectionTag::of(SectionKind::Hashes);
const PAGES: SectionTag = SectionTag::of(SectionKind::HashPages);

/// A row with its page.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PageRow {
    pub(crate) hash: u64,
    /// The ordinal of the page in SURT order.
    pub(crate) page: u32,
    pub(crate) row: ScheduleRow,
}

/// Rows in order of hash, for a range of hashes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ScheduleRows<'s> {
    hashes: &'s [[u8; 8]],
    pages: &'s [[u8; 4]],
    packed: &'s [PackedRow],
    /// The segment of the rows and the place of the first row; `None` for rows in memory.
    of: Option<(&'s Segment, u64)>,
}

/// Rows in memory, in order of hash.
#[derive(Debug, Default)]
pub(crate) struct InMemoryRows {
    hashes: Vec<[u8; 8]>,
    pages: Vec<[u8; 4]>,
    packed: Vec<PackedRow>,
}

impl ScheduleRows<'_> {
    pub(crate) fn len(&self) -> usize {
        self.packed.len()
    }

    /// Returns the hash of a row.
    #[inline]
    #[expect(clippy::indexing_slicing, reason = "there are as many as rows")]
    pub(crate) fn hash(&self, at: usize) -> u64 {
        u64::from_le_bytes(self.hashes[at])
    }

    /// Returns the page of a row: its ordinal in SURT order.
    #[inline]
    #[expect(clippy::indexing_slicing, reason = "there are as many as rows")]
    pub(crate) fn page(&self, at: usize) -> u32 {
        u32::from_le_bytes(self.pages[at])
    }

    /// Returns a row, unpacked.
    #[inline]
    #[expect(clippy::indexing_slicing, reason = "callers pass an index below `len`")]
    pub(crate) fn row(&self, at: usize) -> Result<ScheduleRow> {
        let packed = &self.packed[at];
        match ScheduleRow::unpack(packed) {
            Some(row) => Ok(row),
            // This process packed the rows in memory, so an unreadable row in memory is a bug. In a
            // segment it is damage.
            None => self.of.map_or_else(
                || Ok(None.or_bug("each packed row can be unpacked")?),
                |(segment, start)| segment.row(start + at as u64, packed),
            ),
        }
    }

    /// Returns the flags of a row: whether its page is known, and whether it is a first row.
    #[inline]
    #[expect(clippy::indexing_slicing, reason = "callers pass an index below `len`")]
    pub(crate) fn flags(&self, at: usize) -> RowFlags {
        RowFlags::unpack(&self.packed[at])
    }

    /// Returns the rows with this hash.
    #[inline]
    pub(crate) fn with(&self, hash: u64) -> Range<usize> {
        let from = self.hashes.partition_point(|other| u64::from_le_bytes(*other) < hash);
        // Counted one by one, because a hash of 64 bits nearly always belongs to one page.
        let others = self.hashes.iter().skip(from);
        from..from + others.take_while(|other| u64::from_le_bytes(**other) == hash).count()
    }
}

impl InMemoryRows {
    pub(crate) fn new(mut rows: Vec<PageRow>) -> InMemoryRows {
        // The same order and columns as in a segment, so that `ScheduleRows` reads both.
        rows.sort_unstable_by_key(|row| (row.hash, row.page));
        InMemoryRows {
            hashes: rows.iter().map(|row| row.hash.to_le_bytes()).collect(),
            pages: rows.iter().map(|row| row.page.to_le_bytes()).collect(),
            packed: rows.iter().map(|row| row.row.pack()).collect(),
        }
    }

    /// Returns the rows with hashes from `first` to `last`. `first` must be at most `last`.
    #[expect(clippy::indexing_slicing, reason = "places of some of them, in order")]
    pub(crate) fn rows(&self, first: u64, last: u64) -> ScheduleRows<'_> {
        let place_from = |hash| self.hashes.partition_point(|h| u64::from_le_bytes(*h) < hash);
        // The greatest hash has no successor. In this case the range includes all rows to the end.
        let upto = last.checked_add(1).map_or(self.hashes.len(), place_from);
        let places = place_from(first)..upto;
        ScheduleRows {
            hashes: &self.hashes[places.clone()],
            pages: &self.pages[places.clone()],
            packed: &self.packed[places],
            of: None,
        }
    }
}

impl Segment {
    /// Returns the rows with hashes from `first` to `last`. `first` must be at most `last`.
    pub(crate) fn rows(&self, first: u64, last: u64) -> Result<ScheduleRows<'_>> {
        let pages = self.numbers().pages;
        let start = self.place_from(first)?;
        let end = last.checked_add(1).map_or(Ok(pages), |end| self.place_from(end))?;
        if end < start {
            let what =
                format!("the hashes from {first:#x} on come after the hashes from {last:#x} on");
            return Err(self.damaged(HASHES, end * 8, &what));
        }
        let rows = ScheduleRows {
            hashes: self.section(HASHES).get(start * 8..end * 8)?.as_chunks().0,
            pages: self.section(PAGES).get(start * 4..end * 4)?.as_chunks().0,
            packed: self.packed_rows(start..end)?,
            of: Some((self, start)),
        };
        let hash_before = |at: usize| at.checked_sub(1).map_or(first, |before| rows.hash(before));
        // The order and the ordinals are checked here for the whole range, because the loops over
        // rows rely on both.
        let is_low = rows.len() > 0 && rows.hash(0) < first;
        if is_low || !rows.hashes.is_sorted_by_key(|hash| u64::from_le_bytes(*hash)) {
            let falls = (0..rows.len()).find(|at| rows.hash(*at) < hash_before(*at));
            let place = start
                + falls
                    .or_bug("hashes that are not sorted have a hash less than the hash before it")?
                    as u64;
            let what = format!("hash {place} of {pages} is less than the hash before it");
            return Err(self.damaged(HASHES, place * 8, &what));
        }
        // The maximum of all ordinals decides. The search for the wrong row runs only if the
        // maximum is wrong.
        let largest = rows.pages.iter().map(|page| u32::from_le_bytes(*page)).max();
        if largest.is_some_and(|page| u64::from(page) >= pages) {
            let wrong = (0..rows.len()).find(|at| u64::from(rows.page(*at)) >= pages);
            let place = wrong.or_bug("an ordinal above the maximum exists")?;
            let what = format!(
                "it refers to page {}, but the segment has {pages} pages",
                rows.page(place)
            );
            return Err(self.damaged(PAGES, (start + place as u64) * 4, &what));
        }
        Ok(rows)
    }
}
