//! Precision and recall of fingerprints, by distance.

use std::ops::ControlFlow;
use std::sync::{Mutex, PoisonError};

use simkeep::Progress;
use simkeep::join::Join;

use super::ground_truth::{GroundTruth, Nearness};

/// The largest distance to examine, in bits.
pub(super) const DISTANCE_MAX: u32 = 20;

/// The scores of the pairs within a distance.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct PairScore {
    /// The number of pairs within the distance.
    pub(super) pairs: u64,
    /// The fraction of these pairs that are near by the lenient measure; `None` without pairs.
    pub(super) lenient: Option<f64>,
    /// The fraction of these pairs that are near by the strict measure.
    pub(super) strict: Option<f64>,
    /// The fraction of all strictly near pairs that are within the distance.
    pub(super) recall: Option<f64>,
    /// The harmonic mean of recall and strict precision.
    pub(super) f1: Option<f64>,
}

/// Counts of the pairs that were found: all of them, and those that are near by either measure.
#[derive(Clone, Copy, Default)]
pub(super) struct FoundPairs {
    pairs: u64,
    lenient: u64,
    strict: u64,
}

impl FoundPairs {
    /// Counts a pair of this nearness.
    pub(super) fn count_pair(&mut self, near: Nearness) {
        self.add(FoundPairs { pairs: 1, lenient: near.lenient.into(), strict: near.strict.into() });
    }

    fn add(&mut self, other: FoundPairs) {
        self.pairs += other.pairs;
        self.lenient += other.lenient;
        self.strict += other.strict;
    }

    /// The score, if there are `all` strictly near pairs.
    pub(super) fn score(self, all: u64) -> PairScore {
        let share = |part: u64, of: u64| (of > 0).then(|| part as f64 / of as f64);
        PairScore {
            pairs: self.pairs,
            lenient: share(self.lenient, self.pairs),
            strict: share(self.strict, self.pairs),
            recall: share(self.strict, all),
            f1: share(2 * self.strict, self.pairs + all),
        }
    }
}

/// Compares all fingerprints with each other. Returns the score for each distance, from 0.
#[expect(clippy::indexing_slicing, reason = "no pair that is joined is farther apart")]
pub(super) fn by_distance(
    fingerprints: &[u64],
    truth: &GroundTruth,
    threads: usize,
) -> Vec<PairScore> {
    let found = Mutex::new([FoundPairs::default(); DISTANCE_MAX as usize + 1]);
    let join = Join::within(DISTANCE_MAX).threads(threads);
    // Joining fingerprints in memory cannot fail.
    let Ok(_) = join.run(fingerprints, &Progress::default(), |pairs| {
        let mut found = found.lock().unwrap_or_else(PoisonError::into_inner);
        for pair in pairs {
            found[pair.distance as usize].count_pair(truth.of(pair.left, pair.right));
        }
        ControlFlow::Continue(())
    });
    let all = truth.strict();
    let mut within = FoundPairs::default();
    let found = found.into_inner().unwrap_or_else(PoisonError::into_inner);
    let scores = found.into_iter().map(|at| {
        within.add(at);
        within.score(all)
    });
    scores.collect()
}
