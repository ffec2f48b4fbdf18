//! Tables for people: columns are as wide as their cells, and the last column is not padded.

use std::io;

use crate::output::Output;

/// The number of rows that are buffered to measure the columns. Wider cells in later rows push the
/// cells right of them.
const HELD: usize = 1000;

/// The gap between two columns.
const GAP: &str = "  ";

/// A column: its heading, and the alignment of its cells.
pub(crate) enum ColumnHeading {
    Left(String),
    Right(String),
}

/// A table that is printed row by row. Memory does not grow with the number of rows.
pub(crate) struct TextTable {
    columns: Vec<ColumnHeading>,
    widths: Vec<usize>,
    held: Vec<Vec<String>>,
    /// Whether the heading and the buffered rows have been printed.
    has_begun: bool,
}

/// A left-aligned column, for text.
pub(crate) fn left(heading: impl Into<String>) -> ColumnHeading {
    ColumnHeading::Left(heading.into())
}

/// A right-aligned column, for numbers.
pub(crate) fn right(heading: impl Into<String>) -> ColumnHeading {
    ColumnHeading::Right(heading.into())
}

impl TextTable {
    pub(crate) fn new(columns: impl IntoIterator<Item = ColumnHeading>) -> TextTable {
        let columns: Vec<ColumnHeading> = columns.into_iter().collect();
        let widths = vec![0; columns.len()];
        TextTable { columns, widths, held: Vec::new(), has_begun: false }
    }

    /// Adds a row with a cell for each column. The caller has escaped quoted text.
    pub(crate) fn row<const N: usize>(
        &mut self,
        cells: [String; N],
        output: &mut Output,
    ) -> io::Result<()> {
        self.cells(cells.into(), output)
    }

    /// Adds a row to a table whose number of columns is known only at run time.
    pub(crate) fn cells(&mut self, cells: Vec<String>, output: &mut Output) -> io::Result<()> {
        assert_eq!(cells.len(), self.columns.len(), "a row has a cell for each column");
        if self.has_begun {
            return output.line(&self.line(&cells));
        }
        self.held.push(cells);
        if self.held.len() == HELD { self.begin(output) } else { Ok(()) }
    }

    /// Prints the buffered rows now, because a reader is waiting for them.
    pub(crate) fn show(&mut self, output: &mut Output) -> io::Result<()> {
        if self.has_begun || self.held.is_empty() { Ok(()) } else { self.begin(output) }
    }

    /// Prints the rows that are still buffered. A table without rows consists of its header line.
    pub(crate) fn end(mut self, output: &mut Output) -> io::Result<()> {
        if self.has_begun { Ok(()) } else { self.begin(output) }
    }

    /// Prints the rows that are still buffered. A table without rows prints nothing, for verbs whose
    /// rows may go to files only.
    pub(crate) fn end_unless_empty(self, output: &mut Output) -> io::Result<()> {
        if self.held.is_empty() { Ok(()) } else { self.end(output) }
    }

    fn begin(&mut self, output: &mut Output) -> io::Result<()> {
        let held = std::mem::take(&mut self.held);
        let headings: Vec<String> = self.columns.iter().map(ColumnHeading::heading).collect();
        let shown = output.has_header().then_some(&headings);
        for cells in shown.into_iter().chain(&held) {
            for (width, cell) in self.widths.iter_mut().zip(cells) {
                *width = (*width).max(cell.chars().count());
            }
        }
        output.header(&self.line(&headings))?;
        self.has_begun = true;
        held.iter().try_for_each(|cells| output.line(&self.line(cells)))
    }

    fn line(&self, cells: &[String]) -> String {
        let columns = self.columns.iter().zip(&self.widths);
        let padded = cells.iter().zip(columns).map(|(cell, (column, width))| match column {
            ColumnHeading::Left(_) => format!("{cell:<width$}"),
            ColumnHeading::Right(_) => format!("{cell:>width$}"),
        });
        let padded: Vec<String> = padded.collect();
        padded.join(GAP).trim_end_matches(' ').to_owned()
    }
}

impl ColumnHeading {
    fn heading(&self) -> String {
        match self {
            ColumnHeading::Left(heading) | ColumnHeading::Right(heading) => heading.clone(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn table_lines_are_padded_without_trailing_blanks() {
        let mut table = TextTable::new([left("name"), right("count"), left("URL")]);
        table.widths = vec![4, 3, 7];
        let line = |cells: [&str; 3]| table.line(&cells.map(str::to_owned));
        assert_eq!(line(["a", "1", "x:"]), "a       1  x:");
        assert_eq!(line(["é", "12345", ""]), "é     12345");
        assert_eq!(line(["", "", "x:"]), "           x:");
        assert_eq!(line(["", "", ""]), "");
    }

    #[test]
    fn table_buffers_a_bounded_number_of_rows() {
        let (mut table, mut output) = (TextTable::new([left("")]), Output::stdout(true));
        for _ in 0..HELD + 2 {
            table.row([String::new()], &mut output).unwrap();
        }
        assert!(table.held.is_empty() && table.has_begun);
    }
}
