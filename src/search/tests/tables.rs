//! Every way through the tables finds what the oracle finds.

use super::*;

/// Both ways and the choice between them, against the truth.
fn check(fingerprints: &[u64], tables: &Tables<Bytes>, query: u64, k: u32) {
    let truth = oracle(fingerprints, query, k);
    let mut found = Vec::new();
    tables.find(query, k, &mut found).unwrap();
    assert_eq!(sorted(found), truth, "find, k = {k}");
    let mut found = Vec::new();
    tables.scan(query, k, &mut found).unwrap();
    assert_eq!(found, truth, "scan, k = {k}");
    look_up(&truth, tables, query, k);
}

fn look_up(truth: &[Candidate], tables: &Tables<Bytes>, query: u64, k: u32) {
    if let Some(rotations) = &tables.rotations {
        let mut found = Vec::new();
        tables.look_up(rotations, query, k, &mut found).unwrap();
        assert_eq!(sorted(found), truth, "look up, k = {k}");
    }
}

#[test]
fn every_distance_is_exact_for_small_sets() {
    for kind in KINDS {
        for n in [0, 1, 2, 17, 600] {
            let fingerprints = canonical(fingerprints(kind, n, n as u64));
            for bits in [None, Some(0), Some(4), Some(7)] {
                let tables = tables(&fingerprints, bits);
                assert_eq!(tables.len() as usize, fingerprints.len());
                for query in queries(&fingerprints, 4, 5) {
                    (0..=64).for_each(|k| check(&fingerprints, &tables, query, k));
                }
            }
        }
    }
}

#[test]
fn every_distance_is_exact_with_all_bits_of_address() {
    let fingerprints = canonical(fingerprints(Kind::Clustered, 1000, 6));
    let tables = tables(&fingerprints, Some(16));
    let query = fingerprints[17] ^ 0b101;
    for k in 0..=64 {
        look_up(&oracle(&fingerprints, query, k), &tables, query, k);
    }
}

#[test]
fn a_hundred_thousand_are_searched_exactly() {
    for kind in KINDS {
        let fingerprints = canonical(fingerprints(kind, 100_000, 7));
        let n = fingerprints.len() as u32;
        let tables = tables(&fingerprints, Some(rotation_bits(n)));
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

#[test]
fn a_hot_bucket_is_narrowed_to_the_near_popcounts_and_stays_exact() {
    // All share their first block, so rotation 0 has one bucket of 20,000.
    let fingerprints: Vec<u64> =
        fingerprints(Kind::Even, 20_000, 9).iter().map(|f| f >> 16 | 0xabcd << 48).collect();
    let fingerprints = canonical(fingerprints);
    let tables = tables(&fingerprints, Some(16));
    for query in queries(&fingerprints, 20, 10) {
        (0..6).for_each(|k| check(&fingerprints, &tables, query, k));
    }
}

#[test]
fn buckets_keep_the_canonical_order() {
    let fingerprints = canonical(fingerprints(Kind::Biased, 2000, 11));
    let Written(columns) = build(&fingerprints, 6, usize::MAX);
    for (rotation, [directory, planes, ordinals]) in columns.into_iter().enumerate() {
        let u32s = |bytes: &[u8]| -> Vec<u32> {
            bytes.as_chunks().0.iter().map(|&entry| u32::from_le_bytes(entry)).collect()
        };
        let (starts, planes, ordinals) = (u32s(&directory), u32s(&planes), u32s(&ordinals));
        assert_eq!(starts.len(), 65);
        assert_eq!(starts.last().copied(), Some(fingerprints.len() as u32));
        let mut truth: Vec<(u64, u32, u32)> = (0..)
            .zip(&fingerprints)
            .map(|(ordinal, fingerprint)| {
                let turned = fingerprint.rotate_left(16 * rotation as u32);
                (turned >> 58, ordinal, (turned << 16 >> 32) as u32)
            })
            .collect();
        truth.sort_unstable();
        assert!(truth.iter().map(|entry| entry.1).eq(ordinals));
        assert!(truth.iter().map(|entry| entry.2).eq(planes));
        for (bucket, start) in (0..).zip(starts) {
            assert_eq!(truth.partition_point(|entry| entry.0 < bucket), start as usize);
        }
    }
}

#[test]
fn an_error_of_the_reader_ends_the_build() {
    let fail = |_: u32, _: &mut [u64]| Err(Fault::OutOfRange(0..1));
    let built = build_rotations(1000, 4, 0, fail, &mut Written::default());
    assert_eq!(built, Err(Fault::OutOfRange(0..1)));
}

#[test]
fn the_column_is_read_once_for_counting_and_once_for_each_part_of_each_rotation() {
    let fingerprints = canonical(fingerprints(Kind::Even, 3000, 12));
    for (memory_bytes, parts) in [(24_000, 1), (8_000, 3), (0, 12)] {
        let mut passes = 0;
        let read = |start: u32, out: &mut [u64]| {
            passes += u32::from(start == 0);
            out.copy_from_slice(&fingerprints[start as usize..][..out.len()]);
            Ok(())
        };
        build_rotations(3000, 9, memory_bytes, read, &mut Written::default()).unwrap();
        assert_eq!(passes, 1 + 4 * parts);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn all_ways_equal_the_linear_scan(
        kind in kinds(), n in 0_usize..3000, seed: u64, bits in 0_u32..=16, k in 0_u32..=12
    ) {
        let fingerprints = canonical(fingerprints(kind, n, seed));
        let tables = tables(&fingerprints, Some(bits));
        for query in queries(&fingerprints, 8, seed ^ 1) {
            check(&fingerprints, &tables, query, k);
        }
    }

    #[test]
    fn the_planned_way_equals_the_linear_scan_for_any_distance(
        kind in kinds(), n in 0_usize..3000, seed: u64, k in 0_u32..=80
    ) {
        let fingerprints = canonical(fingerprints(kind, n, seed));
        let n = fingerprints.len() as u32;
        let tables = tables(&fingerprints, has_rotations(n).then(|| rotation_bits(n)));
        for query in queries(&fingerprints, 8, seed ^ 1) {
            let mut found = vec![Candidate::new(0, 0, 0)];
            tables.find(query, k, &mut found).unwrap();
            prop_assert_eq!(found.remove(0), Candidate::new(0, 0, 0));
            prop_assert_eq!(sorted(found), oracle(&fingerprints, query, k));
        }
    }

    #[test]
    fn little_memory_builds_the_same_bytes(
        kind in kinds(), n in 0_usize..3000, seed: u64, bits in 0_u32..=16,
        memory_bytes in 0_usize..20_000
    ) {
        let fingerprints = canonical(fingerprints(kind, n, seed));
        prop_assert_eq!(
            build(&fingerprints, bits, memory_bytes),
            build(&fingerprints, bits, usize::MAX)
        );
    }
}

#[test]
fn a_batch_is_answered_like_its_queries_one_by_one() {
    for kind in KINDS {
        for n in [0, 1, 600, 30_000] {
            let fingerprints = canonical(fingerprints(kind, n, 11));
            let bits = has_rotations(n as u32).then(|| rotation_bits(n as u32));
            let tables = tables(&fingerprints, bits);
            let queries = queries(&fingerprints, 60, 12);
            for k in [0, 1, 2, 3, 4, 8, 64] {
                let mut found = vec![Vec::new(); queries.len()];
                let batch = Batch::new(queries.clone(), k);
                tables.find_batch(&batch, |place, candidate| found[place].push(candidate)).unwrap();
                for (query, found) in queries.iter().zip(found) {
                    assert_eq!(sorted(found), oracle(&fingerprints, *query, k), "k = {k}");
                }
            }
        }
    }
}
