//! What fingerprints get right, by distance.

use std::ops::ControlFlow;
use std::sync::Mutex;

use simkeep::Progress;
use simkeep::fingerprint::Recipe;
use simkeep::join::Join;

use super::K_MAX;
use super::truth::Truth;

/// What fingerprints within a distance of each other are.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Score {
    pub(super) k: u32,
    /// Pairs within `k` bits.
    pub(super) pairs: u64,
    /// The share of them that is near by the lenient measure; none of no pairs.
    pub(super) lenient: Option<f64>,
    /// By the strict one.
    pub(super) strict: Option<f64>,
    /// The share of all that are near by the strict measure.
    pub(super) recall: Option<f64>,
}

/// The scores of a recipe.
#[derive(Clone, Debug)]
pub(super) struct Scores(Vec<Score>);

/// Pairs of one distance: all, and those near by either measure.
#[derive(Clone, Copy, Default)]
struct Counts {
    pairs: u64,
    lenient: u64,
    strict: u64,
}

impl Scores {
    /// Compares all fingerprints with each other.
    pub(super) fn of(
        fingerprints: &[u64],
        recipe: &Recipe,
        truth: &Truth,
        threads: usize,
    ) -> Scores {
        let k_max = u32::try_from(K_MAX).unwrap_or(0);
        let found = Mutex::new(vec![Counts::default(); k_max as usize + 1]);
        let compared: Vec<u64> = fingerprints.iter().map(|bits| bits & recipe.mask()).collect();
        let joined = Join::within(k_max).threads(threads);
        let joined = joined.run(&compared[..], &Progress::default(), |pairs| {
            let mut found = found.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
            for pair in pairs {
                if let Some(counts) = found.get_mut(pair.distance as usize) {
                    let near = truth.of(pair.left, pair.right);
                    counts.pairs += 1;
                    counts.lenient += u64::from(near.lenient);
                    counts.strict += u64::from(near.strict);
                }
            }
            ControlFlow::Continue(())
        });
        // Reading memory cannot fail.
        let Ok(_) = joined;
        let all = truth.strict();
        let mut sum = Counts::default();
        let found = found.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
        let scores = (0..).zip(found).map(|(k, counts)| {
            sum.pairs += counts.pairs;
            sum.lenient += counts.lenient;
            sum.strict += counts.strict;
            let share = |part: u64, of: u64| (of > 0).then(|| part as f64 / of as f64);
            Score {
                k,
                pairs: sum.pairs,
                lenient: share(sum.lenient, sum.pairs),
                strict: share(sum.strict, sum.pairs),
                recall: share(sum.strict, all),
            }
        });
        Scores(scores.collect())
    }

    /// All of them, by distance.
    pub(super) fn all(&self) -> &[Score] {
        &self.0
    }

    /// The one of a distance.
    pub(super) fn at(&self, k: u32) -> Score {
        let none = Score { k, pairs: 0, lenient: None, strict: None, recall: None };
        self.0.get(k as usize).copied().unwrap_or(none)
    }

    /// The widest distance that keeps to a strict precision.
    pub(super) fn best(&self, precision: f64) -> Option<Score> {
        let kept = |score: &&Score| score.strict.is_some_and(|strict| strict >= precision);
        self.0.iter().rfind(kept).copied()
    }
}
