//! Tests of many concurrent queries, by ways that are not always the best.

use super::*;

/// The hits of each of many queries.
pub(super) struct HitsByQuery(pub(super) Vec<Vec<Candidate>>);

impl HitSink for HitsByQuery {
    fn hit(&mut self, place: usize, candidate: Candidate) {
        self.0[place].push(candidate);
    }
}

/// Runs all queries at once.
fn check_together(
    fingerprints: &[u64],
    tables: &Tables<VecColumn>,
    way: AccessPath,
    queries: &[u64],
    k: u32,
) {
    let mut found = HitsByQuery(vec![Vec::new(); queries.len()]);
    tables.find_by(way, 0, queries, k, &mut found).unwrap();
    for (query, found) in queries.iter().zip(found.0) {
        assert_eq!(sorted(found), oracle(fingerprints, *query, k), "{way:?}, k = {k}");
    }
}

#[test]
fn wide_queries_span_more_cells_than_one_gather() {
    for kind in KINDS {
        let fingerprints = canonical(fingerprints(kind, 4000, 71));
        let queries = queries(&fingerprints, 17, 72);
        // From a single chain of further lines to few further lines.
        for shape in [cells(1), cells(40), cells(900)] {
            let tables = tables(&fingerprints, shape);
            for k in 0..=if shape == cells(1) { 4 } else { 9 } {
                for some in [&queries[..1], &queries[..2], &queries[..3], &queries[..]] {
                    if k < 8 || some.len() <= 3 {
                        check_together(&fingerprints, &tables, AccessPath::Cells, some, k);
                    }
                }
            }
        }
    }
}

#[test]
fn wide_queries_span_more_probes_than_one_round() {
    // Two thirds of the fingerprints are in one bucket.
    let hot = fingerprints(Distribution::Even, 15_000, 9).into_iter().enumerate();
    let hot = hot.map(|(i, f)| if i % 3 > 0 { f >> 16 | 0xabcd << 48 } else { f }).collect();
    for all in [canonical(hot), canonical(fingerprints(Distribution::Biased, 10_000, 3))] {
        let queries = queries(&all, 30, 10);
        for shape in [rotations(0), rotations(5), rotations(16), buckets(5, 20)] {
            let tables = tables(&all, shape);
            for k in 0..=12 {
                check_together(&all, &tables, AccessPath::Rotations, &queries, k);
            }
            for k in [20, 64] {
                check_together(&all, &tables, AccessPath::Rotations, &queries[..3], k);
            }
        }
    }
}
