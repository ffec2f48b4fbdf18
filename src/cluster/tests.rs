//! Compares leaders with a plain loop, for dense nodes and little memory.

use proptest::prelude::*;
use simkeep_testing::depth::{deep, up_to};

use super::leaders::{LeaderFinder, NodeBatch};
use crate::fingerprint::BitSketch;
use crate::progress::Progress;
use crate::sort::Workspace;

/// Nodes, and the sketches of their texts if texts decide.
type NodesAndSketches<'g> = (&'g [u64], Option<&'g [BitSketch]>);

/// The minimum resemblance of near texts; their sketches differ in at most 51 bits.
const RESEMBLANCE: f64 = 0.8;

/// The expected leader of each node and its distance, by a plain loop.
fn naive((nodes, texts): NodesAndSketches<'_>, k: u32) -> Vec<(usize, u32)> {
    let apart = |one: usize, other: usize| {
        let distance = (nodes[one] ^ nodes[other]).count_ones();
        let apart = texts.map_or(distance, |texts| texts[one].distance(&texts[other]));
        (distance <= k && (texts.is_none() || apart <= 51)).then_some(apart)
    };
    let mut leaders: Vec<usize> = Vec::new();
    let mut belongs = Vec::new();
    for node in 0..nodes.len() {
        let near = leaders.iter().enumerate();
        let nearest = near.filter_map(|(number, of)| Some((apart(*of, node)?, number))).min();
        let (distance, number) = nearest.unwrap_or((0, leaders.len()));
        if nearest.is_none() {
            leaders.push(node);
        }
        belongs.push((number, distance));
    }
    belongs
}

/// The leader of each node and its distance, by [`Leaders`], batch by batch.
fn found((nodes, texts): NodesAndSketches<'_>, k: u32, memory_bytes: usize) -> Vec<(usize, u32)> {
    let dir = tempfile::tempdir().unwrap();
    let work = Workspace::new(Some(dir.path().to_owned()), memory_bytes);
    let mut leaders = match texts {
        None => LeaderFinder::new(k, &work),
        Some(_) => LeaderFinder::of_texts(k, RESEMBLANCE, &work),
    };
    let (mut belongs, mut leading) = (Vec::new(), 0);
    let mut end = 0;
    while belongs.len() < nodes.len() {
        // Nodes left over from the previous batch come first.
        end = nodes.len().min(end.max(belongs.len() + leaders.wants()));
        let batch = belongs.len()..end;
        let texts = texts.map_or(&[][..], |texts| &texts[batch.clone()]);
        let batch = NodeBatch { fingerprints: &nodes[batch], texts };
        let settled = leaders.assign(batch, &Progress::default()).unwrap();
        assert!(!settled.is_empty());
        leading += settled.iter().filter(|of| of.leads).count();
        belongs.extend(settled.into_iter().map(|of| (of.leader as usize, of.apart.into())));
    }
    assert_eq!(leaders.len() as usize, leading);
    belongs
}

fn check(nodes: &[u64], k: u32, memory_bytes: usize) {
    check_nodes((nodes, None), k, memory_bytes);
}

fn check_nodes(given: NodesAndSketches<'_>, k: u32, memory_bytes: usize) {
    let (found, truth) = (found(given, k, memory_bytes), naive(given, k));
    let wrong = found.iter().zip(&truth).position(|(found, truth)| found != truth);
    assert_eq!(
        wrong.map(|at| (at, found[at], truth[at])),
        None,
        "k = {k}, {} nodes",
        given.0.len()
    );
}

/// Makes sketches of texts, most of which differ in a few bits from one of `centres` sketches.
fn sketches(n: usize, centres: u64, bits: u64, seed: u64) -> Vec<BitSketch> {
    let mut state = seed;
    let mut random = || {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state ^ state >> 29) >> 16
    };
    let of_centre = |centre: u64| {
        let digest = |n: u64| xxhash_rust::xxh3::xxh3_64_with_seed(&n.to_le_bytes(), centre);
        let numbers: Vec<u8> = (0..8).flat_map(|n| digest(n).to_le_bytes()).collect();
        <[u8; 64]>::try_from(numbers).unwrap()
    };
    let sketch = |_| {
        let mut bytes = of_centre(random() % centres);
        for _ in 0..random() % (bits + 1) {
            let bit = usize::try_from(random() % 512).unwrap();
            bytes[bit / 8] ^= 1 << (bit % 8);
        }
        BitSketch::from_bytes(bytes)
    };
    (0..n).map(sketch).collect()
}

/// Makes distinct fingerprints in random order, most of which differ in a few bits from one of
/// `centres` fingerprints.
fn crowded(n: usize, centres: usize, bits: u32, seed: u64) -> Vec<u64> {
    let mut state = seed;
    let mut random = || {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        state ^ state >> 29
    };
    let centres: Vec<u64> = (0..centres).map(|_| random()).collect();
    let mut nodes = Vec::new();
    let mut seen = std::collections::HashSet::new();
    while nodes.len() < n {
        let mut node = centres[usize::try_from(random() >> 40).unwrap() % centres.len()];
        for _ in 0..random() % u64::from(bits + 1) {
            node ^= 1 << (random() >> 13 & 63);
        }
        if random() % 4 == 0 {
            node = random();
        }
        if seen.insert(node) {
            nodes.push(node);
        }
    }
    nodes
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(u32::try_from(deep(400)).unwrap()))]
    #[test]
    fn leaders_match_a_plain_loop(
        n in 0usize..3000,
        centres in 1usize..40,
        bits in 0u32..12,
        k in prop_oneof![0u32..12, 12u32..=64],
        seed: u64,
    ) {
        check(&crowded(n, centres, bits, seed), k, 1 << 20);
    }

    #[test]
    fn leaders_decided_by_text_match_a_plain_loop(
        n in 0usize..2500,
        centres in (1usize..40, 1u64..60),
        bits in (0u32..8, 0u64..60),
        k in prop_oneof![0u32..12, 12u32..=64],
        // With mask 0, all fingerprints are equal.
        mask in prop_oneof![Just(u64::MAX), Just(0), Just(0xff), Just(0xffff)],
        seed: u64,
    ) {
        let nodes = crowded(n, centres.0, bits.0, seed);
        let nodes: Vec<u64> = nodes.into_iter().map(|node| node & mask).collect();
        let sketches = sketches(n, centres.1, bits.1, seed);
        check_nodes((&nodes, Some(&sketches)), k, 1 << 20);
    }
}

#[test]
fn many_text_batches_match_one_batch() {
    let nodes = up_to(30_000).max(6_000);
    let (nodes, sketches) = (crowded(nodes, nodes / 10, 6, 7), sketches(nodes, 2, 70, 7));
    for (k, memory_bytes) in [(8, 64 << 20), (8, 1 << 20), (0, 1 << 20)] {
        check_nodes((&nodes, Some(&sketches)), k, memory_bytes);
    }
}

#[test]
fn many_batches_match_one_batch() {
    let nodes = deep(200_000).clamp(10_000, 60_000) as usize;
    let nodes = crowded(nodes, nodes * 3 / 20, 6, 7);
    for (k, memory_bytes) in [(3, 64 << 20), (3, 1 << 20), (1, 64 << 20), (8, 64 << 20)] {
        check(&nodes, k, memory_bytes);
    }
}

#[test]
fn dense_cluster_is_split_until_leaders_absorb_it() {
    // These nodes repeatedly have more pairs than one batch allows.
    check(&crowded(20_000, 3, 10, 1), 6, 64 << 20);
    check(&crowded(20_000, 1, 4, 2), 8, 64 << 20);
    check(&crowded(5_000, 50, 9, 3), 64, 64 << 20);
}

#[test]
fn chain_of_small_steps_is_not_one_cluster() {
    // Each node is one bit from the previous node. In this order, the first of each k + 1 nodes
    // leads the other nodes.
    let mut nodes = vec![0_u64];
    let mut state = 1_u64;
    let mut seen: std::collections::HashSet<u64> = nodes.iter().copied().collect();
    while nodes.len() < 20_000 {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(3);
        let next = nodes[nodes.len() - 1] ^ 1 << (state >> 58);
        if seen.insert(next) {
            nodes.push(next);
        }
    }
    check(&nodes, 3, 64 << 20);
    check(&nodes, 8, 64 << 20);
}
