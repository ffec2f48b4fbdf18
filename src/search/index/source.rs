//! The column that tables are built of.

/// Fingerprints read at a time.
pub(super) const STRIDE: u32 = 8192;

/// Reads some fingerprints of a column.
pub(super) type Read<'r, E> = dyn Fn(u32, &mut [u64]) -> Result<(), E> + Sync + 'r;

/// The column as it is read, from start to end, again and again.
pub(super) struct Source<'r, E> {
    pub(super) n: u32,
    pub(super) read: &'r Read<'r, E>,
    /// The error where it is not the same again.
    pub(super) changed: &'r (dyn Fn() -> E + Sync),
}

impl<E> Source<'_, E> {
    /// Calls `visit` with every ordinal and its fingerprint, in order.
    pub(super) fn each(&self, mut visit: impl FnMut(u32, u64)) -> Result<(), E> {
        let mut buffer = Vec::new();
        let mut start = 0;
        while start < self.n {
            let length = STRIDE.min(self.n - start);
            // Resized only at the ends: all strides but the last
            // have the same length, so nothing is cleared again.
            buffer.resize(length as usize, 0);
            (self.read)(start, &mut buffer)?;
            for (ordinal, &fingerprint) in (start..).zip(&buffer) {
                visit(ordinal, fingerprint);
            }
            start += length;
        }
        Ok(())
    }

    /// Makes sure that the column is as it was, as far as this tells.
    pub(super) fn same(&self, holds: bool) -> Result<(), E> {
        if holds { Ok(()) } else { Err((self.changed)()) }
    }
}
