//! Making stores to be searched.

use std::path::{Path, PathBuf};

use simkeep::load::LoadOptions;
use simkeep::{Content, Epoch, Options, Progress, Query, Seen, Store, Visit};
use simkeep_testing::ms;

use crate::data::{self, Kind};

/// Pages that are looked at before a store is measured: the system maps what is around as well.
const WARM: usize = 400_000;
/// When all pages were seen.
const TIME: i64 = 1_700_000_000_000;

/// A store with one segment of `n` pages, in a new directory, ready to be searched.
pub(crate) fn loaded(dir: &Path, kind: Kind, n: usize, options: Options) -> Store {
    store(&place(dir), (0..n).map(|i| kind.fingerprint(i)), options)
}

/// Where a new store may be made.
pub(crate) fn place(dir: &Path) -> PathBuf {
    tempfile::tempdir_in(dir).unwrap().keep().join("bench.simkeep")
}

/// Makes a store of pages with these fingerprints.
pub(crate) fn store(
    path: &Path,
    fingerprints: impl Iterator<Item = u64>,
    options: Options,
) -> Store {
    let store = Store::create(path, options).unwrap();
    let page = |(i, fingerprint)| {
        let fingerprint = Some(fingerprint);
        let content = Content { fingerprint, epoch: Epoch::from_number(0), digest: None };
        let mut url = String::new();
        data::url(i, &mut url);
        Ok((
            url,
            Visit { time: ms(TIME), status: None, modified: None, seen: Seen::Content(content) },
        ))
    };
    store.load(fingerprints.enumerate().map(page), LoadOptions::default()).unwrap();
    store.snapshot().warm_up(&Progress::default()).unwrap();
    store
}

/// Has a store look at pages with these fingerprints, or very many of them, so that what it names
/// them from is mapped as its tables are.
pub(crate) fn warm(store: &Store, fingerprints: &[u64]) {
    let step = fingerprints.len().div_ceil(WARM);
    let some: Vec<u64> = fingerprints.iter().copied().step_by(step).collect();
    Query::new(0, 0).limit(4).run_batch(&store.snapshot(), &some).unwrap();
}

/// Closes a store and removes its files.
pub(crate) fn remove(store: Store, path: &Path) {
    store.close().unwrap();
    std::fs::remove_dir_all(path).unwrap();
}
