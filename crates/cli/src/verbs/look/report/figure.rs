//! A figure of the report: a drawing, its explanation, and its numbers as a table.

use maud::{Markup, html};

use crate::output::plot::{cut, more};

/// The maximum number of rows in a table, and of characters in a cell. They bound the size of a
/// report, since a store may have any number of items.
const ROWS_MAX: usize = 400;
const CELL_CHARS_MAX: usize = 120;

/// A figure with its explanation.
pub(super) struct ReportFigure {
    pub(super) title: String,
    /// The explanation: what the drawing shows, and which signs are bad.
    pub(super) said: String,
    pub(super) drawing: Markup,
    /// The headings and rows of the table.
    pub(super) headings: Vec<String>,
    pub(super) rows: Vec<Vec<String>>,
}

impl ReportFigure {
    pub(super) fn html(&self) -> Markup {
        html! {
            figure {
                h3 { (self.title) }
                p { (self.said) }
                (self.drawing)
                details {
                    summary { "Numbers" }
                    div.scroll { table {
                        thead { tr { @for heading in &self.headings { th scope="col" { (heading) } } } }
                        tbody {
                            @for row in self.rows.iter().take(ROWS_MAX) {
                                tr { @for cell in row { td { (cut(cell, CELL_CHARS_MAX)) } } }
                            }
                            @if let Some(more) = more(self.rows.len(), ROWS_MAX) {
                                tr { td colspan=(self.headings.len()) { (more) } }
                            }
                        }
                    } }
                }
            }
        }
    }
}
