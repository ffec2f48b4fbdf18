//! Fingerprints and pairs of them, read as they are found.

use simkeep::query::{DistinctFingerprints, FingerprintPairs, PairQuery};
use simkeep::{Progress, Query, Result, Snapshot};

use crate::stream::Item;
use crate::threaded::Threaded;

/// What their thread is called.
const NAME: &str = "simkeep-pairs";

/// All different fingerprints.
pub(crate) fn fingerprints(
    snapshot: Snapshot,
    like: Query,
    progress: Progress,
) -> Result<Threaded> {
    Threaded::begin(NAME, progress, move |progress, out| {
        DistinctFingerprints::like(&like).run(&snapshot, progress, |some| {
            out.give(some.iter().copied().map(Item::Fingerprint).collect())
        })
    })
}

/// All pairs of fingerprints.
pub(crate) fn of_fingerprints(
    snapshot: Snapshot,
    like: Query,
    progress: Progress,
) -> Result<Threaded> {
    Threaded::begin(NAME, progress, move |progress, out| {
        FingerprintPairs::like(&like).run(&snapshot, progress, |pairs| {
            out.give(pairs.iter().copied().map(Item::Pair).collect())
        })
    })
}

/// All pairs of one of some fingerprints and a different one.
pub(crate) fn with(
    snapshot: Snapshot,
    fingerprints: Vec<u64>,
    like: Query,
    progress: Progress,
) -> Result<Threaded> {
    Threaded::begin(NAME, progress, move |progress, out| {
        FingerprintPairs::like(&like).with(&fingerprints).run(&snapshot, progress, |pairs| {
            out.give(pairs.iter().copied().map(Item::Pair).collect())
        })
    })
}

/// All pairs of pages.
pub(crate) fn of_pages(
    snapshot: Snapshot,
    asked: PairQuery,
    progress: Progress,
) -> Result<Threaded> {
    Threaded::begin(NAME, progress, move |progress, out| {
        asked.run(&snapshot, progress, |pairs| {
            out.give(pairs.iter().cloned().map(Item::PagePair).collect())
        })
    })
}
