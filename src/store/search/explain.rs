//! What a search does, and what it costs.

use std::time::Instant;

use super::widen::{is_better_widened, search, wanted};
use super::{Found, segment_hits};
use crate::disk::page_faults;
use crate::error::Result;
use crate::search::{Cost, instruction_set};
use crate::store::component::ComponentId;
use crate::store::query::{ComponentSearch, Explanation, Query};
use crate::store::snapshot::Snapshot;

/// How a search runs.
pub(in crate::store) fn explain(snapshot: &Snapshot, query: &Query) -> Result<Explanation> {
    let mut wanted = wanted(snapshot, query)?;
    if query.budget.is_some() || is_better_widened(snapshot, &wanted) {
        // Of a search in circles, the last one is told of.
        wanted.k = search(snapshot, query)?.within;
    }
    let (fingerprint, k) = (wanted.fingerprint, wanted.k);
    let mut components = Vec::new();
    for live in snapshot.view.segments.iter() {
        let Some(tables) = live.tables(wanted.epoch) else { continue };
        let (before, start) = (page_faults(), Instant::now());
        let found = segment_hits(std::slice::from_ref(live), &wanted)?;
        let ns = start.elapsed().as_nanos() as f64;
        let faults = before.zip(page_faults());
        let tables = &tables.tables;
        components.push(ComponentSearch {
            segment: Some(live.segment.id()),
            fingerprints: tables.len(),
            shape: Some(tables.shape()),
            plan: tables.plan(fingerprint, k),
            counted: Cost { ns, ..tables.count(fingerprint, k)? },
            hits: found.hits.len(),
            crowded: found.extent.crowded.then_some(found.extent.scanned),
            faults: faults.map(|(before, after)| (after.0 - before.0, after.1 - before.1)),
        });
    }
    for memtable in &snapshot.view.memtables {
        let inner = memtable.read();
        let Some(plan) = inner.plan(wanted.epoch, k) else { continue };
        let fingerprints = inner.fingerprints(wanted.epoch);
        drop(inner);
        let start = Instant::now();
        let mut found = Found::new(k);
        found.add_memtable(ComponentId::Active, memtable, &wanted);
        components.push(ComponentSearch {
            segment: None,
            fingerprints,
            shape: None,
            plan,
            counted: Cost { ns: start.elapsed().as_nanos() as f64, ..plan.expected },
            hits: found.hits.len(),
            crowded: found.extent.crowded.then_some(found.extent.scanned),
            faults: None,
        });
    }
    let start = Instant::now();
    let matches = search(snapshot, query)?;
    let took = start.elapsed();
    Ok(Explanation { instruction_set: instruction_set(), components, matches, took })
}
