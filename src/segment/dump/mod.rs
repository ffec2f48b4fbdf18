//! Dumps a segment byte by byte, each with its meaning, in the notation of `format/segment.md`.
//!
//! The file is read block by block with plain reads, and each line is passed to the sink when it is
//! complete. The dump takes the memory of a few blocks, however large the segment is. A damaged
//! block becomes a line that reports the damage. Reading continues at the first element after the
//! block, and undecoded bytes before this element are shown without a meaning.
//!
//! This reader of the format names the meaning of each byte. The tags and flags are constants of
//! the modules that write them.

mod columns;
mod entries;
mod frame;
mod line;
mod pages;
mod reader;
mod record;
mod tables;
mod words;

use std::ops::ControlFlow;

pub use line::DumpLine;

use super::file::Segment;
use super::frame::Section;
use super::plain::PlainSegment;
use crate::disk::{Access, DiskFile};
use crate::error::{Error, Result};
use crate::layout::{ALIGN, HEAD_BYTES, SectionKind, TRAILER_BYTES, to_usize};
use reader::{BlockCache, DumpOutput, DumpResult, DumpStop, SectionReader};

/// The selection of the parts of a segment to dump.
#[derive(Clone, Copy, Debug)]
pub(crate) struct DumpSelection<'d> {
    /// The name of a section, or "head", "table" or "trailer"; `None` for all of these and the
    /// padding between sections.
    pub(crate) section: Option<&'d str>,
    pub(crate) part: Option<u16>,
    pub(crate) epoch: Option<u32>,
    /// Lines that end at or before this offset in the file are left out.
    pub(crate) from: u64,
}

impl DumpSelection<'_> {
    fn wants(&self, section: &Section) -> bool {
        let tag = section.tag();
        self.section.is_none_or(|name| name == tag.kind.name())
            && self.part.is_none_or(|part| tag.kind.has_parts() && part == tag.part)
            && self.epoch.is_none_or(|epoch| tag.kind.is_of_epoch() && epoch == tag.epoch)
            // Sections are left out only as a whole. `DumpOutput::line` selects the wanted lines of a
            // section.
            && section.offset() + section.bytes() > self.from
    }

    /// Whether a part of the file that is not a section is wanted. `name` is "padding" for bytes
    /// between two sections.
    fn wants_other(&self, name: &str) -> bool {
        // Head, table and padding belong to no part and no epoch, so a filter by part or epoch
        // excludes them.
        let all = (self.part, self.epoch) == (None, None);
        all && self.section.is_none_or(|section| section == name)
    }
}

impl Segment {
    /// Passes lines of bytes and their meaning to `sink`, until the end or until `sink` breaks.
    pub(crate) fn dump(
        &self,
        wanted: &DumpSelection<'_>,
        sink: &mut dyn FnMut(DumpLine) -> ControlFlow<()>,
    ) -> Result<()> {
        let mut out = DumpOutput { from: wanted.from, sink };
        match self.dump_to(wanted, &mut out) {
            Ok(()) | Err(DumpStop::Enough) => Ok(()),
            Err(DumpStop::Failed(error)) => Err(error),
            // Damage in a section became a line, and its reader continued. So this error belongs to
            // the frame.
            Err(DumpStop::Damaged(_, flaw)) => Err(Error::Corrupt(flaw)),
            Err(DumpStop::Impossible(what)) => Err(Error::corrupt(self.frame().name(), 0, what)),
        }
    }

    fn dump_to(&self, wanted: &DumpSelection<'_>, out: &mut DumpOutput<'_>) -> DumpResult {
        let frame = self.frame();
        // Never through the map: an unreadable sector is an error in a plain read, but a signal in
        // the map.
        let open = || self.open_plainly().map_err(DumpStop::Failed);
        let file = open()?;
        let read = |from: u64, to: u64| -> DumpResult<Vec<u8>> {
            let mut bytes = vec![0; to_usize(to - from)];
            let name = self.frame().name();
            let done = file.read_at(from, &mut bytes);
            done.map_err(|e| DumpStop::Failed(Error::io("read", name, e))).map(|()| bytes)
        };
        if wanted.wants_other("head") {
            frame::head(out, frame, &read(0, HEAD_BYTES)?)?;
        }
        let mut blocks = BlockCache::new(PlainSegment::new(frame, open()?));
        let mut before = HEAD_BYTES;
        for section in frame.sections() {
            if wanted.wants_other("padding") {
                padding(out, (before, section.offset()), &read)?;
            }
            before = section.offset() + section.bytes();
            if wanted.wants(section) && section.bytes() > 0 {
                self.dump_section(SectionReader::new(&mut blocks, out, *section))?;
            }
        }
        if wanted.wants_other("padding") {
            padding(out, (before, frame.table_at()), &read)?;
        }
        // The file was longer than a trailer when it was opened, so the subtraction does not
        // saturate.
        let trailer = frame.bytes().saturating_sub(TRAILER_BYTES);
        if wanted.wants_other("table") {
            frame::table(out, frame, &read(frame.table_at(), trailer)?)?;
        }
        if wanted.wants_other("trailer") {
            frame::trailer(out, frame, &read(trailer, frame.bytes())?)?;
        }
        Ok(())
    }

    fn dump_section(&self, mut reader: SectionReader<'_, '_, '_>) -> DumpResult {
        let (reader, frame) = (&mut reader, self.frame());
        match reader.section.tag().kind {
            SectionKind::Pages => pages::pages(reader, frame),
            SectionKind::PageIndex => columns::page_index(reader),
            SectionKind::Hashes => columns::hashes(reader),
            SectionKind::HashPages => columns::hash_pages(reader, frame),
            SectionKind::HashDirectory => columns::hash_directory(reader),
            SectionKind::Filter => columns::filter(reader),
            SectionKind::Schedule => columns::schedule(reader, frame),
            SectionKind::Tombstones => columns::tombstones(reader),
            SectionKind::Fingerprints => columns::fingerprints(reader),
            SectionKind::Shards => columns::shards(reader),
            SectionKind::Shape => columns::shape(reader),
            SectionKind::Postings => tables::postings(reader),
            SectionKind::Lists => tables::lists(reader, frame),
            SectionKind::Buckets => tables::buckets(reader, frame),
            SectionKind::Rest => tables::rest(reader),
            SectionKind::Cells | SectionKind::Further => tables::cells(reader),
            SectionKind::Ordinals => tables::ordinals(reader),
            SectionKind::Sums => columns::checksums(reader, frame),
        }
    }

    fn open_plainly(&self) -> Result<Box<dyn DiskFile>> {
        let name = self.frame().name();
        self.disk().open(name, Access::Read).map_err(|e| Error::io("open", name, e))
    }
}

/// Shows the padding between two sections: zeros up to the next multiple of 64. Does not read any
/// bytes after the padding.
fn padding(
    out: &mut DumpOutput<'_>,
    (offset, end): (u64, u64),
    read: &dyn Fn(u64, u64) -> DumpResult<Vec<u8>>,
) -> DumpResult {
    let len = end.saturating_sub(offset);
    // A longer gap is reported by its length and not read, because a damaged table may leave a gap
    // of any size.
    if len >= ALIGN {
        let meaning = "damaged: more padding than alignment needs".to_owned();
        return out.line(DumpLine { offset, len, bytes: None, meaning, damaged: true });
    }
    let bytes = &*read(offset, end)?;
    if bytes.is_empty() {
        return Ok(());
    }
    if bytes.iter().all(|byte| *byte == 0) {
        return out.show(offset, bytes, "padding");
    }
    let (len, meaning) =
        (bytes.len() as u64, "damaged: padding with bytes other than zero".to_owned());
    out.line(DumpLine { offset, len, bytes: Some(bytes.to_vec()), meaning, damaged: true })
}
