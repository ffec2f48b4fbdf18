//! The results of one policy.

use simkeep::recrawl::simulate::Figures;

/// The results of one policy, in each of several worlds.
#[derive(Clone, Debug)]
pub(super) struct Row {
    pub(super) name: String,
    pub(super) figures: Vec<Figures>,
}

/// The mean of some numbers, and its standard error.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Mean {
    pub(super) mean: f64,
    /// The standard error; `None` for a single number.
    pub(super) error: Option<f64>,
}

impl Mean {
    pub(super) fn of(numbers: impl Iterator<Item = f64>) -> Mean {
        let numbers: Vec<f64> = numbers.collect();
        let count = numbers.len() as f64;
        let mean = numbers.iter().sum::<f64>() / count;
        let squares: f64 = numbers.iter().map(|number| (number - mean).powi(2)).sum();
        let error = (numbers.len() > 1).then(|| (squares / (count - 1.0) / count).sqrt());
        Mean { mean, error }
    }
}

impl Row {
    /// The mean of one of its figures.
    pub(super) fn mean(&self, of: impl Fn(&Figures) -> f64) -> Mean {
        Mean::of(self.figures.iter().map(of))
    }

    /// The mean difference of its freshness from that of another row, world by world.
    pub(super) fn fresher_than(&self, other: &Row) -> Mean {
        let pairs = self.figures.iter().zip(&other.figures);
        Mean::of(pairs.map(|(own, other)| own.freshness - other.freshness))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mean_of_one_number_has_no_error() {
        assert_eq!(Mean::of([2.0].into_iter()), Mean { mean: 2.0, error: None });
        assert_eq!(Mean::of([1.0, 3.0].into_iter()), Mean { mean: 2.0, error: Some(1.0) });
    }
}
