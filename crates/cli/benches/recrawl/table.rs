//! A table, as the documentation has it.

use simkeep::recrawl::simulate::{Decider, SimulationResult};

/// The mean of some numbers, and its standard error.
fn mean(numbers: &[f64]) -> (f64, f64) {
    let count = numbers.len() as f64;
    let mean = numbers.iter().sum::<f64>() / count;
    let squares: f64 = numbers.iter().map(|number| (number - mean).powi(2)).sum();
    (mean, (squares / (count - 1.0) / count).sqrt())
}

/// A row for each decider, with the difference in freshness from the first one, world by world.
pub(crate) fn print(by: &[Decider], rows: &[Vec<SimulationResult>]) {
    println!("| policy | fresh | near | missed | bits | fresher than {} |", by[0]);
    println!("|---|---|---|---|---|---|");
    for (by, row) in by.iter().zip(rows) {
        let of = |of: fn(&SimulationResult) -> f64| mean(&row.iter().map(of).collect::<Vec<_>>()).0;
        let differences: Vec<f64> =
            row.iter().zip(&rows[0]).map(|(own, first)| own.freshness - first.freshness).collect();
        let (difference, error) = mean(&differences);
        let behind = differences.iter().filter(|difference| **difference >= 0.0).count();
        let difference = match differences.len() {
            1 => format!("{difference:+.4}"),
            all => format!("{difference:+.4} ± {error:.4}, on {behind} of {all} seeds"),
        };
        println!(
            "| {by} | {:.4} | {:.4} | {:.4} | {:.4} | {difference} |",
            of(|figures| figures.freshness),
            of(|figures| figures.near_freshness),
            of(|figures| figures.staleness),
            of(|figures| figures.divergence),
        );
    }
}
