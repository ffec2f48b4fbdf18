//! Writing a segment, section by section.

use std::sync::Arc;

use crate::disk::{Disk, Name, NewFile, Scratch, ScratchMap};
use crate::error::{Error, Result};
use crate::layout::{
    ALIGN, BlockSums, HEAD_BYTES, Kind, Numbers, SectionEntry, Stamp, Table, Tag, encode_head,
    encode_table,
};

/// Bytes that a section gathers before they are checksummed and handed on: a few blocks.
const GATHERED_BYTES: usize = 32 << 10;

/// A segment that is being written. Dropping it leaves nothing behind.
pub(super) struct Builder {
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
    /// Whether its place was kept. Else it grows at the file's end.
    placed: bool,
    /// Bytes that the file has.
    passed_on: u64,
    /// The bytes after them.
    gathered: Vec<u8>,
}

impl SectionWriter {
    /// Bytes given so far.
    pub(super) fn written(&self) -> u64 {
        self.passed_on + self.gathered.len() as u64
    }

    /// Where the section lies in the file.
    pub(super) fn offset(&self) -> u64 {
        self.entry.offset
    }
}

impl Builder {
    pub(super) fn new(disk: &Arc<dyn Disk>, stamp: Stamp) -> Result<Builder> {
        let mut file = NewFile::create(Arc::clone(disk), Name::SegmentNew(stamp.id))?;
        file.append(&encode_head(&stamp))?;
        let disk = Arc::clone(disk);
        Ok(Builder { disk, stamp, file, entries: Vec::new(), sums: Vec::new(), scratches: 0 })
    }

    fn align(&mut self) -> Result<u64> {
        let at = self.file.position();
        let gap = usize::try_from(at.next_multiple_of(ALIGN) - at).unwrap_or(0);
        self.file.append(&vec![0; gap])?;
        Ok(self.file.position())
    }

    /// Begins a section that grows at the end of the file; end it before beginning another.
    pub(super) fn begin(&mut self, tag: Tag) -> Result<SectionWriter> {
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

    /// Keeps a place of `len` bytes for a section, to be filled beside others.
    pub(super) fn place(&mut self, tag: Tag, len: u64) -> Result<SectionWriter> {
        self.align()?;
        let offset = self.file.reserve(len)?;
        let entry = SectionEntry { tag, offset, len };
        let sums = BlockSums::new(self.stamp.nonce, tag);
        Ok(SectionWriter { entry, sums, placed: true, passed_on: 0, gathered: Vec::new() })
    }

    /// Appends to a section.
    pub(super) fn write(&mut self, section: &mut SectionWriter, bytes: &[u8]) -> Result<()> {
        if section.gathered.len() + bytes.len() < GATHERED_BYTES {
            section.gathered.extend_from_slice(bytes);
            return Ok(());
        }
        self.pass_gathered_on(section)?;
        self.pass_on(section, bytes)
    }

    fn pass_gathered_on(&mut self, section: &mut SectionWriter) -> Result<()> {
        let mut gathered = std::mem::take(&mut section.gathered);
        self.pass_on(section, &gathered)?;
        gathered.clear();
        section.gathered = gathered;
        Ok(())
    }

    fn pass_on(&mut self, section: &mut SectionWriter, bytes: &[u8]) -> Result<()> {
        section.sums.update(bytes);
        let at = section.entry.offset + section.passed_on;
        section.passed_on += bytes.len() as u64;
        if section.placed { self.file.write_at(at, bytes) } else { self.file.append(bytes) }
    }

    /// Ends a section. Sections enter the table in the order in which they lie in the file.
    pub(super) fn end(&mut self, mut section: SectionWriter) -> Result<()> {
        self.pass_gathered_on(&mut section)?;
        debug_assert!(!section.placed || section.entry.len == section.passed_on);
        self.entries.push(SectionEntry { len: section.passed_on, ..section.entry });
        self.sums.extend(section.sums.finish());
        Ok(())
    }

    /// A whole section at once.
    pub(super) fn whole(&mut self, tag: Tag, bytes: &[u8]) -> Result<()> {
        let mut section = self.begin(tag)?;
        self.write(&mut section, bytes)?;
        self.end(section)
    }

    /// Reads back what was written.
    pub(super) fn read_back(&self, offset: u64, buffer: &mut [u8]) -> Result<()> {
        self.file.read_at(offset, buffer)
    }

    /// The error for what is read back and is not what was written.
    pub(super) fn misread(&self, offset: u64) -> Error {
        let what = "it does not give back what was just written to it";
        Error::corrupt(Name::SegmentNew(self.stamp.id), offset, what)
    }

    /// A name for a scratch file.
    pub(super) fn scratch_name(&mut self) -> Name {
        let name = Name::Scratch(self.stamp.id, self.scratches);
        self.scratches = self.scratches.saturating_add(1);
        name
    }

    /// A place beside the file for what comes later in it; one of `among` that are filled together.
    pub(super) fn spill(&mut self, among: usize) -> Spill {
        let (name, disk) = (self.scratch_name(), Arc::clone(&self.disk));
        let memory_bytes = Spill::MEMORY_BYTES.min(Spill::ALL_BYTES / among.max(1));
        Spill { disk, name, memory_bytes, memory: Vec::new(), scratch: None }
    }

    /// Writes checksums, table and trailer, and gives the file its name, durably.
    pub(super) fn finish(mut self, numbers: Numbers) -> Result<u64> {
        // The checksums follow the table's order, which is that of the file.
        let bytes: Vec<u8> = self.sums.iter().flat_map(|sum| sum.to_le_bytes()).collect();
        let tag = Tag::of(Kind::Sums);
        let mut section = self.begin(tag)?;
        self.write(&mut section, &bytes)?;
        let covered = self.sums.len();
        self.end(section)?;
        let roots = self.sums.split_off(covered);
        let offset = self.align()?.max(HEAD_BYTES);
        let table = Table { numbers, sections: std::mem::take(&mut self.entries), roots };
        self.file.append(&encode_table(&self.stamp, offset, &table))?;
        self.file.finish(Name::Segment(self.stamp.id))
    }
}

/// Bytes kept aside: in memory while they are few, then in a scratch file.
pub(super) struct Spill {
    disk: Arc<dyn Disk>,
    name: Name,
    /// What may stay in memory.
    memory_bytes: usize,
    memory: Vec<u8>,
    scratch: Option<Scratch>,
}

/// What was kept aside.
pub(super) enum Spilled {
    Memory(Vec<u8>),
    File(ScratchMap),
}

impl Spill {
    /// Bytes that stay in memory, and those of all that are filled together.
    const MEMORY_BYTES: usize = 1 << 20;
    const ALL_BYTES: usize = 16 << 20;

    pub(super) fn append(&mut self, bytes: &[u8]) -> Result<()> {
        self.memory.extend_from_slice(bytes);
        if self.memory.len() <= self.memory_bytes {
            return Ok(());
        }
        let scratch = match &mut self.scratch {
            Some(scratch) => scratch,
            none => none.insert(Scratch::create(Arc::clone(&self.disk), self.name)?),
        };
        scratch.append(&self.memory)?;
        self.memory.clear();
        Ok(())
    }

    pub(super) fn finish(self) -> Result<Spilled> {
        let Some(mut scratch) = self.scratch else { return Ok(Spilled::Memory(self.memory)) };
        scratch.append(&self.memory)?;
        scratch.into_map().map(Spilled::File)
    }
}

impl std::ops::Deref for Spilled {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        match self {
            Spilled::Memory(bytes) => bytes,
            Spilled::File(map) => map,
        }
    }
}
