//! Tokenizes XML of any quality into a stream of tags and texts, in bounded memory.
//!
//! Sitemaps and feeds are often not well formed, and an XML parser must stop there (XML 1.0, 1.2:
//! fatal errors). This tokenizer does not validate. The tokenizer finds tags, and passes all other
//! content as text. The only rule of recovery is that no tag contains a `<`, which XML forbids in
//! tags (3.1): a tag without an end before the next `<` is text. So an error affects only its own
//! element. No external file is read, and no entity of a document type is expanded.

use std::borrow::Cow;
use std::io;

use html5gum::{Token, Tokenizer};
use memchr::{memchr, memchr2};

use super::super::stream::{SourcePosition, SourceStream, StreamPosition};
use super::encoding::Utf8Stream;

/// The maximum number of bytes of a tag that are kept. Further bytes are ignored.
const TAG_BYTES_MAX: usize = 1 << 20;
/// The maximum number of bytes of a text that are kept. A URL with all characters as references is
/// shorter.
const TEXT_BYTES_MAX: usize = 1 << 17;
/// The maximum number of bytes of a name that are kept.
const NAME_BYTES_MAX: usize = 1 << 10;
/// The maximum number of bytes between the `&` and the `;` of a reference.
const REFERENCE_BYTES_MAX: usize = 40;

/// The tags and texts of a document, in order.
pub(super) struct XmlTokenizer {
    characters: Utf8Stream,
    /// The first bytes of the current piece.
    piece: Vec<u8>,
    /// The total length of the piece.
    length: usize,
    declares_entities: bool,
}

/// A piece of a document.
pub(super) enum XmlToken<'a> {
    /// The start of an element, or the whole element if it is empty.
    Start(XmlTag<'a>),
    /// The end of an element, with its name in lower case.
    End(String),
    /// A part of the text of an element.
    Text(XmlText<'a>),
    /// The text of a CDATA section, without references.
    Data(XmlText<'a>),
    /// A piece without information, for example a comment.
    Nothing,
    /// The end of the document.
    Over,
}

/// The start of an element.
pub(super) struct XmlTag<'a> {
    /// The name in lower case, since some feeds write `pubdate`.
    pub(super) name: String,
    pub(super) attributes: Cow<'a, str>,
    pub(super) is_empty: bool,
    /// Whether the document declares entities.
    pub(super) has_entities: bool,
}

/// A text.
pub(super) struct XmlText<'a> {
    /// The first bytes of the text.
    pub(super) bytes: &'a [u8],
    /// Whether the text has more bytes than `bytes`.
    pub(super) is_cut: bool,
    /// Whether the document declares entities. Entities are not expanded.
    pub(super) has_entities: bool,
    /// The name of the element that seems to begin in this text, with a tag without an end.
    pub(super) cut_tag: Option<String>,
}

impl XmlTokenizer {
    pub(super) fn new(stream: SourceStream) -> XmlTokenizer {
        let characters = Utf8Stream::new(stream);
        XmlTokenizer { characters, piece: Vec::new(), length: 0, declares_entities: false }
    }

    /// Returns the start of the next piece.
    pub(super) fn position(&self) -> StreamPosition {
        self.characters.place()
    }

    /// Returns a place in the file for display.
    pub(super) fn at(&self, place: StreamPosition) -> SourcePosition {
        self.characters.at(place)
    }

    /// Returns the next piece.
    pub(super) fn next(&mut self) -> io::Result<XmlToken<'_>> {
        self.piece.clear();
        self.length = 0;
        match self.characters.peek()? {
            None => return Ok(XmlToken::Over),
            Some(b'<') => self.take(),
            Some(_) => {
                while self.keep_until(b'<', TEXT_BYTES_MAX)? {}
                return Ok(XmlToken::Text(self.text()));
            }
        }
        match self.characters.peek()? {
            Some(b'!') => self.declaration(),
            // `?>` ends an instruction in XML, and `>` ends it in HTML. Broken documents are read
            // as HTML.
            Some(b'?') => self.instruction(),
            Some(b'/') => self.tag(true),
            Some(b'a'..=b'z' | b'A'..=b'Z' | b'_' | b':' | 0x80..) => self.tag(false),
            _ => {
                self.push(b"<", TEXT_BYTES_MAX);
                Ok(XmlToken::Text(self.text()))
            }
        }
    }

    fn take(&mut self) {
        self.characters.take(1);
    }

    fn push(&mut self, bytes: &[u8], max: usize) {
        let room = max.saturating_sub(self.piece.len());
        self.piece.extend_from_slice(bytes.get(..room).unwrap_or(bytes));
        self.length += bytes.len();
    }

    fn text(&self) -> XmlText<'_> {
        self.text_of(&self.piece)
    }

    fn text_of<'a>(&self, bytes: &'a [u8]) -> XmlText<'a> {
        let is_cut = self.length > self.piece.len();
        XmlText { bytes, is_cut, has_entities: self.declares_entities, cut_tag: None }
    }

    /// Keeps bytes up to the byte `end`, which is not consumed. Returns whether more bytes may
    /// follow.
    fn keep_until(&mut self, end: u8, max: usize) -> io::Result<bool> {
        let bytes = self.characters.fill()?;
        let found = memchr(end, bytes);
        let count = found.unwrap_or(bytes.len());
        let kept = bytes.get(..count.min(max.saturating_sub(self.piece.len()))).unwrap_or_default();
        self.piece.extend_from_slice(kept);
        self.length += count;
        self.characters.take(count);
        Ok(found.is_none() && count > 0)
    }

    /// Skips all bytes up to and including `end`, which ends with a `>`.
    fn skip_past(&mut self, end: &[u8]) -> io::Result<()> {
        while self.read_through_end(end, 0)? {}
        Ok(())
    }

    /// Keeps bytes up to the next `>`, and consumes it. Returns whether the document continues and
    /// `end` was not reached.
    fn read_through_end(&mut self, end: &[u8], max: usize) -> io::Result<bool> {
        let mut tail = [0_u8; 2];
        loop {
            let bytes = self.characters.fill()?;
            if bytes.is_empty() {
                return Ok(false);
            }
            let found = memchr(b'>', bytes);
            let count = found.map_or(bytes.len(), |at| at + 1);
            let taken = bytes.get(..count).unwrap_or_default();
            let kept = taken.get(..count.min(max.saturating_sub(self.piece.len())));
            self.piece.extend_from_slice(kept.unwrap_or_default());
            self.length += count;
            for byte in taken.get(count.saturating_sub(3)..).unwrap_or_default() {
                if *byte != b'>' {
                    tail = [tail[1], *byte];
                }
            }
            self.characters.take(count);
            if found.is_some() {
                let marks = end.len().saturating_sub(1);
                return Ok(tail.get(2 - marks..) != end.get(..marks));
            }
        }
    }

    /// Reads a tag, whose `<` was consumed; or a text, if another `<` comes before its end.
    fn tag(&mut self, is_end: bool) -> io::Result<XmlToken<'_>> {
        let mut quote = None;
        let is_whole = loop {
            let bytes = self.characters.fill()?;
            let stop = bytes.iter().position(|byte| match (*byte, quote) {
                (b'<', _) | (b'>', None) => true,
                (byte, Some(mark)) => {
                    quote = (byte != mark).then_some(mark);
                    false
                }
                (byte @ (b'"' | b'\''), None) => {
                    quote = (!is_end).then_some(byte);
                    false
                }
                _ => false,
            });
            let count = stop.unwrap_or(bytes.len());
            let kept = bytes.get(..count.min(TAG_BYTES_MAX.saturating_sub(self.piece.len())));
            self.piece.extend_from_slice(kept.unwrap_or_default());
            self.length += count;
            let last = stop.and_then(|at| bytes.get(at)).copied();
            self.characters.take(count);
            if last.is_some() || count == 0 {
                break last == Some(b'>');
            }
        };
        if !is_whole {
            self.piece.truncate(TEXT_BYTES_MAX - 1);
            self.piece.insert(0, b'<');
            self.length += 1;
            let cut_tag = (!is_end).then(|| name(self.piece.get(1..).unwrap_or_default()).0);
            return Ok(XmlToken::Text(XmlText { cut_tag, ..self.text() }));
        }
        self.take();
        let tag = self.piece.as_slice();
        Ok(match is_end {
            true => XmlToken::End(name(tag.get(1..).unwrap_or_default()).0),
            false => XmlToken::Start(start(tag, self.declares_entities)),
        })
    }

    /// Reads a processing instruction; or a text, if no name follows the `<?` (XML 1.0, 2.6).
    fn instruction(&mut self) -> io::Result<XmlToken<'_>> {
        self.take();
        match self.characters.peek()? {
            Some(b'a'..=b'z' | b'A'..=b'Z' | b'_' | b':' | 0x80..) => {
                self.skip_past(b">").map(|()| XmlToken::Nothing)
            }
            _ => {
                self.push(b"<?", TEXT_BYTES_MAX);
                Ok(XmlToken::Text(self.text()))
            }
        }
    }

    /// Reads markup after `<!`: a comment, a CDATA section or a document type. Other markup is
    /// skipped up to its `>`, or to the next `<`, which begins another tag.
    fn declaration(&mut self) -> io::Result<XmlToken<'_>> {
        self.take();
        match self.characters.peek()? {
            Some(b'-') => {
                self.take();
                if self.characters.peek()? == Some(b'-') {
                    self.take();
                    // As in HTML, `<!-->` is a whole comment.
                    let is_whole = self.characters.peek()? == Some(b'>');
                    self.skip_past(if is_whole { b">" } else { b"-->" })?;
                } else {
                    self.skip_unknown()?;
                }
            }
            Some(b'[') => {
                if self.has(b"[cdata[")? {
                    return self.data();
                }
                self.skip_unknown()?;
            }
            _ => match self.has(b"doctype")? {
                true => self.document_type()?,
                false => self.skip_unknown()?,
            },
        }
        Ok(XmlToken::Nothing)
    }

    /// Skips a declaration of an unknown kind.
    fn skip_unknown(&mut self) -> io::Result<()> {
        loop {
            let bytes = self.characters.fill()?;
            let (found, all) = (memchr2(b'<', b'>', bytes), bytes.len());
            let is_end = found.and_then(|at| bytes.get(at)) == Some(&b'>');
            self.characters.take(found.map_or(all, |at| at + usize::from(is_end)));
            if found.is_some() || all == 0 {
                return Ok(());
            }
        }
    }

    /// Consumes the next bytes as far as they match `expected`, in upper or lower case. Returns
    /// whether all match.
    fn has(&mut self, expected: &[u8]) -> io::Result<bool> {
        for byte in expected {
            if !self.characters.peek()?.is_some_and(|next| next.eq_ignore_ascii_case(byte)) {
                return Ok(false);
            }
            self.take();
        }
        Ok(true)
    }

    fn data(&mut self) -> io::Result<XmlToken<'_>> {
        while self.read_through_end(b"]]>", TEXT_BYTES_MAX)? {}
        let bytes = self.piece.strip_suffix(b"]]>").unwrap_or(&self.piece);
        Ok(XmlToken::Data(self.text_of(bytes)))
    }

    /// Skips a document type, which ends with the first `>` outside of quotes and outside of its
    /// declarations in brackets.
    fn document_type(&mut self) -> io::Result<()> {
        let (mut quote, mut is_within) = (None, false);
        while let Some(byte) = self.characters.peek()? {
            self.take();
            match (byte, quote) {
                (byte, Some(mark)) => quote = (byte != mark).then_some(mark),
                (b'"' | b'\'', None) => quote = Some(byte),
                (b'[', None) => is_within = true,
                (b']', None) => is_within = false,
                (b'>', None) if !is_within => return Ok(()),
                (b'<', None) if is_within => self.declared()?,
                _ => {}
            }
        }
        Ok(())
    }

    /// Checks the declarations of a document type. A comment in a document type may contain
    /// unmatched quotes.
    fn declared(&mut self) -> io::Result<()> {
        if self.characters.peek()? == Some(b'?') {
            return self.skip_past(b"?>");
        }
        if self.characters.peek()? != Some(b'!') {
            return Ok(());
        }
        self.take();
        if self.characters.peek()? == Some(b'-') {
            return self.skip_past(b"-->");
        }
        self.declares_entities |= self.has(b"entity")?;
        Ok(())
    }
}

/// Returns the name at the start of a tag, in lower case, and the rest of the tag.
fn name(tag: &[u8]) -> (String, &[u8]) {
    let end = tag.iter().position(|byte| byte.is_ascii_whitespace() || *byte == b'/');
    let (name, rest) = tag.split_at(end.unwrap_or(tag.len()));
    let name = name.get(..NAME_BYTES_MAX).unwrap_or(name);
    (String::from_utf8_lossy(name).to_ascii_lowercase(), rest)
}

fn start(tag: &[u8], has_entities: bool) -> XmlTag<'_> {
    let bare = tag.strip_suffix(b"/").unwrap_or(tag);
    let (name, attributes) = name(bare);
    let is_empty = bare.len() < tag.len();
    XmlTag { name, attributes: String::from_utf8_lossy(attributes), is_empty, has_entities }
}

/// Returns the attributes of a tag by name and value. A value without quotes ends at a blank.
pub(super) fn attributes(text: &str) -> impl Iterator<Item = (&str, &str)> {
    let mut rest = text;
    std::iter::from_fn(move || {
        rest = rest.trim_ascii_start();
        let end = rest.find(|c: char| c == '=' || c.is_ascii_whitespace()).unwrap_or(rest.len());
        let (name, after) = rest.split_at(end);
        if rest.is_empty() {
            return None;
        }
        let Some(value) = after.trim_ascii_start().strip_prefix('=') else {
            rest = after;
            return Some((name, ""));
        };
        let value = value.trim_ascii_start();
        let quoted = value.strip_prefix(['"', '\'']);
        let (value, after) = match (quoted, value.chars().next()) {
            (Some(quoted), Some(mark)) => quoted.split_once(mark).unwrap_or((quoted, "")),
            _ => {
                value.split_at(value.find(|c: char| c.is_ascii_whitespace()).unwrap_or(value.len()))
            }
        };
        rest = after;
        Some((name, value))
    })
}

/// Appends a text with its references resolved: character references and the five predefined
/// entities (XML 1.0, 4.1 and 4.6). Names of characters in HTML (HTML Standard, 13.5) are also
/// resolved, unless the document declares entities, which may have the same names. Any other `&`
/// stays, since servers write `?a=1&b=2`. A name without its `;` stays, too. Returns whether the
/// text refers to an entity that the document may have declared.
pub(super) fn resolve(text: &str, has_entities: bool, out: &mut String) -> bool {
    let mut has_others = false;
    let mut parts = text.split('&');
    out.push_str(parts.next().unwrap_or_default());
    for part in parts {
        let end = part.bytes().take(REFERENCE_BYTES_MAX).position(|byte| byte == b';');
        let reference = end.and_then(|end| Some((part.get(..end)?, part.get(end + 1..)?)));
        let Some((name, rest)) = reference else {
            out.extend(["&", part]);
            continue;
        };
        let is_name = !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric());
        if let Some(character) = character(name) {
            out.push(character);
            out.push_str(rest);
        } else if is_name && has_entities {
            has_others = true;
            out.extend(["&", part]);
        } else if let Some(characters) = is_name.then(|| html_reference(name)).flatten() {
            out.extend([characters.as_str(), rest]);
        } else {
            out.extend(["&", part]);
        }
    }
    has_others
}

/// Returns the characters of a named HTML reference. The HTML tokenizer has the table of names, and
/// resolves the reference.
fn html_reference(name: &str) -> Option<String> {
    let reference = format!("&{name};");
    let mut tokens = Tokenizer::new(&reference);
    let Some(Ok(Token::String(text))) = tokens.next() else { return None };
    let text = String::from_utf8(text.value.0).ok()?;
    // Some names need no `;` in HTML: `&notes;` is `&not` and `es;`. In XML the `;` is required.
    let is_whole = !text.ends_with(';') || name == "semi";
    (is_whole && tokens.next().is_none()).then_some(text)
}

/// Returns the character of a character reference. An invalid number becomes U+FFFD.
fn character(name: &str) -> Option<char> {
    if let Some(number) = name.strip_prefix('#') {
        let (digits, radix) = match number.strip_prefix(['x', 'X']) {
            Some(digits) => (digits, 16),
            None => (number, 10),
        };
        let is_number = !digits.is_empty() && digits.chars().all(|digit| digit.is_digit(radix));
        let character = u32::from_str_radix(digits, radix).ok().filter(|number| *number != 0);
        return is_number
            .then(|| character.and_then(char::from_u32).unwrap_or(char::REPLACEMENT_CHARACTER));
    }
    match name {
        "amp" => Some('&'),
        "lt" => Some('<'),
        "gt" => Some('>'),
        "quot" => Some('"'),
        "apos" => Some('\''),
        _ => None,
    }
}
