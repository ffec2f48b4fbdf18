//! Streams fingerprints and pairs of fingerprints as they are found.

use pyo3::prelude::*;
use simkeep::query::{DistinctFingerprints, FingerprintPairs, NearPair, PagePair, PairQuery};
use simkeep::{Progress, Query, Result, Snapshot};

use crate::convert::value::FromRust;
use crate::streams::columns::{Bits, Table, columns};
use crate::streams::stream::Item;
use crate::streams::threaded::Threaded;

/// The name of the threads that find fingerprints and pairs.
const NAME: &str = "simkeep-pairs";

/// A fingerprint of a store.
pub(crate) struct Fingerprint(u64);

impl Item for Fingerprint {
    type Object = u64;
    const TABLE: Option<Table<Self>> = Some(|fingerprints, signed| {
        columns! {
            for of in fingerprints, signed;
            fingerprint: Bits = of.0,
        }
    });
}

impl FromRust<Fingerprint> for u64 {
    fn from_rust(_: Python<'_>, fingerprint: Fingerprint) -> PyResult<u64> {
        Ok(fingerprint.0)
    }
}

/// Streams all different fingerprints.
pub(crate) fn fingerprints(
    snapshot: Snapshot,
    like: Query,
    progress: Progress,
) -> Result<Threaded<Fingerprint>> {
    Threaded::begin(NAME, progress, move |progress, out| {
        DistinctFingerprints::selected_by(&like).run(&snapshot, progress, |some| {
            out.give(some.iter().copied().map(Fingerprint).collect())
        })
    })
}

/// Streams all pairs of fingerprints.
pub(crate) fn of_fingerprints(
    snapshot: Snapshot,
    like: Query,
    progress: Progress,
) -> Result<Threaded<NearPair>> {
    Threaded::begin(NAME, progress, move |progress, out| {
        FingerprintPairs::selected_by(&like)
            .run(&snapshot, progress, |pairs| out.give(pairs.to_vec()))
    })
}

/// Streams all pairs of a fingerprint in the argument and a different fingerprint of the store.
pub(crate) fn with(
    snapshot: Snapshot,
    fingerprints: Vec<u64>,
    like: Query,
    progress: Progress,
) -> Result<Threaded<NearPair>> {
    Threaded::begin(NAME, progress, move |progress, out| {
        FingerprintPairs::selected_by(&like)
            .with(&fingerprints)
            .run(&snapshot, progress, |pairs| out.give(pairs.to_vec()))
    })
}

/// Streams all pairs of pages.
pub(crate) fn of_pages(
    snapshot: Snapshot,
    asked: PairQuery,
    progress: Progress,
) -> Result<Threaded<PagePair>> {
    Threaded::begin(NAME, progress, move |progress, out| {
        asked.run(&snapshot, progress, |pairs| out.give(pairs.to_vec()))
    })
}
