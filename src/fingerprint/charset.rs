//! From bytes to characters.

use std::borrow::Cow;

use encoding_rs::{Encoding, UTF_8, UTF_16BE, UTF_16LE};

/// How far into a document to look for the encoding that it declares, as browsers do.
const PRESCAN_BYTES: usize = 1024;

/// Decodes a document. Its encoding is the first that is known of: that of a byte order mark;
/// `label`, which is the `charset` of a `Content-Type`; that of a `<meta>` or an XML declaration
/// within the first 1,024 bytes; UTF-8. Bytes that cannot be decoded become U+FFFD. Linear; borrows
/// the input if it can.
///
/// ```
/// use simkeep::fingerprint::decode;
/// assert_eq!(decode(b"caf\xe9", Some("latin1")), "café");
/// assert_eq!(decode(b"<meta charset=windows-1251>\xcc\xe8\xf0", None), "<meta charset=windows-1251>Мир");
/// assert_eq!(decode(b"caf\xe9", None), "caf\u{fffd}");
/// ```
pub fn decode<'a>(bytes: &'a [u8], label: Option<&str>) -> Cow<'a, str> {
    if let Some((encoding, mark)) = Encoding::for_bom(bytes) {
        let bytes = bytes.get(mark..).unwrap_or_default();
        return encoding.decode_without_bom_handling(bytes).0;
    }
    let encoding = label
        .and_then(|label| Encoding::for_label(label.trim().as_bytes()))
        .or_else(|| declared(bytes))
        .unwrap_or(UTF_8);
    encoding.decode_without_bom_handling(bytes).0
}

/// The encoding that a document declares.
fn declared(bytes: &[u8]) -> Option<&'static Encoding> {
    let start = bytes.get(..PRESCAN_BYTES).unwrap_or(bytes).to_ascii_lowercase();
    let start = String::from_utf8_lossy(&start);
    let named = if let Some(xml) = start.strip_prefix("<?xml") {
        let declaration = xml.split("?>").next().unwrap_or_default();
        declaration.split_once("encoding").and_then(|(_, rest)| value(rest))
    } else {
        None
    };
    let named = named.or_else(|| {
        start.split("<meta").skip(1).find_map(|tag| {
            let tag = tag.split('>').next().unwrap_or_default();
            tag.split("charset").skip(1).find_map(value)
        })
    })?;
    let encoding = Encoding::for_label(named.as_bytes())?;
    // The declaration could be read as ASCII, so the document is not UTF-16.
    Some(if encoding == UTF_16LE || encoding == UTF_16BE { UTF_8 } else { encoding })
}

/// The value after a name: an equals sign, then a word, in quotes or not.
fn value(rest: &str) -> Option<&str> {
    let rest = rest.trim_start().strip_prefix('=')?.trim_start();
    let rest = rest.strip_prefix(['"', '\'']).unwrap_or(rest).trim_start();
    rest.split(|c: char| c.is_whitespace() || "\"';/>?".contains(c))
        .next()
        .filter(|v| !v.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_byte_order_mark_comes_first() {
        assert_eq!(decode(b"\xef\xbb\xbfx\xc3\xa9", Some("latin1")), "xé");
        assert_eq!(decode(b"\xff\xfea\0b\0", None), "ab");
        assert_eq!(decode(b"\xfe\xff\0a\0b", None), "ab");
    }

    #[test]
    fn the_label_is_honoured_then_the_document() {
        let page =
            b"<html><META http-equiv='x' content=\"text/html; charset = Shift_JIS\">\x82\xa0";
        assert!(decode(page, None).ends_with('あ'));
        assert!(decode(page, Some("no such thing")).ends_with('あ'));
        assert!(decode(page, Some(" UTF-8 ")).ends_with('\u{fffd}'));
        assert!(decode(b"<?xml version='1.0' encoding='iso-8859-2'?><x>\xb1", None).ends_with('ą'));
        assert!(decode(b"<meta charset=utf-16le>caf\xc3\xa9", None).ends_with("café"));
        let late = [vec![b' '; PRESCAN_BYTES], b"<meta charset=latin1>\xe9".to_vec()].concat();
        assert!(decode(&late, None).ends_with('\u{fffd}'));
    }

    proptest! {
        #[test]
        fn no_bytes_panic(bytes in prop::collection::vec(any::<u8>(), 0..300), label in "\\PC{0,12}") {
            decode(&bytes, Some(&label));
            decode(&[b"<meta charset=".as_slice(), &bytes].concat(), None);
        }
    }
}
