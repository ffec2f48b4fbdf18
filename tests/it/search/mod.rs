//! Options of a search besides a fingerprint and a distance: the nearest pages, a budget, batches, an
//! explanation. Also tests that no input makes a search costly.

mod crowds;
mod lists;
mod page_pairs;
mod pairs;
mod partition;
mod shapes;

use simkeep::disk::SimDisk;
use simkeep::{Epoch, Matches, Observation, Options, Store};

use simkeep_testing::{ms, on};

/// Reproducible pseudorandom numbers.
fn random(seed: u64) -> impl Iterator<Item = u64> {
    let mut state = seed;
    std::iter::repeat_with(move || {
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    })
}

fn create(options: Options) -> Store {
    let options = options.near_limit(0).refers_to(false).background(false);
    Store::create(on(&SimDisk::new()), options).unwrap()
}

fn url(host: usize, page: usize) -> String {
    format!("http://host-{host:03}.example/{page}")
}

/// Observes a page for each fingerprint, with 100 pages per host.
fn fill(store: &Store, fingerprints: &[u64]) {
    let urls: Vec<String> = (0..fingerprints.len()).map(|i| url(i / 100, i)).collect();
    let seen = |(url, fingerprint): (&'static str, u64)| {
        Observation::content(url, ms(5), fingerprint, Epoch::from_number(0))
    };
    for (urls, fingerprints) in urls.chunks(10_000).zip(fingerprints.chunks(10_000)) {
        let urls = urls.iter().map(|url| &*url.clone().leak());
        let batch: Vec<_> = urls.zip(fingerprints.iter().copied()).map(seen).collect();
        store.observe_batch(&batch).unwrap();
    }
}

fn fill_from(store: &Store, fingerprints: &[u64], from: usize, to: usize) {
    for (i, &fingerprint) in fingerprints.iter().enumerate().take(to).skip(from) {
        let url = url(i / 100, i);
        store
            .observe(Observation::content(&url, ms(5), fingerprint, Epoch::from_number(0)))
            .unwrap();
    }
}

/// Visits each page once more, an hour later.
fn fill_later(store: &Store, fingerprints: &[u64]) {
    for (i, &fingerprint) in fingerprints.iter().enumerate() {
        let url = url(i / 100, i);
        store
            .observe(Observation::content(&url, ms(3_600_005), fingerprint, Epoch::from_number(0)))
            .unwrap();
    }
}

/// The distances of the fingerprints, the nearest first.
fn distances(fingerprints: &[u64], query: u64) -> Vec<u32> {
    let mut distances: Vec<u32> = fingerprints.iter().map(|f| (f ^ query).count_ones()).collect();
    distances.sort_unstable();
    distances
}

fn found(matches: &Matches) -> Vec<u32> {
    matches.near.iter().map(|near| near.distance).collect()
}

/// A store with many pages that have one fingerprint.
fn hot(pages: usize, sealed: bool) -> Store {
    let store = create(Options::default().memtable_observations(1 << 20));
    fill(&store, &vec![7; pages]);
    if sealed {
        store.seal().unwrap();
    }
    store
}
