//! Converts the bytes of a document to its text.

use std::borrow::Cow;

use simkeep::fingerprint::{ContentType, Document, extract};

/// The number of bytes that decide whether a document is text.
pub(super) const SNIFFED_BYTES: usize = 8 << 10;

/// The kind of a document by its `Content-Type`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum ContentKind {
    /// HTML, reduced to its visible text.
    Html,
    /// Text that is used unchanged: plain, XML, JSON, scripts, style sheets.
    Text,
    /// Binary content.
    Binary,
    /// No information: the bytes decide.
    Unsaid,
}

/// The `Content-Type`'s information about the encoding of a document; by default no information.
#[derive(Debug, Default)]
pub(super) struct Charset(Option<ContentType>);

/// Media types that do not say what a document is.
const UNKNOWN: [&str; 3] = ["unk/unknown", "unknown/unknown", "application/unknown"];

/// Parses a `Content-Type`: the kind of the document and its encoding. Several headers are joined
/// by commas; an invalid type is ignored (WHATWG *Fetch*, 3.5).
pub(super) fn kind(content_type: &str) -> (ContentKind, Charset) {
    let content_type = ContentType::from_header(content_type);
    let kind = match &content_type {
        None => ContentKind::Unsaid,
        Some(declared) if UNKNOWN.contains(&declared.essence()) => ContentKind::Unsaid,
        Some(declared) if declared.is_html() => ContentKind::Html,
        Some(declared) if declared.is_text() => ContentKind::Text,
        Some(_) => ContentKind::Binary,
    };
    (kind, Charset(content_type))
}

/// Returns the text of a document. For HTML, returns the visible text with its marks. `None` for
/// binary bytes.
pub(super) fn document(bytes: &[u8], kind: ContentKind, charset: Charset) -> Option<Document> {
    let said = charset.0.unwrap_or_else(ContentType::html);
    let wide = said.encoding().is_some_and(|name| name.starts_with("UTF-16"));
    if kind == ContentKind::Binary || (!wide && is_binary(bytes)) {
        return None;
    }
    let content_type = match kind {
        ContentKind::Unsaid => said.with_essence(sniffed(bytes)),
        _ => said,
    };
    let text = content_type.decode(bytes);
    if kind == ContentKind::Html || content_type.essence() == "text/html" {
        return Some(extract(&text));
    }
    let mut text = text.into_owned();
    if text.capacity() > 2 * text.len() {
        text.shrink_to_fit();
    }
    Some(Document::new(text))
}

/// Returns the type of a text without a declared type.
fn sniffed(bytes: &[u8]) -> &'static str {
    let xml: [&[u8]; 4] = [b"<?xml", b"\xef\xbb\xbf<?xml", b"<\0?\0x\0", b"\0<\0?\0x"];
    if is_html(bytes) {
        "text/html"
    } else if xml.iter().any(|start| bytes.starts_with(start)) {
        "application/xml"
    } else {
        "text/plain"
    }
}

/// Whether these first bytes are binary: they contain a NUL, unless a byte order mark or an XML
/// declaration indicates UTF-16, or more than one in fifty is a control character that texts do not
/// use.
pub(super) fn is_binary(bytes: &[u8]) -> bool {
    let start = bytes.get(..SNIFFED_BYTES).unwrap_or(bytes);
    let wide: [&[u8]; 4] = [b"\xff\xfe", b"\xfe\xff", b"<\0?\0x\0", b"\0<\0?\0x"];
    if wide.iter().any(|mark| start.starts_with(mark)) {
        return false;
    }
    let control = |b: &&u8| matches!(b, 0x01..=0x07 | 0x0e..=0x1a | 0x1c..=0x1f | 0x7f);
    start.contains(&0) || start.iter().filter(control).count() * 50 > start.len()
}

/// Whether these first bytes begin an HTML page.
pub(super) fn is_html(bytes: &[u8]) -> bool {
    let bytes = bytes.get(..1024).unwrap_or(bytes);
    let text = if bytes.starts_with(b"\xff\xfe") || bytes.starts_with(b"\xfe\xff") {
        Cow::Owned(ContentType::html().decode(bytes).into_owned().into_bytes())
    } else {
        Cow::Borrowed(bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes))
    };
    let text = text.trim_ascii_start();
    let start = text.get(..512).unwrap_or(text).to_ascii_lowercase();
    let begins = |tag: &[u8]| start.starts_with(tag);
    begins(b"<!doctype html")
        || begins(b"<html")
        || begins(b"<head>")
        || begins(b"<body")
        || ((begins(b"<?xml") || begins(b"<!--"))
            && start.windows(5).any(|window| window == b"<html"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Returns the kind, and the charset as written.
    fn said(content_type: &str) -> (ContentKind, Option<String>) {
        let (kind, Charset(said)) = kind(content_type);
        (kind, said.and_then(|said| said.charset().map(str::to_owned)))
    }

    fn text(bytes: &[u8], content_type: &str) -> Option<String> {
        let (kind, charset) = kind(content_type);
        document(bytes, kind, charset).map(Document::into_text)
    }

    #[test]
    fn content_type_gives_kind_and_charset() {
        let charset = |label: &str| Some(label.to_owned());
        assert_eq!(said("text/html; charset=\"UTF-8\""), (ContentKind::Html, charset("UTF-8")));
        assert_eq!(said("TEXT/Plain;x=y; Charset=latin1"), (ContentKind::Text, charset("latin1")));
        assert_eq!(said("application/rss+xml"), (ContentKind::Text, None));
        assert_eq!(said("image/svg+xml"), (ContentKind::Binary, None));
        assert_eq!(said("application/pdf"), (ContentKind::Binary, None));
        assert_eq!(said("unknown/unknown;charset=gbk"), (ContentKind::Unsaid, charset("gbk")));
        for nothing in ["", "html", "text", "*/*", "text/html charset=gbk", "/", ";charset=gbk"] {
            assert_eq!(said(nothing), (ContentKind::Unsaid, None), "{nothing}");
        }
    }

    /// An example of WHATWG *Fetch*, 3.5, "extract a MIME type".
    #[test]
    fn last_valid_content_type_wins() {
        assert_eq!(said("image/png, text/html;charset=gbk").0, ContentKind::Html);
        assert_eq!(said("text/html, application/pdf").0, ContentKind::Binary);
        assert_eq!(said("text/html, charset=gbk, */*").0, ContentKind::Html);
    }

    #[test]
    fn bytes_override_the_content_type() {
        assert_eq!(text(b"a\0b", "text/html"), None);
        assert_eq!(text(b"\xff\xfea\0b\0", "text/plain").as_deref(), Some("ab"));
        for label in ["UTF-16LE", "utf-16", "ucs-2", "\"unicode\""] {
            let content_type = format!("text/plain;charset={label}");
            assert_eq!(text(b"a\0b\0", &content_type).as_deref(), Some("ab"), "{label}");
        }
        assert_eq!(text(b"\n<!DOCTYPE html><p>x", "").as_deref(), Some("x"));
        assert_eq!(text(b"\xff\xfe<\0h\0t\0m\0l\0>\0x\0", "").as_deref(), Some("x"));
        assert_eq!(text(b"<p>x", "text/plain").as_deref(), Some("<p>x"));
        assert_eq!(text(b"caf\xe9", "text/plain;charset=latin1").as_deref(), Some("café"));
        assert_eq!(text(b"", "text/plain").as_deref(), Some(""));
        assert!(is_binary(b"x\x9c\x4b\x4c\x06\x00"));
        assert!(!is_binary("Γειά\tσου\r\n".as_bytes()));
    }

    #[test]
    fn each_type_declares_its_encoding() {
        let page = b"<meta charset=windows-1251>\xcf\xf0\xe8\xe2\xe5\xf2";
        assert_eq!(text(page, "text/html").as_deref(), Some("Привет"));
        assert!(text(page, "text/html;charset=utf-8").unwrap().ends_with('\u{fffd}'));
        let plain = "<meta charset=gbk>é";
        for content_type in ["text/plain", "text/javascript", "application/json", "text/x-unknown"]
        {
            let said = text(plain.as_bytes(), content_type);
            assert_eq!(said.as_deref(), Some(plain), "{content_type}");
        }
        let xml = b"<?xml version='1.0' encoding='iso-8859-2'?><x>\xb1</x>";
        for content_type in ["text/xml", "application/xml", "application/atom+xml", ""] {
            assert!(text(xml, content_type).unwrap().ends_with("<x>ą</x>"), "{content_type}");
        }
        let wide = "<?xml version='1.0'?><x>ą</x>".encode_utf16();
        let wide: Vec<u8> = wide.flat_map(u16::to_le_bytes).collect();
        assert!(text(&wide, "text/xml").unwrap().ends_with("<x>ą</x>"));
        let json = "[\"é\"]";
        assert_eq!(text(json.as_bytes(), "application/json;charset=gbk").as_deref(), Some(json));
        assert_eq!(text(b"[\"\xe9\"]", "text/json;charset=latin1").as_deref(), Some(json));
        assert!(text(b"@charset \"koi8-r\";\xc1", "text/css").unwrap().ends_with('а'));
        assert!(text(b"\xcf\xf0\xe8\xe2\xe5\xf2, \xec\xe8\xf0", "").unwrap().ends_with("мир"));
    }

    proptest! {
        #[test]
        fn nothing_panics(bytes in prop::collection::vec(any::<u8>(), 0..100), content_type in "\\PC{0,30}") {
            text(&bytes, &content_type);
        }
    }
}
