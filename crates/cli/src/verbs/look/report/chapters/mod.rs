//! The chapters of the report.

mod attention;
mod change;
mod clusters;
mod near;
mod requests;
mod space;
mod spread;

use super::facts::ReportFacts;
use super::figure::ReportFigure;

/// A chapter: figures on one subject.
pub(super) struct ReportChapter {
    pub(super) title: &'static str,
    pub(super) said: String,
    pub(super) figures: Vec<ReportFigure>,
}

/// All chapters, in order.
pub(super) fn all(facts: &ReportFacts) -> Vec<ReportChapter> {
    let chapters = [
        Some(attention::chapter(facts)),
        Some(change::chapter(facts)),
        requests::chapter(facts),
        Some(near::chapter(facts)),
        Some(clusters::chapter(facts)),
        Some(space::chapter(facts)),
        Some(spread::chapter(facts)),
    ];
    chapters.into_iter().flatten().collect()
}

/// The rows of a table: a name and a number each.
fn rows(names: impl Iterator<Item = String>, numbers: &[u64]) -> Vec<Vec<String>> {
    let numbers = numbers.iter().map(|number| crate::output::words::count(*number));
    names.zip(numbers).map(|(name, number)| vec![name, number]).collect()
}

fn heights(numbers: &[u64]) -> Vec<f64> {
    numbers.iter().map(|number| *number as f64).collect()
}

fn headings<const N: usize>(names: [&str; N]) -> Vec<String> {
    names.map(str::to_owned).to_vec()
}
