//! A buffered reader that can go back a limited distance.

use std::io::{self, BufRead, Read};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// The minimum distance that the reader can go back.
const KEPT_BYTES: usize = 64 << 10;
/// The size of the buffer.
pub(super) const BUFFER_BYTES: usize = 4 * KEPT_BYTES;

/// A buffered reader that tracks its offset and updates a progress counter. The reader can go back
/// to bytes still in its buffer, to find the next intact part after a damaged part.
pub(super) struct RewindReader {
    inner: Box<dyn Read + Send>,
    progress: Arc<AtomicU64>,
    buffer: Box<[u8]>,
    /// The number of bytes of the file in the buffer.
    held: usize,
    /// The offset in the file of the first byte of the buffer.
    start: u64,
    /// The number of consumed bytes in the buffer.
    position: usize,
    /// Whether the file has ended, or can no longer be read.
    ended: bool,
}

impl RewindReader {
    pub(super) fn new(inner: Box<dyn Read + Send>, progress: Arc<AtomicU64>) -> RewindReader {
        let buffer = vec![0; BUFFER_BYTES].into_boxed_slice();
        RewindReader { inner, progress, buffer, held: 0, start: 0, position: 0, ended: false }
    }

    /// Returns the offset of the next byte.
    pub(super) fn offset(&self) -> u64 {
        self.start + self.position as u64
    }

    /// Whether the next byte must be read from the file.
    pub(super) fn is_drained(&self) -> bool {
        self.rest().is_empty()
    }

    fn rest(&self) -> &[u8] {
        self.buffer.get(self.position..self.held).unwrap_or_default()
    }

    /// Goes back to `offset`, or as far as the buffer allows. Goes forward at most to the end of
    /// the buffer.
    pub(super) fn rewind_to(&mut self, offset: u64) {
        let within = usize::try_from(offset.saturating_sub(self.start)).unwrap_or(usize::MAX);
        self.position = within.min(self.held);
    }

    /// Returns the next `count` bytes without consuming them; fewer only at the end. `count` must
    /// be well below the size of the buffer.
    pub(super) fn peek(&mut self, count: usize) -> io::Result<&[u8]> {
        while self.rest().len() < count && !self.ended {
            self.read_more()?;
        }
        Ok(self.rest().get(..count).unwrap_or(self.rest()))
    }

    /// Consumes up to the next position where `starts` accepts the next `count` bytes. If there is
    /// no such position, consumes all bytes and returns `false`.
    pub(super) fn seek(
        &mut self,
        count: usize,
        starts: impl Fn(&[u8]) -> bool,
    ) -> io::Result<bool> {
        loop {
            let held = self.peek(count)?.len();
            if held < count {
                self.consume(held);
                return Ok(false);
            }
            match self.rest().windows(count).position(&starts) {
                Some(at) => {
                    self.consume(at);
                    return Ok(true);
                }
                None => self.consume(self.rest().len() + 1 - count),
            }
        }
    }

    fn read_more(&mut self) -> io::Result<()> {
        if self.held == BUFFER_BYTES {
            let gone = self.position.min(BUFFER_BYTES - KEPT_BYTES);
            self.buffer.copy_within(gone.., 0);
            self.start += gone as u64;
            self.position -= gone;
            self.held -= gone;
        }
        let result = loop {
            match self.inner.read(self.buffer.get_mut(self.held..).unwrap_or_default()) {
                Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                result => break result,
            }
        };
        let read = *result.as_ref().unwrap_or(&0);
        self.held += read;
        self.progress.fetch_add(read as u64, Ordering::Relaxed);
        self.ended = read == 0;
        result.map(|_| ())
    }
}

impl Read for RewindReader {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let read = self.fill_buf()?.read(out)?;
        self.consume(read);
        Ok(read)
    }
}

impl BufRead for RewindReader {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        if self.rest().is_empty() && !self.ended {
            self.read_more()?;
        }
        Ok(self.rest())
    }

    fn consume(&mut self, count: usize) {
        self.position = self.held.min(self.position + count);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn window(bytes: Vec<u8>) -> RewindReader {
        RewindReader::new(Box::new(io::Cursor::new(bytes)), Arc::default())
    }

    #[test]
    fn bytes_come_in_order_and_are_counted() {
        let bytes: Vec<u8> = (0..3_000_000u32).map(|i| (i % 251) as u8).collect();
        let mut window = window(bytes.clone());
        let mut out = Vec::new();
        window.read_to_end(&mut out).unwrap();
        assert!(out == bytes);
        assert_eq!(window.offset(), 3_000_000);
        assert_eq!(window.progress.load(Ordering::Relaxed), 3_000_000);
    }

    #[test]
    fn window_goes_back_within_its_buffer() {
        let bytes: Vec<u8> = (0..1_000_000u32).map(|i| (i % 251) as u8).collect();
        let mut window = window(bytes.clone());
        io::copy(&mut (&mut window).take(700_000), &mut io::sink()).unwrap();
        window.rewind_to(690_000);
        assert_eq!(window.offset(), 690_000);
        assert_eq!(window.peek(100).unwrap(), &bytes[690_000..690_100]);
        window.rewind_to(0);
        assert!(window.offset() <= 700_000 - KEPT_BYTES as u64);
        let offset = usize::try_from(window.offset()).unwrap();
        assert_eq!(window.peek(1).unwrap()[0], bytes[offset]);
    }

    #[test]
    fn window_searches_across_buffer_ends() {
        for at in [0, 5, BUFFER_BYTES - 2, BUFFER_BYTES, 3 * BUFFER_BYTES - 1] {
            let mut bytes = vec![b'.'; at];
            bytes.extend(b"needle..");
            let mut window = window(bytes);
            assert!(window.seek(6, |b| b == b"needle").unwrap());
            assert_eq!(window.offset(), at as u64);
            window.consume(1);
            assert!(!window.seek(6, |b| b == b"needle").unwrap());
            assert!(window.fill_buf().unwrap().is_empty());
        }
    }
}
