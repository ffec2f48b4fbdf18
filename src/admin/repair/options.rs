//! Options of a repair, and its result.

use std::ops::Range;

use crate::engine::settings::settings;
use crate::error::Corruption;
use crate::progress::Progress;

settings! {
    /// Options of a [`repair`](crate::repair::repair()).
    ///
    /// ```
    /// let options = simkeep::repair::RepairOptions::default().keep_forgotten(true);
    /// assert_eq!(options.memory_bytes, 512 << 20);
    /// ```
    pub struct RepairOptions {
        /// Whether to keep pages that a lost operation may have forgotten. Default: no; the repair
        /// fails if it is unknown which pages were forgotten.
        pub keep_forgotten: bool = false,
        /// Approximate memory in bytes. Default: 512 MiB; at least 64 KiB.
        pub memory_bytes: usize = 512 << 20,
        /// Reports progress and allows cancellation: first in bytes checked, then as a
        /// [load](crate::load) of the sound data. Default: a progress that nobody reads.
        pub progress: Progress = Progress::default(),
    }
}

/// Data that a repair could not recover.
///
/// ```
/// # use simkeep::{Observation, Options, Store, Time};
/// use simkeep::repair::{RepairOptions, repair};
/// # fn main() -> simkeep::Result<()> {
/// # let dir = tempfile::tempdir().unwrap();
/// # let store = Store::create(dir.path().join("store"), Options::default())?;
/// # store.observe(Observation::gone("https://example.com/", Time::now()))?;
/// # store.seal()?;
/// # store.close()?;
/// # let path = dir.path().join("store");
/// # let mut segments = std::fs::read_dir(path.join("segments")).unwrap();
/// # let segment = segments.next().unwrap().unwrap().path();
/// # let mut bytes = std::fs::read(&segment).unwrap();
/// # bytes[0x50] ^= 1;
/// # std::fs::write(&segment, bytes).unwrap();
/// // A byte of the only page is damaged.
/// let repaired = repair(&path, dir.path().join("repaired"), RepairOptions::default())?;
/// for loss in &repaired.lost {
///     println!("{}: {}", loss.file, loss.why);
/// }
/// let loss = &repaired.lost[0];
/// assert!(loss.bytes.as_ref().is_some_and(|bytes| bytes.contains(&0x50)));
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Loss {
    /// The file that contained the lost data.
    pub file: String,
    /// The byte range of the loss in the file, if known. Nothing outside of this range is lost.
    pub bytes: Option<Range<u64>>,
    /// The first and the last operation of the range with the lost data, if known. If `pages` is
    /// `None`, all operations of the range are lost. The last operation is `None` if the end of the
    /// range is unknown.
    pub operations: Option<(u64, Option<u64>)>,
    /// The number of lost page records; `None` if a whole file or operations are lost.
    pub pages: Option<u64>,
    /// The page before the lost pages in SURT order, if there is one.
    pub after_url: Option<String>,
    /// The page after the lost pages in SURT order, if there is one.
    pub before_url: Option<String>,
    /// The reason, in words.
    pub why: String,
}

/// The result of a repair.
///
/// ```
/// # use simkeep::{Observation, Options, Store, Time};
/// use simkeep::repair::{RepairOptions, repair};
/// # fn main() -> simkeep::Result<()> {
/// # let dir = tempfile::tempdir().unwrap();
/// # let store = Store::create(dir.path().join("store"), Options::default())?;
/// store.observe(Observation::gone("https://example.com/", Time::now()))?;
/// store.close()?;
/// let (old, new) = (dir.path().join("store"), dir.path().join("repaired"));
/// let repaired = repair(&old, &new, RepairOptions::default())?;
/// assert_eq!((repaired.pages, repaired.visits, repaired.lost.len()), (1, 1, 0));
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Repaired {
    /// The number of pages in the new store.
    pub pages: u64,
    /// The number of visits in the new store.
    pub visits: u64,
    /// The losses, file by file.
    pub lost: Vec<Loss>,
    /// The number of lost page records, as far as they could be counted.
    pub lost_pages: u64,
    /// The number of lost visits, as far as they could be counted.
    pub lost_visits: u64,
    /// The number of frames of the journal with a wrong checksum. Their operations are among the
    /// lost ones.
    pub damaged_frames: u64,
    /// The number of pages with entries that were left out, because a lost operation may have
    /// forgotten them.
    pub withheld_pages: u64,
    /// The lost operations that may have forgotten pages which the new store has. Only with
    /// [`keep_forgotten`](RepairOptions::keep_forgotten).
    pub ambiguities: Vec<String>,
    /// Epochs whose names could not be read, by their new names.
    pub unnamed_epochs: Vec<String>,
    /// The first flaws found, whether or not they lost data.
    pub flaws: Vec<Corruption>,
    /// The number of further flaws.
    pub more_flaws: u64,
}

impl Repaired {
    /// Whether everything was recovered, without forgotten data.
    ///
    /// ```
    /// # use simkeep::{Options, Store};
    /// use simkeep::repair::{RepairOptions, repair};
    /// # fn main() -> simkeep::Result<()> {
    /// # let dir = tempfile::tempdir().unwrap();
    /// # let store = Store::create(dir.path().join("store"), Options::default())?;
    /// # store.close()?;
    /// # let (old, new) = (dir.path().join("store"), dir.path().join("repaired"));
    /// let repaired = repair(&old, &new, RepairOptions::default())?;
    /// assert!(repaired.is_whole()); // the old store can be removed
    /// # Ok(())
    /// # }
    /// ```
    pub fn is_whole(&self) -> bool {
        self.lost.is_empty()
            && self.lost_visits == 0
            && self.withheld_pages == 0
            && self.ambiguities.is_empty()
            && self.unnamed_epochs.is_empty()
    }
}
