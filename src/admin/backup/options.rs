//! Settings of a backup, and what it did.

use crate::admin::copy::FileCount;
use crate::engine::settings::settings;
use crate::progress::Progress;

settings! {
    /// Settings of a [`backup`](crate::integrity::backup()).
    ///
    /// ```
    /// let options = simkeep::integrity::BackupOptions::default().copy(true);
    /// assert!(options.copy);
    /// ```
    pub struct BackupOptions {
        /// Whether to copy files that could be linked. Default: no. A link takes no room and no time,
        /// and is the same file: what damages it on the disk damages the store and the backup. What an
        /// earlier run has linked stays so.
        pub copy: bool = false,
        /// How far it has come, and a way to stop it: first in bytes of files that are linked or copied
        /// or there already, and then in bytes checked. Default: nobody looks.
        pub progress: Progress = Progress::default(),
    }
}

/// What a backup did.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct BackedUp {
    /// The last operation that the backup has.
    pub sequence: u64,
    /// Pages in it, all of which were checked.
    pub pages: u64,
    /// Visits in it.
    pub visits: u64,
    /// The last operation that the earlier backup had in whose place this one is; `None` if there was
    /// none.
    pub earlier: Option<u64>,
    /// Files that are links: of one file with the store.
    pub linked: FileCount,
    /// Files that are copies.
    pub copied: FileCount,
    /// Files that the earlier backup had already.
    pub kept: FileCount,
    /// Files of the earlier backup that were removed, because the store has them no more.
    pub removed: u64,
    /// Bytes of the catalog, which is always written anew.
    pub catalog_bytes: u64,
    /// Why files were copied that were to be linked, as the system said it.
    pub not_linked: Option<String>,
}

impl BackedUp {
    /// Bytes of what was written: of the catalog, and of files that were copied.
    #[must_use]
    pub fn bytes_written(&self) -> u64 {
        self.copied.bytes + self.catalog_bytes
    }
}
