//! Making stores to be searched.

use std::path::Path;

use simkeep::{Epoch, Observation, Options, Store};

use crate::data::{self, Kind};

/// A store with one segment of `n` pages, in a new directory.
pub(crate) fn merged(dir: &Path, kind: Kind, n: usize, options: Options) -> Store {
    let path = tempfile::tempdir_in(dir).unwrap().keep().join("bench.simkeep");
    let store = Store::create(&path, Options { near_limit: 0, ..options }).unwrap();
    let mut urls = vec![String::new(); 10_000];
    for start in (0..n).step_by(urls.len()) {
        let count = urls.len().min(n - start);
        for (i, url) in (start..).zip(&mut urls[..count]) {
            data::url(i, url);
        }
        let batch: Vec<_> = (start..)
            .zip(&urls[..count])
            .map(|(i, url)| {
                Observation::content(url, 1_700_000_000_000, kind.fingerprint(i), Epoch(0))
            })
            .collect();
        store.observe_batch(&batch).unwrap();
    }
    store.seal().unwrap();
    store.merge().unwrap();
    store
}
