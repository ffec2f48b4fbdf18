//! Decodes an XML document in any declared encoding.
//!
//! A byte order mark decides, then the pattern of the first bytes, then the XML declaration (XML
//! 1.0, 4.3.3 and appendix F). In a compressed file, a declaration is ignored unless it ends in the
//! first compressed part. Labels are defined by the Encoding Standard: `ISO-8859-1` is
//! windows-1252.

use std::io::{self, BufRead};

use encoding_rs::{Decoder, Encoding, UTF_8, UTF_16BE, UTF_16LE};

use super::super::stream::{SourcePosition, SourceStream, StreamPosition};

/// The limit for the end of the XML declaration, in bytes from the start.
pub(super) const DECLARED_BYTES: usize = 1 << 10;

/// The maximum number of bytes that a decoder writes for one byte: its buffered characters, and one
/// more character.
const DECODED_BYTES_MAX: usize = 32;

/// Whether a file begins like XML in a supported encoding.
pub(super) fn is_xml(start: &[u8]) -> bool {
    let (encoding, mark) = encoding(start.get(..DECLARED_BYTES).unwrap_or(start));
    let mut start = start.get(mark..).unwrap_or_default();
    let is_blank = |byte: &u8| *byte == 0 && encoding != UTF_8 || byte.is_ascii_whitespace();
    loop {
        start = match (start, Encoding::for_bom(start)) {
            ([first, rest @ ..], _) if is_blank(first) => rest,
            // A second mark is an invisible character.
            (_, Some((other, mark))) if other == encoding => start.get(mark..).unwrap_or_default(),
            _ => return start.first() == Some(&b'<'),
        };
    }
}

/// Returns the length of leading white space. Some servers write it before the byte order mark. A
/// byte 0 is part of a blank in UTF-16.
fn blank(start: &[u8]) -> usize {
    let is_blank = |byte: &u8| *byte == 0 || byte.is_ascii_whitespace();
    start.iter().position(|byte| !is_blank(byte)).unwrap_or_default()
}

/// Returns the encoding of a document with this start, and the length of its byte order mark and
/// the blanks before it.
fn encoding(start: &[u8]) -> (&'static Encoding, usize) {
    let blank = blank(start);
    if let Some((encoding, mark)) = Encoding::for_bom(start.get(blank..).unwrap_or_default()) {
        return (encoding, blank + mark);
    }
    let encoding = match start {
        [b'<', 0, ..] => UTF_16LE,
        [0, b'<', ..] => UTF_16BE,
        _ => declared(start).unwrap_or(UTF_8),
    };
    (encoding, 0)
}

/// Returns the encoding that an XML declaration names. The bytes of the declaration are ASCII, so a
/// document that declares UTF-16 is not in UTF-16.
fn declared(start: &[u8]) -> Option<&'static Encoding> {
    let declaration = start.trim_ascii_start().strip_prefix(b"<?xml")?;
    let end = declaration.iter().position(|byte| *byte == b'>')?;
    let declaration = declaration.get(..end)?;
    let name = b"encoding";
    let at = declaration.windows(name.len()).position(|window| window == name)?;
    let value = declaration.get(at + name.len()..)?.trim_ascii_start();
    let value = value.strip_prefix(b"=")?.trim_ascii_start();
    let (quote, value) = value.split_first().filter(|(quote, _)| b"'\"".contains(quote))?;
    let label = value.split(|byte| byte == quote).next()?;
    Encoding::for_label(label).filter(|encoding| ![UTF_16LE, UTF_16BE].contains(encoding))
}

/// The bytes of a document in UTF-8. A document in UTF-8 is passed unchanged, even if it is
/// invalid.
pub(super) struct Utf8Stream {
    stream: SourceStream,
    /// For any other encoding, the decoder and its output for the last byte. Bytes are decoded one
    /// by one, so that each has its place.
    decoding: Option<StreamDecoder>,
}

struct StreamDecoder {
    decoder: Decoder,
    decoded: [u8; DECODED_BYTES_MAX],
    from: usize,
    to: usize,
    /// The place of the last decoded byte.
    place: StreamPosition,
    is_over: bool,
}

impl Utf8Stream {
    pub(super) fn new(mut stream: SourceStream) -> Utf8Stream {
        let (encoding, mark) = encoding(stream.look_ahead(DECLARED_BYTES));
        stream.consume(mark);
        let decoding = (encoding != UTF_8).then(|| StreamDecoder {
            decoder: encoding.new_decoder_without_bom_handling(),
            decoded: [0; DECODED_BYTES_MAX],
            from: 0,
            to: 0,
            place: stream.place(),
            is_over: false,
        });
        Utf8Stream { stream, decoding }
    }

    /// Returns the place of the next character.
    pub(super) fn place(&self) -> StreamPosition {
        match &self.decoding {
            Some(decoding) if decoding.from < decoding.to => decoding.place,
            _ => self.stream.place(),
        }
    }

    /// Returns a place in the file for display.
    pub(super) fn at(&self, place: StreamPosition) -> SourcePosition {
        self.stream.at(place)
    }

    /// Returns the next bytes, or no bytes at the end of the document.
    pub(super) fn fill(&mut self) -> io::Result<&[u8]> {
        match &mut self.decoding {
            Some(decoding) => decoding.fill(&mut self.stream),
            None => self.stream.fill_buf(),
        }
    }

    /// Consumes bytes that [`Utf8Stream::fill`] returned.
    pub(super) fn take(&mut self, count: usize) {
        match &mut self.decoding {
            Some(decoding) => decoding.from += count,
            None => self.stream.consume(count),
        }
    }

    /// Returns the next byte without consuming it.
    pub(super) fn peek(&mut self) -> io::Result<Option<u8>> {
        Ok(self.fill()?.first().copied())
    }
}

impl StreamDecoder {
    fn fill(&mut self, stream: &mut SourceStream) -> io::Result<&[u8]> {
        while self.from >= self.to && !self.is_over {
            self.place = stream.place();
            let byte = stream.fill_buf()?.get(..1).unwrap_or_default();
            self.is_over = byte.is_empty();
            let (_, read, written, _) =
                self.decoder.decode_to_utf8(byte, &mut self.decoded, self.is_over);
            stream.consume(read);
            (self.from, self.to) = (0, written);
        }
        Ok(self.decoded.get(self.from..self.to).unwrap_or_default())
    }
}
