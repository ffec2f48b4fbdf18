//! The pigeonhole principle, the order and the plan.

use std::collections::HashSet;

use super::super::plan::follow_chains;
use super::super::probe::{Block, Probes, Reach};
use super::*;

#[test]
fn reaches_add_up_to_one_more_than_the_distance() {
    for k in 0..=64 {
        let reaches = Block::ALL.map(|block| Reach::within(k).of(block));
        assert_eq!(reaches.iter().sum::<u32>(), k + 1);
        assert!(reaches.iter().max().unwrap() - reaches.iter().min().unwrap() <= 1);
    }
    assert_eq!(Block::ALL.map(|block| Reach::within(4).of(block)), [2, 1, 1, 1]);
    assert_eq!(Block::ALL.map(|block| Reach::within(1).of(block)), [1, 1, 0, 0]);
}

#[test]
fn probes_are_the_buckets_within_the_reach_each_once() {
    let fingerprint = 0x0123_4567_89ab_cdef;
    for (bits, k) in [(0, 64), (1, 3), (4, 0), (4, 9), (5, 64), (8, 12), (16, 3), (16, 8)] {
        let reach = Reach::within(k);
        let probes: Vec<_> = Probes::new(fingerprint, bits, reach).collect();
        let mut truth = HashSet::new();
        for (block, name) in Block::ALL.into_iter().zip(0..) {
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
fn blocks_and_planes_are_cut_from_the_top() {
    let fingerprint = 0x0123_4567_89ab_cdef;
    assert_eq!(Block::ALL.map(|b| b.bucket(fingerprint, 16)), [0x0123, 0x4567, 0x89ab, 0xcdef]);
    assert_eq!(Block::ALL.map(|b| b.bucket(fingerprint, 4)), [0x0, 0x4, 0x8, 0xc]);
    assert_eq!(
        Block::ALL.map(|b| b.plane(fingerprint)),
        [0x4567_89ab, 0x89ab_cdef, 0xcdef_0123, 0x0123_4567]
    );
}

#[test]
fn directories_stay_small_against_their_entries() {
    assert_eq!([0, 1, 128, 129, 512, 513].map(rotation_bits), [4, 4, 4, 5, 6, 7]);
    assert_eq!([1 << 19, (1 << 19) + 1, u32::MAX].map(rotation_bits), [16, 16, 16]);
    assert!(!has_rotations(1023) && has_rotations(1024));
}

#[test]
fn shards_know_where_each_popcount_starts() {
    let fingerprints = canonical(fingerprints(Kind::Biased, 3000, 3));
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
    assert_eq!(Shards::read(&Bytes(shards.to_bytes().to_vec())), Ok(shards));
}

#[test]
fn canonical_order_is_by_popcount_then_by_value() {
    let mut fingerprints = [u64::MAX, 0b11, 0b100, 0, 0b1];
    fingerprints.sort_by(|a, b| canonical_order(*a, *b));
    assert_eq!(fingerprints, [0, 0b1, 0b100, 0b11, u64::MAX]);
}

#[test]
fn narrow_queries_use_rotations_and_wide_ones_scan() {
    let n = 1_000_000;
    for k in 0..=8 {
        let plan = plan(n, Some(16), k, n / 2);
        assert_eq!(plan.way, Way::Rotations, "{k}");
        assert!(plan.probes > 0 && plan.candidates > 0.0 && plan.cost_ns > 0.0);
    }
    assert_eq!(plan(n, Some(16), 3, n / 2).probes, 4);
    assert_eq!(plan(n, Some(16), 8, n / 2).probes, 137 + 3 * 17);
    for k in [20, 30, 64, u32::MAX] {
        assert_eq!(plan(n, Some(16), k, n), plan(n, None, k, n));
    }
    assert_eq!(plan(n, None, 3, n / 2).way, Way::Shards);
    assert_eq!(plan(n, Some(16), 3, 0).way, Way::Shards);
    assert!(follow_chains(1 << 18, 16, 3) && !follow_chains(1 << 18, 16, 30));
    assert!(!follow_chains(0, 8, 3));
}
