//! The interface of compared engines.

use std::path::Path;
use std::time::Duration;

use crate::data;

/// A page that was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct PeerHit {
    /// The distance of its fingerprint.
    pub(crate) distance: u32,
    /// Its number.
    pub(crate) page: u32,
}

/// The requirements of every search.
#[derive(Clone, Copy)]
pub(crate) struct QueryOptions {
    /// The largest distance.
    pub(crate) k: u32,
    /// The maximum number of hits, the nearest first.
    pub(crate) limit: usize,
    /// Whether peers return URLs, as the store always does.
    pub(crate) urls: bool,
}

/// The results of a peer's search.
#[derive(Default)]
pub(crate) struct PeerAnswers {
    /// The pages.
    pub(crate) hits: Vec<PeerHit>,
    /// The URLs of the pages, if they are required.
    urls: Vec<String>,
}

impl PeerAnswers {
    /// Clears the results before a search.
    pub(crate) fn clear(&mut self) {
        self.hits.clear();
        self.urls.clear();
    }

    /// Completes a search: keeps the nearest hits if there are too many, looks up URLs if required,
    /// and returns the number of hits.
    pub(crate) fn finish(&mut self, wanted: QueryOptions, url: impl FnMut(u32) -> String) -> usize {
        if self.hits.len() > wanted.limit {
            self.hits.select_nth_unstable(wanted.limit);
            self.hits.truncate(wanted.limit);
        }
        if wanted.urls {
            self.urls.extend(self.hits.iter().map(|hit| hit.page).map(url));
        }
        self.hits.len()
    }

    /// The hits, for a check.
    pub(crate) fn checked(&self) -> Vec<PeerHit> {
        let mut named = self.urls.iter().zip(&self.hits);
        assert!(named.all(|(url, hit)| *url == data::url(hit.page)), "a page has its own URL");
        self.hits.clone()
    }
}

/// A search engine.
pub(crate) trait SearchEngine {
    /// Searches, and returns the number of pages found. This call is timed. When it returns, the
    /// engine has its results in their final form.
    fn search(&mut self, fingerprint: u64) -> usize;

    /// Searches, and returns the pages found.
    fn hits(&mut self, fingerprint: u64) -> Vec<PeerHit>;

    /// Searches for many fingerprints together, and returns the total number of pages found. `None`
    /// if the engine has no better way than one search after another.
    fn batch(&mut self, _fingerprints: &[u64]) -> Option<usize> {
        None
    }
}

/// A page that an engine stores.
pub(crate) struct PageToWrite {
    /// Its number.
    pub(crate) number: u32,
    /// Its fingerprint.
    pub(crate) fingerprint: u64,
    /// Its URL.
    pub(crate) url: String,
}

/// An engine that stores pages durably. Dropping it closes its files.
pub(crate) trait WriteEngine {
    /// Writes pages in one transaction. This call is timed. When it returns, the pages are durable.
    fn write(&mut self, pages: &[PageToWrite]);

    /// Waits until the engine has no work left that it does in the background.
    fn wait_idle(&mut self) {}

    /// The number of rows in each table.
    fn counts(&mut self) -> Vec<u64>;

    /// Whether every table has a page, with its URL.
    fn contains(&mut self, page: &PageToWrite) -> bool;
}

/// Opens an engine's files in a directory, or creates them for a number of pages.
pub(crate) type OpenWriter = fn(&Path, usize) -> Box<dyn WriteEngine>;

/// The storage of an engine's data.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum EngineHome {
    /// In files, persistently.
    Disk,
    /// In memory.
    Memory,
}

/// An engine that contains all pages.
pub(crate) struct BuiltEngine {
    /// The engine.
    pub(crate) engine: Box<dyn SearchEngine>,
    /// The time that filling it took.
    pub(crate) filling: Duration,
    /// Whether it was filled from sorted entries, so that the time of sorting must be added.
    pub(crate) sorted: bool,
    /// The bytes that it takes on disk or in memory, if known.
    pub(crate) bytes: Option<u64>,
    /// A remark on how it was built.
    pub(crate) note: String,
}
