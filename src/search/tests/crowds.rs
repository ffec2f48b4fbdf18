//! Tests with dense regions: results are correct, and as complete as their extent states.

use std::time::Instant;

use super::*;

/// Checks a result against its extent: hits are correct and unique, and complete up to a distance.
pub(super) fn check_nearest(
    fingerprints: &[u64],
    query: u64,
    k: u32,
    bounds: &Bounds,
    extent: Completeness,
    found: Vec<Candidate>,
) {
    let truth = oracle(fingerprints, query, k);
    let found = sorted(found);
    let what = format!("{query:#x} within {k}: {extent:?}");
    if extent.is_whole(k) {
        assert_eq!(found, truth, "{what}");
        return;
    }
    assert!(found.is_sorted_by(|a, b| a < b), "{what}: each once");
    assert!(found.iter().all(|found| truth.binary_search(found).is_ok()), "{what}: true");
    let within = |all: &[Candidate]| {
        let near = all.iter().filter(|c| Some(u32::from(c.distance)) <= extent.certain);
        near.copied().collect::<Vec<_>>()
    };
    assert_eq!(within(&found), within(&truth), "{what}: everything that is certain");
    let hits = if extent.crowded { bounds.hits_of_crowd } else { bounds.hits };
    if extent.full {
        // The result takes bounded memory, regardless of the number of near fingerprints.
        assert!(found.len() >= hits.min(truth.len()) && found.len() < 2 * hits, "{what}");
    } else {
        assert!(extent.crowded, "{what}");
    }
    if !extent.crowded {
        // The result has the nearest fingerprints, and at the last distance as many as are wanted.
        let mut distances: Vec<u8> = truth.iter().map(|c| c.distance).collect();
        distances.sort_unstable();
        let mut nearest: Vec<u8> = found.iter().map(|c| c.distance).collect();
        nearest.sort_unstable();
        assert_eq!(nearest[..hits], distances[..hits], "{what}");
    }
}

/// Searches as a store does: through the tables, and if the tables give up, for the nearest
/// fingerprints.
fn find(
    tables: &Tables<VecColumn>,
    queries: &[u64],
    k: u32,
    bounds: &Bounds,
) -> Vec<(Completeness, Vec<Candidate>)> {
    let mut all = vec![(Completeness::whole(k), Vec::new()); queries.len()];
    let mut push = |place: usize, candidate| all[place].1.push(candidate);
    for place in tables.find_in_tables(queries, k, bounds, &mut push).unwrap() {
        let (extent, found) = &mut all[place];
        found.clear();
        *extent = tables.nearest(queries[place], k, bounds, found).unwrap();
    }
    all
}

const SOME: Bounds = Bounds { hits: 30, hits_of_crowd: 20, fingerprints: 2000, until: None };

#[test]
fn dense_bucket_is_searched_within_bounds_singly_and_batched() {
    let n = 40_000;
    for (crowd, shape) in [18, 20, 64]
        .into_iter()
        .flat_map(|low_bits| {
            [rotations(11), buckets(9, 4), cells(3000)].map(|shape| (low_bits, shape))
        })
        .map(|(low_bits, shape)| (canonical(dense_fingerprints(low_bits, n, 71)), shape))
    {
        let tables = tables(&crowd, shape);
        let queries = queries(&crowd, 40, 72);
        for k in [0, 1, 3, 4, 8] {
            let together = find(&tables, &queries, k, &SOME);
            let mut crowded = 0;
            for (query, (extent, found)) in queries.iter().zip(together) {
                let alone = find(&tables, &[*query], k, &SOME).remove(0);
                assert_eq!(
                    (alone.0, sorted(alone.1)),
                    (extent, sorted(found.clone())),
                    "{shape:?}"
                );
                check_nearest(&crowd, *query, k, &SOME, extent, found);
                if extent.crowded {
                    crowded += 1;
                    assert!(extent.scanned <= SOME.fingerprints);
                    assert_eq!(extent.certain, Some(1));
                }
            }
            // Unrelated fingerprints are not in a dense region, and wide searches may be scans
            // anyway.
            let wanted = match k {
                0 | 1 => 0..1,
                3 | 4 => 1..31,
                _ => 0..31,
            };
            assert!(wanted.contains(&crowded), "{shape:?}, k = {k}: {crowded}");
        }
    }
}

#[test]
fn dense_bucket_within_the_limit_is_searched_exactly() {
    let crowd = canonical(dense_fingerprints(64, 20_000, 73));
    let bounds = Bounds { fingerprints: 20_000, ..SOME };
    for shape in [rotations(10), cells(1500)] {
        let tables = tables(&crowd, shape);
        for query in queries(&crowd, 20, 74) {
            let (extent, found) = find(&tables, &[query], 8, &bounds).remove(0);
            assert!(!extent.crowded);
            check_nearest(&crowd, query, 8, &bounds, extent, found);
        }
    }
}

#[test]
fn sparse_fingerprints_are_found_by_the_tables() {
    for kind in KINDS {
        let fingerprints = canonical(fingerprints(kind, 40_000, 75));
        for shape in [rotations(11), cells(3000)] {
            let tables = tables(&fingerprints, shape);
            let queries = queries(&fingerprints, 60, 76);
            for k in [0, 3] {
                let bounds = Bounds { fingerprints: 1 << 12, ..SOME };
                for (query, (extent, found)) in
                    queries.iter().zip(find(&tables, &queries, k, &bounds))
                {
                    assert!(!extent.crowded, "{kind:?}, {shape:?}, k = {k}");
                    check_nearest(&fingerprints, *query, k, &bounds, extent, found);
                }
            }
        }
    }
}

#[test]
fn nearest_are_found_in_bounded_memory() {
    for kind in KINDS {
        let fingerprints = canonical(fingerprints(kind, 50_000, 77));
        let tables = tables(&fingerprints, Shape::Column);
        for query in queries(&fingerprints, 20, 78) {
            for k in [5, 20, 64] {
                let mut found = Vec::new();
                let extent = tables.nearest(query, k, &SOME, &mut found).unwrap();
                assert!(found.capacity() <= 8 * SOME.hits);
                check_nearest(&fingerprints, query, k, &SOME, extent, found);
            }
        }
    }
}

#[test]
fn timed_out_scan_reports_its_reach() {
    let fingerprints = canonical(fingerprints(Distribution::Even, 50_000, 79));
    let tables = tables(&fingerprints, Shape::Column);
    let bounds = Bounds { until: Some(Instant::now()), ..SOME };
    let mut found = Vec::new();
    let extent = tables.nearest(0xffff_ffff, 64, &bounds, &mut found).unwrap();
    assert_eq!((extent.certain, extent.scanned, found), (None, 0, Vec::new()));
}
