//! Tests of encodings of XML.

use super::*;

#[test]
fn document_is_read_in_its_declared_encoding() {
    let text = |declared: &str, word: &str| {
        let record = format!("<url><loc>x:{word}</loc><lastmod>1970-01-02</lastmod></url>");
        format!("<?xml version='1.0'{declared}?><urlset><!-- {word} -->{record}{GOOD}</urlset>")
    };
    let expected = |word: &str| vec![hint(&format!("x:{word}"), DAY), hint("x:9", 0)];
    for (label, word) in [
        ("ISO-8859-1", "caf\u{e9}"),
        ("windows-1252", "\u{20ac}\u{e9}"),
        ("windows-1251", "\u{41c}\u{438}\u{440}"),
        ("Shift_JIS", "\u{30bd}\u{8868}"),
        ("EUC-JP", "\u{30bd}\u{8868}"),
        ("ISO-2022-JP", "\u{30bd}\u{8868}"),
        ("gb18030", "\u{4e2d}\u{1f600}"),
        ("Big5", "\u{529f}\u{80fd}"),
        ("EUC-KR", "\u{d55c}"),
        ("utf8", "\u{e9}"),
    ] {
        let file = text(&format!(" encoding='{label}'"), word);
        let encoding = encoding_rs::Encoding::for_label(label.as_bytes()).unwrap();
        let (bytes, _, has_none) = encoding.encode(&file);
        assert!(!has_none, "{label}");
        assert_eq!(hints(&bytes), expected(word), "{label}");
    }
    for declared in ["", " encoding='UTF-16'", " encoding='UTF-8'", " encoding=\"utf-16le\""] {
        let file = text(declared, "\u{e9}\u{1f600}");
        let expected = expected("\u{e9}\u{1f600}");
        let units = || file.encode_utf16();
        let (little, big) =
            (units().flat_map(u16::to_le_bytes), units().flat_map(u16::to_be_bytes));
        let (little, big): (Vec<u8>, Vec<u8>) = (little.collect(), big.collect());
        assert_eq!(hints(&little), expected);
        assert_eq!(hints(&big), expected);
        assert_eq!(hints([b"\xff\xfe".as_slice(), &little].concat()), expected);
        assert_eq!(hints([b"\xfe\xff".as_slice(), &big].concat()), expected);
        // The bytes of these files are ASCII, for any declared encoding.
        assert_eq!(hints(&file), expected);
        assert_eq!(hints(format!("\u{feff}{file}")), expected);
    }
}

#[test]
fn undecodable_url_is_broken() {
    for declared in ["", " encoding='UTF-8'", " encoding='no-such-code'", " encoding='EUC-JP'"] {
        let mut file =
            format!("<?xml version='1.0'{declared}?><urlset><title>\u{e9}</title>").into_bytes();
        file.extend_from_slice(b"<url><loc>x:\xff\xe9</loc><lastmod>1970</lastmod></url>");
        file.extend_from_slice(format!("{GOOD}</urlset>").as_bytes());
        let found = hints(file);
        assert_eq!((found.len(), &found[1]), (2, &hint("x:9", 0)), "{declared}");
        assert!(found[0].0.contains("are invalid in the file's encoding"), "{found:?}");
    }
}

#[test]
fn broken_record_is_located_in_any_encoding() {
    let file = "<?xml version='1.0' encoding='UTF-16'?><urlset><!-- \u{1f600} -->\
        <url><loc>x:</loc><lastmod>?</lastmod></url></urlset>";
    let at = 2 * file[..file.find("<url>").unwrap()].encode_utf16().count();
    let bytes: Vec<u8> = file.encode_utf16().flat_map(u16::to_le_bytes).collect();
    assert!(wrong(bytes).starts_with(&format!("test, byte {at}: x:: <lastmod>")));
}
