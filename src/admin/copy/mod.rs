//! The common part of backups and generations: copying the files of one state of a store to another
//! directory.
//!
//! A commit of the catalog lists the files. They are opened ([`source`]), and linked or copied
//! ([`placed`]), if the directory contains an earlier state of the store ([`earlier`]).

mod earlier;
mod placed;
mod source;

pub(crate) use earlier::StoreLineage;
pub(crate) use placed::{CopyCounts, PlacedFiles, check_whole};
pub(crate) use source::{CopySource, newest};

/// A number of segments and tables of document frequencies.
///
/// ```
/// # use simkeep::{Observation, Options, Store, Time};
/// use simkeep::backup::BackupOptions;
/// # fn main() -> simkeep::Result<()> {
/// # let dir = tempfile::tempdir().unwrap();
/// # let store = Store::create(dir.path().join("store"), Options::default())?;
/// store.observe(Observation::gone("https://example.com/", Time::now()))?;
/// store.seal()?; // writes a segment
/// let options = BackupOptions::default().copy(true);
/// let copied = store.backup(dir.path().join("backup"), options)?.copied;
/// assert_eq!((copied.files, copied.bytes), (1, store.stats()?.segment_bytes));
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct FileCount {
    /// The number of files.
    pub files: u64,
    /// The total size of the files in bytes.
    pub bytes: u64,
}

impl FileCount {
    pub(crate) fn add(&mut self, bytes: u64) {
        self.files += 1;
        self.bytes = self.bytes.saturating_add(bytes);
    }
}
