//! Streams fingerprints and pairs of fingerprints as they are found.

use pyo3::prelude::*;
use simkeep::query::{DistinctFingerprints, FingerprintPairs, NearPair, PagePair, PairQuery};
use simkeep::{Progress, Query, Result, Snapshot};

use crate::convert::value::FromRust;
use crate::streams::columns::{BatchFunction, Bits, columns};
use crate::streams::stream::StreamItem;
use crate::streams::threaded::ThreadedItems;

/// The name of the threads that find fingerprints and pairs.
const NAME: &str = "simkeep-pairs";

/// A fingerprint of a store.
pub(crate) struct StreamedFingerprint(u64);

impl StreamItem for StreamedFingerprint {
    type Object = u64;
    const TABLE: Option<BatchFunction<Self>> = Some(|fingerprints, signed| {
        columns! {
            for of in fingerprints, signed;
            fingerprint: Bits = of.0,
        }
    });
}

impl FromRust<StreamedFingerprint> for u64 {
    fn from_rust(_: Python<'_>, fingerprint: StreamedFingerprint) -> PyResult<u64> {
        Ok(fingerprint.0)
    }
}

/// Streams all different fingerprints.
pub(crate) fn fingerprints(
    snapshot: Snapshot,
    like: Query,
    progress: Progress,
) -> Result<ThreadedItems<StreamedFingerprint>> {
    ThreadedItems::begin(NAME, progress, move |progress, out| {
        DistinctFingerprints::selected_by(&like).run(&snapshot, progress, |some| {
            out.send(some.iter().copied().map(StreamedFingerprint).collect())
        })
    })
}

/// Streams all pairs of fingerprints.
pub(crate) fn of_fingerprints(
    snapshot: Snapshot,
    like: Query,
    progress: Progress,
) -> Result<ThreadedItems<NearPair>> {
    ThreadedItems::begin(NAME, progress, move |progress, out| {
        FingerprintPairs::selected_by(&like)
            .run(&snapshot, progress, |pairs| out.send(pairs.to_vec()))
    })
}

/// Streams all pairs of a fingerprint in the argument and a different fingerprint of the store.
pub(crate) fn with(
    snapshot: Snapshot,
    fingerprints: Vec<u64>,
    like: Query,
    progress: Progress,
) -> Result<ThreadedItems<NearPair>> {
    ThreadedItems::begin(NAME, progress, move |progress, out| {
        FingerprintPairs::selected_by(&like)
            .with(&fingerprints)
            .run(&snapshot, progress, |pairs| out.send(pairs.to_vec()))
    })
}

/// Streams all pairs of pages.
pub(crate) fn of_pages(
    snapshot: Snapshot,
    asked: PairQuery,
    progress: Progress,
) -> Result<ThreadedItems<PagePair>> {
    ThreadedItems::begin(NAME, progress, move |progress, out| {
        asked.run(&snapshot, progress, |pairs| out.send(pairs.to_vec()))
    })
}
