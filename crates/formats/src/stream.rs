//! The decompressed bytes of one source, by line and by count.

use std::fmt;
use std::fs::File;
use std::io::{self, BufRead, Read};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use super::compression::Decompressed;
use super::compression::FileCompression;
use super::escape;
use super::window::RewindReader;
use super::zstandard::ZstdWindow;

/// The decompressed bytes of one source.
///
/// After an error the stream may continue, but not at the position of the error. See [`Decompressed`].
pub(super) struct SourceStream {
    /// The name of the source, escaped for display.
    name: Arc<str>,
    /// Whether reading may have to wait for data.
    live: bool,
    unpacked: Decompressed,
    /// Bytes that were examined and not yet consumed, which are returned first.
    ahead: Vec<u8>,
    ahead_consumed: usize,
    /// The compressed part of the bytes in `ahead`.
    ahead_part: Option<u64>,
    /// An error to return next, and the compressed part to which it refers.
    failed: Option<(io::Error, Option<u64>)>,
    /// The compressed part of the bytes last returned.
    shown_part: Option<u64>,
    /// The offset of the next byte.
    offset: u64,
}

/// The end of a line.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum LineEnd {
    /// A line end, or the end of the stream.
    Whole,
    /// The line was longer than the limit; the rest of the line has been skipped.
    TooLong,
    /// The stream has ended, without a further line.
    End,
}

impl SourceStream {
    /// Reads a source that may be compressed. The name may be any text.
    pub(super) fn unpacked(
        name: &str,
        file: Box<dyn Read + Send>,
        progress: Arc<AtomicU64>,
        zstd_window: ZstdWindow,
    ) -> io::Result<SourceStream> {
        Ok(SourceStream::new(
            name,
            Decompressed::new(RewindReader::new(file, progress), zstd_window)?,
        ))
    }

    /// Opens a file that may be compressed; `-` is standard input.
    pub(super) fn open(path: &Path, zstd_window: ZstdWindow) -> io::Result<SourceStream> {
        let bytes: Box<dyn Read + Send> =
            if path == "-" { Box::new(io::stdin()) } else { Box::new(File::open(path)?) };
        SourceStream::unpacked(&path.to_string_lossy(), bytes, Arc::default(), zstd_window)
    }

    /// Reads a source without decompression.
    pub(super) fn plain(
        name: &str,
        file: Box<dyn Read + Send>,
        progress: Arc<AtomicU64>,
    ) -> SourceStream {
        SourceStream::new(name, Decompressed::Plain(RewindReader::new(file, progress)))
    }

    fn new(name: &str, unpacked: Decompressed) -> SourceStream {
        SourceStream {
            name: escape(name).into(),
            live: false,
            unpacked,
            ahead: Vec::new(),
            ahead_consumed: 0,
            ahead_part: None,
            failed: None,
            shown_part: None,
            offset: 0,
        }
    }

    /// Decompresses the bytes of this stream again, up to `bytes_max` bytes. Reading more is an
    /// error, since a doubly compressed file can expand a millionfold.
    pub(super) fn unpacked_again(
        self,
        bytes_max: u64,
        zstd_window: ZstdWindow,
    ) -> io::Result<SourceStream> {
        let name = self.name();
        let stream = SourceStream::unpacked("", Box::new(self), Arc::default(), zstd_window)?;
        let limited = LimitedStream { stream, left: bytes_max, bytes_max };
        Ok(SourceStream { name, ..SourceStream::plain("", Box::new(limited), Arc::default()) })
    }

    /// Sets whether reading may have to wait for data.
    pub(super) fn live(self, live: bool) -> SourceStream {
        SourceStream { live, ..self }
    }

    /// Whether reading may have to wait for data.
    pub(super) fn is_live(&self) -> bool {
        self.live
    }

    /// Returns the compression of the source.
    pub(super) fn packing(&self) -> FileCompression {
        match self.unpacked {
            Decompressed::Plain(_) => FileCompression::Plain,
            Decompressed::Gzip(_) => FileCompression::Gzip,
            Decompressed::Zstandard(_) => FileCompression::Zstd,
        }
    }

    /// Whether reading the very next byte may have to wait.
    pub(super) fn may_wait(&self) -> bool {
        self.live && self.ahead_consumed >= self.ahead.len() && self.unpacked.is_drained()
    }

    /// Returns the first `count` bytes without consuming them; fewer if the stream, or its first
    /// compressed part, ends or fails earlier.
    pub(super) fn look_ahead(&mut self, count: usize) -> &[u8] {
        self.look_ahead_until(count, |_| false)
    }

    /// Returns the first bytes like [`look_ahead`](Self::look_ahead). On a stream that may have to
    /// wait, reads only until there are enough bytes.
    pub(super) fn look_ahead_until(
        &mut self,
        count: usize,
        enough: impl Fn(&[u8]) -> bool,
    ) -> &[u8] {
        let waits = |ahead: &[u8]| !(self.live && enough(ahead));
        while self.ahead.len() < count && self.failed.is_none() && waits(&self.ahead) {
            match self.unpacked.fill_buf() {
                Ok([]) => break,
                Ok(bytes) => {
                    let taken = bytes.len();
                    let first = self.ahead.is_empty();
                    self.ahead.extend_from_slice(bytes);
                    if first {
                        self.ahead_part = self.unpacked.part();
                    } else if self.ahead_part != self.unpacked.part() {
                        self.ahead.truncate(self.ahead.len() - taken);
                        break;
                    }
                    self.unpacked.consume(taken);
                }
                Err(e) => self.failed = Some((e, self.unpacked.part())),
            }
        }
        self.ahead.get(..count).unwrap_or(&self.ahead)
    }

    /// Returns the first bytes that were examined.
    pub(super) fn seen(&self) -> &[u8] {
        &self.ahead
    }

    /// Skips line ends, and checks whether the compressed part of the bytes before them is sound.
    /// The checksum of a part is at its end. Damage to a later part is not reported yet.
    pub(super) fn check_part_end(&mut self) -> io::Result<()> {
        let part = self.shown_part;
        loop {
            match self.show() {
                Ok(bytes) => {
                    let blank = bytes.iter().take_while(|b| b"\r\n".contains(b)).count();
                    let done = blank < bytes.len() || blank == 0;
                    self.consume(blank);
                    if done {
                        return Ok(());
                    }
                }
                Err((error, about)) if about == part => return Err(error),
                Err(later) => {
                    self.failed = Some(later);
                    return Ok(());
                }
            }
        }
    }

    /// Returns the available bytes, or an error and the compressed part to which it refers.
    fn show(&mut self) -> Result<&[u8], (io::Error, Option<u64>)> {
        if self.ahead_consumed < self.ahead.len() {
            self.shown_part = self.ahead_part;
            return Ok(self.ahead.get(self.ahead_consumed..).unwrap_or_default());
        }
        if let Some(failed) = self.failed.take() {
            return Err(failed);
        }
        if let Err(e) = self.unpacked.fill_buf() {
            return Err((e, self.unpacked.part()));
        }
        self.shown_part = self.unpacked.part();
        self.unpacked.fill_buf().map_err(|e| (e, None))
    }

    /// Returns the place of the next byte, for a message.
    pub(super) fn place(&self) -> StreamPosition {
        let part = if self.ahead_consumed < self.ahead.len() {
            self.ahead_part
        } else {
            self.unpacked.part()
        };
        StreamPosition { offset: self.offset, part }
    }

    /// Returns a place of this stream for display.
    pub(super) fn at(&self, place: StreamPosition) -> SourcePosition {
        SourcePosition { name: self.name(), place }
    }

    /// Returns the stream's name, escaped for display.
    pub(super) fn name(&self) -> Arc<str> {
        Arc::clone(&self.name)
    }

    /// Reads the next line, without its end (LF or CR LF), into `line`. If the line is longer than
    /// `max` bytes, the rest of the line is skipped.
    pub(super) fn line(&mut self, line: &mut Vec<u8>, max: usize) -> io::Result<LineEnd> {
        line.clear();
        let (mut any, mut too_long) = (false, false);
        loop {
            let bytes = self.fill_buf()?;
            if bytes.is_empty() {
                break;
            }
            any = true;
            let end = bytes.iter().position(|&b| b == b'\n');
            let part = bytes.get(..end.unwrap_or(bytes.len())).unwrap_or_default();
            let taken = part.len().min(max - line.len());
            too_long |= taken < part.len();
            line.extend_from_slice(part.get(..taken).unwrap_or_default());
            let consumed = part.len() + usize::from(end.is_some());
            self.consume(consumed);
            if end.is_some() {
                break;
            }
        }
        if line.last() == Some(&b'\r') {
            line.pop();
        }
        Ok(match (any, too_long) {
            (false, _) => LineEnd::End,
            (true, true) => LineEnd::TooLong,
            (true, false) => LineEnd::Whole,
        })
    }
}

/// A place in a stream.
#[derive(Clone, Copy, Debug)]
pub(super) struct StreamPosition {
    /// The offset in the decompressed bytes.
    offset: u64,
    /// The start of the compressed part in the file.
    part: Option<u64>,
}

/// A place in a named stream.
#[derive(Clone, Debug)]
pub(super) struct SourcePosition {
    name: Arc<str>,
    place: StreamPosition,
}

impl fmt::Display for SourcePosition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let StreamPosition { offset, part } = self.place;
        write!(f, "{}, byte {offset}", self.name)?;
        match part {
            None => Ok(()),
            Some(part) => write!(f, " after decompression (byte {part} of the file)"),
        }
    }
}

impl Read for SourceStream {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let read = self.fill_buf()?.read(out)?;
        self.consume(read);
        Ok(read)
    }
}

impl BufRead for SourceStream {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        self.show().map_err(|(error, _)| error)
    }

    fn consume(&mut self, count: usize) {
        self.offset += count as u64;
        if self.ahead_consumed < self.ahead.len() {
            self.ahead_consumed += count;
        } else {
            self.unpacked.consume(count);
        }
    }
}

/// A stream that is limited to a number of bytes.
struct LimitedStream {
    stream: SourceStream,
    left: u64,
    bytes_max: u64,
}

impl Read for LimitedStream {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let bytes = self.stream.fill_buf()?;
        if self.left == 0 && !bytes.is_empty() {
            let max = self.bytes_max;
            return Err(io::Error::other(format!(
                "the file is compressed twice, and has more than {max} bytes after decompression"
            )));
        }
        let read = bytes.take(self.left).read(out)?;
        self.stream.consume(read);
        self.left -= read as u64;
        Ok(read)
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::super::gzip::tests::gz;
    use super::*;

    /// Creates a stream over these bytes.
    pub(in super::super) fn stream(bytes: impl Into<Vec<u8>>) -> SourceStream {
        let bytes = Box::new(io::Cursor::new(bytes.into()));
        SourceStream::unpacked("test", bytes, Arc::default(), ZstdWindow::default()).unwrap()
    }

    #[test]
    fn line_ends_are_handled_and_long_lines_cut() {
        let mut stream = stream("one\r\ntwo\n\nlonger line\nlast");
        let mut line = Vec::new();
        let mut all = Vec::new();
        loop {
            match stream.line(&mut line, 6).unwrap() {
                LineEnd::End => break,
                kind => all.push((kind, String::from_utf8(line.clone()).unwrap())),
            }
        }
        let expected = [
            (LineEnd::Whole, "one"),
            (LineEnd::Whole, "two"),
            (LineEnd::Whole, ""),
            (LineEnd::TooLong, "longer"),
            (LineEnd::Whole, "last"),
        ];
        assert_eq!(all, expected.map(|(kind, text)| (kind, text.to_string())));
    }

    #[test]
    fn doubly_compressed_input_is_read_up_to_a_limit() {
        let packed = gz(&gz(&[b'x'; 1000]));
        for (max, why) in [(1000, None), (1001, None), (999, Some("more than 999 bytes"))] {
            let again = stream(packed.as_slice()).unpacked_again(max, ZstdWindow::default());
            let mut all = Vec::new();
            let ended = again.unwrap().read_to_end(&mut all);
            match why {
                None => assert_eq!(ended.unwrap(), 1000),
                Some(why) => assert!(ended.unwrap_err().to_string().contains(why)),
            }
        }
    }

    #[test]
    fn looking_ahead_consumes_nothing() {
        let mut stream = stream("abcdef");
        assert_eq!(stream.look_ahead(3), b"abc");
        assert_eq!(stream.look_ahead(100), b"abcdef");
        let mut all = String::new();
        stream.read_to_string(&mut all).unwrap();
        assert_eq!(all, "abcdef");
        assert_eq!(stream.at(stream.place()).to_string(), "test, byte 6");
    }
}
