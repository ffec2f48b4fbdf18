//! The pages of a segment in SURT order: by ordinal, by URL, or in sequence.

use byteorder::{ByteOrder, LittleEndian};
use std::ops::Range;
use std::sync::Arc;

use zerocopy::little_endian::U64;
use zerocopy::transmute;

use super::file::Segment;
use super::group::PageGroup;
use super::page_merge::PageStream;
use super::record::RecordRef;
use crate::bug::OrBug;
use crate::cpu::prefetch;
use crate::error::{Error, Result};
use crate::layout::{Cursor, GROUP_PAGES, SectionKind, SectionTag};
use crate::page::surt;

const PAGES: SectionTag = SectionTag::of(SectionKind::Pages);

/// The approximate number of bytes of a group that are read to find a page of the group.
// Seven cache lines: the front-coded heads of 16 URLs usually fit in seven lines.
const HEADS_BYTES: usize = 448;

/// The number of bytes that a cursor reads ahead initially. `AHEAD_MAX` is the maximum.
const AHEAD_MIN: u64 = 64 << 10;
const AHEAD_MAX: u64 = 2 << 20;

/// The error text for an invalid record.
pub(super) const UNREADABLE: &str = "the record of a page is not readable";

/// A page found in a segment.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PageRef<'a> {
    pub(crate) ordinal: u32,
    pub(crate) record: RecordRef<'a>,
}

/// The bytes of a page's record.
#[derive(Clone, Copy)]
pub(crate) struct UnreadRecord<'a> {
    segment: &'a Segment,
    /// The offset of the record, or of the record's group.
    start: u64,
    pub(super) bytes: &'a [u8],
}

impl<'a> UnreadRecord<'a> {
    /// Returns the length of the record in bytes.
    pub(crate) fn len(&self) -> usize {
        self.bytes.len()
    }

    pub(crate) fn read(&self) -> Result<RecordRef<'a>> {
        RecordRef::parse(self.bytes).ok_or_else(|| self.unreadable())
    }

    /// Builds the error for an invalid record.
    #[cold]
    pub(crate) fn unreadable(&self) -> Error {
        self.segment.damaged(PAGES, self.start, UNREADABLE)
    }
}

impl Segment {
    /// Returns the bytes of a group, and the offset of the group in the section.
    fn group_bytes(&self, group: u64) -> Result<(u64, &[u8])> {
        let index = self.section(SectionTag::of(SectionKind::PageIndex));
        // A saturated number lies beyond the section, where the read fails.
        let bounds: [U64; 2] = transmute!(index.array::<16>(group.saturating_mul(8))?);
        let [start, end] = bounds.map(U64::get);
        Ok((start, self.section(PAGES).get(start..end)?))
    }

    fn group(&self, group: u64) -> Result<(u64, PageGroup<'_>)> {
        let (start, bytes) = self.group_bytes(group)?;
        Ok((start, self.parse_group(group, start, bytes)?))
    }

    /// Parses a group of the page index. All groups are full except the last.
    fn parse_group<'a>(&self, group: u64, start: u64, bytes: &'a [u8]) -> Result<PageGroup<'a>> {
        // The subtraction cannot underflow. The index has one number for each group and one for the
        // end (checked at open), and both bounds of this group were read from it.
        let pages = (self.numbers().pages - group * GROUP_PAGES).min(GROUP_PAGES);
        PageGroup::parse(bytes, pages).ok_or_else(|| {
            let what = format!("the group does not begin with the heads of {pages} pages");
            self.damaged(PAGES, start, &what)
        })
    }

    /// Returns the page with an ordinal. Writes the page's URL into `url`, and does not parse its
    /// record. Costs one group. The record is not touched, since it is seldom in the same cache
    /// lines.
    pub(crate) fn page(&self, ordinal: u32, url: &mut Vec<u8>) -> Result<UnreadRecord<'_>> {
        let number = u64::from(ordinal) / GROUP_PAGES;
        let (start, bytes) = self.group_bytes(number)?;
        // Prefetches all lines at once. Without it, the walk over the heads would wait for each
        // line in turn.
        prefetch(bytes.get(..HEADS_BYTES).unwrap_or(bytes));
        let mut group = self.parse_group(number, start, bytes)?;
        let bytes = group.skip(u64::from(ordinal) % GROUP_PAGES, url);
        let bytes = bytes.ok_or_else(|| self.no_page(start, ordinal.into()))?;
        Ok(UnreadRecord { segment: self, start, bytes })
    }

    /// Returns the page with an ordinal if its URL is `url`. Costs one group.
    pub(crate) fn page_if(&self, ordinal: u32, url: &str) -> Result<Option<PageRef<'_>>> {
        let (start, mut group) = self.group(u64::from(ordinal) / GROUP_PAGES)?;
        let found = group.find(u64::from(ordinal) % GROUP_PAGES, url.as_bytes());
        let parsed = found.and_then(|(bytes, same)| Some((RecordRef::parse(bytes)?, same)));
        let (record, same) = parsed.ok_or_else(|| self.no_page(start, ordinal.into()))?;
        Ok(same.then_some(PageRef { ordinal, record }))
    }

    /// Builds the error for a page that cannot be read in the group at `start`.
    #[cold]
    fn no_page(&self, start: u64, ordinal: u64) -> Error {
        let pages = self.numbers().pages;
        let what = format!("page {ordinal} of {pages} is not readable in its group");
        self.damaged(PAGES, start, &what)
    }

    /// Returns the page with this URL.
    pub(crate) fn find(&self, hash: u64, url: &str) -> Result<Option<PageRef<'_>>> {
        for ordinal in self.pages_with_hash(hash)? {
            if let Some(page) = self.page_if(ordinal?, url)? {
                return Ok(Some(page));
            }
        }
        Ok(None)
    }

    /// Returns the wanted pages that are in this segment, with their indexes in `wanted`. A wanted
    /// page is a pair of a hash and a URL. If `wanted` is in order of hashes, each page costs a
    /// fraction of [`find`](Self::find), since reads are prefetched while other pages are
    /// processed.
    pub(crate) fn find_many<'u>(
        &self,
        wanted: impl Iterator<Item = (u64, &'u str)> + Clone,
    ) -> Result<Vec<(usize, PageRef<'_>)>> {
        /// The numbers of pages that the two prefetches of a stage are ahead.
        // Each loop below is a stage. A stage prefetches an address 16 pages ahead, and the data at
        // this address 8 pages ahead, when the address has arrived.
        const AHEAD: (usize, usize) = (16, 8);
        let mut candidates = Vec::new();
        let mut later = wanted.clone().skip(AHEAD.0);
        for (place, (hash, url)) in wanted.enumerate() {
            if let Some((hash, _)) = later.next() {
                self.prefetch_filter(hash);
            }
            if self.may_contain(hash)? {
                candidates.push((place, hash, url));
            }
        }
        let hash_of = |at: usize| candidates.get(at).map(|(_, hash, _)| *hash);
        let mut ordinals: Vec<(usize, &str, u32)> = Vec::with_capacity(candidates.len());
        for (at, &(place, hash, url)) in candidates.iter().enumerate() {
            hash_of(at + AHEAD.0).into_iter().for_each(|hash| self.prefetch_bounds(hash));
            hash_of(at + AHEAD.1).into_iter().for_each(|hash| self.prefetch_hashes(hash));
            // Not `pages_with_hash`, because it would check the filter again.
            for ordinal in self.pages_behind(hash)? {
                ordinals.push((place, url, ordinal?));
            }
        }
        let group_of =
            |at: usize| ordinals.get(at).map(|(_, _, ordinal)| u64::from(*ordinal) / GROUP_PAGES);
        let mut found = Vec::with_capacity(ordinals.len());
        for (at, &(place, url, ordinal)) in ordinals.iter().enumerate() {
            if let Some(group) = group_of(at + AHEAD.0) {
                self.prefetch_group_bounds(group);
            }
            if let Some(group) = group_of(at + AHEAD.1) {
                self.prefetch_group(group);
            }
            if let Some(page) = self.page_if(ordinal, url)? {
                // The caller reads the records after this loop, so the records arrive while other
                // pages are looked up.
                page.record.prefetch();
                found.push((place, page));
            }
        }
        Ok(found)
    }

    /// Prefetches the offset of a page's group.
    pub(crate) fn prefetch_place(&self, page: u32) {
        self.prefetch_group_bounds(u64::from(page) / GROUP_PAGES);
    }

    /// Prefetches a page's group. The offset of the group must have arrived.
    pub(crate) fn prefetch_page(&self, page: u32) {
        self.prefetch_group(u64::from(page) / GROUP_PAGES);
    }

    /// Prefetches a group. The offset of the group must have arrived.
    fn prefetch_group(&self, group: u64) {
        let index = self.section(SectionTag::of(SectionKind::PageIndex));
        // Without a check: a damaged number prefetches the wrong line, and the later read reports
        // the damage.
        if let Some(start) = index.peek(group.saturating_mul(8), 8).first_chunk::<8>() {
            prefetch(self.section(PAGES).peek(LittleEndian::read_u64(start), HEADS_BYTES));
        }
    }

    /// Prefetches the offset of a group.
    fn prefetch_group_bounds(&self, group: u64) {
        prefetch(
            self.section(SectionTag::of(SectionKind::PageIndex)).peek(group.saturating_mul(8), 16),
        );
    }

    /// Returns the first page whose SURT key is at or after `key`; the number of pages if there is
    /// no such page.
    pub(crate) fn lower_bound(&self, key: &[u8]) -> Result<u64> {
        let (mut low, mut high) = (0, self.numbers().pages.div_ceil(GROUP_PAGES));
        let (mut url, mut found) = (Vec::new(), Vec::new());
        // Finds the last group whose first page is before the key.
        while low < high {
            let middle = u64::midpoint(low, high);
            let (start, mut group) = self.group(middle)?;
            url.clear();
            let page = middle * GROUP_PAGES;
            group.next(&mut url).ok_or_else(|| self.no_page(start, page))?;
            self.key_of(&url, &mut found)?;
            if found.as_slice() < key {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        // The key may lie within the previous group, whose first page is less than the key. Only
        // this group is decoded.
        let Some(group) = low.checked_sub(1) else { return Ok(0) };
        let mut ordinal = group * GROUP_PAGES;
        let (start, mut pages_of) = self.group(group)?;
        url.clear();
        while pages_of.left > 0 {
            pages_of.next(&mut url).ok_or_else(|| self.no_page(start, ordinal))?;
            self.key_of(&url, &mut found)?;
            if found.as_slice() >= key {
                break;
            }
            ordinal += 1;
        }
        Ok(ordinal)
    }

    fn key_of(&self, url: &[u8], key: &mut Vec<u8>) -> Result<()> {
        key.clear();
        surt::key(self.text(url)?, key);
        Ok(())
    }

    /// Converts a stored URL to a string without a copy.
    pub(crate) fn owned_text(&self, url: Vec<u8>) -> Result<String> {
        String::from_utf8(url).map_err(|e| self.no_text(e.as_bytes()))
    }

    /// Converts a stored URL to text.
    pub(crate) fn text<'a>(&self, url: &'a [u8]) -> Result<&'a str> {
        std::str::from_utf8(url).map_err(|_| self.no_text(url))
    }

    #[cold]
    fn no_text(&self, url: &[u8]) -> Error {
        let what = format!("the URL {} is not valid UTF-8", url.escape_ascii());
        self.damaged(PAGES, 0, &what)
    }
}

/// The ordinal of a page, and the range of its record in the pages section.
pub(crate) struct RecordLocation {
    page: u64,
    bytes: Range<u64>,
}

/// Reads the pages of a segment in sequence from any ordinal.
pub(crate) struct PageCursor {
    segment: Arc<Segment>,
    /// The ordinal after the current page.
    ordinal: u64,
    end: u64,
    /// Whether there is a current page.
    stands: bool,
    url: Vec<u8>,
    key: Vec<u8>,
    /// The key and URL of the previous page.
    before: (Vec<u8>, Vec<u8>),
    /// The remaining heads of the group, as a range in the pages section. `records` is the range of
    /// the group's remaining records, and `record` is the range of the current record.
    heads: Range<u64>,
    records: Range<u64>,
    record: Range<u64>,
    /// The offset up to which the system was asked to read. `ahead` is the number of bytes to ask
    /// for next.
    asked: u64,
    ahead: u64,
}

impl PageCursor {
    /// Creates a cursor before page `from`.
    pub(crate) fn new(segment: Arc<Segment>, from: u64) -> Result<PageCursor> {
        let end = segment.numbers().pages;
        let mut cursor = PageCursor {
            segment,
            // URLs are front-coded, so a cursor begins with the first page of the group and decodes
            // the pages before `from`.
            ordinal: from - from % GROUP_PAGES,
            end,
            stands: false,
            url: Vec::new(),
            key: Vec::new(),
            before: (Vec::new(), Vec::new()),
            heads: 0..0,
            records: 0..0,
            record: 0..0,
            asked: 0,
            ahead: AHEAD_MIN,
        };
        while cursor.ordinal < from && cursor.step()? {}
        Ok(cursor)
    }

    /// Advances to the next page without computing its key; `false` after the last page.
    fn step(&mut self) -> Result<bool> {
        self.stands = false;
        if self.ordinal >= self.end {
            return Ok(false);
        }
        if self.ordinal.is_multiple_of(GROUP_PAGES) {
            self.read_ahead();
            let number = self.ordinal / GROUP_PAGES;
            let (start, bytes) = self.segment.group_bytes(number)?;
            // Ranges instead of slices, because a cursor owns its segment and cannot borrow from
            // itself.
            let end = start + bytes.len() as u64;
            let group = self.segment.parse_group(number, start, bytes)?;
            let records = end - group.records.rest().len() as u64;
            self.heads = records - group.heads.rest().len() as u64..records;
            self.records = records..end;
            self.url.clear();
        }
        let section = self.segment.section(PAGES);
        let mut group = PageGroup {
            left: 1,
            heads: Cursor::new(section.get(self.heads.clone())?),
            records: Cursor::new(section.get(self.records.clone())?),
        };
        let record = group.next(&mut self.url);
        let record = record.ok_or_else(|| self.segment.no_page(self.heads.start, self.ordinal))?;
        self.heads.start = self.heads.end - group.heads.rest().len() as u64;
        self.record = self.records.start..self.records.start + record.len() as u64;
        self.records.start = self.record.end;
        self.ordinal += 1;
        Ok(true)
    }

    /// Reads ahead the next group and more. The number of bytes grows each time, so a short scan
    /// reads little, and a long scan does not wait.
    fn read_ahead(&mut self) {
        let at = self.records.end;
        // The cursor is at the middle of the range that was read ahead last.
        if at > 0 && at + self.ahead / 4 >= self.asked {
            let from = at.max(self.asked);
            self.asked = from + self.ahead;
            self.segment.read_ahead(&self.segment.place(PAGES), from..self.asked);
            self.ahead = AHEAD_MAX.min(2 * self.ahead);
        }
    }

    /// Advances to the next page; `false` after the last page. A page that does not come after the
    /// previous page is damage.
    pub(crate) fn advance(&mut self) -> Result<bool> {
        // The URL is copied before `step`, which overwrites it in place.
        self.before.1.clone_from(&self.url);
        if !self.step()? {
            return Ok(false);
        }
        // The two keys swap their buffers, so no page costs an allocation.
        std::mem::swap(&mut self.before.0, &mut self.key);
        self.segment.key_of(&self.url, &mut self.key)?;
        if (&self.before.0, &self.before.1) >= (&self.key, &self.url) {
            let what = format!("page {} is not in SURT order", self.ordinal());
            return Err(self.segment.damaged(PAGES, self.heads.start, &what));
        }
        self.stands = true;
        Ok(true)
    }

    /// Returns the current page's ordinal.
    pub(crate) fn ordinal(&self) -> u64 {
        self.ordinal - 1
    }

    pub(crate) fn url(&self) -> Result<&str> {
        self.segment.text(&self.url)
    }

    /// Returns the current page's SURT key.
    pub(crate) fn key(&self) -> &[u8] {
        &self.key
    }

    pub(crate) fn record(&self) -> Result<RecordRef<'_>> {
        self.unread(&self.record)?.read()
    }

    /// Returns the record of a page that this cursor returned earlier.
    pub(crate) fn record_at(&self, place: &RecordLocation) -> Result<UnreadRecord<'_>> {
        self.unread(&place.bytes)
    }

    /// Returns a page that this cursor returned earlier.
    pub(crate) fn taken_page(&self, place: &RecordLocation) -> Result<PageRef<'_>> {
        let ordinal = u32::try_from(place.page).ok();
        let ordinal = ordinal.or_bug("a segment has fewer than 2^32 pages")?;
        Ok(PageRef { ordinal, record: self.record_at(place)?.read()? })
    }

    fn unread(&self, record: &Range<u64>) -> Result<UnreadRecord<'_>> {
        let bytes = self.segment.section(PAGES).get(record.clone())?;
        Ok(UnreadRecord { segment: &self.segment, start: record.start, bytes })
    }
}

impl PageStream for PageCursor {
    type Page = RecordLocation;

    fn next_place(&self) -> Option<(&[u8], &[u8])> {
        self.stands.then_some((&self.key, &self.url))
    }

    fn take(&mut self) -> Result<RecordLocation> {
        let place = RecordLocation { page: self.ordinal(), bytes: self.record.clone() };
        self.advance()?;
        Ok(place)
    }
}
