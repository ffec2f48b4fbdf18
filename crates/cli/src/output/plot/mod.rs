//! Drawings in SVG, which any browser shows: curves for a separate file, columns and bars for a
//! page.

mod bars;
mod columns;
mod curves;
mod ticks;

use crate::output::words::count;

pub(crate) use bars::{bars, spans};
pub(crate) use columns::ColumnChart;
pub(crate) use curves::{CurvePlot, PlotAxis, PlotCurve, PlotPanel};

/// The width of columns and bars, in pixels. It fits a narrow screen.
const WIDTH: f64 = 340.0;

/// A length as an attribute, in pixels.
fn px(number: f64) -> String {
    format!("{number:.1}")
}

/// The text, cut to at most `chars` characters.
pub(crate) fn cut(text: &str, chars: usize) -> String {
    match text.char_indices().nth(chars) {
        None => text.to_owned(),
        Some((at, _)) => format!("{}…", text.get(..at).unwrap_or(text)),
    }
}

/// The text "and N more" if there are more items than are shown.
pub(crate) fn more(all: usize, most: usize) -> Option<String> {
    let more = all.saturating_sub(most);
    (more > 0).then(|| format!("and {} more", count(more as u64)))
}
