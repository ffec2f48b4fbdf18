//! Sections in the form that searches read.

use byteorder::{ByteOrder, LittleEndian};
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use zerocopy::FromBytes;

use super::file::{SectionRef, Segment};
use super::frame::Section;
use crate::bug::OrBug;
use crate::cpu::prefetch_at;
use crate::disk::MapPart;
use crate::error::{Error, Result};
use crate::layout::SectionTag;
use crate::search::{CacheLine, Column};

/// A section that keeps its segment open. Blocks are checked on first touch.
#[derive(Clone, Debug)]
pub(crate) struct SectionColumn {
    segment: Arc<Segment>,
    section: Section,
    bytes: MapPart,
    /// Whether all blocks have been checked.
    whole: Arc<AtomicBool>,
}

impl SectionColumn {
    pub(crate) fn new(segment: &Arc<Segment>, tag: SectionTag) -> Self {
        let section = segment.place(tag);
        // The bytes and the flag are stored in this column, so that a read on the hot path does not
        // access the segment.
        let (bytes, whole) = (segment.map_part(&section), Arc::clone(segment.whole_flag(&section)));
        SectionColumn { section, bytes, whole, segment: Arc::clone(segment) }
    }

    #[inline]
    pub(crate) fn section(&self) -> SectionRef<'_> {
        SectionRef::new(&self.segment, self.section, &self.bytes)
    }

    /// Returns the bytes of the section without checks. All blocks must have been checked before.
    pub(super) fn whole(&self) -> VerifiedColumn {
        VerifiedColumn(self.bytes.clone())
    }

    /// Returns the number at `index` in a section of 32-bit numbers.
    #[inline]
    pub(crate) fn u32_at(&self, index: u64) -> Result<u32> {
        // A saturated offset is beyond the section, so the read is an error.
        let start = index.saturating_mul(4);
        let bytes = self.bytes(start..start.saturating_add(4))?;
        let bytes = bytes.as_array::<4>().or_bug("a range has the requested number of bytes")?;
        Ok(LittleEndian::read_u32(bytes))
    }
}

impl Column for SectionColumn {
    type Error = Error;

    #[inline]
    fn bytes(&self, range: Range<u64>) -> Result<&[u8]> {
        // One load instead of a bit for each block. Relaxed is enough: the bytes of a map never
        // change, so the flag publishes no data.
        if self.whole.load(Ordering::Relaxed)
            && let (Ok(start), Ok(end)) = (usize::try_from(range.start), usize::try_from(range.end))
            && let Some(bytes) = self.bytes.get(start..end)
        {
            return Ok(bytes);
        }
        // A range beyond the section also comes here: the slow path returns the error.
        self.section().get(range)
    }

    #[inline]
    fn prefetch(&self, offset: u64) {
        prefetch_at(&self.bytes, offset);
    }

    #[inline]
    fn lines(&self, lines: impl Iterator<Item = u32>) -> Result<&[CacheLine]> {
        self.section().lines(lines)
    }

    fn damaged(&self, offset: u64, what: &'static str) -> Error {
        self.section().flaw(offset, what)
    }
}

/// A section without checks: all of its blocks have been checked.
#[derive(Clone, Debug)]
pub(crate) struct VerifiedColumn(MapPart);

/// The error that a [`VerifiedColumn`] contradicts itself. The [`SectionColumn`] of the section
/// reports the details with the offset.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Contradiction;

impl Column for VerifiedColumn {
    type Error = Contradiction;

    #[inline]
    fn bytes(&self, range: Range<u64>) -> std::result::Result<&[u8], Contradiction> {
        match (usize::try_from(range.start), usize::try_from(range.end)) {
            (Ok(start), Ok(end)) => self.0.get(start..end).ok_or(Contradiction),
            _ => Err(Contradiction),
        }
    }

    #[inline]
    fn prefetch(&self, offset: u64) {
        prefetch_at(&self.0, offset);
    }

    #[inline]
    fn lines(
        &self,
        _: impl Iterator<Item = u32>,
    ) -> std::result::Result<&[CacheLine], Contradiction> {
        // All blocks are sound, and the search compares each line number with the length itself.
        <[CacheLine]>::ref_from_prefix(&self.0).map(|(all, _)| all).map_err(|_| Contradiction)
    }

    fn damaged(&self, _: u64, _: &'static str) -> Contradiction {
        Contradiction
    }
}
