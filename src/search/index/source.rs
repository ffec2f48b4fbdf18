//! The column that tables are built of, and where tables are written to.

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

/// A column of a table: the number of the table, and which of its columns.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Part {
    /// [`Rotation::buckets`](crate::search::Rotation::buckets).
    Buckets(usize),
    /// `Rotation::rest`.
    Rest(usize),
    /// [`CellTable::cells`](crate::search::CellTable::cells).
    Cells(usize),
    /// [`CellTable::further`](crate::search::CellTable::further).
    Further(usize),
    /// [`Rotation::ordinals`](crate::search::Rotation::ordinals) or
    /// [`CellTable::ordinals`](crate::search::CellTable::ordinals).
    Ordinals(usize),
}

/// Where tables are written to, from several threads.
pub trait Sink: Sync {
    /// What writing can fail with.
    type Error: Send;

    /// Keeps a place of so many bytes for a part. All parts are placed before anything is written,
    /// table by table.
    ///
    /// # Errors
    ///
    /// There is no room.
    fn place(&self, part: Part, bytes: u64) -> Result<(), Self::Error>;

    /// Appends to a part. Each is written from front to end, by one thread; different ones at the
    /// same time.
    ///
    /// # Errors
    ///
    /// It cannot be written.
    fn write(&self, part: Part, bytes: &[u8]) -> Result<(), Self::Error>;

    /// The error for a column that was not the same when it was read again.
    fn changed(&self) -> Self::Error;
}
