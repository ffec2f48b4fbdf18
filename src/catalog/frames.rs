//! The frames of a journal, assembled from the rows of its table.

use xxhash_rust::xxh3::xxh3_128;

use super::contents::damaged;
use super::rows::JournalFrame;
use super::tables::Journal;
use crate::error::Result;
use crate::layout::Cursor;

/// The last frame of a journal, as a reader remembers it.
///
/// Frames are only appended to a journal, until the journal's table is dropped as a whole. So as
/// long as the last frame exists, all frames before it are unchanged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct JournalTail {
    pub(crate) first_sequence: u64,
    pub(crate) last_sequence: u64,
    /// The hash of the frame's bytes.
    sum: u128,
}

impl JournalTail {
    pub(super) fn of(blob: &JournalFrame) -> JournalTail {
        JournalTail {
            first_sequence: blob.first_sequence,
            last_sequence: blob.last_sequence(),
            sum: xxh3_128(&blob.bytes),
        }
    }
}

/// The frames of a journal in order of sequence, or the frames after a known frame.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct JournalFrames {
    pub(crate) journal: Journal,
    /// The frame before `frames`; `None` if `frames` are all frames of the journal.
    pub(crate) after: Option<JournalTail>,
    pub(crate) frames: Vec<JournalFrame>,
}

impl JournalFrames {
    pub(super) fn none(journal: Journal) -> JournalFrames {
        JournalFrames { journal, after: None, frames: Vec::new() }
    }

    /// The last frame of the journal, which may be the frame in `after`.
    pub(crate) fn last(&self) -> Option<JournalTail> {
        self.frames.last().map(JournalTail::of).or(self.after)
    }

    /// The last operation of the journal, which may be in the frame in `after`.
    pub(crate) fn last_sequence(&self) -> Option<u64> {
        let last = self.frames.last().map(JournalFrame::last_sequence);
        last.or(self.after.map(|tail| tail.last_sequence))
    }

    /// An operation of the journal that orders it relative to the other journal; `None` if the
    /// journal is empty.
    pub(crate) fn place(&self) -> Option<u64> {
        let first = self.frames.first().map(|blob| blob.first_sequence);
        self.after.map(|tail| tail.first_sequence).or(first)
    }

    /// Removes all frames.
    pub(super) fn clear(&mut self) {
        (self.after, self.frames) = (None, Vec::new());
    }
}

/// Parses the key of a part of a frame: the first operation of the frame, and the number of the
/// part.
pub(super) fn part_key(key: &[u8]) -> Option<(u64, u32)> {
    let mut key = Cursor::new(key);
    let both = (key.u64()?, key.u32()?);
    key.is_empty().then_some(both)
}

/// Assembles frames from their parts, which must come in the order of their keys.
#[derive(Default)]
pub(super) struct FrameAssembler {
    key: u64,
    parts: u32,
    bytes: Vec<u8>,
}

impl FrameAssembler {
    /// Adds a part. Returns the previous frame if this part starts another frame.
    pub(super) fn push(
        &mut self,
        (key, part): (u64, u32),
        bytes: &[u8],
    ) -> Result<Option<JournalFrame>> {
        let before = if part == 0 { self.end()? } else { None };
        if part > 0 && key != self.key || part != self.parts {
            return Err(damaged(format!("the journal cannot be read at operation {key}")));
        }
        self.key = key;
        self.parts += 1;
        self.bytes.extend_from_slice(bytes);
        Ok(before)
    }

    /// Returns the last frame.
    pub(super) fn end(&mut self) -> Result<Option<JournalFrame>> {
        if std::mem::take(&mut self.parts) == 0 {
            return Ok(None);
        }
        let blob = JournalFrame::parse(self.key, &std::mem::take(&mut self.bytes));
        blob.map(Some)
            .ok_or_else(|| damaged(format!("the journal cannot be read at operation {}", self.key)))
    }
}
