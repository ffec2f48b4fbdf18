//! What is compared.

use std::time::Duration;

/// A page that was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Hit {
    /// How far its fingerprint is.
    pub(crate) distance: u32,
    /// Its number.
    pub(crate) page: u32,
}

/// What is wanted of every search.
#[derive(Clone, Copy)]
pub(crate) struct Wanted {
    /// The largest distance.
    pub(crate) k: u32,
    /// How many answers, the nearest, at most.
    pub(crate) limit: usize,
}

impl Wanted {
    /// Leaves the nearest, if there are too many.
    pub(crate) fn cut(&self, hits: &mut Vec<Hit>) {
        if hits.len() > self.limit {
            hits.select_nth_unstable(self.limit);
            hits.truncate(self.limit);
        }
    }
}

/// Something that searches.
pub(crate) trait Engine {
    /// Searches, and says how many pages were found. This is what is timed: at its end the engine
    /// has its answers in the form in which it gives them.
    fn search(&mut self, fingerprint: u64) -> usize;

    /// Searches, and says which pages were found.
    fn hits(&mut self, fingerprint: u64) -> Vec<Hit>;

    /// Searches for many at once, and says how many pages were found in all. `None` for an engine
    /// that has nothing better than one after another.
    fn batch(&mut self, _fingerprints: &[u64]) -> Option<usize> {
        None
    }
}

/// Where an engine keeps its data.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Place {
    /// In files, and still there tomorrow.
    Disk,
    /// In memory.
    Memory,
}

/// An engine with all pages in it.
pub(crate) struct Built {
    /// The engine.
    pub(crate) engine: Box<dyn Engine>,
    /// How long filling it took.
    pub(crate) filling: Duration,
    /// Whether it was filled from sorted entries, and sorting them comes on top.
    pub(crate) sorted: bool,
    /// What it takes on disk, or in memory; of some it is not known.
    pub(crate) bytes: Option<u64>,
    /// What is to be known of how it was built.
    pub(crate) note: String,
}
