//! Tests with pages in many encodings, compared with their UTF-8 form.

use std::collections::BTreeMap;

use encoding_rs::Encoding;

use super::decode;
use crate::fingerprint::visible_text;

/// Sentences of each language. The Vietnamese sentences use separate tone marks for letters that
/// windows-1258 lacks.
const TEXTS: &str = include_str!("texts.txt");

/// Encodings with a language, and whether the encoding of an undeclared page is guessed correctly.
///
/// ISO-2022-JP is never guessed. Nor is macintosh: the few pages that still use macintosh declare
/// it.
const ENCODINGS: [(&str, &str, bool); 32] = [
    ("shift_jis", "ja", true),
    ("euc-jp", "ja", true),
    ("iso-2022-jp", "ja", false),
    ("gbk", "zh", true),
    ("gb18030", "zh", true),
    ("big5", "tw", true),
    ("euc-kr", "ko", true),
    ("koi8-r", "ru", true),
    ("koi8-u", "uk", true),
    ("ibm866", "ru", true),
    ("windows-1250", "pl", true),
    ("windows-1251", "ru", true),
    ("windows-1251", "uk", true),
    ("windows-1252", "fr", true),
    ("windows-1252", "de", true),
    ("windows-1253", "el", true),
    ("windows-1254", "tr", true),
    ("windows-1255", "he", true),
    ("windows-1256", "ar", true),
    ("windows-1257", "lt", true),
    ("windows-1258", "vi", true),
    ("windows-874", "th", true),
    ("iso-8859-2", "pl", true),
    ("iso-8859-5", "ru", true),
    ("iso-8859-7", "el", true),
    ("iso-8859-8", "he", true),
    ("iso-8859-9", "tr", true),
    ("iso-8859-15", "de", true),
    ("macintosh", "fr", false),
    ("utf-16le", "ru", true),
    ("utf-16be", "zh", true),
    ("utf-8", "ko", true),
];

/// The place where a page declares its encoding.
#[derive(Clone, Copy, Debug, PartialEq)]
enum DeclarationSite {
    Header,
    Early,
    Late,
    Nowhere,
}

/// Returns a page in a language, with early and late parts that name the encoding.
fn page(language: &str, number: usize, early: &str, late: &str) -> String {
    let heading = format!("# {language}\n");
    let text = TEXTS.split_once(&heading).unwrap().1;
    let sentences: Vec<&str> = text.lines().take_while(|line| !line.starts_with("# ")).collect();
    let sentence = |place: usize| sentences[(number * 3 + place) % sentences.len()];
    let paragraphs = (0..8).map(|place| format!("<p class=\"n{place}\">{}</p>\n", sentence(place)));
    let script = "<script>/* nothing to see */</script>\n".repeat(30);
    format!(
        "<!doctype html>\n<html><head>{early}\n{script}{late}<title>{}</title></head>\n<body><nav>\
         <a href=/>Index</a> <a href=/a?b=1&amp;c=2>About</a></nav>\n{}</body></html>\n",
        sentence(9),
        paragraphs.collect::<String>(),
    )
}

/// Encodes a page; UTF-16 gets a byte order mark.
fn encoded(page: &str, label: &str) -> Vec<u8> {
    match label {
        "utf-16le" => "\u{feff}"
            .encode_utf16()
            .chain(page.encode_utf16())
            .flat_map(u16::to_le_bytes)
            .collect(),
        "utf-16be" => "\u{feff}"
            .encode_utf16()
            .chain(page.encode_utf16())
            .flat_map(u16::to_be_bytes)
            .collect(),
        _ => {
            let (bytes, _, unmappable) =
                Encoding::for_label(label.as_bytes()).unwrap().encode(page);
            assert!(!unmappable || label == "macintosh" || label == "iso-8859-8", "{label}");
            bytes.into_owned()
        }
    }
}

#[test]
fn pages_in_any_encoding_read_like_their_twins_in_utf8() {
    let mut alike: BTreeMap<String, (usize, usize)> = BTreeMap::new();
    for (label, language, guessed) in ENCODINGS {
        for number in 0..10 {
            let way = [
                DeclarationSite::Header,
                DeclarationSite::Early,
                DeclarationSite::Late,
                DeclarationSite::Nowhere,
            ][number % 4];
            let meta = match number {
                1 | 2 => format!("<meta charset=\"{label}\">"),
                _ => format!("<meta http-equiv=Content-Type content='text/html; charset={label}'>"),
            };
            let (early, late) = match way {
                DeclarationSite::Early => (meta.as_str(), ""),
                DeclarationSite::Late => ("", meta.as_str()),
                DeclarationSite::Header | DeclarationSite::Nowhere => ("", ""),
            };
            let page = page(language, number, early, late);
            let bytes = encoded(&page, label);
            let header = format!("text/html; charset={label}");
            let header = if way == DeclarationSite::Header { header.as_str() } else { "text/html" };
            let is_alike = visible_text(&decode(&bytes, Some(header))) == visible_text(&page);
            assert!(is_alike || way == DeclarationSite::Nowhere, "{label}, {language}, {way:?}");
            assert!(is_alike || !guessed, "{label}, {language}, undeclared");
            let (all, good) = alike.entry(format!("{label} {way:?}")).or_default();
            (*all, *good) = (*all + 1, *good + usize::from(is_alike));
        }
    }
    let (all, good) = alike.values().fold((0, 0), |sum, one| (sum.0 + one.0, sum.1 + one.1));
    assert!(all >= 300 && good * 100 >= all * 97, "{good} of {all}: {alike:?}");
}
