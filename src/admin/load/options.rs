//! Options of a load, and its result.

use super::epochs::LoadEpochs;
use crate::engine::settings::settings;
use crate::error::{Error, Result};
use crate::page::{Entry, EpochInfo, Observation, Operation, PropertyUpdate, Restatement};
use crate::progress::Progress;

settings! {
    /// Options of a [`Store::load`](crate::Store::load).
    ///
    /// ```
    /// use simkeep::load::LoadOptions;
    /// use simkeep::Progress;
    ///
    /// let progress = Progress::default();
    /// let options = LoadOptions::default().memory_bytes(1 << 30).progress(progress.clone());
    /// assert_eq!(options.memory_bytes, 1 << 30);
    /// ```
    pub struct LoadOptions {
        /// Memory for the load, in bytes. Default: 512 MiB; at least 64 KiB. File buffers and the
        /// visits of one page take about ten MiB in addition. More memory saves time if there are
        /// very many pages.
        pub memory_bytes: usize = 512 << 20,
        /// The maximum number of pages in a new segment. Default: 2^29, so that a load usually
        /// makes one segment.
        pub segment_pages: u64 = 1 << 29,
        /// The epochs of the observations that the store does not have yet. The commit that makes
        /// the load live registers these epochs. Default: none.
        pub epochs: LoadEpochs = LoadEpochs::default(),
        /// Reports progress and allows cancellation. A load that is cancelled before its commit
        /// leaves nothing behind. Default: a progress that nobody reads.
        pub progress: Progress = Progress::default(),
    }
}

pub(super) fn check(memory_bytes: usize, segment_pages: u64) -> Result<()> {
    let wrong = |name, takes| Err(Error::InvalidOption { name, takes });
    if memory_bytes < 1 << 16 {
        return wrong("memory_bytes", "at least 65,536");
    }
    if !(1..=1 << 29).contains(&segment_pages) {
        return wrong("segment_pages", "between 1 and 536,870,912");
    }
    Ok(())
}

/// The result of a [`Store::load`](crate::Store::load).
///
/// ```
/// # use simkeep::{Observation, Options, Store, Time};
/// # fn main() -> simkeep::Result<()> {
/// # let dir = tempfile::tempdir().unwrap();
/// # let store = Store::create(dir.path().join("store"), Options::default())?;
/// let corpus = ["https://example.com/", "https://example.org/"];
/// let epoch = store.change_epoch();
/// let observations = corpus.iter().map(|url| Ok(Observation::content(url, Time::now(), 7, epoch)));
/// let loaded = store.load(observations, Default::default())?;
/// assert_eq!((loaded.new_pages, loaded.segments), (2, 1));
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Loaded {
    /// The number of observations read.
    pub observations: u64,
    /// Visits that were new to the store.
    pub visits: u64,
    /// [Restatements](crate::Restatement) that were new to the store, including second fingerprints
    /// of visits.
    pub restated: u64,
    /// [Weights](crate::Observation::weight) that were new to the store, with a visit or without.
    pub weights: u64,
    /// [Classes](crate::Observation::class) that were new to the store, with a visit or without.
    pub classes: u64,
    /// The number of pages with new visits, restatements, weights or classes.
    pub pages: u64,
    /// The number of these pages that were new to the store.
    pub new_pages: u64,
    /// The number of new segments.
    pub segments: usize,
    /// The total size of the new segments in bytes.
    pub bytes: u64,
    /// Epochs that began with the load.
    pub begun: Vec<EpochInfo>,
}

/// A borrowed or owned operation, as accepted by [`Store::load`](crate::Store::load).
///
/// An [`Observation`], a [`Restatement`] and a [`PropertyUpdate`] borrow their URL. If no URL can
/// be borrowed, because pages are read one after another, use a pair of a URL and an [`Entry`], or
/// anything that converts into an entry.
///
/// ```
/// # use simkeep::{Entry, Observation, Options, Store, Time};
/// # fn main() -> simkeep::Result<()> {
/// # let dir = tempfile::tempdir().unwrap();
/// # let store = Store::create(dir.path().join("store"), Options::default())?;
/// let epoch = store.change_epoch();
/// // A reader of a file makes pairs of an owned URL and an entry.
/// let rows = (0..3_u64).map(|n| {
///     let url = format!("https://example.com/{n}");
///     let visit = Observation::content(&url, Time::now(), n, epoch).visit;
///     Ok((url, Entry::from(visit)))
/// });
/// assert_eq!(store.load(rows, Default::default())?.visits, 3);
/// # Ok(())
/// # }
/// ```
pub trait AsOperation {
    /// The operation.
    fn operation(&self) -> Operation<'_>;
}

impl AsOperation for Operation<'_> {
    fn operation(&self) -> Operation<'_> {
        self.clone()
    }
}

impl AsOperation for Observation<'_> {
    fn operation(&self) -> Operation<'_> {
        Operation::Observe(*self)
    }
}

impl AsOperation for Restatement<'_> {
    fn operation(&self) -> Operation<'_> {
        Operation::Restate(*self)
    }
}

impl AsOperation for PropertyUpdate<'_> {
    fn operation(&self) -> Operation<'_> {
        Operation::SetProperty(self.clone())
    }
}

impl<U: AsRef<str>, E: Into<Entry> + Clone> AsOperation for (U, E) {
    fn operation(&self) -> Operation<'_> {
        Operation::of(self.0.as_ref(), self.1.clone().into())
    }
}

impl<O: AsOperation + ?Sized> AsOperation for &O {
    fn operation(&self) -> Operation<'_> {
        (**self).operation()
    }
}
