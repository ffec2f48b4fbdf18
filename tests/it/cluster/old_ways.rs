//! An earlier method to find pairs, as a reference: rotate all fingerprints, sort them, and compare
//! neighbours. The candidates are those of a lecture; the missed pairs are counted.

use std::collections::BTreeSet;
use std::convert::Infallible;
use std::ops::ControlFlow;
use std::sync::Mutex;

use simkeep::Progress;
use simkeep::join::Join;
use simkeep_testing::choice;

/// Returns the index pairs that are adjacent when fingerprints of `bits` bits are sorted after each
/// rotation.
fn neighbours(fingerprints: &[u64], bits: u32) -> BTreeSet<(usize, usize)> {
    let rotated = |fingerprint: u64, by: u32| {
        let mask = u64::MAX >> (64 - bits);
        (fingerprint << by | fingerprint.checked_shr(bits - by).unwrap_or(0)) & mask
    };
    let mut found = BTreeSet::new();
    for by in 0..bits {
        let mut order: Vec<usize> = (0..fingerprints.len()).collect();
        order.sort_by_key(|at| (rotated(fingerprints[*at], by), *at));
        found.extend(order.windows(2).map(|two| (two[0].min(two[1]), two[0].max(two[1]))));
    }
    found
}

/// All pairs within a distance, by comparing all fingerprints with each other.
fn all_pairs(fingerprints: &[u64], k: u32) -> BTreeSet<(usize, usize)> {
    let near = |(left, right): &(usize, usize)| {
        (fingerprints[*left] ^ fingerprints[*right]).count_ones() <= k
    };
    let n = fingerprints.len();
    (0..n).flat_map(|left| (left + 1..n).map(move |right| (left, right))).filter(near).collect()
}

fn joined(fingerprints: &[u64], k: u32) -> BTreeSet<(usize, usize)> {
    let found = Mutex::new(BTreeSet::new());
    let end: Result<_, Infallible> =
        Join::within(k).run(fingerprints, &Progress::default(), |pairs| {
            let places = pairs.iter().map(|pair| (pair.left as usize, pair.right as usize));
            found.lock().unwrap().extend(places);
            ControlFlow::Continue(())
        });
    assert_eq!(end, Ok(ControlFlow::Continue(())));
    found.into_inner().unwrap()
}

/// The numbers of the lecture, in its order.
const LECTURE: [u64; 8] = [37586, 50086, 2648, 934, 40957, 2650, 64475, 40955];

/// The sorted order after a rotation, counted from 1, and the distances of neighbours.
fn sorted(by: u32) -> ([usize; 8], Vec<u32>) {
    let rotated = |n: u64| (n << by | n >> (16 - by)) & 0xffff;
    let mut order: [usize; 8] = std::array::from_fn(|at| at);
    order.sort_by_key(|at| rotated(LECTURE[*at]));
    let apart = |two: &[usize]| (LECTURE[two[0]] ^ LECTURE[two[1]]).count_ones();
    (order.map(|at| at + 1), order.windows(2).map(apart).collect())
}

#[test]
fn sorted_neighbours_match_the_lecture() {
    assert_eq!(sorted(0), ([4, 3, 6, 1, 8, 5, 2, 7], vec![9, 1, 5, 6, 2, 9, 9]));
    assert_eq!(sorted(2), ([4, 2, 3, 6, 1, 8, 5, 7], vec![2, 11, 1, 5, 6, 2, 6]));
    let candidates = neighbours(&LECTURE, 16);
    assert_eq!(candidates.len(), 22);
    let near = all_pairs(&LECTURE, 3);
    assert_eq!(near, BTreeSet::from([(1, 3), (2, 5), (4, 7)]));
    assert!(near.is_subset(&candidates));
    assert_eq!(joined(&LECTURE, 3), near);
}

/// The ratio of near pairs that are neighbours in some rotation.
fn recall(fingerprints: &[u64], k: u32) -> (usize, f64) {
    let near = joined(fingerprints, k);
    let found = neighbours(fingerprints, 64).intersection(&near).count();
    (near.len(), found as f64 / near.len() as f64)
}

#[test]
fn sorted_neighbours_find_sparse_pairs_and_miss_dense_ones() {
    let mut choose = choice(1);
    // Unrelated pairs, a few bits from each other.
    let mut strangers = Vec::new();
    for _ in 0..4000 {
        let one = choose(u64::MAX);
        let flips = (0..1 + choose(3)).fold(one, |near, _| near ^ 1 << choose(64));
        strangers.extend([one, flips]);
    }
    let (pairs, found) = recall(&strangers, 3);
    assert!(pairs >= 3900, "{pairs}");
    assert!(found > 0.99, "{found}");
    // Around a few centres, many fingerprints each.
    let centres: Vec<u64> = (0..40).map(|_| choose(u64::MAX)).collect();
    let crowd: Vec<u64> = (0..8000)
        .map(|at| (0..choose(4)).fold(centres[at % 40], |near, _| near ^ 1 << choose(64)))
        .collect();
    let (pairs, found) = recall(&crowd, 3);
    assert!(pairs > 50_000, "{pairs}");
    assert!(found < 0.5, "neighbours are few, whatever there is: {found}");
}

#[test]
fn double_loop_and_join_find_the_same_pairs() {
    let mut choose = choice(2);
    let some: Vec<u64> = (0..500)
        .map(|_| (0..choose(6)).fold(0x0123_4567_89ab_cdef, |near, _| near ^ 1 << choose(64)))
        .collect();
    for k in [0, 1, 3, 8, 64] {
        assert_eq!(joined(&some, k), all_pairs(&some, k));
    }
}
