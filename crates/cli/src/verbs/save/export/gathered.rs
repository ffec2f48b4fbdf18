//! Bytes that are gathered before they are passed on.

use std::io::{self, Write};

/// As many as are gathered.
pub(super) const GATHERED_BYTES: usize = 64 << 10;

/// What passes bytes on, many at a time.
pub(super) struct Gathered<'w> {
    to: &'w mut (dyn Write + Send),
    pub(super) bytes: Vec<u8>,
}

impl<'w> Gathered<'w> {
    pub(super) fn new(to: &'w mut (dyn Write + Send)) -> Gathered<'w> {
        Gathered { to, bytes: Vec::with_capacity(GATHERED_BYTES) }
    }

    /// Passes them on, if they are enough.
    pub(super) fn pass(&mut self) -> io::Result<()> {
        if self.bytes.len() >= GATHERED_BYTES { self.pass_all() } else { Ok(()) }
    }

    /// Passes all on.
    pub(super) fn pass_all(&mut self) -> io::Result<()> {
        self.to.write_all(&self.bytes)?;
        self.bytes.clear();
        Ok(())
    }
}
