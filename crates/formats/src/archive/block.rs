//! The content of one record in a stream.

use std::io::{self, BufRead};

use simkeep::Digest;

use crate::RECORD_BYTES_MAX;
use crate::digest::Hasher;
use crate::http::{self, HEAD_BYTES_MAX};
use crate::item::{Fault, Item};
use crate::stream::Stream;

/// A number of bytes of a stream, which may end early.
pub(crate) struct Block<'a> {
    stream: &'a mut Stream,
    left: u64,
    ended: bool,
}

impl<'a> Block<'a> {
    /// The next `length` bytes of `stream`.
    pub(crate) fn new(stream: &'a mut Stream, length: u64) -> Block<'a> {
        Block { stream, left: length, ended: false }
    }

    /// Reads the block, and holds it; of one beyond the limit only its start, and the digest of all that
    /// follows an HTTP header.
    pub(crate) fn hold(mut self) -> Result<Content, Fault> {
        let length = self.left;
        let is_large = length > RECORD_BYTES_MAX;
        let held_max = if is_large { HEAD_BYTES_MAX as u64 } else { RECORD_BYTES_MAX };
        let held = usize::try_from(length.min(held_max)).unwrap_or(usize::MAX);
        let mut bytes = Vec::with_capacity(held);
        self.each(held_max, |some| bytes.extend_from_slice(some))?;
        let mut digest = None;
        if is_large {
            let head = http::head(&bytes, false).ok().flatten().unwrap_or_default();
            let mut hasher = Hasher::default();
            hasher.update(bytes.get(head.body..).unwrap_or_default());
            self.each(u64::MAX, |some| hasher.update(some))?;
            digest = Some(hasher.finish());
        }
        Ok(Content { bytes, length, missing: self.left, digest })
    }

    /// Reads the start of the block, `max` bytes at most, and goes to its end.
    pub(crate) fn start(mut self, max: usize) -> Result<Vec<u8>, Fault> {
        let mut bytes = Vec::new();
        self.each(max as u64, |some| bytes.extend_from_slice(some))?;
        self.skip().map(|()| bytes)
    }

    /// Goes to the end of the block; it is a fault if the stream ends before.
    pub(crate) fn skip(mut self) -> Result<(), Fault> {
        self.each(u64::MAX, |_| {})?;
        if self.left > 0 { Err(Fault::Record(cut(self.left))) } else { Ok(()) }
    }

    /// Takes what is left of the block, `max` bytes at most.
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

/// The content of a record, as far as it is at hand.
#[derive(Debug)]
pub(crate) struct Content {
    /// All of it, up to where the file ends; of one beyond [`RECORD_BYTES_MAX`] the start.
    pub(crate) bytes: Vec<u8>,
    /// The bytes that it has, or should have.
    pub(crate) length: u64,
    /// How many bytes of it the file lacks.
    pub(crate) missing: u64,
    /// Of one beyond the limit, the digest of what follows an HTTP header.
    pub(crate) digest: Option<Digest>,
}

impl Content {
    /// What of it may be a header, and whether that is all of it.
    pub(crate) fn start(&self) -> (&[u8], bool) {
        let start = self.bytes.get(..HEAD_BYTES_MAX).unwrap_or(&self.bytes);
        (start, start.len() as u64 == self.length)
    }

    /// A record that is passed over, if the file does not end within it.
    pub(crate) fn passed(&self, item: Item) -> Result<Item, String> {
        if self.missing > 0 { Err(self.cut()) } else { Ok(item) }
    }

    /// What is wrong if the file ends within it.
    pub(crate) fn cut(&self) -> String {
        cut(self.missing)
    }
}

fn cut(missing: u64) -> String {
    format!("the file ends {missing} bytes before the end of the record")
}
