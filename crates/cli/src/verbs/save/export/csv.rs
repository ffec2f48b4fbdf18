//! Comma-separated values as in RFC 4180, except that lines end with LF.

use std::borrow::Cow;
use std::io::Write;

use simkeep_formats::escape;

use super::buffered_output::BufferedOutput;
use super::format::{ExportRow, RowWriter};
use crate::exit::VerbError;
use crate::output::visit;

/// The header line.
const HEADER: &str = "url,time,epoch,fingerprint,digest,status,verdict,distance,weight,class,\
                      modified,bytes,conditional,etag,target\n";

/// A table that is being written.
pub(super) struct CsvWriter<'w> {
    gathered: BufferedOutput<'w>,
    /// Whether a terminal shows the output, so that control characters must be escaped.
    shown: bool,
}

impl<'w> CsvWriter<'w> {
    pub(super) fn begin(
        to: &'w mut (impl Write + Send),
        (has_header, shown): (bool, bool),
    ) -> CsvWriter<'w> {
        let mut gathered = BufferedOutput::new(to);
        if has_header {
            gathered.bytes.extend_from_slice(HEADER.as_bytes());
        }
        CsvWriter { gathered, shown }
    }
}

impl RowWriter for CsvWriter<'_> {
    fn row(&mut self, row: &ExportRow<'_>) -> Result<bool, VerbError> {
        let shown = |text| {
            if self.shown { Cow::Owned(escape::escape_untruncated(text)) } else { text.into() }
        };
        let out = &mut self.gathered.bytes;
        cell(out, &shown(row.url));
        out.push(b',');
        out.extend_from_slice(row.time.to_string().as_bytes());
        out.push(b',');
        cell(out, &shown(row.epoch.unwrap_or_default()));
        for plain in [
            row.fingerprint.map(visit::fingerprint),
            row.digest.map(|digest| digest.to_string()),
            row.status.map(|status| status.to_string()),
            Some(row.verdict.to_owned()),
            row.distance.map(|distance| distance.to_string()),
            row.weight.map(|weight| weight.to_string()),
            row.class.map(|class| class.to_string()),
            row.modified.map(|modified| modified.to_string()),
            row.bytes.map(|bytes| bytes.to_string()),
            row.conditional.map(|conditional| conditional.to_string()),
        ] {
            out.push(b',');
            out.extend_from_slice(plain.unwrap_or_default().as_bytes());
        }
        for text in [&row.etag, &row.target] {
            out.push(b',');
            cell(out, &shown(text.as_deref().unwrap_or_default()));
        }
        out.push(b'\n');
        self.gathered.flush_if_full()?;
        Ok(true)
    }

    fn end(mut self: Box<Self>) -> Result<(), VerbError> {
        Ok(self.gathered.flush_all()?)
    }
}

/// Writes a cell with untrusted text. Text that a spreadsheet may take for a formula gets a leading
/// `'`, and so does text that begins with `'`. So removing one leading `'` always restores the
/// text.
fn cell(out: &mut Vec<u8>, text: &str) {
    let is_formula = text.trim_start().starts_with(['=', '+', '-', '@', '＝', '＋', '－', '＠']);
    let mark = if is_formula || text.starts_with('\'') { "'" } else { "" };
    // Quotes also protect characters other than the comma at which some programs split cells.
    let is_plain = |c: char| !matches!(c, '"' | ',' | ';' | '|' | '\n' | '\r' | '\t');
    let has_edge = text.starts_with(' ') || text.ends_with(' ');
    if text.chars().all(is_plain) && !has_edge {
        out.extend_from_slice(mark.as_bytes());
        return out.extend_from_slice(text.as_bytes());
    }
    out.push(b'"');
    out.extend_from_slice(mark.as_bytes());
    out.extend_from_slice(text.replace('"', "\"\"").as_bytes());
    out.push(b'"');
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn written(text: &str) -> String {
        let mut out = Vec::new();
        cell(&mut out, text);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn cells_that_a_spreadsheet_would_run_are_marked() {
        for (text, expected) in [
            ("https://a.example/", "https://a.example/"),
            ("=1+1", "'=1+1"),
            ("+1", "'+1"),
            ("-1", "'-1"),
            ("@SUM(A1)", "'@SUM(A1)"),
            ("＝1", "'＝1"),
            (" =1", "\"' =1\""),
            ("'", "''"),
            ("'=1", "''=1"),
            ("=\"a\",b", "\"'=\"\"a\"\",b\""),
            ("http://a/;=1", "\"http://a/;=1\""),
            ("http://a/?a=-1", "http://a/?a=-1"),
            ("", ""),
        ] {
            assert_eq!(written(text), expected);
        }
    }

    /// Parses a cell as a reader does.
    fn read(cell: &str) -> String {
        let inner = cell.strip_prefix('"').and_then(|cell| cell.strip_suffix('"'));
        inner.map_or_else(|| cell.to_owned(), |inner| inner.replace("\"\"", "\""))
    }

    proptest! {
        #[test]
        fn cells_round_trip_to_their_text(text in "[ '=+@\",;a-c-]{0,6}") {
            let cell = read(&written(&text));
            prop_assert_eq!(cell.strip_prefix('\'').unwrap_or(&cell), &text);
            prop_assert!(!cell.trim_start().starts_with(['=', '+', '-', '@']), "{}", cell);
        }
    }
}
