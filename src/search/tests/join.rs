//! Tests that a join finds what a double loop finds, with any memory and number of threads.

use crate::progress::Progress;
use crate::search::Monitor;
use simkeep_testing::depth::up_to;
use std::ops::ControlFlow;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Instant;

use super::*;
use crate::search::kernel::PairKernel;

/// Finds all pairs by a double loop.
pub(super) fn all_pairs(fingerprints: &[u64], k: u32) -> Vec<Pair> {
    pairs_of_rows(fingerprints, 0..fingerprints.len(), k)
}

fn pair(fingerprints: &[u64], left: usize, right: usize) -> Pair {
    let both = [fingerprints[left], fingerprints[right]];
    let distance = (both[0] ^ both[1]).count_ones();
    Pair { left: left as u32, right: right as u32, fingerprints: both, distance }
}

fn pairs_of_rows(fingerprints: &[u64], rows: Range<usize>, k: u32) -> Vec<Pair> {
    let mut pairs = Vec::new();
    for left in rows {
        for right in left + 1..fingerprints.len() {
            let pair = pair(fingerprints, left, right);
            if pair.distance <= k {
                pairs.push(pair);
            }
        }
    }
    pairs
}

/// Finds all pairs in two threads with one popcount for each pair.
pub(super) fn all_pairs_of_many(fingerprints: &[u64], k: u32) -> Vec<Pair> {
    let next = AtomicUsize::new(0);
    let found = Mutex::new(Vec::new());
    thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                let kernel = crate::search::kernel::SearchKernel::fastest();
                let column: Vec<zerocopy::little_endian::U64> =
                    fingerprints.iter().copied().map(zerocopy::little_endian::U64::new).collect();
                let mut near = Vec::new();
                loop {
                    let left = next.fetch_add(1, Ordering::Relaxed);
                    let Some(&fingerprint) = fingerprints.get(left) else { break };
                    near.clear();
                    kernel.near_u64(&column[left + 1..], fingerprint, k, &mut near);
                    let pairs = near
                        .iter()
                        .map(|&after| pair(fingerprints, left, left + 1 + after as usize));
                    found.lock().unwrap().extend(pairs);
                }
            });
        }
    });
    let mut found = found.into_inner().unwrap();
    found.sort_unstable();
    found
}

pub(super) fn joined<S: Source + ?Sized>(join: Join, source: &S) -> Result<Vec<Pair>, S::Error> {
    let found = Mutex::new(Vec::new());
    let progress = Progress::default();
    let end = join.run(source, &progress, |pairs| {
        assert!(!pairs.is_empty());
        found.lock().unwrap().extend_from_slice(pairs);
        ControlFlow::Continue(())
    })?;
    assert_eq!(end, ControlFlow::Continue(()));
    assert_eq!(progress.fraction(), Some(1.0));
    let mut found = found.into_inner().unwrap();
    found.sort_unstable();
    Ok(found)
}

/// Checks all pairs, and the pairs across a border.
pub(super) fn check(fingerprints: &[u64], join: Join, truth: &[Pair]) {
    check_alone(fingerprints, join, truth);
    let n = fingerprints.len() as u32;
    let border = [1, n / 3, n / 2, n - n.min(5)][truth.len() % 4];
    let across: Vec<Pair> =
        truth.iter().filter(|pair| pair.left < border && border <= pair.right).copied().collect();
    check_alone(fingerprints, join.across(border), &across);
}

/// Checks the pairs of a join. The message has only the pairs that differ.
pub(super) fn check_alone(fingerprints: &[u64], join: Join, truth: &[Pair]) {
    let found = joined(join, fingerprints).unwrap();
    if found != truth {
        let wrong = found.iter().zip(truth).find(|(found, right)| found != right);
        panic!("{join:?}: {} pairs rather than {}, {wrong:?}", found.len(), truth.len());
    }
}

/// A source that counts its reads, and fails at one of them.
struct FailingSource<'f> {
    fingerprints: &'f [u64],
    reads: AtomicUsize,
    fails_at: usize,
}

impl Source for FailingSource<'_> {
    type Error = ColumnFault;

    fn len(&self) -> u32 {
        self.fingerprints.len() as u32
    }

    fn read<'a>(&'a self, at: Range<u32>, buffer: &'a mut [u64]) -> Result<&'a [u64], ColumnFault> {
        assert_eq!(buffer.len(), at.len());
        if self.reads.fetch_add(1, Ordering::Relaxed) == self.fails_at {
            return Err(ColumnFault::Damaged(at.start.into(), "fails"));
        }
        buffer.copy_from_slice(&self.fingerprints[at.start as usize..at.end as usize]);
        Ok(buffer)
    }
}

/// Returns ever fewer fingerprints with ever more copies.
pub(super) fn skewed(n: usize, seed: u64) -> Vec<u64> {
    let mut random = SplitMixRng(seed);
    let few: Vec<u64> = (0..8).map(|_| random.next()).collect();
    (0..n)
        .map(|_| match random.below(3) {
            0 => few[0],
            1 => {
                let at = random.below(8) as usize;
                random.near(few[at], 4)
            }
            _ => random.next() & 0xffff_ffff | 0x0123_4567_0000_0000,
        })
        .collect()
}

#[test]
fn every_distance_matches_a_double_loop() {
    for kind in KINDS {
        let fingerprints = fingerprints(kind, 700, 51);
        for k in 0..=65 {
            check(&fingerprints, Join::within(k).threads(1), &all_pairs(&fingerprints, k));
        }
    }
}

#[test]
fn skewed_fingerprints_are_joined_exactly() {
    let fingerprints = skewed(2_500, 52);
    for k in [0, 1, 3, 4, 5, 8, 12] {
        let truth = all_pairs(&fingerprints, k);
        for memory_bytes in [0, 1 << 28] {
            let join = Join::within(k).memory_bytes(memory_bytes);
            check(&fingerprints, join.threads(1), &truth);
            check(&fingerprints, join.threads(2), &truth);
        }
    }
}

#[test]
fn many_equal_fingerprints_are_paired_completely() {
    let mut fingerprints = vec![77; 1_500];
    fingerprints.extend([76; 700]);
    fingerprints.extend(self::fingerprints(Distribution::Even, 3_000, 53));
    for k in [0, 1, 3, 7] {
        let truth = all_pairs(&fingerprints, k);
        check(&fingerprints, Join::within(k), &truth);
        check(&fingerprints, Join::within(k).memory_bytes(0), &truth);
    }
}

#[test]
fn dense_cluster_is_joined_exactly_in_any_memory() {
    let many = up_to(9_000).max(3_000);
    for low_bits in [14, 20, 64] {
        let mut fingerprints = dense_fingerprints(low_bits, many, 57);
        // Adds a second dense set, copies, and unrelated fingerprints.
        fingerprints.extend(dense_fingerprints(13, 3_000, 58).iter().map(|f| f.rotate_left(31)));
        fingerprints.extend_from_within(..500);
        fingerprints.extend(self::fingerprints(Distribution::Even, 500, 59));
        for k in [1, 2, 3] {
            let truth = all_pairs_of_many(&fingerprints, k);
            assert!(truth.len() > 500);
            for memory_bytes in [0, 1 << 20, 1 << 28] {
                check(&fingerprints, Join::within(k).threads(2).memory_bytes(memory_bytes), &truth);
            }
        }
    }
}

#[test]
fn dense_cluster_takes_little_more_time_than_random_fingerprints() {
    let time = |fingerprints: &[u64]| {
        let times = (0..3).map(|_| {
            let start = Instant::now();
            let pairs = AtomicUsize::new(0);
            let end = Join::within(1).threads(1).run(fingerprints, &Progress::default(), |found| {
                pairs.fetch_add(found.len(), Ordering::Relaxed);
                ControlFlow::Continue(())
            });
            assert_eq!(end, Ok(ControlFlow::Continue(())));
            (start.elapsed(), pairs.into_inner())
        });
        times.min().unwrap()
    };
    let (strangers, _) = time(&fingerprints(Distribution::Even, 200_000, 60));
    let crowd = dense_fingerprints(20, 200_000, 60);
    let (took, pairs) = time(&crowd);
    // Each fingerprint has twenty possible neighbours; the sum counts the neighbours that exist.
    let known: std::collections::HashSet<u64> = crowd.iter().copied().collect();
    let neighbours = |f: &u64| (0..20).filter(|bit| known.contains(&(f ^ 1 << bit))).count();
    assert_eq!(pairs, crowd.iter().map(neighbours).sum::<usize>() / 2);
    // The join took 500 times as long when it compared all fingerprints with each other.
    assert!(took < 30 * strangers, "{took:?} compared with {strangers:?}");
}

#[test]
fn join_works_without_threads() {
    let fingerprints = fingerprints(Distribution::Clustered, 20_000, 54);
    let truth = all_pairs_of_many(&fingerprints, 3);
    crate::threads::refused::during(|| check(&fingerprints, Join::within(3).threads(4), &truth));
}

#[test]
fn zero_and_one_fingerprint_make_no_pairs() {
    check(&[], Join::within(64), &[]);
    check(&[5], Join::within(64), &[]);
    check(&[5, 5], Join::within(0), &[pair(&[5, 5], 0, 1)]);
}

#[test]
fn twenty_thousand_clustered_fingerprints_are_joined_exactly() {
    let fingerprints = fingerprints(Distribution::Clustered, 20_000, 54);
    let truth = all_pairs_of_many(&fingerprints, 3);
    assert!(truth.len() > 20_000);
    check(&fingerprints, Join::within(3).threads(2), &truth);
}

/// `cargo test --release --lib search -- --ignored hundred_thousand`
#[test]
#[ignore = "a double loop over 1e5 fingerprints takes seconds, optimised"]
fn a_hundred_thousand_clustered_fingerprints_are_joined_exactly() {
    let fingerprints = fingerprints(Distribution::Clustered, 100_000, 55);
    for k in [3, 7] {
        let truth = all_pairs_of_many(&fingerprints, k);
        println!("k = {k}: {} pairs", truth.len());
        assert!(truth.len() > 100_000);
        for threads in 1..=3 {
            for memory_bytes in [1 << 20, 1 << 28] {
                let join = Join::within(k).threads(threads).memory_bytes(memory_bytes);
                check(&fingerprints, join, &truth);
            }
        }
    }
}

#[test]
fn error_of_the_source_ends_the_join() {
    let fingerprints = fingerprints(Distribution::Clustered, 50_000, 56);
    for threads in 1..=2 {
        let join = Join::within(3).threads(threads).memory_bytes(1 << 18);
        let source =
            |fails_at| FailingSource { fingerprints: &fingerprints, reads: 0.into(), fails_at };
        let whole = source(usize::MAX);
        assert_eq!(joined(join, &whole), Ok(joined(join, &fingerprints[..]).unwrap()));
        let reads = whole.reads.into_inner();
        assert!(reads > 40, "{reads}");
        for fails_at in [0, 5, 13, reads / 2, reads - 1] {
            let error = joined(join, &source(fails_at)).unwrap_err();
            assert!(matches!(error, ColumnFault::Damaged(_, "fails")));
        }
        // The source fails before a separate pass is planned, while it is planned, and while it is
        // read.
        for fails_at in [0, 6, 12] {
            let error = joined(join.pass(2), &source(fails_at)).unwrap_err();
            assert!(matches!(error, ColumnFault::Damaged(_, "fails")));
        }
    }
}

#[test]
fn sink_that_breaks_ends_the_join() {
    let fingerprints = vec![3; 3_000];
    for threads in 1..=2 {
        let calls = AtomicUsize::new(0);
        let join = Join::within(0).threads(threads);
        let end = join.run(&fingerprints[..], &Progress::default(), |pairs| {
            assert!(pairs.len() <= 1024);
            calls.fetch_add(1, Ordering::Relaxed);
            ControlFlow::Break(())
        });
        assert_eq!(end, Ok(ControlFlow::Break(())));
        assert!(calls.into_inner() <= threads);
    }
}

#[test]
fn cancelled_join_ends_early() {
    let fingerprints = vec![3; 30_000];
    let progress = Progress::default();
    let calls = AtomicUsize::new(0);
    let end = Join::within(2).threads(1).run(&fingerprints[..], &progress, |_| {
        if calls.fetch_add(1, Ordering::Relaxed) == 2 {
            progress.cancel();
        }
        assert!(progress.fraction() < Some(1.0));
        ControlFlow::Continue(())
    });
    assert_eq!(end, Ok(ControlFlow::Break(())));
    assert!(calls.into_inner() <= 4);
    let end = Join::within(2).run(&fingerprints[..], &progress, |_| panic!("it is cancelled"));
    assert_eq!(end, Ok(ControlFlow::Break(())));
}

/// The reports of a join.
#[derive(Default)]
struct MonitorCounts {
    begun: AtomicUsize,
    done: AtomicUsize,
    finished: AtomicUsize,
}

impl Monitor for MonitorCounts {
    fn begin(&self, units: u64) {
        self.begun.store(units as usize, Ordering::Relaxed);
    }

    fn advance(&self, units: u64) {
        self.done.fetch_add(units as usize, Ordering::Relaxed);
    }

    fn finish(&self) {
        self.finished.fetch_add(1, Ordering::Relaxed);
    }
}

#[test]
fn join_reports_stages_and_finishes_only_if_complete() {
    let fingerprints = fingerprints(Distribution::Clustered, 40_000, 57);
    for flow in [ControlFlow::Continue(()), ControlFlow::Break(())] {
        let reports = MonitorCounts::default();
        let join = Join::within(3).memory_bytes(1 << 18);
        assert_eq!(join.run(&fingerprints[..], &reports, |_| flow), Ok(flow));
        let MonitorCounts { begun, done, finished } = reports;
        let (begun, done) = (begun.into_inner(), done.into_inner());
        assert_eq!(finished.into_inner(), usize::from(flow.is_continue()));
        assert!(0 < done && done <= begun, "{done} of {begun}");
    }
}

#[test]
fn progress_never_decreases() {
    let fingerprints = fingerprints(Distribution::Clustered, 40_000, 57);
    let progress = Progress::default();
    let last = Mutex::new(0.0);
    let join = Join::within(3).memory_bytes(1 << 18);
    let end = join.run(&fingerprints[..], &progress, |_| {
        let mut last = last.lock().unwrap();
        let fraction = progress.fraction().unwrap();
        assert!(*last <= fraction && fraction <= 1.0);
        *last = fraction;
        ControlFlow::Continue(())
    });
    assert_eq!(end, Ok(ControlFlow::Continue(())));
    assert!(last.into_inner().unwrap() > 0.5);
    assert_eq!(progress.fraction(), Some(1.0));
}

/// Returns sorted index pairs of near words.
fn near_between<W: Copy>(
    left: &[W],
    right: &[W],
    k: u32,
    distance: impl Fn(W, W) -> u32,
) -> Vec<[u32; 2]> {
    let mut near = Vec::new();
    for (row, &word) in (0..).zip(left) {
        for (column, &other) in (0..).zip(right) {
            if distance(word, other) <= k {
                near.push([row, column]);
            }
        }
    }
    near
}

fn sorted_near(mut near: Vec<[u32; 2]>) -> Vec<[u32; 2]> {
    near.sort_unstable();
    near
}

proptest! {
    #[test]
    fn any_join_matches_a_double_loop(
        kind in kinds(),
        n in 0_usize..1_500,
        seed: u64,
        k in prop_oneof![0_u32..=8, 0_u32..=66],
        memory_bytes in prop_oneof![Just(0_usize), 0_usize..1 << 20, Just(1 << 28)],
        threads in 1_usize..=3,
    ) {
        let fingerprints = fingerprints(kind, n, seed);
        let join = Join::within(k).memory_bytes(memory_bytes).threads(threads);
        check(&fingerprints, join, &all_pairs(&fingerprints, k.min(64)));
    }

    #[test]
    fn any_skewed_join_matches_a_double_loop(
        n in 500_usize..3_000,
        seed: u64,
        k in 0_u32..=5,
        memory_bytes in 0_usize..1 << 20,
        threads in 1_usize..=3,
    ) {
        let fingerprints = skewed(n, seed);
        let join = Join::within(k).memory_bytes(memory_bytes).threads(threads);
        check(&fingerprints, join, &all_pairs(&fingerprints, k));
    }

    #[test]
    fn all_kernels_compare_many_with_many_alike(
        kind in kinds(), n in 0_usize..120, m in 0_usize..120, seed: u64, k in 0_u32..=66,
    ) {
        let words = fingerprints(kind, n + m, seed);
        let (left, right) = words.split_at(n);
        let halves: Vec<u32> = words.iter().map(|word| (word >> 16) as u32).collect();
        let (left_halves, right_halves) = halves.split_at(n);
        let truth = near_between(left, right, k, |a, b| (a ^ b).count_ones());
        let truth_u32 = near_between(left_halves, right_halves, k, |a, b| (a ^ b).count_ones());
        let starts = [0, 1, 1, 30, 62, 95].map(|start: u32| start.min((n + m) as u32));
        let truth_within: Vec<[u32; 2]> = starts
            .windows(2)
            .flat_map(|run| {
                let words = &words[run[0] as usize..run[1] as usize];
                let found = if words.len() > 32 { Vec::new() } else { all_pairs(words, k) };
                found.into_iter().map(|pair| [run[0] + pair.left, run[0] + pair.right])
            })
            .collect();
        for kernel in PairKernel::available() {
            let (mut u64s, mut u32s, mut within) = (Vec::new(), Vec::new(), Vec::new());
            kernel.pairs_u64(left, right, false, k, &mut u64s);
            kernel.pairs_u32(left_halves, right_halves, false, k, &mut u32s);
            kernel.within(&words, &starts, k, &mut within);
            prop_assert_eq!(sorted_near(u64s), truth.clone(), "{}", kernel.name());
            prop_assert_eq!(sorted_near(u32s), truth_u32.clone(), "{}", kernel.name());
            prop_assert_eq!(sorted_near(within), truth_within.clone(), "{}", kernel.name());
            let mut ahead = Vec::new();
            kernel.ahead(&words, n, m % 9, k, &mut ahead);
            let mut near = near_between(left, &words, k, |a, b| (a ^ b).count_ones());
            near.retain(|[row, column]| row < column && column - row <= (m % 9) as u32);
            prop_assert_eq!(sorted_near(ahead), near, "{}", kernel.name());
            let (mut u64s, mut u32s) = (Vec::new(), Vec::new());
            kernel.pairs_u64(left, &words, true, k, &mut u64s);
            kernel.pairs_u32(left_halves, &halves, true, k, &mut u32s);
            let mut after = near_between(left, &words, k, |a, b| (a ^ b).count_ones());
            after.retain(|[row, column]| row < column);
            prop_assert_eq!(sorted_near(u64s), after, "{}", kernel.name());
            let mut after = near_between(left_halves, &halves, k, |a, b| (a ^ b).count_ones());
            after.retain(|[row, column]| row < column);
            prop_assert_eq!(sorted_near(u32s), after, "{}", kernel.name());
        }
    }
}
