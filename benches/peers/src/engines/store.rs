//! The store itself, as a crawler would use it: every answer is a list of URLs, in order.

use std::hint::black_box;
use std::path::Path;
use std::time::Instant;

use simkeep::{Durability, Matches, Observation, Options, Query, Store};

use super::{Source, disk_bytes};
use crate::data::{Data, page, url};
use crate::engine::{Built, Engine, Hit, Wanted};

/// Observes to a call.
const BATCH: usize = 10_000;

struct Own {
    store: Store,
    wanted: Wanted,
}

impl Own {
    fn matches(&self, fingerprint: u64) -> Matches {
        let query = Query::new(fingerprint, self.wanted.k).limit(self.wanted.limit);
        self.store.search(&query).unwrap()
    }
}

impl Engine for Own {
    fn search(&mut self, fingerprint: u64) -> usize {
        black_box(self.matches(fingerprint)).near.len()
    }

    fn hits(&mut self, fingerprint: u64) -> Vec<Hit> {
        let near = self.matches(fingerprint).near;
        near.iter().map(|near| Hit { distance: near.distance, page: page(&near.url) }).collect()
    }
}

/// All pages in one segment.
pub(crate) fn build(source: &Source<'_>) -> Built {
    let dir = source.dir.join("store");
    let start = Instant::now();
    let store = fill(&dir, source.data);
    let filling = start.elapsed();
    let segments = store.stats().unwrap().segments.len();
    assert_eq!(segments, 1, "all pages are in one segment");
    let note = "files hold URLs and histories too".to_owned();
    let engine = Box::new(Own { store, wanted: source.wanted });
    Built { engine, filling, sorted: false, bytes: Some(disk_bytes(&dir)), note }
}

/// A store of all pages, sealed and merged.
fn fill(dir: &Path, data: &Data) -> Store {
    let options = Options {
        durability: Durability::OnFlush,
        epoch: "bench".to_owned(),
        // What is near is not wanted while it is filled.
        near_distance: 0,
        near_limit: 0,
        ..Options::default()
    };
    let store = Store::create(dir, options).unwrap();
    let epoch = store.newest_epoch();
    let mut pages = data.pages();
    loop {
        let batch: Vec<(String, u64, i64)> =
            pages.by_ref().take(BATCH).map(|(f, page)| (url(page), f, page.into())).collect();
        if batch.is_empty() {
            break;
        }
        let observations: Vec<Observation<'_>> = batch
            .iter()
            .map(|(url, f, time)| Observation::content(url, *time, *f, epoch))
            .collect();
        store.observe_batch(&observations).unwrap();
    }
    store.seal().unwrap();
    store.rest().unwrap();
    if store.stats().unwrap().segments.len() > 1 {
        store.merge().unwrap();
    }
    store
}
