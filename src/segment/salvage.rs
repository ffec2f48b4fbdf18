//! Recovers the pages of a damaged segment whose checksums are correct.
//!
//! Groups of pages have no gaps, and the heads of a group determine its length. So if the page
//! index is damaged, the end of a group is the start of the next group. From a partly damaged
//! group, a page is recovered if its record, its head and all heads before it are in sound blocks.

use byteorder::{ByteOrder, LittleEndian};
use std::collections::VecDeque;
use std::ops::Range;

use super::frame::Section;
use super::plain::PlainSegment;
use super::record::RecordRef;
use crate::layout::{BLOCK_BYTES, Cursor, GROUP_PAGES, SectionKind, SectionTag, to_usize};
use crate::page::{Entry, surt};
use crate::url::check_url;

/// The maximum length of a group. A longer group is invalid.
const GROUP_BYTES_MAX: u64 = 1 << 30;

/// The maximum length of the heads of a group: 16 of the longest URLs.
const HEADS_BYTES_MAX: u64 = 16 * (8192 + 16);

/// A recovered page.
#[derive(Debug)]
pub(crate) struct SalvagedPage {
    pub(crate) ordinal: u64,
    pub(crate) key: Vec<u8>,
    pub(crate) url: String,
    /// Whether all older data of the page is forgotten.
    pub(crate) reset: bool,
    /// Whether older segments contain the page.
    pub(crate) earlier: bool,
    pub(crate) entries: Vec<Entry>,
}

/// A run of lost pages between two recovered pages.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct LostPages {
    /// The number of lost pages.
    pub(crate) pages: u64,
    /// The range of the damage in the file.
    pub(crate) bytes: Range<u64>,
    /// The recovered page before the hole, if any. `before` is the recovered page after the hole,
    /// if any.
    pub(crate) after: Option<String>,
    pub(crate) before: Option<String>,
}

/// Reads the pages of a segment in sequence, and skips damage. Takes the memory of one group of
/// pages.
#[derive(Debug)]
pub(crate) struct PageSalvage<'f> {
    plain: PlainSegment<'f>,
    pages: Section,
    index: Section,
    /// The next group. `start` is its start, if the previous group determines it.
    group: u64,
    start: Option<u64>,
    ready: VecDeque<SalvagedPage>,
    /// The last returned page.
    last: Option<(u64, Vec<u8>, String)>,
    /// The damage found since the last returned page.
    damage: Option<Range<u64>>,
    ended: bool,
}

/// Bytes of a section, some of which may be damaged.
struct PartlySoundBytes {
    bytes: Vec<u8>,
    /// The damaged ranges of the bytes, in order.
    damaged: Vec<Range<usize>>,
}

impl PartlySoundBytes {
    fn is_sound(&self, range: &Range<usize>) -> bool {
        range.end <= self.bytes.len()
            && self.damaged.iter().all(|d| d.end <= range.start || range.end <= d.start)
    }

    /// Returns the bytes before the first damage.
    #[expect(clippy::indexing_slicing, reason = "damaged ranges lie within the bytes")]
    fn front(&self) -> &[u8] {
        let end = self.damaged.first().map_or(self.bytes.len(), |first| first.start);
        &self.bytes[..end]
    }
}

/// A group, parsed as far as possible.
#[derive(Default)]
struct ParsedGroup {
    /// The URL of each page, and the range of its record.
    pages: Vec<(Vec<u8>, Range<usize>)>,
    /// The end of the group, if all its heads are sound.
    end: Option<usize>,
}

impl<'f> PageSalvage<'f> {
    pub(crate) fn new(plain: PlainSegment<'f>) -> PageSalvage<'f> {
        let pages = plain.frame().place(SectionTag::of(SectionKind::Pages));
        let index = plain.frame().place(SectionTag::of(SectionKind::PageIndex));
        PageSalvage {
            plain,
            pages,
            index,
            group: 0,
            start: Some(0),
            ready: VecDeque::new(),
            last: None,
            damage: None,
            ended: false,
        }
    }

    /// Returns the next sound page, and the hole of lost pages before it. The last item may be a
    /// hole without a page.
    pub(crate) fn next(&mut self) -> Option<(Option<LostPages>, Option<SalvagedPage>)> {
        let count = self.plain.frame().numbers().pages;
        while self.ready.is_empty() && self.group < count.div_ceil(GROUP_PAGES) {
            self.read_group();
        }
        let expected = self.last.as_ref().map_or(0, |(ordinal, ..)| ordinal + 1);
        let page = self.ready.pop_front();
        if page.is_none() && std::mem::replace(&mut self.ended, true) {
            return None;
        }
        let at = page.as_ref().map_or(count, |page| page.ordinal);
        // Pages become ready in order, so the subtraction does not underflow.
        let lost = at - expected;
        let all = self.pages.offset..self.pages.offset + self.pages.len;
        let hole = (lost > 0).then(|| LostPages {
            pages: lost,
            bytes: self.damage.take().unwrap_or(all),
            after: self.last.as_ref().map(|(_, _, url)| url.clone()),
            before: page.as_ref().map(|page| page.url.clone()),
        });
        if let Some(page) = &page {
            self.last = Some((page.ordinal, page.key.clone(), page.url.clone()));
        }
        (hole.is_some() || page.is_some()).then_some((hole, page))
    }

    fn note_damage(&mut self, bytes: Range<u64>) {
        self.damage = Some(match self.damage.take() {
            Some(known) => known.start.min(bytes.start)..known.end.max(bytes.end),
            None => bytes,
        });
    }

    /// Returns the start of a group according to the index.
    fn indexed(&mut self, group: u64) -> Option<u64> {
        let at = group.checked_mul(8)?;
        let (block, within) = (at / BLOCK_BYTES, usize::try_from(at % BLOCK_BYTES).ok()?);
        let start = self.plain.block(&self.index, block).ok().and_then(|bytes| {
            bytes.get(within..)?.first_chunk::<8>().map(|chunk| LittleEndian::read_u64(chunk))
        });
        if start.is_none() {
            let start = self.index.offset + block * BLOCK_BYTES;
            let end = (start + BLOCK_BYTES).min(self.index.offset + self.index.len);
            // This damage matters only if no previous sound group determines the start of this
            // group.
            if self.start.is_none() {
                self.note_damage(start..end);
            }
        }
        start.filter(|start| *start <= self.pages.len)
    }

    /// Reads a range of the pages section. The range must lie within the section.
    #[expect(clippy::indexing_slicing, reason = "a block has all bytes of its range")]
    fn piece(&mut self, range: Range<u64>) -> PartlySoundBytes {
        let mut piece = PartlySoundBytes { bytes: Vec::new(), damaged: Vec::new() };
        for block in range.start / BLOCK_BYTES..range.end.div_ceil(BLOCK_BYTES) {
            let start = block * BLOCK_BYTES;
            let from = range.start.max(start);
            let to = range.end.min(start + BLOCK_BYTES);
            let within = |at: u64| to_usize(at - start);
            let at = piece.bytes.len();
            match self.plain.block(&self.pages, block) {
                Ok(bytes) => {
                    piece.bytes.extend(&bytes[within(from)..within(to)]);
                }
                Err(_) => {
                    // Zeros keep the offsets correct. `is_sound` and `front` prevent that the zeros
                    // are read.
                    piece.bytes.resize(at + within(to) - within(from), 0);
                    piece.damaged.push(at..piece.bytes.len());
                }
            }
        }
        piece
    }

    /// Reads the next group, and queues its sound pages.
    fn read_group(&mut self) {
        let group = self.group;
        self.group += 1;
        // The length in the previous group may be invalid.
        self.start = self.start.filter(|start| *start <= self.pages.len);
        let indexed = self.indexed(group);
        let known = self.start.take();
        // If neither the index nor the previous group determines the start, the group's pages are
        // lost and become part of a hole.
        let Some(start) = indexed.or(known) else { return };
        // A sound index and a sound previous group agree. If they disagree, one of them is damaged.
        if known.is_some_and(|known| known != start) {
            self.note_damage(self.pages.offset + start..self.pages.offset + start);
        }
        // While a start is set, `indexed` reports no damage. Here the heads of this group may
        // determine its end, so a damaged index need not lose pages.
        self.start = Some(start);
        let end = self.indexed(group + 1);
        self.start = None;
        let rest = self.pages.len - start;
        let len = match end {
            Some(end) => end.saturating_sub(start),
            None => {
                // Without the index, the heads determine the length of the records. The heads are
                // read first, to know this length.
                let heads = self.piece(start..start + rest.min(HEADS_BYTES_MAX));
                match take_apart(&heads).end {
                    Some(end) => end as u64,
                    None => rest.min(HEADS_BYTES_MAX),
                }
            }
        };
        // A group is held in memory, so its length must be checked first: it may be damaged.
        if len > rest.min(GROUP_BYTES_MAX) {
            return self.note_damage(self.pages.offset + start..self.pages.offset + self.pages.len);
        }
        let piece = self.piece(start..start + len);
        for damaged in &piece.damaged {
            let at = self.pages.offset + start;
            self.note_damage(at + damaged.start as u64..at + damaged.end as u64);
        }
        let parts = take_apart(&piece);
        self.start = parts.end.map(|end| start + end as u64).or(end);
        let first = group * GROUP_PAGES;
        let most = (self.plain.frame().numbers().pages - first).min(GROUP_PAGES);
        let mut before = self.last.as_ref().map(|(_, key, url)| (key.clone(), url.clone()));
        // Reads at most the maximum number of pages of a group, whatever the group's own count.
        for (ordinal, (url, record)) in (first..first + most).zip(parts.pages) {
            let at = self.pages.offset + start;
            let bytes = at + record.start as u64..at + record.end as u64;
            match page(ordinal, url, &piece, &record) {
                Some(page)
                    if before.as_ref().is_none_or(|b| (&b.0, &b.1) < (&page.key, &page.url)) =>
                {
                    before = Some((page.key.clone(), page.url.clone()));
                    self.ready.push_back(page);
                }
                _ => self.note_damage(bytes),
            }
        }
    }
}

/// Parses the heads of a group as far as they are sound.
fn take_apart(piece: &PartlySoundBytes) -> ParsedGroup {
    // Each URL builds on the previous URL, so no head after the first damage can be decoded.
    let front = piece.front();
    let mut cursor = Cursor::new(front);
    let mut parts = ParsedGroup::default();
    let lengths = (|| Some((cursor.varint()?, usize::try_from(cursor.varint()?).ok()?)))();
    let Some((count, heads)) = lengths.filter(|(count, _)| *count <= GROUP_PAGES) else {
        return parts;
    };
    let fits = |end: usize| end as u64 <= GROUP_BYTES_MAX;
    let records = (front.len() - cursor.rest().len()).checked_add(heads);
    let Some(records) = records.filter(|records| fits(*records)) else { return parts };
    // The sound part of the heads.
    let known = cursor.rest().get(..heads).unwrap_or(cursor.rest());
    let (mut cursor, mut at) = (Cursor::new(known), records);
    let mut url: Vec<u8> = Vec::new();
    for _ in 0..count {
        let head = (|| {
            let [shared, suffix, record] = cursor.varints()?;
            let suffix = cursor.take(usize::try_from(suffix).ok()?)?;
            let end = at.checked_add(usize::try_from(record).ok()?).filter(|end| fits(*end))?;
            Some((usize::try_from(shared).ok().filter(|s| *s <= url.len())?, suffix, end))
        })();
        let Some((shared, suffix, end)) = head else { return parts };
        url.truncate(shared);
        url.extend_from_slice(suffix);
        parts.pages.push((url.clone(), at..end));
        at = end;
    }
    parts.end = Some(at);
    parts
}

/// Returns a page if its URL and record are valid.
fn page(
    ordinal: u64,
    url: Vec<u8>,
    piece: &PartlySoundBytes,
    record: &Range<usize>,
) -> Option<SalvagedPage> {
    if !piece.is_sound(record) {
        return None;
    }
    let url = String::from_utf8(url).ok().filter(|url| check_url(url).is_ok())?;
    let record = RecordRef::parse(piece.bytes.get(record.clone())?)?;
    let entries = record.entries()?;
    if !entries.iter().all(|entry| entry.time().is_storable()) {
        return None;
    }
    let mut key = Vec::new();
    surt::key(&url, &mut key);
    Some(SalvagedPage {
        ordinal,
        key,
        url,
        reset: record.reset(),
        earlier: record.earlier(),
        entries,
    })
}
