//! Searches with growing radius: for searches with a budget, and for the nearest pages.

use std::time::{Duration, Instant};

use super::query::{Matches, Query};
use super::resolve::LookupBudget;
use super::{HitSet, SearchRequest, segment_hits};
use crate::engine::component::ComponentId;
use crate::engine::epochs::check_live;
use crate::engine::snapshot::Snapshot;
use crate::error::Result;
use crate::search::{Bounds, DISTANCE_MAX};

/// The maximum cost of a search relative to the previous search.
const STEP: f64 = 2.0;

/// The estimated cost in nanoseconds above which a search starts with small radii, because a search
/// with a small radius may reach its limit.
const WORTH_NS: f64 = 20_000.0;

/// The factor by which the number of fingerprints to find grows, if too few of the nearest
/// fingerprints have matching pages.
const MORE: usize = 8;

/// The bounds of a search for at most `limit` pages that is not repeated with wider bounds.
pub(crate) fn bounds(limit: usize, fingerprints: u32) -> Bounds {
    /// The minimum number of fingerprints compared for each page.
    const EACH: u32 = 16;
    let named = u32::try_from(limit).unwrap_or(u32::MAX).saturating_mul(EACH);
    // More hits than the number of pages that may be examined would be collected in vain.
    let (hits, hits_of_crowd) = (LookupBudget::of(limit).left, few(limit));
    Bounds { hits, hits_of_crowd, fingerprints: fingerprints.max(named), until: None }
}

/// The first bounds of a search for at most `limit` pages that may be repeated with wider bounds.
pub(crate) fn bounds_of_search(limit: usize, fingerprints: u32) -> Bounds {
    Bounds { hits: few(limit), ..bounds(limit, fingerprints) }
}

/// The number of nearest fingerprints that nearly always have enough pages.
fn few(limit: usize) -> usize {
    // Some fingerprints have no visible page left, so more fingerprints are needed than pages.
    // `wants_more` repeats the search if there were too few.
    limit.saturating_mul(2).saturating_add(16)
}

/// Finds pages near a fingerprint, either at once or with growing radius.
#[inline]
pub(crate) fn search(snapshot: &Snapshot, query: &Query) -> Result<Matches> {
    let mut wanted = build_request(snapshot, query)?;
    if query.budget.is_some() || is_better_widened(snapshot, &wanted) {
        return widen(snapshot, &wanted, query.budget).map(|(matches, _)| matches);
    }
    for memtable in snapshot.view.memtables.iter().filter(|memtable| !memtable.is_untouched()) {
        // The memtables are searched after the segments, when these cache lines have arrived.
        memtable.read().prefetch(wanted.epoch, wanted.fingerprint);
    }
    loop {
        let mut found = segment_hits(&snapshot.view.segments, &wanted)?;
        let (matches, wants_more) = finish_search(snapshot, &wanted, &mut found)?;
        if !wants_more {
            return Ok(matches);
        }
        // The number of hits grows by a factor of eight each time, so a few repetitions reach any
        // number.
        wanted.widen_bounds();
    }
}

/// Finds pages for a request in a living epoch, as [`search`] does.
// This code is not shared with `search`: passing the request by value costs time there, as
// explained at `build_request`.
pub(crate) fn pages_near(snapshot: &Snapshot, mut wanted: SearchRequest<'_>) -> Result<Matches> {
    if is_better_widened(snapshot, &wanted) {
        return widen(snapshot, &wanted, None).map(|(matches, _)| matches);
    }
    loop {
        let mut found = segment_hits(&snapshot.view.segments, &wanted)?;
        let (matches, wants_more) = finish_search(snapshot, &wanted, &mut found)?;
        if !wants_more {
            return Ok(matches);
        }
        wanted.widen_bounds();
    }
}

// This function is always inlined. As a call, its result is copied in wider pieces than the pieces
// in which it was written. The copy waits for every instruction before it, so consecutive searches
// no longer overlap: 240 ns each instead of 140 at a million fingerprints.
#[inline(always)]
pub(crate) fn build_request<'q>(
    snapshot: &Snapshot,
    query: &'q Query,
) -> Result<SearchRequest<'q>> {
    snapshot.view.check()?;
    let epoch = query.epoch.unwrap_or_else(|| snapshot.near_epoch());
    check_live(snapshot.epochs(), epoch)?;
    let is_bounded = query.limit < usize::MAX || query.budget.is_some();
    // Few of the nearest pages are under the prefix, so a sample of a dense neighbourhood would
    // miss these pages.
    let fingerprints = if query.under.is_some() { u32::MAX } else { query.fingerprints };
    Ok(SearchRequest {
        fingerprint: query.fingerprint & epoch.mask(),
        k: query.k.min(DISTANCE_MAX),
        epoch: epoch.0,
        limit: query.limit,
        versions: query.versions,
        under: query.under.as_ref(),
        exclude: query.exclude.as_deref(),
        classes: query.classes.as_ref(),
        excluded_epoch: None,
        digest: None,
        first_capture: false,
        // Without a limit and a budget all pages are requested, so nothing is bounded.
        bounds: is_bounded.then(|| bounds_of_search(query.limit, fingerprints)),
    })
}

/// Returns the result, from the hits of the segments, and whether more hits are needed.
#[inline]
pub(crate) fn finish_search(
    snapshot: &Snapshot,
    wanted: &SearchRequest<'_>,
    found: &mut HitSet,
) -> Result<(Matches, bool)> {
    // The view keeps its memtables: a memtable that is sealed meanwhile is still read here, and its
    // new segment is not in the view.
    snapshot.view.add_memory(wanted, found);
    resolve(snapshot, wanted, found)
}

/// Returns the result, from all hits, and whether more hits are needed.
#[inline]
fn resolve(
    snapshot: &Snapshot,
    wanted: &SearchRequest<'_>,
    found: &mut HitSet,
) -> Result<(Matches, bool)> {
    let within = found.extent.certain.map(|certain| certain.min(wanted.k));
    if found.hits.is_empty() {
        // Nearly all searches end here, without examining any page.
        let complete = found.extent.is_whole(wanted.k);
        return Ok((Matches { near: Vec::new(), complete, within }, false));
    }
    let findings = snapshot.view.near(wanted, snapshot.sequence, found)?;
    let within = match findings.cut_at {
        // Pages at this distance may be missing, so the result is complete only up to a distance of
        // one less. If the distance is 0, no distance is complete: `None`.
        Some(distance) => within.min(distance.checked_sub(1)),
        None => within,
    };
    let matches = Matches { near: findings.near, complete: findings.complete, within };
    Ok((matches, findings.wants_more))
}

/// The estimated time of a search, in nanoseconds.
fn expected_ns(snapshot: &Snapshot, wanted: &SearchRequest<'_>) -> f64 {
    let &SearchRequest { epoch, fingerprint, k, .. } = wanted;
    // Components are searched one after another, so their costs add up.
    snapshot.view.components().map(|component| component.expected_ns(epoch, fingerprint, k)).sum()
}

/// Whether to start with small radii, because the whole search is costly, and its radius is
/// probably larger than needed.
pub(crate) fn is_better_widened(snapshot: &Snapshot, wanted: &SearchRequest<'_>) -> bool {
    /// The maximum radius of searches that run at once.
    const NARROW: u32 = 12;
    // The order of the conditions matters: the model is evaluated only for wide and bounded
    // searches.
    wanted.k > NARROW && wanted.bounds.is_some() && expected_ns(snapshot, wanted) > WORTH_NS
}

/// Searches with growing radius until one search has enough pages, the search with the largest
/// radius is done, or the time is up. Also returns the last radius.
///
/// A search by a scan can just as well have the largest radius: a scan goes outward, and no farther
/// than the pages that it has found.
pub(crate) fn widen(
    snapshot: &Snapshot,
    wanted: &SearchRequest<'_>,
    budget: Option<Duration>,
) -> Result<(Matches, u32)> {
    let start = Instant::now();
    let mut circle = SearchRequest { k: 0, ..*wanted };
    loop {
        let mut found = segment_hits(&snapshot.view.segments, &circle)?;
        let (matches, wants_more) = finish_search(snapshot, &circle, &mut found)?;
        // If the time is up, the result of this radius is final. The first search, for equal
        // fingerprints, always runs.
        let in_time = budget.is_none_or(|budget| start.elapsed() < budget);
        if wants_more && in_time {
            circle.widen_bounds();
            continue;
        }
        if circle.k >= wanted.k {
            return Ok((matches, found.extent.certain.unwrap_or(0).min(wanted.k)));
        }
        let is_whole = found.extent.is_whole(circle.k);
        if is_whole && (!matches.complete || matches.near.len() >= wanted.limit) {
            // Enough pages are found, and they are the nearest. Whether other pages exist beyond
            // this radius is unknown.
            return Ok((Matches { complete: false, ..matches }, circle.k));
        }
        // A search that is not whole was a scan. A scan goes outward and ends once it has enough
        // pages, so it can just as well have the largest radius.
        let next = if is_whole { next_circle(snapshot, &circle, wanted) } else { *wanted };
        let until = budget.map(|budget| start + budget);
        let expected = Duration::from_secs_f64(expected_ns(snapshot, &next) / 1e9);
        // The next search would exceed the budget. The remaining time is used for a scan, which can
        // stop at any time.
        if until.is_some_and(|until| Instant::now() + expected > until) {
            return widen_until(snapshot, found, wanted, until);
        }
        circle = next;
    }
}

/// The largest radius whose search costs little more than the next radius.
fn next_circle<'w>(
    snapshot: &Snapshot,
    circle: &SearchRequest<'w>,
    wanted: &SearchRequest<'w>,
) -> SearchRequest<'w> {
    let mut next = SearchRequest { k: circle.k + 1, ..*wanted };
    let expected = expected_ns(snapshot, &next);
    while next.k < wanted.k {
        let wider = SearchRequest { k: next.k + 1, ..*wanted };
        // Costs grow with k in steps. Radii of nearly equal cost are merged, because each search
        // repeats the search with the previous radius.
        if expected_ns(snapshot, &wider) > expected * STEP {
            break;
        }
        next = wider;
    }
    next
}

/// Combines the hits within a radius with the hits found beyond it until the time is up.
fn widen_until(
    snapshot: &Snapshot,
    inside: HitSet,
    wanted: &SearchRequest<'_>,
    until: Option<Instant>,
) -> Result<(Matches, u32)> {
    let bounds = wanted.bounds.map(|bounds| Bounds { until, ..bounds });
    let wanted = SearchRequest { bounds, ..*wanted };
    let mut found = HitSet::new(wanted.k);
    for (number, live) in (0..).zip(snapshot.view.segments.iter()) {
        let component = ComponentId::Segment(number);
        if let (Some(tables), Some(bounds)) = (live.tables(wanted.epoch), &wanted.bounds) {
            found.add_nearest(component, tables, &wanted, bounds)?;
        }
    }
    snapshot.view.add_memory(&wanted, &mut found);
    let HitSet { hits, extent } = &mut found;
    // The scan may have ended early, and the tables may have been cut short, so both sets are
    // merged. Usually the scan includes all of the inner hits.
    hits.extend(inside.hits);
    hits.sort_unstable_by_key(|hit| (hit.component, hit.candidate.ordinal));
    hits.dedup_by_key(|hit| (hit.component, hit.candidate.ordinal));
    // All hits that are certain in the inner radius are in the union, so its certainty applies to
    // the union. Beyond this radius, hits may be missing.
    extent.certain = extent.certain.max(inside.extent.certain);
    let searched = extent.certain.unwrap_or(0).min(wanted.k);
    let (matches, _) = resolve(snapshot, &wanted, &mut found)?;
    Ok((matches, searched))
}

impl SearchRequest<'_> {
    /// Widens the bounds, so that more near fingerprints are found.
    fn widen_bounds(&mut self) {
        if let Some(bounds) = &mut self.bounds {
            bounds.hits = bounds.hits.saturating_mul(MORE);
            bounds.hits_of_crowd = bounds.hits_of_crowd.saturating_mul(MORE);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::disk::SimDisk;
    use crate::engine::options::Options;
    use crate::engine::store::Store;
    use crate::page::{Epoch, Observation};
    use crate::search::Completeness;
    use crate::time::Time;

    #[test]
    fn results_left_out_of_a_dense_circle_are_found_later() {
        let store = Store::create(Arc::new(SimDisk::new()), Options::default()).unwrap();
        for (url, fingerprint) in
            [("http://a/", 0), ("http://b/", 0b11), ("http://c/", 0b1111), ("http://d/", 0xffff)]
        {
            store
                .observe(Observation::content(
                    url,
                    Time::from_ms_unchecked(1),
                    fingerprint,
                    Epoch(0),
                ))
                .unwrap();
        }
        for place in ["memory", "segment"] {
            let (snapshot, query) = (store.snapshot(), Query::new(0, 16));
            let wanted = build_request(&snapshot, &query).unwrap();
            let circle = SearchRequest { k: 8, ..wanted };
            let mut inside = segment_hits(&snapshot.view.segments, &circle).unwrap();
            snapshot.view.add_memory(&circle, &mut inside);
            inside.hits.retain(|hit| hit.candidate.distance <= 1);
            inside.extent =
                Completeness { certain: Some(1), crowded: true, ..Completeness::whole(8) };
            let (matches, _) = widen_until(&snapshot, inside, &wanted, None).unwrap();
            let distances: Vec<u32> = matches.near.iter().map(|near| near.distance).collect();
            assert_eq!((matches.complete, matches.within), (true, Some(16)), "{place}");
            assert_eq!(distances, [0, 2, 4, 16], "{place}");
            store.seal().unwrap();
        }
    }
}
