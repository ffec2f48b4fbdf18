//! Tests of the visible text of pages.

use super::*;
use crate::fingerprint::document::Marks;
use proptest::prelude::*;

#[test]
fn blocks_separate_words_and_inline_elements_do_not() {
    assert_eq!(visible_text("<p>a<b>b</b>c<p>d<br>e<div>f</div>g"), "abc\nd\ne\nf\ng");
    assert_eq!(visible_text("<table><tr><td>1<td>2<tr><td>3</table>"), "1 2\n3");
    assert_eq!(visible_text("<ul><li>x<li>y</ul>"), "x\ny");
    assert_eq!(visible_text("a <i> b</i>\n\n c"), "a b c");
}

#[test]
fn page_has_the_fingerprint_of_its_visible_text() {
    use super::super::{Fingerprinter, Recipe, of_text};
    let mut fingerprinter = Fingerprinter::new(&Recipe::DEFAULT).unwrap();
    for page in [
        "<title>The quick</title><p>brown <b>f</b>ox jumps&nbsp;over the lazy dog<script>x</script>",
        "<p>您需要启用脚本<br>才能运行此应用",
        "<p>Not <i>found",
        "",
    ] {
        let document = extract(page);
        let plain = of_text(document.text());
        assert_eq!(fingerprinter.of_page(&document).unwrap(), plain, "{page}");
        assert_eq!(plain.is_none(), document.is_too_short());
    }
}

#[test]
fn references_decode_as_in_browsers() {
    // HTML, 13.2.5.80, "numeric character reference end state": windows-1252 in 0x80 to 0x9f.
    assert_eq!(
        visible_text("&#128;&#x85;&#145;&#146;&#147;&#148;&#150;&#151;&#153;&#159;"),
        "€…‘’“”–—™Ÿ"
    );
    // A control character without a mapping in windows-1252 stays, and counts as white space.
    assert_eq!(visible_text("a&#129;b&#x8d;c&#143;d&#144;e&#157;f"), "a b c d e f");
    // Invalid characters: zero, surrogates, and numbers beyond Unicode.
    let none = "&#0;&#xd800;&#xDFFF;&#x110000;&#99999999999999999999;&#xffffffffffffffffffff;";
    assert_eq!(visible_text(none), "\u{fffd}".repeat(6));
    assert_eq!(visible_text("&#xd83d;&#xde00; &#x1f600;"), "\u{fffd}\u{fffd} 😀");
    assert_eq!(visible_text("a&#13;b&#10;c&#9;d&#12;e&#160;f"), "a b c d e f");
    // With or without an end; of several matching names the longest is used.
    assert_eq!(visible_text("&#65 &#x42;C&#X44 &#; &#x; &# 69"), "A BCD &#; &#x; &# 69");
    assert_eq!(visible_text("&eacute &notit; &notin; &AMP &copy2 &Eacute;"), "é ¬it; ∉ & ©2 É");
    assert_eq!(visible_text("<title>&#146;&amp;#65;</title>"), "’&#65;");
    // In scripts and comments nothing is a reference; in attributes a name without an end may be a part
    // of a URL.
    let page = "<meta name=author content='&#146;&notit;&not=x &lang=de &lt;'>";
    assert_eq!(extract(page).fields(), [("author".into(), "’&notit;&not=x &lang=de <".into())]);
}

#[test]
fn line_ends_and_nul_are_normalized() {
    assert_eq!(visible_text("a\rb\r\nc\nd\r\re"), "a b c d e");
    assert_eq!(visible_text("<pre>a\rb\r\n</pre>c"), "a b\nc");
    // HTML, 13.2.6.4.7: a NUL in the text is ignored. Where text is no markup, it is U+FFFD.
    assert_eq!(visible_text("wo\0rd<b>\0</b>s"), "words");
    assert_eq!(
        visible_text("<title>a\0b</title><textarea>c\0d</textarea>"),
        "a\u{fffd}b\nc\u{fffd}d"
    );
    assert_eq!(visible_text("<p\0>a</p\0>"), "a");
}

#[test]
fn entities_are_decoded_and_comments_dropped() {
    assert_eq!(visible_text("&lt;b&gt; &eacute;&#x4e2d;&nbsp;x<!-- no -->y"), "<b> é中 xy");
    assert_eq!(visible_text("<!doctype html><![CDATA[x]]><?php y ?>z"), "z");
}

#[test]
fn invisible_elements_are_dropped() {
    let page = "<head><title>T</title><style>s{}</style><script>if (a<b) '</p>'</script></head>\
                <body>1<noscript>n<p>n</noscript>2<template><p>t<template>u</template></template>3\
                <svg><title>v</title><svg/><svg><text>w</text></svg></svg>4<iframe>f</iframe>5\
                <svg/>6<script src=x></script>7";
    assert_eq!(visible_text(page), "T\n1234567");
}

#[test]
fn hidden_elements_are_dropped_with_their_content() {
    assert_eq!(visible_text("<div hidden>a<div>b<br><img></div>c</div>d"), "d");
    assert_eq!(visible_text("<div hidden=''>a</div><div HIDDEN=hidden>b</div>c"), "c");
    assert_eq!(visible_text("<div hidden=until-found>a</div>b"), "a\nb");
    assert_eq!(visible_text("<div hidden=until-found hidden>a</div>b"), "a\nb");
    assert_eq!(visible_text("<div hidden hidden=until-found>a</div>b"), "b");
    assert_eq!(visible_text("<input hidden>a<br hidden>b"), "a\nb");
    assert_eq!(visible_text("<span class=hidden data-hidden>a</span>b"), "ab");
    assert_eq!(visible_text("a<span hidden>b</span>c"), "ac");
}

#[test]
fn unclosed_hidden_elements_end_as_in_a_browser() {
    assert_eq!(visible_text("<p hidden>a<b>b<p>c"), "c");
    assert_eq!(visible_text("<ul><li hidden>a<ul><li>b</ul>c<li>d</ul>e"), "d\ne");
    assert_eq!(visible_text("<ul><li hidden>a</ul>b"), "b");
    assert_eq!(visible_text("<div><p hidden>a</div>b"), "b");
    assert_eq!(visible_text("<table><tr><td hidden>a<table><tr><td>b</table><td>c</table>"), "c");
    assert_eq!(visible_text("<div hidden><li hidden>a</div>b"), "b");
    assert_eq!(visible_text("<div hidden>never closed<p>x"), "");
}

#[test]
fn only_valid_tags_end_a_paragraph() {
    for element in ["button", "select", "textarea", "legend", "label", "b", "iframe", "title"] {
        let page = format!("<div><p hidden>a<{element}>b</{element}>c</p>d</div>e");
        assert_eq!(visible_text(&page), "d\ne", "{element}");
    }
    assert_eq!(visible_text("<p hidden><button><div>a</div></button>b<h1>c</h1>"), "c");
    assert_eq!(visible_text("<table><tr><td><p hidden>a<td>b</table>"), "b");
}

#[test]
fn drawings_do_not_swallow_later_text() {
    for inside in [
        "<title/>",
        "<style/>",
        "<script/>",
        "<textarea/>",
        "<style>a{}</style>",
        "<g><path d=x/></g>",
        "<![CDATA[ </svg> <p> ]]>",
        "<foreignObject><div>a<p>b</div></foreignObject>",
        "<title>a<b>b</b></title>",
        "<svg><svg/></svg>",
    ] {
        let page = format!("a<svg viewBox=x>{inside}</svg>b<math>{inside}</math>c");
        let text = page.replace("[ </svg>", "[");
        assert_eq!(visible_text(&text), "abc", "{inside}");
        let hidden = format!("a<span hidden><svg>{inside}</svg></span>b");
        assert_eq!(visible_text(&hidden), "ab", "{inside}");
    }
    // Unclosed foreign content ends where HTML continues.
    assert_eq!(visible_text("a<svg><path d=x><p>b"), "a\nb");
    assert_eq!(visible_text("a<svg><g><div>b</div>c"), "a\nb\nc");
    assert_eq!(visible_text("a<svg><g><p>b<textarea><i>c</textarea>d"), "a\nb\n<i>c\nd");
    assert_eq!(visible_text("<noframes><p>a</noframes>b"), "b");
    assert_eq!(visible_text("<title/>a</title>b"), "a\nb");
}

/// The declared canonical URLs, and the base.
fn declared(page: &str) -> (Vec<String>, Option<String>) {
    let document = extract(page);
    (document.canonicals().to_vec(), document.base().map(str::to_owned))
}

#[test]
fn canonical_links_of_the_head_are_found() {
    for (page, expected) in [
        ("<link rel=canonical href=/a>", &["/a"][..]),
        (
            "<html><head><LINK HREF=' /a?b=1&amp;c=2\n' REL=\"nofollow\tCanonical\"/></head>",
            &["/a?b=1&c=2"],
        ),
        ("<link rel=canonical href=a rel=next href=b><link href=c rel=canonical>", &["a", "c"]),
        ("<head><title>T</title><link rel=canonical href=a><title>x</title>", &["a"]),
        ("<head></head>\n<link rel=canonical href=a><body>", &["a"]),
        ("<link hidden rel=canonical href=a>", &["a"]),
        ("<link rel=canonical href=http://&eacute;.example/%41>", &["http://é.example/%41"]),
        // Nothing is declared without a reference or by another relation.
        ("<link rel=canonical><link rel=canonical href><link rel=canonical href='  '>", &[]),
        (
            "<link rel=next href=a><link rel=canonicals href=b><link href=c><a rel=canonical href=d>",
            &[],
        ),
        ("<meta rel=canonical href=a><link name=canonical content=b>", &[]),
    ] {
        assert_eq!(declared(page).0, expected, "{page}");
    }
}

#[test]
fn canonical_links_outside_of_the_head_are_ignored() {
    let link = "<link rel=canonical href=a>";
    for before in [
        "<body>",
        "<p>",
        "text",
        "<title>T</title>text",
        "</body>",
        "</html>",
        "<br>",
        "<svg>",
        "<!--",
        "<script>",
        "<style>",
        "<template>",
        "<noscript>",
        "<noframes>",
        "<title>",
        "<textarea>",
        "<iframe>",
        "<div hidden>",
        "&nbsp;<p>",
    ] {
        assert_eq!(declared(&format!("{before}{link}")).0, [""; 0], "{before}");
    }
    for before in
        ["", "\n \t", "<!-- x -->", "<!doctype html>", "<script>x</script>", "</p>", "</head>"]
    {
        assert_eq!(declared(&format!("{before}{link}")).0, ["a"], "{before}");
    }
}

#[test]
fn kept_canonical_links_are_bounded() {
    let link = |href: &str| format!("<link rel=canonical href='{href}'>");
    let longest = "a".repeat(8192);
    let page = link(&longest) + &link(&format!("{longest}a")) + &link("b").repeat(100_000);
    let (canonicals, base) = declared(&page);
    assert_eq!(canonicals, [&longest[..], "b", "b", "b"]);
    assert_eq!(base, None);
}

#[test]
fn first_base_of_the_head_counts() {
    for (page, expected) in [
        ("<link rel=canonical href=a><base href=/b/><base href=/c/>", Some("/b/")),
        ("<base target=_top><base href=/c/>", Some("/c/")),
        ("<base href=''>", Some("")),
        ("<body><base href=/b/>", None),
        ("<link href=/b/>", None),
    ] {
        assert_eq!(declared(page).1.as_deref(), expected, "{page}");
    }
}

#[test]
fn canonical_links_relative_to_an_overlong_base_are_dropped() {
    let canonical = |bytes: usize, href: &str| {
        let base = format!("<base href='{}'><base href=/b/>", "é".repeat(bytes / 2));
        let document = extract(&(base + &format!("<link rel=canonical href={href}>")));
        let length = document.base().unwrap().len();
        let url = crate::Target::first_url("http://a/b", document.base(), document.canonicals());
        (length.min(8193), url)
    };
    assert_eq!(canonical(6, "c"), (6, Some("http://a/c".to_owned())));
    for bytes in [8194, 20_000] {
        assert_eq!(canonical(bytes, "c"), (8193, None));
        assert_eq!(canonical(bytes, "http://a/c"), (8193, Some("http://a/c".to_owned())));
    }
}

#[test]
fn canonical_links_do_not_affect_the_text() {
    let plain = extract("<title>T</title><p>text");
    let linked = extract("<base href=/><link rel=canonical href=a><title>T</title><p>text");
    assert_eq!((plain.text(), plain.marks(0..1)), (linked.text(), linked.marks(0..1)));
    assert_eq!(plain.fields(), linked.fields());
}

/// The text of this page never changes for an extractor of the same name.
#[test]
fn messy_page_is_always_read_alike() {
    let page = "\u{feff}<!DOCTYPE html PUBLIC \"-//W3C//DTD HTML 4.01//EN\"><HTML lang=en>\r
        <head><META NAME='Author' CONTENT='Jane &amp; Co'><meta name=keywords content=\"a, b\">
        <meta property=og:title content=x><meta name=description>
        <title>Fish &amp; chips &mdash; caf&eacute;</title >
        <style media=all>p > b { color: red }</style><script>if (a<b) document.write('<p>no</p>')\
        </script></head><body onload=\"a>b\"><h1 class=x>The <em>best</em> h&#x65;re</h2>
        <p>One&nbsp;two<b>three<i>four</b>five</i> six&#8203;seven &unknown; &lt;b> \u{2003}a\u{85}b
        <a href='?a=1&b=2'>link <img alt=alt src=x> more <a href=y>next</a>, end
        <ul><li>1<li hidden>2<li>3</ul><table><tr><td>4<td>5<tr><th>6</table>
        <select><option>7<option selected>8</select><input value=9><br/>10<br>11<hr>
        <pre>  12\n\n  13</pre><svg><title/><text>14</text></svg><noscript><p>15</noscript>
        <div hidden><p>16<div>17</div></div><p hidden><button>18</button>19<p>20
        <blockquote>21<!-- 22 --!>23<!-->24</blockquote 25>< 26 <27> </ 28> <?29?> 北京\u{301} \u{0}30
        <template><p>31</template><iframe><p>32</iframe><strong>33<textarea><b>34</textarea></body></html>35";
    let document = extract(page);
    // Parts with the same marks.
    let mut parts: Vec<(String, Marks)> = Vec::new();
    for (at, c) in document.text().char_indices() {
        let marks = document.marks(at..at + 1);
        match parts.last_mut() {
            Some(last) if last.1 == marks => last.0.push(c),
            _ => parts.push((c.into(), marks)),
        }
    }
    let (none, emphasis, heading) = (Marks::NONE, Marks::EMPHASIS, Marks::HEADING);
    let expected = [
        ("Fish & chips — café", Marks::TITLE),
        ("\n", none),
        ("The ", heading),
        ("best", heading | emphasis),
        (" here", heading),
        ("\nOne two", none),
        ("threefourfive", emphasis),
        (" six\u{200b}seven &unknown; <b> a b ", none),
        ("link more next", Marks::ANCHOR),
        (", end\n1\n3\n4 5\n6\n7\n8\n10\n11\n12 13\n20\n212324\n< 26 <27> 北京\u{301} 30 ", none),
        ("33\n<b>34\n35", emphasis),
    ];
    assert_eq!(parts, expected.map(|(text, marks)| (text.to_owned(), marks)));
    let fields = [("author", "Jane & Co"), ("keywords", "a, b")];
    let fields = fields.map(|(name, value)| (name.to_owned(), value.to_owned()));
    assert_eq!(document.fields(), fields);
}

#[test]
fn depth_costs_no_stack_and_little_time() {
    let deep = 200_000;
    assert_eq!(visible_text(&("<div>".repeat(deep) + "x")), "x");
    assert_eq!(visible_text(&("<div hidden>".repeat(deep) + &"</div>".repeat(deep) + "x")), "x");
    assert_eq!(visible_text(&"<svg a=".repeat(deep)), "");
    assert_eq!(visible_text(&"<!--".repeat(deep)), "");
    assert_eq!(visible_text(&"&".repeat(deep)).len(), deep);
}

proptest! {
    #[test]
    fn no_page_panics_and_the_text_is_tidy(page in "(<|</|>|p|hidden|svg| |=|li|script|title|&|x|\n|é|\0|!--){0,60}") {
        let text = visible_text(&page);
        prop_assert!(!text.contains("  ") && !text.contains("\n\n"));
        prop_assert_eq!(text.trim(), &text);
    }
}
