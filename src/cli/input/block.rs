//! The content of one record in a stream.

use std::io::{self, BufRead};

use super::Fault;
use super::stream::Stream;

/// So many bytes of a stream, which may end before.
pub(super) struct Block<'a> {
    stream: &'a mut Stream,
    left: u64,
    ended: bool,
}

impl<'a> Block<'a> {
    /// The next `length` bytes of `stream`.
    pub(super) fn new(stream: &'a mut Stream, length: u64) -> Block<'a> {
        Block { stream, left: length, ended: false }
    }

    /// The bytes of the block not read yet.
    pub(super) fn left(&self) -> u64 {
        self.left
    }

    /// Whether the stream was found to end within the block.
    pub(super) fn is_cut(&self) -> bool {
        self.ended && self.left > 0
    }

    /// Appends what is left of the block to `out`, until that has `max` bytes.
    pub(super) fn read(&mut self, out: &mut Vec<u8>, max: usize) -> io::Result<()> {
        self.each(max.saturating_sub(out.len()) as u64, |bytes| out.extend_from_slice(bytes))
    }

    /// Goes to the end of the block. It is a fault if the stream ends before and that is news.
    pub(super) fn finish(mut self) -> Result<(), Fault> {
        let known = self.is_cut();
        self.each(u64::MAX, |_| {})?;
        if self.is_cut() && !known { Err(self.cut()) } else { Ok(()) }
    }

    /// The fault that the stream ends within the block.
    pub(super) fn cut(&self) -> Fault {
        Fault::Record(format!("the file ends {} bytes before the end of the record", self.left))
    }

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
