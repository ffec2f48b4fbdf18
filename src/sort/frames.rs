//! Checksummed frames in a scratch file.

use byteorder::{ByteOrder, LittleEndian};
use std::ops::Range;

use crate::disk::{FileName, ScratchFile};
use crate::error::{Error, Result};
use crate::layout::{le_u32, to_usize};

/// The size at which a frame is written out.
const FRAME_BYTES: usize = 32 << 10;

/// The size of the length and the checksum of a frame.
const HEADER_BYTES: usize = 8;

/// Writes items into frames; no item spans two frames.
#[derive(Debug, Default)]
pub(crate) struct FrameWriter {
    frame: Vec<u8>,
}

impl FrameWriter {
    /// Adds the bytes that `put` appends.
    pub(crate) fn item(
        &mut self,
        scratch: &mut ScratchFile,
        put: impl FnOnce(&mut Vec<u8>),
    ) -> Result<()> {
        put(&mut self.frame);
        // The check follows the item, so a frame holds whole items. A large item makes a large
        // frame.
        if self.frame.len() >= FRAME_BYTES { self.flush(scratch) } else { Ok(()) }
    }

    /// Writes the unfinished frame.
    pub(crate) fn flush(&mut self, scratch: &mut ScratchFile) -> Result<()> {
        if self.frame.is_empty() {
            return Ok(());
        }
        let len = u32::try_from(self.frame.len());
        let len = len.map_err(|_| Error::Limit {
            what: "bytes of visits to one page",
            max: u32::MAX.into(),
            instead: "load these visits in several parts",
        })?;
        // The length comes first: a reader needs it to find the checksum's range.
        scratch.append(&le_u32(len))?;
        scratch.append(&le_u32(crc32fast::hash(&self.frame)))?;
        scratch.append(&self.frame)?;
        self.frame.clear();
        Ok(())
    }
}

/// Reads frames in sequence.
#[derive(Clone, Debug)]
pub(crate) struct FrameReader {
    name: FileName,
    rest: Range<usize>,
}

impl FrameReader {
    /// Reads the frames in a range of a scratch file.
    pub(crate) fn new(name: FileName, place: Range<u64>) -> FrameReader {
        FrameReader { name, rest: to_usize(place.start)..to_usize(place.end) }
    }

    /// Checks the checksum of the next frame and returns the range of its content; `None` after the
    /// last frame.
    pub(crate) fn next(&mut self, file: &[u8]) -> Result<Option<Range<usize>>> {
        if self.rest.is_empty() {
            return Ok(None);
        }
        // The header may be damaged, so each step is bounded until the checksum is verified.
        let start = self.rest.start.saturating_add(HEADER_BYTES);
        let word = |at: usize| {
            let bytes = file.get(at..)?.first_chunk::<4>()?;
            Some(LittleEndian::read_u32(bytes))
        };
        let end = word(self.rest.start).and_then(|len| start.checked_add(len as usize));
        let end = end.filter(|end| *end <= self.rest.end);
        let frame = end.and_then(|end| file.get(start..end));
        let sum = word(self.rest.start + HEADER_BYTES / 2);
        let (Some(frame), Some(sum)) = (frame, sum) else {
            return Err(self.damaged("a frame does not have the length that was written"));
        };
        // The length needs no checksum: with another length the checksum would cover other bytes.
        let found = crc32fast::hash(frame);
        if found != sum {
            let what = format!("checksum: expected {sum:08x}, found {found:08x}");
            return Err(self.damaged(&what));
        }
        self.rest.start = start + frame.len();
        Ok(Some(start..self.rest.start))
    }

    /// Builds the error for a damaged frame.
    pub(crate) fn damaged(&self, what: &str) -> Error {
        Error::corrupt(self.name, self.rest.start as u64, what)
    }
}
