//! What the report tells, chapter by chapter.

mod change;
mod clusters;
mod near;
mod space;
mod spread;

use super::facts::Facts;
use super::figure::Figure;

/// Figures on one thing.
pub(super) struct Chapter {
    pub(super) title: &'static str,
    pub(super) said: String,
    pub(super) figures: Vec<Figure>,
}

/// All of them.
pub(super) fn all(facts: &Facts) -> Vec<Chapter> {
    vec![
        change::chapter(facts),
        spread::chapter(facts),
        near::chapter(facts),
        clusters::chapter(facts),
        space::chapter(facts),
    ]
}

/// Cells of a table of numbers, and what they are of.
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
