//! Leaders are those that a plain loop finds, however nodes crowd and however little memory there is.

use proptest::prelude::*;

use super::leaders::Leaders;
use crate::progress::Progress;
use crate::sort::Workspace;

/// For each node the number of its leader, and how far it is: the truth, by a plain loop.
fn naive(nodes: &[u64], k: u32) -> Vec<(usize, u32)> {
    let mut leaders: Vec<u64> = Vec::new();
    let mut belongs = Vec::new();
    for node in nodes {
        let near =
            leaders.iter().enumerate().map(|(number, of)| ((of ^ node).count_ones(), number));
        let nearest = near.filter(|(distance, _)| *distance <= k).min();
        let (distance, number) = nearest.unwrap_or((0, leaders.len()));
        if nearest.is_none() {
            leaders.push(*node);
        }
        belongs.push((number, distance));
    }
    belongs
}

/// What the joins find, a batch after the other.
fn found(nodes: &[u64], k: u32, memory_bytes: usize) -> Vec<(usize, u32)> {
    let dir = tempfile::tempdir().unwrap();
    let work = Workspace::new(Some(dir.path().to_owned()), memory_bytes);
    let mut leaders = Leaders::new(k, &work);
    let mut belongs = Vec::new();
    let mut end = 0;
    while belongs.len() < nodes.len() {
        // What was taken before and is left over comes first.
        end = nodes.len().min(end.max(belongs.len() + leaders.wants()));
        let batch = &nodes[belongs.len()..end];
        let settled = leaders.settle(batch, &Progress::default()).unwrap();
        assert!(!settled.is_empty());
        belongs.extend(settled.into_iter().map(|of| (of.leader as usize, of.distance.into())));
    }
    assert_eq!(
        leaders.len() as usize,
        belongs.iter().filter(|(_, distance)| *distance == 0).count()
    );
    belongs
}

fn check(nodes: &[u64], k: u32, memory_bytes: usize) {
    let (found, truth) = (found(nodes, k, memory_bytes), naive(nodes, k));
    let wrong = found.iter().zip(&truth).position(|(found, truth)| found != truth);
    assert_eq!(wrong.map(|at| (at, found[at], truth[at])), None, "k = {k}, {} nodes", nodes.len());
}

/// Distinct fingerprints in an order of their own, most of them some bits from one of a few.
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
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn leaders_are_those_of_a_plain_loop(
        n in 0usize..3000,
        centres in 1usize..40,
        bits in 0u32..12,
        k in prop_oneof![0u32..12, 12u32..=64],
        seed: u64,
    ) {
        check(&crowded(n, centres, bits, seed), k, 1 << 20);
    }
}

#[test]
fn many_batches_find_what_one_does() {
    let nodes = crowded(60_000, 9_000, 6, 7);
    for (k, memory_bytes) in [(3, 64 << 20), (3, 1 << 20), (1, 64 << 20), (8, 64 << 20)] {
        check(&nodes, k, memory_bytes);
    }
}

#[test]
fn a_crowd_is_halved_until_its_leaders_take_it_away() {
    // More pairs than are taken at once, again and again.
    check(&crowded(20_000, 3, 10, 1), 6, 64 << 20);
    check(&crowded(20_000, 1, 4, 2), 8, 64 << 20);
    check(&crowded(5_000, 50, 9, 3), 64, 64 << 20);
}

#[test]
fn a_chain_of_small_steps_is_no_cluster() {
    // Each is a bit from the one before: in this order, each k + 1 are led by the first of them.
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
