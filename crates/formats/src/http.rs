//! Parses HTTP responses in archives.

use std::borrow::Cow;
use std::io::{self, Read};

use httparse::Status;

use simkeep::{Response, ResponseMeaning};

use super::content;
use super::{RECORD_BYTES_MAX, Truncation, escape, time};

/// The limit for the header of a response.
pub(super) const HEAD_BYTES_MAX: usize = 1 << 20;
/// The limit for nested content encodings, since a server compresses once.
const ENCODINGS_MAX: usize = 4;

/// The maximum number of canonical URLs of a response, of which the first valid one counts.
const CANONICALS_MAX: usize = 4;

/// The relevant parts of a response's header.
#[derive(Clone, Debug, Default)]
pub(super) struct ResponseHead {
    /// The status.
    pub(super) status: u16,
    /// The type of the body; repeated headers are joined by commas.
    pub(super) content_type: String,
    /// The content encodings, in the order in which they were applied.
    encodings: Vec<String>,
    /// Whether a `Content-Encoding` is declared, known or not.
    is_encoded: bool,
    chunked: bool,
    /// Whether a `Transfer-Encoding` delimits the body, so that its `Content-Length` is ignored
    /// (RFC 9112, 6.3).
    has_transfer_coding: bool,
    /// The length of the body.
    length: Option<u64>,
    /// The target of a redirect.
    pub(super) location: Option<String>,
    /// The entity tag.
    pub(super) etag: Option<Box<[u8]>>,
    /// The first canonical URLs of the fields `Link`, as written.
    pub(super) canonicals: Vec<String>,
    /// The range of the content that the body contains.
    content_range: Option<String>,
    /// The server's time of the last modification, in milliseconds since 1970.
    modified: Option<i64>,
    /// The server's time of the response.
    date: Option<i64>,
    /// The start of the body.
    pub(super) body: usize,
}

/// Whether these first bytes begin an HTTP/1 response. Blank lines may come before it, and a few
/// streaming servers use another protocol name.
pub(super) fn is_response(bytes: &[u8]) -> bool {
    let start = without_blank_lines(bytes);
    let begins =
        |name: &[u8]| start.get(..name.len()).is_some_and(|s| s.eq_ignore_ascii_case(name));
    begins(b"HTTP/") || begins(b"HTTP ") || begins(b"ICY ")
}

/// Parses the header at the start of `bytes`, which begin a response; `None` if `bytes` do not
/// contain the end of the header. `whole` means that no bytes follow, so the empty line after the
/// header may be missing.
///
/// The parser is as lenient as other readers: it ignores invalid header lines, and uses only the
/// number in the status line. Linear time; keeps only the relevant values.
pub(super) fn head(bytes: &[u8], whole: bool) -> Result<Option<ResponseHead>, String> {
    if !is_response(bytes) {
        return Err("the content is not an HTTP response".into());
    }
    let mut lines = HeaderLines { rest: without_blank_lines(bytes), whole };
    let Some(status_line) = lines.next() else { return Ok(None) };
    let status = status(status_line).ok_or_else(|| {
        let start = status_line.get(..64).unwrap_or(status_line);
        format!("the HTTP status line is invalid: \"{}\"", escape(&String::from_utf8_lossy(start)))
    })?;
    let mut head = ResponseHead { status, ..ResponseHead::default() };
    // The current header line: it may continue in the next line.
    let mut header: Option<(HeaderField, Vec<u8>)> = None;
    while let Some(line) = lines.next() {
        if let (Some(b' ' | b'\t'), Some((_, value))) = (line.first(), &mut header) {
            value.push(b' ');
            value.extend_from_slice(line.trim_ascii());
            continue;
        }
        header.take().into_iter().for_each(|(field, value)| head.take(field, &value));
        if line.is_empty() {
            head.body = bytes.len() - lines.rest.len();
            return Ok(Some(head));
        }
        let colon = line.iter().position(|&b| b == b':').unwrap_or(line.len());
        let (name, value) = line.split_at(colon);
        header =
            HeaderField::of(name).map(|field| (field, value.get(1..).unwrap_or_default().to_vec()));
    }
    if !whole {
        return Ok(None);
    }
    header.into_iter().for_each(|(field, value)| head.take(field, &value));
    head.body = bytes.len();
    Ok(Some(head))
}

fn without_blank_lines(bytes: &[u8]) -> &[u8] {
    let blank = bytes.iter().take_while(|b| b"\r\n".contains(b)).count();
    bytes.get(blank..).unwrap_or_default()
}

/// Returns the number in a status line.
fn status(line: &[u8]) -> Option<u16> {
    let blank = line.iter().position(|b| b" \t".contains(b))?;
    let rest = line.get(blank..)?.trim_ascii_start();
    let digits = rest.iter().take_while(|b| b.is_ascii_digit()).count();
    if digits == 3 { std::str::from_utf8(rest.get(..3)?).ok()?.parse().ok() } else { None }
}

/// The lines of a header, without their ends (LF or CR LF).
struct HeaderLines<'b> {
    rest: &'b [u8],
    /// Whether a last line without an end is a line.
    whole: bool,
}

impl<'b> Iterator for HeaderLines<'b> {
    type Item = &'b [u8];

    fn next(&mut self) -> Option<&'b [u8]> {
        let (line, rest) = match self.rest.iter().position(|&b| b == b'\n') {
            Some(end) => (self.rest.get(..end)?, self.rest.get(end + 1..)?),
            None if self.whole && !self.rest.is_empty() => (self.rest, &[][..]),
            None => return None,
        };
        self.rest = rest;
        let returns = line.iter().rev().take_while(|b| **b == b'\r').count();
        line.get(..line.len() - returns)
    }
}

/// The relevant header fields.
#[derive(Clone, Copy)]
enum HeaderField {
    ContentType,
    ContentEncoding,
    ContentLength,
    ContentRange,
    Date,
    ETag,
    LastModified,
    Link,
    Location,
    TransferEncoding,
}

impl HeaderField {
    fn of(name: &[u8]) -> Option<HeaderField> {
        let name = name.trim_ascii();
        [
            ("content-type", HeaderField::ContentType),
            ("content-encoding", HeaderField::ContentEncoding),
            ("content-length", HeaderField::ContentLength),
            ("content-range", HeaderField::ContentRange),
            ("date", HeaderField::Date),
            ("etag", HeaderField::ETag),
            ("last-modified", HeaderField::LastModified),
            ("link", HeaderField::Link),
            ("location", HeaderField::Location),
            ("transfer-encoding", HeaderField::TransferEncoding),
        ]
        .into_iter()
        .find_map(|(known, field)| name.eq_ignore_ascii_case(known.as_bytes()).then_some(field))
    }
}

impl ResponseHead {
    /// Takes the value of a field. The first valid length and the first valid date are used.
    fn take(&mut self, field: HeaderField, raw: &[u8]) {
        let value = String::from_utf8_lossy(raw);
        let value = value.trim();
        let list = value.split(',').map(|v| v.trim().to_ascii_lowercase());
        let list = list.filter(|v| !v.is_empty());
        match field {
            // Repeated fields are joined byte by byte, as in browsers. The parser of the type
            // selects the valid value.
            HeaderField::ContentType => {
                if !self.content_type.is_empty() {
                    self.content_type.push_str(", ");
                }
                self.content_type.extend(raw.trim_ascii().iter().map(|b| char::from(*b)));
            }
            HeaderField::ContentEncoding => {
                let list: Vec<_> = list.filter(|coding| coding != "identity").collect();
                self.is_encoded |= !list.is_empty();
                self.encode(list.into_iter());
            }
            HeaderField::ContentLength => self.length = self.length.or_else(|| length(value)),
            HeaderField::ContentRange => keep_first(&mut self.content_range, value),
            HeaderField::Location => keep_first(&mut self.location, text(raw).trim()),
            HeaderField::ETag => {
                let raw = raw.trim_ascii();
                if self.etag.is_none() && !raw.is_empty() {
                    self.etag = Some(raw.into());
                }
            }
            HeaderField::Link => {
                let room = CANONICALS_MAX.saturating_sub(self.canonicals.len());
                let value = text(raw);
                self.canonicals.extend(canonicals(&value).take(room).map(str::to_owned));
            }
            HeaderField::Date => self.date = self.date.or_else(|| time::http(value)),
            HeaderField::LastModified => {
                self.modified = self.modified.or_else(|| time::http(value))
            }
            HeaderField::TransferEncoding => {
                let (chunked, others): (Vec<_>, Vec<_>) = list.partition(|v| v == "chunked");
                self.chunked |= !chunked.is_empty();
                self.has_transfer_coding |=
                    self.chunked || others.iter().any(|coding| coding != "identity");
                self.encode(others.into_iter());
            }
        }
    }

    /// Returns the modification time, if it is plausible for a response at the time `visit`.
    pub(super) fn modified(&self, visit: i64) -> Option<i64> {
        self.modified.filter(|modified| time::is_modified_before(*modified, self.date, visit))
    }

    /// Adds encodings, up to one more than the limit.
    fn encode(&mut self, more: impl Iterator<Item = String>) {
        let room = (ENCODINGS_MAX + 1).saturating_sub(self.encodings.len());
        self.encodings.extend(more.take(room));
    }
}

/// Parses a length of digits. Joined fields may repeat it (RFC 9110, 8.6).
fn length(value: &str) -> Option<u64> {
    let mut all = value.split(',').map(str::trim);
    let first = all.next()?;
    let is_number = first.bytes().all(|b| b.is_ascii_digit()) && all.all(|other| other == first);
    is_number.then(|| first.parse().ok()).flatten()
}

/// Returns the targets with the relation `canonical` in a field `Link`, as written.
pub(super) fn canonicals(value: &str) -> impl Iterator<Item = &str> {
    HeaderLinks { rest: value }.filter_map(HeaderLink::canonical)
}

/// The links of a field `Link` (RFC 8288, section 3).
struct HeaderLinks<'v> {
    rest: &'v str,
}

/// A link, with its parameters as written.
struct HeaderLink<'v> {
    target: &'v str,
    parameters: &'v str,
}

impl<'v> Iterator for HeaderLinks<'v> {
    type Item = HeaderLink<'v>;

    fn next(&mut self) -> Option<HeaderLink<'v>> {
        let (_, link) = self.rest.split_once('<')?;
        let (target, rest) = link.split_once('>')?;
        let (parameters, rest) = split_unquoted(rest, ',');
        self.rest = rest;
        Some(HeaderLink { target: target.trim_ascii(), parameters })
    }
}

impl<'v> HeaderLink<'v> {
    /// The target, if its first relation list has `canonical` and the link is about the response
    /// itself. Relations are compared in any case.
    fn canonical(self) -> Option<&'v str> {
        let (mut rest, mut relations) = (self.parameters, None);
        while !rest.is_empty() {
            let (parameter, others) = split_unquoted(rest, ';');
            rest = others;
            let (name, value) = parameter.split_once('=').unwrap_or((parameter, ""));
            match name.trim_ascii() {
                name if name.eq_ignore_ascii_case("anchor") => return None,
                name if name.eq_ignore_ascii_case("rel") => {
                    relations.get_or_insert(value.trim_ascii().trim_matches('"'));
                }
                _ => {}
            }
        }
        let mut relations = relations?.split_ascii_whitespace();
        let is_canonical = relations.any(|of| of.eq_ignore_ascii_case("canonical"));
        (is_canonical && !self.target.is_empty()).then_some(self.target)
    }
}

/// Splits a text at the first separator outside of quotes. Without a separator, the second part is
/// empty.
fn split_unquoted(text: &str, separator: char) -> (&str, &str) {
    let (mut is_quoted, mut is_escaped) = (false, false);
    let is_end = |(_, c): &(usize, char)| {
        let is_plain = !std::mem::replace(&mut is_escaped, false);
        is_escaped = is_plain && is_quoted && *c == '\\';
        is_quoted ^= is_plain && *c == '"';
        *c == separator && !is_quoted
    };
    let at = text.char_indices().find(is_end).map(|(at, _)| at);
    at.and_then(|at| Some((text.get(..at)?, text.get(at + separator.len_utf8()..)?)))
        .unwrap_or((text, ""))
}

/// Decodes a value as UTF-8, or else as ISO-8859-1, which old servers send.
fn text(raw: &[u8]) -> String {
    String::from_utf8(raw.to_vec())
        .unwrap_or_else(|_| raw.iter().map(|byte| char::from(*byte)).collect())
}

/// Keeps the first non-empty value of a field.
fn keep_first(kept: &mut Option<String>, value: &str) {
    if kept.is_none() && !value.is_empty() {
        *kept = Some(value.to_owned());
    }
}

impl ResponseHead {
    /// Returns the meaning of the response for its page. `body` contains the part of the body in
    /// memory, and the body's full length; `None` if the record has no body.
    pub(super) fn meaning(
        &self,
        body: Option<(&[u8], u64)>,
        truncated: Truncation,
    ) -> ResponseMeaning {
        let received = body.filter(|_| truncated == Truncation::No).map(|(_, length)| length);
        // If the last chunk is missing, the body was truncated, or there is no body, as in the
        // response to a HEAD. If there are no chunks, the archiver joined them.
        let has_no_end = |(bytes, length): (&[u8], u64)| {
            let is_cut = || unchunked(bytes).is_some_and(|(_, complete)| !complete);
            self.chunked && (length == 0 || (bytes.len() as u64 == length && is_cut()))
        };
        let ends_early = truncated == Truncation::No && body.is_some_and(has_no_end);
        let response = Response {
            status: self.status,
            location: self.location.as_deref(),
            content_range: self.content_range.as_deref(),
            length: self.length.filter(|_| !self.has_transfer_coding),
            received,
            is_encoded: self.is_encoded,
            is_cut: truncated == Truncation::Anywhere || ends_early,
        };
        response.meaning()
    }

    /// Returns the body without trailing bytes, if it is complete by the header's length. `None` if
    /// the header has no length.
    pub(super) fn whole<'a>(&self, body: &'a [u8]) -> Option<&'a [u8]> {
        if self.chunked {
            return unchunked(body).is_some_and(|(_, complete)| complete).then_some(body);
        }
        body.get(..usize::try_from(self.length?).ok()?)
    }

    /// Returns the body with its chunks joined. A body without chunks is returned unchanged, even
    /// if the header declares chunks. For a truncated body, returns the available part.
    pub(super) fn joined<'a>(&self, body: &'a [u8]) -> Cow<'a, [u8]> {
        match self.chunked.then(|| unchunked(body)).flatten() {
            Some((joined, _)) => Cow::Owned(joined),
            None => Cow::Borrowed(body),
        }
    }

    /// Whether the header declares a compressed body.
    pub(super) fn is_packed(&self) -> bool {
        !self.encodings.is_empty()
    }

    /// Decompresses a body whose chunks were joined. Archives often keep a decompressed body under
    /// the original header: a body that does not match the header is used unchanged. For a
    /// truncated body, returns the available part.
    pub(super) fn unpacked<'a>(&self, joined: Cow<'a, [u8]>) -> Result<Cow<'a, [u8]>, String> {
        let mut entity = joined;
        if self.encodings.len() > ENCODINGS_MAX {
            return Err(format!("the body has more than {ENCODINGS_MAX} content encodings"));
        }
        for encoding in self.encodings.iter().rev() {
            if let Some(unpacked) = unpacked(&entity, encoding)? {
                entity = Cow::Owned(unpacked);
            } else if content::is_binary(&entity) {
                return Err("the body is not compressed as its HTTP header declares".into());
            }
        }
        Ok(entity)
    }
}

/// Joins the chunks of a body, and returns whether the last chunk was present; `None` if the body
/// does not begin with a chunk size.
fn unchunked(mut body: &[u8]) -> Option<(Vec<u8>, bool)> {
    let mut joined = Vec::new();
    let mut first = true;
    loop {
        let parsed = httparse::parse_chunk_size(body);
        let (start, size) = match parsed {
            Ok(Status::Complete((start, size))) => {
                (start, usize::try_from(size).unwrap_or(usize::MAX))
            }
            _ if !first => return Some((joined, false)),
            _ => return None,
        };
        if size == 0 {
            return Some((joined, true));
        }
        let rest = body.get(start..).unwrap_or_default();
        joined.extend_from_slice(rest.get(..size).unwrap_or(rest));
        body = rest.get(size..).unwrap_or_default();
        body = body.strip_prefix(b"\r").unwrap_or(body);
        body = body.strip_prefix(b"\n").unwrap_or(body);
        first = false;
    }
}

/// Decompresses `packed`; `None` if `packed` does not have this encoding.
fn unpacked(packed: &[u8], encoding: &str) -> Result<Option<Vec<u8>>, String> {
    match encoding {
        "gzip" | "x-gzip" => limited(flate2::read::MultiGzDecoder::new(packed)),
        "deflate" => match limited(flate2::read::ZlibDecoder::new(packed))? {
            // Some servers leave out the zlib wrapper.
            None => limited(flate2::read::DeflateDecoder::new(packed)),
            some => Ok(some),
        },
        "br" => limited(brotli_decompressor::Decompressor::new(packed, 16 << 10)),
        "zstd" => {
            let Ok(decoder) = zstd::stream::read::Decoder::with_buffer(packed) else {
                return Ok(None);
            };
            limited(decoder)
        }
        // "identity", and invented names.
        _ => Ok(None),
    }
}

/// Returns all output of `unpacker` up to the limit. An error after the first bytes ends the
/// output, since browsers also show the received part.
fn limited(mut unpacker: impl Read) -> Result<Option<Vec<u8>>, String> {
    let mut out = Vec::new();
    let mut part = vec![0; 32 << 10];
    loop {
        match unpacker.read(&mut part) {
            Ok(0) => return Ok(Some(out)),
            Ok(count) => out.extend_from_slice(part.get(..count).unwrap_or_default()),
            Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
            Err(_) if out.is_empty() => return Ok(None),
            Err(_) => return Ok(Some(out)),
        }
        if out.len() as u64 > RECORD_BYTES_MAX {
            return Err(format!(
                "the decompressed body is larger than {} MiB",
                RECORD_BYTES_MAX >> 20
            ));
        }
    }
}

#[cfg(test)]
mod tests;
