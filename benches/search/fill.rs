//! Making stores to be searched.

use std::path::Path;

use simkeep::{Content, Epoch, LoadOptions, Options, Seen, Store, Visit};

use crate::data::{self, Kind};

/// A store with one segment of `n` pages, in a new directory.
pub(crate) fn loaded(dir: &Path, kind: Kind, n: usize, options: Options) -> Store {
    let path = tempfile::tempdir_in(dir).unwrap().keep().join("bench.simkeep");
    let store = Store::create(&path, options).unwrap();
    let page = |i| {
        let content = Content { fingerprint: kind.fingerprint(i), epoch: Epoch(0), digest: None };
        let seen = Seen::Content(content);
        let mut url = String::new();
        data::url(i, &mut url);
        Ok((url, Visit { time: 1_700_000_000_000, status: None, seen }))
    };
    store.load((0..n).map(page), LoadOptions::default()).unwrap();
    store.warm_up().unwrap();
    store
}
