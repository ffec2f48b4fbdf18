//! The table for people.

use super::best_freshness::BestFreshness;
use super::row::{CrawlMean, SimulationRow};

/// The width of the column of names. A longer name pushes its line to the right.
const NAME_WIDTH: usize = 30;

/// Whether there are several crawls, so that differences have standard errors.
fn has_errors(rows: &[SimulationRow]) -> bool {
    rows.iter().any(|row| row.figures.len() > 1)
}

/// The header line.
pub(super) fn heading(rows: &[SimulationRow]) -> String {
    let against = rows.first().filter(|_| has_errors(rows));
    let against = against.map(|row| format!("   fresher than {}", row.name)).unwrap_or_default();
    let titles = ["fresh", "near", "missed", "bits"].map(|title| format!("{title:>8}")).concat();
    format!("{:<NAME_WIDTH$}{titles}{against}", "policy")
}

/// A line for each row, and for each bound.
pub(super) fn lines(rows: &[SimulationRow], best: Option<&Vec<BestFreshness>>) -> Vec<String> {
    let errors = has_errors(rows);
    let mut lines = Vec::new();
    for row in rows {
        let means = [
            row.mean(|figures| figures.freshness),
            row.mean(|figures| figures.near_freshness),
            row.mean(|figures| figures.staleness),
            row.mean(|figures| figures.divergence),
        ];
        let cells = means.map(|mean| format!("{:>8.4}", mean.mean)).concat();
        let difference = match rows.first() {
            Some(first) if errors && row.name != first.name => {
                format!("   {}", difference(row.fresher_than(first)))
            }
            _ => String::new(),
        };
        lines.push(format!("{:<NAME_WIDTH$}{cells}{difference}", row.name));
    }
    for best in best.into_iter().flatten() {
        lines.push(format!("{:<NAME_WIDTH$}{:>8.4}", best.name, best.freshness));
    }
    lines
}

/// A difference with its standard error.
fn difference(mean: CrawlMean) -> String {
    match mean.error {
        None => format!("{:+.4}", mean.mean),
        Some(error) => format!("{:+.4} ± {error:.4}", mean.mean),
    }
}
