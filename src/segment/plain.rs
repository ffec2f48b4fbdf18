//! Reads a segment with plain reads. No map is touched, and each block is checked on every read.

use super::frame::{Section, SegmentFrame};
use crate::bug::{self, OrBug};
use crate::disk::DiskFile;
use crate::error::{Error, Result};
use crate::layout::{
    ALIGN, BLOCK_BYTES, SectionKind, SectionTag, block_count, block_sum, to_usize,
};
use byteorder::{ByteOrder, LittleEndian};

/// The number of bytes per read in sequential reading.
const WINDOW_BYTES: u64 = 64 * BLOCK_BYTES;

/// The blocks of a segment. Each block is read and checked on request. Takes the memory of two
/// windows of the file.
#[derive(Debug)]
pub(crate) struct PlainSegment<'f> {
    frame: &'f SegmentFrame,
    file: Box<dyn DiskFile>,
    window: FileWindow,
    /// The last used block of the section of checksums.
    sums: Option<(u64, Result<Vec<u8>>)>,
}

/// A range of the file that was read.
#[derive(Debug, Default)]
struct FileWindow {
    start: u64,
    bytes: Vec<u8>,
}

impl<'f> PlainSegment<'f> {
    pub(crate) fn new(frame: &'f SegmentFrame, file: Box<dyn DiskFile>) -> PlainSegment<'f> {
        PlainSegment { frame, file, window: FileWindow::default(), sums: None }
    }

    pub(crate) fn frame(&self) -> &'f SegmentFrame {
        self.frame
    }

    /// Returns a sound block of a section, or an error.
    pub(crate) fn block(&mut self, section: &Section, block: u64) -> Result<&[u8]> {
        bug::ensure(block < block_count(section.len), "each block belongs to its section")?;
        let start = block * BLOCK_BYTES;
        let len = (section.len - start).min(BLOCK_BYTES);
        // The checksum is looked up before the block is read, because this lookup may move the
        // window.
        let expected = self.expected_sum(section, block)?;
        let (nonce, frame) = (self.frame.stamp().nonce, self.frame);
        let bytes = self.read(section.offset + start, len)?;
        let found = block_sum(nonce, section.tag, block, bytes);
        if found == expected {
            return Ok(bytes);
        }
        let what = format!("checksum: expected {expected:08x}, found {found:08x}");
        Err(frame.damaged(section.tag, start, &what))
    }

    /// Checks every block and the zeros between sections. Passes each error to `flaw`. `pass`
    /// receives the number of bytes read; an error from `pass` ends the check.
    pub(crate) fn check(
        &mut self,
        flaw: &mut dyn FnMut(Error),
        pass: &mut dyn FnMut(u64) -> Result<()>,
    ) -> Result<()> {
        for section in self.frame.sections() {
            for block in 0..block_count(section.len) {
                if let Err(e) = self.block(section, block) {
                    flaw(e);
                }
                pass(BLOCK_BYTES.min(section.len - block * BLOCK_BYTES))?;
            }
        }
        let name = self.frame.name();
        for (start, end) in self.frame.gaps() {
            // A damaged table may leave a gap of any size. At most the bytes that alignment may
            // need are read.
            let zeros = self.read(start, (end - start).min(ALIGN));
            match zeros.map(|zeros| zeros.iter().position(|byte| *byte != 0)) {
                Ok(None) if end - start < ALIGN => {}
                Ok(None) => flaw(Error::corrupt(
                    name,
                    start,
                    "the gap between two sections is larger than alignment needs",
                )),
                Ok(Some(at)) => flaw(Error::corrupt(
                    name,
                    start + at as u64,
                    "the gap between two sections contains bytes other than zero",
                )),
                Err(e) => flaw(e),
            }
        }
        Ok(())
    }

    /// Returns the expected checksum of a block. Damage of a block of checksums is reported when
    /// this block is checked. Checksums of a damaged block that match their blocks still count
    /// here.
    fn expected_sum(&mut self, section: &Section, block: u64) -> Result<u32> {
        if section.tag.kind == SectionKind::Sums {
            return self.frame.root(block);
        }
        let at = (section.first_block + block) * 4;
        let (of, within) = (at / BLOCK_BYTES, at % BLOCK_BYTES);
        if self.sums.as_ref().is_none_or(|(held, _)| *held != of) {
            let sums = self.frame.place(SectionTag::of(SectionKind::Sums));
            let start = of * BLOCK_BYTES;
            let len = (sums.len - start).min(BLOCK_BYTES);
            // One block of checksums serves 1,024 blocks. An error is cached as well; otherwise
            // each of these blocks would read the bad sector again.
            let bytes = self.read(sums.offset + start, len).map(<[u8]>::to_vec);
            self.sums = Some((of, bytes));
        }
        let (_, sums) = self.sums.as_ref().or_bug("the checksums have just been read")?;
        let sums = sums.as_ref().map_err(Error::clone)?;
        let sum = sums.get(to_usize(within)..).and_then(|rest| rest.first_chunk::<4>());
        Ok(LittleEndian::read_u32(sum.or_bug("each block has a checksum")?))
    }

    /// Returns bytes of the file. Reads some following bytes at the same time.
    #[expect(clippy::indexing_slicing, reason = "they are in the window then")]
    fn read(&mut self, start: u64, len: u64) -> Result<&[u8]> {
        let held = self.window.start..self.window.start + self.window.bytes.len() as u64;
        if !(held.contains(&start) && start + len <= held.end) {
            let most = (self.frame.bytes() - start).min(WINDOW_BYTES).max(len);
            // One bad sector fails the whole window. In this case only the needed bytes are read,
            // so that sound blocks around the sector stay readable.
            if self.fill(start, most).is_err() {
                self.fill(start, len)?;
            }
        }
        let at = to_usize(start - self.window.start);
        Ok(&self.window.bytes[at..at + to_usize(len)])
    }

    fn fill(&mut self, start: u64, len: u64) -> Result<()> {
        self.window.start = start;
        self.window.bytes.resize(to_usize(len), 0);
        let read = self.file.read_at(start, &mut self.window.bytes);
        read.map_err(|e| {
            // The bytes of a failed read must not count as bytes of the window.
            self.window.bytes.clear();
            let name = self.frame.name();
            Error::corrupt(name, start, format!("{len} bytes cannot be read: {e}"))
        })
    }
}
