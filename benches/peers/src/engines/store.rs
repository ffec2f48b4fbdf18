//! The store, as a crawler uses it: every result is a list of URLs, in order.

use std::hint::black_box;
use std::path::Path;
use std::time::Instant;

use simkeep::load::LoadOptions;
use simkeep::{
    Content, Epoch, Matches, Observation, Options, Progress, Query, Seen, Store, Time, Visit,
};

use super::{EngineInput, disk_bytes};
use crate::data::{PeerData, page, url};
use crate::engine::{BuiltEngine, PageToWrite, PeerHit, QueryOptions, SearchEngine, WriteEngine};

struct SimkeepEngine {
    store: Store,
    wanted: QueryOptions,
}

impl SimkeepEngine {
    fn query(&self, fingerprint: u64) -> Query {
        Query::new(fingerprint, self.wanted.k).limit(self.wanted.limit)
    }

    fn matches(&self, fingerprint: u64) -> Matches {
        self.store.snapshot().search(&self.query(fingerprint)).unwrap()
    }
}

impl SearchEngine for SimkeepEngine {
    fn search(&mut self, fingerprint: u64) -> usize {
        black_box(self.matches(fingerprint)).near.len()
    }

    fn hits(&mut self, fingerprint: u64) -> Vec<PeerHit> {
        let near = self.matches(fingerprint).near;
        near.iter().map(|near| PeerHit { distance: near.distance, page: page(&near.url) }).collect()
    }

    fn batch(&mut self, fingerprints: &[u64]) -> Option<usize> {
        let answers = self.query(0).run_batch(&self.store.snapshot(), fingerprints).unwrap();
        Some(black_box(answers).iter().map(|answer| answer.near.len()).sum())
    }
}

/// Builds a store with all pages in one segment.
pub(crate) fn build(source: &EngineInput<'_>) -> BuiltEngine {
    let dir = source.dir.join("store");
    let start = Instant::now();
    let store = fill(&dir, source.data, source.wanted.k);
    let filling = start.elapsed();
    let segments = store.stats().unwrap().segments.len();
    assert_eq!(segments, 1, "all pages are in one segment");
    store.snapshot().warm_up(&Progress::default()).unwrap();
    let note = "files hold URLs and histories too".to_owned();
    let engine = Box::new(SimkeepEngine { store, wanted: source.wanted });
    BuiltEngine { engine, filling, sorted: false, bytes: Some(disk_bytes(&dir)), note }
}

/// Creates a store of all pages in one load, with tables for a distance.
fn fill(dir: &Path, data: &PeerData, k: u32) -> Store {
    let options = Options::default().epoch("bench".to_owned()).near_distance(Some(k));
    let store = Store::create(dir, options).unwrap();
    let epoch = store.change_epoch();
    let observations =
        data.pages().map(|(fingerprint, page)| Ok((url(page), visit(fingerprint, page, epoch))));
    store.load(observations, LoadOptions::default()).unwrap();
    store
}

/// The only visit to a page.
fn visit(fingerprint: u64, page: u32, epoch: Epoch) -> Visit {
    let content = Content { fingerprint: Some(fingerprint), digest: None, epoch };
    Visit {
        time: Time::from_ms_unchecked(page.into()),
        status: None,
        modified: None,
        seen: Seen::Content(content),
        bytes: None,
        conditional: false,
    }
}

/// Observes pages. Each has a verdict, and a search for near pages.
struct SimkeepWriter {
    store: Store,
    epoch: Epoch,
}

impl WriteEngine for SimkeepWriter {
    fn write(&mut self, pages: &[PageToWrite]) {
        let observations: Vec<Observation<'_>> = pages
            .iter()
            .map(|page| {
                Observation::of(&page.url, visit(page.fingerprint, page.number, self.epoch))
            })
            .collect();
        black_box(self.store.observe_batch(&observations).unwrap());
    }

    fn wait_idle(&mut self) {
        self.store.wait_idle().unwrap();
    }

    fn counts(&mut self) -> Vec<u64> {
        let stats = self.store.stats().unwrap();
        vec![stats.pages, stats.visits]
    }

    fn contains(&mut self, page: &PageToWrite) -> bool {
        let query = Query::new(page.fingerprint, 0).limit(u32::MAX as usize);
        let equal = self.store.snapshot().search(&query).unwrap().near;
        equal.iter().any(|near| near.url == page.url)
    }
}

/// Opens a store with default options.
pub(crate) fn writer(dir: &Path, _pages: usize) -> Box<dyn WriteEngine> {
    let store = Store::open_or_create(dir, Options::default()).unwrap();
    let epoch = store.change_epoch();
    Box::new(SimkeepWriter { store, epoch })
}
