//! From the bytes of a document to its text.

use simkeep::fingerprint::{Document, decode, extract};

/// How much of a document tells whether it is text.
pub(super) const SNIFFED_BYTES: usize = 8 << 10;

/// What kind of document its `Content-Type` says.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Kind {
    /// HTML, of which the visible text counts.
    Html,
    /// Text that counts as it is: plain, XML, JSON, scripts, style sheets.
    Text,
    /// No text.
    Binary,
    /// Nothing is said: the bytes must tell.
    Unsaid,
}

/// What a `Content-Type` says: the kind, and the charset if it names one.
pub(super) fn kind(content_type: &str) -> (Kind, Option<&str>) {
    let mut parts = content_type.split(';').map(str::trim);
    let kind = parts.next().unwrap_or_default().to_ascii_lowercase();
    let charset = parts.find_map(|parameter| {
        let (name, value) = parameter.split_once('=')?;
        name.trim().eq_ignore_ascii_case("charset").then(|| value.trim().trim_matches(['"', '\'']))
    });
    let kind = match kind.as_str() {
        "" | "unk" | "unknown" | "no-type" | "application/unknown" | "*/*" => Kind::Unsaid,
        "text/html" | "application/xhtml+xml" | "application/vnd.wap.xhtml+xml" => Kind::Html,
        "application/json"
        | "application/ld+json"
        | "application/xml"
        | "application/javascript"
        | "application/x-javascript"
        | "application/ecmascript"
        | "application/x-ndjson"
        | "application/yaml"
        | "application/x-yaml"
        | "application/toml" => Kind::Text,
        kind if kind.starts_with("text/") => Kind::Text,
        kind if kind.starts_with("application/") && kind.ends_with("+xml") => Kind::Text,
        kind if kind.starts_with("application/") && kind.ends_with("+json") => Kind::Text,
        // Some servers send no slash at all; then they said nothing.
        kind if !kind.contains('/') => Kind::Unsaid,
        _ => Kind::Binary,
    };
    (kind, charset)
}

/// The text of a document, the visible one of HTML, with its marks; `None` if the bytes are no text.
pub(super) fn document(bytes: &[u8], kind: Kind, charset: Option<&str>) -> Option<Document> {
    let wide = charset.is_some_and(|name| name.to_ascii_lowercase().contains("utf-16"));
    if kind == Kind::Binary || (!wide && is_binary(bytes)) {
        return None;
    }
    if kind == Kind::Html || (kind == Kind::Unsaid && is_html(bytes)) {
        return Some(extract(&decode(bytes, charset)));
    }
    let mut text = decode(bytes, charset).into_owned();
    if text.capacity() > 2 * text.len() {
        text.shrink_to_fit();
    }
    Some(Document::new(text))
}

/// Whether these first bytes are no text: a NUL, unless a byte order mark says UTF-16, or more than
/// one in fifty a control character that texts do not use.
pub(super) fn is_binary(bytes: &[u8]) -> bool {
    let start = bytes.get(..SNIFFED_BYTES).unwrap_or(bytes);
    if start.starts_with(&[0xff, 0xfe]) || start.starts_with(&[0xfe, 0xff]) {
        return false;
    }
    let control = |b: &&u8| matches!(b, 0x01..=0x07 | 0x0e..=0x1a | 0x1c..=0x1f | 0x7f);
    start.contains(&0) || start.iter().filter(control).count() * 50 > start.len()
}

/// Whether these first bytes begin an HTML page.
pub(super) fn is_html(bytes: &[u8]) -> bool {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes).trim_ascii_start();
    let start = bytes.get(..512).unwrap_or(bytes).to_ascii_lowercase();
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

    fn text(bytes: &[u8], kind: Kind, charset: Option<&str>) -> Option<String> {
        document(bytes, kind, charset).map(Document::into_text)
    }

    #[test]
    fn content_types_tell_the_kind_and_the_charset() {
        assert_eq!(kind("text/html; charset=\"UTF-8\""), (Kind::Html, Some("UTF-8")));
        assert_eq!(kind("TEXT/Plain;x=y; Charset = latin1"), (Kind::Text, Some("latin1")));
        assert_eq!(kind("application/rss+xml"), (Kind::Text, None));
        assert_eq!(kind("image/svg+xml"), (Kind::Binary, None));
        assert_eq!(kind("application/pdf"), (Kind::Binary, None));
        assert_eq!(kind(""), (Kind::Unsaid, None));
    }

    #[test]
    fn the_bytes_have_the_last_word() {
        assert_eq!(text(b"a\0b", Kind::Html, None), None);
        assert_eq!(text(b"\xff\xfea\0b\0", Kind::Text, None).as_deref(), Some("ab"));
        assert_eq!(text(b"a\0b\0", Kind::Text, Some("UTF-16LE")).as_deref(), Some("ab"));
        assert_eq!(text(b"\n<!DOCTYPE html><p>x", Kind::Unsaid, None).as_deref(), Some("x"));
        assert_eq!(text(b"<p>x", Kind::Text, None).as_deref(), Some("<p>x"));
        assert_eq!(text(b"caf\xe9", Kind::Text, Some("latin1")).as_deref(), Some("café"));
        assert_eq!(text(b"", Kind::Text, None).as_deref(), Some(""));
        assert!(is_binary(b"x\x9c\x4b\x4c\x06\x00"));
        assert!(!is_binary("Γειά\tσου\r\n".as_bytes()));
    }

    proptest! {
        #[test]
        fn nothing_panics(bytes in prop::collection::vec(any::<u8>(), 0..100), content_type in "\\PC{0,30}") {
            let (kind, charset) = kind(&content_type);
            text(&bytes, kind, charset);
        }
    }
}
