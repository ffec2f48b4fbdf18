//! Standard output: lines for people, and JSON objects for programs.

pub(crate) mod compressed_file;
pub(crate) mod file_format;
pub(crate) mod host;
pub(crate) mod json;
pub(crate) mod plot;
pub(crate) mod progress;
pub(crate) mod row_file;
pub(crate) mod table;
pub(crate) mod temporary;
pub(crate) mod visit;
pub(crate) mod words;

use std::io::{self, BufWriter, IsTerminal as _, Stdout, Write};

use serde::Serialize;

use crate::exit::print_message;
use simkeep_formats::escape;

/// The buffered writer of results to standard output.
pub(crate) struct Output {
    stdout: BufWriter<Stdout>,
    /// Whether standard output is a terminal.
    is_terminal: bool,
    /// Whether lines may contain escape sequences for colours.
    has_colours: bool,
    /// Whether tables have a header line and summary lines.
    has_header: bool,
}

impl Output {
    /// Standard output, for tables with or without a header line.
    pub(crate) fn stdout(has_header: bool) -> Output {
        let stdout = io::stdout();
        let is_terminal = stdout.is_terminal();
        // See no-color.org.
        let asked = std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty());
        let is_dumb = std::env::var_os("TERM").is_some_and(|term| term == "dumb");
        let has_colours = is_terminal && asked && !is_dumb;
        let stdout = BufWriter::with_capacity(64 << 10, stdout);
        Output { stdout, is_terminal, has_colours, has_header }
    }

    /// Whether standard output is a terminal.
    pub(crate) fn is_terminal(&self) -> bool {
        self.is_terminal
    }

    /// Whether tables have a header line.
    pub(crate) fn has_header(&self) -> bool {
        self.has_header
    }

    /// Prints the header line of a table, grey on a terminal, unless header lines are disabled.
    pub(crate) fn header(&mut self, line: &str) -> io::Result<()> {
        match (self.has_header, self.has_colours) {
            (false, _) => Ok(()),
            (true, false) => self.line(line),
            (true, true) => self.line(&format!("\u{1b}[90m{line}\u{1b}[0m")),
        }
    }

    /// Prints a line that sums up the rows of a table, unless its header line is to be left out.
    pub(crate) fn summary(&mut self, line: &str) -> io::Result<()> {
        if self.has_header { self.line(line) } else { Ok(()) }
    }

    /// Prints a line for people. The caller has escaped quoted text.
    pub(crate) fn line(&mut self, line: &str) -> io::Result<()> {
        self.stdout.write_all(line.as_bytes())?;
        self.stdout.write_all(b"\n")
    }

    /// Prints a JSON object on a line of its own.
    pub(crate) fn object(&mut self, object: &impl Serialize) -> io::Result<()> {
        write_object(&mut self.stdout, object)
    }

    /// The writer for bytes that already consist of lines.
    pub(crate) fn writer(&mut self) -> &mut (impl Write + Send + use<>) {
        &mut self.stdout
    }

    /// Flushes the lines before it, then prints a note about them on standard error.
    pub(crate) fn note(&mut self, message: &str) -> io::Result<()> {
        self.finish()?;
        print_message(message);
        Ok(())
    }

    /// Flushes buffered output.
    pub(crate) fn finish(&mut self) -> io::Result<()> {
        self.stdout.flush()
    }
}

/// Writes a JSON object on a line of its own.
pub(crate) fn write_object(out: &mut impl Write, object: &impl Serialize) -> io::Result<()> {
    let line = serde_json::to_string(object)?;
    out.write_all(escape::json(&line).as_bytes())?;
    out.write_all(b"\n")
}
