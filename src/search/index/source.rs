//! The column that tables are built from, and the sink that they are written to.

/// The number of fingerprints per read.
pub(super) const STRIDE: u32 = 8192;

/// A function that reads fingerprints of a column.
pub(super) type ReadFn<'r, E> = dyn Fn(u32, &mut [u64]) -> Result<(), E> + Sync + 'r;

/// The column, read repeatedly from start to end.
pub(super) struct SourceColumn<'r, E> {
    pub(super) n: u32,
    pub(super) read: &'r ReadFn<'r, E>,
    /// Builds the error for a column that has changed.
    pub(super) changed: &'r (dyn Fn() -> E + Sync),
}

impl<E> SourceColumn<'_, E> {
    /// Calls `visit` with every ordinal and its fingerprint, in order.
    pub(super) fn each(&self, mut visit: impl FnMut(u32, u64)) -> Result<(), E> {
        let mut buffer = Vec::new();
        let mut start = 0;
        while start < self.n {
            let length = STRIDE.min(self.n - start);
            // All strides but the last have the same length, so the buffer is resized only at both
            // ends, and nothing is cleared again.
            buffer.resize(length as usize, 0);
            (self.read)(start, &mut buffer)?;
            for (ordinal, &fingerprint) in (start..).zip(&buffer) {
                visit(ordinal, fingerprint);
            }
            start += length;
        }
        Ok(())
    }

    /// Reports that the column has changed unless `holds` is true.
    pub(super) fn same(&self, holds: bool) -> Result<(), E> {
        if holds { Ok(()) } else { Err((self.changed)()) }
    }
}

/// A column of a table, with the number of the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TableColumn {
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

/// The destination of tables, written by several threads.
pub trait TableSink: Sync {
    /// The error of a write.
    type Error: Send;

    /// Reserves `bytes` bytes for a part. All parts are reserved before the first write, table by
    /// table.
    ///
    /// # Errors
    ///
    /// Returns an error if there is no space.
    fn place(&self, part: TableColumn, bytes: u64) -> Result<(), Self::Error>;

    /// Appends to a part. Each part is written from front to end by one thread; different parts are
    /// written concurrently.
    ///
    /// # Errors
    ///
    /// Returns an error if the part cannot be written.
    fn write(&self, part: TableColumn, bytes: &[u8]) -> Result<(), Self::Error>;

    /// Builds the error for a column that changed between two reads.
    fn changed(&self) -> Self::Error;
}
