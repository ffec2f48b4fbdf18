//! The rows of a segment, one after another in the order of its hashes.

use std::ops::Range;

use byteorder::{ByteOrder, LittleEndian};

use super::file::Segment;
use super::schedule::Row;
use crate::error::Result;
use crate::layout::{Kind, PackedRow, Tag};

/// Rows that are checked and read together.
const TOGETHER: u64 = 512;

const HASHES: Tag = Tag::of(Kind::Hashes);
const PAGES: Tag = Tag::of(Kind::HashPages);

/// A row, and whose it is.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RowOf {
    pub(crate) hash: u64,
    /// The page's place in SURT order.
    pub(crate) page: u32,
    pub(crate) row: Row,
}

/// Reads the rows of some hashes.
#[derive(Debug)]
pub(crate) struct RowCursor<'s> {
    segment: &'s Segment,
    /// Places that are not read yet.
    places: Range<u64>,
    /// The place of the first row that is.
    start: u64,
    hashes: &'s [[u8; 8]],
    pages: &'s [[u8; 4]],
    rows: &'s [PackedRow],
    at: usize,
    last: u64,
}

impl<'s> RowCursor<'s> {
    /// Stands before the first row of hashes from `first` to `last`.
    pub(crate) fn new(segment: &'s Segment, first: u64, last: u64) -> Result<RowCursor<'s>> {
        let places = segment.place_from(first)?..match last.checked_add(1) {
            Some(end) => segment.place_from(end)?,
            None => segment.numbers().pages,
        };
        let start = places.start;
        Ok(RowCursor {
            segment,
            places,
            start,
            hashes: &[],
            pages: &[],
            rows: &[],
            at: 0,
            last: first,
        })
    }

    /// The next row; none past the last.
    #[inline]
    pub(crate) fn next(&mut self) -> Result<Option<RowOf>> {
        if self.at >= self.rows.len() && !self.read()? {
            return Ok(None);
        }
        let at = self.at;
        self.at += 1;
        // As many of each as rows.
        let (Some(hash), Some(page), Some(row)) =
            (self.hashes.get(at), self.pages.get(at), self.rows.get(at))
        else {
            return Ok(None);
        };
        let (hash, page) = (LittleEndian::read_u64(hash), LittleEndian::read_u32(page));
        let place = self.start + at as u64;
        let pages = self.segment.numbers().pages;
        if hash < self.last {
            let what = format!("hash {place} of {pages} is less than the one before");
            return Err(self.segment.damaged(HASHES, place * 8, &what));
        }
        if u64::from(page) >= pages {
            let what = format!("it names page {page} of {pages}");
            return Err(self.segment.damaged(PAGES, place * 4, &what));
        }
        self.last = hash;
        Ok(Some(RowOf { hash, page, row: self.segment.row(place, row)? }))
    }

    /// Reads more rows, if there are more.
    fn read(&mut self) -> Result<bool> {
        let Range { start, end } = self.places;
        if start >= end {
            return Ok(false);
        }
        let upto = end.min(start + TOGETHER);
        let (segment, places) = (self.segment, start..upto);
        self.hashes = segment.section(HASHES).get(start * 8..upto * 8)?.as_chunks().0;
        self.pages = segment.section(PAGES).get(start * 4..upto * 4)?.as_chunks().0;
        self.rows = segment.packed_rows(places)?;
        (self.start, self.at, self.places.start) = (start, 0, upto);
        Ok(true)
    }
}
