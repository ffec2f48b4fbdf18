//! Settings of a load, its progress, and its result.

use std::fmt;
use std::ops::ControlFlow;
use std::time::Duration;

use super::epochs::LoadEpochs;
use crate::error::{Error, Result};
use crate::page::EpochInfo;

/// What is asked now and then whether to go on.
pub(super) type Callback<'w> = &'w mut dyn FnMut(&Loading) -> ControlFlow<()>;

/// Settings of a [`Store::load`](crate::Store::load).
///
/// ```
/// use std::ops::ControlFlow;
/// use simkeep::LoadOptions;
///
/// let mut watch = |loading: &simkeep::Loading| {
///     eprintln!("{:?}: {}", loading.stage, loading.done);
///     ControlFlow::Continue(())
/// };
/// let options = LoadOptions::default().memory_bytes(1 << 30).watch(&mut watch);
/// assert_eq!(options.memory_bytes, 1 << 30);
/// ```
pub struct LoadOptions<'w> {
    /// Memory that the load takes. Default: 512 MiB; at least 64 KiB. Some ten MiB for file buffers
    /// and the visits of one page come on top. More memory saves time if there are very many pages.
    pub memory_bytes: usize,
    /// The most pages in a new segment. Default: 2^29, so that a load nearly always makes one
    /// segment.
    pub segment_pages: u64,
    /// The epochs of the observations that the store does not have yet.
    pub epochs: Option<&'w LoadEpochs>,
    /// Asked every few thousand observations, in the calling thread, and once before all is made
    /// live: what it breaks off comes to nothing. It must not call the store itself, whose
    /// writers wait for the load.
    pub watch: Option<Callback<'w>>,
}

impl Default for LoadOptions<'_> {
    fn default() -> Self {
        LoadOptions { memory_bytes: 512 << 20, segment_pages: 1 << 29, epochs: None, watch: None }
    }
}

impl fmt::Debug for LoadOptions<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LoadOptions")
            .field("memory_bytes", &self.memory_bytes)
            .field("segment_pages", &self.segment_pages)
            .finish_non_exhaustive()
    }
}

impl<'w> LoadOptions<'w> {
    /// Sets the memory that a load may take, in bytes.
    #[must_use]
    pub fn memory_bytes(mut self, memory_bytes: usize) -> Self {
        self.memory_bytes = memory_bytes;
        self
    }

    /// Takes epochs along: they are registered in the commit that makes the load live.
    #[must_use]
    pub fn epochs(mut self, epochs: &'w LoadEpochs) -> Self {
        self.epochs = Some(epochs);
        self
    }

    /// Sets a callback that hears how far the load has come, and says whether to go on. Default: none.
    #[must_use]
    pub fn watch(mut self, watch: &'w mut dyn FnMut(&Loading) -> ControlFlow<()>) -> Self {
        self.watch = Some(watch);
        self
    }
}

pub(super) fn check(memory_bytes: usize, segment_pages: u64) -> Result<()> {
    let wrong = |name, takes| Err(Error::Option { name, takes });
    if memory_bytes < 1 << 16 {
        return wrong("memory_bytes", "at least 65,536");
    }
    if !(1..=1 << 29).contains(&segment_pages) {
        return wrong("segment_pages", "between 1 and 536,870,912");
    }
    Ok(())
}

/// What a load does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Stage {
    /// Observations are taken, sorted and written to a scratch file. The store accepts other calls.
    Gathering,
    /// Very many sorted runs are merged into fewer. The store accepts other calls.
    Merging,
    /// The segments are written. Calls that observe or forget wait; readers do not.
    Writing,
}

/// How far a load has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Loading {
    /// What is being done.
    pub stage: Stage,
    /// How many observations this stage has dealt with.
    pub done: u64,
    /// How many there are, if that is known. Duplicates may be left out of this count.
    pub of: Option<u64>,
    /// Time since the load began.
    pub elapsed: Duration,
}

/// The result of a [`Store::load`](crate::Store::load).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Loaded {
    /// Observations that were taken.
    pub observations: u64,
    /// Visits that the store did not have.
    pub visits: u64,
    /// Pages with such visits.
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
