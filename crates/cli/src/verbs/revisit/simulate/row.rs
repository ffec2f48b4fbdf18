//! The results of one policy.

use simkeep::recrawl::simulate::SimulationResult;

/// The results of one policy, in each of several worlds.
#[derive(Clone, Debug)]
pub(super) struct SimulationRow {
    pub(super) name: String,
    pub(super) figures: Vec<SimulationResult>,
}

/// The mean of some numbers, and its standard error.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct CrawlMean {
    pub(super) mean: f64,
    /// The standard error; `None` for a single number.
    pub(super) error: Option<f64>,
}

impl CrawlMean {
    pub(super) fn of(numbers: impl Iterator<Item = f64>) -> CrawlMean {
        let numbers: Vec<f64> = numbers.collect();
        let count = numbers.len() as f64;
        let mean = numbers.iter().sum::<f64>() / count;
        let squares: f64 = numbers.iter().map(|number| (number - mean).powi(2)).sum();
        let error = (numbers.len() > 1).then(|| (squares / (count - 1.0) / count).sqrt());
        CrawlMean { mean, error }
    }
}

impl SimulationRow {
    /// The mean of one of its figures.
    pub(super) fn mean(&self, of: impl Fn(&SimulationResult) -> f64) -> CrawlMean {
        CrawlMean::of(self.figures.iter().map(of))
    }

    /// The mean difference of its freshness from that of another row, world by world.
    pub(super) fn fresher_than(&self, other: &SimulationRow) -> CrawlMean {
        let pairs = self.figures.iter().zip(&other.figures);
        CrawlMean::of(pairs.map(|(own, other)| own.freshness - other.freshness))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mean_of_one_number_has_no_error() {
        assert_eq!(CrawlMean::of([2.0].into_iter()), CrawlMean { mean: 2.0, error: None });
        assert_eq!(
            CrawlMean::of([1.0, 3.0].into_iter()),
            CrawlMean { mean: 2.0, error: Some(1.0) }
        );
    }
}
