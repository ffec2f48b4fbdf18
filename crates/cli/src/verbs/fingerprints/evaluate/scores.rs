//! What fingerprints get right, by distance.

use std::ops::ControlFlow;
use std::sync::{Mutex, PoisonError};

use simkeep::Progress;
use simkeep::join::Join;

use super::truth::{Nearness, Truth};

/// The widest distance that is looked at.
pub(super) const DISTANCE_MAX: u32 = 20;

/// What the pairs within a distance of each other are.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Score {
    /// Pairs within the distance.
    pub(super) pairs: u64,
    /// The share of them that is near by the lenient measure; none of no pairs.
    pub(super) lenient: Option<f64>,
    /// By the strict one.
    pub(super) strict: Option<f64>,
    /// The share of all that are near by the strict measure.
    pub(super) recall: Option<f64>,
    /// The harmonic mean of recall and of precision by the strict measure.
    pub(super) f1: Option<f64>,
}

/// The pairs that are found: how many, and how many of them are near by either measure.
#[derive(Clone, Copy, Default)]
pub(super) struct Found {
    pairs: u64,
    lenient: u64,
    strict: u64,
}

impl Found {
    /// A pair that is as near as this.
    pub(super) fn see(&mut self, near: Nearness) {
        self.add(Found { pairs: 1, lenient: near.lenient.into(), strict: near.strict.into() });
    }

    fn add(&mut self, other: Found) {
        self.pairs += other.pairs;
        self.lenient += other.lenient;
        self.strict += other.strict;
    }

    /// The score, if `all` pairs are near by the strict measure.
    pub(super) fn score(self, all: u64) -> Score {
        let share = |part: u64, of: u64| (of > 0).then(|| part as f64 / of as f64);
        Score {
            pairs: self.pairs,
            lenient: share(self.lenient, self.pairs),
            strict: share(self.strict, self.pairs),
            recall: share(self.strict, all),
            f1: share(2 * self.strict, self.pairs + all),
        }
    }
}

/// Compares all fingerprints with each other, and scores those within each distance from 0 on.
#[expect(clippy::indexing_slicing, reason = "no pair that is joined is farther apart")]
pub(super) fn by_distance(fingerprints: &[u64], truth: &Truth, threads: usize) -> Vec<Score> {
    let found = Mutex::new([Found::default(); DISTANCE_MAX as usize + 1]);
    let join = Join::within(DISTANCE_MAX).threads(threads);
    // Reading memory cannot fail.
    let Ok(_) = join.run(fingerprints, &Progress::default(), |pairs| {
        let mut found = found.lock().unwrap_or_else(PoisonError::into_inner);
        for pair in pairs {
            found[pair.distance as usize].see(truth.of(pair.left, pair.right));
        }
        ControlFlow::Continue(())
    });
    let all = truth.strict();
    let mut within = Found::default();
    let found = found.into_inner().unwrap_or_else(PoisonError::into_inner);
    let scores = found.into_iter().map(|at| {
        within.add(at);
        within.score(all)
    });
    scores.collect()
}
