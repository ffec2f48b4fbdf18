//! Where tables are written to.

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
