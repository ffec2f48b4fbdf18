//! Writes a segment, section by section.

use std::sync::Arc;

use crate::bug;
use crate::disk::{Disk, FileName, NewFile, ScratchFile, ScratchMap};
use crate::error::{Error, Result};
use crate::layout::{
    ALIGN, BlockSums, SectionEntry, SectionKind, SectionTable, SectionTag, SegmentSummary, Stamp,
    block_count, bytes_for, encode_head, encode_table, le_u32, to_usize,
};

/// The size of a section's buffer: a few blocks. Buffered bytes are checksummed and written
/// together.
const GATHERED_BYTES: usize = 32 << 10;

/// A segment that is being written. If the builder is dropped, no file remains.
pub(super) struct SegmentBuilder {
    disk: Arc<dyn Disk>,
    stamp: Stamp,
    file: NewFile,
    entries: Vec<SectionEntry>,
    sums: Vec<u32>,
    scratches: u32,
}

/// A section that is being written.
pub(super) struct SectionWriter {
    entry: SectionEntry,
    sums: BlockSums,
    /// Whether space was reserved for the section. Without it, the section grows at the end of the
    /// file.
    placed: bool,
    /// The number of bytes already written to the file.
    passed_on: u64,
    /// Buffered bytes, which follow the bytes already written.
    gathered: Vec<u8>,
}

impl SectionWriter {
    /// Returns the number of bytes passed to the section so far.
    pub(super) fn written(&self) -> u64 {
        self.passed_on + self.gathered.len() as u64
    }

    /// Returns the offset of the section in the file.
    pub(super) fn offset(&self) -> u64 {
        self.entry.offset
    }
}

impl SegmentBuilder {
    pub(super) fn new(disk: &Arc<dyn Disk>, stamp: Stamp) -> Result<SegmentBuilder> {
        let mut file = NewFile::create(Arc::clone(disk), FileName::SegmentNew(stamp.id))?;
        file.append(&encode_head(&stamp))?;
        // The head only identifies the segment. Counts are known at the end, so they are stored in
        // the section table, and no byte is ever rewritten.
        let disk = Arc::clone(disk);
        Ok(SegmentBuilder {
            disk,
            stamp,
            file,
            entries: Vec::new(),
            sums: Vec::new(),
            scratches: 0,
        })
    }

    fn align(&mut self) -> Result<u64> {
        // At most 63 zeros. No checksum covers the zeros, but `PlainSegment::check` and `dump` look
        // at them.
        let at = self.file.position();
        self.file.append(&vec![0; to_usize(at.next_multiple_of(ALIGN) - at)])?;
        Ok(self.file.position())
    }

    /// Begins a section that grows at the end of the file. This section must be ended before
    /// another such section begins.
    pub(super) fn begin(&mut self, tag: SectionTag) -> Result<SectionWriter> {
        let offset = self.align()?;
        let entry = SectionEntry { tag, offset, len: 0 };
        Ok(SectionWriter {
            entry,
            sums: BlockSums::new(self.stamp.nonce, tag),
            placed: false,
            passed_on: 0,
            gathered: Vec::new(),
        })
    }

    /// Reserves `len` bytes for a section that is filled while other sections are written.
    pub(super) fn place(&mut self, tag: SectionTag, len: u64) -> Result<SectionWriter> {
        self.align()?;
        // Sections that are filled in turn cannot all grow at the end of the file. The lengths of
        // these sections are known in advance, so each section has a reserved range.
        let offset = self.file.reserve(len)?;
        let entry = SectionEntry { tag, offset, len };
        let sums = BlockSums::new(self.stamp.nonce, tag);
        Ok(SectionWriter { entry, sums, placed: true, passed_on: 0, gathered: Vec::new() })
    }

    /// Appends to a section.
    pub(super) fn write(&mut self, section: &mut SectionWriter, bytes: &[u8]) -> Result<()> {
        // `TablesWriter::push` passes 8 bytes at a time, which are checksummed and written in
        // larger pieces.
        if section.gathered.len() + bytes.len() < GATHERED_BYTES {
            section.gathered.extend_from_slice(bytes);
            return Ok(());
        }
        self.pass_gathered_on(section)?;
        self.pass_on(section, bytes)
    }

    fn pass_gathered_on(&mut self, section: &mut SectionWriter) -> Result<()> {
        // The buffer is put back afterwards, to keep its allocation.
        let mut gathered = std::mem::take(&mut section.gathered);
        self.pass_on(section, &gathered)?;
        gathered.clear();
        section.gathered = gathered;
        Ok(())
    }

    fn pass_on(&mut self, section: &mut SectionWriter, bytes: &[u8]) -> Result<()> {
        // Even a section with a reserved range is filled from front to end, so a running checksum
        // is enough.
        section.sums.update(bytes);
        let at = section.entry.offset + section.passed_on;
        section.passed_on += bytes.len() as u64;
        if section.placed {
            let fits = section.passed_on <= section.entry.len;
            bug::ensure(fits, "a section does not exceed its reserved bytes")?;
            self.file.write_at(at, bytes)?;
        } else {
            bug::ensure(self.file.position() == at, "only one section grows at a time")?;
            self.file.append(bytes)?;
        }
        Ok(())
    }

    /// Ends a section. The section table lists sections in the order of the file.
    pub(super) fn end(&mut self, mut section: SectionWriter) -> Result<()> {
        self.pass_gathered_on(&mut section)?;
        let entry = SectionEntry { len: section.passed_on, ..section.entry };
        let filled = !section.placed || section.entry.len == entry.len;
        bug::ensure(filled, "a section has exactly its reserved bytes")?;
        // The checksums and `parse_table` rely on this order: sections must not overlap or go
        // backwards.
        let end = self.entries.last().map_or(0, |before| before.offset + before.len);
        bug::ensure(end <= entry.offset, "sections end in their order in the file")?;
        let sums = section.sums.finish();
        bug::ensure(sums.len() as u64 == block_count(entry.len), "each block has a checksum")?;
        self.entries.push(entry);
        self.sums.extend(sums);
        Ok(())
    }

    /// Writes a whole section at once.
    pub(super) fn whole(&mut self, tag: SectionTag, bytes: &[u8]) -> Result<()> {
        let mut section = self.begin(tag)?;
        self.write(&mut section, bytes)?;
        self.end(section)
    }

    /// Reads bytes that were written earlier.
    pub(super) fn read_back(&self, offset: u64, buffer: &mut [u8]) -> Result<()> {
        Ok(self.file.read_at(offset, buffer)?)
    }

    /// Returns the error for bytes that differ from the written bytes when read back.
    pub(super) fn misread(&self, offset: u64) -> Error {
        let what = "the disk returns other bytes than were just written to it";
        Error::corrupt(FileName::SegmentNew(self.stamp.id), offset, what)
    }

    /// Returns a new name for a scratch file.
    pub(super) fn scratch_name(&mut self) -> FileName {
        let name = FileName::Scratch(self.stamp.id, self.scratches);
        self.scratches += 1;
        name
    }

    /// Creates a spill for bytes that come later in the file. `among` spills are filled
    /// concurrently.
    pub(super) fn spill(&mut self, among: usize) -> Spill {
        let (name, disk) = (self.scratch_name(), Arc::clone(&self.disk));
        // A merge has a spill for each input. The second limit bounds the memory of all spills
        // together.
        let memory_bytes = Spill::MEMORY_BYTES.min(Spill::ALL_BYTES / among);
        Spill { disk, name, memory_bytes, memory: Vec::new(), scratch: None }
    }

    /// Writes the checksums, the section table and the trailer, and renames the file durably.
    pub(super) fn finish(mut self, numbers: SegmentSummary) -> Result<u64> {
        self.check(&numbers)?;
        // The clock comes from the disk, so a simulated disk writes the same file in each run.
        let numbers = SegmentSummary { written: self.disk.clock(), ..numbers };
        // The checksums follow the order of the section table, which is the order of the file.
        let bytes: Vec<u8> = self.sums.iter().flat_map(|sum| le_u32(*sum)).collect();
        let tag = SectionTag::of(SectionKind::Sums);
        let mut section = self.begin(tag)?;
        self.write(&mut section, &bytes)?;
        // `end` adds the checksums of the checksum section. Nothing in the section covers these
        // checksums: they are the roots, and are stored in the section table.
        let covered = self.sums.len();
        self.end(section)?;
        let roots = self.sums.split_off(covered);
        let offset = self.align()?;
        let table = SectionTable { numbers, sections: std::mem::take(&mut self.entries), roots };
        // Table and trailer come last, so a file that was cut short has no trailer and cannot be
        // opened.
        self.file.append(&encode_table(&self.stamp, offset, &table))?;
        Ok(self.file.finish(FileName::Segment(self.stamp.id))?)
    }
}

impl SegmentBuilder {
    /// Checks the lengths of sections against the numbers, in the same way as opening the segment.
    fn check(&self, numbers: &SegmentSummary) -> Result<()> {
        for (kind, bytes) in bytes_for(numbers.pages) {
            let has =
                |entry: &SectionEntry| entry.tag == SectionTag::of(kind) && entry.len == bytes;
            bug::ensure(self.entries.iter().any(has), "sections are as long as the pages need")?;
        }
        let fingerprints = self.entries.iter().filter(|e| e.tag.kind == SectionKind::Fingerprints);
        let bytes: u64 = fingerprints.map(|entry| entry.len).sum();
        bug::ensure(bytes == numbers.fingerprints * 8, "each fingerprint is counted")?;
        Ok(())
    }
}

/// Bytes kept for later: in memory up to a limit, and beyond it in a scratch file.
pub(super) struct Spill {
    disk: Arc<dyn Disk>,
    name: FileName,
    /// The number of bytes that may stay in memory.
    memory_bytes: usize,
    memory: Vec<u8>,
    scratch: Option<ScratchFile>,
}

/// The finished content of a [`Spill`].
pub(super) enum SpillContent {
    Memory(Vec<u8>),
    File(ScratchMap),
}

impl Spill {
    /// The maximum memory of a spill.
    const MEMORY_BYTES: usize = 1 << 20;
    /// The maximum memory of all spills that are filled concurrently.
    const ALL_BYTES: usize = 16 << 20;

    pub(super) fn append(&mut self, bytes: &[u8]) -> Result<()> {
        self.memory.extend_from_slice(bytes);
        if self.memory.len() <= self.memory_bytes {
            return Ok(());
        }
        let scratch = match &mut self.scratch {
            Some(scratch) => scratch,
            none => none.insert(ScratchFile::create(Arc::clone(&self.disk), self.name)?),
        };
        // After the first write to the file, the memory is a write buffer of the same size.
        scratch.append(&self.memory)?;
        self.memory.clear();
        Ok(())
    }

    pub(super) fn finish(self) -> Result<SpillContent> {
        let Some(mut scratch) = self.scratch else { return Ok(SpillContent::Memory(self.memory)) };
        scratch.append(&self.memory)?;
        Ok(SpillContent::File(scratch.into_map()?))
    }
}

impl std::ops::Deref for SpillContent {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        match self {
            SpillContent::Memory(bytes) => bytes,
            SpillContent::File(map) => map,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::disk::SimDisk;

    fn builder() -> SegmentBuilder {
        let disk: Arc<dyn Disk> = Arc::new(SimDisk::new());
        SegmentBuilder::new(&disk, Stamp { id: 1, store: 2, nonce: 3 }).unwrap()
    }

    #[test]
    #[should_panic(expected = "a section does not exceed its reserved bytes")]
    fn section_stays_within_its_place() {
        let mut builder = builder();
        let mut section = builder.place(SectionTag::of(SectionKind::Hashes), 8).unwrap();
        let _ = builder.write(&mut section, &[0; GATHERED_BYTES]);
    }

    #[test]
    #[should_panic(expected = "a section has exactly its reserved bytes")]
    fn reserved_place_must_be_filled() {
        let mut builder = builder();
        let section = builder.place(SectionTag::of(SectionKind::Hashes), 8).unwrap();
        let _ = builder.end(section);
    }

    #[test]
    #[should_panic(expected = "only one section grows at a time")]
    fn only_one_section_grows_at_a_time() {
        let mut builder = builder();
        let mut first = builder.begin(SectionTag::of(SectionKind::Pages)).unwrap();
        builder.whole(SectionTag::of(SectionKind::Tombstones), b"between").unwrap();
        let _ = builder.write(&mut first, &[0; GATHERED_BYTES]);
    }

    #[test]
    #[should_panic(expected = "sections are as long as the pages need")]
    fn segment_has_the_sections_of_its_pages() {
        let _ = builder().finish(SegmentSummary::default());
    }
}
