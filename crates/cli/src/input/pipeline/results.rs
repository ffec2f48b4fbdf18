//! The results of a chunk.

/// The results of one chunk, in order, and the bytes that they take.
pub(crate) struct ChunkResults<T> {
    items: Vec<T>,
    bytes: usize,
}

impl<T> Default for ChunkResults<T> {
    fn default() -> Self {
        ChunkResults { items: Vec::new(), bytes: 0 }
    }
}

impl<T> ChunkResults<T> {
    /// Adds a result that takes `bytes` in addition to its own size.
    pub(crate) fn push(&mut self, item: T, bytes: usize) {
        self.items.push(item);
        self.bytes += size_of::<T>() + bytes;
    }

    /// The bytes that the results take.
    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }

    pub(super) fn into_items(self) -> Vec<T> {
        self.items
    }
}
