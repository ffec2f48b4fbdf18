//! The content of a record in a stream.

use std::io::{self, BufRead};

use simkeep::Digest;

use crate::RECORD_BYTES_MAX;
use crate::digest::DigestHasher;
use crate::http::{self, HEAD_BYTES_MAX};
use crate::item::{RecordFault, SourceItem};
use crate::stream::SourceStream;

/// A number of bytes of a stream, which may end early.
pub(crate) struct ContentBlock<'a> {
    stream: &'a mut SourceStream,
    left: u64,
    ended: bool,
}

impl<'a> ContentBlock<'a> {
    /// Creates a block of the next `length` bytes of `stream`.
    pub(crate) fn new(stream: &'a mut SourceStream, length: u64) -> ContentBlock<'a> {
        ContentBlock { stream, left: length, ended: false }
    }

    /// Reads the block into memory. If the block exceeds the limit, keeps only its start, and the
    /// digest of the part after an HTTP header.
    pub(crate) fn hold(mut self) -> Result<BlockContent, RecordFault> {
        let length = self.left;
        let is_large = length > RECORD_BYTES_MAX;
        let held_max = if is_large { HEAD_BYTES_MAX as u64 } else { RECORD_BYTES_MAX };
        let held = usize::try_from(length.min(held_max)).unwrap_or(usize::MAX);
        let mut bytes = Vec::with_capacity(held);
        self.each(held_max, |some| bytes.extend_from_slice(some))?;
        let mut digest = None;
        if is_large {
            let head = http::head(&bytes, false).ok().flatten().unwrap_or_default();
            let mut hasher = DigestHasher::default();
            hasher.update(bytes.get(head.body..).unwrap_or_default());
            self.each(u64::MAX, |some| hasher.update(some))?;
            digest = Some(hasher.finish());
        }
        Ok(BlockContent { bytes, length, missing: self.left, digest })
    }

    /// Reads the start of the block, at most `max` bytes, and skips the rest.
    pub(crate) fn start(mut self, max: usize) -> Result<Vec<u8>, RecordFault> {
        let mut bytes = Vec::new();
        self.each(max as u64, |some| bytes.extend_from_slice(some))?;
        self.skip().map(|()| bytes)
    }

    /// Skips the rest of the block. A stream that ends within the block is a fault.
    pub(crate) fn skip(mut self) -> Result<(), RecordFault> {
        self.each(u64::MAX, |_| {})?;
        if self.left > 0 { Err(RecordFault::Record(cut(self.left))) } else { Ok(()) }
    }

    /// Passes at most `max` of the remaining bytes to `take`.
    fn each(&mut self, max: u64, mut take: impl FnMut(&[u8])) -> io::Result<()> {
        let mut wanted = max.min(self.left);
        while wanted > 0 && !self.ended {
            let bytes = self.stream.fill_buf()?;
            let step = usize::try_from(wanted).unwrap_or(usize::MAX).min(bytes.len());
            take(bytes.get(..step).unwrap_or_default());
            self.ended = step == 0;
            self.stream.consume(step);
            self.left -= step as u64;
            wanted -= step as u64;
        }
        Ok(())
    }
}

/// The content of a record, as far as it was read.
#[derive(Debug)]
pub(crate) struct BlockContent {
    /// The whole content, up to the end of the file; for content beyond [`RECORD_BYTES_MAX`], only
    /// its start.
    pub(crate) bytes: Vec<u8>,
    /// The declared length in bytes.
    pub(crate) length: u64,
    /// The number of bytes missing from the file.
    pub(crate) missing: u64,
    /// For content beyond the limit, the digest of the part after an HTTP header.
    pub(crate) digest: Option<Digest>,
}

impl BlockContent {
    /// Returns the bytes that may contain a header, and whether they are the whole content.
    pub(crate) fn start(&self) -> (&[u8], bool) {
        let start = self.bytes.get(..HEAD_BYTES_MAX).unwrap_or(&self.bytes);
        (start, start.len() as u64 == self.length)
    }

    /// Returns the item of a skipped record, or an error if the file ends within it.
    pub(crate) fn passed(&self, item: SourceItem) -> Result<SourceItem, String> {
        if self.missing > 0 { Err(self.cut()) } else { Ok(item) }
    }

    /// Returns the error text for a file that ends within this content.
    pub(crate) fn cut(&self) -> String {
        cut(self.missing)
    }
}

fn cut(missing: u64) -> String {
    format!("the file ends {missing} bytes before the end of the record")
}
