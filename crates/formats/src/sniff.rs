//! Detects the kind of a file from its content.

use std::ffi::OsStr;

use super::export;
use super::keys::DocumentKeys;
use super::lines::{has_key, without_mark};
use super::stream::SourceStream;

/// The number of bytes of a file that are examined.
const SNIFFED_BYTES: usize = 8 << 10;

/// The beginning of the header line of an export as CSV.
const CSV_EXPORT: &[u8] = b"url,time,epoch,fingerprint,digest,status,verdict,";

/// The kinds of files.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum FileKind {
    /// A WARC archive, WET and WAT included.
    Warc,
    /// An ARC archive.
    Arc,
    /// JSON lines.
    JsonLines,
    /// An index of web archives.
    Index,
    /// A table that `simkeep export --format csv` wrote.
    CsvExport,
    /// A Parquet table.
    Parquet,
    /// Any other file, which is itself a page.
    Page,
}

/// Detects the kind of a file. The content determines the kind. The name is used only if the start
/// of the content is broken, and for JSON whose lines cannot be detected.
pub(super) fn kind(stream: &mut SourceStream, name: Option<&OsStr>) -> FileKind {
    let named = name.and_then(by_name);
    let start = stream.look_ahead_until(SNIFFED_BYTES, has_whole_line);
    let text = text(start);
    if text.starts_with(b"WARC/") {
        FileKind::Warc
    } else if text.starts_with(b"filedesc:") {
        FileKind::Arc
    } else if text.starts_with(b"{") {
        // A whole line must be a complete object, or be too long for a check. An object spread over
        // many lines is a document.
        let whole = text.contains(&b'\n') || start.len() < SNIFFED_BYTES;
        let line = text.split(|&b| b == b'\n').next().unwrap_or(text).trim_ascii_end();
        let spread = whole && (!line.ends_with(b"}") || line.len() < 3);
        if spread && named != Some(FileKind::JsonLines) {
            FileKind::Page
        } else {
            FileKind::JsonLines
        }
    } else if start.starts_with(b"PAR1") {
        FileKind::Parquet
    } else if is_index(text) {
        FileKind::Index
    } else if text.starts_with(CSV_EXPORT) {
        FileKind::CsvExport
    } else if start.is_empty() || !super::content::is_html(start) {
        named.unwrap_or(FileKind::Page)
    } else {
        FileKind::Page
    }
}

/// Returns the start without a byte order mark and white space.
fn text(start: &[u8]) -> &[u8] {
    start.strip_prefix(b"\xef\xbb\xbf").unwrap_or(start).trim_ascii_start()
}

/// Whether the stream has a complete first line. A client may wait for an answer before it sends
/// the next line.
fn has_whole_line(start: &[u8]) -> bool {
    text(start).contains(&b'\n')
}

/// Whether a text begins with a line of CDXJ: a key, a time of 14 digits, and an object.
fn is_index(text: &[u8]) -> bool {
    let line = text.split(|&b| b == b'\n').next().unwrap_or_default();
    let mut words = line.splitn(3, |&b| b == b' ');
    let (key, time, object) = (words.next(), words.next(), words.next());
    key.is_some_and(|key| !key.is_empty())
        && time.is_some_and(|time| time.len() == 14 && time.iter().all(u8::is_ascii_digit))
        && object.is_some_and(|object| object.starts_with(b"{"))
}

/// Whether JSON lines look like records, or have the custom keys. JSON in folders often has other
/// content.
pub(super) fn holds_records(stream: &mut SourceStream, keys: Option<&DocumentKeys>) -> bool {
    let start = stream.look_ahead(SNIFFED_BYTES);
    let line = start.split(|&b| b == b'\n').next().unwrap_or_default();
    let sought = keys.map_or(["url", "t"], |keys| [keys.url.first(), keys.text.first()]);
    export::is_head(without_mark(line)) || sought.iter().all(|key| has_key(line, key))
}

/// Returns the kind of file that a name indicates.
pub(super) fn by_name(name: &OsStr) -> Option<FileKind> {
    let name = name.to_str()?.to_ascii_lowercase();
    let packed = [".gz", ".zst"].iter().find_map(|end| name.strip_suffix(end));
    let name = packed.unwrap_or(&name);
    let ends = |endings: &[&str]| endings.iter().any(|end| name.ends_with(end));
    if ends(&[".warc", ".wet", ".wat"]) {
        Some(FileKind::Warc)
    } else if ends(&[".arc"]) {
        Some(FileKind::Arc)
    } else if ends(&[".jsonl", ".ndjson"]) {
        Some(FileKind::JsonLines)
    } else if ends(&[".parquet"]) {
        Some(FileKind::Parquet)
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::super::gzip::tests::gz;
    use super::super::stream::tests::stream;
    use super::*;

    #[test]
    fn interactive_input_is_recognized_by_its_first_line() {
        struct Waits;
        impl std::io::Read for Waits {
            fn read(&mut self, _: &mut [u8]) -> std::io::Result<usize> {
                panic!("it would wait")
            }
        }
        for (line, expected) in [
            ("{\"url\":1}\n", FileKind::JsonLines),
            ("\u{feff}\r\n {\"a\":{}}\r\n", FileKind::JsonLines),
            ("{\"a\n", FileKind::JsonLines),
            ("broken\n", FileKind::JsonLines),
            ("<!DOCTYPE html>\n", FileKind::Page),
            ("WARC/1.1\r\n", FileKind::Warc),
        ] {
            let read = Box::new(std::io::Read::chain(line.as_bytes(), Waits));
            let window = super::super::ZstdWindow::default();
            let stream =
                SourceStream::unpacked("-", read, std::sync::Arc::default(), window).unwrap();
            let name = OsStr::new(".jsonl");
            assert_eq!(kind(&mut stream.live(true), Some(name)), expected, "{line}");
        }
    }

    #[test]
    fn kind_follows_from_the_content() {
        let long = format!("{{\"text\":\"{}", " ".repeat(SNIFFED_BYTES));
        for (bytes, expected) in [
            ("WARC/1.0\r\n", FileKind::Warc),
            ("\r\n WARC/1.1\r\n", FileKind::Warc),
            ("filedesc://x", FileKind::Arc),
            ("\u{feff} {\"url\":1}\n{}", FileKind::JsonLines),
            ("{\"url\":1}", FileKind::JsonLines),
            (&long, FileKind::JsonLines),
            ("{\n  \"name\": \"x\"\n}\n", FileKind::Page),
            ("{}\n", FileKind::Page),
            ("com,example)/ 20240110000000 {\"url\":\"x:\"}\n", FileKind::Index),
            ("com,example)/ 2024011000000 {}\n", FileKind::Page),
            ("com,example)/ 20240110000000 x\n", FileKind::Page),
            ("PAR1\0", FileKind::Parquet),
            ("text", FileKind::Page),
            ("", FileKind::Page),
        ] {
            assert_eq!(kind(&mut stream(bytes), None), expected, "{bytes}");
            assert_eq!(kind(&mut stream(gz(bytes.as_bytes())), None), expected, "{bytes}");
        }
    }

    #[test]
    fn file_name_decides_if_the_start_is_broken() {
        let named = |bytes: &str, name: &str| kind(&mut stream(bytes), Some(OsStr::new(name)));
        assert_eq!(named("?WARC/1.0", "x.warc"), FileKind::Warc);
        assert_eq!(named("{\n", "x.JSONL"), FileKind::JsonLines);
        assert_eq!(named("?", "x.arc.gz"), FileKind::Arc);
        assert_eq!(named("WARC/1.0", "x.txt"), FileKind::Warc);
        assert_eq!(named("<!doctype html>", "x.warc"), FileKind::Page);
        assert_eq!(by_name(OsStr::new("x.warc.wet.gz")), Some(FileKind::Warc));
        assert_eq!(by_name(OsStr::new("x.gz")), None);
    }
}
