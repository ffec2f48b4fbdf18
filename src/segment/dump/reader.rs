//! Reads a section from front to end, field by field. The bytes read since the last line form the
//! next line.

use std::ops::ControlFlow;

use super::line::DumpLine;
use crate::bug::OrBug;
use crate::error::{Corruption, Error};
use crate::layout::{BLOCK_BYTES, Cursor, to_usize};
use crate::segment::frame::Section;
use crate::segment::plain::PlainSegment;

/// The reason why reading a field failed or ended.
pub(super) enum DumpStop {
    /// The field lies in a damaged block.
    Damaged(u64, Corruption),
    /// The bytes are invalid.
    Impossible(&'static str),
    /// The sink wants no more lines.
    Enough,
    /// The dump cannot continue at all.
    Failed(Error),
}

/// The result of reading a field.
pub(super) type DumpResult<T = ()> = std::result::Result<T, DumpStop>;

impl From<crate::bug::Bug> for DumpStop {
    fn from(bug: crate::bug::Bug) -> DumpStop {
        DumpStop::Failed(bug.into())
    }
}

/// The output for lines.
pub(super) struct DumpOutput<'o> {
    /// Lines that end at or before this offset in the file are left out.
    pub(super) from: u64,
    pub(super) sink: &'o mut dyn FnMut(DumpLine) -> ControlFlow<()>,
}

impl DumpOutput<'_> {
    pub(super) fn line(&mut self, line: DumpLine) -> DumpResult {
        // Lines are filtered here and not by the readers, because readers need the bytes before to
        // find the beginnings of elements.
        if line.offset + line.len <= self.from {
            return Ok(());
        }
        match (self.sink)(line) {
            ControlFlow::Continue(()) => Ok(()),
            ControlFlow::Break(()) => Err(DumpStop::Enough),
        }
    }

    /// Shows a line of sound bytes.
    pub(super) fn show(
        &mut self,
        offset: u64,
        bytes: &[u8],
        meaning: impl Into<String>,
    ) -> DumpResult {
        let (bytes, len) = (Some(bytes.to_vec()), bytes.len() as u64);
        self.line(DumpLine { offset, len, bytes, meaning: meaning.into(), damaged: false })
    }
}

/// A cached block of a section.
pub(super) struct CachedBlock {
    section: Section,
    block: u64,
    bytes: Vec<u8>,
}

/// The blocks of a segment. Two blocks are cached, since two sections are read concurrently.
pub(super) struct BlockCache<'f> {
    plain: PlainSegment<'f>,
    /// The current block of the section being read, and a block of another section with details
    /// about it.
    cached: [Option<CachedBlock>; 2],
}

impl<'f> BlockCache<'f> {
    pub(super) fn new(plain: PlainSegment<'f>) -> BlockCache<'f> {
        BlockCache { plain, cached: [None, None] }
    }

    /// Returns a block, cached in slot `place`.
    fn block(&mut self, place: usize, section: &Section, block: u64) -> DumpResult<&[u8]> {
        // Two slots, so that a look into another section does not displace the current block.
        let [first, second] = &mut self.cached;
        let held = if place == 0 { first } else { second };
        let is_held =
            |held: &CachedBlock| (held.section.number, held.block) == (section.number, block);
        if !held.as_ref().is_some_and(is_held) {
            let bytes = match self.plain.block(section, block) {
                Ok(bytes) => bytes.to_vec(),
                // The error may be an unreadable sector, which `PlainSegment` reports as damage.
                Err(Error::Corrupt(flaw)) => return Err(DumpStop::Damaged(block, flaw)),
                Err(error) => return Err(DumpStop::Failed(error)),
            };
            *held = Some(CachedBlock { section: *section, block, bytes });
        }
        Ok(held.as_ref().map_or(&[], |held| &held.bytes))
    }

    /// Returns the number at `index` in another section, whose numbers have `width` bytes; `None`
    /// if its block is damaged.
    pub(super) fn number_at(
        &mut self,
        section: &Section,
        index: u64,
        width: u64,
    ) -> DumpResult<Option<u64>> {
        let Some(at) = index.checked_mul(width).filter(|at| at + width <= section.bytes()) else {
            return Ok(None);
        };
        // Numbers have 4 or 8 bytes, so no number lies in two blocks.
        let within = to_usize(at % BLOCK_BYTES);
        let bytes = match self.block(1, section, at / BLOCK_BYTES) {
            Ok(block) => block.get(within..).and_then(|rest| rest.get(..to_usize(width))),
            Err(DumpStop::Damaged(..)) => None,
            Err(stop) => return Err(stop),
        };
        let word = |bytes: &[u8]| {
            let mut word = [0; 8];
            // Little-endian: the high bytes of a shorter number stay zero.
            word.iter_mut().zip(bytes).for_each(|(to, from)| *to = *from);
            u64::from_le_bytes(word)
        };
        Ok(bytes.map(word))
    }
}

/// A reader of a section.
pub(super) struct SectionReader<'r, 'f, 'o> {
    pub(super) blocks: &'r mut BlockCache<'f>,
    pub(super) out: &'r mut DumpOutput<'o>,
    pub(super) section: Section,
    /// The offset of the next byte.
    pub(super) at: u64,
    /// The offset at which reading ends.
    pub(super) end: u64,
    /// The bytes read since the last line.
    held: Vec<u8>,
}

impl<'r, 'f, 'o> SectionReader<'r, 'f, 'o> {
    pub(super) fn new(
        blocks: &'r mut BlockCache<'f>,
        out: &'r mut DumpOutput<'o>,
        section: Section,
    ) -> SectionReader<'r, 'f, 'o> {
        SectionReader { blocks, out, section, at: 0, end: section.bytes(), held: Vec::new() }
    }

    /// Returns the offset at which the next line begins.
    pub(super) fn mark(&self) -> u64 {
        self.at - self.held.len() as u64
    }

    /// Reads `len` bytes, which become the end of the next line.
    pub(super) fn take(&mut self, len: u64) -> DumpResult<&[u8]> {
        // The length is compared before any bytes are held, so a damaged length allocates nothing.
        if len > self.end.saturating_sub(self.at) {
            return Err(DumpStop::Impossible("the value extends beyond the end of its section"));
        }
        let (before, end) = (self.held.len(), self.at + len);
        while self.at < end {
            let (block, within) = (self.at / BLOCK_BYTES, to_usize(self.at % BLOCK_BYTES));
            let bytes = self.blocks.block(0, &self.section, block)?;
            let bytes = bytes.get(within..).unwrap_or(&[]);
            let most = to_usize((end - self.at).min(bytes.len() as u64));
            // Without this check the loop would never end.
            if most == 0 {
                return Err(DumpStop::Impossible("its block is shorter than expected"));
            }
            self.held.extend(bytes.iter().take(most));
            self.at += most as u64;
        }
        Ok(self
            .held
            .get(before..)
            .or_bug("bytes that were read are kept until the line is shown")?)
    }

    /// Returns the next bytes without consuming them.
    pub(super) fn peek<const N: usize>(&mut self) -> DumpResult<[u8; N]> {
        let bytes = self.take(N as u64)?;
        let bytes = *bytes.as_array().ok_or(SHORT)?;
        // Only the position goes back. The block stays cached, so reading these bytes again reads
        // no block.
        self.at -= N as u64;
        self.held.truncate(self.held.len() - N);
        Ok(bytes)
    }

    pub(super) fn u8(&mut self) -> DumpResult<u8> {
        Ok(self.take(1)?.first().copied().or_bug("a byte was taken")?)
    }

    fn cursor(&mut self, len: u64) -> DumpResult<Cursor<'_>> {
        self.take(len).map(Cursor::new)
    }

    pub(super) fn u16(&mut self) -> DumpResult<u16> {
        self.cursor(2)?.u16().ok_or(SHORT)
    }

    pub(super) fn u32(&mut self) -> DumpResult<u32> {
        self.cursor(4)?.u32().ok_or(SHORT)
    }

    pub(super) fn u64(&mut self) -> DumpResult<u64> {
        self.cursor(8)?.u64().ok_or(SHORT)
    }

    fn packed(&mut self) -> DumpResult<Vec<u8>> {
        /// The length of the longest encoded number.
        const LEN_MAX: usize = 10;
        let mut bytes = vec![self.u8()?];
        // Only the bytes of a number tell its length, so they are read one by one.
        while bytes.last().is_some_and(|byte| *byte >= 0x80) && bytes.len() < LEN_MAX {
            bytes.push(self.u8()?);
        }
        Ok(bytes)
    }

    pub(super) fn varint(&mut self) -> DumpResult<u64> {
        Cursor::new(&self.packed()?).varint().ok_or(TOO_LONG)
    }

    pub(super) fn signed(&mut self) -> DumpResult<i64> {
        Cursor::new(&self.packed()?).signed().ok_or(TOO_LONG)
    }

    /// Shows a line of the bytes read since the last line.
    pub(super) fn line(&mut self, meaning: impl Into<String>) -> DumpResult {
        let offset = self.section.offset() + self.mark();
        let bytes = std::mem::take(&mut self.held);
        self.out.show(offset, &bytes, meaning)
    }

    /// Continues at a later offset, without a line for the skipped bytes.
    pub(super) fn go_to(&mut self, at: u64) {
        (self.at, self.end) = (at, self.section.bytes());
        self.held.clear();
    }

    /// Returns the earliest possible end of the damage that stopped reading.
    pub(super) fn damaged_to(&self, stop: &DumpStop) -> u64 {
        match stop {
            DumpStop::Damaged(block, _) => (block + 1) * BLOCK_BYTES,
            // At least one byte after the mark, so that reading makes progress.
            _ => self.mark() + 1,
        }
    }

    /// Handles a stop. If the bytes are damaged or invalid, shows them undecoded and continues at
    /// the first of `places` after the damage, or at the end of the section.
    pub(super) fn pass_over(
        &mut self,
        stop: DumpStop,
        mut places: impl Iterator<Item = u64>,
    ) -> DumpResult {
        let from = self.damaged_to(&stop);
        let damage = match stop {
            // The block gets a separate line, which names its flaw.
            DumpStop::Damaged(..) => None,
            DumpStop::Impossible(what) => Some(what),
            other => return Err(other),
        };
        let to = places.find(|place| *place >= from).unwrap_or(u64::MAX);
        self.rest(to.min(self.section.bytes()), damage)
    }

    /// Shows bytes up to `to` undecoded. `damage` is the reason if the first of these bytes are
    /// invalid themselves.
    pub(super) fn rest(&mut self, to: u64, mut damage: Option<&'static str>) -> DumpResult {
        let from = self.mark();
        self.go_to(from);
        while self.at < to {
            let (block, start) = (self.at / BLOCK_BYTES, self.at);
            let end = to.min((block + 1) * BLOCK_BYTES);
            let offset = self.section.offset() + start;
            match self.take(end - start) {
                Ok(_) => {
                    let bytes = std::mem::take(&mut self.held);
                    // The first line names the reason. All other lines are only marked as not
                    // decoded.
                    let why = damage.take();
                    let (meaning, damaged) = match why {
                        Some(what) => (format!("damaged: {what}"), true),
                        None => ("not decoded, because of the damage next to it".to_owned(), false),
                    };
                    let len = bytes.len() as u64;
                    let bytes = Some(bytes);
                    self.out.line(DumpLine { offset, len, bytes, meaning, damaged })?;
                }
                Err(DumpStop::Damaged(_, flaw)) => {
                    let meaning = format!("damaged block {block}: {}", flaw.what);
                    let len = end - start;
                    let line = DumpLine { offset, len, bytes: None, meaning, damaged: true };
                    self.out.line(line)?;
                    damage = None;
                    self.go_to(end);
                }
                Err(stop) => return Err(stop),
            }
        }
        Ok(())
    }
}

const SHORT: DumpStop = DumpStop::Impossible("it is too short for a number");
const TOO_LONG: DumpStop = DumpStop::Impossible("a number is too long");
