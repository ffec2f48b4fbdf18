//! An open segment: its map, its sections, and the state of its blocks: checked or not.

use byteorder::{ByteOrder, LittleEndian};
use std::fmt;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use zerocopy::FromBytes;

use super::frame::{Section, SegmentFrame};
use super::plain::PlainSegment;
use crate::bug::OrBug;
use crate::disk::{Access, Disk, FileMap, FileName, MapPart};
use crate::error::{Error, Result};
use crate::layout::{
    AccessPattern, BLOCK_BYTES, SectionKind, SectionTag, SegmentSummary, block_count, block_sum,
    to_usize,
};
use crate::process::ProcessId;
use crate::progress::Progress;
use crate::search::{CacheLine, LINE_BYTES};

/// The number of blocks that one touch reads ahead. It divides 64.
// 32 KiB. The number divides 64, so the bits of all blocks read ahead are in one word.
const AROUND_BLOCKS: u64 = 8;
/// The maximum number of ranges of a file with an access hint for the system. A segment written by
/// this version has five such ranges, and a process may have about ten thousand in total.
const RANGES_MAX: usize = 16;

/// The number of bytes of a table that are checked between two checks for cancellation.
const WARM_UP_STEP: usize = 16 << 20;

/// An immutable file of a store, memory-mapped.
///
/// Opening reads only the head, the section table and the trailer. All other bytes are checked
/// against the checksum of their block when the block is first touched.
pub(crate) struct Segment {
    disk: Arc<dyn Disk>,
    map: Arc<FileMap>,
    frame: SegmentFrame,
    /// One bit for each block of each section.
    checked: Box<[AtomicU64]>,
    /// For each section, whether all of its bits are set. The last element is for absent sections.
    whole: Box<[Arc<AtomicBool>]>,
    /// Whether all bits of all fingerprint tables are set.
    tables_whole: AtomicBool,
    /// Whether the file is removed when the last reference is dropped.
    removed_when_dropped: AtomicBool,
    /// The process that opened the segment. Only this process removes the file.
    process: ProcessId,
}

impl fmt::Debug for Segment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Segment({})", self.id())
    }
}

impl Segment {
    /// Maps segment `id` of a store. Costs a few plain reads, whatever the size of the segment,
    /// because the map is not touched.
    pub(crate) fn open(disk: &Arc<dyn Disk>, id: u64) -> Result<Segment> {
        Segment::open_file(disk, FileName::Segment(id), id)
    }

    /// Maps segment `id` from the file `name`.
    pub(crate) fn open_file(disk: &Arc<dyn Disk>, name: FileName, id: u64) -> Result<Segment> {
        let file = disk.open(name, Access::Read).map_err(|e| Error::io("open", name, e))?;
        let frame = SegmentFrame::read(&*file, name, id)?;
        let map = Arc::new(disk.map(name).map_err(|e| Error::io("map", name, e))?);
        // The map opens the file by its name a second time. By then, the name may belong to another
        // file.
        if map.len() as u64 != frame.bytes() {
            return Err(Error::corrupt(name, 0, "its length changed while it was opened"));
        }
        let ranges = frame
            .sections()
            .chunk_by(|a, b| a.tag.kind.access_pattern() == b.tag.kind.access_pattern());
        for some in ranges.take(RANGES_MAX) {
            let ([first, ..], [.., last]) = (some, some) else { continue };
            let range = to_usize(first.offset)..to_usize(last.offset + last.len);
            match first.tag.kind.access_pattern() {
                // By default a kernel reads some MiB around each touch, though a lookup needs one
                // memory page. In a store larger than memory, the additional reads evicted data
                // that other lookups needed.
                AccessPattern::Sparse => map.advise_random(range),
                // Huge pages are not requested for the whole file, because each touch of a record
                // that is not in memory would read 2 MiB.
                AccessPattern::Dense => map.ask_for_huge_pages(range),
                AccessPattern::Sequential => {}
            }
        }
        let checked = (0..frame.blocks().div_ceil(64)).map(|_| AtomicU64::new(0)).collect();
        // One additional flag for absent sections: their index is the number of sections.
        let whole = (0..=frame.sections().len()).map(|_| Arc::default()).collect();
        Ok(Segment {
            disk: Arc::clone(disk),
            map,
            frame,
            checked,
            whole,
            tables_whole: AtomicBool::new(false),
            removed_when_dropped: AtomicBool::new(false),
            process: ProcessId::current(),
        })
    }

    /// Reads sections with plain reads before a segment is made live: the sections that are then
    /// read through the map. A failing medium is an error in a plain read; through the map it would
    /// be a signal.
    pub(crate) fn read_plainly(&self) -> Result<()> {
        let name = self.frame.name();
        let file = self.disk.open(name, Access::Read).map_err(|e| Error::io("open", name, e))?;
        let mut plain = PlainSegment::new(&self.frame, file);
        let needed = |section: &&Section| {
            matches!(
                section.tag.kind,
                SectionKind::Tombstones | SectionKind::Shards | SectionKind::Shape
            )
        };
        for section in self.frame.sections().iter().filter(needed) {
            // The check marks no block as checked: the bytes of the map are compared again on first
            // touch.
            for block in 0..block_count(section.len) {
                plain.block(section, block)?;
            }
        }
        Ok(())
    }

    pub(super) fn disk(&self) -> &Arc<dyn Disk> {
        &self.disk
    }

    pub(crate) fn id(&self) -> u64 {
        self.frame.id()
    }

    pub(crate) fn numbers(&self) -> &SegmentSummary {
        self.frame.numbers()
    }

    /// Returns the frame of the segment's file.
    pub(crate) fn frame(&self) -> &SegmentFrame {
        &self.frame
    }

    /// Returns the length of the file in bytes.
    pub(crate) fn file_bytes(&self) -> u64 {
        self.frame.bytes()
    }

    /// Removes the file when the last reference to this segment is dropped.
    pub(crate) fn remove_when_dropped(&self) {
        self.removed_when_dropped.store(true, Ordering::Release);
    }

    /// Cancels the removal when the last reference is dropped. The next open of the store removes
    /// the file.
    pub(crate) fn keep(&self) {
        self.removed_when_dropped.store(false, Ordering::Release);
    }

    /// Returns the epochs with tables in this segment.
    pub(crate) fn epochs(&self) -> impl Iterator<Item = u32> + '_ {
        self.frame.epochs()
    }

    /// Returns a section. A section that does not exist is empty.
    pub(crate) fn section(&self, tag: SectionTag) -> SectionRef<'_> {
        self.section_at(self.place(tag))
    }

    #[inline]
    fn section_at(&self, section: Section) -> SectionRef<'_> {
        SectionRef { segment: self, bytes: self.raw(&section, 0..section.len), section }
    }

    pub(super) fn map_part(&self, section: &Section) -> MapPart {
        let end = section.offset + section.len;
        MapPart::new(&self.map, to_usize(section.offset)..to_usize(end))
    }

    /// Returns the flag that all blocks of a section have been checked.
    #[expect(
        clippy::indexing_slicing,
        reason = "there is an element for each section, and one more"
    )]
    pub(super) fn whole_flag(&self, section: &Section) -> &Arc<AtomicBool> {
        &self.whole[section.number]
    }

    pub(super) fn place(&self, tag: SectionTag) -> Section {
        self.frame.place(tag)
    }

    /// Returns all sections in file order.
    pub(crate) fn all_sections(&self) -> impl Iterator<Item = SectionRef<'_>> {
        self.frame.sections().iter().map(|&section| self.section_at(section))
    }

    /// Asks the system to read a range of a section ahead, up to the end of the section.
    pub(super) fn read_ahead(&self, section: &Section, range: Range<u64>) {
        let at = |offset: u64| to_usize(section.offset + offset.min(section.len));
        self.map.read_ahead(at(range.start)..at(range.end));
    }

    /// Returns the error for invalid bytes with a correct checksum.
    pub(crate) fn damaged(&self, tag: SectionTag, offset: u64, what: &str) -> Error {
        self.frame.damaged(tag, offset, what)
    }

    /// Checks all blocks from front to end, so that they need no check on first touch. Costs
    /// reading the file from memory, since the file has just been written.
    pub(crate) fn warm_up(&self) -> Result<()> {
        let unwatched = Progress::default();
        self.all_sections().try_for_each(|section| section.warm_up(&unwatched))?;
        // This flag is set after all sections were checked: readers that see it search the tables
        // without any check.
        self.tables_whole.store(true, Ordering::Release);
        Ok(())
    }

    /// Returns the sections of the fingerprint tables.
    fn table_sections(&self) -> impl Iterator<Item = SectionRef<'_>> {
        // The section of checksums has the greatest kind, so it is among these sections.
        self.all_sections().filter(|section| section.section.tag.kind >= SectionKind::Fingerprints)
    }

    /// Returns the size of the fingerprint tables in bytes.
    pub(crate) fn table_bytes(&self) -> u64 {
        self.table_sections().map(|section| section.len()).sum()
    }

    /// Checks all blocks of the fingerprint tables from front to end.
    pub(crate) fn warm_up_tables(&self, progress: &Progress) -> Result<()> {
        self.table_sections().try_for_each(|section| section.warm_up(progress))?;
        self.tables_whole.store(true, Ordering::Release);
        Ok(())
    }

    /// Whether every block of every fingerprint table has been checked.
    pub(super) fn tables_are_whole(&self) -> bool {
        self.tables_whole.load(Ordering::Acquire)
    }

    fn is_whole(&self, section: &Section) -> bool {
        self.whole_flag(section).load(Ordering::Relaxed)
    }

    /// Returns the word with the bit of a block. Within the word it is bit `block % 64`.
    #[inline]
    #[expect(clippy::indexing_slicing, reason = "a block of a section is one of all")]
    fn checked(&self, block: u64) -> &AtomicU64 {
        &self.checked[to_usize(block / 64)]
    }

    #[inline]
    fn is_checked(&self, block: u64) -> bool {
        // Relaxed: a bit describes bytes that never change. At worst two threads check the same
        // block.
        self.checked(block).load(Ordering::Relaxed) >> (block % 64) & 1 == 1
    }

    fn mark_checked(&self, block: u64) {
        self.checked(block).fetch_or(1 << (block % 64), Ordering::Relaxed);
    }

    /// Returns the expected checksum of a block, after checking the block of checksums that
    /// contains it.
    fn expected_sum(&self, section: &Section, block: u64) -> Result<u32> {
        if section.tag.kind == SectionKind::Sums {
            return self.frame.root(block);
        }
        // `u32_at` first checks the block of checksums, by its root. The recursion ends there: the
        // roots are in memory, and were checked at open.
        self.section(SectionTag::of(SectionKind::Sums)).u32_at(section.first_block + block)
    }

    #[cold]
    fn check_block(&self, section: &Section, block: u64) -> Result<()> {
        self.read_around(section, block);
        let start = block * BLOCK_BYTES;
        let end = section.len.min(start + BLOCK_BYTES);
        let expected = self.expected_sum(section, block)?;
        let found =
            block_sum(self.frame.stamp().nonce, section.tag, block, self.raw(section, start..end));
        if found != expected {
            let what = format!("checksum: expected {expected:08x}, found {found:08x}");
            return Err(self.damaged(section.tag, start, &what));
        }
        self.mark_checked(section.first_block + block);
        Ok(())
    }

    /// Asks the system to read the blocks around a block, if none of these blocks was touched
    /// before. While a segment is loaded into memory, reading a few more blocks costs no more time.
    fn read_around(&self, section: &Section, block: u64) {
        let number = section.first_block + block;
        let first = number - number % AROUND_BLOCKS;
        // `first` is a multiple of 8, so the bits of all eight blocks are in the same word.
        let touched = self.checked(first).load(Ordering::Relaxed) >> (first % 64);
        let is_first = touched & ((1 << AROUND_BLOCKS) - 1) == 0;
        if is_first && section.tag.kind.access_pattern() == AccessPattern::Sparse {
            // The first of the eight blocks may belong to the previous section, which is not read
            // ahead.
            let start = first.saturating_sub(section.first_block) * BLOCK_BYTES;
            let end = (first + AROUND_BLOCKS - section.first_block) * BLOCK_BYTES;
            self.read_ahead(section, start..end);
        }
    }

    /// Returns bytes within a section without checks.
    #[inline]
    #[expect(clippy::indexing_slicing, reason = "a section lies in the file: checked at open")]
    fn raw(&self, section: &Section, range: Range<u64>) -> &[u8] {
        let (start, end) = (section.offset + range.start, section.offset + range.end);
        &self.map[to_usize(start)..to_usize(end)]
    }
}

impl Drop for Segment {
    fn drop(&mut self) {
        // A forked child also drops its copy. The file belongs to the parent.
        if self.removed_when_dropped.load(Ordering::Acquire) && self.process.is_current() {
            // If the removal fails, the next open finds the file and removes it.
            let _ = self.disk.remove(self.frame.name());
        }
    }
}

/// A section of an open segment. Blocks are checked on first touch.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SectionRef<'a> {
    segment: &'a Segment,
    section: Section,
    /// All bytes, checked or not.
    bytes: &'a [u8],
}

impl<'a> SectionRef<'a> {
    #[inline]
    pub(super) fn new(segment: &'a Segment, section: Section, bytes: &'a [u8]) -> SectionRef<'a> {
        SectionRef { segment, section, bytes }
    }

    pub(crate) fn len(&self) -> u64 {
        self.section.len
    }

    /// Returns a range of the section after checking its blocks; an error if a block is damaged.
    #[inline]
    pub(crate) fn get(&self, range: Range<u64>) -> Result<&'a [u8]> {
        let (start, end) = (usize::try_from(range.start), usize::try_from(range.end));
        let (Ok(start), Ok(end)) = (start, end) else { return Err(self.beyond(&range)) };
        let Some(bytes) = self.bytes.get(start..end) else { return Err(self.beyond(&range)) };
        if !bytes.is_empty() && !self.segment.is_whole(&self.section) {
            // The range is not empty, so its end is at least 1.
            for block in range.start / BLOCK_BYTES..=(range.end - 1) / BLOCK_BYTES {
                if !self.segment.is_checked(self.section.first_block + block) {
                    self.segment.check_block(&self.section, block)?;
                }
            }
        }
        Ok(bytes)
    }

    /// Returns at most `most` bytes from `start` on, without checks. Only for prefetching: callers
    /// read the bytes again with checks.
    #[inline]
    pub(super) fn peek(&self, start: u64, most: usize) -> &'a [u8] {
        let rest = usize::try_from(start).ok().and_then(|start| self.bytes.get(start..));
        let rest = rest.unwrap_or(&[]);
        rest.get(..most).unwrap_or(rest)
    }

    /// Checks all blocks.
    fn warm_up(&self, progress: &Progress) -> Result<()> {
        for from in (0..self.len()).step_by(WARM_UP_STEP) {
            let piece = from..self.len().min(from + WARM_UP_STEP as u64);
            progress.check()?;
            progress.pass(piece.end - piece.start);
            if self.section.tag.kind.access_pattern() == AccessPattern::Sparse {
                // Read-ahead loads small memory pages, so only sections with few touches are read
                // ahead. Other sections are loaded by touch, in huge pages.
                self.segment.read_ahead(&self.section, piece.clone());
            }
            self.get(piece)?;
        }
        // After this store, `get` skips the bits of single blocks.
        self.segment.whole_flag(&self.section).store(true, Ordering::Relaxed);
        Ok(())
    }

    /// Returns the section as cache lines, after checking the blocks of the lines with numbers
    /// `lines`; an error if a block is damaged.
    #[inline]
    pub(super) fn lines(&self, lines: impl Iterator<Item = u32>) -> Result<&'a [CacheLine]> {
        let (all, _) = <[CacheLine]>::ref_from_prefix(self.bytes)
            .map_err(|_| self.flaw(0, "its lines are not aligned to cache lines"))?;
        if self.segment.is_whole(&self.section) {
            for line in lines {
                if line as usize >= all.len() {
                    let start = u64::from(line) * LINE_BYTES;
                    return Err(self.beyond(&(start..start + LINE_BYTES)));
                }
            }
            return Ok(all);
        }
        for line in lines {
            let start = u64::from(line) * LINE_BYTES;
            self.get(start..start + LINE_BYTES)?;
        }
        Ok(all)
    }

    #[cold]
    fn beyond(&self, range: &Range<u64>) -> Error {
        let what = format!(
            "another section refers to its bytes {} to {}, but it has {} bytes",
            range.start, range.end, self.section.len
        );
        self.segment.damaged(self.section.tag, range.start, &what)
    }

    /// Returns `N` bytes of the section after checking their blocks; an error if a block is
    /// damaged.
    #[inline]
    pub(crate) fn array<const N: usize>(&self, at: u64) -> Result<[u8; N]> {
        // A saturated offset is beyond the section, so the read is an error.
        let bytes = self.get(at..at.saturating_add(N as u64))?;
        Ok(*bytes.as_array().or_bug("a range has the requested number of bytes")?)
    }

    /// Returns the number at `index` in a section of 32-bit numbers.
    #[inline]
    pub(crate) fn u32_at(&self, index: u64) -> Result<u32> {
        self.array(index.saturating_mul(4)).map(|bytes: [u8; 4]| LittleEndian::read_u32(&bytes))
    }

    /// Returns the number at `index` in a section of 64-bit numbers.
    #[inline]
    pub(crate) fn u64_at(&self, index: u64) -> Result<u64> {
        self.array(index.saturating_mul(8)).map(|bytes: [u8; 8]| LittleEndian::read_u64(&bytes))
    }

    /// Builds an error at an offset within this section.
    pub(crate) fn flaw(&self, offset: u64, what: &str) -> Error {
        self.segment.damaged(self.section.tag, offset, what)
    }
}
