//! Tests that distributed joins find what a double loop finds, for any split.

use std::ops::ControlFlow;
use std::sync::Mutex;

use super::join::{all_pairs, skewed};
use super::*;
use crate::progress::Progress;
use crate::search::{Chunk, Histogram, JoinPlan, Partitioner};

/// Finds the pairs of different fingerprints within `k` bits, in order, the smaller fingerprint of
/// each first.
fn truth(fingerprints: &[u64], k: u32) -> Vec<([u64; 2], u32)> {
    let mut different = fingerprints.to_vec();
    different.sort_unstable();
    different.dedup();
    let pairs = all_pairs(&different, k);
    let mut pairs: Vec<_> =
        pairs.into_iter().map(|pair| (pair.fingerprints, pair.distance)).collect();
    pairs.sort_unstable();
    pairs
}

/// Distributes the fingerprints of several places, and runs the tasks: returns the pairs in order,
/// and the maximum number of fingerprints of a task.
fn shared(
    places: &[Vec<u64>],
    k: u32,
    buckets: u32,
    ranges: u32,
    most: u64,
) -> (Vec<([u64; 2], u32)>, u64) {
    let mut histogram = Histogram::within(k, buckets);
    for place in places {
        let mut own = Histogram::within(k, buckets);
        own.add(place);
        assert!(histogram.merge(&Histogram::from_bytes(&own.to_bytes()).unwrap()));
    }
    let plan = JoinPlan::new(&histogram, ranges, most);
    assert_eq!(plan, JoinPlan::new(&histogram, ranges, most));
    found_by(&plan, places)
}

/// Distributes the fingerprints of several places to the tasks of a plan, and runs the tasks.
fn found_by(plan: &JoinPlan, places: &[Vec<u64>]) -> (Vec<([u64; 2], u32)>, u64) {
    let mut received = vec![[Vec::new(), Vec::new()]; plan.tasks().len()];
    for place in places {
        let mut partitioner = Partitioner::new(plan, 0);
        let mut take = |chunk: Chunk| {
            assert!(chunk.fingerprints.len() <= 1024);
            received[chunk.task as usize][usize::from(chunk.is_second)].extend(chunk.fingerprints);
            ControlFlow::Continue(())
        };
        assert!(place.chunks(1000).all(|some| partitioner.add(some, &mut take).is_continue()));
        assert!(partitioner.end(&mut take).is_continue());
    }
    let (found, mut largest) = (Mutex::new(Vec::new()), 0);
    for (task, sides) in plan.tasks().iter().zip(received) {
        assert!(task.is_across() || sides[1].is_empty());
        largest = largest.max(sides.iter().map(Vec::len).sum::<usize>() as u64);
        let sink = |pairs: &[Pair]| {
            let pairs = pairs.iter().map(|pair| (pair.fingerprints, pair.distance));
            found.lock().unwrap().extend(pairs);
            ControlFlow::Continue(())
        };
        let join = Join::within(0).threads(1).memory_bytes(1 << 20);
        assert!(task.run(sides, join, &Progress::default(), sink).is_continue());
    }
    let mut found = found.into_inner().unwrap();
    found.sort_unstable();
    (found, largest)
}

/// Splits fingerprints among `count` places, some to two places.
fn places(fingerprints: &[u64], count: usize) -> Vec<Vec<u64>> {
    let mut places = vec![Vec::new(); count];
    for (at, fingerprint) in fingerprints.iter().enumerate() {
        places[at % count].push(*fingerprint);
        if at % 5 == 0 {
            places[at / 5 % count].push(*fingerprint);
        }
    }
    for place in &mut places {
        place.sort_unstable();
        place.dedup();
    }
    places
}

#[test]
fn partitioned_join_matches_a_double_loop() {
    for kind in KINDS {
        let fingerprints = fingerprints(kind, 700, 61);
        let places = places(&fingerprints, 3);
        for k in [0, 1, 2, 3, 4, 7, 10, 14, 15, 31, 64, 65] {
            let truth = truth(&fingerprints, k);
            for (buckets, ranges, most) in
                [(4096, 4, u64::MAX), (1, 1, u64::MAX), (4096, 64, 100), (64, 16, 200), (2, 1, 300)]
            {
                let (found, _) = shared(&places, k, buckets, ranges, most);
                assert!(
                    found == truth,
                    "{kind:?} within {k}, {buckets} buckets, {ranges} ranges of {most}: {} of {}",
                    found.len(),
                    truth.len()
                );
            }
            for tasks in [0, 1, 2, 3, 100] {
                let plan = JoinPlan::uncounted(k, tasks);
                let (found, _) = found_by(&plan, &places);
                assert!(found == truth, "{kind:?} within {k} by {tasks} tasks that have all");
                let most = if k <= 14 { k as usize + 1 } else { 1 };
                assert!((1..=most.min(tasks.max(1) as usize)).contains(&plan.tasks().len()));
            }
        }
    }
}

#[test]
fn tasks_are_of_similar_size_for_any_bits() {
    // Fingerprints that are evenly spread; with sixteen bits that never change; with few bits that
    // change.
    let spread = |n: u64| n.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let biased = |n: u64| spread(n) & !0xffff_0000_0000 | 0x1234_0000_0000;
    let sets: [Vec<u64>; 3] =
        [(0..8_000).map(spread).collect(), (0..8_000).map(biased).collect(), skewed(4_000, 62)];
    for (set, fingerprints) in sets.iter().enumerate() {
        let places = places(fingerprints, 4);
        let all = places.iter().map(Vec::len).sum::<usize>() as u64;
        let truth = truth(fingerprints, 3);
        for ranges in [4, 16, 64] {
            let most = all / 2;
            let (found, largest) = shared(&places, 3, 4096, ranges, most);
            assert!(found == truth, "set {set}, {ranges} ranges");
            let mean = 4 * all / u64::from(ranges);
            // If one value of a part has all fingerprints, they are split into pieces.
            assert!(largest <= most + most / 10, "set {set}, {ranges} ranges: {largest} of {all}");
            if set == 0 {
                assert!(largest <= mean + mean / 2, "{ranges} ranges: {largest}, not {mean}");
            }
        }
    }
}

#[test]
fn invalid_histogram_bytes_are_refused() {
    let mut histogram = Histogram::within(3, 64);
    histogram.add(&[1, 2, 3]);
    let bytes = histogram.to_bytes();
    assert_eq!((bytes.len(), histogram.fingerprints()), (8 + 4 * 64 * 8, 3));
    assert_eq!(Histogram::from_bytes(&bytes), Some(histogram.clone()));
    assert_eq!(Histogram::from_bytes(&bytes[..bytes.len() - 1]), None);
    assert_eq!(Histogram::from_bytes(&[&bytes[..], &[0]].concat()), None);
    assert_eq!(Histogram::from_bytes(&bytes[..7]), None);
    for (at, wrong) in [(0, 4), (0, 65), (0, 15), (4, 7), (4, 21), (3, 1), (7, 1)] {
        let mut bytes = bytes.clone();
        bytes[at] = wrong;
        assert_eq!(Histogram::from_bytes(&bytes), None, "{wrong} at {at}");
    }
    assert!(
        !histogram.merge(&Histogram::within(3, 128)) && !histogram.merge(&Histogram::within(2, 64))
    );
    assert_eq!(histogram.fingerprints(), 3);
    // No number of fingerprints leads to more tasks than a task number can represent.
    let mut bytes = bytes;
    bytes[8..].fill(0xff);
    let histogram = Histogram::from_bytes(&bytes).unwrap();
    assert!(JoinPlan::new(&histogram, u32::MAX, 0).tasks().len() < 1 << 30);
}
