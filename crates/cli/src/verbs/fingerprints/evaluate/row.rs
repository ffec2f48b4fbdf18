//! The scores of one recipe or signature: the mean over its hashes, at each distance.

use super::scores::PairScore;

/// The scores of a recipe or signature.
#[derive(Clone, Debug)]
pub(super) struct RecipeScores {
    /// The name that the user gave.
    pub(super) name: String,
    /// The full name.
    pub(super) recipe: String,
    /// The advised distance in bits, if there is one.
    pub(super) advised: Option<usize>,
    /// The number of hash seeds over which the figures are averaged.
    pub(super) seeds: usize,
    /// The figures by distance, from 0. A signature, which is equal or not, has only the distance
    /// 0.
    pub(super) at: Vec<MeanScores>,
}

/// The means of scores.
#[derive(Clone, Copy, Debug)]
pub(super) struct MeanScores {
    pub(super) pairs: SeedMean,
    pub(super) lenient: Option<SeedMean>,
    pub(super) strict: Option<SeedMean>,
    pub(super) recall: Option<SeedMean>,
    pub(super) f1: Option<SeedMean>,
}

/// The mean of some numbers, and their deviation.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct SeedMean {
    pub(super) mean: f64,
    /// The standard deviation of a sample (with n - 1); `None` for a single number.
    pub(super) deviation: Option<f64>,
}

impl RecipeScores {
    /// Averages the scores by distance: `hashes` has a list of scores for each hash.
    pub(super) fn new(
        name: String,
        recipe: String,
        advised: Option<usize>,
        hashes: &[Vec<PairScore>],
    ) -> RecipeScores {
        let distances = hashes.iter().map(Vec::len).min().unwrap_or(0);
        let at = |k: usize| {
            let scores: Vec<PairScore> =
                hashes.iter().filter_map(|hash| hash.get(k).copied()).collect();
            MeanScores::of(&scores)
        };
        RecipeScores {
            name,
            recipe,
            advised,
            seeds: hashes.len(),
            at: (0..distances).filter_map(at).collect(),
        }
    }

    /// The smallest distance with the highest F1. `None` if no pair is found at any distance.
    pub(super) fn best(&self) -> Option<usize> {
        let f1 = |(k, figures): (usize, &MeanScores)| figures.f1.map(|f1| (k, f1.mean));
        let all = self.at.iter().enumerate().filter_map(f1).filter(|(_, f1)| *f1 > 0.0);
        let best = all.reduce(|best, next| if next.1 > best.1 { next } else { best });
        best.map(|(k, _)| k)
    }
}

impl MeanScores {
    /// The means of scores; `None` without scores.
    fn of(scores: &[PairScore]) -> Option<MeanScores> {
        let share = |what: fn(&PairScore) -> Option<f64>| {
            let known: Vec<f64> = scores.iter().filter_map(what).collect();
            SeedMean::of(&known)
        };
        let pairs: Vec<f64> = scores.iter().map(|score| score.pairs as f64).collect();
        Some(MeanScores {
            pairs: SeedMean::of(&pairs)?,
            lenient: share(|score| score.lenient),
            strict: share(|score| score.strict),
            recall: share(|score| score.recall),
            f1: share(|score| score.f1),
        })
    }
}

impl SeedMean {
    /// The mean of some numbers; `None` without numbers.
    fn of(numbers: &[f64]) -> Option<SeedMean> {
        let many = numbers.len() as f64;
        let mean = numbers.iter().sum::<f64>() / many;
        let squares: f64 = numbers.iter().map(|number| (number - mean).powi(2)).sum();
        let deviation = (numbers.len() > 1).then(|| (squares / (many - 1.0)).sqrt());
        (!numbers.is_empty()).then_some(SeedMean { mean, deviation })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn score(pairs: u64, f1: Option<f64>) -> PairScore {
        PairScore { pairs, lenient: None, strict: None, recall: None, f1 }
    }

    #[test]
    fn means_have_the_sample_deviation() {
        assert_eq!(SeedMean::of(&[]), None);
        assert_eq!(SeedMean::of(&[0.5]), Some(SeedMean { mean: 0.5, deviation: None }));
        let mean = SeedMean::of(&[2.0, 4.0, 4.0, 4.0, 5.0, 5.0, 7.0, 9.0]).unwrap();
        assert_eq!(mean, SeedMean { mean: 5.0, deviation: Some((32.0f64 / 7.0).sqrt()) });
    }

    #[test]
    fn best_distance_is_the_first_with_the_highest_mean() {
        let one =
            vec![score(0, None), score(1, Some(0.5)), score(2, Some(0.7)), score(3, Some(0.6))];
        let other =
            vec![score(2, None), score(3, Some(0.5)), score(4, Some(0.5)), score(5, Some(0.6))];
        let row = RecipeScores::new("x".into(), "y".into(), None, &[one, other]);
        assert_eq!((row.at.len(), row.at[0].pairs.mean, row.best()), (4, 1.0, Some(2)));
        assert_eq!(
            RecipeScores::new("x".into(), "y".into(), None, &[vec![score(0, None)]]).best(),
            None
        );
        assert_eq!(
            RecipeScores::new("x".into(), "y".into(), None, &[vec![score(1, Some(0.0))]]).best(),
            None
        );
        assert_eq!(RecipeScores::new("x".into(), "y".into(), None, &[]).at.len(), 0);
    }
}
