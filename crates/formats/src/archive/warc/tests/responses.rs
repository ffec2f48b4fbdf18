//! Tests the responses that are pages (RFC 9110; ISO 28500, WARC 1.1).

use super::*;

fn answer(head: &str, body: &str) -> String {
    response("http://a/x", &format!("HTTP/1.1 {head}\r\n\r\n{body}"))
}

/// Returns a record with an identifier, and the identifiers that it names.
fn exchange(kind: &str, url: &str, ids: [&str; 2], block: &str) -> String {
    let [own, concurrent] = ids;
    let named = if concurrent.is_empty() {
        String::new()
    } else {
        format!("\r\nWARC-Concurrent-To: <urn:uuid:{concurrent}>")
    };
    let more = format!("\r\nWARC-Record-ID: <urn:uuid:{own}>{named}");
    page(kind, url, &more, block)
}

fn request(ids: [&str; 2], method: &str) -> String {
    exchange("request", "http://a/", ids, &format!("{method} / HTTP/1.1\r\nHost: a\r\n\r\n"))
}

fn reply(ids: [&str; 2], text: &str) -> String {
    exchange("response", "http://a/", ids, &ok(text))
}

#[test]
fn redirect_is_identified_by_its_target() {
    for status in [301, 302, 303, 307, 308] {
        for target in ["http://a/y", "/y", "y", "//a/y", "http://A:80/./y#z", " /y "] {
            let file = answer(&format!("{status} X\r\nLocation: {target}"), "<p>Moved");
            let SourceItem::Record(record) = only(file) else { panic!("{status} {target}") };
            let digest = Some(Digest::redirect("http://a/x", "http://a/y"));
            assert_eq!(
                (record.payload, record.digest),
                (RecordPayload::Redirect, digest),
                "{target}"
            );
            assert_eq!(record.status, Some(status));
        }
        for head in ["X", "X\r\nLocation:", "X\r\nLocation: \t", "X\r\nContent-Location: /y"] {
            assert_eq!(texts(&read(answer(&format!("{status} {head}"), ""))), ["no-target"]);
        }
    }
    for status in [300, 305, 306] {
        let file = answer(&format!("{status} X\r\nLocation: /y"), "");
        assert_eq!(texts(&read(file)), ["no-target"], "{status}");
    }
    let of = |page: &str, target| Digest::redirect(page, target);
    assert_ne!(of("http://a/x", "/y"), of("http://a/z", "/y"), "shared with another page");
    assert_ne!(of("http://a/x", "/y"), of("http://a/x", "/z"));
    assert_eq!(of("http://a/x", "http://[bad"), of("http://a/x", "http://[bad"));
}

#[test]
fn binary_content_has_a_digest_but_no_fingerprint() {
    for (head, body) in [
        ("200 OK\r\nContent-Type: application/pdf", "%PDF-1.7"),
        ("200 OK\r\nContent-Type: image/png", "\u{89}PNG"),
        ("200 OK\r\nContent-Type: application/zip", "PK"),
        ("203 OK\r\nContent-Type: video/mp4", "x"),
        ("200 OK\r\nContent-Type: text/html", "a\0b"),
        ("200 OK", "\0\x01"),
        ("200 OK\r\nContent-Type: font/woff2\r\nContent-Encoding: gzip", "not packed"),
    ] {
        let SourceItem::Record(record) = only(answer(head, body)) else { panic!("{head}") };
        assert_eq!(record.payload, RecordPayload::Binary, "{head}");
        assert_eq!(record.digest, Some(of(body.as_bytes())), "{head}");
    }
    let resource = page("resource", "http://a/x.png", "\r\nContent-Type: image/png", "x");
    assert_eq!(texts(&read(resource)), ["binary"]);
}

#[test]
fn large_file_has_the_digest_of_its_bytes() {
    let head = "HTTP/1.1 200 OK\r\nContent-Type: video/mp4\r\n\r\n";
    let body = "v".repeat(usize::try_from(RECORD_BYTES_MAX).unwrap() + 7);
    let SourceItem::Record(record) = only(response("http://a/", &format!("{head}{body}"))) else {
        panic!()
    };
    assert_eq!((record.payload, record.digest), (RecordPayload::Binary, Some(of(body.as_bytes()))));
    let text = response("http://a/", &format!("HTTP/1.1 200 OK\r\n\r\n{body}"));
    assert!(matches!(only(text), SourceItem::Broken(_)));
}

#[test]
fn partial_response_is_not_the_page() {
    for (head, found) in [
        ("206 X\r\nContent-Range: bytes 0-3/10", "partial"),
        ("206 X\r\nContent-Range: bytes 6-9/10", "partial"),
        ("206 X\r\nContent-Range: bytes 0-3/*", "partial"),
        ("206 X\r\nContent-Type: multipart/byteranges; boundary=x", "partial"),
        ("206 X", "partial"),
        ("206 X\r\nContent-Range: bytes 0-3/4", "text"),
        ("226 X\r\nIM: diffe", "partial"),
        ("202 X", "no-content"),
        ("204 X", "no-content"),
        ("205 X", "no-content"),
        ("201 X", "text"),
        ("203 X", "text"),
    ] {
        assert_eq!(texts(&read(answer(head, "text"))), [found], "{head}");
    }
}

#[test]
fn incomplete_body_is_not_the_page() {
    for (head, body, found) in [
        ("Content-Length: 5", "text", "incomplete"),
        ("Content-Length: 5", "", "incomplete"),
        ("Content-Length: 4", "text", "text"),
        // Servers with wrong lengths send more bytes.
        ("Content-Length: 3", "text", "text"),
        ("Content-Length: no", "text", "text"),
        // Joined lengths (RFC 9110, 8.6).
        ("Content-Length: 5, 5", "text", "incomplete"),
        ("Content-Length: 4, 4", "text", "text"),
        ("Content-Length: 5, 6", "text", "text"),
        ("Content-Length: +5", "text", "text"),
        // Browsers' archives keep decompressed bodies under the original header.
        ("Content-Length: 5\r\nContent-Encoding: br", "text", "text"),
        ("Content-Length: 5\r\nContent-Encoding: br", "", "incomplete"),
        ("Content-Length: 5\r\nContent-Encoding: identity", "text", "incomplete"),
        ("Transfer-Encoding: chunked", "4\r\ntext\r\n0\r\n\r\n", "text"),
        ("Transfer-Encoding: chunked", "4\r\ntext\r\n00000000\r\nX: y\r\n\r\n", "text"),
        ("Transfer-Encoding: chunked", "4\r\ntext\r\n", "incomplete"),
        ("Transfer-Encoding: chunked", "4\r\ntex", "incomplete"),
        ("Transfer-Encoding: chunked", "4\r\ntext\r\nzz\r\nmore", "incomplete"),
        ("Transfer-Encoding: gzip\r\nContent-Length: 99", "text", "text"),
        ("Transfer-Encoding: chunked", "", "incomplete"),
        ("Transfer-Encoding: chunked", "text", "text"),
        // The length of a chunked body comes from its chunks (RFC 9112, 6.3).
        ("Transfer-Encoding: chunked\r\nContent-Length: 99", "4\r\ntext\r\n0\r\n\r\n", "text"),
    ] {
        let file = answer(&format!("200 OK\r\nContent-Type: text/plain\r\n{head}"), body);
        assert_eq!(texts(&read(file)), [found], "{head} {body:?}");
    }
}

#[test]
fn record_truncated_by_length_is_the_page() {
    for (why, found) in [
        ("length", "text"),
        ("Length", "text"),
        ("time", "incomplete"),
        ("disconnect", "incomplete"),
        ("unspecified", "incomplete"),
        ("else", "incomplete"),
    ] {
        let more = format!("\r\nWARC-Truncated: {why}");
        let block = "HTTP/1.1 200 OK\r\nContent-Length: 99\r\nContent-Type: text/plain\r\n\r\ntext";
        assert_eq!(texts(&read(page("response", "http://a/", &more, block))), [found], "{why}");
        let more = format!("{more}\r\nContent-Type: text/plain");
        assert_eq!(texts(&read(page("resource", "http://a/", &more, "text"))), [found], "{why}");
        // An error has no content that could be truncated.
        let gone = "HTTP/1.1 404 X\r\nContent-Length: 99\r\n\r\nsorry";
        assert_eq!(texts(&read(page("response", "http://a/", &more, gone))), ["gone"], "{why}");
    }
}

#[test]
fn only_responses_to_get_are_visits() {
    for (method, found) in [
        ("GET", "text"),
        ("HEAD", "answer to HEAD"),
        ("POST", "answer to POST"),
        ("PUT", "answer to another method"),
        ("get", "answer to another method"),
    ] {
        // The request names the response, or the reverse. Either record comes first, with or
        // without other records between them.
        let ids = [(["q", "r"], ["r", ""]), (["q", ""], ["r", "q"]), (["q", "m"], ["r", "m"])];
        for (of_request, of_response) in ids {
            let (request, reply) = (request(of_request, method), reply(of_response, "text"));
            let between = page("metadata", "http://a/", "", "x");
            for file in [
                [request.clone(), reply.clone()].concat(),
                [reply.clone(), request.clone()].concat(),
                [reply.clone(), between.clone(), request.clone()].concat(),
                [request.clone(), between.clone(), reply.clone()].concat(),
            ] {
                let items = read(file);
                let mut found_all = texts(&items);
                found_all.retain(|kind| !["request", "metadata"].contains(kind));
                assert_eq!(found_all, [found], "{method}");
            }
        }
    }
}

#[test]
fn exchanges_may_be_interleaved() {
    let file = [
        reply(["r1", ""], "one"),
        reply(["r2", ""], "two"),
        request(["q2", "r2"], "POST"),
        request(["q1", "r1"], "GET"),
        reply(["r3", ""], "three"),
    ]
    .concat();
    assert_eq!(texts(&read(file)), ["one", "answer to POST", "request", "request", "three"]);
}

#[test]
fn shared_identifiers_do_not_mix_exchanges() {
    let of = |kind: &str, path: &str, ids: [&str; 2], method: &str| {
        let block = match kind {
            "request" => format!("{method} {path} HTTP/1.1\r\nHost: a\r\n\r\n"),
            _ => ok(path),
        };
        exchange(kind, &format!("http://a{path}"), ids, &block)
    };
    // Identifiers of the requests and the responses: all records name one record; all records have
    // one identifier; all identifiers are null; each request names its response and a third record.
    for ids in [
        [["q1", "w"], ["r1", "w"], ["q2", "w"], ["r2", "w"]],
        [["q1", "r"], ["r", ""], ["q2", "r"], ["r", ""]],
        [["null", "null"], ["null", "null"], ["null", "null"], ["null", "null"]],
    ] {
        let records = [
            of("request", "/post", ids[0], "POST"),
            of("response", "/post", ids[1], ""),
            of("request", "/get", ids[2], "GET"),
            of("response", "/get", ids[3], ""),
        ];
        for order in [[0, 1, 2, 3], [2, 3, 0, 1], [1, 0, 3, 2], [1, 3, 0, 2], [0, 2, 3, 1]] {
            let items = read(order.map(|i| records[i].as_str()).concat());
            let mut found = texts(&items);
            found.retain(|kind| *kind != "request");
            found.sort_unstable();
            assert_eq!(found, ["/get", "answer to POST"], "{ids:?} {order:?}");
        }
    }
    // With equal URLs, the named record takes precedence.
    let more = |own: &str, first: &str| {
        format!(
            "\r\nWARC-Record-ID: <urn:uuid:{own}>\r\nWARC-Concurrent-To: <urn:uuid:{first}>\
             \r\nWARC-Concurrent-To: <urn:uuid:w>"
        )
    };
    let asked = |own, first, method: &str| {
        page("request", "http://a/", &more(own, first), &format!("{method} / HTTP/1.1\r\n\r\n"))
    };
    let got = |own, text| page("response", "http://a/", &more(own, "x"), &ok(text));
    let file =
        [asked("q1", "r1", "POST"), asked("q2", "r2", "GET"), got("r1", "one"), got("r2", "two")];
    assert_eq!(texts(&read(file.concat())), ["request", "request", "answer to POST", "two"]);
}

#[test]
fn response_does_not_wait_forever() {
    let mut warc = ArchiveCutter::<Warc>::new(
        stream(
            [
                reply(["r0", ""], "first"),
                (1..100).map(|i| reply([&format!("r{i}"), ""], "more")).collect::<String>(),
                request(["q0", "r0"], "POST"),
            ]
            .concat(),
        ),
        Arc::default(),
    );
    let mut most = 0;
    let mut all = Vec::new();
    while let Some(cut) = warc.cut() {
        most = most.max(warc.exchanges.held());
        SourceChunk::of(cut).items(|item| all.push(item));
    }
    assert_eq!((most, all.len()), (64, 101));
    assert_eq!(texts(&all)[0], "first");
}

#[test]
fn revisit_is_classified_by_its_header() {
    let revisit = |head: &str| {
        let more = "\r\nWARC-Profile: http://netpreserve.org/warc/1.1/revisit/identical-payload-digest\
             \r\nWARC-Payload-Digest: sha1:3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ";
        texts(&read(page("revisit", "http://a/x", more, &format!("HTTP/1.1 {head}\r\n\r\n"))))
            .join(" ")
    };
    assert_eq!(revisit("200 OK\r\nContent-Length: 99"), "(other)");
    assert_eq!(revisit("200 OK\r\nContent-Type: image/png"), "(other)");
    assert_eq!(revisit("301 X\r\nLocation: /y"), "redirect");
    assert_eq!(revisit("304 X"), "not modified");
    assert_eq!(revisit("410 X"), "gone");
    assert_eq!(revisit("206 X"), "partial");
    assert_eq!(revisit("503 X"), "server-error");
}

#[test]
fn records_about_pages_are_not_pages() {
    let about = |url: &str| page("resource", url, "\r\nContent-Type: text/plain", "some words");
    for url in [
        "urn:text:http://a/",
        "urn:textFinal:http://a/",
        "urn:pageinfo:http://a/",
        "urn:view:http://a/",
        "urn:thumbnail:http://a/",
        "metadata://gnu.org/software/wget/warc/MANIFEST.txt",
        "screenshot:http://a/",
        "<urn:text:http://a/>",
    ] {
        assert_eq!(texts(&read(about(url))), ["record about a page"], "{url}");
    }
    for url in ["http://a/", "HTTPS://a/", "file:///a"] {
        assert_eq!(texts(&read(about(url))), ["some words"], "{url}");
    }
    let mut schemes = Schemes::default();
    schemes.add(["ftp".to_owned()]);
    let named = ArchiveCutter::<Warc>::new(stream(about("ftp://a/")), Arc::new(schemes));
    assert_eq!(texts(&items(named)), ["some words"]);
}

#[test]
fn method_in_a_url_is_the_request_method() {
    for (url, found) in [
        ("http://a/?__wb_method=POST&__wb_post_data=eyJhIjoxfQ==", "answer to POST"),
        ("http://a/?q=1&__wb_method=PUT", "answer to another method"),
        ("http://a/?__wb_method=HEAD", "answer to HEAD"),
        ("http://a/?__wb_method=GET", "text"),
        ("http://a/__wb_method=POST", "text"),
    ] {
        assert_eq!(texts(&read(response(url, &ok("text")))), [found], "{url}");
    }
}

#[test]
fn interim_responses_are_skipped() {
    let last = "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 4\r\n\r\ntext";
    for interim in ["", "HTTP/1.1 100 Continue\r\n\r\n", "HTTP/1.1 103 X\r\nLink: y\r\n\r\n"] {
        assert_eq!(
            texts(&read(response("http://a/", &format!("{interim}{interim}{last}")))),
            ["text"]
        );
    }
    let alone = "HTTP/1.1 100 Continue\r\n\r\n";
    assert_eq!(texts(&read(response("http://a/", alone))), ["interim response"]);
}

/// The canonical URL of a page with the URL `http://a/d/x`.
fn declared(headers: &str, html: &str) -> Option<String> {
    let http = format!("HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n{headers}\r\n{html}");
    let SourceItem::Record(record) = only(response("http://a/d/x", &http)) else {
        panic!("{http}")
    };
    record.facts.target.map(String::from)
}

#[test]
fn canonical_url_of_the_header_is_read() {
    for (value, expected) in [
        ("<http://a/y>; rel=\"canonical\"", "http://a/y"),
        ("</y>;REL = Canonical", "http://a/y"),
        ("<y#z>; rel=\"nofollow canonical\"", "http://a/d/y"),
        ("<//b/y>; title=\"x;y, <z>\"; rel=canonical", "http://b/y"),
        ("<n>; rel=next, <y>; rel=canonical, <z>; rel=canonical", "http://a/d/y"),
        ("<http://a/d/x>; rel=canonical", "http://a/d/x"),
        ("< /y >; rel=canonical", "http://a/y"),
    ] {
        assert_eq!(
            declared(&format!("Link: {value}\r\n"), "").as_deref(),
            Some(expected),
            "{value}"
        );
    }
    let several =
        "Link: <data:,x>; rel=canonical\r\nlink: <>; rel=canonical, </y>; rel=canonical\r\n";
    assert_eq!(declared(several, "").as_deref(), Some("http://a/y"));
    for value in [
        "<y>; rel=next",
        "<y>",
        "<y>; title=\"a; rel=canonical\"",
        "<y>; title=\"\\\";rel=canonical\"",
        "<y>; rel=next; rel=canonical",
        "<y>; anchor=\"/other\"; rel=canonical",
        "<y; rel=canonical",
        "y; rel=canonical",
        "<>; rel=canonical",
        "<ftp://a/y>; rel=canonical",
    ] {
        assert_eq!(declared(&format!("Link: {value}\r\n"), ""), None, "{value}");
    }
}

#[test]
fn canonical_url_of_html_is_read_unless_the_header_has_one() {
    let link = |href: &str| format!("<link rel=canonical href='{href}'>");
    assert_eq!(declared("", &link("y")).as_deref(), Some("http://a/d/y"));
    let of_header = "Link: </h>; rel=canonical\r\n";
    assert_eq!(declared(of_header, &link("y")).as_deref(), Some("http://a/h"));
    let invalid = "Link: <mailto:a@b.example>; rel=canonical\r\n";
    assert_eq!(declared(invalid, &link("y")).as_deref(), Some("http://a/d/y"));
    // The base of HTML is not the base of the header.
    let based = "<base href=/b/>".to_owned() + &link("y");
    assert_eq!(declared("", &based).as_deref(), Some("http://a/b/y"));
    assert_eq!(declared("Link: <h>; rel=canonical\r\n", &based).as_deref(), Some("http://a/d/h"));
    for base in ["javascript:x", "data:,x", "http://[", ""] {
        let based = format!("<base href='{base}'>{}", link("y"));
        assert_eq!(declared("", &based).as_deref(), Some("http://a/d/y"), "{base}");
    }
}

#[test]
fn first_valid_canonical_url_counts() {
    let link = |href: &str| format!("<link rel=canonical href='{href}'>");
    let long = format!("/{}", "a".repeat(8192));
    // Percent-encoding makes this one too long.
    let encoded = format!("/{}", "é".repeat(2000));
    for invalid in ["", " ", "mailto:a@b", "javascript:x", "http://[", "file:///y", &long, &encoded]
    {
        assert_eq!(declared("", &link(invalid)), None, "{invalid}");
        let html = link(invalid) + &link("/y") + &link("/z");
        assert_eq!(declared("", &html).as_deref(), Some("http://a/y"), "{invalid}");
    }
    // The page's own URL is valid, and so is another host.
    assert_eq!(declared("", &(link("/d/x#top") + &link("/y"))).as_deref(), Some("http://a/d/x"));
    assert_eq!(declared("", &link("https://b.example/y")).as_deref(), Some("https://b.example/y"));
}
