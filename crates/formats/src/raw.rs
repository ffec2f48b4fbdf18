//! Reads the lines of a corpus byte by byte, to copy them unchanged.

use std::fs::File;
use std::io::{self, BufRead};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use memchr::memchr;

pub use super::compression::FileCompression;
use super::keys::DocumentKeys;
pub use super::keys::NamedText;
use super::lines::{has_key, without_mark};
use super::sniff::{self, FileKind};
use super::stream::SourceStream;
use super::{RECORD_BYTES_MAX, ZstdWindow, escape, export};

/// A file of a corpus.
///
/// ```
/// use std::sync::Arc;
///
/// use simkeep_formats::ZstdWindow;
/// use simkeep_formats::raw::CorpusFile;
///
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("pages.jsonl");
/// std::fs::write(&path, r#"{"id":"doc-17","text":"Fresh fish and chips daily."}"#)?;
/// let file = CorpusFile::open(&path, ZstdWindow::default(), Arc::default())?;
/// assert!(matches!(file, CorpusFile::Lines(_)));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub enum CorpusFile {
    /// JSON lines.
    Lines(Box<RawLines>),
    /// A Parquet file.
    Parquet,
}

impl CorpusFile {
    /// Opens a file, and detects its format from its content. `progress` counts the bytes read.
    ///
    /// # Errors
    ///
    /// Returns a message for the user if the file cannot be read, or is neither JSON lines nor
    /// Parquet.
    pub fn open(
        path: &Path,
        zstd_window: ZstdWindow,
        progress: Arc<AtomicU64>,
    ) -> Result<CorpusFile, String> {
        let message = |e: io::Error| e.to_string();
        let file = File::open(path).map_err(message)?;
        let name = path.to_string_lossy();
        let stream = SourceStream::unpacked(&name, Box::new(file), progress, zstd_window);
        let mut stream = stream.map_err(message)?;
        match (sniff::kind(&mut stream, path.file_name()), stream.packing()) {
            (FileKind::Parquet, FileCompression::Plain) => Ok(CorpusFile::Parquet),
            (FileKind::Parquet, _) => {
                Err("this Parquet file is compressed as a whole: decompress it first".to_owned())
            }
            (FileKind::JsonLines, _) if begins_export(&mut stream) => {
                Err("the file is an export of a store, not a corpus".to_owned())
            }
            (FileKind::JsonLines, _) => Ok(CorpusFile::Lines(Box::new(RawLines::new(stream)))),
            // An empty file counts as JSON lines.
            (FileKind::Page, _) if stream.look_ahead(1).is_empty() => {
                Ok(CorpusFile::Lines(Box::new(RawLines::new(stream))))
            }
            _ => Err("the file is neither JSON lines nor Parquet".to_owned()),
        }
    }
}

/// Whether the first line of the stream begins an export.
fn begins_export(stream: &mut SourceStream) -> bool {
    let start = stream.look_ahead(export::HEAD_BYTES_MAX);
    let first = start.split(|&b| b == b'\n').next().unwrap_or_default();
    export::is_head(without_mark(first))
}

/// The decompressed lines of a file, each with its line end. Together the lines are the whole file.
///
/// Unlike in [`lines`](super::lines), a damaged compressed part ends the file.
///
/// ```
/// use std::sync::Arc;
///
/// use simkeep_formats::ZstdWindow;
/// use simkeep_formats::raw::{CorpusFile, RawLine};
///
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("pages.jsonl");
/// std::fs::write(&path, "{\"id\":1}\n\n{\"id\":2}\n")?;
/// let file = CorpusFile::open(&path, ZstdWindow::default(), Arc::default())?;
/// let CorpusFile::Lines(mut lines) = file else { panic!("it has lines") };
/// let mut copy: Vec<u8> = Vec::new();
/// while let Some(line) = lines.next_line()? {
///     match line {
///         RawLine::Whole(line) | RawLine::TooLong(line) | RawLine::GoesOn(line) => copy.extend(line),
///     }
/// }
/// assert_eq!(copy, std::fs::read(&path)?);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct RawLines {
    stream: SourceStream,
    /// A line that is not contiguous in the stream.
    held: Vec<u8>,
    /// The number of bytes of the stream in the last line.
    taken: usize,
    /// Whether the next bytes continue a line longer than the limit.
    goes_on: bool,
    line_bytes_max: usize,
}

/// A piece of a file.
///
/// ```
/// use std::sync::Arc;
///
/// use simkeep_formats::ZstdWindow;
/// use simkeep_formats::raw::{CorpusFile, RawLine};
///
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("pages.jsonl");
/// std::fs::write(&path, "{\"id\":1}\r\n{\"id\":2}")?;
/// let file = CorpusFile::open(&path, ZstdWindow::default(), Arc::default())?;
/// let CorpusFile::Lines(mut lines) = file else { panic!("it has lines") };
/// assert_eq!(lines.next_line()?, Some(RawLine::Whole(b"{\"id\":1}\r\n")));
/// assert_eq!(lines.next_line()?, Some(RawLine::Whole(b"{\"id\":2}")));
/// assert_eq!(lines.next_line()?, None);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RawLine<'a> {
    /// A line, with its line end if it has one.
    Whole(&'a [u8]),
    /// The start of a line longer than [`RECORD_BYTES_MAX`].
    TooLong(&'a [u8]),
    /// The continuation of a line longer than [`RECORD_BYTES_MAX`].
    GoesOn(&'a [u8]),
}

impl RawLines {
    fn new(stream: SourceStream) -> RawLines {
        let line_bytes_max = usize::try_from(RECORD_BYTES_MAX).unwrap_or(usize::MAX);
        RawLines { stream, held: Vec::new(), taken: 0, goes_on: false, line_bytes_max }
    }

    /// Returns the compression of the file.
    pub fn packing(&self) -> FileCompression {
        self.stream.packing()
    }

    /// Returns the next line; `None` at the end.
    ///
    /// # Errors
    ///
    /// Returns an error if the file cannot be read, or if a compressed part is damaged.
    pub fn next_line(&mut self) -> io::Result<Option<RawLine<'_>>> {
        self.stream.consume(std::mem::take(&mut self.taken));
        self.held.clear();
        loop {
            let bytes = self.stream.fill_buf()?;
            let end = memchr(b'\n', bytes).map(|at| at + 1);
            let (len, is_last) = (end.unwrap_or(bytes.len()), end.is_some() || bytes.is_empty());
            if self.goes_on {
                self.goes_on = !is_last;
                self.taken = len;
                let bytes = self.stream.fill_buf()?.get(..len).unwrap_or_default();
                return Ok((!bytes.is_empty()).then_some(RawLine::GoesOn(bytes)));
            }
            if self.held.is_empty() && end.is_some() && len <= self.line_bytes_max {
                self.taken = len;
                let bytes = self.stream.fill_buf()?.get(..len).unwrap_or_default();
                return Ok(Some(RawLine::Whole(bytes)));
            }
            self.held.extend_from_slice(bytes.get(..len).unwrap_or_default());
            self.stream.consume(len);
            if self.held.len() > self.line_bytes_max {
                self.goes_on = !is_last;
                return Ok(Some(RawLine::TooLong(&self.held)));
            }
            if is_last {
                return Ok((!self.held.is_empty()).then_some(RawLine::Whole(&self.held)));
            }
        }
    }
}

/// Returns the name of the document in a line, as found when the line is loaded with these keys.
/// `None` for an empty line.
///
/// ```
/// use simkeep_formats::{DocumentKeys, raw};
/// let name = |line| raw::name(line, &DocumentKeys::of_documents());
/// assert_eq!(name(br#"{"id":4711,"text":"Fresh fish."}"#)?.unwrap().url, "4711");
/// assert!(name(b"\n")?.is_none());
/// assert!(name(br#"{"text":"Fresh fish."}"#).is_err());
/// # Ok::<(), String>(())
/// ```
///
/// # Errors
///
/// Returns the reason why the line has no name.
pub fn name<'l>(line: &'l [u8], keys: &DocumentKeys) -> Result<Option<NamedText<'l>>, String> {
    let line = without_mark(line);
    if line.trim_ascii().is_empty() {
        return Ok(None);
    }
    // Loading parses a line without its end. With it, a string that is cut off would contain the
    // line break, and the message would be another one.
    keys.name(line.strip_suffix(b"\n").unwrap_or(line)).map(Some)
}

/// Returns the name of the document in a row of a Parquet file, as found when the row is loaded.
/// `url` and `text` are the cells of the name and of the text.
///
/// # Errors
///
/// Returns the reason why the row has no name.
#[cfg(feature = "parquet")]
pub fn name_in_row(
    keys: &DocumentKeys,
    url: simkeep_parquet::CellValue,
    text: simkeep_parquet::CellValue,
) -> Result<NamedText<'static>, String> {
    super::parquet::name(keys, url, text)
}

/// Adds two keys to a line: the page that its document duplicates, and their distance in bits.
///
/// ```
/// let line = b"{\"id\":2,\"text\":\"Fresh fish.\"}\n";
/// let marked = simkeep_formats::raw::marked(line, "1", 3)?;
/// let expected = "{\"id\":2,\"text\":\"Fresh fish.\",\"duplicate_of\":\"1\",\"distance\":3}\n";
/// assert_eq!(String::from_utf8(marked).unwrap(), expected);
/// # Ok::<(), String>(())
/// ```
///
/// # Errors
///
/// Returns an error if the line already has such a key, or is not an object.
pub fn marked(line: &[u8], duplicate_of: &str, distance: u32) -> Result<Vec<u8>, String> {
    for key in ["duplicate_of", "distance"] {
        if has_key(line, key) {
            return Err(format!("the line already has a key \"{key}\""));
        }
    }
    let end = line.iter().rposition(|&b| b == b'}').ok_or("the line is not a JSON object")?;
    let (object, rest) = line.split_at(end);
    let of = serde_json::to_string(duplicate_of).map_err(|e| e.to_string())?;
    let mark = format!(",\"duplicate_of\":{},\"distance\":{distance}", escape::json(&of));
    Ok([object, mark.as_bytes(), rest].concat())
}

#[cfg(test)]
mod tests {
    use super::super::gzip::tests::gz;
    use super::super::stream::tests::stream;
    use super::*;

    /// Returns all bytes, and each line with a flag for a whole line.
    fn read(bytes: Vec<u8>, line_bytes_max: usize) -> (Vec<u8>, Vec<(bool, Vec<u8>)>) {
        let mut lines = RawLines { line_bytes_max, ..RawLines::new(stream(bytes)) };
        let (mut all, mut found) = (Vec::new(), Vec::new());
        while let Some(line) = lines.next_line().unwrap() {
            match line {
                RawLine::Whole(line) => {
                    all.extend_from_slice(line);
                    found.push((true, line.to_vec()));
                }
                RawLine::TooLong(start) => {
                    all.extend_from_slice(start);
                    found.push((false, start.to_vec()));
                }
                RawLine::GoesOn(rest) => {
                    all.extend_from_slice(rest);
                    let (is_whole, line) = found.last_mut().unwrap();
                    assert!(!*is_whole && !rest.is_empty());
                    line.extend_from_slice(rest);
                }
            }
        }
        (all, found)
    }

    #[test]
    fn all_lines_are_read_at_any_length_and_compression() {
        let long = "x".repeat(600_000);
        for text in [
            "".to_owned(),
            "\n".to_owned(),
            "one\r\ntwo\n\nlast".to_owned(),
            "one\r\ntwo\n\nlast\n\n".to_owned(),
            format!("a\n{long}\nb\n"),
            format!("{long}{long}"),
            format!("{long}\n{long}\n"),
        ] {
            for max in [5, 100, 599_999, 600_000, 600_001, 10_000_000] {
                for bytes in [text.clone().into_bytes(), gz(text.as_bytes())] {
                    let (all, found) = read(bytes, max);
                    assert!(all == text.as_bytes());
                    let lines = text.split_inclusive('\n').map(str::as_bytes);
                    let lines: Vec<_> =
                        lines.map(|line| (line.len() <= max, line.to_vec())).collect();
                    assert!(found == lines, "{max}");
                }
            }
        }
    }

    #[test]
    fn mark_adds_exactly_two_keys() {
        let line = b" {\"id\":1,\"x\":{\"}\":[]}} \r\n";
        let marked = marked(line, "a\"\u{202e}", 3).unwrap();
        let value: serde_json::Value = serde_json::from_slice(&marked).unwrap();
        assert_eq!(value["duplicate_of"], "a\"\u{202e}");
        assert_eq!((&value["distance"], &value["x"]["}"]), (&3.into(), &serde_json::json!([])));
        assert!(
            marked.starts_with(b" {\"id\":1,\"x\":{\"}\":[]},\"dup") && marked.ends_with(b"} \r\n")
        );
        assert!(super::marked(&marked, "b", 1).is_err());
    }

    #[test]
    fn broken_line_has_the_message_of_loading() {
        let keys = DocumentKeys::default();
        for line in
            ["{\"url\":\"a\",\"text\":\"cut", "{\"url\":", "{\"url\":\"a\tb\"}", "{} {}", "[1]"]
        {
            let Err(loading) = keys.item(line.as_bytes()) else { panic!("{line}") };
            let whole = format!("{line}\n");
            assert_eq!(super::name(whole.as_bytes(), &keys), Err(loading), "{line}");
        }
    }

    #[test]
    fn name_is_the_one_that_loading_uses() {
        let keys = DocumentKeys { url: "meta.id".parse().unwrap(), ..DocumentKeys::default() };
        let name = |line: &str, keys: &DocumentKeys| {
            let name = super::name(line.as_bytes(), keys).map_err(drop)?;
            let with_text = |name: NamedText<'_>| (name.url.to_string(), name.text().is_some());
            Ok(name.map(with_text))
        };
        for (line, own, foreign) in [
            ("{\"url\":\"a\",\"text\":\"x\"}", Ok(Some(("a".to_owned(), true))), Err(())),
            ("{\"url\":[],\"meta\":{\"id\":7}}", Err(()), Ok(Some(("7".to_owned(), false)))),
            ("\u{feff}{\"url\":\"a\"}\n", Ok(Some(("a".to_owned(), false))), Err(())),
            (" \r\n", Ok(None), Ok(None)),
            ("", Ok(None), Ok(None)),
            ("{\"url\":\"\"}", Err(()), Err(())),
            ("{\"url\":\"a\"", Err(()), Err(())),
            ("{\"url\":\"a\"} {}", Err(()), Err(())),
            ("[]", Err(()), Err(())),
        ] {
            assert_eq!(name(line, &DocumentKeys::default()), own, "{line}");
            assert_eq!(name(line, &keys), foreign, "{line}");
        }
    }
}
