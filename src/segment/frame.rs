//! The frame of a segment's file: its numbers, its sections and the roots of their checksums.

use std::ops::Range;

use crate::bug::OrBug;
use crate::disk::{DiskFile, FileName};
use crate::error::{Error, Result};
use crate::layout::{
    HEAD_BYTES, SectionKind, SectionTable, SectionTag, SegmentFlaw, SegmentSummary, Stamp,
    TRAILER_BYTES, Trailer, VERSION, block_count, bytes_for, correct_head, correct_table,
    correct_trailer, parse_head, parse_table, parse_trailer, to_usize,
};
use crate::order::sort_few_by_key;
use crate::page::DIGESTS;

/// The number of section kinds that occur once per segment. These kinds are the kinds below this
/// number.
const PLAIN: usize = SectionKind::Fingerprints as usize;

/// A section, with the positions of its blocks' checksums and bits.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Section {
    pub(super) tag: SectionTag,
    pub(super) offset: u64,
    pub(super) len: u64,
    pub(super) first_block: u64,
    /// The index of the section among all sections; for an absent section, the number of sections.
    pub(super) number: usize,
}

impl Section {
    pub(crate) fn tag(&self) -> SectionTag {
        self.tag
    }

    /// Returns the offset of the section in the file.
    pub(crate) fn offset(&self) -> u64 {
        self.offset
    }

    pub(crate) fn bytes(&self) -> u64 {
        self.len
    }

    /// Returns an empty section that is absent from a segment with `sections` sections.
    const fn absent(tag: SectionTag, sections: usize) -> Section {
        Section { tag, offset: 0, len: 0, first_block: 0, number: sections }
    }
}

/// The head, the section table and the trailer of a segment. A segment is readable only if its
/// frame is sound.
#[derive(Debug)]
pub(crate) struct SegmentFrame {
    /// The name of the segment's file.
    name: FileName,
    stamp: Stamp,
    bytes: u64,
    /// The checksum of the trailer.
    checksum: u32,
    table: SectionTable,
    /// The offset of the section table.
    table_at: u64,
    sections: Vec<Section>,
    /// The sections that occur once, by kind, without the section of checksums.
    plain: [Section; PLAIN],
    /// The section of checksums, which is the last section.
    sums: Section,
    /// The indexes of the table sections, in order of epoch, kind and part.
    of_tables: Vec<u32>,
    blocks: u64,
}

impl SegmentFrame {
    /// Reads the frame of segment `id` from the file `name`, with plain reads. Takes memory for the
    /// section table, which is a part of the file.
    pub(crate) fn read(file: &dyn DiskFile, name: FileName, id: u64) -> Result<SegmentFrame> {
        let stamp = read_stamp(file, name, id)?;
        let flaw = |flaw| error_of(name, flaw);
        let len = measure(file, name)?;
        // The subtraction cannot saturate: the head was read, and it is as long as the trailer.
        let at = len.saturating_sub(TRAILER_BYTES);
        let trailer = parse_trailer(&read(file, name, at..len)?, len, &stamp).map_err(flaw)?;
        // `parse_trailer` has checked that the section table ends where the trailer begins. So the
        // allocation is no larger than the file.
        let table = read(file, name, trailer.offset..trailer.offset + trailer.len)?;
        let table = parse_table(&table, &trailer).map_err(flaw)?;
        Self::new(name, stamp, len, &trailer, table)
    }

    /// Reads a frame of which the head, the trailer and the table may each have one damaged byte. If
    /// the store of the segment is known, the whole head may be damaged.
    pub(crate) fn recover(
        file: &dyn DiskFile,
        name: FileName,
        id: u64,
        store: Option<u64>,
    ) -> Option<SegmentFrame> {
        let len = measure(file, name).ok().filter(|len| *len >= HEAD_BYTES + TRAILER_BYTES)?;
        let (trailer, nonce) = correct_trailer(&read(file, name, len - TRAILER_BYTES..len).ok()?)?;
        let head = read(file, name, 0..HEAD_BYTES).ok();
        // The head has only the segment's number, its store, and the nonce, which the trailer has too.
        let stamp = head
            .and_then(|head| correct_head(&head, id))
            .or_else(|| store.map(|store| Stamp { id, store, nonce }))?;
        let trailer = parse_trailer(&trailer, len, &stamp).ok()?;
        let table = read(file, name, trailer.offset..trailer.offset + trailer.len).ok()?;
        Self::new(name, stamp, len, &trailer, correct_table(&table, &trailer)?).ok()
    }

    fn new(
        name: FileName,
        stamp: Stamp,
        bytes: u64,
        trailer: &Trailer,
        table: SectionTable,
    ) -> Result<SegmentFrame> {
        let mut sections: Vec<Section> = Vec::with_capacity(table.sections.len());
        let mut blocks = 0u64;
        for entry in &table.sections {
            sections.push(Section {
                tag: entry.tag,
                offset: entry.offset,
                len: entry.len,
                first_block: blocks,
                number: sections.len(),
            });
            // Blocks are numbered through all sections, so one section of checksums and one bitmap
            // serve all sections.
            blocks += block_count(entry.len);
        }
        // The checksums are the last section and cover all sections before it.
        let sums = sections.last().filter(|s| s.tag == SectionTag::of(SectionKind::Sums)).copied();
        // The section of checksums does not cover itself. Roots in the section table cover it, and
        // the trailer covers the roots.
        let sound = |s: &Section| {
            Some(s.len) == s.first_block.checked_mul(4)
                && table.roots.len() as u64 == block_count(s.len)
        };
        let Some(sums) = sums.filter(sound) else {
            let what = "the section table does not cover all blocks with checksums";
            return Err(Error::corrupt(name, 0, what));
        };
        let mut plain =
            [Section::absent(SectionTag::of(SectionKind::Pages), sections.len()); PLAIN];
        for section in &sections {
            // Table sections are searched by their epoch.
            if let Some(place) = plain.get_mut(section.tag.kind as usize) {
                *place = *section;
            }
        }
        let of_tables = order_of_tables(&sections);
        let (checksum, table_at) = (trailer.checksum, trailer.offset);
        let frame = SegmentFrame {
            name,
            stamp,
            bytes,
            checksum,
            table,
            table_at,
            sections,
            plain,
            sums,
            of_tables,
            blocks,
        };
        frame.check_shape()?;
        Ok(frame)
    }

    /// Checks lengths that follow from the numbers.
    fn check_shape(&self) -> Result<()> {
        let pages = self.table.numbers.pages;
        for (kind, bytes) in bytes_for(pages) {
            let found = self.place(SectionTag::of(kind)).len;
            if found != bytes {
                let what = format!("expected {bytes} bytes for {pages} pages, found {found}");
                return Err(self.damaged(SectionTag::of(kind), 0, &what));
            }
        }
        Ok(())
    }

    pub(crate) fn id(&self) -> u64 {
        self.stamp.id
    }

    /// Returns the name of the segment's file.
    pub(crate) fn name(&self) -> FileName {
        self.name
    }

    /// Returns the number and the store of the segment.
    pub(crate) fn stamp(&self) -> &Stamp {
        &self.stamp
    }

    /// Returns the checksum of the trailer, which covers the whole file.
    pub(crate) fn checksum(&self) -> u32 {
        self.checksum
    }

    /// Returns the length of the file in bytes.
    pub(crate) fn bytes(&self) -> u64 {
        self.bytes
    }

    pub(crate) fn numbers(&self) -> &SegmentSummary {
        &self.table.numbers
    }

    /// Returns all sections in file order.
    pub(crate) fn sections(&self) -> &[Section] {
        &self.sections
    }

    /// Returns the number of blocks in all sections.
    pub(super) fn blocks(&self) -> u64 {
        self.blocks
    }

    /// Returns the numbers of all tables in this segment: their epochs, and [`DIGESTS`].
    pub(crate) fn tables(&self) -> impl Iterator<Item = u32> + '_ {
        self.sections
            .iter()
            .filter(|s| s.tag.kind == SectionKind::Fingerprints)
            .map(|s| s.tag.epoch)
    }

    /// Returns the epochs with tables in this segment.
    pub(crate) fn epochs(&self) -> impl Iterator<Item = u32> + '_ {
        self.tables().filter(|table| *table != DIGESTS)
    }

    /// Returns the offset of the section table.
    pub(super) fn table_at(&self) -> u64 {
        self.table_at
    }

    /// Returns the number of checksum roots.
    pub(super) fn roots(&self) -> u64 {
        self.table.roots.len() as u64
    }

    /// Returns a section. A section that does not exist is empty. Table sections cost a binary
    /// search; other sections cost constant time.
    pub(crate) fn place(&self, tag: SectionTag) -> Section {
        // Every check of a block calls this function. A walk over all sections made opening
        // quadratic in the number of epochs: 18 s with 20,000 epochs.
        if let Some(&plain) = self.plain.get(tag.kind as usize) {
            return plain;
        }
        if tag == self.sums.tag {
            return self.sums;
        }
        let of = |place: &u32| self.sections.get(*place as usize);
        let at = self.of_tables.binary_search_by_key(&Some(by_epoch(tag)), |place| {
            of(place).map(|section| by_epoch(section.tag))
        });
        let place = at.ok().and_then(|at| self.of_tables.get(at)).and_then(of).copied();
        // An absent section is empty. So a read from an absent section is an error, and an epoch
        // without tables needs no special case.
        place.unwrap_or(Section::absent(tag, self.sections.len()))
    }

    /// Whether an epoch has tables in this segment.
    pub(crate) fn has_epoch(&self, epoch: u32) -> bool {
        self.place(SectionTag::table(SectionKind::Fingerprints, 0, epoch)).number
            < self.sections.len()
    }

    /// Returns the checksum of a block of checksums.
    pub(super) fn root(&self, block: u64) -> Result<u32> {
        let root = self.table.roots.get(to_usize(block));
        Ok(*root.or_bug("each block of the checksums has a checksum")?)
    }

    /// Returns the ranges between sections and before the section table, which contain zeros.
    pub(super) fn gaps(&self) -> impl Iterator<Item = (u64, u64)> + '_ {
        let ends = self.sections.iter().map(|s| s.offset + s.len);
        let starts = self.sections.iter().map(|s| s.offset).chain([self.table_at]);
        // Gap i is between the end of section i - 1 (or of the head) and the start of section i (or
        // of the section table). `parse_table` has checked that the sections ascend.
        std::iter::once(HEAD_BYTES).chain(ends).zip(starts).filter(|(start, end)| start < end)
    }

    /// Builds an error at an offset within a section.
    pub(crate) fn damaged(&self, tag: SectionTag, offset: u64, what: &str) -> Error {
        let at = self.place(tag).offset.saturating_add(offset);
        Error::corrupt(self.name, at, format!("{what} (in section {:?})", tag.kind))
    }
}

/// Returns the sort key of a table section.
fn by_epoch(tag: SectionTag) -> (u32, SectionKind, u16) {
    (tag.epoch, tag.kind, tag.part)
}

/// Returns the indexes of the table sections in search order. Each tag must be unique.
#[expect(clippy::cast_possible_truncation, reason = "a segment has at most 2^20 sections")]
fn order_of_tables(sections: &[Section]) -> Vec<u32> {
    let of_tables = sections.iter().filter(|section| section.tag.kind.is_of_epoch());
    let mut order: Vec<(SectionTag, u32)> =
        of_tables.map(|section| (section.tag, section.number as u32)).collect();
    // In the file, sections are in another order: rotation by rotation. So the order of the section
    // table does not allow a binary search.
    sort_few_by_key(&mut order, |(tag, _)| by_epoch(*tag));
    order.into_iter().map(|(_, place)| place).collect()
}

/// Reads the head of a segment's file: the number and the store of the segment.
pub(crate) fn read_stamp(file: &dyn DiskFile, name: FileName, id: u64) -> Result<Stamp> {
    let head = read(file, name, 0..measure(file, name)?.min(HEAD_BYTES))?;
    parse_head(&head, id).map_err(|flaw| error_of(name, flaw))
}

fn measure(file: &dyn DiskFile, name: FileName) -> Result<u64> {
    file.size().map_err(|e| Error::io("measure", name, e))
}

fn read(file: &dyn DiskFile, name: FileName, range: Range<u64>) -> Result<Vec<u8>> {
    let mut bytes = vec![0; to_usize(range.end - range.start)];
    let done = file.read_at(range.start, &mut bytes);
    done.map(|()| bytes).map_err(|e| Error::io("read", name, e))
}

fn error_of(name: FileName, flaw: SegmentFlaw) -> Error {
    match flaw {
        SegmentFlaw::Version(found) => {
            Error::Version { file: name.to_string(), found, reads: VERSION }
        }
        SegmentFlaw::Damage(offset, what) => Error::corrupt(name, offset, what),
    }
}
