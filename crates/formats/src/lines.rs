//! Lines of files, many at a time.

use std::io::BufRead;
use std::path::Path;
use std::sync::Arc;

use super::chunk::CHUNK_BYTES;
use super::stream::SourceStream;
use super::{InputSource, RECORD_BYTES_MAX, ZstdWindow, escape, export};

/// Opens a file of lines, which may be compressed; `-` is standard input. Reads the first bytes of
/// the file. Lines of a pipe are returned as soon as they arrive.
///
/// ```
/// use simkeep_formats::{ZstdWindow, lines};
///
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("urls.txt");
/// std::fs::write(&path, "https://example.com/\nhttps://example.org/\n")?;
/// let mut count = 0;
/// for block in lines::open(&path, ZstdWindow::default())? {
///     count += block.each().count();
/// }
/// assert_eq!(count, 2);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
///
/// Returns a message for the user if the file cannot be read.
pub fn open(path: &Path, zstd_window: ZstdWindow) -> Result<LineCutter, String> {
    let stream = SourceStream::open(path, zstd_window);
    let stream = stream.map_err(|e| format!("cannot read {}: {e}", path.display()))?;
    Ok(LineCutter::new(stream.live(InputSource::from_argument(path.as_os_str()).is_live())))
}

/// Some whole lines of a stream.
///
/// ```
/// use simkeep_formats::{ZstdWindow, lines};
///
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("urls.txt");
/// std::fs::write(&path, "https://example.com/\r\nhttps://example.org/\r\n")?;
/// for block in lines::open(&path, ZstdWindow::default())? {
///     for (number, line) in block.each() {
///         match line {
///             Ok(line) => assert!(line.ends_with(b"/")), // without its line end
///             Err(why) => eprintln!("{}: {why}", block.at(number)),
///         }
///     }
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct LineBlock {
    name: Arc<str>,
    /// The number of the first line.
    first: u64,
    bytes: Vec<u8>,
    /// The reason why the next line after these lines cannot be read.
    fault: Option<String>,
    kind: LineFileKind,
}

/// The kind of file that lines are from.
#[derive(Clone, Copy, Debug, PartialEq)]
enum LineFileKind {
    Anything,
    Export,
    /// The end of an export's file, without lines.
    Ended,
}

impl LineBlock {
    /// Returns the bytes of memory that the lines take.
    pub fn bytes(&self) -> usize {
        self.bytes.len()
    }

    /// Returns each line with its number. A line has no line end (LF or CR LF). A line that cannot
    /// be read is an error with the reason.
    pub fn each(&self) -> impl Iterator<Item = (u64, Result<&[u8], &str>)> {
        let bytes = self.bytes.strip_suffix(b"\n").unwrap_or(&self.bytes);
        let lines = (!self.bytes.is_empty()).then(|| bytes.split(|&b| b == b'\n'));
        let lines = lines.into_iter().flatten();
        let lines = lines.map(|line| Ok(line.strip_suffix(b"\r").unwrap_or(line)));
        (self.first..).zip(lines.chain(self.fault.as_deref().map(Err)))
    }

    /// Whether the lines belong to an export.
    pub(super) fn is_of_export(&self) -> bool {
        self.kind != LineFileKind::Anything
    }

    /// If these lines mark the end of an export's file, returns the number of lines in the file
    /// plus one.
    pub(super) fn export_has_ended(&self) -> Option<u64> {
        (self.kind == LineFileKind::Ended).then_some(self.first)
    }

    /// Returns the number of the line within which the stream ends, if the stream ends after these
    /// lines.
    pub(super) fn cut(&self) -> Option<u64> {
        let is_cut = !self.bytes.is_empty() && !self.bytes.ends_with(b"\n");
        is_cut.then(|| self.first + self.bytes.iter().filter(|&&b| b == b'\n').count() as u64)
    }

    /// Returns the position of the line with this number, escaped for display.
    pub fn at(&self, number: u64) -> String {
        format!("{}, line {number}", self.name)
    }
}

/// Splits a stream between its lines.
///
/// If a compressed part is damaged, the current line is lost, and the next line begins where the
/// stream continues.
///
/// ```
/// use simkeep_formats::{ZstdWindow, lines};
///
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("urls.txt");
/// std::fs::write(&path, "https://example.com/\nhttps://example.org/\n")?;
/// // A small file is a single block.
/// let mut blocks = lines::open(&path, ZstdWindow::default())?;
/// assert_eq!(blocks.next().map(|block| block.bytes()), Some(42));
/// assert!(blocks.next().is_none());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct LineCutter {
    stream: SourceStream,
    /// The beginning of an unfinished line.
    begun: Vec<u8>,
    /// The number of the next line.
    number: u64,
    line_bytes_max: usize,
    /// The kind of file that the next line is from.
    kind: LineFileKind,
}

impl LineCutter {
    pub(super) fn new(stream: SourceStream) -> LineCutter {
        let line_bytes_max = usize::try_from(RECORD_BYTES_MAX).unwrap_or(usize::MAX);
        LineCutter {
            stream,
            begun: Vec::new(),
            number: 1,
            line_bytes_max,
            kind: LineFileKind::Anything,
        }
    }

    /// Skips the rest of a line that is too long, and returns the error.
    fn pass_over(&mut self) -> String {
        let too_long = format!("the line is longer than {} MiB", self.line_bytes_max >> 20);
        loop {
            match self.stream.fill_buf() {
                Ok([]) => return too_long,
                Ok(part) => {
                    let end = part.iter().position(|&b| b == b'\n');
                    let count = end.map_or(part.len(), |end| end + 1);
                    self.stream.consume(count);
                    if end.is_some() {
                        return too_long;
                    }
                }
                Err(error) => return escape(&error.to_string()),
            }
        }
    }
}

impl Iterator for LineCutter {
    type Item = LineBlock;

    fn next(&mut self) -> Option<LineBlock> {
        let mut bytes = std::mem::take(&mut self.begun);
        bytes.reserve(CHUNK_BYTES);
        // The end of the last whole line.
        let mut whole = 0;
        let mut fault = None;
        loop {
            let part = match self.stream.fill_buf() {
                Ok([]) => {
                    // The last line may have no end.
                    whole = bytes.len();
                    break;
                }
                // The part is limited, so that a line that ends within it is not too long.
                Ok(part) => part.get(..self.line_bytes_max).unwrap_or(part),
                Err(error) => {
                    bytes.truncate(whole);
                    fault = Some(escape(&error.to_string()));
                    break;
                }
            };
            let begun = bytes.len() - whole;
            let mut may_come = part.iter().take(self.line_bytes_max - begun + 1);
            if begun + part.len() > self.line_bytes_max && !may_come.any(|&b| b == b'\n') {
                bytes.truncate(whole);
                fault = Some(self.pass_over());
                break;
            }
            if let Some(end) = part.iter().rposition(|&b| b == b'\n') {
                whole = bytes.len() + end + 1;
            }
            bytes.extend_from_slice(part);
            let count = part.len();
            self.stream.consume(count);
            if whole >= CHUNK_BYTES || (whole > 0 && self.stream.may_wait()) {
                break;
            }
        }
        self.begun = bytes.split_off(whole);
        if bytes.is_empty() && fault.is_none() {
            if self.kind != LineFileKind::Export {
                return None;
            }
            self.kind = LineFileKind::Ended;
            return Some(LineBlock {
                name: self.stream.name(),
                first: self.number,
                bytes,
                fault,
                kind: self.kind,
            });
        }
        let first = self.number;
        let ends = bytes.iter().filter(|&&b| b == b'\n').count();
        let open = !bytes.is_empty() && bytes.last() != Some(&b'\n');
        self.number += ends as u64 + u64::from(open) + u64::from(fault.is_some());
        if first == 1 && lines_begin_export(&bytes) {
            self.kind = LineFileKind::Export;
        }
        Some(LineBlock { name: self.stream.name(), first, bytes, fault, kind: self.kind })
    }
}

/// Whether the first of these lines begins an export.
fn lines_begin_export(lines: &[u8]) -> bool {
    let first = lines.split(|&b| b == b'\n').next().unwrap_or_default();
    export::is_head(without_mark(first))
}

/// Returns a line without a byte order mark at its start.
pub(super) fn without_mark(line: &[u8]) -> &[u8] {
    line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line)
}

/// Whether a line may have this key.
pub(super) fn has_key(line: &[u8], key: &str) -> bool {
    let quoted = format!("\"{key}\"");
    line.windows(quoted.len()).any(|bytes| bytes == quoted.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::super::stream::tests::stream;
    use super::*;

    fn read(bytes: &str, line_bytes_max: usize) -> Vec<(u64, Option<String>)> {
        let cutter = LineCutter { line_bytes_max, ..LineCutter::new(stream(bytes)) };
        let text = |line: &[u8]| String::from_utf8(line.to_vec()).unwrap();
        let each = |lines: LineBlock| {
            lines.each().map(|(number, line)| (number, line.ok().map(text))).collect::<Vec<_>>()
        };
        cutter.flat_map(each).collect()
    }

    #[test]
    fn line_ends_are_handled_and_lines_counted() {
        let expected = ["one", "two", "", "longer line", "last"].map(|line| Some(line.to_owned()));
        let expected: Vec<_> = (1..).zip(expected).collect();
        assert_eq!(read("one\r\ntwo\n\nlonger line\nlast", 100), expected);
        assert_eq!(read("one\r\ntwo\n\nlonger line\nlast\n", 100), expected);
        assert_eq!(read("", 100), []);
        assert_eq!(read("\n", 100), [(1, Some(String::new()))]);
    }

    #[test]
    fn overlong_line_is_skipped() {
        for (text, number) in [
            ("one\ntwo\nlonger\nlonger line\nlast", 4),
            ("longer line\n", 1),
            ("one\n\nlonger line", 3),
        ] {
            let lines = read(text, 6);
            assert_eq!(lines.len(), text.lines().count());
            for ((at, text), line) in (1..).zip(text.lines()).zip(lines) {
                let expected = (at != number).then(|| text.to_owned());
                assert_eq!(line, (at, expected));
            }
        }
    }

    #[test]
    fn line_numbers_continue_across_chunks() {
        let text: String = (1..=100_000).map(|number| format!("{number}\n")).collect();
        for (number, line) in read(&text, 100) {
            assert_eq!(line, Some(number.to_string()));
        }
        assert_eq!(read(&text, 100).len(), 100_000);
    }
}
