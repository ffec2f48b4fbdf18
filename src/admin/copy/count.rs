//! How many files something was done to.

/// Some segments and tables of document frequencies.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct FileCount {
    /// How many.
    pub files: u64,
    /// Bytes of them together.
    pub bytes: u64,
}

impl FileCount {
    pub(crate) fn add(&mut self, bytes: u64) {
        self.files += 1;
        self.bytes = self.bytes.saturating_add(bytes);
    }
}
