mod encodings;
mod feeds;
mod odd;
mod relative;

use std::io::{self, Cursor, Read};

use proptest::prelude::*;

use super::super::escape::needs_escape;
use super::super::gzip::tests::gz;
use super::*;

/// A file that arrives in pieces of this size.
struct PieceReader(Cursor<Vec<u8>>, usize);

impl Read for PieceReader {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let end = out.len().min(self.1);
        self.0.read(&mut out[..end])
    }
}

fn read_by(file: &[u8], bytes: usize) -> Vec<Result<Hint, BrokenRecord>> {
    let pieces = PieceReader(Cursor::new(file.to_vec()), bytes);
    match read("test", Box::new(pieces), ZstdWindow::default()) {
        Ok(hints) => hints.collect(),
        Err(broken) => vec![Err(broken)],
    }
}

/// Returns the hints of a file, read in pieces of several sizes: a URL and a time, or an error and
/// its place.
#[track_caller]
fn hints(file: impl AsRef<[u8]>) -> Vec<(String, i64)> {
    let file = file.as_ref();
    let found = read_by(file, usize::MAX);
    assert_eq!(found, read_by(file, 1));
    let placeless = |found: Vec<Result<Hint, BrokenRecord>>| -> Vec<_> {
        found.into_iter().map(|hint| hint.map_err(|broken| broken.why)).collect()
    };
    assert_eq!(placeless(found.clone()), placeless(read_by(&gz(file), usize::MAX)));
    let shown = |hint| match hint {
        Ok(Hint { url, modified }) => (url, modified),
        Err(BrokenRecord { at, why }) => {
            let said = format!("{at}: {why}");
            assert!(!said.contains(needs_escape), "{said}");
            (said, i64::MIN)
        }
    };
    found.into_iter().map(shown).collect()
}

fn sitemap(urls: &str) -> String {
    format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n\
         <urlset xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\">{urls}</urlset>\n"
    )
}

/// Returns the error of a file, after its hints.
#[track_caller]
fn wrong(file: impl AsRef<[u8]>) -> String {
    let (said, mark) = hints(file).pop().unwrap();
    assert_eq!(mark, i64::MIN, "{said}");
    said
}

fn hint(url: &str, modified: i64) -> (String, i64) {
    (url.to_owned(), modified)
}

const DAY: i64 = 86_400_000;

#[test]
fn sitemap_gives_modification_times() {
    let file = sitemap(
        "
  <url>
    <loc> https://example.com/a?b=1&amp;c=%20&#38;d=&#x26;&apos;&quot;&lt;&gt;
    </loc><lastmod>1970-01-02</lastmod>
    <changefreq>daily</changefreq><priority>0.5</priority>
  </url>
  <!-- <url><loc>x:</loc><lastmod>1970</lastmod></url> -->
  <url><lastmod><![CDATA[1970-01-03]]></lastmod><loc><![CDATA[https://example.com/b&c]]></loc></url>
  <url><loc>https://example.com/never</loc></url>
  <url><loc>https://example.com/empty</loc><lastmod/></url>
  <url/>
  <other><loc>https://example.com/deeper</loc><lastmod>1970</lastmod></other>
  <url>
    <image:image><image:loc>https://example.com/i</image:loc><loc>https://example.com/j</loc></image:image>
    <x><lastmod>1999</lastmod></x>
    <loc>https://example.com/c</loc><loc>https://example.com/second</loc>
    <lastmod>1970-01-04</lastmod><lastmod>1970-01-05</lastmod>
  </url>",
    );
    let expected = [
        hint("https://example.com/a?b=1&c=%20&d=&'\"<>", DAY),
        hint("https://example.com/b&c", 2 * DAY),
        hint("https://example.com/c", 3 * DAY),
    ];
    assert_eq!(hints(&file), expected);
    assert_eq!(hints(format!("\u{feff}{file}")), expected);
    assert_eq!(hints(format!("\n \n{file}")), expected);
    assert_eq!(hints(sitemap("")), []);
}

#[test]
fn elements_may_have_the_namespace_prefix_of_the_root() {
    let file = "<s:urlset xmlns:s='http://www.sitemaps.org/schemas/sitemap/0.9'>\
        <s:url><s:loc>x:1</s:loc><s:lastmod>1970-01-02</s:lastmod></s:url>\
        <url><loc>x:2</loc><lastmod>1970-01-02</lastmod></url></s:urlset>";
    assert_eq!(hints(file), [hint("x:1", DAY)]);
}

#[test]
fn all_forms_of_w3c_datetime_are_read() {
    for (text, modified) in [
        ("1971", 365 * DAY),
        ("1971-02", 396 * DAY),
        ("1970-01-02", DAY),
        ("1970-01-02T03:04", DAY + 11_040_000),
        ("1970-01-02T03:04Z", DAY + 11_040_000),
        ("1970-01-02T03:04+01:00", DAY + 7_440_000),
        ("1970-01-01T23:34-05:30", DAY + 18_240_000),
        ("1970-01-02T03:04:05Z", DAY + 11_045_000),
        ("1970-01-02T03:04:05+01:00", DAY + 7_445_000),
        ("1970-01-02T03:04:05.6Z", DAY + 11_045_600),
        ("1970-01-02T03:04:05.678901+01:00", DAY + 7_445_678),
        ("2999-12-31", 32_503_593_600_000),
        ("1969-12-31", -DAY),
    ] {
        let file = sitemap(&format!("<url><loc>x:</loc><lastmod>{text}</lastmod></url>"));
        assert_eq!(hints(file), [hint("x:", modified)], "{text}");
    }
}

#[test]
fn broken_record_costs_only_itself() {
    let long = format!("https://example.com/{}", "x".repeat(10_000));
    let longer = "&amp;".repeat(20_000);
    for (record, said) in [
        ("<loc>x:1</loc><lastmod>yesterday</lastmod>", "x:1: <lastmod> is not a time"),
        ("<loc>x:1</loc><lastmod>1970-01-01T24:01</lastmod>", "x:1: <lastmod> is not a time"),
        ("<loc>x:1</loc><lastmod>1970-13</lastmod>", "x:1: <lastmod> is not a time"),
        ("<loc>x:1</loc><lastmod>0000-01-01</lastmod>", "x:1: <lastmod> is not a time"),
        ("<loc>x:1</loc><lastmod>12026-01-01</lastmod>", "x:1: <lastmod> is not a time"),
        ("<lastmod>1970</lastmod>", "the record has no <loc>"),
        ("<loc> </loc><lastmod>1970</lastmod>", ": the URL is empty"),
        ("<loc>/a</loc><lastmod>1970</lastmod>", "/a: the URL is not absolute"),
        ("<loc>//a.example/</loc><lastmod>1970</lastmod>", "the URL is not absolute"),
        ("<loc>/a:b</loc><lastmod>1970</lastmod>", "the URL is not absolute"),
        ("<loc>:a</loc><lastmod>1970</lastmod>", "the URL is not absolute"),
        ("<loc>1:a</loc><lastmod>1970</lastmod>", "the URL is not absolute"),
        ("<loc>é:a</loc><lastmod>1970</lastmod>", "the URL is not absolute"),
        ("<loc>x:&#9;y</loc><lastmod>1970</lastmod>", "x:\\ty: the URL has a control character"),
        (&format!("<loc>{long}</loc><lastmod>1970</lastmod>"), "has 10020 bytes, more than 8192"),
        (&format!("<loc>{longer}</loc><lastmod>1970</lastmod>"), "the URL is too long"),
        (&format!("<loc>x:1</loc><lastmod>{longer}</lastmod>"), "is not a time"),
    ] {
        let good = "<url><loc>x:2</loc><lastmod>1970</lastmod></url>";
        let found = hints(sitemap(&format!("<url>{record}</url>{good}")));
        assert_eq!((found.len(), &found[1]), (2, &hint("x:2", 0)), "{record}");
        assert!(
            found[0].0.starts_with("test, byte 99") && found[0].0.contains(said),
            "{}",
            found[0].0
        );
    }
}

#[test]
fn sitemap_index_is_recognized() {
    let file = "<?xml version='1.0'?><sitemapindex><sitemap><loc>https://example.com/1.xml</loc>\
        <lastmod>1970</lastmod></sitemap></sitemapindex>";
    assert_eq!(
        wrong(file),
        "test, byte 21: the file is a sitemap index; pass the sitemaps that it lists instead"
    );
}

#[test]
fn other_files_are_refused_with_their_position() {
    for (file, said) in [
        ("words", "test: the file is neither JSON lines nor a sitemap nor a feed"),
        ("\u{fffd}<urlset/>", "test: the file is neither"),
        ("https://example.com/a\nhttps://example.com/b\n", "test: the file is a list of URLs"),
        ("<html><body/></html>", "test, byte 0: the root element is <html>; expected a sitemap"),
        ("<!doctype html><p>Not found</p>", "test, byte 15: the root element is <p>"),
        ("<!-- nothing -->", "test, byte 16: the file has no root element"),
        ("<", "test, byte 1: the file has no root element"),
        ("<urlset><url>", "test, byte 13: the file is truncated"),
        ("<urlset><!-- <url></urlset>", "test, byte 27: the file is truncated"),
        ("<urlset><url><loc>x:</loc><lastmod>1970</lastmo", "test, byte 47: the file is truncated"),
    ] {
        let found = wrong(file);
        assert!(found.contains(said), "{file}: {found}");
    }
    // The file is in UTF-32.
    assert!(wrong(b"\0\0\0<\0\0\0u").contains("neither"));
}

const GOOD: &str = "<url><loc>x:9</loc><lastmod>1970</lastmod></url>";

#[test]
fn malformed_markup_costs_nothing_else() {
    for (junk, before) in [
        ("&nbsp;&eacute;&no;&", vec![]),
        ("&#0;&#x110000;&#xd800;&#;&#x;", vec![]),
        ("a < b <c d <e", vec![]),
        ("</x></url></loc>", vec![]),
        ("<a b=\"c><d>", vec![]),
        ("<x><y><z>", vec![]),
        ("<br><img src=x alt='it's'>", vec![]),
        ("<![CDATA[<url><loc>x:</loc>]]>", vec![]),
        ("<![CDAT[<!x><!><!->", vec![]),
        ("<!x<!<?<? <!-<![<![CDATA<!DOCTYP", vec![]),
        ("<!--><!-- <url> -- > ->-->", vec![]),
        ("<?php echo '<urlset>' ?>", vec![]),
        ("<url><loc>x:1</loc><lastmod>1970", vec!["an element of the record has no end tag"]),
        ("<url><loc>x:1</loc><lastmod>1970</lastmod>", vec!["x:1"]),
        (
            "<url><loc>x:1<lastmod>1970</lastmod></url>",
            vec!["an element of the record has no end tag"],
        ),
        ("<url><loc>x:1</lastmod><lastmod>1970</lastmod></url>", vec!["has no end"]),
        ("<url><loc>x:1</x></loc><lastmod>1970</lastmod></url>", vec!["x:1"]),
        ("<url><loc>x:1</loc><x><lastmod>1970</lastmod></url>", vec![]),
        (
            "<url><b><loc>x:1</loc></b><lastmod>1970</lastmod></url>",
            vec!["the record has no <loc>"],
        ),
        ("<url><loc>x:1<b</loc><lastmod>1970</lastmod></url>", vec!["x:1<b"]),
        ("<URL><Loc>x:1</lOC><LastMod>1970</lastmod></Url>", vec!["x:1"]),
        (
            "<url><loc>x:1</loc><x><![CDATA[</x></url><url><loc>x:2</loc><x><![CDATA[]]></x>\
             <lastmod>1970</lastmod></url>",
            vec!["x:1: a CDATA section of the record has no end"],
        ),
    ] {
        let found = hints(sitemap(&format!("{junk}{GOOD}")));
        assert_eq!(found.last(), Some(&hint("x:9", 0)), "{junk}: {found:?}");
        assert_eq!(found.len(), before.len() + 1, "{junk}: {found:?}");
        for ((found, _), before) in found.iter().zip(before) {
            assert!(found.contains(before), "{junk}: {found}");
        }
    }
}

#[test]
fn documents_may_follow_other_text() {
    let one = sitemap(GOOD);
    assert_eq!(hints(format!("{one}{one}words")), [hint("x:9", 0), hint("x:9", 0)]);
    let warning = "<br />\n<b>Warning</b>: it is <i>old</i><br />\n";
    assert_eq!(hints(format!("{warning}{one}")), [hint("x:9", 0)]);
}

#[test]
fn unresolved_ampersand_is_literal() {
    for (written, url) in [
        ("x:/?a=1&b=2", "x:/?a=1&b=2"),
        ("x:/?a=1&amp;b=2", "x:/?a=1&b=2"),
        ("x:/?a=1&#38;b=2&#x26;c", "x:/?a=1&b=2&c"),
        ("x:/?a=1&copy=2&lt=3&amp=4", "x:/?a=1&copy=2&lt=3&amp=4"),
        ("x:/?a;b&c;d&", "x:/?a;b&c;d&"),
        ("x:/?&&amp;&;&#;&#x;", "x:/?&&&;&#;&#x;"),
        ("x:/?a=1&amp;amp;b", "x:/?a=1&amp;b"),
        ("<![CDATA[x:/?a&amp;b&c]]>", "x:/?a&amp;b&c"),
        ("x:/<![CDATA[a&b]]>&amp;c<!-- d -->e", "x:/a&b&ce"),
        (
            "x:/&eacute;&NotEqualTilde;&amp;eacute;&#38;eacute;",
            "x:/é\u{2242}\u{338}&eacute;&eacute;",
        ),
        ("x:/&Eacute;&euro;&ensp;&semi;&quest;a", "x:/É€\u{2002};?a"),
        ("x:/?a=1&copy;2&copy=3&eacute&reg", "x:/?a=1©2&copy=3&eacute&reg"),
        ("x:/?&notit;&ampx;&EACUTE;&eacutes;&no;", "x:/?&notit;&ampx;&EACUTE;&eacutes;&no;"),
        ("<![CDATA[x:/&eacute;]]>", "x:/&eacute;"),
    ] {
        let file = sitemap(&format!("<url><loc>{written}</loc><lastmod>1970</lastmod></url>"));
        assert_eq!(hints(file), [hint(url, 0)], "{written}");
    }
    let broken = "<url><loc>x:&#xd800;</loc><lastmod>1970</lastmod></url>";
    let (said, _) = &hints(sitemap(&format!("{broken}{GOOD}")))[0];
    assert!(said.contains("bytes that are invalid"), "{said}");
}

#[test]
fn custom_entities_are_not_expanded() {
    let bomb = "<!DOCTYPE u [<!ENTITY a \"aaaa\"><!ENTITY b \"&a;&a;\"><!-- it's > -->\
        <?x ]> ?><!ENTITY % p SYSTEM 'file:///etc/passwd'> %p; ]>";
    let record = |url: &str| format!("<url><loc>{url}</loc><lastmod>1970</lastmod></url>");
    let file = format!("{bomb}<urlset>&b;{}{}{GOOD}</urlset>", record("x:1"), record("x:&b;"));
    let found = hints(file);
    assert_eq!((found.len(), &found[0], &found[2]), (3, &hint("x:1", 0), &hint("x:9", 0)));
    assert!(
        found[1].0.ends_with("an entity of the document type, which is not expanded"),
        "{found:?}"
    );
    // The document may declare this name with any value.
    let link = "<entry><link href='x:&eacute;'/><updated>1970</updated></entry>";
    for file in [
        format!("{bomb}<urlset>{}</urlset>", record("x:&eacute;")),
        format!("{bomb}<feed>{link}</feed>"),
    ] {
        assert!(wrong(file).ends_with(
            "x:&eacute;: the URL contains an entity of the document type, which is not expanded"
        ));
    }
    for plain in [
        "<!DOCTYPE urlset>",
        "<!doctype rss PUBLIC \"-//Netscape Communications//DTD RSS 0.91//EN\" 'it>.dtd'>",
        "<!DOCTYPE u [ <!ELEMENT url (loc)> ] >",
    ] {
        let file = format!("<?xml version='1.0'?>\n{plain}\n<urlset>{GOOD}</urlset>");
        assert_eq!(hints(file), [hint("x:9", 0)], "{plain}");
    }
}

#[test]
fn hints_before_the_damage_are_read() {
    let file = sitemap("<url><loc>x:1</loc><lastmod>1970</lastmod></url><url><loc>x:2</x></url>");
    let found = hints(&file);
    assert_eq!((found.len(), &found[0]), (2, &hint("x:1", 0)));
    // Half of the compressed bytes end within the comment.
    let noise: String = (0..50_000u64).map(|n| format!("{:x}", n * n)).collect();
    let record = "<url><loc>x:1</loc><lastmod>1970</lastmod></url>";
    let packed = gz(sitemap(&format!("{record}<!--{noise}-->")).as_bytes());
    let found = read_by(&packed[..packed.len() / 2], usize::MAX);
    assert_eq!(found.len(), 2);
    assert_eq!(found[0], Ok(Hint { url: "x:1".into(), modified: 0 }));
    let broken = found[1].as_ref().unwrap_err();
    assert!(broken.why.contains("damaged gzip member at byte 0"), "{broken:?}");
}

#[test]
fn record_elements_nest_at_most_a_hundred_deep() {
    let nested = |depth: usize| {
        let (open, close) = ("<x>".repeat(depth), "</x>".repeat(depth));
        let url = "<loc>x:</loc><lastmod>1970</lastmod>";
        sitemap(&format!("{open}{close}<url>{open}{close}{url}</url>{GOOD}"))
    };
    assert_eq!(hints(nested(100)), [hint("x:", 0), hint("x:9", 0)]);
    for depth in [101, 10_000, 100_000] {
        let found = hints(nested(depth));
        assert_eq!((found.len(), &found[1]), (2, &hint("x:9", 0)));
        assert!(
            found[0].0.ends_with("x:: the elements of the record are nested more than 100 deep"),
            "{found:?}"
        );
    }
}

#[test]
fn very_long_pieces_cost_only_their_record() {
    let mebibyte = "x".repeat(1 << 20);
    for junk in [
        format!("<!--{mebibyte}-->"),
        format!("<?{mebibyte}?>"),
        format!("<x a='{mebibyte}{mebibyte}'/>"),
        format!("<![CDATA[{mebibyte}]]>"),
        format!("&{mebibyte};"),
        format!("<!DOCTYPE {mebibyte}>"),
        format!("<{mebibyte}></{mebibyte}>"),
        format!("<url><x>{mebibyte}</x></url>"),
    ] {
        assert_eq!(hints(sitemap(&format!("{junk}{GOOD}"))), [hint("x:9", 0)]);
    }
    let long = format!("<url><loc>x:{mebibyte}</loc><lastmod>1970</lastmod></url>");
    let found = hints(sitemap(&format!("{long}{GOOD}")));
    assert_eq!((found.len(), &found[1]), (2, &hint("x:9", 0)));
    assert!(found[0].0.ends_with("the URL is too long"));
    let text = format!("<url><x>{mebibyte}</x><loc>x:</loc><lastmod>1970</lastmod></url>");
    assert_eq!(hints(sitemap(&text)), [hint("x:", 0)]);
}

#[test]
fn json_lines_have_a_url_and_a_time() {
    let file = "\u{feff}{\"url\":\"x:1\",\"modified\":86400}\n\n\
        {\"modified\":\"1970-01-03\",\"x\":[{}],\"url\":\"x:2\"}\r\n\
        {\"url\":\"x:3\",\"modified\":1.5}\n\
        {\"url\":\"x:4\"}\n{\n{\"url\":5,\"modified\":1}\n{\"url\":\"\",\"modified\":1}\n\
        {\"url\":\"x:8\",\"modified\":1e300}\n{\"url\":\"x:9\",\"modified\":null}\n\
        {\"url\":\"x:10\",\"modified\":99999999999999999999}\n[]\n{\"url\":\"x:12\",\"modified\":-1}";
    let found = hints(file);
    assert_eq!(found[..3], [hint("x:1", DAY), hint("x:2", 2 * DAY), hint("x:3", 1500)]);
    let said = [
        (5, "\"modified\" must be"),
        (6, "ends too early"),
        (7, "\"url\" is missing"),
        (8, "empty"),
        (9, "\"modified\" must be"),
        (10, "\"modified\" must be"),
        (11, "\"modified\" must be"),
        (12, "\"url\" is missing"),
    ];
    for ((number, why), (found, _)) in said.into_iter().zip(&found[3..]) {
        let at = format!("test, line {number}: ");
        assert!(found.starts_with(&at) && found.contains(why), "{found}");
    }
    assert_eq!((found.len(), &found[11]), (12, &hint("x:12", -1000)));
    for empty in ["", " \n", "\u{feff}", "\u{feff}\r\n\t"] {
        assert_eq!(wrong(empty), "test: the file is empty");
    }
    let long = format!("{{\"url\":\"x:1\",\"modified\":1,\"x\":\"{}\"}}\n", "x".repeat(1 << 16));
    let found = hints(format!(
        "{{\"url\":\"x:1\",\"modified\":1}}\n{long}{{\"url\":\"x:3\",\"modified\":3}}"
    ));
    assert_eq!(found[1].0, "test, line 2: the line is longer than 65536 bytes");
    assert_eq!((found.len(), &found[2]), (3, &hint("x:3", 3000)));
}

#[test]
fn many_attributes_take_linear_time() {
    let attributes: String = (0..100_000).map(|n| format!(" a{n}=''")).collect();
    let file = format!(
        "<feed><entry><link{attributes} href='x:'/><updated>1970-01-01T00:00:00Z</updated></entry></feed>"
    );
    let since = std::time::Instant::now();
    let found = read_by(file.as_bytes(), usize::MAX);
    assert_eq!(found, [Ok(Hint { url: "x:".into(), modified: 0 })]);
    assert!(since.elapsed() < std::time::Duration::from_secs(2), "{:?}", since.elapsed());
}

proptest! {
    #[test]
    fn chunking_does_not_change_the_result(
        file in "(<|<urlset>|<feed>|<rss><channel>)(<|</|<!|<\\?|<url|<url>|</url>|<loc>|</loc>|<lastmod>1970|</lastmod>|<entry>|<item>|<link>|</link>|<channel xml:base='|<a xml:base='x:'>|</a>|<entry xml:base='|<link href='|'/>|>|&amp;|&|;|<!--|-->|<!\\[CDATA\\[|\\]\\]>|é|x:|\"|<\\?|\\?>){0,20}",
        bytes in 1usize..9,
    ) {
        prop_assert_eq!(read_by(file.as_bytes(), usize::MAX), read_by(file.as_bytes(), bytes));
    }

    #[test]
    fn no_file_panics(file in prop::collection::vec(any::<u8>(), 0..100)) {
        read_by(&file, usize::MAX);
        read_by(&[b"<urlset>", file.as_slice()].concat(), usize::MAX);
        read_by(&[b"{", file.as_slice()].concat(), usize::MAX);
    }
}
