//! Tests that the index in memory finds what the oracle finds, after every push.

use super::crowds::check_nearest;
use super::*;

fn check(chains: &Chains, fingerprints: &[u64], query: u64, k: u32) {
    let truth = oracle(fingerprints, query, k);
    let mut found = Vec::new();
    chains.find(query, k, &mut found);
    assert_eq!(sorted(found), truth, "find, k = {k}");
    let mut found = Vec::new();
    chains.scan(query, k, &mut found);
    assert_eq!(found, truth, "scan, k = {k}");
}

fn check_chains(chains: &Chains, fingerprints: &[u64], query: u64, k: u32) {
    let mut found = Vec::new();
    if chains.follow(query, k, usize::MAX, &mut found) {
        assert_eq!(sorted(found), oracle(fingerprints, query, k), "chains, k = {k}");
    }
}

fn filled(fingerprints: &[u64]) -> Chains {
    let mut chains = Chains::new();
    for (id, &fingerprint) in (0..).zip(fingerprints) {
        assert_eq!(chains.push(fingerprint), id);
    }
    chains
}

#[test]
fn nearest_are_found_and_counted_in_a_dense_bucket() {
    let bounds = Bounds { hits: 20, hits_of_crowd: 20, fingerprints: 100, until: None };
    for (fingerprints, has_crowd) in [
        (dense_fingerprints(18, 30_000, 26), true),
        (dense_fingerprints(64, 30_000, 26), true),
        (fingerprints(Distribution::Even, 30_000, 26), false),
    ] {
        let mut chains = Chains::new();
        let mut crowded = 0;
        for (number, &fingerprint) in (0..).zip(&fingerprints) {
            assert_eq!(chains.number_of(fingerprint), None);
            assert_eq!(chains.push(fingerprint), number);
            assert_eq!(chains.number_of(fingerprint), Some(number));
        }
        for query in queries(&fingerprints, 12, 27) {
            for k in [0, 1, 3, 8, 64] {
                let mut found = Vec::new();
                let extent = chains.nearest(query, k, &bounds, &mut found);
                if extent.crowded {
                    crowded += 1;
                    assert!(extent.scanned <= bounds.fingerprints);
                    assert_eq!(extent.certain, Some(k.min(1)));
                }
                check_nearest(&fingerprints, query, k, &bounds, extent, found);
            }
            let mut found = Vec::new();
            chains.find(query, 0, &mut found);
            assert_eq!(found, oracle(&fingerprints, query, 0));
        }
        assert_eq!(crowded > 10, has_crowd, "{crowded}");
        chains.clear();
        assert_eq!(chains.number_of(fingerprints[0]), None);
    }
}

#[test]
fn every_distance_is_exact() {
    for kind in KINDS {
        let mut fingerprints = fingerprints(kind, 1500, 20);
        fingerprints.extend_from_within(100..200);
        for n in [0, 1, 2, 40, 513, 1600] {
            let chains = filled(&fingerprints[..n]);
            for query in queries(&fingerprints[..n], 4, 21) {
                for k in 0..=64 {
                    check(&chains, &fingerprints[..n], query, k);
                    check_chains(&chains, &fingerprints[..n], query, k);
                }
            }
        }
    }
}

#[test]
fn growing_to_all_bits_loses_nothing() {
    let fingerprints = fingerprints(Distribution::Clustered, 150_000, 22);
    let chains = filled(&fingerprints);
    assert_eq!(chains.len(), 150_000);
    for query in queries(&fingerprints, 20, 23) {
        for k in [0, 1, 3, 4, 8] {
            check(&chains, &fingerprints, query, k);
            check_chains(&chains, &fingerprints, query, k);
        }
    }
}

#[test]
fn overlong_chain_falls_back_to_a_scan() {
    let fingerprints: Vec<u64> = fingerprints(Distribution::Even, 20_000, 24)
        .iter()
        .map(|f| f >> 16 | 0xabcd << 48)
        .collect();
    let chains = filled(&fingerprints);
    assert!(!chains.follow(fingerprints[0], 3, fingerprints.len() / 150, &mut Vec::new()));
    for query in queries(&fingerprints, 10, 25) {
        (0..9).for_each(|k| check(&chains, &fingerprints, query, k));
    }
}

#[test]
fn equal_fingerprints_keep_their_own_numbers() {
    let chains = filled(&[5, 5, 7, 5]);
    let mut found = Vec::new();
    chains.find(5, 0, &mut found);
    let ids: Vec<u32> = sorted(found).iter().map(|found| found.ordinal).collect();
    assert_eq!(ids, [0, 1, 3]);
}

#[test]
fn small_index_takes_little_memory() {
    let empty = Chains::default();
    assert!(empty.is_empty() && empty.memory_bytes() < 5_000);
    let chains = filled(&fingerprints(Distribution::Even, 1000, 26));
    assert!(chains.memory_bytes() < 140 * 1000);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn chains_match_the_linear_scan(
        kind in kinds(), n in 0_usize..3000, seed: u64, k in 0_u32..=64
    ) {
        let fingerprints = fingerprints(kind, n, seed);
        let chains = filled(&fingerprints);
        for query in queries(&fingerprints, 8, seed ^ 1) {
            check(&chains, &fingerprints, query, k);
            check_chains(&chains, &fingerprints, query, k);
        }
    }
}
