//! Declarations in the first bytes of a document, found without a parser.

use std::borrow::Cow;

use encoding_rs::{Encoding, UTF_16BE, UTF_16LE};

use super::meta::{Meta, from_label, is_blank};

/// The number of bytes that browsers prescan.
pub(super) const PRESCAN_BYTES: usize = 1024;

/// Elements whose content is not markup, so that a `<meta>` in them declares nothing.
///
/// The standard's algorithm does not skip these elements: it accepts a `<meta>` in a string of a
/// script until the parser meets a real `<meta>`. `noscript` is not in the list: whether it
/// contains markup depends on scripting, and the prescan treats it as markup.
const RAW: [&[u8]; 8] =
    [b"script", b"style", b"title", b"textarea", b"xmp", b"iframe", b"noembed", b"noframes"];

/// Returns the encoding declared in the first bytes of a page (HTML, 13.2.3.2, "prescan a byte
/// stream to determine its encoding").
pub(super) fn encoding(bytes: &[u8]) -> Option<&'static Encoding> {
    let start = bytes.get(..PRESCAN_BYTES).unwrap_or(bytes);
    utf16_declaration(start)
        .or_else(|| PrescanCursor { rest: start }.encoding().ok())
        .or_else(|| xml_declaration(start))
}

/// Returns the encoding that an XML document declares. Servers send white space before the
/// declaration, and feed readers skip it.
pub(super) fn of_xml(bytes: &[u8]) -> Option<&'static Encoding> {
    let start = bytes.get(..PRESCAN_BYTES).unwrap_or(bytes);
    utf16_declaration(start).or_else(|| xml_declaration(start.trim_ascii_start()))
}

/// Returns the encoding that a style sheet declares (CSS Syntax, 3.2, "determine the fallback
/// encoding").
pub(super) fn of_css(bytes: &[u8]) -> Option<&'static Encoding> {
    let start = bytes.get(..PRESCAN_BYTES).unwrap_or(bytes);
    let rest = start.strip_prefix(b"@charset \"")?;
    let end = rest.iter().position(|&b| b == b'"')?;
    let (label, rest) = rest.split_at(end);
    if rest.starts_with(b"\";") { from_label(label) } else { None }
}

/// Recognizes an XML declaration in UTF-16 without a byte order mark.
fn utf16_declaration(start: &[u8]) -> Option<&'static Encoding> {
    if start.starts_with(b"<\0?\0x\0") {
        Some(UTF_16LE)
    } else if start.starts_with(b"\0<\0?\0x") {
        Some(UTF_16BE)
    } else {
        None
    }
}

/// Returns the encoding that an XML declaration names (HTML, 13.2.3.2, "get an XML encoding"). Text
/// after the declaration is ignored.
fn xml_declaration(start: &[u8]) -> Option<&'static Encoding> {
    let declaration = start.strip_prefix(b"<?xml")?;
    let declaration = declaration.get(..declaration.iter().position(|b| *b == b'>')?)?;
    let name = b"encoding";
    let at = declaration.windows(name.len()).position(|word| word == name)?;
    let rest = after_controls(declaration.get(at + name.len()..)?).strip_prefix(b"=")?;
    let (quote, rest) = after_controls(rest).split_first()?;
    if !matches!(quote, b'"' | b'\'') {
        return None;
    }
    let label = rest.get(..rest.iter().position(|b| b == quote)?)?;
    if label.iter().any(|&b| b <= b' ') { None } else { from_label(label) }
}

fn after_controls(bytes: &[u8]) -> &[u8] {
    let controls = bytes.iter().take_while(|b| **b <= b' ').count();
    bytes.get(controls..).unwrap_or_default()
}

/// The name and the value of an attribute.
type RawAttribute<'b> = (&'b [u8], &'b [u8]);

/// The end of the bytes, where the algorithm aborts.
struct OutOfBytes;

/// The state of the prescan; `rest` begins at its position.
struct PrescanCursor<'b> {
    rest: &'b [u8],
}

impl<'b> PrescanCursor<'b> {
    /// Returns the encoding of the first `<meta>` that names an encoding.
    fn encoding(mut self) -> Result<&'static Encoding, OutOfBytes> {
        loop {
            self.until(|b| b == b'<')?;
            if self.rest.starts_with(b"<!--") {
                // The dashes of the start of a comment may also be the dashes of its end.
                self.skip(2);
                self.after(b"-->")?;
            } else if is_meta(self.rest) {
                self.skip(b"<meta".len());
                if let Some(encoding) = self.meta()?.prescanned() {
                    return Ok(encoding);
                }
            } else if let Some((name, is_end)) = self.tag_name() {
                self.until(|b| is_blank(b) || b == b'>')?;
                while self.attribute()?.is_some() {}
                let is_raw = |raw: &&[u8]| !is_end && name.eq_ignore_ascii_case(raw);
                if let Some(name) = RAW.iter().find(|raw| is_raw(raw)) {
                    self.raw_text(name)?;
                }
            } else if matches!(self.rest, [_, b'!' | b'/' | b'?', ..]) {
                self.until(|b| b == b'>')?;
            } else {
                self.skip(1);
            }
        }
    }

    /// Reads the attributes of the `<meta>` whose name has just been read.
    fn meta(&mut self) -> Result<Meta<'b>, OutOfBytes> {
        let mut meta = Meta::default();
        while let Some((name, value)) = self.attribute()? {
            meta.name(name);
            meta.value(Cow::Borrowed(value));
        }
        Ok(meta)
    }

    /// Returns the tag name at the position, and whether the tag is an end tag.
    fn tag_name(&self) -> Option<(&'b [u8], bool)> {
        let rest = self.rest.get(1..)?;
        let (rest, is_end) = rest.strip_prefix(b"/").map_or((rest, false), |rest| (rest, true));
        let is_name = |b: &u8| !is_blank(*b) && !matches!(b, b'/' | b'>');
        let name = rest.get(..rest.iter().take_while(|b| is_name(b)).count())?;
        name.first()?.is_ascii_alphabetic().then_some((name, is_end))
    }

    /// Reads an attribute (HTML, 13.2.3.2, "get an attribute"): its name and value as written.
    fn attribute(&mut self) -> Result<Option<RawAttribute<'b>>, OutOfBytes> {
        self.until(|b| !is_blank(b) && b != b'/')?;
        if self.rest.starts_with(b">") {
            return Ok(None);
        }
        // An equals sign may only begin a name.
        let mut seen = 0;
        let name = self.until(|b| {
            seen += 1;
            is_blank(b) || matches!(b, b'/' | b'>') || (b == b'=' && seen > 1)
        })?;
        self.until(|b| !is_blank(b))?;
        if !self.rest.starts_with(b"=") {
            return Ok(Some((name, b"")));
        }
        self.skip(1);
        self.until(|b| !is_blank(b))?;
        let value = match self.rest.first() {
            Some(&quote @ (b'"' | b'\'')) => {
                self.skip(1);
                let value = self.until(|b| b == quote)?;
                self.skip(1);
                value
            }
            _ => self.until(|b| is_blank(b) || b == b'>')?,
        };
        Ok(Some((name, value)))
    }

    /// Skips the content of an element that only its own end tag ends.
    fn raw_text(&mut self, name: &[u8]) -> Result<(), OutOfBytes> {
        loop {
            self.after(b"</")?;
            let (word, rest) = self.rest.split_at_checked(name.len()).ok_or(OutOfBytes)?;
            let end = *rest.first().ok_or(OutOfBytes)?;
            if word.eq_ignore_ascii_case(name) && (is_blank(end) || matches!(end, b'/' | b'>')) {
                return Ok(());
            }
        }
    }

    /// Advances to the first byte that satisfies `fits`, and returns the bytes before it.
    fn until(&mut self, fits: impl FnMut(u8) -> bool) -> Result<&'b [u8], OutOfBytes> {
        let at = self.rest.iter().copied().position(fits).ok_or(OutOfBytes)?;
        let (before, rest) = self.rest.split_at_checked(at).ok_or(OutOfBytes)?;
        self.rest = rest;
        Ok(before)
    }

    /// Advances past the first occurrence of a word.
    fn after(&mut self, word: &[u8]) -> Result<(), OutOfBytes> {
        let at = self.rest.windows(word.len()).position(|found| found == word);
        self.skip(at.ok_or(OutOfBytes)? + word.len());
        Ok(())
    }

    fn skip(&mut self, bytes: usize) {
        self.rest = self.rest.get(bytes..).unwrap_or_default();
    }
}

/// Whether the bytes begin with a `<meta>` tag, in any context.
pub(super) fn is_meta(bytes: &[u8]) -> bool {
    let name = b"<meta";
    let Some((word, rest)) = bytes.split_at_checked(name.len()) else { return false };
    word.eq_ignore_ascii_case(name) && rest.first().is_some_and(|b| is_blank(*b) || *b == b'/')
}

/// Returns the length of the `<meta>` tag at the start of the bytes; `None` if the tag has no end.
pub(super) fn meta_len(bytes: &[u8]) -> Option<usize> {
    let mut scan = PrescanCursor { rest: bytes };
    scan.skip(b"<meta".len());
    scan.meta().ok()?;
    // The position is at the `>`.
    Some(bytes.len() - scan.rest.len() + 1)
}
