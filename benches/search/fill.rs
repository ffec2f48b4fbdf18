//! Creates stores for searches.

use std::path::{Path, PathBuf};

use simkeep::load::LoadOptions;
use simkeep::{Content, Epoch, Options, Progress, Query, Seen, Store, Visit};
use simkeep_testing::ms;

use crate::data::{self, FingerprintSpread};

/// The number of pages to read before a measurement. The system also maps the memory around them.
const WARM: usize = 400_000;
/// The time of all visits, in milliseconds since 1970.
const TIME: i64 = 1_700_000_000_000;

/// Creates a store with one segment of `n` pages, in a new directory, ready for searches.
pub(crate) fn loaded(dir: &Path, kind: FingerprintSpread, n: usize, options: Options) -> Store {
    store(&place(dir), (0..n).map(|i| kind.fingerprint(i)), options)
}

/// The path of a new store.
pub(crate) fn place(dir: &Path) -> PathBuf {
    tempfile::tempdir_in(dir).unwrap().keep().join("bench.simkeep")
}

/// Creates a store of pages with these fingerprints.
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
            Visit {
                time: ms(TIME),
                status: None,
                modified: None,
                seen: Seen::Content(content),
                bytes: None,
                conditional: false,
            },
        ))
    };
    store.load(fingerprints.enumerate().map(page), LoadOptions::default()).unwrap();
    store.snapshot().warm_up(&Progress::default()).unwrap();
    store
}

/// Reads pages with these fingerprints, or a large sample, so that their data are mapped as the
/// tables are.
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
