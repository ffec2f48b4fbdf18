//! Settings of a load, and its result.

use super::epochs::LoadEpochs;
use crate::engine::settings::settings;
use crate::error::{Error, Result};
use crate::page::{Entry, EpochInfo, Observation, Operation, PropertyUpdate, Restatement};
use crate::progress::Progress;

settings! {
    /// Settings of a [`Store::load`](crate::Store::load).
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
        /// Memory that the load takes. Default: 512 MiB; at least 64 KiB. Some ten MiB for file
        /// buffers and the visits of one page come on top. More memory saves time if there are very
        /// many pages.
        pub memory_bytes: usize = 512 << 20,
        /// The most pages in a new segment. Default: 2^29, so that a load nearly always makes one
        /// segment.
        pub segment_pages: u64 = 1 << 29,
        /// The epochs of the observations that the store does not have yet. They are registered in
        /// the commit that makes the load live. Default: none.
        pub epochs: LoadEpochs = LoadEpochs::default(),
        /// How far the load has come, and a way to stop it: until the commit that makes it live, it
        /// leaves nothing behind. Default: nobody looks.
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
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Loaded {
    /// Observations that were taken.
    pub observations: u64,
    /// Visits that the store did not have.
    pub visits: u64,
    /// What was [restated](crate::Restatement) that the store did not have: second fingerprints of
    /// visits are among it.
    pub restated: u64,
    /// [Weights](crate::Observation::weight) that the store did not have, with a visit or without.
    pub weights: u64,
    /// [Classes](crate::Observation::class) that the store did not have, with a visit or without.
    pub classes: u64,
    /// Pages with such visits, weights or classes, or something restated.
    pub pages: u64,
    /// How many of these pages the store did not know before.
    pub new_pages: u64,
    /// Segments that were made.
    pub segments: usize,
    /// Bytes of these segments.
    pub bytes: u64,
    /// Epochs that began with it.
    pub begun: Vec<EpochInfo>,
}

/// A borrowed or owned operation, as [`Store::load`](crate::Store::load) takes it.
///
/// An [`Observation`], a [`Restatement`] and a [`PropertyUpdate`] borrow their URL. If there is
/// nothing to borrow from, because pages are read one after another, use a pair of a URL and an
/// [`Entry`], or anything that converts into one.
pub trait Observed {
    /// The operation.
    fn operation(&self) -> Operation<'_>;
}

impl Observed for Operation<'_> {
    fn operation(&self) -> Operation<'_> {
        *self
    }
}

impl Observed for Observation<'_> {
    fn operation(&self) -> Operation<'_> {
        Operation::Observe(*self)
    }
}

impl Observed for Restatement<'_> {
    fn operation(&self) -> Operation<'_> {
        Operation::Restate(*self)
    }
}

impl Observed for PropertyUpdate<'_> {
    fn operation(&self) -> Operation<'_> {
        Operation::SetProperty(*self)
    }
}

impl<U: AsRef<str>, E: Into<Entry> + Copy> Observed for (U, E) {
    fn operation(&self) -> Operation<'_> {
        Operation::of(self.0.as_ref(), self.1.into())
    }
}

impl<O: Observed + ?Sized> Observed for &O {
    fn operation(&self) -> Operation<'_> {
        (**self).operation()
    }
}
