//! Tests with declarations of every kind, and texts that resemble them.

use super::*;
use encoding_rs::{GBK, UTF_8, WINDOWS_1251};
use proptest::prelude::*;

/// Returns the encoding that a page declares.
fn declared(page: &[u8]) -> Option<&'static str> {
    ContentType::html().in_document(page).map(Encoding::name)
}

/// Returns the encoding of a page whose declaration is beyond the prescan.
fn late(page: &[u8]) -> Option<&'static str> {
    declared(&[&b"<p>"[..], &b"late ".repeat(300), page].concat())
}

#[test]
fn byte_order_mark_takes_precedence() {
    assert_eq!(decode(b"\xef\xbb\xbfx\xc3\xa9", Some("latin1")), "xé");
    assert_eq!(decode(b"\xff\xfea\0b\0", None), "ab");
    assert_eq!(decode(b"\xfe\xff\0a\0b", Some("text/html;charset=gbk")), "ab");
    assert_eq!(decode(b"\xef\xbb\xbf<meta charset=gbk>\xc3\xa9", None), "<meta charset=gbk>é");
    assert_eq!(decode(b"\xff\xfe", Some("text/plain")), "");
    assert_eq!(decode(b"\xef\xbb", Some("utf-8")), "\u{fffd}");
}

#[test]
fn declared_label_precedes_the_document() {
    let page = b"<html><META http-equiv='Content-Type' content=\"text/html; charset = Shift_JIS\">\x82\xa0";
    assert!(decode(page, None).ends_with('あ'));
    assert!(decode(page, Some("no such thing")).ends_with('あ'));
    assert!(decode(page, Some("text/html; charset=none")).ends_with('あ'));
    assert!(decode(page, Some("text/html")).ends_with('あ'));
    assert!(decode(page, Some("no type/at all")).ends_with('あ'));
    assert!(decode(page, Some(" UTF-8 ")).ends_with('\u{fffd}'));
    assert!(decode(page, Some("text/html;charset=utf-8")).ends_with('\u{fffd}'));
    assert!(decode(b"<?xml version='1.0' encoding='iso-8859-2'?><x>\xb1", None).ends_with('ą'));
    assert!(decode(b"<meta charset=utf-16le>caf\xc3\xa9", None).ends_with("café"));
    // Only a document cannot be x-user-defined.
    assert_eq!(decode(b"\x80", Some("x-user-defined")), "\u{f780}");
    assert!(decode(b"<meta charset=x-user-defined>\x80", None).ends_with('€'));
}

/// Examples of WHATWG *Fetch*, 3.5, and *MIME Sniffing*, 4.4.
#[test]
fn content_types_are_parsed_as_browsers_do() {
    for (header, expected) in [
        ("text/plain;charset=gbk, text/html", Some(("text/html", None))),
        ("text/html;charset=gbk;a=b, text/html;x=y", Some(("text/html", Some("gbk")))),
        ("text/html;charset=gbk, x/x, text/html;x=y", Some(("text/html", None))),
        ("text/html, cannot-parse", Some(("text/html", None))),
        ("text/html;charset=gbk, */*", Some(("text/html", Some("gbk")))),
        ("text/html, ", Some(("text/html", None))),
        // The type keeps the charset of the first value in the run.
        (
            "text/html;charset=gbk, text/html;charset=utf-8, text/html",
            Some(("text/html", Some("gbk"))),
        ),
        ("text/html;charset=gbk, text/html;charset=", Some(("text/html", Some("gbk")))),
        // Commas, semicolons and escapes in quotes.
        ("text/html;x=\"a,b;charset=gbk\";charset=utf-8", Some(("text/html", Some("utf-8")))),
        ("text/html;x=\"\\\",\";charset=\"u\\tf-8\", x", Some(("text/html", Some("utf-8")))),
        ("text/html;charset=\"utf-8", Some(("text/html", Some("utf-8")))),
        ("text/html;charset=\"utf-8\"gbk;charset=x", Some(("text/html", Some("utf-8")))),
        ("text/html;charset=\"\"", Some(("text/html", Some("")))),
        // The first parameter `charset` with a value is used.
        ("text/html;charset=gbk;charset=utf-8", Some(("text/html", Some("gbk")))),
        (
            "text/html;charset;charset=;charset=\"\u{100}\";charset=gbk",
            Some(("text/html", Some("gbk"))),
        ),
        ("text/html; charset =gbk", Some(("text/html", None))),
        ("text/html;charset= gbk", Some(("text/html", Some(" gbk")))),
        ("text/html;charset='gbk'", Some(("text/html", Some("'gbk'")))),
        ("\r\n\t TEXT/HTML \t;;; ChArSeT=GBK \n", Some(("text/html", Some("GBK")))),
        ("text/html;;;;", Some(("text/html", None))),
        ("text/html charset=gbk", None),
        ("text /html", None),
        ("text/", None),
        ("/html", None),
        ("html", None),
        ("*/*", None),
        ("", None),
        (", ,", None),
    ] {
        let found = ContentType::from_header(header);
        let found = found.as_ref().map(|found| (found.essence(), found.charset()));
        assert_eq!(found, expected, "{header}");
    }
}

#[test]
fn page_is_html_regardless_of_its_type() {
    let page = b"<meta charset=koi8-r>\xc1";
    for declared in
        [None, Some("text/plain"), Some("application/octet-stream"), Some("x"), Some("x/")]
    {
        assert!(ContentType::of_page(declared).decode(page).ends_with('а'), "{declared:?}");
    }
    assert_eq!(
        ContentType::of_page(Some("application/xhtml+xml")).essence(),
        "application/xhtml+xml"
    );
    assert!(
        ContentType::of_page(Some("text/plain;charset=gbk")).decode(b"\xd6\xd0").ends_with('中')
    );
    // As plain text, the page declares nothing.
    assert!(decode(page, Some("text/plain")).starts_with("<meta"));
    assert!(!decode(page, Some("text/plain")).ends_with('а'));
}

/// HTML, 13.2.3.2 and 13.2.6.4.4.
#[test]
fn meta_charset_and_pragma_declare_an_encoding() {
    for tag in [
        "<meta charset=gbk>",
        "<META CHARSET='GBK'>",
        "<meta charset=\"\tgb2312\n\">",
        "<meta/charset='gbk'/>",
        "<meta\ncharset\n=\n gbk >",
        "<meta charset=gbk charset=utf-8>",
        "<meta x=\"<meta charset=utf-8>\" y='>' charset=gbk>",
        "<meta = charset=gbk>",
        "<meta \" charset=gbk>",
        "<meta http-equiv=content-type content='text/html; charset=gbk'>",
        "<meta content='text/html;CHARSET = \"gbk\"' http-equiv=Content-Type>",
        "<meta content=\"charset; charset charset='gbk' charset=utf-8\" http-equiv=Content-Type>",
        "<meta content='charset=utf-8' http-equiv=content-type charset=gbk>",
        "<meta http-equiv=Content-Type content=text/html; charset=gbk>",
        "<meta content='charset=gbk;utf-8' http-equiv=content-type>",
        "<div><meta charset=gbk></div>",
        "<template><meta charset=gbk></template>",
        "<svg><meta charset=gbk></svg>",
        "<metal charset=utf-8></metal><meta charset=gbk>",
        "</meta charset=utf-8><meta charset=gbk>",
        "<meta charset=none><meta charset=gbk>",
        "<meta charset><meta charset=''><meta charset=gbk>",
        "<meta charset=utf-7><meta charset=gbk>",
        "<script src=x></script><meta charset=gbk>",
        "<!--><meta charset=gbk>-->",
    ] {
        assert_eq!(declared(tag.as_bytes()), Some("GBK"), "{tag}");
        assert_eq!(late(tag.as_bytes()), Some("GBK"), "late {tag}");
    }
}

/// Texts that only resemble declarations, each with an end.
const NO_DECLARATIONS: [&str; 28] = [
    "<!-- <meta charset=gbk> -->",
    "<!-- > <meta charset=gbk> <!-- -->",
    "<!doctype x \"<meta charset=gbk\">",
    "<script>var s = \"<meta charset=gbk>\"</script>",
    "<script>'</scripty><meta charset=gbk>'</script>",
    "<style>/* <meta charset=gbk> */</style>",
    "<title>How to write <meta charset=gbk></title>",
    "<TextArea rows=2><meta charset=gbk></textarea\n>",
    "<xmp><meta charset=gbk></xmp>",
    "<iframe><meta charset=gbk></iframe>",
    "<noembed><meta charset=gbk></noembed>",
    "<noframes><meta charset=gbk></noframes>",
    "<a title='<meta charset=gbk>'>x</a>",
    "<meta name=description content='how to write charset=gbk'>",
    "<meta content='text/html; charset=gbk'>",
    "<meta http-equiv=refresh content='9;url=/?charset=gbk'>",
    "<meta http-equiv='content-type ' content='text/html; charset=gbk'>",
    "<meta http-equiv=content-type content='text/html; charset gbk'>",
    "<meta http-equiv=content-type content='text/html; charset=\"gbk'>",
    "<meta http-equiv=content-type value='text/html; charset=gbk'>",
    "<meta name=x data-charset=gbk>",
    "<meta charset=none charset=gbk>",
    "<meta charset='gbk;'>",
    "<metacharset=gbk>",
    "<meta charset gbk>",
    "<link charset=gbk><script charset=gbk></script><a charset=gbk></a>",
    "&lt;meta charset=gbk&gt;",
    "< meta charset=gbk>",
];

#[test]
fn invalid_declarations_are_ignored() {
    for text in NO_DECLARATIONS {
        assert_eq!(declared(text.as_bytes()), None, "{text}");
        assert_eq!(late(text.as_bytes()), None, "late {text}");
        let page = format!("{text}<meta charset=koi8-r>");
        assert_eq!(declared(page.as_bytes()), Some("KOI8-R"), "{page}");
        assert_eq!(late(page.as_bytes()), Some("KOI8-R"), "late {page}");
    }
    for unfinished in [
        "<!-- <meta charset=gbk>",
        "<meta charset=\"gbk>",
        "<meta charset=\"gbk\"",
        "<script><meta charset=gbk>",
        "<a title=\"<meta charset=gbk>",
    ] {
        assert_eq!(declared(unfinished.as_bytes()), None, "{unfinished}");
        assert_eq!(late(unfinished.as_bytes()), None, "late {unfinished}");
    }
}

/// The parser overrides the prescan in the first bytes, too.
#[test]
fn parser_overrides_the_prescan() {
    for (page, expected) in [
        // A script in a comment in a script.
        (
            "<script><!-- <script></script><meta charset=gbk> --></script><meta charset=koi8-r>",
            "KOI8-R",
        ),
        ("<noscript><meta charset=gbk></noscript><meta charset=koi8-r>", "KOI8-R"),
        ("<svg><![CDATA[<meta charset=gbk>]]></svg><meta charset=koi8-r>", "KOI8-R"),
        ("<svg><style><meta charset=gbk></style></svg>", "GBK"),
        ("<!-- --!><meta charset=gbk>", "GBK"),
        ("<meta charset='&#103;bk'>", "GBK"),
        ("<meta charset=none http-equiv=content-type content='charset=gbk'>", "GBK"),
        ("<?xml version='1.0' encoding='koi8-r'?><meta charset=gbk>", "GBK"),
    ] {
        assert_eq!(declared(page.as_bytes()), Some(expected), "{page}");
    }
    let xml = b"<?xml version='1.0' encoding='koi8-r'?>".to_vec();
    let page = [xml, vec![b' '; 2000], b"<meta charset=gbk>".to_vec()].concat();
    assert_eq!(declared(&page), Some("GBK"));
    // Where scripts do not run, the content of `<noscript>` is markup; the prescan reads it as
    // markup.
    assert_eq!(declared(b"<noscript><meta charset=gbk></noscript>"), Some("GBK"));
    assert_eq!(late(b"<noscript><meta charset=gbk></noscript>"), None);
}

#[test]
fn meta_counts_before_and_after_the_prescan_limit() {
    for before in 980..1100 {
        let page = [vec![b' '; before], b"<meta name=x charset=\"gbk\">".to_vec()].concat();
        assert_eq!(declared(&page), Some("GBK"), "{before}");
    }
    // The first element that declares an encoding is used, after any number of elements that
    // declare none.
    let many = "<meta name=viewport>".repeat(500) + "<meta charset=gbk><meta charset=utf-8>";
    assert_eq!(declared(many.as_bytes()), Some("GBK"));
}

/// HTML, 13.2.3.2, "get an XML encoding"; XML 1.0, appendix F.
#[test]
fn xml_declarations_declare_an_encoding() {
    for (page, expected) in [
        ("<?xml version=\"1.0\" encoding=\"gbk\"?>", Some("GBK")),
        ("<?xml encoding = 'gbk' ?><html>", Some("GBK")),
        ("<?xml encoding='utf-16'?>", Some("UTF-8")),
        ("<?xml encoding=''?>", None),
        ("<?xml encoding=gbk?>", None),
        ("<?xml encoding='g bk'?>", None),
        ("<?xml encoding='gbk'", None),
        ("<?xml encoding='gbk?>", None),
        ("<?XML encoding='gbk'?>", None),
        // Only the XML declaration declares an encoding.
        ("<?xml version='1.0'?><x encoding='gbk'/>", None),
        ("<?xml version='1.0'?><root encoding='koi8-r'>", None),
        ("<?xml version=\"1.0\"?><!-- encoding=\"gbk\" --><rss>é</rss>", None),
        ("<?xml version='1.0'><?xml encoding='gbk'?>", None),
    ] {
        assert_eq!(declared(page.as_bytes()), expected, "{page}");
        let xml = ContentType::html().with_essence("application/rss+xml");
        assert_eq!(xml.in_document(page.as_bytes()).map(Encoding::name), expected, "{page}");
    }
    // Before the declaration of XML there may be white space.
    for page in [" <?xml encoding='gbk'?>", "\r\n\t<?xml version='1.0' encoding=\"gbk\"?><rss/>"] {
        let xml = ContentType::html().with_essence("application/rss+xml");
        assert_eq!(xml.in_document(page.as_bytes()).map(Encoding::name), Some("GBK"), "{page}");
        assert_eq!(declared(page.as_bytes()), None, "{page}");
    }
    for essence in ["text/html", "text/xml"] {
        let content_type = ContentType::html().with_essence(essence);
        assert!(content_type.decode(b"<\0?\0x\0m\0l\0?\0>\0\x42\x04").ends_with('т'));
        assert!(content_type.decode(b"\0<\0?\0x\0m\0l\0?\0>\x04\x42").ends_with('т'));
    }
    let rss = ContentType::html().with_essence("application/rss+xml");
    assert_eq!(rss.in_document(b"<rss><meta charset=gbk></rss>"), None);
}

/// XHTML is UTF-8 unless it declares otherwise. If its UTF-8 is invalid, a `<meta>` may declare the
/// encoding, as in HTML.
#[test]
fn xhtml_is_read_as_xml_and_then_html() {
    let xhtml = ContentType::from_header("application/xhtml+xml").unwrap();
    assert!(xhtml.decode("<html><meta charset='gbk'/>é".as_bytes()).ends_with('é'));
    assert!(xhtml.decode(b"<html><meta charset='gbk'/>\xd6\xd0\xce\xc4").ends_with("中文"));
    assert!(
        xhtml.decode(b"<?xml encoding='gbk'?><meta charset='koi8-r'/>\xd6\xd0").ends_with('中')
    );
}

#[test]
fn style_sheets_and_json_declare_their_encoding() {
    let css = ContentType::from_header("text/css").unwrap();
    assert!(css.decode(b"@charset \"gbk\"; \xd6\xd0").ends_with('中'));
    assert!(css.decode("@charset \"utf-16\"; é".as_bytes()).ends_with('é'));
    assert_eq!(css.in_document(b"@charset 'gbk';"), None);
    assert_eq!(css.in_document(b" @charset \"gbk\";"), None);
    assert_eq!(css.in_document(b"@charset \"gbk\" ;"), None);
    let json = ContentType::from_header("application/ld+json;charset=gbk").unwrap();
    assert_eq!(json.decode("\"é\"".as_bytes()), "\"é\"");
    assert_eq!(json.decode(b"\"\xd6\xd0\""), "\"中\"");
}

#[test]
fn undeclared_truncated_utf8_is_utf8() {
    let text = "Füße, 文字 и буквы 🙂";
    for declared in [None, Some("text/html"), Some("text/plain"), Some("text/xml"), Some("none")] {
        for end in 3..=text.len() {
            let whole = text.floor_char_boundary(end);
            let cut = decode(&text.as_bytes()[..end], declared);
            assert_eq!(cut.trim_end_matches('\u{fffd}'), &text[..whole], "{end}");
        }
        assert!(matches!(decode(text.as_bytes(), declared), Cow::Borrowed(_)));
    }
    // A single byte is no evidence of UTF-8.
    assert_eq!(decode(b"caf\xe9", None), "café");
    // A declaration overrides invalid bytes.
    assert_eq!(decode(b"<meta charset=utf-8>caf\xe9", None), "<meta charset=utf-8>caf\u{fffd}");
}

#[test]
fn undeclared_utf8_with_few_errors_is_utf8() {
    let text = "Das größte Rätsel für die Völker: буквы и знаки. ".repeat(8).into_bytes();
    let with = |at: usize, bytes: &[u8]| {
        let mut broken = text.clone();
        broken.splice(at..at, bytes.iter().copied());
        broken
    };
    // A character cut in the middle and followed by more text; signs of another encoding;
    // surrogates; a truncated character at the beginning.
    let half = [&text[..6], b"...</p>\n", &text].concat();
    let all = [with(0, b"\xb3"), with(9, b"\xa9"), with(9, b"\xa0"), with(9, b"\xc0\x80"), half];
    for bytes in all.into_iter().chain([with(9, b"\xed\xa0\xbd\xed\xb8\x80")]) {
        assert_eq!(decode(&bytes, None), String::from_utf8_lossy(&bytes));
    }
    // One invalid byte for seven valid non-ASCII letters is too many.
    let mixed = "für ".repeat(7).into_bytes();
    assert_eq!(
        decode(&[&mixed[..], b"f\xfcr"].concat(), None),
        "fÃ¼r fÃ¼r fÃ¼r fÃ¼r fÃ¼r fÃ¼r fÃ¼r für"
    );
}

#[test]
fn replaced_encodings_have_no_text() {
    for label in ["iso-2022-kr", "hz-gb-2312", "iso-2022-cn", "iso-2022-cn-ext", "csiso2022kr"] {
        assert_eq!(decode("text 文字".as_bytes(), Some(label)), "\u{fffd}", "{label}");
    }
}

#[test]
fn ascii_is_borrowed_in_ascii_compatible_encodings() {
    let ascii = b"<p>plain <b>text</b>";
    for label in [None, Some("latin1"), Some("gbk"), Some("shift_jis"), Some("utf-8"), Some("big5")]
    {
        assert!(matches!(decode(ascii, label), Cow::Borrowed(_)), "{label:?}");
    }
}

#[test]
fn guess_reads_past_a_long_head() {
    let (russian, ..) =
        encoding_rs::WINDOWS_1251.encode("Сегодня в нашем городе открыли новую библиотеку.");
    for head in [0, 10, 1 << 20, (1 << 20) + 1, 3 << 20] {
        let page = [vec![b' '; head], russian.to_vec()].concat();
        assert!(decode(&page, None).ends_with("библиотеку."), "{head}");
    }
    // Bytes beyond the limit do not change the guess.
    let page = [russian.to_vec(), vec![b' '; 2 << 20], b"\xff".to_vec()].concat();
    assert!(decode(&page, None).starts_with("Сегодня"));
}

/// ISO-2022-JP must be declared.
#[test]
fn iso_2022_jp_is_not_guessed() {
    let (japanese, ..) = encoding_rs::EUC_JP.encode("図書館");
    let escaped =
        [&b"\x1b$B"[..], &japanese.iter().map(|b| b & 0x7f).collect::<Vec<_>>(), b"\x1b(B"]
            .concat();
    assert_eq!(decode(&escaped, Some("iso-2022-jp")), "図書館");
    assert_eq!(
        decode(&[&b"<meta charset=iso-2022-jp>"[..], &escaped].concat(), None),
        "<meta charset=iso-2022-jp>図書館"
    );
    assert!(decode(&escaped, None).is_ascii());
}

#[test]
fn hostile_pages_take_linear_time() {
    let many = 200_000;
    for page in [
        "<meta ",
        "<meta charset",
        "<meta x='",
        "<!--",
        "<script><meta ",
        "<svg><meta charset=x>",
        "<?",
        "<meta charset=none>",
    ] {
        let page = page.repeat(many) + "charset";
        assert_eq!(declared(page.as_bytes()), None);
        decode(&[page.as_bytes(), b"\xff"].concat(), None);
    }
}

/// Encoded texts decode to the originals, for any form of the declaration.
#[test]
fn declared_encodings_round_trip() {
    let text = "Żółw, жук, 図書館, 中文, 한국어, שלום";
    for encoding in
        [GBK, WINDOWS_1251, UTF_8, encoding_rs::EUC_KR, encoding_rs::BIG5, encoding_rs::SHIFT_JIS]
    {
        // The encoder writes characters that the encoding lacks as references.
        let (bytes, ..) = encoding.encode(text);
        let (expected, ..) = encoding.decode(&bytes);
        let name = encoding.name();
        assert_eq!(decode(&bytes, Some(name)), expected);
        assert_eq!(decode(&bytes, Some(&format!("text/plain; charset=\"{name}\""))), expected);
        let page = [format!("<meta charset={name}>").as_bytes(), &bytes].concat();
        assert!(decode(&page, None).ends_with(&*expected));
    }
}

/// Finds the encoding of the first `<meta>` with an oracle that ignores markup.
fn naive(page: &str) -> Option<&'static str> {
    let (before, rest) = page.split_once("<meta charset=")?;
    let is_text = before.matches("<!--").count() == before.matches("-->").count();
    let known = is_text && rest.starts_with("gbk>");
    if known { Some("GBK") } else { naive(rest) }
}

proptest! {
    #[test]
    fn no_bytes_panic(bytes in prop::collection::vec(any::<u8>(), 0..300), label in "\\PC{0,12}") {
        decode(&bytes, Some(&label));
        decode(&bytes, Some(&format!("text/{label}")));
        decode(&[b"<meta charset=".as_slice(), &bytes].concat(), None);
    }

    #[test]
    fn simple_declarations_match_an_oracle(
        parts in prop::collection::vec(prop_oneof!["x", "<p>", "<meta charset=gbk>", "<meta charset=no>"], 0..8),
        comments in prop::collection::vec("<!-- (<meta charset=gbk>|<b>|x)* -->", 0..3),
    ) {
        let page = comments.concat() + &parts.concat();
        prop_assert_eq!(declared(page.as_bytes()), naive(&parts.concat()));
        prop_assert_eq!(late(page.as_bytes()), naive(&parts.concat()));
    }

    /// The parser accepts all that the prescan accepts, and more: the prescan alone never differs.
    #[test]
    fn prescan_agrees_with_the_parser(
        page in "(<meta|<p|<!--|-->|>| |=|/|'|\"|charset|content|http-equiv|content-type|gbk|;|x|é){0,40}",
    ) {
        let (prescanned, parsed) = (prescan::encoding(page.as_bytes()), parsed::encoding(page.as_bytes()));
        prop_assert!(prescanned.is_none() || prescanned == parsed, "{:?} {:?}", prescanned, parsed);
    }
}
