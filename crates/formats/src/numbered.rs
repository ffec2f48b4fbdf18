//! Lines of bounded length, one by one, with their numbers.

use super::stream::{LineEnd, SourceStream};
use super::{BrokenRecord, escape};

/// The maximum number of bytes of a line. A URL with every character escaped is shorter.
const LINE_BYTES_MAX: usize = 64 << 10;

/// The lines of a stream that are not blank.
pub(super) struct NumberedLines {
    stream: SourceStream,
    line: Vec<u8>,
    number: u64,
}

impl NumberedLines {
    pub(super) fn new(stream: SourceStream) -> NumberedLines {
        NumberedLines { stream, line: Vec::new(), number: 0 }
    }

    /// Reads the next line; `false` at the end.
    pub(super) fn advance(&mut self) -> Result<bool, BrokenRecord> {
        loop {
            self.number += 1;
            match self.stream.line(&mut self.line, LINE_BYTES_MAX) {
                Ok(LineEnd::End) => return Ok(false),
                Ok(LineEnd::Whole) if self.text().is_empty() => {}
                Ok(LineEnd::Whole) => return Ok(true),
                Ok(LineEnd::TooLong) => {
                    return Err(
                        self.broken(format!("the line is longer than {LINE_BYTES_MAX} bytes"))
                    );
                }
                Err(error) => return Err(self.broken(escape(&error.to_string()))),
            }
        }
    }

    /// Returns the current line without surrounding white space and leading byte order marks. Marks
    /// may occur after blank lines, or where files were joined.
    pub(super) fn text(&self) -> &[u8] {
        without_marks(&self.line)
    }

    /// Returns the number of the current line.
    pub(super) fn number(&self) -> u64 {
        self.number
    }

    /// Builds an error about the current line; `why` must be escaped for display.
    pub(super) fn broken(&self, why: String) -> BrokenRecord {
        self.broken_at(self.number, why)
    }

    /// Builds an error about the line with this number.
    pub(super) fn broken_at(&self, number: u64, why: String) -> BrokenRecord {
        BrokenRecord { at: format!("{}, line {number}", self.stream.name()), why }
    }
}

/// Returns a text without surrounding white space and leading byte order marks.
pub(super) fn without_marks(text: &[u8]) -> &[u8] {
    let mut text = text.trim_ascii();
    while let Some(rest) = text.strip_prefix(b"\xef\xbb\xbf") {
        text = rest.trim_ascii_start();
    }
    text
}
