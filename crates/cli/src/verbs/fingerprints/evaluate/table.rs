//! The table for people: a few lines for each recipe or signature, at most 100 columns wide.

use std::collections::BTreeSet;

use super::row::{MeanScores, RecipeScores, SeedMean};

/// The width of the column of names. A longer name pushes its first line to the right.
const NAME_WIDTH: usize = 26;

/// The header line. With deviations, the columns are wider.
pub(super) fn heading(seeds: u32) -> String {
    let names = ["lenient", "strict", "recall", "F1"].map(|name| cell(name, seeds));
    format!("{:<NAME_WIDTH$} {:>3}{}", "", "k", names.concat())
}

/// The lines of a row: at these distances, the advised one, and the best one.
pub(super) fn lines(row: &RecipeScores, distances: &[usize], seeds: u32) -> Vec<String> {
    // If there is a single distance, it is not marked as the best.
    let only = (row.at.len() == 1).then_some(0);
    let (advised, best) = (row.advised, row.best().filter(|_| only.is_none()));
    let named = distances.iter().copied().chain(advised).chain(best).chain(only);
    let all: BTreeSet<usize> = named.collect();
    let shown = all.into_iter().filter_map(|k| row.at.get(k).map(|figures| (k, figures)));
    let line = |(at, (k, figures)): (usize, (usize, &MeanScores))| {
        let name = if at == 0 { row.name.as_str() } else { "" };
        let shares = [figures.lenient, figures.strict, figures.recall, figures.f1];
        let shares = shares.map(|mean| cell(&share(mean), seeds)).concat();
        let remark = match (advised == Some(k), best == Some(k)) {
            (true, true) => "  advised, best",
            (true, false) => "  advised",
            (false, true) => "  best",
            (false, false) => "",
        };
        format!("{name:<NAME_WIDTH$} {k:>3}{shares}{remark}")
    };
    shown.enumerate().map(line).collect()
}

/// A cell in a column of ratios.
fn cell(text: &str, seeds: u32) -> String {
    let width = if seeds > 1 { 13 } else { 9 };
    format!("{text:>width$}")
}

/// A ratio with three decimals, or `-` for 0 / 0.
fn share(mean: Option<SeedMean>) -> String {
    match mean {
        None => "-".to_owned(),
        Some(SeedMean { mean, deviation: None }) => format!("{mean:.3}"),
        Some(SeedMean { mean, deviation: Some(deviation) }) => {
            format!("{mean:.3} ±{}", format!("{deviation:.3}").trim_start_matches('0'))
        }
    }
}
