//! A small store with everything that can be damaged, and its files.

use simkeep::disk::{FileName, SimDisk};
use simkeep::{Operation, Progress, Scope, Store};

use super::model::Model;
use super::pages::{PREFIXES, URLS};
use super::{choice, create, open, request, small};

/// Passes `n` operations on all test pages to `take`. A seed always gives the same operations.
pub fn each_request(seed: u64, n: usize, mut take: impl FnMut(Operation<'static>)) {
    let mut choice = choice(seed);
    let pages = URLS.len() as u64;
    for time in 0..n {
        let time = i64::try_from(seed).unwrap() * 1000 + i64::try_from(time).unwrap();
        take(request(&mut choice, pages, time));
    }
}

/// Applies `n` operations on all test pages to a store and to its model.
pub fn fill(store: &Store, model: &mut Model, seed: u64, n: usize) {
    each_request(seed, n, |request| {
        let requests = [request];
        store.write_batch(&requests).unwrap();
        model.request(&requests[0], 3);
    });
}

/// The seeds of the sample store's operations, and the number of operations of each seed.
pub const SEEDS: [(u64, usize); 3] = [(1, 60), (2, 6), (3, 7)];

/// Two segments, with a forgotten page and a forgotten prefix in the newer one, and unsealed
/// operations.
pub fn sample(store: &Store) -> Model {
    let [first, second, unsealed] = SEEDS;
    let mut model = Model::default();
    fill(store, &mut model, first.0, first.1);
    store.seal().unwrap();
    store.merge(&Progress::default()).unwrap();
    fill(store, &mut model, second.0, second.1);
    store.forget(Scope::Url(URLS[3])).unwrap();
    model.forget(|u| u == URLS[3]);
    store.forget(Scope::Prefix(PREFIXES[8].prefix())).unwrap();
    model.forget(|u| PREFIXES[8].covers(u));
    store.seal().unwrap();
    fill(store, &mut model, unsealed.0, unsealed.1);
    model
}

/// The files of a sample store that was killed, and its model.
pub fn killed_sample() -> (Vec<(FileName, Vec<u8>)>, Model) {
    let disk = SimDisk::new();
    let store = create(&disk, small());
    let model = sample(&store);
    assert_eq!(store.stats().unwrap().segments.len(), 2);
    (disk.contents(), model)
}

/// The files of a sample store that was closed, and its model.
pub fn closed_sample() -> (Vec<(FileName, Vec<u8>)>, Model) {
    let (files, model) = killed_sample();
    let disk = SimDisk::of(files);
    open(&disk, small()).close().unwrap();
    (disk.contents(), model)
}

pub fn file(files: &[(FileName, Vec<u8>)], name: FileName) -> &[u8] {
    &files.iter().find(|(other, _)| *other == name).unwrap().1
}

/// A disk with these files, with the content of one of them replaced.
pub fn with(files: &[(FileName, Vec<u8>)], name: FileName, content: Vec<u8>) -> SimDisk {
    let others = files.iter().filter(|(other, _)| *other != name).cloned();
    SimDisk::of(others.chain([(name, content)]))
}

pub fn segments(files: &[(FileName, Vec<u8>)]) -> Vec<FileName> {
    let names = files.iter().map(|(name, _)| *name);
    let segments: Vec<_> = names.filter(|name| matches!(name, FileName::Segment(_))).collect();
    assert_eq!(segments.len(), 2);
    segments
}
