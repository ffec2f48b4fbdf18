//! Buffers output, to write many bytes at a time.

use std::io::{self, Write};

/// The number of bytes to buffer.
pub(super) const GATHERED_BYTES: usize = 64 << 10;

/// A buffer in front of a writer.
pub(super) struct BufferedOutput<'w> {
    to: &'w mut (dyn Write + Send),
    pub(super) bytes: Vec<u8>,
}

impl<'w> BufferedOutput<'w> {
    pub(super) fn new(to: &'w mut (dyn Write + Send)) -> BufferedOutput<'w> {
        BufferedOutput { to, bytes: Vec::with_capacity(GATHERED_BYTES) }
    }

    /// Writes the buffer if it is full.
    pub(super) fn flush_if_full(&mut self) -> io::Result<()> {
        if self.bytes.len() >= GATHERED_BYTES { self.flush_all() } else { Ok(()) }
    }

    /// Writes the buffer.
    pub(super) fn flush_all(&mut self) -> io::Result<()> {
        self.to.write_all(&self.bytes)?;
        self.bytes.clear();
        Ok(())
    }
}
