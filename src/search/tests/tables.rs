//! Tests that every way through the tables finds what the oracle finds.

use simkeep_testing::depth::up_to;
use std::sync::atomic::{AtomicU32, Ordering};

use super::lookups::HitsByQuery;
use super::*;

/// Compares the results of all ways, and of the chosen way, with the oracle.
fn check(fingerprints: &[u64], tables: &Tables<VecColumn>, query: u64, k: u32) {
    let truth = oracle(fingerprints, query, k);
    let mut found = Vec::new();
    tables.find(query, k, &mut found).unwrap();
    assert_eq!(sorted(found), truth, "find, k = {k}");
    let mut found = Vec::new();
    tables.scan(query, k, &mut |candidate| found.push(candidate)).unwrap();
    assert_eq!(found, truth, "scan, k = {k}");
    look_up(&truth, tables, query, k);
}

/// Searches by the way that the tables support, even if another way is faster.
fn look_up(truth: &[Candidate], tables: &Tables<VecColumn>, query: u64, k: u32) {
    let way = match tables.shape() {
        Shape::Column => AccessPath::Scan,
        Shape::Rotations(_) => AccessPath::Rotations,
        Shape::Cells { .. } if k <= 8 => AccessPath::Cells,
        Shape::Cells { .. } => return,
    };
    let mut found = Vec::new();
    tables.find_by(way, 0, &[query], k, &mut found).unwrap();
    assert_eq!(sorted(found), truth, "{way:?}, k = {k}");
}

#[test]
fn every_distance_is_exact_for_small_sets() {
    for kind in KINDS {
        for n in [0, 1, 2, 17, 600] {
            let fingerprints = canonical(fingerprints(kind, n, n as u64));
            for shape in [
                Shape::Column,
                rotations(0),
                buckets(0, 19),
                rotations(4),
                rotations(7),
                cells(2),
                cells(60),
            ] {
                let tables = tables(&fingerprints, shape);
                assert_eq!(tables.len() as usize, fingerprints.len());
                for query in queries(&fingerprints, 4, 5) {
                    (0..=64).for_each(|k| check(&fingerprints, &tables, query, k));
                }
            }
        }
    }
}

#[test]
fn every_distance_is_exact_with_all_address_bits() {
    let fingerprints = canonical(fingerprints(Distribution::Clustered, 1000, 6));
    for shape in [rotations(16), buckets(16, 2)] {
        let tables = tables(&fingerprints, shape);
        let query = fingerprints[17] ^ 0b101;
        let step = 64 / up_to(64);
        for k in (0..=64).filter(|k| *k < 9 || k % step == 0) {
            look_up(&oracle(&fingerprints, query, k), &tables, query, k);
        }
    }
}

#[test]
fn a_hundred_thousand_are_searched_exactly() {
    for kind in KINDS {
        let fingerprints = canonical(fingerprints(kind, 100_000, 7));
        let n = fingerprints.len() as u32;
        for shape in Shape::all(n).into_iter().flatten() {
            let tables = tables(&fingerprints, shape);
            tables.check().unwrap();
            for query in queries(&fingerprints, 12, 8) {
                for k in [0, 1, 2, 3, 4, 5, 7, 8, 10] {
                    check(&fingerprints, &tables, query, k);
                }
                for k in [16, 40, 64] {
                    let mut found = Vec::new();
                    tables.find(query, k, &mut found).unwrap();
                    assert_eq!(sorted(found), oracle(&fingerprints, query, k));
                }
            }
        }
    }
}

#[test]
fn hot_bucket_stays_exact() {
    // All fingerprints have the same first block, so rotation 0 has one bucket of 20,000 entries.
    let fingerprints: Vec<u64> = fingerprints(Distribution::Even, 20_000, 9)
        .iter()
        .map(|f| f >> 16 | 0xabcd << 48)
        .collect();
    let fingerprints = canonical(fingerprints);
    for shape in [rotations(16), buckets(3, 40), buckets(0, 300)] {
        let tables = tables(&fingerprints, shape);
        for query in queries(&fingerprints, 20, 10) {
            (0..6).for_each(|k| check(&fingerprints, &tables, query, k));
        }
    }
}

#[test]
fn constant_blocks_are_searched_exactly() {
    // All fingerprints are in one bucket of a rotation. The stored bits of the fingerprints are
    // near in this rotation or in the next.
    for mask in [0xffff_ffff, 0x0000_00ff_ffff_ffff, 0xffff_0000_ffff_0000, 0x0000_ffff_0000_ffff] {
        let all: Vec<u64> =
            fingerprints(Distribution::Even, 30_000, 19).iter().map(|f| f & mask).collect();
        let mut all = canonical(all);
        all.dedup();
        for shape in [rotations(16), rotations(11), buckets(4, 30)] {
            let tables = tables(&all, shape);
            tables.check().unwrap();
            for query in queries(&all, 6, 20) {
                (0..9).for_each(|k| check(&all, &tables, query & mask, k));
            }
        }
    }
}

#[test]
fn buckets_keep_the_canonical_order() {
    let fingerprints = canonical(fingerprints(Distribution::Biased, 2000, 11));
    for (bits, lines) in [(6, 1), (4, 3), (0, 1), (0, 63), (16, 1)] {
        let columns = build(&fingerprints, buckets(bits, lines), PLENTY);
        for rotation in 0..BLOCKS {
            let u16s = |part| -> Vec<u16> {
                let bytes: &[u8] = &columns[&part];
                bytes.as_chunks().0.iter().map(|&place| u16::from_le_bytes(place)).collect()
            };
            let of_bucket = |fingerprint: u64| -> (usize, u16) {
                let turned = fingerprint.rotate_left(16 * rotation as u32);
                let bucket = if bits == 0 { 0 } else { turned >> (64 - bits) };
                (bucket as usize, (turned << 16 >> 48) as u16)
            };
            let mut truth: Vec<_> = (0_u32..)
                .zip(&fingerprints)
                .map(|(ordinal, f)| (of_bucket(*f).0, ordinal, of_bucket(*f).1))
                .collect();
            truth.sort_unstable();
            let ordinals = columns[&TableColumn::Ordinals(rotation)].as_chunks().0.iter();
            let ordinals = ordinals.map(|&ordinal| u32::from_le_bytes(ordinal));
            assert!(truth.iter().map(|entry| entry.1).eq(ordinals));
            let (all, rest) =
                (u16s(TableColumn::Buckets(rotation)), u16s(TableColumn::Rest(rotation)));
            let (mut entry, mut at_rest) = (0, 0);
            for (bucket, places) in all.chunks(32 * lines as usize).enumerate() {
                let count = truth.iter().filter(|entry| entry.0 == bucket).count();
                let number = |at: usize| u32::from(places[at]) | u32::from(places[at + 1]) << 16;
                let is_full = count > places.len() - 2;
                let head = if is_full { 26..32 } else { 30..32 };
                assert_eq!(number(30), entry as u32 | u32::from(is_full) << 31);
                let mut stored: Vec<u16> = [&places[..head.start], &places[32..]].concat();
                if is_full {
                    let left = count - stored.len();
                    assert_eq!((number(26), number(28)), (at_rest as u32, left as u32));
                    stored.extend(&rest[at_rest..at_rest + left]);
                    at_rest += left;
                }
                let of_truth = truth[entry..entry + count].iter().map(|entry| entry.2);
                assert!(of_truth.eq(stored[..count].iter().copied()));
                entry += count;
            }
            assert_eq!((entry, at_rest), (fingerprints.len(), rest.len()));
        }
    }
}

#[test]
fn error_of_the_reader_ends_the_build() {
    for shape in [rotations(4), cells(90)] {
        for threads in [1, 3] {
            let fail = |_: u32, _: &mut [u64]| Err(ColumnFault::OutOfRange(0..1));
            let resources = Resources { memory_bytes: 0, threads };
            let built = build_index(shape, 1000, resources, &fail, &BuiltColumns::default());
            assert_eq!(built, Err(ColumnFault::OutOfRange(0..1)));
        }
    }
}

#[test]
fn column_that_changes_during_the_build_is_an_error() {
    let column = canonical(fingerprints(Distribution::Even, 3000, 12));
    let other = canonical(fingerprints(Distribution::Even, 3000, 13));
    for (shape, memory_bytes) in [(rotations(9), 8_000), (cells(300), 9_600), (cells(300), 1_600)] {
        let build = |good_reads| {
            let reads = AtomicU32::new(0);
            let read = |start: u32, out: &mut [u64]| {
                let is_good = reads.fetch_add(1, Ordering::Relaxed) < good_reads;
                let from = if is_good { &column } else { &other };
                out.copy_from_slice(&from[start as usize..][..out.len()]);
                Ok(())
            };
            let resources = Resources { memory_bytes, threads: 1 };
            let built = build_index(shape, 3000, resources, &read, &BuiltColumns::default());
            (built, reads.into_inner())
        };
        let (built, reads) = build(u32::MAX);
        assert_eq!(built, Ok(()));
        for good_reads in 1..reads {
            let (built, _) = build(good_reads);
            // Cells are counted anew for each range, so all of them may come from the other column.
            let afresh = memory_bytes == 1_600 && built == Ok(());
            assert!(
                afresh || built == Err(ColumnFault::Damaged(0, "another column")),
                "{good_reads}"
            );
        }
    }
}

#[test]
fn column_is_read_the_promised_number_of_times() {
    let fingerprints = canonical(fingerprints(Distribution::Even, 3000, 12));
    let passes_on = |threads, shape, memory_bytes| {
        let passes = AtomicU32::new(0);
        let read = |start: u32, out: &mut [u64]| {
            passes.fetch_add(u32::from(start == 0), Ordering::Relaxed);
            out.copy_from_slice(&fingerprints[start as usize..][..out.len()]);
            Ok(())
        };
        let resources = Resources { memory_bytes, threads };
        build_index(shape, 3000, resources, &read, &BuiltColumns::default()).unwrap();
        passes.into_inner()
    };
    let passes = |shape, memory_bytes| passes_on(1, shape, memory_bytes);
    for (memory_bytes, parts) in [(60_000, 1), (36_000, 1), (8_000, 5), (0, 12)] {
        assert_eq!(passes(rotations(9), memory_bytes), 4 * (1 + parts));
    }
    for (memory_bytes, counting, parts) in [(60_000, 1, 1), (24_000, 1, 2), (8_000, 2, 6)] {
        assert_eq!(passes(cells(300), memory_bytes), 2 * (counting + parts));
    }
    // Counts are kept if a quarter of the memory is enough for the counts of both tables.
    assert_eq!(passes(cells(300), 9_600), 2 * (1 + 5));
    assert_eq!(passes(cells(300), 9_599), 2 * (2 + 5));
    assert_eq!(passes_on(2, cells(300), 9_600), 2 * (1 + 10));
    // The cells are processed in three ranges of 100 cells, each with some 1,000 entries, 256
    // entries at a time.
    assert!((2 * 3 * (2 + 3)..=2 * 3 * (2 + 5)).contains(&passes(cells(300), 1_600)));
}

#[test]
fn skewed_sets_are_built_identically_in_any_memory() {
    let mut random = SplitMixRng(5);
    for (round, n) in [0, 1, 256, 257, 16_384, 65_537, 70_000].into_iter().enumerate() {
        // A few buckets have many entries, and most buckets are empty.
        let some = (0..n as u64).map(|i| match round % 3 {
            0 => i << 3 | 5 << 48,
            1 => random.next() & 0x0003_ffff_ffff_000f,
            _ => random.next() & 0xff00_0000_ffff_ffff,
        });
        let all = canonical(some.collect());
        for shape in
            [rotations(16), rotations(0), rotations(3), buckets(5, 3), cells(2), cells(5000)]
        {
            let truth = build(&all, shape, PLENTY);
            tables(&all, shape).check().unwrap();
            for memory_bytes in [n * 12, n * 12 + 12, n * 4, 300_000] {
                let resources = Resources { memory_bytes, threads: 1 + round % 2 };
                assert!(build(&all, shape, resources) == truth, "{shape:?} {n} {memory_bytes}");
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn all_search_methods_match_the_linear_scan(
        kind in kinds(), n in 0_usize..3000, seed: u64, shape in shapes(), k in 0_u32..=12
    ) {
        let fingerprints = canonical(fingerprints(kind, n, seed));
        let tables = tables(&fingerprints, shape);
        tables.check().unwrap();
        for query in queries(&fingerprints, 8, seed ^ 1) {
            check(&fingerprints, &tables, query, k);
        }
    }

    #[test]
    fn planned_search_matches_the_linear_scan_at_any_distance(
        kind in kinds(), n in 0_usize..3000, seed: u64, k in 0_u32..=80, layout in 0_u32..=10
    ) {
        let fingerprints = canonical(fingerprints(kind, n, seed));
        let tables = tables(&fingerprints, Shape::choose(fingerprints.len() as u32, layout, 64));
        for query in queries(&fingerprints, 8, seed ^ 1) {
            let mut found = vec![Candidate::new(0, 0, 0)];
            tables.find(query, k, &mut found).unwrap();
            prop_assert_eq!(found.remove(0), Candidate::new(0, 0, 0));
            prop_assert_eq!(sorted(found), oracle(&fingerprints, query, k));
        }
    }

    #[test]
    fn memory_and_threads_do_not_change_the_bytes(
        kind in kinds(), n in 0_usize..3000, seed: u64, shape in shapes(),
        memory_bytes in 0_usize..20_000, threads in 1_usize..5
    ) {
        let fingerprints = canonical(fingerprints(kind, n, seed));
        let little = build(&fingerprints, shape, Resources { memory_bytes, threads });
        prop_assert!(little == build(&fingerprints, shape, PLENTY));
    }
}

#[test]
fn groups_and_parts_do_not_change_the_bytes() {
    let even = fingerprints(Distribution::Even, 200_000, 14);
    // Half of the fingerprints are in one bucket of the first rotation, and in few cells.
    let hot = even.iter().enumerate().map(|(i, f)| if i % 2 == 0 { f >> 16 } else { *f }).collect();
    for fingerprints in [canonical(even.clone()), canonical(hot)] {
        for shape in [rotations(16), buckets(9, 20), cells(9000)] {
            let truth = build(&fingerprints, shape, PLENTY);
            for (memory_bytes, threads) in [(2_000_000, 1), (2_000_000, 4), (100_000, 2)] {
                let resources = Resources { memory_bytes, threads };
                assert!(build(&fingerprints, shape, resources) == truth, "{shape:?}");
            }
            tables(&fingerprints, shape).check().unwrap();
        }
    }
}

#[test]
fn batch_answers_match_single_queries() {
    for kind in KINDS {
        for n in [0, 1, 600, 30_000] {
            let fingerprints = canonical(fingerprints(kind, n, 11));
            let queries = queries(&fingerprints, 60, 12);
            for shape in [Shape::Column, rotations(9), buckets(7, 11), cells(2800)] {
                let tables = tables(&fingerprints, shape);
                for k in [0, 1, 2, 3, 4, 8, 64] {
                    let mut found = HitsByQuery(vec![Vec::new(); queries.len()]);
                    tables.find_each(&queries, k, &mut found).unwrap();
                    for (query, found) in queries.iter().zip(found.0) {
                        assert_eq!(sorted(found), oracle(&fingerprints, *query, k), "k = {k}");
                    }
                }
            }
        }
    }
}
