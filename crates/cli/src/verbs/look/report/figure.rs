//! A figure of the report: a drawing, what it shows in words, and its numbers as a table.

use maud::{Markup, html};

use crate::output::plot::{cut, more};

/// What a store has any number of is cut, so that a report is never large: rows of a table, and
/// characters of a name in it.
const ROWS_MAX: usize = 400;
const CELL_CHARS_MAX: usize = 120;

/// A figure with what is said of it.
pub(super) struct Figure {
    pub(super) title: String,
    /// What one sees, and what would be bad.
    pub(super) said: String,
    pub(super) drawing: Markup,
    /// What it is drawn of: headings, and rows.
    pub(super) headings: Vec<String>,
    pub(super) rows: Vec<Vec<String>>,
}

impl Figure {
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
