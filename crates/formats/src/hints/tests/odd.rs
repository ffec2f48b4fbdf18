//! Tests of files with unusual starts, and markup in which a record could be lost.

use super::*;

#[test]
fn byte_order_marks_and_blanks_are_skipped() {
    let file = sitemap(GOOD);
    let lines = "{\"url\":\"x:9\",\"modified\":0}\n";
    for before in ["\u{feff}", "\n\u{feff}", "\u{feff}\u{feff}", "\r\n \u{feff}\n\u{feff}\t"] {
        for file in [file.as_str(), lines, "<urlset></urlset>"] {
            let expected: &[_] = if file.contains("x:9") { &[hint("x:9", 0)] } else { &[] };
            assert_eq!(hints(format!("{before}{file}")), expected, "{before:?} {file}");
        }
        assert_eq!(wrong(before), "test: the file is empty");
        for (to_bytes, blank) in
            [(u16::to_le_bytes as fn(u16) -> [u8; 2], &b"\n\0"[..]), (u16::to_be_bytes, b"\0\n")]
        {
            let bytes: Vec<u8> =
                format!("{before}{file}").encode_utf16().flat_map(to_bytes).collect();
            assert_eq!(hints(&bytes), [hint("x:9", 0)], "{before:?}");
            assert_eq!(hints([blank, &bytes].concat()), [hint("x:9", 0)], "{before:?}");
        }
    }
    assert_eq!(hints(format!("{lines}\u{feff}{lines}")).len(), 2);
    let said = wrong("\n\u{feff}{\"url\":1}");
    assert!(said.starts_with("test, line 2: "), "{said}");
}

#[test]
fn file_may_be_compressed_twice() {
    let file = sitemap(GOOD);
    let packed = gz(file.as_bytes());
    let zstd = zstd::encode_all(file.as_bytes(), 1).unwrap();
    for twice in [gz(&packed), gz(&zstd), zstd::encode_all(packed.as_slice(), 1).unwrap()] {
        for bytes in [1, usize::MAX] {
            let found = read_by(&twice, bytes);
            assert_eq!(found, [Ok(Hint { url: "x:9".into(), modified: 0 })]);
        }
    }
    let found = read_by(&gz(&gz(&packed)), usize::MAX);
    assert!(found[0].as_ref().unwrap_err().why.starts_with("the file is neither"), "{found:?}");
    // The file is truncated in the outer or in the inner layer.
    let noise: String = (0..5_000u64).map(|n| format!("{:x}", n * n)).collect();
    let file = sitemap(&format!("{GOOD}<!--{noise}-->"));
    let packed = gz(file.as_bytes());
    let twice = gz(&packed);
    for cut in [gz(&packed[..packed.len() / 2]), twice[..twice.len() / 2].to_vec()] {
        let found = read_by(&cut, usize::MAX);
        assert_eq!(found[0], Ok(Hint { url: "x:9".into(), modified: 0 }));
        assert!(found[1].as_ref().unwrap_err().why.contains("damaged gzip"), "{found:?}");
    }
}

#[test]
fn record_after_broken_markup_is_read_or_named() {
    let body = "<loc>x:1</loc><lastmod>1970</lastmod>";
    for (junk, said) in [
        (format!("<!<url>{body}</url>"), "x:1"),
        (format!("<!foo <url>{body}</url>"), "x:1"),
        (format!("<![foo <url>{body}</url>"), "x:1"),
        (format!("<!- <url>{body}</url>"), "x:1"),
        (format!("<?<url>{body}</url>"), "x:1"),
        (format!("<? <url>{body}</url>"), "x:1"),
        (format!("<url><!{body}</url>"), "x:1"),
        (format!("<url a=\"{body}</url>"), "x:1: the tag of the record has no closing \">\""),
        (format!("<url a='{body}</url>"), "x:1: the tag of the record has no closing \">\""),
        (format!("<url {body}</url>"), "x:1: the tag of the record has no closing \">\""),
        (
            "<url><loc a='x:1</loc><lastmod>1970</lastmod></url>".to_owned(),
            "a tag of the record has no closing \">\"",
        ),
        (
            "<url><loc>x:1</loc><lastmod a=\"1970</lastmod></url>".to_owned(),
            "x:1: a tag of the record has no",
        ),
        (
            "<url><loc>x:1</loc><lastmod <x></lastmod></url>".to_owned(),
            "x:1: a tag of the record has no closing \">\"",
        ),
    ] {
        let found = hints(sitemap(&format!("{junk}{GOOD}")));
        assert_eq!((found.len(), &found[1]), (2, &hint("x:9", 0)), "{junk}: {found:?}");
        assert!(found[0].0.contains(said), "{junk}: {found:?}");
    }
    // No record is lost, so no error is reported.
    for harmless in [
        "<url><loc>x:1</loc><lastmod a='</lastmod><lastmod>1970</lastmod></url>",
        "<url><loc>x:1</loc><lastmod>1970</lastmod><url a='</url>",
        "<url><loc>x:1</loc><lastmod>1970</lastmod><x><loc a='</x></url>",
    ] {
        let found = hints(sitemap(&format!("{harmless}{GOOD}")));
        assert_eq!(found, [hint("x:1", 0), hint("x:9", 0)], "{harmless}");
    }
}
