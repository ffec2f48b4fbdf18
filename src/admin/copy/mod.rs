//! What backups and generations have in common: the files of one state of a store, and getting them into
//! another directory.
//!
//! A commit of the catalog says which files there are, and those are opened ([`source`]). They are
//! linked or copied ([`placed`]), if what the directory holds is an earlier state of the store
//! ([`earlier`]).

mod earlier;
mod placed;
mod source;

pub(crate) use earlier::State;
pub(crate) use placed::{Counts, Placed, check_whole};
pub(crate) use source::{Source, newest};

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
