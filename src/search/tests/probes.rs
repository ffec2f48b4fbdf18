//! Tests of the pigeonhole principle, the order and the plan.

use std::collections::HashSet;

use super::*;
use crate::search::plan::plan_chains;
use crate::search::probe::{FingerprintBlock, ProbeRadius, Probes};

#[test]
fn probe_radii_add_up_to_distance_plus_one() {
    for k in 0..=64 {
        let reaches = FingerprintBlock::ALL.map(|block| ProbeRadius::within(k).of(block));
        assert_eq!(reaches.iter().sum::<u32>(), k + 1);
        assert!(reaches.iter().max().unwrap() - reaches.iter().min().unwrap() <= 1);
    }
    assert_eq!(FingerprintBlock::ALL.map(|block| ProbeRadius::within(4).of(block)), [2, 1, 1, 1]);
    assert_eq!(FingerprintBlock::ALL.map(|block| ProbeRadius::within(1).of(block)), [1, 1, 0, 0]);
}

#[test]
fn probes_visit_each_bucket_within_the_radius_once() {
    let fingerprint = 0x0123_4567_89ab_cdef;
    for (bits, k) in [(0, 64), (1, 3), (4, 0), (4, 9), (5, 64), (8, 12), (16, 3), (16, 8)] {
        let reach = ProbeRadius::within(k);
        let probes =
            FingerprintBlock::ALL.map(|block| Probes::new(block, fingerprint, bits, reach));
        let probes: Vec<_> = probes.into_iter().flatten().collect();
        let mut truth = HashSet::new();
        for (block, name) in FingerprintBlock::ALL.into_iter().zip(0..) {
            let own = block.bucket(fingerprint, bits);
            let near = (0..1_u32 << bits).filter(|b| (b ^ own).count_ones() < reach.of(block));
            truth.extend(near.map(|bucket| (name, bucket, (bucket ^ own).count_ones())));
        }
        let got: HashSet<_> =
            probes.iter().map(|p| (p.block as u32, p.bucket, p.distance)).collect();
        assert_eq!(got, truth);
        assert_eq!(got.len(), probes.len());
    }
}

#[test]
fn blocks_are_taken_from_the_high_bits() {
    let fingerprint = 0x0123_4567_89ab_cdef;
    assert_eq!(
        FingerprintBlock::ALL.map(|b| b.bucket(fingerprint, 16)),
        [0x0123, 0x4567, 0x89ab, 0xcdef]
    );
    assert_eq!(FingerprintBlock::ALL.map(|b| b.bucket(fingerprint, 4)), [0x0, 0x4, 0x8, 0xc]);
    assert_eq!(
        FingerprintBlock::ALL.map(|b| b.value(fingerprint)),
        [0x0123, 0x4567, 0x89ab, 0xcdef]
    );
    assert_eq!(FingerprintBlock::Fourth.next(), FingerprintBlock::First);
}

#[test]
fn buckets_are_well_filled_and_seldom_overflow() {
    let of = |n| (BucketLayout::of(n).bits, BucketLayout::of(n).lines);
    assert_eq!(
        [0, 1, 25, 26, 51, 52, 1024].map(of),
        [0, 1, 25, 26, 51, 52, 1024].map(|n: u32| {
            // The rule of the format documentation.
            let fits = |bits: &u32| f64::from(n) / f64::from(1 << bits) > 12.8;
            let bits = (0..=16).rev().find(fits).unwrap_or(0);
            let lines = (f64::from(n) / f64::from(1 << bits) / 25.6).ceil().max(1.0);
            (bits, lines as u32)
        })
    );
    assert_eq!([1_000_000, 10_000_000].map(of), [(16, 1), (16, 6)]);
    assert_eq!(of(u32::MAX), (16, 2560));
}

#[test]
fn shards_locate_each_popcount() {
    let fingerprints = canonical(fingerprints(Distribution::Biased, 3000, 3));
    let shards = census(&fingerprints);
    assert_eq!(shards.fingerprints() as usize, fingerprints.len());
    for popcount in 0..=64 {
        for k in [0, 1, 3, 64, u32::MAX] {
            let around = shards.around(popcount, k);
            for (ordinal, fingerprint) in (0..).zip(&fingerprints) {
                let near = fingerprint.count_ones().abs_diff(popcount) <= k;
                assert_eq!(around.contains(&ordinal), near);
            }
        }
    }
    assert_eq!(Shards::read(&VecColumn(shards.to_bytes().to_vec())), Ok(shards));
}

#[test]
fn canonical_order_is_by_popcount_then_by_value() {
    let mut fingerprints = [u64::MAX, 0b11, 0b100, 0, 0b1];
    fingerprints.sort_by_key(|fingerprint| canonical_key(*fingerprint));
    assert_eq!(fingerprints, [0, 0b1, 0b100, 0b11, u64::MAX]);
}

#[test]
fn each_difference_is_reported_by_exactly_one_block() {
    let mut random = SplitMixRng(8);
    for k in 0..=16 {
        let reach = ProbeRadius::within(k);
        for _ in 0..2000 {
            let difference = random.near(0, k.into());
            let reporters =
                FingerprintBlock::ALL.into_iter().filter(|b| reach.last_found_by(*b, difference));
            assert_eq!(reporters.count(), 1, "{difference:016x}, k = {k}");
        }
    }
}

#[test]
fn last_reporting_rotation_follows_the_ring() {
    let mut random = SplitMixRng(10);
    let distance = |block: FingerprintBlock, difference| block.bucket(difference, 16).count_ones();
    for k in 0..=64 {
        let reach = ProbeRadius::within(k);
        let some = (0..300).map(|_| random.near(0, 64));
        for difference in some.chain([0, u64::MAX]).collect::<Vec<_>>() {
            let found_by = |block: &FingerprintBlock| {
                let own = distance(*block, difference);
                own < reach.of(*block)
                    && distance(block.next(), difference) <= reach.slack(*block, own)
            };
            let last = FingerprintBlock::ALL.into_iter().rev().find(found_by);
            for block in FingerprintBlock::ALL {
                assert_eq!(
                    reach.last_found_by(block, difference),
                    last == Some(block),
                    "{difference:016x}, k = {k}"
                );
            }
        }
    }
}

#[test]
fn narrow_queries_use_tables_and_wide_ones_scan() {
    let n = 1_000_000;
    let fingerprints = canonical(fingerprints(Distribution::Even, 40_000, 3));
    for shape in Shape::all(fingerprints.len() as u32).into_iter().flatten() {
        let tables = tables(&fingerprints, shape);
        let way = |k| tables.plan(fingerprints[30_000], k).access_path;
        assert_eq!(way(64), AccessPath::Scan);
        match shape {
            Shape::Column => assert_eq!(way(3), AccessPath::Scan),
            Shape::Rotations(_) => assert_eq!(way(3), AccessPath::Rotations),
            Shape::Cells { .. } => assert_eq!(way(3), AccessPath::Cells),
        }
    }
    let probes = |k| Cost::of_tables(rotations(16), n, k).unwrap().probes;
    assert_eq!([3, 8].map(probes), [4.0, 137.0 + 3.0 * 17.0]);
    let probes = |k| Cost::of_tables(cells(1 << 20), n, k).unwrap().probes;
    assert_eq!([0, 1, 2, 3].map(probes), [1.0, 2.0, 1.0 + 497.0 / 32.0, 2.0 * 497.0 / 32.0]);
    assert_eq!(Cost::of_tables(cells(1 << 20), n, 30), None);
    let chains = |n, k| plan_chains(n, 16, k).access_path;
    assert_eq!(
        (chains(1 << 18, 3), chains(1 << 18, 30)),
        (AccessPath::Rotations, AccessPath::Scan)
    );
    assert_eq!(chains(0, 3), AccessPath::Scan);
}

#[test]
fn shape_follows_from_the_numbers() {
    assert_eq!(Shape::choose(1000, 3, 48), Shape::Column);
    assert_eq!(Shape::choose(1_000_000, 3, 48), rotations(16));
    assert_eq!(Shape::choose(10_000_000, 3, 48), buckets(16, 6));
    assert_eq!(Shape::choose(100_000_000, 3, 48), cells(cell_count(100_000_000)));
    assert_eq!(Shape::choose(1_000_000, 3, 40), cells(cell_count(1_000_000)));
    assert_eq!(Shape::choose(1_000_000, 3, 20), Shape::Column);
    for n in [1_000_000, 10_000_000, 100_000_000] {
        for k in 0..=12 {
            assert!(Shape::choose(n, k, 48).bytes_each(n) <= 48.0);
        }
    }
}
