//! Settings of publishing, and what it did.

use std::time::{Duration, SystemTime};

use crate::admin::copy::FileCount;
use crate::engine::settings::settings;
use crate::page::{Epoch, EpochInfo};
use crate::progress::Progress;

settings! {
    /// Settings of [`publish`](crate::publish::publish()).
    ///
    /// ```
    /// let options = simkeep::publish::PublishOptions::default().keep(10);
    /// assert_eq!(options.keep, 10);
    /// ```
    pub struct PublishOptions {
        /// How many generations stay, the new one included; at least 1. Default: 3.
        pub keep: usize = 3,
        /// How long an older one stays in any case, since the one after it was published: as long as
        /// those who read it may take. Default: a day.
        pub grace: Duration = Duration::from_secs(24 * 60 * 60),
        /// Whether to copy files that could be linked. Default: no. A link takes no room and no time,
        /// and is the same file: what damages it on the disk damages the store and what is published.
        pub copy: bool = false,
        /// Whether to read all files that were published before, and not only those whose turn it is.
        /// Default: no. Each is read at least once in 30 days, by the first run after its turn.
        pub check_kept: bool = false,
        /// How far it has come, and a way to stop it: first in bytes of files that are linked or copied
        /// or there already, and then in bytes checked. Default: nobody looks.
        pub progress: Progress = Progress::default(),
    }
}

/// What was published.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Publication {
    /// The number of the generation.
    pub generation: u64,
    /// Whether it is new. If not, the newest that was there already is this state of the store.
    pub is_new: bool,
    /// The last operation that it has.
    pub sequence: u64,
    /// How many operations were acknowledged since, and are in no segment yet: none of them is
    /// published.
    pub unsealed: u64,
    /// Files that are links: of one file with the store.
    pub linked: FileCount,
    /// Files that are copies.
    pub copied: FileCount,
    /// Files that were there already.
    pub kept: FileCount,
    /// Files that were read and checked: all that are linked or copied, and some that are kept.
    pub checked: FileCount,
    /// Files that are kept and were not read: they were found sound in the last 30 days.
    pub unchecked: FileCount,
    /// Files among the copies that took the place of damaged ones.
    pub replaced: FileCount,
    /// Older generations that were removed, by number.
    pub removed: Vec<u64>,
    /// Files that were removed because no generation names them any more.
    pub removed_files: u64,
    /// Older generations that are there still, by number. They have what was forgotten since.
    pub older: Vec<u64>,
    /// Whether anything was forgotten since the oldest of them. `None` if that cannot be told: where
    /// a merge put its operations and later ones together, and these were not visits alone.
    pub forgotten: Option<bool>,
    /// Why files were copied that were to be linked, as the system said it.
    pub not_linked: Option<String>,
}

/// A state of a store that is published.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct GenerationInfo {
    /// Its number: each has a larger one than those before.
    pub number: u64,
    /// The number of the store.
    pub store: u64,
    /// When it was published, by the clock of whoever did that.
    pub written: SystemTime,
    /// The last operation that it has.
    pub sequence: u64,
    /// The segments and tables that it names.
    pub files: FileCount,
    /// The store's epochs, by number.
    pub epochs: Vec<EpochInfo>,
    /// The epoch that near-duplicates are sought by.
    pub near_epoch: Epoch,
}
