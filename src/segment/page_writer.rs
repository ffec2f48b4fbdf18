//! Writes the pages of a segment and the offsets of their groups.

use super::build::{SectionWriter, SegmentBuilder, Spill};
use super::group::GroupWriter;
use crate::error::{Error, Result};
use crate::layout::{PAGES_MAX, SectionKind, SectionTag, le_u64};

/// The pages section during writing. Takes the memory of a group.
pub(super) struct PagesWriter {
    section: SectionWriter,
    group: GroupWriter,
    bytes: Vec<u8>,
    index: Spill,
    count: u32,
}

impl PagesWriter {
    pub(super) fn new(builder: &mut SegmentBuilder) -> Result<PagesWriter> {
        // The page index comes after the pages, so its numbers wait in memory or in a scratch file.
        let index = builder.spill(1);
        Ok(PagesWriter {
            section: builder.begin(SectionTag::of(SectionKind::Pages))?,
            group: GroupWriter::default(),
            bytes: Vec::new(),
            index,
            count: 0,
        })
    }

    /// Adds the next page. `record` appends the page's record. Returns the ordinal of the page.
    pub(super) fn push(
        &mut self,
        builder: &mut SegmentBuilder,
        url: &str,
        record: impl FnOnce(&mut Vec<u8>),
    ) -> Result<u32> {
        if self.group.is_full() {
            self.flush(builder)?;
        }
        if self.group.is_empty() {
            self.index.append(&le_u64(self.section.written()))?;
        }
        // The check computes two SURT keys, so only builds with assertions run it. `PageCursor`
        // checks the order again when it reads.
        debug_assert!(self.group.precedes(url), "pages come in SURT order, each once");
        self.group.push(url, record);
        let page = self.count;
        self.count += 1;
        // A posting has 30 bits for the ordinal. A page with a larger ordinal would be found under
        // another number.
        if u64::from(self.count) >= PAGES_MAX {
            return Err(Error::Limit {
                what: "pages in a segment",
                max: PAGES_MAX - 1,
                instead: "seal, load or merge fewer pages at a time",
            });
        }
        Ok(page)
    }

    fn flush(&mut self, builder: &mut SegmentBuilder) -> Result<()> {
        self.group.flush(&mut self.bytes);
        builder.write(&mut self.section, &self.bytes)?;
        self.bytes.clear();
        Ok(())
    }

    /// Ends the section, and writes the offsets of the section's groups. Returns the number of
    /// pages.
    pub(super) fn finish(mut self, builder: &mut SegmentBuilder) -> Result<u64> {
        if !self.group.is_empty() {
            self.flush(builder)?;
        }
        // The index has one number more than groups: each group ends where the next group begins.
        self.index.append(&le_u64(self.section.written()))?;
        builder.end(self.section)?;
        builder.whole(SectionTag::of(SectionKind::PageIndex), &self.index.finish()?)?;
        Ok(self.count.into())
    }
}
