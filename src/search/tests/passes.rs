//! Tests each pass of a join by itself: together the passes find each pair of a double loop once.

use super::join::{all_pairs, all_pairs_of_many, check, check_alone, joined, skewed};
use super::*;

/// Runs a join pass by pass. Each pass is distributed by ranges of its part's values, and one range
/// runs twice.
fn check_passes(fingerprints: &[u64], join: Join, truth: &[Pair]) {
    let parts = join.parts();
    let first = |pair: &Pair| {
        let [left, right] = pair.fingerprints;
        parts.iter().position(|part| part.value(left) == part.value(right)).unwrap()
    };
    let mut wanted: Vec<(usize, Pair)> = truth.iter().map(|pair| (first(pair), *pair)).collect();
    wanted.sort_unstable();
    let (mut found, mut random) = (Vec::new(), SplitMixRng(truth.len() as u64));
    for (pass, part) in parts.iter().enumerate() {
        let join = join.pass(pass as u32);
        let mut take = |join: Join, ordinals: &[u32]| {
            let some: Vec<u64> = ordinals.iter().map(|at| fingerprints[*at as usize]).collect();
            found.extend(joined(join, &some[..]).unwrap().iter().map(|pair| {
                let [left, right] = [pair.left, pair.right].map(|at| ordinals[at as usize]);
                (pass, Pair { left, right, ..*pair })
            }));
        };
        let values = 1 << part.bits();
        let borders = [random.below(values), random.below(values)];
        let mut ranges = [const { Vec::new() }; 3];
        for (ordinal, fingerprint) in (0..).zip(fingerprints) {
            let value = u64::from(part.value(*fingerprint));
            ranges[borders.iter().filter(|border| value >= **border).count()].push(ordinal);
        }
        let (halved, whole) = ranges.split_first().unwrap();
        whole.iter().for_each(|range| take(join, range));
        let halves = halved.split_at(halved.len() / 3);
        take(join, halves.0);
        take(join, halves.1);
        take(join.across(halves.0.len() as u32), halved);
    }
    assert_eq!(joined(join.pass(parts.len() as u32), fingerprints).unwrap(), []);
    found.sort_unstable();
    assert!(found == wanted, "{join:?}: {} pairs rather than {}", found.len(), wanted.len());
}

#[test]
fn passes_of_a_join_match_a_double_loop() {
    for kind in KINDS {
        let fingerprints = fingerprints(kind, 700, 51);
        for k in [0, 1, 2, 3, 4, 7, 10, 15, 21, 31, 40, 63, 64, 65] {
            let (join, truth) = (Join::within(k).threads(1), all_pairs(&fingerprints, k));
            check_passes(&fingerprints, join, &truth);
        }
    }
    let fingerprints = skewed(2_500, 52);
    for k in [0, 1, 3, 5] {
        let (join, truth) = (Join::within(k).threads(2), all_pairs(&fingerprints, k));
        check_passes(&fingerprints, join.memory_bytes(0), &truth);
        check_passes(&fingerprints, join, &truth);
    }
}

#[test]
fn pass_with_few_values_is_joined_in_little_memory() {
    for (k, pass) in [(0, 0), (1, 1), (2, 1), (3, 0), (3, 3), (7, 4)] {
        let join = Join::within(k);
        let part = join.parts()[pass];
        let values = [part.value(0x0123_4567_89ab_cdef), part.value(0x0123_4567_89ab_cdee)];
        let some =
            skewed(3_000, 57).into_iter().chain(fingerprints(Distribution::Clustered, 2_500, 58));
        let shift = part.lowest_bit();
        let mask = ((1 << part.bits()) - 1) << shift;
        let of = |(at, one): (usize, u64)| one & !mask | u64::from(values[at % 7 / 6]) << shift;
        let of_values: Vec<u64> = some.enumerate().map(of).collect();
        let truth = all_pairs_of_many(&of_values, k);
        let parts = join.parts();
        let is_first = |pair: &&Pair| {
            let [left, right] = pair.fingerprints;
            parts.iter().position(|part| part.value(left) == part.value(right)) == Some(pass)
        };
        let truth: Vec<Pair> = truth.iter().filter(is_first).copied().collect();
        assert!(k < 2 || pass > 0 || !truth.is_empty());
        let join = join.pass(pass as u32);
        for memory_bytes in [0, 1 << 28] {
            for threads in [1, 2] {
                let join = join.memory_bytes(memory_bytes).threads(threads);
                check_alone(&of_values, join, &truth);
                let across = truth.iter().filter(|pair| pair.left < 2_000 && 2_000 <= pair.right);
                let across: Vec<Pair> = across.copied().collect();
                check_alone(&of_values, join.across(2_000), &across);
            }
        }
    }
}

#[test]
fn complementary_fingerprints_pair_in_one_pass() {
    let fingerprints = [5, !5, 0, u64::MAX, 5];
    for k in [62, 63, 64] {
        let (join, truth) = (Join::within(k).threads(1), all_pairs(&fingerprints, k));
        check(&fingerprints, join, &truth);
        check_passes(&fingerprints, join, &truth);
    }
}
