//! The table for people.

use super::best::Best;
use super::row::{Mean, Row};

/// Names are mostly no longer; one that is pushes its line to the right.
const NAME_WIDTH: usize = 30;

/// The heading, a line for each row, and one for each that would have been best.
pub(super) fn lines(rows: &[Row], best: Option<&Vec<Best>>) -> Vec<String> {
    let errors = rows.iter().any(|row| row.figures.len() > 1);
    let against = rows.first().map_or("", |row| row.name.as_str());
    let titles = ["fresh", "near", "missed", "bits"].map(|title| format!("{title:>8}")).concat();
    let against = if errors { format!("   fresher than {against}") } else { String::new() };
    let mut lines = vec![format!("{:<NAME_WIDTH$}{titles}{against}", "policy")];
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
fn difference(mean: Mean) -> String {
    match mean.error {
        None => format!("{:+.4}", mean.mean),
        Some(error) => format!("{:+.4} ± {error:.4}", mean.mean),
    }
}
