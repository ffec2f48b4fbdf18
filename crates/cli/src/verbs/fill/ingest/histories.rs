//! Caches the histories of pages to which revisits refer.
//!
//! An archive may have ten thousand revisits of one page that alternate between two contents. Reading
//! the history for each would take quadratic time, and would need a flush of the batch before each.
//! So the history of a page is read once, and later operations on the page are added to it.

use std::collections::{BTreeSet, HashMap};

use simkeep::{Content, Digest, Entry, Seen, Snapshot, Target, Time, Visit};

use super::pending::PendingRequest;

/// The maximum number of cached entries, without those of the last requested page: about 30 MB.
const HELD_MAX: usize = 1 << 18;
/// The cost of a page besides its entries, in entries.
const PAGE_COST: usize = 4;
/// The bytes of a URL that cost as much as an entry.
const URL_BYTES: usize = 64;

/// The histories of some pages, up to the last operation that was added.
#[derive(Default)]
pub(super) struct HistoryCache {
    pages: HashMap<String, CachedHistory>,
    held: usize,
}

impl HistoryCache {
    /// Whether the history of a page is cached.
    pub(super) fn contains(&self, url: &str) -> bool {
        self.pages.contains_key(url)
    }

    /// The history of a page: its stored entries, and the entries that wait for their batch.
    pub(super) fn of(
        &mut self,
        store: &Snapshot,
        pending: &[PendingRequest],
        url: &str,
    ) -> simkeep::Result<&CachedHistory> {
        let mut history = CachedHistory::default();
        if !self.contains(url) {
            store.history(url)?.iter().for_each(|entry| history.add(entry.entry()));
            let waiting = pending.iter().filter(|pending| pending.url == url);
            waiting.flat_map(PendingRequest::entries).for_each(|entry| history.add(entry));
            if self.held > HELD_MAX {
                *self = HistoryCache::default();
            }
            self.held += cost(url) + history.entries.len();
        }
        Ok(self.pages.entry(url.to_owned()).or_insert(history))
    }

    /// Adds the next operation of the input.
    pub(super) fn add(&mut self, pending: &PendingRequest) {
        if pending.entry.is_restated() {
            // Only the store can determine which content it restates.
            self.forget(&pending.url);
        } else if let Some(history) = self.pages.get_mut(&pending.url) {
            let before = history.entries.len();
            pending.entries().for_each(|entry| history.add(entry));
            self.held += history.entries.len() - before;
        }
    }

    /// Drops the history of a page.
    fn forget(&mut self, url: &str) {
        if let Some(history) = self.pages.remove(url) {
            self.held -= cost(url) + history.entries.len();
        }
    }
}

/// The cost of a page in addition to its entries, in entries.
fn cost(url: &str) -> usize {
    PAGE_COST + url.len() / URL_BYTES
}

/// The entries of a page, indexed by time, and its contents, indexed by digest.
#[derive(Default)]
pub(super) struct CachedHistory {
    entries: BTreeSet<Entry>,
    /// The times at which contents with a digest were seen.
    seen: BTreeSet<(Digest, i64)>,
}

impl CachedHistory {
    fn add(&mut self, entry: Entry) {
        if let Entry::Visit(Visit { time, seen: Seen::Content(content), .. }) = entry {
            self.seen.extend(content.digest.map(|digest| (digest, time.as_ms())));
        }
        self.entries.insert(entry);
    }

    /// The entries of a page with this time.
    pub(super) fn at(&self, time: i64) -> impl Iterator<Item = &Entry> {
        // This entry sorts before all other entries of its time.
        let first = Entry::Visit(Visit {
            time: Time::from_ms_unchecked(time),
            seen: Seen::Failed,
            status: None,
            modified: None,
            bytes: None,
            conditional: false,
        });
        self.entries
            .range(first..)
            .take_while(move |entry| entry.time() == Time::from_ms_unchecked(time))
    }

    /// The content with this digest that was last seen at or before a time, or else first seen
    /// after it: its fingerprints in all epochs.
    pub(super) fn with(&self, digest: Digest, time: i64) -> Vec<Content> {
        let until = self.seen.range((digest, i64::MIN)..=(digest, time)).next_back();
        let found = until.or_else(|| self.seen.range((digest, time)..=(digest, i64::MAX)).next());
        let mut contents = found.map(|(_, time)| self.seen_at(*time)).unwrap_or_default();
        contents.retain(|content| content.digest == Some(digest));
        contents
    }

    /// The URL to which the content with this digest pointed, when it was last seen at or before a
    /// time.
    pub(super) fn target(&self, digest: Digest, time: i64) -> Option<Target> {
        let (_, seen) = self.seen.range((digest, i64::MIN)..=(digest, time)).next_back()?;
        self.at(*seen).filter_map(Entry::target).max().cloned()
    }

    /// The contents that were seen at a time, in order of their digests: their fingerprints in all
    /// epochs.
    pub(super) fn seen_at(&self, time: i64) -> Vec<Content> {
        self.at(time).filter_map(Entry::content).collect()
    }
}

#[cfg(test)]
mod tests {
    use simkeep::{Options, Store};

    use super::*;

    #[test]
    fn long_urls_evict_cached_histories_sooner() {
        let dir = tempfile::tempdir().unwrap();
        let store = Store::create(dir.path(), Options::default()).unwrap();
        let mut histories = HistoryCache::default();
        let mut most = 0;
        for number in 0..10_000 {
            let url = format!("http://a.example/{number}{}", "x".repeat(8000));
            histories.of(&store.snapshot(), &[], &url).unwrap();
            most = most.max(histories.pages.len());
        }
        assert!(most * 8000 < 32 << 20, "{most} URLs");
    }
}
