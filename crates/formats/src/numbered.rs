//! Lines of bounded length, one by one, with their numbers.

use super::stream::{Line, Stream};
use super::{Broken, escape};

/// The most bytes of a line: that of a URL with every character escaped, and more.
const LINE_BYTES_MAX: usize = 64 << 10;

/// The lines of a stream that are not blank.
pub(super) struct NumberedLines {
    stream: Stream,
    line: Vec<u8>,
    number: u64,
}

impl NumberedLines {
    pub(super) fn new(stream: Stream) -> NumberedLines {
        NumberedLines { stream, line: Vec::new(), number: 0 }
    }

    /// Reads the next line into hand; false at the end.
    pub(super) fn advance(&mut self) -> Result<bool, Broken> {
        loop {
            self.number += 1;
            match self.stream.line(&mut self.line, LINE_BYTES_MAX) {
                Ok(Line::End) => return Ok(false),
                Ok(Line::Whole) if self.text().is_empty() => {}
                Ok(Line::Whole) => return Ok(true),
                Ok(Line::TooLong) => {
                    return Err(self.broken(format!("it is longer than {LINE_BYTES_MAX} bytes")));
                }
                Err(error) => return Err(self.broken(escape(&error.to_string()))),
            }
        }
    }

    /// The line in hand, without white space around it and byte order marks before it. These may stand
    /// after blank lines, or where files were joined.
    pub(super) fn text(&self) -> &[u8] {
        without_marks(&self.line)
    }

    /// The number of the line in hand.
    pub(super) fn number(&self) -> u64 {
        self.number
    }

    /// What is wrong with the line in hand; `why` is fit to be shown.
    pub(super) fn broken(&self, why: String) -> Broken {
        self.broken_at(self.number, why)
    }

    /// What is wrong with the line of this number.
    pub(super) fn broken_at(&self, number: u64, why: String) -> Broken {
        Broken { at: format!("{}, line {number}", self.stream.name()), why }
    }
}

/// A text without the white space around it, and without the byte order marks before it.
pub(super) fn without_marks(text: &[u8]) -> &[u8] {
    let mut text = text.trim_ascii();
    while let Some(rest) = text.strip_prefix(b"\xef\xbb\xbf") {
        text = rest.trim_ascii_start();
    }
    text
}
