//! What is compared.

use std::time::Duration;

use crate::data;

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
    /// Whether pages are named by their URLs, as the store does in any case.
    pub(crate) urls: bool,
}

/// What a peer found.
#[derive(Default)]
pub(crate) struct Answers {
    /// The pages.
    pub(crate) hits: Vec<Hit>,
    /// Their URLs, if they are wanted.
    urls: Vec<String>,
}

impl Answers {
    /// Before a search.
    pub(crate) fn clear(&mut self) {
        self.hits.clear();
        self.urls.clear();
    }

    /// After a search: leaves the nearest if there are too many, looks up what they are called, and
    /// says how many there are.
    pub(crate) fn finish(&mut self, wanted: Wanted, url: impl FnMut(u32) -> String) -> usize {
        if self.hits.len() > wanted.limit {
            self.hits.select_nth_unstable(wanted.limit);
            self.hits.truncate(wanted.limit);
        }
        if wanted.urls {
            self.urls.extend(self.hits.iter().map(|hit| hit.page).map(url));
        }
        self.hits.len()
    }

    /// What was found, for a check.
    pub(crate) fn checked(&self) -> Vec<Hit> {
        let mut named = self.urls.iter().zip(&self.hits);
        assert!(named.all(|(url, hit)| *url == data::url(hit.page)), "a page has its own URL");
        self.hits.clone()
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
