//! Decodes the bytes of a document to characters.
//!
//! | what is known | the encoding |
//! |---|---|
//! | a byte order mark | its encoding |
//! | the `charset` of a Content-Type | that encoding |
//! | HTML | the encoding in the first `<meta>` that names an encoding |
//! | other HTML | the encoding of the prescan, or else of the XML declaration |
//! | XML | the encoding in the XML declaration |
//! | CSS | the encoding in `@charset` |
//! | no encoding, and the bytes are valid UTF-8 | UTF-8 |
//! | no encoding | a guess by the bytes |
//!
//! The first line that applies decides. A declared encoding is used even if the bytes are invalid
//! in it.

mod content_type;
mod guess;
mod meta;
#[cfg(test)]
mod pages_test;
mod parsed;
mod prescan;
#[cfg(test)]
mod tests;

use std::borrow::Cow;

pub use content_type::ContentType;
use content_type::Syntax;
use encoding_rs::Encoding;

/// Decodes a document.
///
/// `declared` comes from the server: the value of the `Content-Type`, several values joined by
/// commas, or only the label of an encoding. Without a `Content-Type` the document is HTML.
///
/// The encoding is the first known one in this order:
///
/// 1. the encoding of a byte order mark;
/// 2. the encoding of `declared`;
/// 3. the encoding that the document declares: HTML in a `<meta>` element anywhere, or in an XML
///    declaration; XML in its declaration; CSS in `@charset`. Comments, scripts and texts declare
///    nothing;
/// 4. UTF-8 if all bytes are valid UTF-8, except for a truncated last character;
/// 5. a guess from at most 1 MiB, starting at the first non-ASCII byte. The guess depends on the
///    bytes alone, and is never ISO-2022-JP or UTF-16.
///
/// Labels have the meaning that browsers give them (WHATWG *Encoding*, section 4.2): `latin1` is
/// windows-1252, and an unknown label declares nothing. Bytes that are invalid in the encoding
/// become U+FFFD.
///
/// Linear time. Borrows the input if it is UTF-8, or ASCII in an encoding that extends ASCII.
///
/// ```
/// use simkeep::fingerprint::decode;
/// assert_eq!(decode(b"caf\xe9", Some("latin1")), "café");
/// assert_eq!(decode(b"caf\xe9", Some("text/html, text/html; charset=latin1")), "café");
/// let page = b"<!-- <meta charset=gbk> --><meta charset=windows-1251>\xcc\xe8\xf0";
/// assert!(decode(page, None).ends_with(">Мир"));
/// assert_eq!(decode("naïve".as_bytes(), None), "naïve");
/// assert_eq!(decode(b"\xcd\xe5\xf2, \xfd\xf2\xee \xed\xe5 \xf2\xe0\xea", None), "Нет, это не так");
/// ```
pub fn decode<'a>(bytes: &'a [u8], declared: Option<&str>) -> Cow<'a, str> {
    ContentType::declared(declared).decode(bytes)
}

impl ContentType {
    /// Decodes a document of this type by the rules of the function [`decode`].
    ///
    /// ```
    /// use simkeep::fingerprint::ContentType;
    /// let feed = ContentType::from_header("application/rss+xml").unwrap();
    /// assert!(feed.decode(b"<?xml version='1.0' encoding='iso-8859-2'?><rss>\xb1").ends_with('ą'));
    /// ```
    pub fn decode<'a>(&self, bytes: &'a [u8]) -> Cow<'a, str> {
        // A byte order mark overrides a header (HTML, 13.2.3.2, "encoding sniffing algorithm").
        if let Some((encoding, mark)) = Encoding::for_bom(bytes) {
            let bytes = bytes.get(mark..).unwrap_or_default();
            return encoding.decode_without_bom_handling(bytes).0;
        }
        match self.transport(bytes).or_else(|| self.in_document(bytes)) {
            Some(encoding) => encoding.decode_without_bom_handling(bytes).0,
            None => guess::undeclared(bytes),
        }
    }

    /// Returns the encoding that the header declares.
    fn transport(&self, bytes: &[u8]) -> Option<&'static Encoding> {
        let encoding = self.label()?;
        // JSON is UTF-8, and a charset has no effect on it (RFC 8259, 8.1 and 11). But if the bytes
        // are not JSON in UTF-8, the header is the best source of the encoding.
        let is_json = self.syntax() == Syntax::Json;
        let is_utf8 = || !bytes.contains(&0) && std::str::from_utf8(bytes).is_ok();
        if is_json && is_utf8() { None } else { Some(encoding) }
    }

    /// Returns the encoding that the document itself declares.
    fn in_document(&self, bytes: &[u8]) -> Option<&'static Encoding> {
        match self.syntax() {
            Syntax::Html => parsed::encoding(bytes).or_else(|| prescan::encoding(bytes)),
            // For XML that is not UTF-8 and has no declaration, a parser reports an error and no
            // text (XML 1.0, 4.3.3). For a page, its `<meta>` may declare the encoding.
            Syntax::Xhtml => prescan::of_xml(bytes).or_else(|| {
                let is_utf8 = std::str::from_utf8(bytes).is_ok();
                if is_utf8 { None } else { parsed::encoding(bytes) }
            }),
            Syntax::Xml => prescan::of_xml(bytes),
            Syntax::Css => prescan::of_css(bytes),
            Syntax::Json | Syntax::Text => None,
        }
    }
}
