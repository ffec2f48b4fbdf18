//! Joins, read as they find pairs.

use simkeep::{PairQuery, Progress, Query, Result, Snapshot};

use crate::stream::Item;
use crate::threaded::Threaded;

/// What the thread of a join is called.
const NAME: &str = "simkeep-pairs";

/// All pairs of fingerprints.
pub(crate) fn of_fingerprints(
    snapshot: Snapshot,
    like: Query,
    progress: Progress,
) -> Result<Threaded> {
    Threaded::begin(NAME, progress, move |progress, out| {
        snapshot.all_pairs(&like, progress, |pairs| {
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
        snapshot.page_pairs(&asked, progress, |pairs| {
            out.give(pairs.iter().cloned().map(Item::PagePair).collect())
        })
    })
}
