//! Options of publishing, and its result.

use std::time::{Duration, SystemTime};

use crate::admin::copy::FileCount;
use crate::engine::settings::settings;
use crate::page::{Epoch, EpochInfo};
use crate::progress::Progress;

settings! {
    /// Options of [`publish`](crate::publish::publish()).
    ///
    /// ```
    /// let options = simkeep::publish::PublishOptions::default().keep(10);
    /// assert_eq!(options.keep, 10);
    /// ```
    pub struct PublishOptions {
        /// The number of generations to keep, including the new one; at least 1. Default: 3.
        pub keep: usize = 3,
        /// The minimum time for which a generation stays after a newer generation was published.
        /// The time must be longer than readers use a generation. Default: a day.
        pub grace: Duration = Duration::from_secs(24 * 60 * 60),
        /// Whether to copy files instead of linking them. Default: no. A link takes neither space
        /// nor time, but a link is the same file: disk damage affects both the store and the
        /// published files.
        pub copy: bool = false,
        /// Whether to read all kept files, and not only the files that are due. Default: no. Each
        /// file is due once in every 30 days, and the first run after the due time reads the file.
        pub check_kept: bool = false,
        /// Reports progress and allows cancellation: first in bytes of files that are linked,
        /// copied or kept, then in bytes checked. Default: a progress that nobody reads.
        pub progress: Progress = Progress::default(),
    }
}

/// The result of publishing.
///
/// ```
/// # use simkeep::{Observation, Options, Store, Time};
/// use simkeep::publish::PublishOptions;
/// # fn main() -> simkeep::Result<()> {
/// # let dir = tempfile::tempdir().unwrap();
/// # let store = Store::create(dir.path().join("store"), Options::default())?;
/// # let to = dir.path().join("published");
/// store.observe(Observation::gone("https://example.com/", Time::now()))?;
/// let made = store.publish(&to, PublishOptions::default())?;
/// assert_eq!((made.generation, made.is_new, made.checked.files), (1, true, 1));
/// // Nothing has changed since, so there is no new generation.
/// let again = store.publish(&to, PublishOptions::default())?;
/// assert_eq!((again.generation, again.is_new, again.kept.files), (1, false, 1));
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Publication {
    /// The number of the generation.
    pub generation: u64,
    /// Whether the generation is new. If not, the newest existing generation already has this state
    /// of the store.
    pub is_new: bool,
    /// The last operation in the generation.
    pub sequence: u64,
    /// The number of later operations that were acknowledged but are in no segment yet. These
    /// operations are not published.
    pub unsealed: u64,
    /// Files that are links to files of the store.
    pub linked: FileCount,
    /// Files that are copies.
    pub copied: FileCount,
    /// Files that already existed.
    pub kept: FileCount,
    /// Files that were read and checked: all new files, and some of the kept files.
    pub checked: FileCount,
    /// Kept files that were not read, because they were checked in the last 30 days.
    pub unchecked: FileCount,
    /// Copied files that replaced damaged files.
    pub replaced: FileCount,
    /// Older generations that were removed, by number.
    pub removed: Vec<u64>,
    /// The number of files removed because no generation lists them any more.
    pub removed_files: u64,
    /// Older generations that still exist, by number. They contain data that was forgotten after
    /// they were published.
    pub older: Vec<u64>,
    /// Whether anything was forgotten since the oldest generation in `older`. `None` if unknown: a
    /// merge combined operations of that generation with later operations, and not all of these
    /// operations were visits.
    pub forgotten: Option<bool>,
    /// The system error that caused files to be copied instead of linked.
    pub not_linked: Option<String>,
}

/// A published state of a store.
///
/// ```
/// # use simkeep::{Observation, Options, Store, Time};
/// use simkeep::publish::{PublishOptions, generations};
/// # fn main() -> simkeep::Result<()> {
/// # let dir = tempfile::tempdir().unwrap();
/// # let store = Store::create(dir.path().join("store"), Options::default())?;
/// # let to = dir.path().join("published");
/// for ms in [1_000, 2_000] {
///     store.observe(Observation::gone("https://example.com/", Time::from_ms(ms)?))?;
///     store.publish(&to, PublishOptions::default())?;
/// }
/// let all = generations(&to)?;
/// assert_eq!((all[1].number, all[1].sequence, all[1].files.files), (2, 2, 2));
/// assert!(all[0].written <= all[1].written);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct GenerationInfo {
    /// The number of the generation, larger than the numbers of all earlier generations.
    pub number: u64,
    /// The identifier of the store.
    pub store: u64,
    /// The time when the generation was published, by the clock of the publisher.
    pub written: SystemTime,
    /// The last operation in the generation.
    pub sequence: u64,
    /// The segments and tables of the generation.
    pub files: FileCount,
    /// The store's epochs, by number.
    pub epochs: Vec<EpochInfo>,
    /// The epoch of near-duplicates.
    pub near_epoch: Epoch,
}
